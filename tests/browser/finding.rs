//! Find in the tree and in the preview: presses keys and checks screens.

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::keymap::KeyContext;
use ratatui::style::Modifier;

use super::changes::{World, to_entry};
use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(typing, (120, 30), "j l / j w t");
snapshot!(only_hits, (120, 30), "j l / j w t tab");
snapshot!(kept_smallest, (40, 10), "j l / j w t enter n");
snapshot!(typing_smallest, (40, 10), "j l / j w t");
snapshot!(in_the_preview, (120, 30), "j l . tab / t e s t s");

/// Returns the text on the screen that is highlighted as a match, in any theme.
pub(crate) fn marked(browser: &Browser) -> String {
    let wanted = Modifier::BOLD | Modifier::UNDERLINED;
    let buffer = browser.buffer();
    buffer.content.iter().filter(|cell| cell.modifier.contains(wanted)).map(|cell| cell.symbol()).collect()
}

#[test]
fn typing_goes_to_the_nearest_hit_and_esc_back() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home");
    let start = browser.selected();
    browser.press("/").type_text("is");
    assert_eq!(browser.selected(), "right it is");
    shows(&browser, "/2 ");
    browser.press("backspace").type_text("t is");
    assert_eq!(browser.selected(), "right it is");
    browser.press("esc");
    assert_eq!(browser.selected(), start, "back where it began");
    assert!(browser.model.tree.find.is_none() && !browser.asks());
    assert_eq!(browser.model.focus, KeyContext::Tree);
}

#[test]
fn next_and_previous_wrap_around() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home /").type_text("it is").press("enter");
    let first = browser.selected();
    shows(&browser, "1/2");
    browser.press("n");
    shows(&browser, "2/2");
    assert_ne!(browser.selected(), first);
    browser.press("n");
    shows(&browser, "search wrapped to the top");
    assert_eq!(browser.selected(), first);
    browser.press("N");
    shows(&browser, "search wrapped to the end");
    shows(&browser, "2/2");
    browser.press("home");
    shows(&browser, "2 hits");
    browser.press("esc");
    assert_eq!(browser.model.focus, KeyContext::Tree, "the search ends first");
    browser.press("n");
    shows(&browser, "no match in this session");
    browser.press("esc");
    assert_eq!(browser.model.focus, KeyContext::Sessions);
}

#[test]
fn hidden_hits_are_unfolded() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l v c");
    let rows = browser.model.tree.rows.list.len();
    browser.press("/").type_text("left it");
    assert_eq!(browser.selected(), "left it is");
    browser.press("esc");
    assert_eq!(browser.model.tree.rows.list.len(), rows, "folded again");
    browser.press("ctrl+u /").type_text("left it").press("enter");
    assert_eq!(browser.selected(), "left it is", "though only users are shown");
    browser.press("esc");
    assert_eq!(browser.selected(), "go left");
}

#[test]
fn tab_hides_all_but_the_hits() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l /").type_text("it is").press("tab");
    assert_eq!(browser.model.tree.rows.entries, 2);
    shows(&browser, "2 only");
    browser.press("tab");
    assert_eq!(browser.model.tree.rows.entries, 6);
    browser.press("tab enter");
    assert_eq!(browser.model.tree.rows.entries, 2);
    browser.press("esc");
    assert_eq!(browser.model.tree.rows.entries, 6);
}

#[test]
fn queries_are_those_of_the_session_search() {
    let mut browser = Browser::demo(160, 40);
    let mut hits = |query: &str| {
        browser.press("home j j l home /").type_text(query);
        let hits = browser.model.tree.find.as_ref().unwrap().hits.len();
        let screen = browser.screen();
        browser.press("esc esc");
        (hits, screen)
    };
    let (words, phrase) = (hits("jwt tests").0, hits("\"jwt tests\"").0);
    assert!(words > phrase, "{words} {phrase}");
    assert!(hits("JWT").0 == hits("jwt").0 && hits("jwt").0 >= words);
    assert!(hits("re:j.t").0 >= hits("jwt").0);
    let (none, screen) = hits("re:(");
    assert!(none == 0 && screen.contains("invalid pattern"), "{screen}");
    assert!(hits("file:x").1.contains("qualifiers only work in"));
    assert!(hits("zzz").1.contains("no hits"));
}

#[test]
fn tool_output_is_found_and_shown_in_the_preview() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j l /").type_text("revoked").press("enter");
    assert!(marked(&browser).to_lowercase().contains("revoked"), "{}", browser.screen());
}

#[test]
fn matches_are_visible_without_colors_and_on_the_selection() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.set(|setting| setting.theme = None);
    browser.press("l home /").type_text("left it");
    assert!(marked(&browser).contains("leftit"), "{}", marked(&browser));
}

#[test]
fn late_hits_are_dropped() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home /").type_text("lef");
    let effects = browser.take(Msg::Key("t".parse().unwrap()));
    let late: Vec<Msg> = effects.into_iter().flat_map(|effect| browser.replies(effect)).collect();
    let found = |msg: &Msg| matches!(msg, Msg::Reply(_, Reply::EntriesFound { hits, .. }) if !hits.is_empty());
    assert!(late.iter().any(found));
    browser.press("x");
    late.into_iter().for_each(|msg| browser.send(msg));
    assert!(browser.model.tree.find.as_ref().unwrap().hits.is_empty());
}

#[test]
fn enter_before_the_hits_arrive_goes_to_the_first() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home /").type_text("it i");
    let effects = browser.take(Msg::Key("s".parse().unwrap()));
    let late: Vec<Msg> = effects
        .into_iter()
        .filter(|effect| matches!(effect, Effect::Ask(_, Work::Find { .. })))
        .flat_map(|effect| browser.replies(effect))
        .collect();
    browser.press("enter");
    late.into_iter().for_each(|msg| browser.send(msg));
    shows(&browser, "1/2");
}

#[test]
fn a_reloaded_tree_is_searched_again() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home /").type_text("it is").press("enter f5");
    shows(&browser, "1/2");
    to_entry(&mut browser, "go left");
    browser.press("m l").type_text("this it is").press("enter");
    shows(&browser, "2/3");
    browser.press("esc esc");
    world.select(&mut browser, "other");
    assert!(browser.model.tree.find.is_none());
}

#[test]
fn the_preview_is_searched_on_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let said: String =
        (0..200).map(|at| format!("line {at} {}\n\n", if at % 50 == 7 { "Needle" } else { "hay" })).collect();
    std::fs::write(dir.path().join("s.jsonl"), Session::new("s").user("a", &said).text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 20);
    browser.press("l tab /").type_text("needle");
    shows(&browser, "line 7 Needle");
    assert_eq!(marked(&browser).matches("Needle").count(), 1);
    browser.press("enter n");
    shows(&browser, "line 57 Needle");
    browser.press("N N");
    shows(&browser, "line 157 Needle");
    browser.press("esc");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    assert!(browser.model.tree.find.is_none());
    let top = browser.model.reader.top;
    browser.press("/").type_text("line 0").press("esc");
    assert_eq!(browser.model.reader.top, top);
}
