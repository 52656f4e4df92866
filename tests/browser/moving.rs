//! Moves to another working directory in the browser: the line for the directory and the question.

use std::fs;
use std::path::{Path, PathBuf};

use super::harness::{Browser, shows};
use crate::common::session::Session;

/// A session directory with pi's folders: a family in a missing directory, a fork in another one, and a new directory.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.path("code/app/.git")).unwrap();
        fs::create_dir_all(world.path("code/other")).unwrap();
        let root = Session::new("root").at(50).user("u1", "the root session").assistant("a1", "an answer");
        world.write("--app--/2026_root.jsonl", "app", &root);
        let parent = world.path("sessions/--app--/2026_root.jsonl");
        world.write("--app--/2026_fork.jsonl", "app", &root.clone().forked("fork", &parent, 40).user("u2", "the fork"));
        let agent = Session::new("agent").at(45).user("u4", "a subagent");
        world.write("--app--/2026_root/abc/run-0/session.jsonl", "app", &agent);
        world.write("--other--/2026_away.jsonl", "code/other", &root.forked("away", &parent, 30).user("u3", "away"));
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        dunce::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn write(&self, name: &str, cwd: &str, session: &Session) {
        let path = self.path("sessions").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, session.clone().cwd(self.path(cwd)).text()).unwrap();
    }

    fn open(&self) -> Browser {
        Browser::on(&[&self.path("sessions")], 80, 24)
    }

    /// Returns the path of a session after its move.
    fn moved(&self, name: &str) -> PathBuf {
        let folder = format!("-{}--", self.path("code/app").to_str().unwrap().replace('/', "-"));
        self.path("sessions").join(folder).join(format!("2026_{name}.jsonl"))
    }
}

/// Selects the row with a text.
fn select(browser: &mut Browser, text: &str) {
    browser.press("home");
    while !browser.selected().contains(text) {
        let before = browser.selected();
        browser.press("j");
        assert_ne!(browser.selected(), before, "no row {text}\n{}", browser.screen());
    }
}

/// Checks that the subagent session in a file belongs to the session in another one.
fn belongs(browser: &Browser, agent: &Path, to: &Path) {
    let catalog = &browser.model.catalog;
    let owner = catalog[catalog.key_of(agent).unwrap()].owner.clone().unwrap();
    assert_eq!(owner.path.as_deref(), Some(to), "a subagent session stays with its session");
}

#[test]
fn a_project_moves_to_a_typed_directory() {
    let world = World::new();
    let mut browser = world.open();
    select(&mut browser, "app");
    browser.press("m m");
    shows(&browser, &format!("move 3 sessions to: {}/", world.path("").to_str().unwrap().trim_end_matches('/')));
    browser.type_text("nowhere").press("enter");
    shows(&browser, "no such directory: ");
    assert!(browser.asks(), "typing can continue");
    browser.press("ctrl+w").type_text("co").press("tab").type_text("a").press("tab enter");
    shows(&browser, "Move to another directory?");
    shows(&browser, "Move and relink  also set the new path in 1 fork elsewhere");
    let dir = dunce::canonicalize(world.dir.path()).unwrap();
    insta::assert_snapshot!("move_question", browser.screen().replace(dir.to_str().unwrap(), "/tmp/.tmp000000"));
    browser.press("esc");
    assert!(world.path("sessions/--app--/2026_root.jsonl").exists());

    browser.press("m m").type_text("code/app").press("enter m");
    shows(&browser, "Moved 3 sessions");
    assert!(world.moved("root").exists() && world.moved("fork").exists());
    assert!(!world.path("sessions/--app--/2026_root.jsonl").exists());
    let cwd = browser.session().unwrap().header.cwd.clone();
    assert_eq!(cwd, world.path("code/app").to_str().unwrap(), "a moved session is selected");
    let agent = world.moved("root").with_file_name("2026_root/abc/run-0/session.jsonl");
    belongs(&browser, &agent, &world.moved("root"));
    assert!(browser.footer().ends_with("u: undo"), "{}", browser.footer());
    browser.press("u");
    let root = world.path("sessions/--app--/2026_root.jsonl");
    belongs(&browser, &world.path("sessions/--app--/2026_root/abc/run-0/session.jsonl"), &root);
}

#[test]
fn marked_sessions_move_and_their_forks_are_relinked() {
    let world = World::new();
    let mut browser = world.open();
    select(&mut browser, "the root session");
    browser.press("space m m");
    browser.type_text("code/app").press("enter r");
    shows(&browser, "Moved 2 sessions; linked 2 sessions to the moved parent");
    let away = fs::read_to_string(world.path("sessions/--other--/2026_away.jsonl")).unwrap();
    assert!(away.contains(world.moved("root").to_str().unwrap()));
}

#[test]
fn a_missing_directory_offers_to_move_the_project() {
    let world = World::new();
    let mut browser = world.open();
    select(&mut browser, "the root session");
    browser.press("enter");
    shows(&browser, "m  Move project  3 sessions to ");
    browser.press("m");
    shows(&browser, "Move to another directory?");
    browser.press("m");
    assert!(world.moved("root").exists() && world.moved("fork").exists());
}

#[test]
fn an_archived_subagent_session_stays_with_its_session() {
    let world = World::new();
    let mut browser = world.open();
    browser.press("ctrl+g");
    select(&mut browser, "app");
    browser.press("j j j j");
    assert_eq!(browser.selected(), "a subagent");
    browser.press("m a a");
    let path = world.path("sessions/--app--/2026_root/abc/run-0/session.jsonl");
    assert!(!path.exists(), "{}", browser.screen());
    let archived = browser.session().unwrap().path.clone();
    let root = world.path("sessions/--app--/2026_root.jsonl");
    belongs(&browser, &archived, &root);
    browser.press("u");
    belongs(&browser, &path, &root);
}
