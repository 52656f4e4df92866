//! The size of sessions as a measure of the screen of statistics.

use std::fs;

use pitree::app::layers::Layer;
use pitree::app::layers::stats::{SizeTable, StatsView};
use pitree::app::message::{Effect, Msg, Work};
use pitree::catalog::space::SpaceGrouping;
use pitree::keymap::KeyContext;

use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(space_wide, (160, 48), "g s");
snapshot!(space_80, (80, 24), "g s");
snapshot!(space_by_session, (100, 32), "g s tab tab");
snapshot!(space_entries, (80, 24), "g s shift+tab");
snapshot!(space_smallest, (40, 10), "g s");

fn view(browser: &Browser) -> &StatsView {
    match browser.model.layers.top() {
        Some(Layer::Stats(view)) => view,
        other => panic!("{other:?}\n{}", browser.screen()),
    }
}

fn sizes(browser: &Browser) -> &SizeTable {
    view(browser).size.as_ref().unwrap()
}

fn bytes(browser: &Browser, grouping: SpaceGrouping) -> u64 {
    sizes(browser).rows_of(grouping).iter().map(|row| row.sum.bytes).sum()
}

#[test]
fn kinds_sessions_and_projects_add_up_to_the_files() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g s");
    let files: u64 = browser.all().map(|session| session.bytes).sum();
    for grouping in [SpaceGrouping::Kind, SpaceGrouping::Session, SpaceGrouping::Project] {
        assert_eq!(bytes(&browser, grouping), files, "{grouping:?}");
    }
    for _ in SpaceGrouping::ALL {
        browser.press("tab");
    }
    assert_eq!(sizes(&browser).grouping, SpaceGrouping::Kind);
    browser.press("g s");
    assert!(browser.model.layers.0.is_empty());
}

#[test]
fn a_large_entry_is_opened_and_going_back_returns() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g s shift+tab j enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    let session = browser.model.tree.session.unwrap();
    browser.press("esc esc");
    assert_eq!((sizes(&browser).grouping, view(&browser).cursor.at), (SpaceGrouping::Entry, 1));
    browser.press("esc");
    // In the tree, the open session is measured.
    browser.press("l g s");
    assert_eq!(sizes(&browser).rows_of(SpaceGrouping::Session).len(), 1);
    let open = &browser.model.catalog[session];
    assert_eq!(bytes(&browser, SpaceGrouping::Kind), open.bytes);
}

#[test]
fn rows_open_a_search_or_say_that_there_is_none() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g s enter");
    assert!(browser.footer().contains("no search for kinds"), "{}", browser.footer());
    browser.press("tab tab tab enter");
    shows(&browser, "tool:");
    assert!(browser.model.layers.0.is_empty() && browser.model.sessions.hits.is_some());
    browser.press("esc");
    assert_eq!(sizes(&browser).grouping, SpaceGrouping::Tool);
    browser.press("esc j space g s");
    shows(&browser, "1 marked session");
}

#[test]
fn the_size_follows_the_last_column_of_statistics() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c c c c c c c");
    assert!(view(&browser).size.is_none());
    browser.press("c");
    assert_eq!(sizes(&browser).grouping, SpaceGrouping::Kind);
    let measured = bytes(&browser, SpaceGrouping::Kind);
    // Periods have no sizes.
    browser.press("< left y");
    assert_eq!(bytes(&browser, SpaceGrouping::Kind), measured);
    shows(&browser, "to print the sizes, run: pitree space");
    browser.press("c");
    assert!(view(&browser).size.is_none() && !view(&browser).rows().is_empty());
    browser.press("g s");
    assert!(view(&browser).size.is_some());
    browser.press("g c");
    assert!(view(&browser).size.is_none());
    browser.press("g c");
    assert!(browser.model.layers.0.is_empty());
}

#[test]
fn leaving_the_screen_cancels_the_measurement() {
    let mut browser = Browser::demo(80, 24);
    browser.press("g");
    let effects = browser.take(Msg::Key("s".parse().unwrap()));
    let ticket = effects.into_iter().find_map(|effect| match effect {
        Effect::Ask(ticket, Work::Measure(_)) => Some(ticket),
        _ => None,
    });
    let ticket = ticket.unwrap();
    shows(&browser, "measuring");
    assert!(ticket.is_wanted());
    browser.press("esc");
    assert!(!ticket.is_wanted());
}

#[test]
fn the_card_lists_the_largest_kinds() {
    let dir = tempfile::tempdir().unwrap();
    let text = "x".repeat(3000);
    let session = Session::new("a").user("u", "Hello").tool("c", "read", &serde_json::json!({"path": "a"}), &text);
    fs::write(dir.path().join("a.jsonl"), session.assistant("e", &text[..1500]).text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    browser.press("j");
    shows(&browser, "space       tool results       ████");
}
