//! Entries in the format of pi 1.x (`fixtures/sessions/--home-dev-talk--`), in the preview.

use std::fs;

use super::harness::Browser;
use crate::common::home::repository;

/// Returns the preview of the first entry whose row contains `text`, in a tree of all entries.
fn preview(file: &str, text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(repository("fixtures/sessions/--home-dev-talk--").join(file), dir.path().join(file)).unwrap();
    let mut browser = Browser::on(&[dir.path()], 180, 60);
    browser.press("l ctrl+a home");
    let row = |browser: &Browser| {
        let tree = browser.model.tree.tree.as_ref().unwrap();
        tree.nodes[browser.model.tree.selected_entry().unwrap() as usize].text.to_string()
    };
    for _ in 0..40 {
        if row(&browser).contains(text) {
            break;
        }
        browser.press("j");
    }
    assert!(row(&browser).contains(text), "{}", browser.screen());
    browser.screen()
}

fn has(screen: &str, texts: &[&str]) {
    for text in texts {
        assert!(screen.contains(text), "{text:?} is not in\n{screen}");
    }
}

#[test]
fn a_system_message_shows_the_model_instructions() {
    let first = preview("talk-compacted.jsonl", "[system]");
    has(&first, &["System message from pi", "preamble", "You are a coding assistant", "rules"]);
    let compaction = preview("talk-compacted.jsonl", "[compaction");
    has(&compaction, &["They counted to three.", "You are a coding assistant"]);
}

#[test]
fn an_answer_shows_its_duration_and_model() {
    has(&preview("talk.jsonl", "You asked for them"), &["none-1 as none-1-2026-01-05", "thinking high", "1.5 s"]);
}

#[test]
fn calls_made_by_a_script_are_listed_below_it() {
    let screen = preview("talk-script.jsonl", "[codemode");
    has(&screen, &["await tools.write(", "[write: colours.txt]", "[edit: colours.txt]", "[bash: sort colours.txt]"]);
}

#[test]
fn what_the_model_did_not_see_is_noted() {
    let answer = preview("talk-diagnostics.jsonl", "I went on.");
    has(&answer, &["OpenAI dropped 2 reasoning items: prefix_mismatch"]);
    let image = preview("talk-image-unseen.jsonl", "[read: chart.png]");
    has(&image, &["image/png", "none-1 does not support images; it saw a placeholder instead"]);
}

#[test]
fn a_call_that_never_ran_has_not_failed() {
    let screen = preview("talk-batch.jsonl", "[write: b.txt]");
    has(&screen, &["not run [write: b.txt]", "Operation aborted"]);
    let failed = screen.lines().filter(|line| line.contains("• failed")).collect::<Vec<_>>();
    assert_eq!(failed.len(), 2, "the stopped command, and the missing file: {failed:?}");
}
