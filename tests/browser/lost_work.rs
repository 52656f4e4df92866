//! The background search for lost work, and its marks in rows.

use std::fs;
use std::path::PathBuf;

use pitree::app::message::{Effect, Msg, Work};
use pitree::app::ticket::Ticket;
use pitree::config::Config;
use pitree::disk::locate::Located;
use serde_json::json;
use tempfile::TempDir;

use super::common::by_hand;
use super::common::session::Session;
use super::harness::Browser;

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
        Browser::new(config, located, (120, 30))
    }
}

/// Returns the rows with a text.
fn rows(browser: &Browser, text: &str) -> Vec<String> {
    browser.screen().lines().filter(|line| line.contains(text)).map(String::from).collect()
}

/// Returns the batches that a message starts.
fn batches(browser: &mut Browser, msg: Msg) -> Vec<(Ticket, Work)> {
    let effects = browser.take(msg).into_iter();
    let asked = effects.filter_map(|effect| match effect {
        Effect::Ask(ticket, work @ Work::FindLostWork { .. }) => Some((ticket, work)),
        _ => None,
    });
    asked.collect()
}

fn key(key: &str) -> Msg {
    Msg::Key(key.parse().unwrap())
}

#[test]
fn rows_of_sessions_and_branch_ends_are_marked() {
    let world = World::new();
    let browser = world.browser(&Config::default());
    assert_eq!(rows(&browser, "✂ Begin").len(), 1, "{}", browser.screen());
    assert!(rows(&browser, "✂ Only talk").is_empty());
    let marked = rows(&browser, "✂ lost work");
    assert!(marked.len() == 1 && marked[0].contains("Written"), "{}", browser.screen());
    let mut browser = world.browser(&Config::default());
    browser.press("tab ctrl+u");
    let marked = rows(&browser, "✂ lost work");
    assert!(marked.len() == 1 && marked[0].contains("Begin"), "of a hidden end: {}", browser.screen());
    let ascii = world.browser(&Config { ascii: true, ..Config::default() });
    assert_eq!(rows(&ascii, "L Begin").len(), 1, "{}", ascii.screen());
}

#[test]
fn sessions_are_searched_once_until_they_change_or_are_selected() {
    let world = World::new();
    let mut browser = world.browser(&Config::default());
    for key_name in ["?", "esc"] {
        assert!(batches(&mut browser, key(key_name)).is_empty(), "all is known");
    }
    let later = Msg::Now(browser.model.now + 60_000);
    assert!(batches(&mut browser, later).is_empty());
    // The files of the selected session are compared again.
    fs::write(world.work().join("a.rs"), text()).unwrap();
    assert_eq!(rows(&browser, "✂ Begin").len(), 1, "{}", browser.screen());
    browser.press("j k");
    assert!(rows(&browser, "✂").is_empty(), "{}", browser.screen());
    // Other versions of the file are searched.
    fs::remove_file(world.work().join("a.rs")).unwrap();
    let longer = fs::read_to_string(world.session("lost")).unwrap() + "{\"type\":\"custom\",\"id\":\"c\"}\n";
    fs::write(world.session("lost"), longer).unwrap();
    browser.press("f5");
    assert_eq!(rows(&browser, "✂ Begin").len(), 1, "{}", browser.screen());
}

#[test]
fn canceled_batches_end() {
    let world = World::new();
    let mut browser = world.browser(&Config::default());
    let [(ticket, work)] = &batches(&mut browser, key("j"))[..] else { panic!("the selected session is compared") };
    assert!(ticket.is_wanted());
    // A query searches all sessions itself.
    browser.take(key("/"));
    "is:lost".chars().for_each(|letter| drop(browser.take(key(&letter.to_string()))));
    assert!(!ticket.is_wanted());
    assert!(by_hand::replies(&browser.desk, ticket, work.clone()).is_empty());
    let again = ["esc", "esc"].map(|name| batches(&mut browser, key(name)).len());
    assert_eq!(again.iter().sum::<usize>(), 1, "they are searched after the query");
}
