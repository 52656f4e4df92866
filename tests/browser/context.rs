//! The model's context at an entry.

use std::fs;
use std::path::Path;

use pitree::app::layers::Layer;
use pitree::app::layers::context::ContextView;
use pitree::app::message::Msg;
use pitree::keymap::KeyContext;

use super::changes::{World, to_entry};
use super::harness::{Browser, shows};
use crate::common::home::repository;
use crate::common::session::Session;

snapshot!(context, (80, 24), "l c");
snapshot!(context_wide, (160, 30), "j l c");
snapshot!(context_smallest, (40, 10), "l c end");

fn view(browser: &Browser) -> &ContextView {
    match browser.model.layers.top() {
        Some(Layer::Context(view)) => view,
        other => panic!("{other:?}\n{}", browser.screen()),
    }
}

/// Opens the browser on a copy of a fixture, at the leaf.
fn on(dir: &Path, fixture: &str) -> Browser {
    let name = Path::new(fixture).file_name().unwrap();
    fs::copy(repository("fixtures/sessions").join(fixture), dir.join(name)).unwrap();
    let mut browser = Browser::on(&[dir], 100, 30);
    browser.press("l");
    browser
}

#[test]
fn selecting_a_row_goes_to_its_entry_and_closes_the_list() {
    let mut browser = Browser::demo(120, 40);
    browser.press("l c");
    let entry = view(&browser).rows[view(&browser).cursor.at + 1].at;
    assert!(view(&browser).rows.len() > 10);
    browser.press("j enter");
    assert!(browser.model.layers.0.is_empty());
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert_eq!(browser.model.tree.selected_entry(), Some(entry));
    for closes in ["esc", "c"] {
        browser.press("c").press(closes);
        assert!(browser.model.layers.0.is_empty() && browser.model.tree.selected_entry() == Some(entry));
    }
}

#[test]
fn omitted_messages_show_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = on(dir.path(), "--home-dev-app--/compaction-edits.jsonl");
    browser.press("c");
    for why in ["compacted: One", "omitted by a context edit", "superseded compaction", "4 not sent"] {
        shows(&browser, why);
    }
    let first = view(&browser).cursor.at;
    assert!(view(&browser).rows[first].why.is_none(), "the first message of the context is selected");
    let talks = tempfile::tempdir().unwrap();
    let mut browser = on(talks.path(), "--home-dev-talk--/talk-failed.jsonl");
    browser.press("c");
    shows(&browser, "failed answer");
    shows(&browser, "5 tools");
}

#[test]
fn resuming_and_forking_ask_the_same_as_in_the_tree() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("c m h");
    shows(&browser, "Resume from this entry");
    shows(&browser, "The model will see 4 messages.");
    // The question contains the list too, and remains below it.
    browser.press("c");
    assert_eq!(view(&browser).rows.iter().filter(|row| row.why.is_none()).count(), 4);
    browser.press("esc");
    assert!(browser.asks());
    browser.press("c m h");
    assert!(browser.asks(), "the question is open");
    browser.press("c enter");
    assert!(browser.model.layers.0.is_empty(), "the question is closed too");
    to_entry(&mut browser, "left it is");
    browser.press("c m f");
    assert!(browser.footer().contains("Forked the session here"), "{}", browser.footer());
}

#[test]
fn the_context_before_a_message_ends_at_its_parent() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("c");
    assert_eq!(view(&browser).rows.len(), 3, "at the message it is included");
    browser.press("esc enter c");
    assert_eq!(view(&browser).rows.len(), 2, "pi resumes before it");
}

#[test]
fn loading_and_read_errors_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let session = Session::new("s").user("u1", "the question").assistant("a1", "the answer").text();
    fs::write(&path, &session).unwrap();
    let mut browser = Browser::on(&[dir.path()], 100, 30);
    browser.press("l");
    let mut effects = browser.take(Msg::Key("c".parse().unwrap()));
    shows(&browser, "reading the entries");
    browser.press("j enter c");
    fs::write(&path, "").unwrap();
    browser.press("esc esc");
    let late = browser.replies(effects.remove(0));
    late.into_iter().for_each(|msg| browser.send(msg));
    assert!(browser.model.layers.0.is_empty(), "the late reply is ignored");
    browser.press("l c");
    shows(&browser, "s.jsonl: it changed since it was opened");
}

#[test]
fn rows_without_an_entry_are_reported() {
    let mut browser = Browser::demo(120, 40);
    browser.press("c");
    assert!(browser.footer().contains("c (context) works in the Tree pane"), "{}", browser.footer());
}

#[test]
fn rows_name_tool_and_file_and_the_largest_come_first() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l c");
    shows(&browser, "callers. [read: src/auth/index.ts] [grep");
    shows(&browser, "[read: src/auth/index.ts] import { sign, verify }");
    let in_order: Vec<_> = view(&browser).rows.iter().map(|row| row.at).collect();
    let sent = |browser: &Browser| -> Vec<u64> {
        view(browser).rows.iter().filter(|row| row.why.is_none()).filter_map(|row| row.tokens).collect()
    };
    browser.press("ctrl+s");
    assert!(sent(&browser).is_sorted_by(|a, b| a >= b) && sent(&browser).len() > 5, "{:?}", sent(&browser));
    assert_eq!(view(&browser).cursor.at, 0);
    // A selected row stays selected.
    browser.press("j j");
    let chosen = view(&browser).rows[2].at;
    browser.press("ctrl+s");
    assert_eq!(view(&browser).rows[view(&browser).cursor.at].at, chosen);
    assert_eq!(view(&browser).rows.iter().map(|row| row.at).collect::<Vec<_>>(), in_order);
}

#[test]
fn the_sum_is_explained() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l c");
    shows(&browser, "tokens, counted by the provider on 2026-");
    shows(&browser, "S system and tools 37k 97%");
    let dir = tempfile::tempdir().unwrap();
    let mut browser = on(dir.path(), "--home-dev-talk--/talk.jsonl");
    browser.press("c");
    shows(&browser, "S system and tools ");
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("s").user("u1", "the question");
    fs::write(dir.path().join("s.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 30);
    browser.press("l c");
    shows(&browser, "~3 tokens, estimated: no provider count since");
}

/// Returns what is planned for the messages.
fn planned(browser: &Browser) -> Vec<&'static str> {
    let view = view(browser);
    view.planned.iter().flat_map(|planned| &planned.plan.edits).map(|edit| edit.kind.name()).collect()
}

#[test]
fn edits_are_planned_and_written_only_after_the_question() {
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.press("l");
    to_entry(&mut browser, "right it is");
    let before = world.text("main");
    browser.press("c d");
    assert_eq!(planned(&browser), ["omit"]);
    shows(&browser, "1 edit saves 4 tokens");
    shows(&browser, "omit  the main session");
    browser.press("esc");
    shows(&browser, "Discard the edits?");
    browser.press("k o");
    assert_eq!(planned(&browser), [""; 0], "the original is sent already");
    browser.press("home space space d enter");
    shows(&browser, "Edit the context");
    assert_eq!(world.text("main"), before);
    browser.press("h");
    assert!(browser.model.layers.0.is_empty());
    let appended = world.text("main");
    assert!(appended.starts_with(&before) && appended[before.len()..].matches("\"replacement\":null").count() == 2);
    browser.press("u");
    assert_eq!(world.text("main")[appended.len()..].matches("\"replacement\":{\"content\"").count(), 2);
    to_entry(&mut browser, "left it is");
    browser.press("c t");
    assert_eq!(view(&browser).marked.len(), 2, "the first turn");
    browser.press("esc j s");
    browser.press("ctrl+u 1 enter");
    assert_eq!(planned(&browser), [""; 0], "a short text stays");
    browser.press("home shift+down d enter");
    assert!(!browser.screen().contains("  h  Here"), "not at the leaf\n{}", browser.screen());
    browser.press("f");
    assert_eq!(
        browser.session().map(|session| session.path == world.path("main")),
        Some(false),
        "the fork is selected"
    );
}

#[test]
fn an_edited_text_replaces_the_message() {
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.press("l");
    to_entry(&mut browser, "right it is");
    browser.press("c r");
    browser.send(Msg::Edited("another prompt\n".into()));
    assert_eq!(planned(&browser), ["replace"]);
    browser.press("enter f");
    let fork = browser.session().unwrap().path.clone();
    assert!(
        fs::read_to_string(fork)
            .unwrap()
            .contains(r#""replacement":{"content":[{"type":"text","text":"another prompt"}]}"#)
    );
}

#[test]
fn keys_that_come_before_the_plan_are_all_planned() {
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.press("l");
    to_entry(&mut browser, "right it is");
    browser.press("c home");
    let mut late = Vec::new();
    for key in ["d", "j", "a", "d", "j"] {
        late.extend(browser.take(Msg::Key(key.parse().unwrap())));
    }
    for effect in late {
        browser.replies(effect).into_iter().for_each(|msg| browser.send(msg));
    }
    assert_eq!(planned(&browser), ["omit"; 2]);
}
