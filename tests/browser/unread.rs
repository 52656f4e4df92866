//! Unread sessions: dots in rows, the header, the query and the key, and when sessions count as shown.

use std::fs;

use pitree::app::message::{Effect, Msg, Reply, Work};
use tempfile::TempDir;

use crate::browser::harness::{Browser, NOW, shows};
use crate::common::session::{START, Session};

/// Seconds from the time of test sessions until the first start.
const FIRST: i64 = NOW / 1000 - START;

/// Writes a session whose last message is some seconds after the first start.
fn write(dir: &TempDir, id: &str, seconds: i64) {
    let session = Session::new(id).at(FIRST + seconds).user(&format!("u-{id}"), &format!("prompt of {id}"));
    fs::write(dir.path().join(format!("{id}.jsonl")), session.text()).unwrap();
}

/// Opens a read session and two with messages after the first start.
fn browser(dir: &TempDir, size: (u16, u16)) -> Browser {
    for (id, seconds) in [("old", -60), ("late", 60), ("newest", 120)] {
        write(dir, id, seconds);
    }
    Browser::on(&[dir.path()], size.0, size.1)
}

/// Returns `true` if the row of a session has a dot.
fn has_dot(browser: &Browser, id: &str) -> bool {
    browser.screen().contains(&format!("• prompt of {id}"))
}

fn dots(browser: &Browser) -> [bool; 3] {
    ["old", "late", "newest"].map(|id| has_dot(browser, id))
}

/// Lets seconds pass.
fn pass(browser: &mut Browser, seconds: i64) {
    let now = browser.model.now + seconds * 1000;
    browser.send(Msg::Now(now));
}

#[test]
fn opening_the_tree_marks_a_session_as_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 15));
    assert_eq!(dots(&browser), [false, true, true], "{}", browser.screen());
    shows(&browser, "2 unread");
    // Only the list is visible.
    pass(&mut browser, 5);
    browser.press("home j");
    assert_eq!(dots(&browser), [false, true, true]);
    browser.press("tab");
    assert_eq!(browser.session().unwrap().header.id, "newest");
    browser.press("esc");
    assert_eq!(dots(&browser), [false, true, false]);
    shows(&browser, "1 unread");
    write(&dir, "newest", 180);
    browser.press("f5");
    assert_eq!(dots(&browser), [false, true, true]);
    // Changes that pitree itself makes are not new.
    browser.press("m k ctrl+r").type_text("name").press("enter");
    shows(&browser, "1 unread");
}

#[test]
fn a_session_shown_beside_the_list_is_read_after_a_moment() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (120, 24));
    browser.press("home j j");
    assert_eq!(dots(&browser), [false, true, true], "not after passing by");
    pass(&mut browser, 5);
    assert_eq!(dots(&browser), [false, true, true], "not without input");
    browser.press("j");
    assert_eq!(dots(&browser), [false, false, true], "{}", browser.screen());
}

#[test]
fn resuming_marks_a_session_as_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    fs::create_dir_all(dir.path().join("cwd")).unwrap();
    let session = Session::new("late").cwd(dir.path().join("cwd")).at(FIRST + 60).user("u-late", "prompt of late");
    fs::write(dir.path().join("late.jsonl"), session.text()).unwrap();
    browser.press("f5 G enter");
    while browser.asks() {
        browser.press("enter");
    }
    assert!(browser.wants.iter().any(|effect| matches!(effect, Effect::Resume(_))), "{}", browser.screen());
    shows(&browser, "1 unread");
}

#[test]
fn a_key_marks_sessions_as_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    browser.press("home j j m k");
    assert_eq!(dots(&browser), [false, false, true]);
    shows(&browser, "marked 1 session as read");
    browser.press("m k");
    shows(&browser, "already read");
    browser.press("m A m k");
    assert_eq!(dots(&browser), [false; 3]);
    assert!(!browser.screen().contains("unread"));
}

#[test]
fn a_query_finds_unread_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    browser.press("/").type_text("is:unread").press("enter");
    shows(&browser, "prompt of newest");
    assert!(!browser.screen().contains("prompt of old"), "{}", browser.screen());
}

#[test]
fn shown_messages_are_written_after_a_pause_and_kept_if_that_fails() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    browser.press("home j tab");
    let writes = |browser: &mut Browser, seconds: i64| {
        let now = browser.model.now + seconds * 1000;
        browser.take(Msg::Now(now)).into_iter().find_map(|effect| match effect {
            Effect::Ask(ticket, Work::WriteLastSeen(shown)) => Some((ticket, shown.into_keys().collect::<Vec<_>>())),
            _ => None,
        })
    };
    assert!(writes(&mut browser, 1).is_none());
    let (ticket, shown) = writes(&mut browser, 1).unwrap();
    assert_eq!(shown.iter().map(|key| key.split_once('@').unwrap().0).collect::<Vec<_>>(), ["newest"]);
    browser.send(Msg::Reply(ticket, Reply::LastSeen(None)));
    assert!(writes(&mut browser, 60).is_none(), "a full disk is not tried again without a reason");
    browser.press("esc j m k");
    let (ticket, shown) = writes(&mut browser, 2).unwrap();
    assert_eq!(shown.iter().map(|key| key.split_once('@').unwrap().0).collect::<Vec<_>>(), ["late", "newest"]);
    for msg in browser.replies(Effect::Ask(ticket, Work::WriteLastSeen([("late".into(), i64::MAX)].into()))) {
        browser.send(msg);
    }
    assert_eq!(dots(&browser)[..2], [false, false]);
    assert!(writes(&mut browser, 60).is_none());
}
