//! Layout of the panes on the screen.

use pitree::app::message::Msg;
use pitree::app::panes::layout::Layout;
use pitree::app::panes::reader::ReaderSubject;
use pitree::keymap::KeyContext;

use crate::browser::harness::{Browser, shows};
use crate::browser::search::search;

snapshot!(tree_and_preview_at_80, (80, 24), "j l v v home");
snapshot!(search_and_preview_at_80, (80, 24), "/ r e d i s");
snapshot!(zoomed_preview, (120, 24), "j l home tab z");

fn layout(browser: &Browser) -> Layout {
    browser.model.layout().unwrap()
}

#[test]
fn a_pane_toggles_full_screen() {
    let mut browser = Browser::demo(160, 40);
    let before = layout(&browser);
    browser.press("z");
    assert_eq!((layout(&browser).tree, layout(&browser).reader), (None, None));
    browser.press("tab");
    assert!(layout(&browser).sessions.is_none(), "the focused pane is the visible one");
    browser.press("shift+tab z");
    assert_eq!(layout(&browser), before);
}

#[test]
fn a_pane_is_resized_or_the_limit_is_reported() {
    let mut browser = Browser::demo(100, 30);
    let width = |browser: &Browser| layout(browser).sessions.unwrap().body.width;
    let before = width(&browser);
    browser.press("v > v >");
    assert_eq!(width(&browser), before + 8);
    browser.press("v < v < v <");
    assert_eq!(width(&browser), before - 4);
    let mut browser = Browser::demo(80, 14);
    browser.press("v >");
    shows(&browser, "pane is already at its maximum size");
}

#[test]
fn the_preview_moves_or_the_reason_is_reported() {
    let mut browser = Browser::demo(80, 24);
    assert!(layout(&browser).is_stacked());
    browser.press("v v");
    assert!(layout(&browser).reader.is_none());
    browser.press("l");
    assert!(layout(&browser).reader.is_none());
    browser.press("v v");
    assert!(layout(&browser).is_stacked());
    let mut browser = Browser::demo(80, 12);
    browser.press("l v v v v");
    shows(&browser, "terminal too low");
}

#[test]
fn the_list_of_a_search_and_the_preview_share_a_narrow_terminal() {
    let mut browser = Browser::demo(80, 24);
    let height = |browser: &Browser| layout(browser).sessions.unwrap().body.height;
    search(&mut browser, "redis");
    assert!(layout(&browser).is_stacked());
    let before = height(&browser);
    // A click on a row leaves the input line, so the list handles the keys.
    browser.send(Msg::Click { column: 10, row: 2, double: false });
    assert_eq!((browser.model.focus, browser.model.layers.has(KeyContext::Search)), (KeyContext::Sessions, false));
    browser.press("v >");
    assert_eq!(height(&browser), before + 2);
    browser.press("v < v <");
    assert_eq!(height(&browser), before - 2);
    browser.press("z");
    assert_eq!((height(&browser), layout(&browser).reader), (21, None));
    browser.press("z v v");
    assert_eq!((height(&browser), layout(&browser).reader), (21, None));
    browser.press("v v");
    assert_eq!(height(&browser), before - 2);
    browser.press("esc");
    assert_eq!(height(&browser), before - 2, "the same without a search");
}

#[test]
fn hits_are_grouped_by_project_if_there_is_room() {
    let mut browser = Browser::demo(80, 24);
    search(&mut browser, "cost:>0.7");
    browser.send(Msg::Click { column: 10, row: 2, double: false });
    assert!(browser.model.sessions.is_flat);
    browser.press("z");
    assert!(!browser.model.sessions.is_flat, "{}", browser.screen());
    browser.press("z");
    assert!(browser.model.sessions.is_flat);
}

#[test]
fn the_mouse_works_in_the_hit_list_and_the_preview() {
    let mut browser = Browser::demo(80, 16);
    browser.press("/");
    let preview = layout(&browser).reader.unwrap();
    let (column, row) = (10, preview.body.y + 1);
    let list = browser.model.sessions.cursor.top;
    browser.send(Msg::Wheel { column, row, by: 3 });
    assert_eq!((browser.model.reader.top, browser.model.sessions.cursor.top), ((0, 3), list));
    browser.send(Msg::Wheel { column, row: 4, by: 3 });
    assert_eq!(browser.model.sessions.cursor.top, list + 3);
    // The selected row is visible at the end of the scroll range.
    browser.press("pagedown pagedown pagedown");
    let cursor = browser.model.sessions.cursor;
    let height = usize::from(layout(&browser).sessions.unwrap().body.height);
    assert!((cursor.top..cursor.top + height).contains(&cursor.at), "{cursor:?}");
    browser.send(Msg::Click { column, row, double: false });
    assert_eq!(browser.model.focus, KeyContext::Reader);
}

#[test]
fn the_preview_goes_from_entry_to_entry() {
    let mut browser = Browser::demo(80, 24);
    browser.press("j l home tab");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    let subject = |browser: &Browser| browser.model.reader.subject;
    let first = subject(&browser);
    browser.press("}");
    assert_ne!(subject(&browser), first);
    assert!(matches!(subject(&browser), ReaderSubject::Entry(_)));
    browser.press("{");
    assert_eq!((subject(&browser), browser.model.focus), (first, KeyContext::Reader));
    // The preview moves from one session's card to that of the next session.
    let mut browser = Browser::demo(120, 40);
    browser.press("tab shift+tab shift+tab");
    assert_eq!(browser.model.focus, KeyContext::Reader);
    browser.press("shift+tab shift+tab");
    let card = subject(&browser);
    assert!(matches!(card, ReaderSubject::Session(_)));
    browser.press("]");
    assert!(matches!(subject(&browser), ReaderSubject::Session(_)) && subject(&browser) != card);
}

#[test]
fn a_click_on_a_fold_sign_folds_and_unfolds() {
    let mut browser = Browser::demo(160, 40);
    for (keys, sign, folded) in [("home", '▾', '▸'), ("j", '⊟', '⊞'), ("l", '⋯', '⊟')] {
        browser.press(keys);
        let screen = browser.screen();
        // After wide characters, column numbers differ from character positions.
        let is_plain = |line: &str| line.chars().all(|c| c.len_utf8() < 4 && !('\u{3000}'..='\u{ffef}').contains(&c));
        let places = screen.lines().enumerate().skip(2).filter(|(_, line)| is_plain(line));
        let place = |(row, line): (usize, &str)| Some((line.chars().position(|c| c == sign)? as u16, row as u16));
        let (column, row) = places.filter_map(place).next().unwrap();
        browser.send(Msg::Click { column, row, double: false });
        // The focused pane may get more room.
        let (column, row) = sign_of_selected(&browser, folded);
        browser.send(Msg::Click { column, row, double: false });
        sign_of_selected(&browser, sign);
    }
}

/// Finds a symbol in the selected row.
#[track_caller]
fn sign_of_selected(browser: &Browser, sign: char) -> (u16, u16) {
    let model = &browser.model;
    let cursor = if model.focus == KeyContext::Tree { model.tree.cursor } else { model.sessions.cursor };
    let body = model.area(model.focus).unwrap().body;
    let row = usize::from(body.y) + cursor.at - cursor.top;
    let screen = browser.screen();
    let mut line = screen.lines().nth(row).unwrap().chars().skip(body.x.into());
    let at = line.position(|c| c == sign).unwrap_or_else(|| panic!("no {sign} in row {row}\n{screen}"));
    (body.x + at as u16, row as u16)
}

#[test]
fn a_click_on_a_hint_does_what_its_key_does() {
    let mut browser = Browser::demo(160, 40);
    let click = |browser: &mut Browser, hint: &str| {
        let column = browser.footer().find(hint).map(|at| browser.footer()[..at].chars().count()).unwrap() as u16 + 2;
        browser.send(Msg::Click { column, row: 39, double: false });
    };
    click(&mut browser, "tree");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    click(&mut browser, "? help");
    assert!(!browser.model.layers.0.is_empty());
    click(&mut browser, "cancel");
    assert!(browser.model.layers.0.is_empty(), "in a dialog too");
}

#[test]
fn sorting_keeps_a_chosen_row_or_selects_the_first() {
    let mut browser = Browser::demo(100, 12);
    for _ in 0..3 {
        browser.press("ctrl+s");
        assert_eq!(
            (browser.model.sessions.cursor.at, browser.model.sessions.cursor.top),
            (0, 0),
            "{}",
            browser.screen()
        );
    }
    browser.press("j j j j j j j j j");
    let chosen = browser.selected();
    for _ in 0..6 {
        browser.press("ctrl+s");
        assert_eq!(browser.selected(), chosen);
        let (top, at) = (browser.model.sessions.cursor.top, browser.model.sessions.cursor.at);
        assert!((top..top + 9).contains(&at), "{}", browser.screen());
    }
}
