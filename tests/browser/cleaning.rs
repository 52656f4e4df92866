//! Suggestions for a clean-up: the box, and the list of marked sessions.

use std::fs;

use super::changes::shows_not;
use super::harness::{Browser, shows};
use crate::common::home::{long_ago, set_modified};
use crate::common::session::Session;

/// Opens a project with two empty sessions, an unused fork and a used session, all of them old.
fn open(dir: &std::path::Path, columns: u16, rows: u16) -> Browser {
    let project = dir.join("--home-dev-app--");
    fs::create_dir_all(&project).unwrap();
    let write = |id: &str, session: &Session| {
        let path = project.join(format!("{id}.jsonl"));
        fs::write(&path, session.text()).unwrap();
        set_modified(&path, long_ago());
        path
    };
    let used = Session::new("used").user("u1", "the used session").assistant("u2", "done");
    let path = write("used", &used);
    write("fork", &used.forked("fork", &path, 100));
    write("silent", &Session::new("silent"));
    write("open", &Session::new("open").user("o1", "the open question"));
    Browser::on(&[dir], columns, rows)
}

#[test]
fn a_suggestion_lists_its_sessions_marked() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = open(dir.path(), 80, 24);
    browser.press("g a");
    insta::assert_snapshot!("clean_up", browser.screen().replace(&*dir.path().to_string_lossy(), "DIR"));
    browser.press("1");
    shows(&browser, "2 marked");
    shows(&browser, "marked only");
    shows(&browser, "the open question");
    shows_not(&browser, "the used session");
    // A session that stays is unmarked, and the others are shown again.
    browser.press("v m");
    shows(&browser, "the used session");
    browser.press("v m esc");
    shows(&browser, "the used session");
    shows_not(&browser, "marked only");
    browser.press("g a 2 ctrl+d");
    shows(&browser, "Move to trash?");
}

#[test]
fn without_suggestions_a_message_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = open(dir.path(), 80, 24);
    for name in ["silent", "open", "fork"] {
        fs::remove_file(dir.path().join(format!("--home-dev-app--/{name}.jsonl"))).unwrap();
    }
    browser.press("f5 g a");
    shows(&browser, "no session to clean up");
}
