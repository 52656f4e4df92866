//! Names, labels, marks, the trash, undo, forks and copying: presses keys and checks files and screens.

use std::fs;
use std::path::PathBuf;

use pitree::app::message::{Effect, Msg, Work};
use pitree::changes::{ChangeResult, Request};
use pitree::config::Config;
use pitree::disk::locate::Located;
use pitree::keymap::KeyContext;
use tempfile::TempDir;

use super::harness::{Browser, shows};
use crate::common::session::Session;

/// Sessions of one project: `main` has two branches and two forks, one of which has a fork; `other` is unrelated.
pub(crate) struct World {
    pub(crate) dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = Self { dir };
        world.session("main", 50, None);
        world.session("fork", 40, Some("main"));
        world.session("grandchild", 30, Some("fork"));
        world.session("twin", 20, Some("main"));
        world.session("other", 10, None);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.jsonl"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a session; a higher `time` means a newer session.
    fn session(&self, name: &str, time: i64, parent: Option<&str>) {
        let session = parent.iter().fold(Session::new(name), |session, parent| session.parent(&self.path(parent)));
        let session = session.at(time).user("u1", &format!("the {name} session")).assistant("a1", "first answer");
        let session = session.user("u2", "go left").assistant("a2", "left it is");
        let session = session.under("a1").user("u3", "go right").assistant("a3", "right it is");
        fs::write(self.path(name), session.text()).unwrap();
    }

    pub(crate) fn open(&self, columns: u16, rows: u16) -> Browser {
        let mut browser = Browser::on(&[self.dir.path()], columns, rows);
        self.select(&mut browser, "main");
        browser
    }

    pub(crate) fn select(&self, browser: &mut Browser, name: &str) {
        browser.press("home");
        while browser.session().is_none_or(|session| session.path != self.path(name)) {
            let before = browser.selected();
            browser.press("j");
            assert_ne!(browser.selected(), before, "no session {name}");
        }
    }
}

/// Selects the tree entry that contains a text.
pub(crate) fn to_entry(browser: &mut Browser, text: &str) {
    browser.press("home");
    while browser.selected() != text {
        let before = browser.model.tree.cursor.at;
        browser.press("j");
        assert_ne!(browser.model.tree.cursor.at, before, "no entry {text}\n{}", browser.screen());
    }
}

#[track_caller]
pub(crate) fn shows_not(browser: &Browser, text: &str) {
    let screen = browser.screen();
    assert!(!screen.contains(text), "{text:?}\n{screen}");
}

#[test]
fn names_can_be_set_cleared_and_undone() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = world.text("main");
    browser.press("ctrl+r").type_text("Quick j q?").press("left backspace ctrl+e enter");
    assert_eq!(browser.selected(), "Quick j ?", "letters are only typed");
    assert!(browser.footer().ends_with("· u: undo"), "{}", browser.footer());
    shows(&browser, "rename to \"Quick j ?\"");
    assert!(world.text("main").starts_with(&before));
    browser.press("ctrl+r ctrl+u enter");
    assert_eq!(browser.selected(), "the main session");
    browser.press("u");
    assert_eq!(browser.selected(), "Quick j ?");
    assert!(!browser.footer().contains("u: undo"), "u would undo another change: {}", browser.footer());
    browser.press("u").press("U");
    assert_eq!(browser.selected(), "Quick j ?");
    browser.press("tab tab ctrl+r").type_text("!").press("enter");
    assert!(browser.session().unwrap().title() == "Quick j ?!", "from any pane");
    assert_eq!(browser.model.focus, KeyContext::Reader);
}

#[test]
fn an_input_line_receives_every_key_and_esc_closes_it() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = world.text("main");
    for leave in ["esc", "ctrl+c"] {
        browser.press("ctrl+r").type_text("xyz").press("ctrl+d f5 ctrl+z tab ctrl+s").press(leave);
        assert!(!browser.asks() && browser.wants.is_empty());
        assert_eq!(browser.model.focus, KeyContext::Sessions);
    }
    assert_eq!(world.text("main"), before);
    browser.send(Msg::Paste("q\nq".into()));
    assert!(browser.wants.is_empty(), "pasted text is not handled as keys");
    browser.press("ctrl+r");
    browser.send(Msg::Paste("two\r\nlines\u{1b}".into()));
    browser.send(Msg::Click { column: 3, row: 5, double: true });
    browser.press("enter");
    assert_eq!(browser.selected(), "two lines");
    browser.press("home ctrl+r");
    shows(&browser, "cannot rename a project");
}

#[test]
fn setting_a_label_keeps_the_selection() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("m l").type_text("here").press("enter");
    assert_eq!(browser.selected(), "go left");
    shows(&browser, "[here] user  go left");
    browser.press("m l");
    shows(&browser, "label: here");
    browser.type_text("!").press("enter");
    shows(&browser, "[here!] user  go left");
    browser.press("tab m l ctrl+u enter");
    shows_not(&browser, "[here");
    browser.press("u");
    shows(&browser, "[here!] user  go left");
    assert_eq!(browser.model.focus, KeyContext::Reader);
}

#[test]
fn a_fork_row_cannot_be_labeled() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l home");
    while browser.model.tree.selected_fork().is_none() {
        browser.press("j");
    }
    browser.press("m l");
    shows(&browser, "this row is a fork; press Enter to go to its session");
    browser.press("m f");
    shows(&browser, "this row is a fork; press Enter to go to its session");
    assert!(!browser.asks());
}

#[test]
fn old_sessions_are_migrated_only_after_confirmation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.jsonl");
    let old = Session::new("old").version(1).user("", "one").user("", "two").text();
    fs::write(&path, &old).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    browser.press("l home m l").type_text("mark").press("enter");
    shows(&browser, "This session uses format version 1;");
    browser.press("n");
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    browser.press("m l").type_text("mark").press("enter enter");
    shows(&browser, "[mark] user  one");
    assert!(fs::read_to_string(&path).unwrap().contains("\"version\":3"));
    assert_eq!(browser.trashed().len(), 1, "the original");
    browser.press("m l ctrl+u").type_text("again").press("enter");
    assert!(!browser.asks(), "it asks only once");
    shows(&browser, "[again] user  one");
}

#[test]
fn a_fork_of_an_old_session_does_not_change_the_total() {
    let dir = tempfile::tempdir().unwrap();
    let old = Session::new("old").version(1).costing(0.25).asked("one", &["first", "second"]).text();
    fs::write(dir.path().join("old.jsonl"), &old).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    shows(&browser, "1 session · 1 project · $0.50");
    browser.press("l home m f");
    shows(&browser, "this change requires version 3");
    browser.press("enter");
    shows(&browser, "2 sessions · 1 project · $0.50");
    browser.press("u u");
    shows(&browser, "1 session · 1 project · $0.50");
}

#[test]
fn errors_are_shown() {
    let world = World::new();
    let mut browser = world.open(60, 20);
    let fail = |browser: &mut Browser, error: &str| {
        browser.change_goes(Request::Redo, Err(anyhow::Error::msg(error.to_owned())));
    };
    fail(&mut browser, "the disk is full");
    assert_eq!(browser.footer(), "the disk is full");
    fail(&mut browser, &"the disk is full, ".repeat(9));
    shows(&browser, "Change failed");
    browser.press("x");
    assert!(!browser.has_note());
}

#[test]
fn a_new_fork_is_listed_and_shown() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("m f");
    let made = browser.session().unwrap().clone();
    assert_eq!(made.parent_path.as_ref(), Some(&dunce::canonicalize(world.path("main")).unwrap()));
    assert_eq!((browser.model.focus, browser.selected().as_str()), (KeyContext::Tree, "left it is"));
    assert_eq!(browser.model.tree.tree.as_ref().unwrap().nodes.len(), 4, "only the path");
    browser.press("u");
    assert!(!made.path.exists());
    assert!(browser.all().all(|session| session.path != made.path));
}

#[test]
fn scan_results_from_before_a_change_are_discarded() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "other");
    let effects = browser.take(Msg::Key("f5".parse().unwrap()));
    let mut late: Vec<Msg> = effects.into_iter().flat_map(|effect| browser.replies(effect)).collect();
    browser.press("ctrl+r").type_text("new").press("enter");
    assert_eq!(browser.selected(), "new");
    world.select(&mut browser, "twin");
    browser.press("ctrl+d enter");
    late.drain(..).for_each(|msg| browser.send(msg));
    assert!(browser.all().all(|session| session.path != world.path("twin")), "it is gone");
    world.select(&mut browser, "other");
    assert_eq!(browser.selected(), "new");
}

#[test]
fn the_copy_menu_offers_available_items() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("y");
    shows_not(&browser, "Entry text");
    browser.press("p");
    assert_eq!(browser.copied.pop().unwrap(), world.path("main").to_str().unwrap());
    assert!(browser.footer().starts_with("copied: /"));
    browser.press("y").press("s").press("y").press("c");
    assert_eq!(browser.copied, ["main".into(), format!("command /nowhere {}", world.path("main").display())]);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("y enter").press("y").press("i");
    assert_eq!(browser.copied[2..], ["go left", "u2"]);
    browser.press("tab y t");
    assert_eq!(browser.copied.last().unwrap(), "go left");
    browser.has_clipboard = false;
    browser.press("y t");
    shows(&browser, "Clipboard not available");
    browser.press("x").press("esc esc home y");
    shows(&browser, "cannot copy a project");
}

#[test]
fn demo_sessions_can_be_changed() {
    let mut browser = Browser::demo(100, 30);
    let sessions = browser.model.sessions.totals.sessions;
    browser.press("ctrl+r ctrl+u").type_text("Renamed").press("enter");
    assert_eq!(browser.selected(), "Renamed");
    browser.press("u");
    assert_ne!(browser.selected(), "Renamed");
    browser.press("ctrl+d enter");
    assert_eq!(browser.model.sessions.totals.sessions, sessions - 1);
}

#[test]
fn a_redundant_change_is_reported() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("ctrl+r enter");
    assert_eq!(browser.footer(), "the session already has no name");
    browser.press("u");
    assert_eq!(browser.footer(), "nothing to undo");
    let done = ChangeResult { summary: "done\u{1b}[31m".into(), ..ChangeResult::default() };
    browser.change_goes(Request::Redo, Ok(done));
    assert_eq!(browser.footer(), "done␛[31m");
}

/// Checks all themes and the smallest terminal size.
#[test]
fn small_ascii_and_colorless_screens() {
    let world = World::new();
    let config = Config { ascii: true, ..Config::default() };
    let located = || Located { dirs: vec![world.dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let mut browser = Browser::new(&config, located(), (40, 10));
    browser.press("space");
    shows(&browser, "x v the main");
    browser.press("esc home j ctrl+d");
    let ascii = |browser: &Browser| {
        let screen = browser.screen();
        assert!(screen.is_ascii(), "{screen}");
    };
    ascii(&browser);
    shows(&browser, "enter: This session - esc: cancel");
    browser.press("down down down down down down down");
    shows(&browser, "enter: Cancel - esc: cancel");
    shows(&browser, "> n  Cancel");
    ascii(&browser);
    browser.press("up up up up up up up up up up up");
    shows(&browser, "the main session");
    browser.press("esc ctrl+r").type_text("a name that is longer than the line has room for");
    ascii(&browser);
    assert!(browser.footer().ends_with("line has room for"), "{}", browser.footer());
    let buffer = browser.buffer();
    let is_cursor = |cell: &&ratatui::buffer::Cell| {
        cell.modifier.contains(ratatui::style::Modifier::REVERSED) && cell.symbol() == " "
    };
    let cursor = buffer.content.iter().filter(is_cursor);
    assert!(cursor.count() >= 1, "the cursor is visible");
}

#[test]
fn cursor_and_selection_are_visible_without_colors() {
    use ratatui::style::Modifier;
    let world = World::new();
    let mut browser = world.open(100, 20);
    browser.set(|setting| setting.theme = None);
    let reversed = |browser: &Browser| {
        let buffer = browser.buffer();
        let cells = buffer.content.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
        cells.map(|cell| cell.symbol().to_string()).collect::<String>()
    };
    browser.press("ctrl+d");
    assert!(reversed(&browser).contains("> t  This session"), "{}", reversed(&browser));
    browser.press("esc ctrl+r").type_text("ab").press("left");
    assert!(reversed(&browser).ends_with('b'));
}

#[test]
fn changes_take_effect_in_order_and_late_ones_are_kept() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let mut replies = Vec::new();
    for name in ["one", "two"] {
        for key in
            format!("ctrl+r ctrl+u {} enter", name.chars().map(String::from).collect::<Vec<_>>().join(" ")).split(' ')
        {
            let effects = browser.take(Msg::Key(key.parse().unwrap()));
            let changes: Vec<Effect> =
                effects.into_iter().filter(|effect| matches!(effect, Effect::Ask(_, Work::Change { .. }))).collect();
            replies.extend(changes.into_iter().flat_map(|effect| browser.replies(effect)));
        }
    }
    assert_eq!(replies.len(), 2);
    replies.into_iter().for_each(|reply| browser.send(reply));
    assert_eq!(browser.selected(), "two");
}

/// Replaces a session file with another session, as a sync program does.
fn replaced(world: &World, name: &str) -> String {
    let other = Session::new("stranger").at(5).user("s1", "a stranger").assistant("a1", "an answer").text();
    let draft = world.path("draft").with_extension("new");
    fs::write(&draft, &other).unwrap();
    fs::rename(draft, world.path(name)).unwrap();
    other
}

#[test]
fn a_typed_name_applies_only_to_its_session() {
    for accepts in [false, true] {
        let world = World::new();
        let mut browser = world.open(160, 40);
        browser.press("ctrl+r ctrl+u").type_text("mine");
        let other = replaced(&world, "main");
        browser.press("enter");
        shows(&browser, "main.jsonl was replaced");
        shows(&browser, "name this session \"mine\"");
        assert_eq!(world.text("main"), other);
        browser.press(if accepts { "a" } else { "esc" });
        assert_eq!(world.text("main") != other, accepts);
        assert_eq!(world.text("main").contains("mine"), accepts);
        assert!(browser.model.layers.0.is_empty());
    }
}

#[test]
fn lines_appended_by_pi_while_typing_a_name_need_no_confirmation() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("ctrl+r ctrl+u").type_text("mine");
    let line = Session::new("main").under("a3").user("u9", "on").lines().to_string();
    fs::write(world.path("main"), world.text("main") + &line).unwrap();
    browser.press("enter");
    assert!(browser.model.layers.0.is_empty() && world.text("main").ends_with("\"name\":\"mine\"}\n"));
}

#[test]
fn labels_and_moved_leaves_apply_only_to_their_session() {
    let world = World::new();
    for (keys, word) in [("m l", "label its entry \"mine\""), ("enter", "apply the change to this session")] {
        let mut browser = world.open(160, 40);
        browser.press("l");
        to_entry(&mut browser, "left it is");
        browser.press(keys);
        if keys == "m l" {
            browser.type_text("mine");
        }
        let before = world.text("main");
        let other = replaced(&world, "main");
        browser.press(if keys == "m l" { "enter" } else { "h" });
        shows(&browser, word);
        browser.press("esc");
        assert!(world.text("main") == other && browser.wants.is_empty());
        fs::write(world.path("main"), before).unwrap();
    }
}

#[test]
fn marked_sessions_are_renamed_and_labeled_together() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = ["main", "fork", "twin", "other"].map(|name| world.text(name));
    browser.press("space space ctrl+r");
    let Some(Effect::Open(copy)) = browser.wants.pop() else { panic!("no editor") };
    assert!(copy.text.ends_with("main\t\nfork\t\n"), "{}", copy.text);
    browser.send(Msg::Names(Some(copy.text.replace("fork\t", "forked\tx"))));
    assert_eq!(browser.footer(), "not the ID of a listed session: forked; no session was renamed");
    browser.send(Msg::Names(Some("main\nfork\t\n".into())));
    assert_eq!(browser.footer(), "nothing to change");
    browser.send(Msg::Names(Some(copy.text.replace("main\t", "main\tone").replace("fork\t", "fork\ttwo"))));
    shows(&browser, "Renamed 2 sessions");
    assert_eq!(
        ["one", "two"].map(|name| browser.all().filter(|one| one.name.as_deref() == Some(name)).count()),
        [1, 1]
    );
    browser.press("u ctrl+r");
    assert!(browser.all().all(|session| session.name.is_none()), "one undo");
    // Without an editor, the names follow a pattern.
    browser.send(Msg::Names(None));
    shows(&browser, "name of 2 marked sessions, with {n}, {title}, {date}: ");
    browser.type_text("{n} of {date}: {title}").press("enter");
    let names: Vec<String> = browser.all().filter_map(|one| one.name.as_deref().map(String::from)).collect();
    assert!(names.contains(&"1 of 2026-01-05: the main session".into()), "{names:?}");
    browser.press("u ctrl+r");
    browser.send(Msg::Names(None));
    browser.type_text("both").press("enter");
    shows(&browser, "Renamed 2 sessions");
    assert_eq!(browser.all().filter(|session| session.name.as_deref() == Some("both")).count(), 2);
    browser.press("m l");
    shows(&browser, "label of the last message of 2 marked sessions: ");
    browser.type_text("good").press("enter");
    shows(&browser, "Labeled 2 sessions");
    assert!(["main", "fork"].iter().all(|name| world.text(name).contains(r#""targetId":"a3","label":"good""#)));
    browser.press("u u");
    shows(&browser, "Restored the names of 2 sessions");
    assert!(browser.all().all(|session| session.name.is_none()));
    browser.press("esc");
    world.select(&mut browser, "other");
    browser.press("m l").type_text("one").press("enter");
    assert!(world.text("other").contains(r#""targetId":"a3","label":"one""#));
    browser.press("u");
    let now = ["main", "fork", "twin", "other"].map(|name| world.text(name));
    assert!(now.iter().zip(before).all(|(now, before)| now.starts_with(&before)));
}
