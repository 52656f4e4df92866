//! Moving sessions to the trash: selection, related sessions, and confirmation.

use std::fs;
use std::time::{Duration, SystemTime};

use pitree::app::message::{Effect, Msg, Work};
use pitree::changes::{FileSnapshot, Refusal, Request};

use super::changes::{World, shows_not};
use super::harness::{Browser, shows};
use crate::common::session::Session;

#[test]
fn deleting_a_session_selects_the_next_row() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "twin");
    browser.press("ctrl+d");
    shows(&browser, "Move to trash?");
    shows(&browser, "the twin session");
    shows(&browser, "1 file, ");
    browser.press("esc");
    assert!(world.path("twin").exists());
    let row = browser.model.sessions.cursor.at;
    browser.press("delete enter");
    assert!(!world.path("twin").exists());
    assert_eq!(browser.trashed(), ["twin.jsonl"]);
    assert_eq!((browser.model.sessions.cursor.at, browser.selected().as_str()), (row, "the other session"));
    shows(&browser, "Moved 1 session to the trash");
    shows(&browser, "4 sessions · 1 project");
}

#[test]
fn a_parent_is_deleted_alone_or_with_its_family() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("ctrl+d");
    shows(&browser, "2 sessions lose their parent:");
    shows(&browser, "the fork session");
    shows(&browser, "Whole family  4 files, ");
    browser.press("t");
    assert_eq!(browser.trashed(), ["main.jsonl"]);
    world.select(&mut browser, "fork");
    browser.press("ctrl+d f");
    assert_eq!(browser.trashed(), ["fork.jsonl", "grandchild.jsonl", "main.jsonl"]);
    assert_eq!(browser.selected(), "the twin session");
    browser.press("home ctrl+d");
    shows(&browser, "project nowhere (/)");
    shows(&browser, "2 files, ");
    browser.press("enter");
    assert!(browser.model.catalog.is_empty());
    shows(&browser, "No sessions here.");
}

#[test]
fn marked_sessions_are_counted_and_deleted_together() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("space");
    assert_eq!(browser.selected(), "the fork session", "marking moves down and marks only the parent");
    browser.press("j").press("space");
    shows(&browser, "2 marked · threaded");
    shows(&browser, "✓ ▾ the main session");
    shows(&browser, "^D trash");
    browser.press("k").press("space");
    shows(&browser, "1 marked");
    browser.press("esc");
    shows_not(&browser, "marked");
    browser.press("m A");
    shows(&browser, "5 marked");
    shows(&browser, "nowhere  / ✗ ✓");
    browser.press("m A");
    assert!(browser.model.sessions.marks.is_empty());
    browser.press("home").press("space");
    assert_eq!(browser.model.sessions.marks.len(), 5, "a project means all of its sessions");
    browser.press("home").press("space");
    assert!(browser.model.sessions.marks.is_empty());
    for name in ["fork", "other"] {
        world.select(&mut browser, name);
        browser.press("space");
    }
    world.select(&mut browser, "main");
    browser.press("h ctrl+d");
    shows(&browser, "1 marked session is hidden from the list.");
    shows(&browser, "1 session loses its parent:");
    browser.press("enter");
    assert_eq!(browser.trashed(), ["fork.jsonl", "other.jsonl"]);
    assert!(browser.model.sessions.marks.is_empty());
    assert_eq!(browser.selected(), "the main session", "the selected session was not deleted and stays selected");
}

#[test]
fn deleting_beside_a_possibly_running_pi_asks_twice() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let pis = |browser: &mut Browser, count: usize| {
        browser.model.catalog.set_pis(crate::browser::harness::pis("/nowhere", count), crate::browser::harness::NOW);
    };
    pis(&mut browser, 1);
    // Includes unmarked sessions of the directory.
    let is_live = |browser: &Browser, name: &str| {
        let catalog = &browser.model.catalog;
        catalog.is_live(catalog.key_of(&world.path(name)).unwrap())
    };
    let name = *["main", "fork", "other"].iter().find(|name| !is_live(&browser, name)).unwrap();
    let path = world.path(name);
    world.select(&mut browser, name);
    let effects = browser.take(Msg::Key("ctrl+d".parse().unwrap()));
    assert!(matches!(effects[..], [Effect::Ask(_, Work::ListPis)]), "{effects:?}");
    shows(&browser, "A pi is running in /nowhere.");
    browser.press("enter");
    shows(&browser, "A pi is running in /nowhere.");
    shows(&browser, "If pi loses its session file");
    browser.press("enter");
    assert!(path.exists(), "in the second question Enter has no default");
    // The state at the time of the answer counts.
    pis(&mut browser, 0);
    browser.press("ctrl+d");
    shows_not(&browser, "A pi seems");
    pis(&mut browser, 1);
    browser.press("enter");
    shows(&browser, "If pi loses its session file");
    browser.press("d");
    assert!(!path.exists());
}

#[test]
fn a_box_lists_unreadable_files_and_their_remedies() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    browser.press("ctrl+d enter");
    // Lines appended by a pi that still has the session open.
    let lines = Session::new("other").under("a3").user("u9", "on").lines().to_string();
    for name in ["other", "another"] {
        fs::write(world.path(name), &lines).unwrap();
    }
    browser.press("f5");
    shows(&browser, "2 unreadable");
    browser.press(":").type_text("unreadable").press("enter");
    shows(&browser, "another.jsonl ");
    shows(&browser, "not a pi session:");
    shows(&browser, "no session header (pi writes such a file");
    shows(&browser, "other.jsonl ");
    shows(&browser, "entries without a header");
    shows(&browser, "To repair the file, run: pitree doctor --repair");
    browser.press("esc");
    assert!(!browser.has_note());
    browser.send(Msg::Click { column: 150, row: 0, double: false });
    assert!(browser.has_note(), "a click on the sign in the header opens it");
    browser.press("esc");
    for name in ["other", "another"] {
        fs::remove_file(world.path(name)).unwrap();
    }
    browser.press("f5 :").type_text("unreadable").press("enter");
    assert_eq!(browser.footer(), "all files were read");
    fs::write(world.path("other"), &lines).unwrap();
    assert_eq!(fs::read_to_string(world.path("other")).unwrap(), lines);
}

#[test]
fn deleting_a_recently_written_session_asks_twice() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let (now, path) = (SystemTime::now(), world.path("other"));
    let ms = pitree::disk::scan::milliseconds(now);
    browser.send(Msg::Now(ms));
    let time = pitree::base::time::iso(ms - 40_000).unwrap();
    let more = world.text("other").lines().last().unwrap().replace("\"a3\"", "\"a4\"");
    let (before, behind) = more.split_once("\"timestamp\":\"").unwrap();
    let more = format!("{before}\"timestamp\":\"{time}{}", &behind[time.len()..]);
    fs::write(&path, format!("{}{more}\n", world.text("other"))).unwrap();
    crate::common::home::set_modified(&path, now - Duration::from_secs(40));
    browser.press("f5");
    shows(&browser, "1 live");
    world.select(&mut browser, "other");
    browser.press("ctrl+d");
    shows(&browser, "The file was modified 40 seconds ago; a pi may be using it.");
    browser.press("enter");
    shows(&browser, "If pi loses its session file");
    browser.press("d");
    assert!(!path.exists());
}

#[test]
fn deleting_a_changed_session_asks_again() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    browser.press("ctrl+d");
    let more = world.text("other").replace("\"a3\"", "\"a4\"");
    fs::write(world.path("other"), world.text("other") + more.lines().last().unwrap() + "\n").unwrap();
    browser.press("enter");
    shows(&browser, "1 session changed since it was read");
    assert!(world.path("other").exists());
    assert_eq!(browser.session().unwrap().entry_count, 7, "the list is updated");
    browser.press("enter");
    assert!(!world.path("other").exists());
}

#[test]
fn files_the_trash_cannot_hold_are_deleted_only_after_typing_a_word() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    let path = world.path("other");
    let seen = browser.session().unwrap();
    let files = vec![FileSnapshot { path: path.clone(), bytes: seen.bytes, mtime: seen.mtime }];
    let refuse = |browser: &mut Browser| {
        let refusal = Refusal::NoTrash { reason: "it is full".into(), left: files.clone() };
        browser.change_goes(Request::Trash { files: files.clone() }, Err(refusal.into()));
    };
    refuse(&mut browser);
    shows(&browser, "Moving to the trash failed: it is full");
    browser.press("enter");
    assert!(!browser.asks());
    refuse(&mut browser);
    browser.press("d").type_text("yes").press("enter");
    shows(&browser, "nothing was deleted");
    assert!(path.exists());
    refuse(&mut browser);
    browser.press("d");
    shows(&browser, "Type \"delete\" to delete 1 file permanently: ");
    browser.type_text("delete").press("enter");
    assert!(!path.exists());
    assert!(browser.trashed().is_empty());
    shows(&browser, "permanently deleted 1 session");
}

#[test]
fn deleting_a_link_keeps_its_target() {
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let real = elsewhere.path().join("real.jsonl");
    fs::rename(world.path("other"), &real).unwrap();
    std::os::unix::fs::symlink(&real, world.path("other")).unwrap();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    browser.press("ctrl+d");
    shows(&browser, "1 symbolic link: its target stays.");
    browser.press("enter");
    assert!(real.exists() && world.path("other").symlink_metadata().is_err());
    assert!(browser.all().all(|session| session.path != world.path("other")));
}

#[test]
fn rows_hidden_by_folds_are_not_marked() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("home h m A");
    shows(&browser, "0 sessions marked; 5 in folded rows not marked");
    browser.press("l m A m A");
    shows(&browser, "0 sessions marked");
    browser.press("m A");
    shows(&browser, "5 sessions marked");
    shows_not(&browser, "not those");
    browser.press("home h m A");
    assert_eq!(browser.model.sessions.marks.len(), 5, "marks stay");
}
