//! Sessions of subagents: nested below the sessions that started them, and counted while hidden.

use std::fs;

use pitree::pi::running::RunningPis;

use crate::browser::harness::{Browser, NOW, shows};
use crate::common::session::Session;

#[test]
fn hidden_subagents_are_counted_and_shown_ones_are_nested() {
    let dir = tempfile::tempdir().unwrap();
    let mut path = dir.path().join("--p--/top");
    for (at, name) in ["top", "first", "second", "third"].into_iter().enumerate() {
        if at > 0 {
            path = path.join("0a/run-0/session");
        }
        let session = Session::new(name).at(60).user(&format!("u-{name}"), &format!("the {name} task"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.with_extension("jsonl"), session.costing(0.5).assistant(&format!("a-{name}"), "done").text())
            .unwrap();
    }
    let other = Session::new("other").at(10).user("u1", "another one").text();
    fs::write(dir.path().join("--p--/other.jsonl"), other).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    shows(&browser, "2 sessions · 1 project · $2.00 ($1.50 by 3 hidden subagents)");
    browser.press("/").type_text("done").press("enter");
    shows(&browser, "1 session · 3 hidden");
    browser.press("esc esc home");
    shows(&browser, "cost        $2.00, $1.50 by 3 hidden subagents");
    browser.press("j");
    shows(&browser, "family      $2.00 in 4 sessions, $1.50 by 3 subagents");
    let live = |path: &std::path::Path| super::pis::reported(path);
    let reported = vec![live(&dir.path().join("--p--/top.jsonl")), live(&path.with_extension("jsonl"))];
    browser.model.catalog.set_pis(RunningPis { reported, ..RunningPis::default() }, NOW);
    browser.press("j").press("k");
    shows(&browser, "1 waiting 1 subagent live");
    browser.press("ctrl+g");
    shows(&browser, "5 sessions · 1 project · $2.00 ");
    shows(&browser, "2 waiting");
    let screen = browser.screen();
    let depth = |text: &str| {
        let mut rows = screen.lines().filter_map(|line| line.split('│').next().filter(|row| row.contains(text)));
        rows.next().unwrap_or_else(|| panic!("{screen}")).find('└').unwrap_or_default()
    };
    let depths = ["the top task", "the first task", "the second task", "the third task"].map(depth);
    assert!(depths.is_sorted_by(|above, below| above < below), "{depths:?}\n{screen}");
}
