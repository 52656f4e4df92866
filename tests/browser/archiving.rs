//! The archive in the browser: moves, rows, the filter, and changes of archived sessions.

use std::fs;

use pitree::app::message::Effect;

use super::changes::{World, shows_not};
use super::harness::{Browser, shows};

/// Opens the sessions with one of them archived and selected.
fn with_archived(world: &World, name: &str, columns: u16, rows: u16) -> Browser {
    let mut browser = world.open(columns, rows);
    world.select(&mut browser, name);
    browser.press("m a a");
    assert!(!world.path(name).exists());
    browser
}

#[test]
fn a_session_moves_to_the_archive_and_back() {
    let world = World::new();
    let before = world.text("main");
    let mut browser = world.open(160, 40);
    browser.press("m a");
    shows(&browser, "Move to the archive?");
    shows(&browser, "pi's /resume will not list them.");
    shows(&browser, "Archive whole family  4 files, ");
    browser.press("esc");
    assert!(world.path("main").exists());
    browser.press("m a enter");
    assert!(!world.path("main").exists());
    shows(&browser, "Moved 1 session to the archive");
    shows(&browser, "▾ ▤ the main session");
    assert_eq!(browser.selected(), "the main session", "the same session stays selected");
    // Forks find their parent.
    shows_not(&browser, "⋎?");
    browser.press("f5");
    shows(&browser, "▾ ▤ the main session");
    browser.press("m a");
    shows(&browser, "Bring back from the archive?");
    shows_not(&browser, "pi's /resume");
    browser.press("enter");
    assert!(world.path("main").exists(), "{}", browser.screen());
    assert_eq!(world.text("main"), before);
    shows(&browser, "Brought 1 session back from the archive");
    assert_eq!(browser.selected(), "the main session");
    browser.press("u");
    assert!(!world.path("main").exists());
    browser.press("u");
    assert!(world.path("main").exists(), "{}", browser.screen());
    browser.press("m a f");
    assert!(["main", "fork", "grandchild", "twin"].iter().all(|name| !world.path(name).exists()));
    assert!(world.path("other").exists());
    browser.press("m A m a");
    shows(&browser, "Bring back  4 files, ");
    browser.press("b");
    shows(&browser, "Brought 4 sessions back");
    assert_eq!(world.text("main"), before);
}

#[test]
fn archived_rows_are_dim_and_can_be_hidden() {
    let world = World::new();
    shows(&with_archived(&World::new(), "other", 120, 40), "was at ");
    let mut browser = with_archived(&world, "twin", 70, 12);
    insta::assert_snapshot!("archived_sessions", browser.screen().replace(&*world.dir.path().to_string_lossy(), "DIR"));
    browser.press("v a");
    shows(&browser, "hiding archived sessions");
    shows(&browser, "without archived");
    shows_not(&browser, "the twin session");
    browser.press("v a");
    shows(&browser, "▤ the twin session");
    browser.press("/").type_text("is:archived").press("enter");
    shows(&browser, "the twin session");
    shows_not(&browser, "the other session");
}

#[test]
fn changes_of_an_archived_session_ask_once_to_bring_it_back() {
    let world = World::new();
    let mut browser = with_archived(&world, "other", 160, 40);
    browser.press("ctrl+r").type_text("a name").press("enter");
    shows(&browser, "This session is archived");
    shows(&browser, "Bring back and continue");
    browser.press("esc");
    assert!(!world.path("other").exists());
    browser.press("ctrl+r").type_text("a name").press("enter b");
    assert!(world.text("other").contains("\"a name\""));
    shows(&browser, "a name");
    browser.press("u");
    assert!(!world.path("other").exists(), "both changes are one");
}

#[test]
fn resuming_an_archived_session_asks_once_to_bring_it_back() {
    let world = World::new();
    let mut browser = with_archived(&world, "other", 160, 40);
    browser.press("enter");
    shows(&browser, "This session is archived; its file first returns to ");
    assert!(browser.wants.is_empty() && !world.path("other").exists());
    browser.press("enter");
    let [Effect::Resume(start)] = &browser.wants[..] else { panic!("{:?}", browser.wants) };
    assert_eq!(start.path, world.path("other"));
    assert!(world.path("other").exists());
}

#[test]
fn a_changed_session_is_asked_about_again() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    let text = world.text("other") + "{\"type\":\"custom\",\"id\":\"x1\",\"parentId\":\"a3\"}\n";
    fs::write(world.path("other"), &text).unwrap();
    browser.press("m a a");
    shows(&browser, "Sessions changed since they were read; no files were moved.");
    assert_eq!(world.text("other"), text);
    browser.press("a");
    if browser.asks() {
        browser.press("d"); // the file was written just now
    }
    assert!(!world.path("other").exists());
    browser.press("u");
    assert_eq!(world.text("other"), text);
}
