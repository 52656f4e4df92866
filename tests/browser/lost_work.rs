//! The search for lost work of the selected session.

use std::fs;
use std::path::PathBuf;

use pitree::app::message::{Effect, Msg, Work};
use pitree::app::ticket::Ticket;
use pitree::config::Config;
use pitree::disk::locate::Located;
use serde_json::json;
use tempfile::TempDir;

use super::card::card;
use super::harness::Browser;
use crate::common::by_hand;
use crate::common::session::Session;

/// Two sessions in a directory that exists; `lost` has lost work on its abandoned branch.
struct World {
    dir: TempDir,
}

fn text() -> String {
    (0..4).map(|line| format!("let lost = work({line});\n")).collect()
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(world.work()).unwrap();
        fs::create_dir(world.dir.path().join("sessions")).unwrap();
        let write = json!({"path": "a.rs", "content": text()});
        let lost = Session::new("lost").cwd(world.work()).user("u1", "Begin").tool("t", "write", &write, "ok");
        let lost = lost.assistant("end", "Written").under("u1").user("u2", "Another way").assistant("a2", "Sure");
        let kept = Session::new("kept").cwd(world.work()).user("k1", "Only talk").assistant("k2", "Yes");
        for (name, session) in [("lost", lost), ("kept", kept.at(100))] {
            fs::write(world.session(name), session.text()).unwrap();
        }
        world
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn session(&self, name: &str) -> PathBuf {
        self.dir.path().join("sessions").join(format!("{name}.jsonl"))
    }

    fn browser(&self, config: &Config) -> Browser {
        let located =
            Located { dirs: vec![self.dir.path().join("sessions")], origin: "--dir".into(), ..Located::default() };
        Browser::new(config, located, (160, 48))
    }
}

/// Selects the session with a title.
fn select(browser: &mut Browser, title: &str) {
    browser.press("home");
    for _ in 0..3 {
        if !browser.selected().contains(title) {
            browser.press("j");
        }
    }
    assert!(browser.selected().contains(title), "{}", browser.screen());
}

/// Returns the lost work in the card of the session.
fn lost(browser: &Browser) -> Option<String> {
    card(browser).into_iter().skip_while(|line| line != "Lost work").nth(1)
}

/// Returns the searches that a message starts.
fn searches(browser: &mut Browser, msg: Msg) -> Vec<(Ticket, Work)> {
    let effects = browser.take(msg).into_iter();
    let asked = effects.filter_map(|effect| match effect {
        Effect::Ask(ticket, work @ Work::FindLostWork(_)) => Some((ticket, work)),
        _ => None,
    });
    asked.collect()
}

fn key(key: &str) -> Msg {
    Msg::Key(key.parse().unwrap())
}

#[test]
fn the_selected_session_is_searched_once_until_it_changes_or_is_selected_again() {
    let world = World::new();
    let mut browser = world.browser(&Config::default());
    select(&mut browser, "Only talk");
    assert_eq!(lost(&browser), None);
    select(&mut browser, "Begin");
    let known = Some("a.rs  4 lines".to_string());
    assert_eq!(lost(&browser), known, "{}", browser.screen());
    assert!(searches(&mut browser, key("?")).is_empty() && searches(&mut browser, key("esc")).is_empty());
    fs::write(world.work().join("a.rs"), text()).unwrap();
    assert_eq!(lost(&browser), known);
    select(&mut browser, "Only talk");
    select(&mut browser, "Begin");
    assert_eq!(lost(&browser), None, "{}", browser.screen());
    // Another version of the file is searched.
    fs::remove_file(world.work().join("a.rs")).unwrap();
    let longer = fs::read_to_string(world.session("lost")).unwrap() + "{\"type\":\"custom\",\"id\":\"c\"}\n";
    fs::write(world.session("lost"), longer).unwrap();
    browser.press("f5");
    assert_eq!(lost(&browser), known, "{}", browser.screen());
}

#[test]
fn another_selection_cancels_the_search() {
    let world = World::new();
    let mut browser = world.browser(&Config::default());
    select(&mut browser, "Only talk");
    let started = ["k", "j"].map(|name| searches(&mut browser, key(name)));
    let [[(first, work)], [(second, _)]] = [&started[0][..], &started[1][..]] else { panic!("each is searched") };
    assert!(!first.is_wanted() && second.is_wanted());
    assert!(by_hand::replies(&browser.context, first, work.clone()).is_empty(), "it is canceled");
}
