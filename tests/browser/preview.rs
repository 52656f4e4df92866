//! The preview: wrapping of long lines, and the display until the text is loaded.

use std::fs;

use pitree::app::message::{Effect, Msg, Opener};
use pitree::keymap::KeyContext;
use serde_json::json;

use super::harness::{Browser, NOW, shows};
use crate::common::session::Session;

/// Opens a session with prose and a long line of output that ends with a known word.
fn open(columns: u16, rows: u16) -> (tempfile::TempDir, Browser) {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("first\t{} needle here", "0123456789".repeat(30));
    let session = Session::new("s").user("u1", "short").call("a1", "bash", &json!({"command": "ls"}));
    let session = session.result("r1", "a1", "bash", &format!("{line}\nnext line\n")).user("u2", "thanks");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], columns, rows);
    browser.press("l ctrl+a");
    while !browser.selected().contains("bash") {
        browser.press("k");
    }
    browser.press("tab z");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    (dir, browser)
}

#[test]
fn long_code_lines_wrap_with_a_symbol_or_scroll() {
    let (_dir, mut browser) = open(60, 24);
    let with_sign = |browser: &Browser| browser.screen().lines().filter(|line| line.contains("↪ ")).count();
    assert!(with_sign(&browser) >= 5, "{}", browser.screen());
    shows(&browser, "needle here");
    browser.press("v w");
    assert_eq!(browser.footer(), "not wrapping long lines; scroll with left and right");
    assert_eq!(with_sign(&browser), 0);
    assert!(!browser.screen().contains("needle") && browser.screen().contains("…"), "{}", browser.screen());
    shows(&browser, "unwrapped");
    browser.press("right");
    shows(&browser, "from column 3");
    for _ in 0..20 {
        browser.press("l");
    }
    shows(&browser, "needle here");
    browser.press("left");
    assert_eq!(browser.model.focus, KeyContext::Reader, "there is more to the left");
    while browser.model.focus == KeyContext::Reader {
        browser.press("h");
    }
    assert_eq!(browser.model.reader.style.left, 0);
    browser.press("tab v w");
    assert!(with_sign(&browser) >= 5);
}

#[test]
fn a_hit_outside_the_columns_is_scrolled_to_and_highlighted() {
    let (_dir, mut browser) = open(60, 24);
    browser.press("v w /").type_text("needle").press("enter");
    let marked = |browser: &Browser| {
        let pane = &browser.model.reader;
        let rows = pane.rows(browser.model.tree.find.as_ref().map(|find| &*find.words), NOW);
        let is_match = |span: &&pitree::base::text::Span| span.tone == pitree::base::text::Tone::Match;
        rows.iter().flatten().find(is_match).map(|span| span.text.clone())
    };
    shows(&browser, "needle here");
    assert_eq!(marked(&browser).as_deref(), Some("needle"));
    browser.press("esc /").type_text("first").press("enter");
    shows(&browser, "first   0123");
    assert_eq!(marked(&browser).as_deref(), Some("first"));
}

#[test]
fn the_wrap_symbol_has_an_ascii_form() {
    let config = pitree::config::Config { ascii: true, ..pitree::config::Config::default() };
    let mut browser = Browser::configured(&config, 60, 24);
    browser.press("tab tab");
    assert_eq!(browser.model.reader.style.continuation, ">");
    assert!(browser.screen().is_ascii() || !browser.screen().contains('↪'));
}

#[test]
fn fast_loading_shows_no_placeholder() {
    let mut browser = Browser::demo(220, 48);
    browser.press("tab v r home");
    let before = browser.screen();
    let seen = before.lines().nth(2).unwrap().rsplit('│').next().unwrap().to_string();
    assert!(!seen.trim().is_empty(), "{before}");
    let late = browser.take(Msg::Key("j".parse().unwrap()));
    for wait in [0, 149] {
        browser.take(Msg::Now(NOW + wait));
        assert!(!browser.screen().contains("reading"));
        shows(&browser, &seen);
    }
    browser.take(Msg::Now(NOW + 150));
    shows(&browser, " reading");
    assert!(!browser.screen().contains(&seen));
    for msg in late.into_iter().flat_map(|effect| browser.replies(effect)).collect::<Vec<_>>() {
        browser.send(msg);
    }
    assert!(!browser.screen().contains(" reading"));
}

#[test]
fn external_programs_receive_the_original_text() {
    let (_dir, mut browser) = open(60, 24);
    browser.press("m v");
    let Some(Effect::Open(copy)) = browser.wants.pop() else { panic!("it is opened") };
    assert_eq!((copy.with, &*copy.name), (Opener::Pager, "entry.txt"));
    assert!(copy.text.contains("first\t0123456789"), "tabs stay: {}", copy.text);
    assert!(copy.text.contains("needle here\nnext line\n") && copy.text.contains("[bash: ls]"));
    browser.press("shift+tab shift+tab");
    browser.press("m E");
    let Some(Effect::Open(card)) = browser.wants.pop() else { panic!("a card is opened") };
    assert_eq!((card.with, card.text.lines().next()), (Opener::Editor, Some("short")));
    // A user who continues meanwhile is not interrupted.
    browser.press("tab");
    let late = browser.take(Msg::Key("v".parse().unwrap()));
    browser.press("j");
    for msg in late.into_iter().flat_map(|effect| browser.replies(effect)).collect::<Vec<_>>() {
        browser.send(msg);
    }
    assert!(browser.wants.is_empty());
}
