//! Names of sessions by a program.
#![cfg(unix)]

use pitree::app::message::Effect;

use super::changes::World;
use super::harness::{Browser, shows};

/// Opens a world whose program names each session after the number of lines of its digest.
fn open(world: &World) -> Browser {
    let mut browser = world.open(120, 40);
    let script = "text=$(cat); echo Title $(echo \"$text\" | wc -l); echo \"$text\" | grep -q other && exit 1; exit 0";
    browser.set(|settings| settings.config.name_command = ["sh", "-c", script].map(String::from).into());
    browser.restarted();
    browser
}

#[test]
fn names_are_listed_before_they_are_written() {
    let world = World::new();
    let mut browser = open(&world);
    let before = world.text("main");
    browser.press("m A m S");
    shows(&browser, "Title 9");
    assert_eq!(world.text("main"), before, "nothing is written before");
    browser.press("w");
    for name in ["main", "fork", "twin"] {
        assert!(world.text(name).contains("\"name\":\"Title 9\""), "{}", world.text(name));
    }
    browser.press("u");
    assert!(world.text("twin").ends_with("\"name\":\"\"}\n"), "one change, one undo: {}", world.text("twin"));
    browser.press("m S e");
    assert!(
        matches!(&browser.wants[..], [Effect::Open(copy)] if copy.text.contains("main\tTitle 9")),
        "{:?}",
        browser.wants
    );
}

#[test]
fn one_name_is_edited_in_the_footer() {
    let world = World::new();
    let mut browser = open(&world);
    world.select(&mut browser, "main");
    browser.press("m S e").type_text("!").press("enter");
    assert!(world.text("main").contains("\"name\":\"Title 9!\""), "{}", browser.screen());
    browser.press("m S");
    assert!(browser.footer().contains("has a name already"), "{}", browser.footer());
}

#[test]
fn pi_is_asked_only_after_a_question() {
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.set(|settings| settings.config.pi = ["sh", "-c", "echo From pi"].map(String::from).into());
    browser.restarted();
    world.select(&mut browser, "main");
    browser.press("m S");
    shows(&browser, "For names of 1 session, pi is asked once per session");
    browser.press("n m S a");
    shows(&browser, "From pi");
    browser.press("n");
    assert!(!world.text("main").contains("From pi") && !browser.asks());
}
