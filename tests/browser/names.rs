//! Sessions whose file names are unusual.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::harness::{Browser, shows};
use crate::common::home::{long_ago, set_modified};
use crate::common::session::Session;

#[test]
fn names_that_are_not_utf8_work_like_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(OsStr::from_bytes(b"odd \xff.jsonl"));
    let session = |id: &str, at: i64| Session::new(id).at(at).asked(&format!("the {id} prompt"), &["an answer"]);
    fs::write(&path, session("odd", 60).text()).unwrap();
    let even = dir.path().join("even.jsonl");
    fs::write(&even, session("even", 0).text()).unwrap();
    set_modified(&even, long_ago());
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    assert_eq!((browser.selected().as_str(), browser.all().count()), ("the odd prompt", 2));
    shows(&browser, "an answer");
    browser.press("y p");
    assert!(browser.copied.is_empty(), "another path than its own");
    shows(&browser, "pitree path odd");
    browser.press("esc y c");
    assert!(browser.copied.pop().unwrap().starts_with("command /nowhere"));

    browser.press("ctrl+r ctrl+u").type_text("renamed").press("enter");
    assert_eq!(browser.selected(), "renamed");
    browser.press("l m l").type_text("labelled").press("enter");
    shows(&browser, "[labelled]");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("renamed") && text.contains("labelled"));
    browser.press("m f enter");
    assert_eq!(browser.all().count(), 3);
    browser.press("u");
    assert_eq!(browser.all().count(), 2);
    browser.press("u u tab tab home");
    while browser.selected() != "the odd prompt" {
        let before = browser.selected();
        assert_ne!(browser.press("j").selected(), before, "it is not listed");
    }
    browser.press("ctrl+d enter");
    assert_eq!((browser.all().count(), path.exists()), (1, false));
    assert!(browser.trashed().contains(&"odd \u{fffd}.jsonl".to_string()), "{:?}", browser.trashed());
}
