//! Snapshots of the demo.

use pitree::config::Config;

use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(wide, (200, 60), "j l");
snapshot!(medium, (120, 30), "");
snapshot!(sessions_at_80, (80, 24), "");
snapshot!(tree_at_80, (80, 24), "j l");
snapshot!(preview_at_80, (80, 24), "j l home j tab");
snapshot!(smallest, (40, 10), "");
snapshot!(smallest_tree, (40, 10), "j l");
snapshot!(outline, (120, 30), "j l v o");
snapshot!(all_entries, (120, 40), "l ctrl+a home");
snapshot!(folded, (120, 30), "j l v c");
snapshot!(help, (100, 30), "?");
snapshot!(sorted_by_cost, (120, 30), "ctrl+s ctrl+s ctrl+s ctrl+s");
snapshot!(a_project, (120, 30), "home");
snapshot!(a_fork, (120, 60), "j j");

#[test]
fn signs_can_be_set() {
    let config = Config::parse("[glyphs]\nfork = 'ψ'\nfocus = '*'\nbar = '!'\n", "config.toml").unwrap();
    let browser = Browser::configured(&config, 120, 30);
    shows(&browser, "*Sessions");
    shows(&browser, "ψ Sessions in Re");
    shows(&browser, "! Flaky");
}

snapshot!(rename, (100, 20), "j ctrl+r");
snapshot!(rename_smallest, (40, 10), "j ctrl+r");
snapshot!(delete, (100, 24), "j ctrl+d");
snapshot!(delete_smallest, (40, 10), "j ctrl+d");
snapshot!(delete_marked, (100, 24), "m A ctrl+d");
snapshot!(go_on, (100, 24), "j l k k enter");
snapshot!(go_on_smallest, (40, 10), "j l k k enter");
snapshot!(marked, (120, 30), "space j space");

#[test]
fn a_project_with_one_session_is_one_row() {
    let dir = tempfile::tempdir().unwrap();
    for (name, cwd) in [("one", "/code/alone"), ("two", "/code/both"), ("three", "/code/both")] {
        let session = Session::new(name).cwd(cwd).asked(&format!("prompt {name}"), &["an answer"]);
        std::fs::write(dir.path().join(format!("{name}.jsonl")), session.text()).unwrap();
    }
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    assert_eq!(browser.model.sessions.rows.len(), 4, "the project of two has a row of its own");
    while browser.selected() != "prompt one" {
        browser.press("j");
    }
    shows(&browser, "alone ✗  prompt one");
    browser.press("h");
    assert_eq!(browser.selected(), "prompt one", "there is nothing to fold and no parent row");
}
