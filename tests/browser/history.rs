//! Change history: undo asks before it reverts a change of another pitree; the trash and the history are lists.

use pitree::app::message::{Effect, Msg, Work};
use pitree::changes::Request;

use super::changes::World;
use super::harness::{Browser, shows};

#[test]
fn undo_asks_before_reverting_a_change_of_an_earlier_run() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    browser.press("ctrl+r").type_text("new name").press("enter");
    assert_eq!(browser.session().unwrap().title(), "new name");
    browser.press("u");
    assert!(!browser.asks(), "changes of this pitree are undone without a question");
    assert_eq!(browser.session().unwrap().title(), "the other session");
    browser.press("U");
    browser.restarted();
    world.select(&mut browser, "main");
    browser.press("u");
    assert!(browser.asks());
    shows(&browser, "rename to \"new name\"");
    shows(&browser, ", today 08:00");
    shows(&browser, "new name");
    browser.press("n u");
    assert!(browser.asks(), "nothing was undone");
    // Another change happens meanwhile, which is not the one in the question.
    let question = browser.model.layers.0.pop().unwrap();
    browser.press("ctrl+r").type_text("newer name").press("enter");
    browser.restarted();
    browser.model.layers.0.push(question);
    browser.press("u");
    assert!(browser.asks());
    shows(&browser, "rename to \"newer name\"");
    browser.press("u");
    assert!(!browser.asks());
    assert_eq!(browser.session().unwrap().title(), "the main session");
    browser.press("u u");
    world.select(&mut browser, "other");
    assert_eq!(browser.session().unwrap().title(), "the other session");
    // A change that this pitree redoes belongs to it.
    browser.press("U u");
    assert!(!browser.asks());
}

#[test]
fn sessions_are_restored_from_the_trash_list() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("g x");
    shows(&browser, "pitree's trash is empty");
    browser.press("esc");
    for name in ["other", "twin"] {
        world.select(&mut browser, name);
        browser.press("ctrl+d t");
    }
    assert_eq!(browser.trashed(), ["other.jsonl", "twin.jsonl"]);
    browser.restarted();
    browser.press("g x");
    let rows = |browser: &Browser| browser.palettes()[0].counts();
    assert_eq!(rows(&browser), (2, 2));
    shows(&browser, "twin.jsonl");
    browser.type_text("other");
    assert_eq!(rows(&browser), (1, 2));
    assert_eq!(wanted(&mut browser), [Request::Undo { number: Some(1) }]);
    assert!(browser.palettes().is_empty());
}

#[test]
fn any_change_in_the_history_can_be_undone() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("ctrl+r").type_text("one").press("enter");
    world.select(&mut browser, "other");
    browser.press("space");
    world.select(&mut browser, "twin");
    browser.press("space ctrl+d t");
    world.select(&mut browser, "fork");
    browser.press("ctrl+r").type_text("two").press("enter");
    browser.press("g h");
    let list = browser.palettes()[0];
    assert_eq!(list.counts(), (3, 3));
    let text = |at: usize| {
        list.drawn(at, 100, &browser.model.settings.glyphs).0.iter().map(|span| span.text.as_str()).collect::<String>()
    };
    assert_eq!(text(0), "rename to \"two\"  two");
    assert!(
        text(1).starts_with("Moved 2 sessions to the trash  ") && text(1).ends_with(".jsonl and 1 other"),
        "{}",
        text(1)
    );
    assert_eq!(text(2), "rename to \"one\"  one");
    browser.press("down");
    assert_eq!(wanted(&mut browser), [Request::UndoGroup { group: 2 }], "grouped changes are undone together");
    browser.press("g h down down enter");
    world.select(&mut browser, "main");
    assert_eq!(browser.session().unwrap().title(), "the main session", "not just the last one");
    browser.press("g h");
    shows(&browser, "undone");
    browser.press("down down enter");
    assert_eq!(browser.footer(), "already reverted; nothing to undo");
}

/// Returns the changes that Enter requests, without applying them.
fn wanted(browser: &mut Browser) -> Vec<Request> {
    let effects = browser.take(Msg::Key("enter".parse().unwrap()));
    let changes = effects.into_iter().filter_map(|effect| match effect {
        Effect::Ask(_, Work::Change { request, .. }) => Some(request),
        _ => None,
    });
    changes.collect()
}

#[test]
fn the_path_of_a_session_in_the_trash_is_copied() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let path = world.path("other").to_string_lossy().into_owned();
    world.select(&mut browser, "other");
    browser.press("ctrl+d t g x");
    browser.take(Msg::Now(super::harness::NOW + 5000));
    browser.press("down");
    assert!(browser.footer().contains("copy path"), "{}", browser.footer());
    browser.press("alt+y");
    assert_eq!(browser.copied, [path]);
    shows(&browser, "copied: ");
    browser.press("esc : alt+y");
    shows(&browser, "this row has no path to copy");
}

#[test]
fn keys_without_effect_in_a_dialog_are_reported() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    for boxes in ["g x", ":", "?", "y", "l c"] {
        browser.press(boxes).press("ctrl+r");
        assert_eq!(browser.footer(), "ctrl+r (rename) does nothing here", "{boxes}");
        browser.press("esc");
    }
    browser.press("' ctrl+r");
    assert_eq!(browser.footer(), "no label is selected");
}
