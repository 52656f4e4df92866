//! Lasting marks: pinned sessions on top, tags in rows, notes above the preview.

use std::fs;

use crate::common::session::Session;

use super::harness::{Browser, shows};

/// Opens three sessions of a project, of which "third" is the newest.
fn browser(dir: &tempfile::TempDir, size: (u16, u16)) -> Browser {
    for (at, id) in ["first", "second", "third"].into_iter().enumerate() {
        let session = Session::new(id).at(at as i64 * 60).asked(&format!("the {id} prompt"), &["an answer"]);
        fs::write(dir.path().join(format!("{id}.jsonl")), session.text()).unwrap();
    }
    Browser::on(&[dir.path()], size.0, size.1)
}

/// Returns the titles of the session rows from the top.
fn titles(browser: &mut Browser) -> Vec<String> {
    browser.press("home j");
    (0..3)
        .map(|_| {
            let title = browser.selected();
            browser.press("j");
            title
        })
        .collect()
}

#[test]
fn pinned_sessions_are_first_in_their_project() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    assert_eq!(titles(&mut browser), ["the third prompt", "the second prompt", "the first prompt"]);
    assert_eq!(browser.selected(), "the first prompt");
    browser.press("m p");
    shows(&browser, "★ the first prompt");
    assert_eq!(browser.selected(), "the first prompt", "the selection stays on the session");
    assert_eq!(titles(&mut browser), ["the first prompt", "the third prompt", "the second prompt"]);
    browser.press("u");
    assert_eq!(titles(&mut browser), ["the third prompt", "the second prompt", "the first prompt"]);
    // Marked sessions are pinned together, and unpinned only if all are pinned.
    browser.press("U home j space space m p");
    shows(&browser, "★ the third prompt");
    shows(&browser, "★ the first prompt");
    browser.press("m A m p");
    shows(&browser, "★ the second prompt");
    browser.press("m p");
    assert!(!browser.screen().contains('★'), "{}", browser.screen());
}

#[test]
fn tags_are_edited_in_a_line_and_searched() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    browser.press("home j m t").type_text("release +draft").press("enter");
    shows(&browser, "+draft +release");
    browser.press("m t");
    shows(&browser, "tags: +draft +release");
    browser.press("ctrl+u").type_text("release").press("enter");
    shows(&browser, "the third prompt  +release  ");
    browser.press("m t").type_text("-release a;b").press("enter");
    shows(&browser, "the third prompt  +a;b  ");
    browser.press("u u");
    shows(&browser, "the third prompt  +draft +release  ");
    browser.press("m t").type_text(&"x".repeat(101)).press("enter");
    shows(&browser, "at most 100 characters");
    browser.press("esc /").type_text("tag:re");
    shows(&browser, "release");
    browser.press("enter");
    assert_eq!(browser.selected(), "the third prompt");
}

#[test]
fn the_list_can_be_sorted_by_tags() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (80, 24));
    browser.press("ctrl+s ctrl+s ctrl+s ctrl+s ctrl+s ctrl+s");
    shows(&browser, "threaded");
    browser.press("home j j m t").type_text("b").press("enter j m t").type_text("a").press("enter");
    browser.press("ctrl+s ctrl+s ctrl+s ctrl+s ctrl+s ctrl+s home");
    shows(&browser, "tags");
    assert_eq!(browser.selected(), "the first prompt");
    assert_eq!(browser.press("j").selected(), "the second prompt");
    assert_eq!(browser.press("j").selected(), "the third prompt");
}

#[test]
fn notes_are_above_the_preview() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = browser(&dir, (120, 40));
    browser.press("home j m n").type_text("ask again tomorrow").press("enter");
    shows(&browser, "note        ask again tomorrow");
    shows(&browser, "✎ the third prompt");
    browser.press("l m n");
    shows(&browser, "note on the entry: ");
    browser.type_text("flaky").press("enter");
    shows(&browser, "note        flaky");
    browser.press("m n");
    shows(&browser, "note on the entry: flaky");
    browser.press("ctrl+u enter");
    assert!(!browser.screen().contains("flaky\n"), "{}", browser.screen());
    browser.press("u");
    shows(&browser, "note        flaky");
}
