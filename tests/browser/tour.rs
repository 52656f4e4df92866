//! The tour: a script does what its box on the screen asks for, at several sizes and with other keys. The offer at the
//! first start.

use std::fs;

use pitree::app::message::{Effect, Msg};
use pitree::app::startup::{PickerFormat, Startup};
use pitree::config::Config;
use pitree::disk::locate::Located;
use pitree::keymap::Place;

use crate::changes::{World, shows_not};
use crate::common::session::Session;
use crate::harness::{Browser, shows};

/// The first step of the tour, which [`walk`] reads on the screen.
const FIRST: &str = "Tour 1 of 8: fold";

fn configured(world: &World, config: &str, size: (u16, u16)) -> Browser {
    let config = Config::parse(config, "config.toml").unwrap();
    let located = Located { dirs: vec![world.dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let setting = Startup::new(&config, located, world.dir.path().to_str().unwrap().into(), false);
    Browser::with(setting, size)
}

/// Reads title and text of the box on the screen; `None` if it is covered.
fn read(browser: &Browser) -> Option<(String, String)> {
    let screen: Vec<Vec<char>> = browser.screen().lines().map(|line| line.chars().collect()).collect();
    let starts = ["╭ Tour".chars().collect::<Vec<_>>(), "+ Tour".chars().collect()];
    let (row, column) = screen.iter().enumerate().find_map(|(row, line)| {
        Some((row, line.windows(starts[0].len()).position(|part| starts.iter().any(|start| start == part))?))
    })?;
    let inside = |line: &[char]| line[column + 1..].iter().collect::<String>();
    let title = inside(&screen[row]).trim_matches(|c| "─-╮+ ".contains(c)).to_string();
    let is_side = |line: &&Vec<char>| line.get(column).is_some_and(|side| "│|".contains(*side));
    let body: Vec<String> = screen[row + 1..]
        .iter()
        .take_while(is_side)
        .map(|line| inside(line).trim_matches(|c| "│| ".contains(c)).to_string())
        .collect();
    Some((title, body.join(" ")))
}

/// Does what the box asks for until the tour is at its end. Returns the titles of the steps.
#[track_caller]
fn walk(browser: &mut Browser) -> Vec<String> {
    let mut titles = Vec::new();
    for _ in 0..60 {
        // A dialog that covers the box names this key.
        let Some((title, text)) = read(browser) else {
            browser.press("esc");
            continue;
        };
        if titles.last() != Some(&title) {
            titles.push(title.clone());
        }
        if title == "Tour" {
            return titles;
        }
        if let Some(word) = text.strip_prefix("Type ").and_then(|rest| rest.split(',').next()) {
            browser.type_text(word);
            continue;
        }
        let key = text.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("press")).nth(1).unwrap();
        browser.press(key);
        assert!(browser.model.tour.is_some(), "ended after {title}: {text}\n{}", browser.screen());
    }
    panic!("the tour does not end\n{}", browser.screen());
}

const STEPS: [&str; 9] = [
    FIRST,
    "Tour 2 of 8: filter",
    "Tour 3 of 8: search",
    "Tour 4 of 8: go to a hit",
    "Tour 5 of 8: forks",
    "Tour 6 of 8: model context",
    "Tour 7 of 8: resume",
    "Tour 8 of 8: undo",
    "Tour",
];

#[test]
fn a_script_walks_the_tour_by_what_it_reads() {
    for size in [(40, 12), (80, 24), (100, 30), (160, 48), (220, 60)] {
        let world = World::new();
        let before = world.text("main");
        let mut browser = world.open(size.0, size.1);
        browser.press("i");
        assert_eq!(walk(&mut browser), STEPS, "{size:?}");
        assert!(browser.wants.is_empty(), "nothing was started");
        let after = world.text("main");
        let added = after.strip_prefix(&before).unwrap();
        assert_eq!(added.matches("\"label\":\"tour\"").count(), 1, "{added}");
        assert!(!added.lines().last().unwrap().contains("\"label\":\""), "the label was undone: {added}");
        browser.press("?");
        assert!(browser.model.tour.is_none());
    }
}

#[test]
fn the_box_names_rebound_keys() {
    let world = World::new();
    let config = "ascii = true\n[keys]\ntour = 'f9'\nfold = 'x'\nunfold = ['Q', 'right']\nsearch = 'ctrl+e'\nfind = 'ctrl+e'\n\
                  next-filter = 'f6'\nfamily = 'f7'\ncontext = 'f10'\nundo = 'Y'\nlabel = 'f8'\nconfirm = 'O'\naccept = 'ctrl+y'\n\
                  previous-pane = 'f3'\nup = 'w'\nwrap = []\n";
    let mut browser = configured(&world, config, (100, 30));
    browser.press("f9");
    shows(&browser, "f9: skip - esc: end");
    assert_eq!(walk(&mut browser), STEPS);
}

#[test]
fn an_action_without_a_key_is_named_as_a_command() {
    let world = World::new();
    let mut browser = configured(&world, "[keys]\nnext-filter = []\n", (100, 30));
    browser.press("i i");
    let (_, text) = read(&browser).unwrap();
    assert!(text.contains("Press : next-filter to"), "{text}");
    browser.press(":").type_text("next-filter").press("enter");
    assert_eq!(read(&browser).unwrap().0, STEPS[2]);
}

#[test]
fn steps_that_cannot_be_done_are_skipped() {
    // One session without forks and one entry, in a project of its own: nothing can be folded.
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("one.jsonl"), Session::new("one").user("u1", "an only question").text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("i tab h");
    let title = read(&browser).unwrap().0;
    assert_eq!((browser.model.focus, &*title), (Place::Sessions, FIRST), "the pane changed, and nothing was folded");
    assert_eq!(walk(&mut browser), STEPS);
    assert!(browser.wants.is_empty());
}

#[test]
fn a_session_without_forks_leads_to_one_with_forks() {
    for keys in ["", "tab", "/ o t h e r enter"] {
        let world = World::new();
        let mut browser = world.open(100, 30);
        world.select(&mut browser, "other");
        browser.press(keys);
        while read(&browser).is_none_or(|(title, _)| title != STEPS[4]) {
            browser.press("i");
        }
        let steps = walk(&mut browser);
        assert_eq!(steps.last().unwrap(), "Tour", "{keys}");
        let session = browser.model.tree.session.unwrap();
        assert!(browser.model.catalog[session].path != world.path("other"), "{keys} {steps:?}\n{}", browser.screen());
    }
}

#[test]
fn a_fold_by_the_mouse_completes_its_step() {
    let world = World::new();
    let mut browser = world.open(100, 30);
    browser.press("i");
    browser.send(Msg::Click { column: 0, row: 2, double: false });
    assert_eq!(read(&browser).unwrap().0, STEPS[1]);
}

#[test]
fn the_samples_have_all_that_the_tour_shows() {
    let mut browser = Browser::demo(80, 24);
    browser.press("i");
    assert_eq!(walk(&mut browser), STEPS);
    assert!(browser.wants.is_empty());
}

#[test]
fn back_closes_what_is_open_before_it_ends_the_tour() {
    let world = World::new();
    let mut browser = world.open(100, 30);
    browser.press("i i i /").type_text("left").press("esc");
    assert_eq!(read(&browser).unwrap().0, STEPS[3], "clears the line");
    browser.press("esc");
    assert!(browser.model.search.is_none() && browser.model.tour.is_some(), "ends the search");
    browser.press("l c esc");
    assert_eq!((browser.model.focus, browser.model.tour.is_some()), (Place::Tree, true), "closes the context");
    browser.press("esc");
    assert_eq!((browser.model.focus, browser.model.tour.is_some()), (Place::Tree, false), "stays in the pane");
    shows(&browser, "tour ended · i: start it again");
    browser.press("esc");
    assert_eq!(browser.model.focus, Place::Sessions);
    browser.press(":").type_text("tour").press("enter");
    assert_eq!(read(&browser).unwrap().0, FIRST);
}

#[test]
fn the_box_leaves_the_selected_row_free() {
    let world = World::new();
    let mut browser = world.open(80, 24);
    browser.press("i");
    assert!(browser.screen().lines().nth(20).unwrap().contains("───"), "{}", browser.screen());
    for _ in 0..2 {
        let area = pitree::app::flows::tour::tour_box(&browser.model).unwrap().area;
        let selected = browser.screen().lines().position(|line| line.contains("the other session"));
        assert!(selected.is_none_or(|row| !(area.top()..area.bottom()).contains(&u16::try_from(row).unwrap())));
        browser.press("G");
        browser.send(Msg::Resized(80, 10));
    }
    // A click on the box does not select a row below it.
    let area = pitree::app::flows::tour::tour_box(&browser.model).unwrap().area;
    let selected = browser.selected();
    browser.send(Msg::Click { column: area.x + 3, row: area.y + 1, double: false });
    assert_eq!(browser.selected(), selected);
}

#[test]
fn there_is_no_tour_without_sessions_or_in_a_picker() {
    let dir = tempfile::tempdir().unwrap();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("i");
    shows(&browser, "the tour needs sessions; run pitree --demo");
    let world = World::new();
    let mut browser = world.open(80, 24);
    browser.pick(PickerFormat::Path);
    browser.press("i");
    assert!(browser.model.tour.is_none());
}

fn offering(world: &World, size: (u16, u16), set: impl FnOnce(&mut Startup)) -> Browser {
    let located = Located { dirs: vec![world.dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let mut setting = Startup::new(&Config::default(), located, String::new(), false);
    setting.offers_tour = true;
    set(&mut setting);
    Browser::with(setting, size)
}

fn offers(browser: &Browser) -> bool {
    browser.wants.iter().any(|effect| matches!(effect, Effect::OfferTour))
}

#[test]
fn the_first_start_offers_the_tour_in_one_line() {
    let world = World::new();
    let line = "New here? Press i for a one-minute tour · pitree setup checks the installation";
    let [short, shortest] = ["New here? Press i for a tour · check: pitree setup", "i: tour · check: pitree setup"];
    for (columns, text) in [(120, line), (80, line), (60, short), (40, shortest)] {
        let mut browser = offering(&world, (columns, 24), |_| {});
        assert!(offers(&browser), "it is recorded first");
        shows_not(&browser, "New here?");
        browser.send(Msg::TourOffered);
        assert_eq!(browser.footer(), text);
        browser.press("j");
        assert_eq!(browser.footer(), text, "a key does not remove it at once");
        let now = browser.model.now + 6000;
        browser.send(Msg::Now(now));
        browser.press("j");
        shows_not(&browser, "New here?");
        assert_eq!(browser.wants.len(), 1, "once");
    }
}

#[test]
fn other_starts_do_not_offer_the_tour() {
    let world = World::new();
    assert!(!offers(&world.open(80, 24)), "not the first start");
    assert!(!offers(&offering(&world, (80, 24), |setting| setting.notice = Some("corrected".into()))));
    assert!(!offers(&offering(&world, (80, 24), |setting| setting.query = "left".into())));
    let empty = tempfile::tempdir().unwrap();
    let without = |setting: &mut Startup| setting.located.dirs = vec![empty.path().into()];
    assert!(!offers(&offering(&world, (80, 24), without)), "no sessions");
}

macro_rules! tour {
    ($name:ident, ($columns:literal, $rows:literal), $config:literal, $keys:literal) => {
        #[test]
        fn $name() {
            let world = World::new();
            let mut browser = configured(&world, $config, ($columns, $rows));
            browser.press($keys);
            insta::assert_snapshot!(stringify!($name), browser.screen());
        }
    };
}

tour!(tour_small, (80, 24), "", "i");
tour!(tour_small_tree, (80, 24), "ascii = true", "l i i i i i");
tour!(tour_wide, (160, 48), "", "l i i i i i");
tour!(tour_wide_context, (160, 48), "", "l i i i i i i c");
tour!(tour_smallest, (40, 10), "", "i i i / l e f t");
