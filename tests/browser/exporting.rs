//! The box of an export: its content, the likely secrets, and the new file.

use std::fs;

use tempfile::TempDir;

use super::harness::{Browser, shows};
use crate::common::session::Session;

/// A made-up token, written so that it is not one in this file.
fn token(seed: char) -> String {
    format!("{}_{}{seed}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3")
}

fn world() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("0199f2c1-aaaa").user("u1", &format!("use {} here", token('a'))).assistant("a1", "no");
    let session = session.user("u2", &format!("or {}", token('b'))).assistant("a2", "done");
    fs::write(dir.path().join("one.jsonl"), session.text()).unwrap();
    fs::write(dir.path().join("two.jsonl"), Session::new("two").user("u1", "other").text()).unwrap();
    dir
}

fn selected(dir: &TempDir) -> Browser {
    let mut browser = Browser::on(&[dir.path()], 100, 40);
    browser.press("home");
    while browser.session().is_none_or(|session| !session.path.ends_with("one.jsonl")) {
        browser.press("j");
    }
    browser
}

#[test]
fn secrets_are_replaced_unless_they_are_kept() {
    let dir = world();
    let mut browser = selected(&dir);
    browser.press("m e");
    shows(&browser, "2 likely secrets are replaced");
    shows(&browser, "github-token 1");
    browser.press("s");
    shows(&browser, "replace  [github-token 1] ghp_…, first in entry u1");
    browser.press("2");
    shows(&browser, "keep     [github-token 2] ghp_…, first in entry u2");
    browser.press("esc");
    shows(&browser, "1 likely secret is replaced, 1 kept");
    let file = dir.path().join("share.md");
    browser.press("w").press("ctrl+u").type_text(file.to_str().unwrap()).press("enter");
    shows(&browser, "exported to ");
    assert!(!browser.has_note(), "the result takes no key");
    let text = fs::read_to_string(&file).unwrap().replace('\\', "");
    assert!(text.contains("[github-token 1]") && !text.contains(&token('a')) && text.contains(&token('b')), "{text}");
}

#[test]
fn format_content_and_personal_data_are_chosen_and_nothing_is_replaced() {
    let dir = world();
    let mut browser = selected(&dir);
    let file = dir.path().join("share.html");
    fs::write(&file, "mine").unwrap();
    browser.press("m e").press("f");
    while !browser.screen().contains("Format  html") {
        browser.press("f");
    }
    browser.press("b").press("p");
    shows(&browser, "Content  all branches; next: model context");
    shows(&browser, "replaced: paths, names and addresses");
    browser.press("w").press("ctrl+u").type_text(file.to_str().unwrap()).press("enter");
    shows(&browser, "already exists");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn marked_sessions_become_a_directory() {
    let dir = world();
    let mut browser = selected(&dir);
    browser.press("m A").press("m e");
    shows(&browser, "2 marked sessions");
    let to = dir.path().join("all");
    browser.press("w").press("ctrl+u").type_text(to.to_str().unwrap()).press("enter");
    shows(&browser, "exported to ");
    assert!(!browser.has_note(), "the result takes no key");
    let index = fs::read_to_string(to.join("index.md")).unwrap();
    assert!(index.contains("pitree-0199f2c1.md") && index.contains("pitree-two.md"), "{index}");
}
