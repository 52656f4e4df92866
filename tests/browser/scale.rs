//! Large sessions, to detect recursion and quadratic work: measures no time; the test only has to finish.

use std::fs;
use std::sync::{Arc, LazyLock};

use pitree::app::message::Msg;
use pitree::app::panes::tree::TreePane;
use pitree::disk::load;
use tempfile::TempDir;

use super::harness::Browser;
use crate::common::effort::rounds;
use crate::common::session::Session;

fn entry(session: Session, id: usize) -> Session {
    let role = if id.is_multiple_of(2) { "user" } else { "assistant" };
    session.said(&id.to_string(), role, &format!("entry {id}"))
}

/// Returns the number of entries of a long session, enough to overflow the stack on recursion.
fn many() -> usize {
    rounds(20_000, 100_000)
}

/// A chain of [`many`] entries, shared by all tests.
static CHAIN: LazyLock<String> = LazyLock::new(|| (0..many()).fold(Session::new("s"), entry).text());

/// Formats a number of thousands as the browser does.
fn grouped(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

fn browser(text: &str) -> (TempDir, Browser) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.jsonl"), text).unwrap();
    let browser = Browser::on(&[dir.path()], 160, 40);
    (dir, browser)
}

#[test]
fn a_long_chain() {
    let (_dir, mut browser) = browser(&CHAIN);
    browser.press("l G home v c v x v o ctrl+a ctrl+u ctrl+d g b g B ctrl+left ctrl+right .");
    assert_eq!(browser.selected(), format!("entry {}", many() - 1));
    assert_eq!(browser.model.tree.rows.list.len(), many());
    assert!(browser.screen().contains(&browser.selected()));
}

#[test]
fn words_are_found_in_a_long_chain() {
    let (_dir, mut browser) = browser(&CHAIN);
    browser.press("l /");
    browser.send(Msg::Paste("entry 777".into())); // pasted, because each typed letter would start a search
    browser.press("enter");
    assert_eq!(browser.selected(), format!("entry {}", many() - 223), "the entry nearest to the leaf");
    browser.press("n N esc / tab");
    browser.send(Msg::Paste("777".into()));
    assert_eq!(browser.model.tree.rows.entries, (0..many()).filter(|id| id.to_string().contains("777")).count());
}

#[test]
fn thousands_of_labels_in_a_palette() {
    let labeled = |session: Session, id: usize| {
        let name = id.to_string();
        entry(session, id).label(&format!("l{id}"), &name, &format!("mark {id}")).under(&name)
    };
    let labels = rounds(2000, 10_000);
    let (_dir, mut browser) = browser(&(0..labels).fold(Session::new("s"), labeled).text());
    browser.press("'");
    assert!(browser.screen().contains(&grouped(labels)), "{}", browser.screen());
    browser.type_text(&format!("mrk {}", labels - 1));
    assert!(browser.screen().contains(&format!("[mark {}]", labels - 1)), "{}", browser.screen());
    browser.press("esc '").type_text("mark 77").press("enter");
    assert!(browser.selected().contains("77"));
}

#[test]
fn two_thousand_branch_points_one_in_the_other() {
    // Each user message branches: the conversation continues in the first child; the second is a dead end.
    let branched = |session: Session, point: usize| {
        let session = entry(session, 3 * point + 1).under(&(3 * point).to_string());
        entry(entry(session, 3 * point + 2), 3 * point + 3)
    };
    let (_dir, mut browser) = browser(&(0..2000).fold(entry(Session::new("s"), 0), branched).text());
    browser.press("l");
    assert_eq!(browser.selected(), "entry 6000");
    assert!(browser.screen().contains("entry 6000"), "the selected row is scrolled into view\n{}", browser.screen());
    browser.press("v c v x v o ctrl+d G home g b");
    assert_eq!(browser.model.tree.tree.as_ref().unwrap().branch_points(), 2000);
}

#[test]
fn thousands_of_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let of_each = rounds(100, 500);
    for project in 0..20 {
        let folder = dir.path().join(format!("--p{project}--"));
        fs::create_dir(&folder).unwrap();
        for at in 0..of_each {
            let session = entry(Session::new(&format!("{project}-{at}")).cwd(format!("/p{project}")), 0);
            fs::write(folder.join(format!("{at}.jsonl")), session.text()).unwrap();
        }
    }
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    assert_eq!(browser.model.sessions.rows.len(), 20 * of_each + 20);
    assert!(
        browser.screen().contains(&format!("{} sessions · 20 projects", grouped(20 * of_each))),
        "{}",
        browser.screen()
    );
    browser.press("G ctrl+s ctrl+s ctrl+n ctrl+n v c v x home");
}

#[test]
fn a_large_session_shows_its_end_first_and_keeps_the_selection() {
    let long =
        |session: Session, id: usize| session.user(&id.to_string(), &format!("entry {id} {}", "more ".repeat(80)));
    let (dir, browser) = browser(&(0..many()).fold(Session::new("s"), long).text());
    assert!(
        browser.screen().contains(&format!("{} entries", grouped(many()))),
        "both came, the whole last\n{}",
        browser.screen()
    );
    let path = dir.path().join("s.jsonl");
    let mut pane = TreePane::default();
    pane.turn_to(browser.model.catalog.key_of(&path));
    pane.show(Arc::new(load::end(&path, "").unwrap()));
    assert!(pane.must_scroll_to_selection && pane.rows.list.len() < 10_000);
    pane.cursor.go(-3, pane.rows.list.len());
    pane.cursor.fit(pane.rows.list.len(), 20);
    pane.note_selection();
    let selected =
        |pane: &TreePane| pane.tree.as_ref().unwrap().nodes[pane.selected_entry().unwrap() as usize].text.clone();
    let (before, row) = (selected(&pane), pane.cursor.at - pane.cursor.top);
    pane.show(Arc::new(load::tree(&path, "").unwrap()));
    assert_eq!((selected(&pane), pane.cursor.at - pane.cursor.top), (before, row), "the same row of the screen");
    assert!(!pane.must_scroll_to_selection && pane.rows.list.len() == many());
}
