//! Empty lists say why they are empty and how to fill them; a query without hits suggests the nearest one with hits.

use pitree::config::Config;
use pitree::disk::locate::Located;
use pitree::keymap::KeyContext;

use crate::browser::changes::World;
use crate::browser::harness::{Browser, shows};

/// Searches for a query; the input line stays open.
fn search(browser: &mut Browser, query: &str) {
    browser.press("/ ctrl+u").type_text(query);
}

fn query(browser: &Browser) -> &str {
    browser.model.search.as_ref().unwrap().line.value()
}

#[test]
fn a_query_without_hits_suggests_the_nearest_one_with_hits() {
    let world = World::new();
    let cases = [
        ("left label:nothing", "enter: search without label:nothing", "left"),
        ("is:abandoned label:nothing", "enter: search without label:nothing", "is:abandoned"),
        ("sessoin main", "enter: search for session main", "session main"),
        ("sessoin label:nothing cost:>9", "enter: search for session", "session"),
        ("left label:nothing cost:>9", "enter: search without label:nothing cost:>9", "left"),
        ("left quantum", "enter: search without quantum", "left"),
        ("left -go", "enter: search without -go", "left"),
    ];
    for (typed, suggested, nearest) in cases {
        let mut browser = world.open(160, 30);
        search(&mut browser, typed);
        shows(&browser, suggested);
        browser.press("enter");
        assert_eq!(query(&browser), nearest);
        assert!(!browser.model.sessions.rows.is_empty(), "{nearest}");
        browser.press("enter");
        assert_eq!(browser.model.focus, KeyContext::Tree, "enter then goes to the hit");
    }
}

#[test]
fn a_query_that_nothing_resembles_suggests_nothing() {
    let world = World::new();
    let mut browser = world.open(100, 30);
    search(&mut browser, "quantum");
    shows(&browser, "no hits in conversation");
    let screen = browser.screen();
    assert!(!screen.contains("enter: search"), "{screen}");
    browser.press("enter");
    assert_eq!(query(&browser), "quantum");
}

#[test]
fn hidden_hits_name_the_filter_that_hides_them() {
    let world = World::new();
    let mut browser = world.open(100, 30);
    browser.press("ctrl+n");
    search(&mut browser, "left");
    shows(&browser, "5 found, all hidden");
    shows(&browser, "^N shows sessions without a name");
    browser.press("ctrl+n");
    assert!(!browser.model.sessions.rows.is_empty());
}

#[test]
fn empty_lists_say_how_to_fill_them() {
    let world = World::new();
    let config = Config::parse("[keys]\nlabel = 'f8'\ndelete = 'f9'\n", "config.toml").unwrap();
    let located = Located { dirs: vec![world.dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let mut browser = Browser::new(&config, located, (80, 24));
    for (key, state, how) in [
        ("'", "no labels yet", "F8 in the tree labels the selected entry."),
        ("g x", "pitree's trash is empty", "F9 in the session list moves sessions here."),
        ("g h", "no changes yet", "Renames, labels, forks and sessions moved to the trash are listed here."),
        ("g f", "no files read or changed", "that tool calls and shell commands of pi read or changed."),
    ] {
        browser.press(key);
        shows(&browser, state);
        let text = browser.screen().split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(text.contains(how), "{how}\n{}", browser.screen());
        browser.press("esc");
    }
    browser.press("l ctrl+l");
    shows(&browser, "no entry has a label · ^A: show all · F8: label one");
}

#[test]
fn without_sessions_the_screen_says_where_pitree_looked_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let browser = Browser::at_home(home.path(), (80, 24));
    shows(&browser, "pitree looked where pi will write them (pi's default):");
    shows(&browser, "~/.pi/agent/sessions");
    for command in ["pitree --demo", "pitree --dir DIR", "pitree config", "pitree setup"] {
        shows(&browser, command);
    }
}
