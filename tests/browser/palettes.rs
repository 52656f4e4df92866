//! Palettes for actions and labels: presses keys and checks screens.

use std::fs;

use pitree::app::message::Msg;
use pitree::config::{Config, Filter};
use pitree::keymap::KeyContext;

use super::changes::{World, to_entry};
use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(actions, (100, 24), ":");
snapshot!(actions_filtered, (100, 24), "j l : b r a n c h");
snapshot!(actions_smallest, (40, 10), ":");
snapshot!(labels, (120, 24), "'");
snapshot!(labels_filtered, (100, 20), "' j w t");
snapshot!(labels_smallest, (40, 10), "'");

/// Returns the selected row of the palette.
fn chosen(browser: &Browser) -> String {
    let palettes = browser.palettes();
    let palette = palettes.last().unwrap();
    palette.selected().map_or(String::new(), |row| row.left.iter().map(|span| span.text.as_str()).collect())
}

#[test]
fn a_selected_action_runs() {
    let mut browser = Browser::demo(100, 30);
    browser.press(":").type_text("quit").press("enter");
    assert_eq!(browser.wants.len(), 1, "typing q quits nothing, Enter on it does");
    browser.press("j l :").type_text("next filter").press("enter");
    assert_eq!(browser.model.tree.filter, Filter::NoTools);
    browser.press(":").type_text("nothing of that name");
    assert_eq!(browser.palettes()[0].counts().0, 0);
    shows(&browser, "no match");
    browser.press("enter");
    assert_eq!(browser.palettes().len(), 1, "there is nothing to do");
    browser.press("esc");
    assert!(browser.palettes().is_empty());
    assert_eq!(browser.model.focus, KeyContext::Tree);
}

#[test]
fn an_exact_name_selects_its_action() {
    let mut browser = Browser::demo(100, 30);
    for (name, title) in [
        ("fold-all", "Fold all"),
        ("fork", "Fork at entry"),
        ("rename", "Rename session"),
        ("reload", "Reload sessions"),
        ("zoom", "Toggle full screen"),
    ] {
        browser.press(": ").type_text(&name[..name.len() - 1]);
        assert_eq!(chosen(&browser), title);
        browser.type_text(&name[name.len() - 1..]);
        assert_eq!(chosen(&browser), title);
        browser.press("esc");
    }
}

#[test]
fn one_esc_closes() {
    let mut browser = Browser::demo(100, 30);
    browser.press(":").type_text("brnch pnt");
    browser.press("esc");
    assert!(browser.palettes().is_empty() && browser.wants.is_empty());
    browser.press(": x ctrl+c");
    assert!(browser.palettes().is_empty());
    browser.press(":");
    browser.send(Msg::Paste("reload\n".into()));
    assert_eq!(chosen(&browser), "Reload sessions");
}

#[test]
fn words_match_literally_before_fuzzily() {
    let mut browser = Browser::demo(100, 30);
    browser.press(": ").type_text("tree filter");
    assert_eq!(chosen(&browser), "Next tree filter");
    browser.press("esc :").type_text("clipboard");
    assert_eq!(chosen(&browser), "Copy to clipboard");
    browser.press("esc :").type_text("rldss");
    assert_eq!(chosen(&browser), "Reload sessions");
    browser.press("esc :").type_text("omissions xyzzy");
    assert_eq!(browser.palettes()[0].counts().0, 0);
}

#[test]
fn a_command_is_found_by_the_words_of_its_description() {
    let mut browser = Browser::demo(100, 30);
    browser.press(": ").type_text("$PAGER");
    assert_eq!(chosen(&browser), "Open in pager");
    browser.press("esc :").type_text("compactions");
    assert_eq!(chosen(&browser), "Filter: outline");
}

#[test]
fn keys_and_the_mouse_move_in_a_palette() {
    let mut browser = Browser::demo(60, 12);
    browser.press(":");
    let first = chosen(&browser);
    browser.press("down ctrl+n");
    browser.press("ctrl+p up");
    assert_eq!(chosen(&browser), first);
    browser.press("pagedown pagedown pageup pageup");
    assert_eq!(chosen(&browser), first);
    let list = browser.palettes()[0].list_area((60, 12));
    browser.send(Msg::Wheel { column: list.x, row: list.y, by: 3 });
    assert_eq!(browser.palettes()[0].cursor.top, 3);
    browser.send(Msg::Wheel { column: list.x, row: list.y, by: 1000 });
    browser.send(Msg::Click { column: 0, row: 0, double: false });
    assert!(browser.palettes().is_empty(), "a click outside closes it");
    browser.press("j :").type_text("copy");
    browser.send(Msg::Click { column: list.x, row: list.y, double: false });
    assert!(browser.palettes().is_empty());
    shows(&browser, "Copy");
    browser.send(Msg::Click { column: list.x, row: list.y, double: true });
    assert!(browser.wants.is_empty(), "the second click of a double click does not reach the row below");
}

#[test]
fn a_click_selects_an_item_and_outside_closes() {
    let mut browser = Browser::demo(80, 24);
    browser.press("y");
    let row = |browser: &Browser, text: &str| {
        let screen = browser.screen();
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}\n{screen}")) as u16
    };
    let at = row(&browser, "Session ID");
    browser.send(Msg::Click { column: 40, row: at, double: false });
    assert!(!browser.asks() && browser.copied.len() == 1, "{:?}", browser.copied);
    browser.press("y");
    browser.send(Msg::Click { column: 40, row: row(&browser, "╭ Copy"), double: false });
    assert!(browser.asks(), "the title is not selectable");
    browser.send(Msg::Click { column: 0, row: 0, double: false });
    assert!(!browser.asks() && browser.copied.len() == 1);
}

/// Returns the titles of the listed rows, each after its group.
fn listed(browser: &Browser) -> Vec<String> {
    let palettes = browser.palettes();
    let palette = palettes[0];
    let text =
        |at: usize| palette.drawn(at, 60, &browser.model.settings.glyphs).0.iter().map(|span| &*span.text).collect();
    (0..palette.counts().0).map(text).collect()
}

#[test]
fn recent_commands_come_before_commands_grouped_by_pane() {
    let mut browser = Browser::demo(160, 48);
    browser.press("ctrl+n ctrl+n j k ctrl+s ctrl+s home ctrl+n ctrl+n :");
    let rows = listed(&browser);
    assert_eq!(
        rows[..3],
        ["Recent     Toggle unnamed sessions", "           Next sort order", "Sessions   Search all sessions"]
    );
    let groups: Vec<&str> = rows.iter().map(|row| row[..11].trim()).filter(|group| !group.is_empty()).collect();
    assert_eq!(groups, ["Recent", "Sessions", "All panes", "Tree"]);
    let titles: Vec<&str> = rows.iter().map(|row| row[11..].trim()).collect();
    for left_out in ["Go back", "Command palette", "Move up", "Next pane", "Unfold or go in", "Scroll preview up"] {
        assert!(!titles.contains(&left_out), "{left_out}");
    }
    assert_eq!(titles.iter().filter(|title| **title == "Next sort order").count(), 1);
    browser.type_text("outline only").press("enter");
    assert_eq!((browser.model.focus, browser.model.tree.filter), (KeyContext::Tree, pitree::config::Filter::Outline));
    browser.press(":");
    assert_eq!(listed(&browser)[0], "Recent     Filter: outline");
    let tree = listed(&browser).into_iter().find(|row| row.starts_with("Tree")).unwrap();
    assert_eq!(tree, "Tree       Toggle line wrap", "actions of the focused pane are listed there");
}

#[test]
fn the_help_begins_with_the_focused_pane() {
    for (keys, heading, first) in
        [("", "Sessions", "Resume in pi"), ("l", "Tree", "Resume in pi"), ("l tab", "Reader", "Resume in pi")]
    {
        let mut browser = Browser::demo(100, 30);
        browser.press(keys).press("?");
        let screen = browser.screen();
        let at = screen
            .lines()
            .position(|line| line.contains(&format!("│ {heading} ")))
            .unwrap_or_else(|| panic!("{screen}"));
        assert!(at < 5 && screen.lines().nth(at).unwrap().contains(first), "{screen}");
    }
}

#[test]
fn a_label_in_any_session_is_selected() {
    let mut browser = Browser::demo(160, 40);
    browser.press("h '").type_text("jwt-works").press("enter");
    assert!(browser.selected().starts_with("All 32 tests pass"), "{}", browser.selected());
    assert_eq!(browser.model.focus, KeyContext::Tree);
    browser.press("ctrl+u esc home '").type_text("jwt-works").press("enter");
    assert!(browser.selected().starts_with("All 32 tests pass"), "{}", browser.selected());
    assert_eq!(browser.model.tree.filter, Filter::Default, "the filter hid it");
    browser.press("v c '").type_text("jwt-works").press("enter");
    assert!(browser.selected().starts_with("All 32 tests pass"), "a fold hid it");
}

#[test]
fn commits_are_listed_and_marked() {
    let mut browser = Browser::demo(160, 40);
    browser.press("'").type_text("0ca5148").press("enter");
    assert!(browser.selected().starts_with("[bash: git add -A && git commit"), "{}", browser.selected());
    shows(&browser, "⎇ 0ca5148");
    // A closed run of tools shows the commit of its calls.
    shows(&browser, "⎇ 6ab5786 $0.06");
    browser.press("'").type_text("0ca5148").press("ctrl+r");
    assert!(browser.footer().contains("this entry has no label"), "{}", browser.footer());
    let mut browser = Browser::demo(160, 40);
    browser.press("/").type_text("is:committed").press("enter");
    let first = browser.selected();
    assert!(first.contains("git commit"), "{first}");
    browser.press("N");
    assert!(browser.selected().contains("git commit") && browser.selected() != first, "{}", browser.selected());
}

#[test]
fn a_mark_of_a_commit_has_an_ascii_form() {
    let config = Config { ascii: true, ..Config::default() };
    let mut browser = Browser::configured(&config, 80, 24);
    browser.press("'").type_text("0ca5148").press("enter");
    shows(&browser, "^ 0ca5148");
}

#[test]
fn keys_before_the_tree_is_loaded_keep_the_selection() {
    let mut browser = Browser::demo(160, 40);
    browser.press("' ").type_text("jwt-works");
    let effects = browser.take(Msg::Key("enter".parse().unwrap()));
    browser.press("j");
    for effect in effects {
        for msg in browser.replies(effect) {
            browser.send(msg);
        }
    }
    assert!(!browser.selected().starts_with("All 32 tests pass"));
}

#[test]
fn labels_are_renamed_and_cleared_in_the_list() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    for (entry, label) in [("go left", "left"), ("go right", "right")] {
        browser.press("l");
        to_entry(&mut browser, entry);
        browser.press("m l").type_text(label).press("enter esc");
    }
    browser.press("'").type_text("left").press("ctrl+r");
    shows(&browser, "label: left");
    browser.type_text("overs").press("enter");
    assert_eq!(chosen(&browser), "[leftovers] go left");
    assert!(world.text("main").contains("leftovers"));
    browser.press("ctrl+r ctrl+u enter");
    shows(&browser, "no match");
    browser.press("esc '");
    assert_eq!(chosen(&browser), "[right] go right");
    browser.press("ctrl+r ctrl+u enter");
    shows(&browser, "no labels yet");
    shows(&browser, "m l in the tree labels the selected entry.");
    browser.press("esc");
    assert!(browser.all().all(|session| session.labels.is_empty()));
    browser.press("u '");
    assert_eq!(chosen(&browser), "[right] go right");
}

#[test]
fn replies_reach_the_palette_that_requested_them() {
    let mut browser = Browser::demo(120, 30);
    let effects = browser.take(Msg::Key("'".parse().unwrap()));
    browser.press("esc :");
    let before = browser.palettes()[0].counts();
    for effect in effects {
        for msg in browser.replies(effect) {
            browser.send(msg);
        }
    }
    assert_eq!(browser.palettes()[0].counts(), before);
}

#[test]
fn palettes_work_in_ascii_without_colors() {
    let mut browser = Browser::demo(64, 24);
    browser.set(|setting| {
        setting.glyphs = pitree::base::text::ASCII.clone();
        setting.theme = None;
    });
    for keys in [":", "esc j F", "esc l / w"] {
        browser.press(keys);
        assert!(browser.screen().is_ascii(), "{}", browser.screen());
    }
}

#[test]
fn wide_characters_beside_a_dialog_keep_its_border() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("one.jsonl"), Session::new("one").user("u1", &"漢".repeat(40)).text()).unwrap();
    for columns in 80..84 {
        let mut browser = Browser::on(&[dir.path()], columns, 20);
        browser.press(":");
        let screen = browser.screen();
        let framed = screen.lines().filter(|line| line.contains(['│', '╭', '╰'])).count();
        assert_eq!(framed, 18, "{screen}");
    }
}
