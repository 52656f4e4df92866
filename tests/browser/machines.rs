//! Mirrored sessions of other machines: chips in rows, cards, the qualifier, statistics, families and actions.

use std::path::Path;

use pitree::app::layers::Layer;
use pitree::config::Config;
use pitree::disk::locate::Located;
use pitree::session::stats::grouping::Grouping;
use tempfile::TempDir;

use super::harness::{Browser, shows};
use crate::common::home::write;
use crate::common::session::Session;

/// Returns the path of a session in the mirror of a machine.
fn mirrored(dir: &Path, machine: &str, id: &str) -> std::path::PathBuf {
    dir.join(format!("machine-mirrors/{machine}/%2Fhome%2Fann%2Fsessions/--code-app--/{id}.jsonl"))
}

/// Writes a session here, one on a machine, one on both, and one that differs.
fn sample() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let local = |id: &str| dir.path().join(format!("sessions/--code-app--/{id}.jsonl"));
    let talk = |id: &str, title: &str| {
        Session::new(id).cwd("/code/app").user(&format!("{id}1"), title).assistant(&format!("{id}2"), "Done.")
    };
    let boxed = talk("b", "Fix the login page and its tests").name("n", "Login page");
    write(&local("a"), talk("a", "Local work").at(60).text());
    write(&mirrored(dir.path(), "box", "b"), boxed.text());
    for path in [local("c"), mirrored(dir.path(), "box", "c"), mirrored(dir.path(), "gpu", "c")] {
        write(&path, talk("c", "On all machines").text());
    }
    let split = talk("d", "Two ways");
    write(&local("d"), split.clone().user("d3", "continued here").text());
    write(&mirrored(dir.path(), "box", "d"), split.user("e3", "continued there").text());
    dir
}

fn browser(dir: &TempDir, size: (u16, u16)) -> Browser {
    let located = Located {
        dirs: vec![dir.path().join("sessions")],
        origin: "--dir".into(),
        mirrors: Some(dir.path().join("machine-mirrors")),
    };
    Browser::new(&Config::default(), located, size)
}

/// Selects the first row with a text.
fn select(browser: &mut Browser, text: &str) {
    browser.press("home");
    for _ in 0..browser.model.sessions.rows.len() {
        if browser.selected().contains(text) {
            return;
        }
        browser.press("j");
    }
    panic!("no row contains {text:?}\n{}", browser.screen());
}

#[test]
fn rows_and_cards_show_machines() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 35));
    shows(&browser, "5 sessions");
    shows(&browser, "Login page");
    for chips in ["  @box ", "  @box @gpu "] {
        shows(&browser, chips);
    }
    select(&mut browser, "Login page");
    shows(&browser, "on box: /home/ann/sessions/--code-app--/b.jsonl");
    assert!(!browser.screen().contains("(missing)"), "{}", browser.screen());
    select(&mut browser, "On all machines");
    shows(&browser, "copies      on box: /home/ann/sessions/--code-app--/c.jsonl");
    shows(&browser, "            on gpu: /home/ann/");
}

#[test]
fn chips_leave_room_for_titles() {
    let dir = sample();
    for (columns, title, chips) in
        [(160, "On all machines", "@box @gpu"), (80, "On all machines", "@box @"), (40, "On all machines", "")]
    {
        let browser = browser(&dir, (columns, 24));
        let screen = browser.screen();
        let row = screen.lines().find(|line| line.contains(title)).unwrap_or_else(|| panic!("{columns}\n{screen}"));
        assert!(row.contains(chips), "{columns}\n{screen}");
    }
}

#[test]
fn the_qualifier_narrows_the_list() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 35));
    browser.press("/").type_text("on:");
    shows(&browser, "gpu");
    browser.type_text("gpu");
    assert_eq!(crate::browser::search::hits(&browser), 1);
    browser.press("enter");
    browser.press("esc esc esc");
    crate::browser::search::search(&mut browser, "on:here");
    assert_eq!(crate::browser::search::hits(&browser), 3);
    browser.press("esc esc esc");
    crate::browser::search::search(&mut browser, "on:box");
    assert_eq!(crate::browser::search::hits(&browser), 3);
}

#[test]
fn statistics_have_a_row_for_each_machine() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 40));
    browser.press("g c > >");
    let grouping = |browser: &Browser| match browser.model.layers.top() {
        Some(Layer::Stats(view)) => view.grouping,
        other => panic!("{other:?}"),
    };
    for _ in 0..20 {
        if grouping(&browser) == Grouping::Machine {
            break;
        }
        browser.press("tab");
    }
    let Some(Layer::Stats(view)) = browser.model.layers.top() else { panic!() };
    let names: Vec<&str> = view.rows().iter().filter_map(|row| row.names[0].key.as_deref()).collect();
    assert!(names.contains(&"here") && names.contains(&"box") && !names.contains(&"gpu"), "{names:?}");
}

#[test]
fn differing_copies_are_branches_of_one_tree() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 35));
    select(&mut browser, "Two ways");
    browser.press("tab v m");
    for text in ["continued here", "continued there"] {
        shows(&browser, text);
    }
}

#[test]
fn mirrored_sessions_are_left_out_of_changes_here() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 35));
    select(&mut browser, "Login page");
    for keys in [":archive enter", ":shrink enter", ":move enter"] {
        let (name, keys) = keys[1..].split_once(' ').unwrap();
        browser.press(":").type_text(name).press(keys);
        shows(&browser, "this session is on another machine");
        browser.press("esc");
    }
}

#[test]
fn the_selection_stays_on_a_session_that_comes_here() {
    let dir = sample();
    let mut browser = browser(&dir, (120, 35));
    select(&mut browser, "Login page");
    let copy = std::fs::read(mirrored(dir.path(), "box", "b")).unwrap();
    write(&dir.path().join("sessions/--code-app--/b.jsonl"), copy);
    browser.press("f5");
    shows(&browser, "5 sessions");
    assert!(browser.selected().contains("Login page"), "{}", browser.screen());
    shows(&browser, "copies      on box: /home/ann/sessions/--code-app--/b.jsonl");
    // It is answered on the other machine.
    let longer = Session::new("b").cwd("/code/app").user("b1", "Fix the login page and its tests");
    let longer = longer.assistant("b2", "Done.").name("n", "Login page").user("b4", "and now on box");
    write(&mirrored(dir.path(), "box", "b"), longer.text());
    browser.press("f5");
    shows(&browser, "5 sessions");
    assert!(browser.selected().contains("Login page"), "{}", browser.screen());
    shows(&browser, "file        on box: /home/ann/sessions/--code-app--/b.jsonl");
    shows(&browser, "copies      older, ");
}
