//! Resuming in pi at any entry.

use pitree::app::message::{Effect, Msg};
use pitree::pi::launch::Start;

use super::changes::{World, to_entry};
use super::harness::{Browser, shows};
use crate::common::session::Session;

fn resumed(browser: &Browser) -> Vec<String> {
    let path = |effect: &Effect| match effect {
        Effect::Resume(Start { path, .. }) => path.file_stem().unwrap().to_string_lossy().into_owned(),
        other => format!("{other:?}"),
    };
    browser.wants.iter().map(path).collect()
}

#[test]
fn resuming_at_an_answer_on_another_branch() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = world.text("main");
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    shows(&browser, "The model will see 4 messages.");
    shows(&browser, "The current branch (2 entries) stays in the tree.");
    shows(&browser, "right it is");
    browser.press("esc");
    assert!(browser.wants.is_empty() && world.text("main") == before);
    browser.press("enter h");
    assert_eq!(resumed(&browser), ["main"]);
    let after = world.text("main");
    assert!(after.starts_with(&before) && after.lines().count() == before.lines().count() + 1);
    assert!(after.lines().last().unwrap().contains("\"parentId\":\"a2\""));
    assert!(browser.copied.is_empty());
    // pi failed to start: the browser shows the session in its current state.
    browser.send(Msg::NotResumed("no pi".into()));
    browser.press("x").press(".").press("enter");
    assert_eq!(resumed(&browser), ["main", "main"], "the leaf moved there");
}

#[test]
fn resuming_at_a_message_starts_before_it_and_copies_its_text() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("enter");
    shows(&browser, "pi resumes before this message and copies");
    shows(&browser, "The model will see 2 messages.");
    browser.press("enter");
    assert_eq!(resumed(&browser), ["main"]);
    assert_eq!(browser.copied, ["go left"]);
    assert!(world.text("main").lines().last().unwrap().contains("\"parentId\":\"a1\""));
}

#[test]
fn sessions_in_a_newer_format_are_resumed_without_writes() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("s").user("u1", "the question").assistant("a1", "the answer").text();
    let v4 = r#"{"v":4,"kind":"header","id":"s","storageVersion":1,"createdAt":1767603600000,"cwd":"/nowhere"}"#;
    let entries = session.split_once('\n').unwrap().1;
    for text in [session.replace("\"version\":3", "\"version\":4"), format!("{v4}\n{entries}")] {
        let path = dir.path().join("s.jsonl");
        std::fs::write(&path, &text).unwrap();
        let mut browser = Browser::on(&[dir.path()], 160, 40);
        // A long message is in a box, a short one in the footer.
        let close = |browser: &mut Browser| {
            if !browser.model.layers.0.is_empty() {
                browser.press("esc");
            }
        };
        shows(&browser, "unsupported format version 4 (pitree");
        for change in ["ctrl+r", "l m l"] {
            browser.press(change).type_text("new").press("enter");
            shows(&browser, "format version 4");
            close(&mut browser);
        }
        to_entry(&mut browser, "the question");
        browser.press("m f");
        shows(&browser, "format version 4");
        close(&mut browser);
        browser.press("enter");
        shows(&browser, "current leaf");
        browser.press("esc");
        assert_eq!(resumed(&browser), [""; 0]);
        browser.press("enter h");
        to_entry(&mut browser, "the answer");
        browser.press("enter");
        assert_eq!(resumed(&browser), ["s", "s"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn resuming_in_a_fork_keeps_the_original() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = world.text("main");
    browser.press("l");
    to_entry(&mut browser, "the main session");
    browser.press("enter");
    shows(&browser, "an empty conversation");
    browser.press("f");
    assert_eq!(world.text("main"), before);
    let [Effect::Resume(Start { path, cwd, .. })] = &browser.wants[..] else { panic!("{:?}", browser.wants) };
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 1, "a header alone");
    assert_eq!((cwd.as_str(), &browser.copied[..]), ("/nowhere", &["the main session".to_string()][..]));
}

#[test]
fn text_is_shown_before_pi_starts_if_copying_fails() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.has_clipboard = false;
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("enter h");
    shows(&browser, "Clipboard not available");
    assert!(browser.wants.is_empty());
    browser.press("enter");
    assert_eq!(resumed(&browser), ["main"]);
}

#[test]
fn pi_does_not_start_if_the_change_fails() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    std::fs::remove_file(world.path("main")).unwrap();
    browser.press("h");
    assert!(browser.wants.is_empty());
    assert!(browser.all().all(|session| session.path != world.path("main")), "the list is updated");
}

#[test]
fn resuming_from_the_preview_uses_the_displayed_entry() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("tab enter");
    shows(&browser, "The model will see 4 messages.");
    browser.press("esc").press("esc esc").press("shift+tab").press("enter");
    assert_eq!(resumed(&browser), ["main"], "a card stands for the session at its leaf");
}

#[test]
fn the_dialog_scrolls_on_a_small_terminal() {
    let world = World::new();
    let mut browser = world.open(40, 10);
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("enter");
    let mut seen = String::new();
    for _ in 0..30 {
        seen += &browser.screen();
        browser.press("down");
    }
    for text in ["The model will see 2", "copies its text", "h  Resume here", "f  Fork", "this one is"] {
        assert!(seen.to_lowercase().contains(&text.to_lowercase()), "{text}\n{}", browser.screen());
    }
}

#[test]
fn resuming_beside_a_running_pi_asks_first() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let cwd = browser.session().unwrap().header.cwd.clone();
    browser.model.catalog.set_pis(super::harness::pis(&cwd, 9), super::harness::NOW);
    let before = world.text("main");
    browser.press("enter");
    shows(&browser, "A pi is running in");
    shows(&browser, "> f  Fork");
    assert!(browser.wants.is_empty());
    browser.press("n");
    assert!(browser.wants.is_empty() && !browser.asks());
    browser.press("enter h");
    assert_eq!(resumed(&browser), ["main"]);
    browser.send(Msg::NotResumed("no pi".into()));
    browser.press("x enter enter");
    assert_eq!(browser.wants.len(), 2);
    assert_ne!(resumed(&browser)[1], "main", "a new session with all entries");
    assert_eq!(world.text("main"), before);
    // At other entries of the session the question mentions it too.
    browser.send(Msg::NotResumed("no pi".into()));
    browser.press("x l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    shows(&browser, "do not see each other's entries");
    shows(&browser, "> f  Fork");
}

/// A session with a branch whose directory was renamed, and the renamed directory with the file that the session touched.
struct Renamed {
    dir: tempfile::TempDir,
    browser: Browser,
    gone: String,
    moved: String,
    text: String,
}

impl Renamed {
    /// Opens the box of the session.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (gone, moved) = (dir.path().join("old/app"), dir.path().join("new/app"));
        std::fs::create_dir_all(&moved).unwrap();
        std::fs::write(moved.join("a.rs"), "").unwrap();
        let sessions = dir.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        let session = Session::new("s").cwd(&gone).user("u1", "start");
        let session = session.tool("t1", "read", &serde_json::json!({ "path": "a.rs" }), "text");
        let session = session.assistant("a1", "left it is").under("u1").assistant("a2", "right it is");
        let text = session.text();
        std::fs::write(sessions.join("s.jsonl"), &text).unwrap();
        let mut browser = Browser::on(&[&sessions], 120, 40);
        browser.set(|setting| setting.current_dir = "/home/dev/started".into());
        browser.press("home j enter");
        shows(&browser, "Working directory not found");
        let [gone, moved] = [gone, moved].map(|dir| dir.to_str().unwrap().to_string());
        Self { dir, browser, gone, moved, text }
    }

    fn written(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("sessions/s.jsonl")).unwrap()
    }

    fn remembered(&self) -> Option<std::path::PathBuf> {
        pitree::disk::relocations::now(self.browser.context.state_dir.as_deref(), &self.gone)
    }
}

/// Returns the working directories and the first messages of pi.
fn places(browser: &Browser) -> Vec<String> {
    let place = |effect: &Effect| match effect {
        Effect::Resume(Start { cwd, .. }) => cwd.clone(),
        other => format!("{other:?}"),
    };
    browser.wants.iter().map(place).collect()
}

#[test]
fn two_enters_resume_in_a_renamed_directory_this_time() {
    let mut renamed = Renamed::new();
    shows(&renamed.browser, "> h  Resume  in ");
    shows(&renamed.browser, "app, which contains 1 of 1 touched files.");
    renamed.browser.press("enter");
    assert_eq!(places(&renamed.browser), [renamed.moved.clone()]);
    assert_eq!((renamed.remembered(), renamed.written()), (None, renamed.text));
}

#[test]
fn a_renamed_directory_is_remembered_if_chosen() {
    let mut renamed = Renamed::new();
    renamed.browser.press("r");
    assert_eq!(places(&renamed.browser), [renamed.moved.clone()]);
    assert_eq!(renamed.remembered().unwrap().to_str(), Some(&*renamed.moved));
    renamed.browser.press("enter");
    assert_eq!(places(&renamed.browser).len(), 2, "it is not asked about again");
}

#[test]
fn the_box_of_an_entry_asks_for_the_directory_before_it_writes() {
    let mut renamed = Renamed::new();
    renamed.browser.press("esc l");
    to_entry(&mut renamed.browser, "left it is");
    renamed.browser.press("enter");
    shows(&renamed.browser, "The model will see");
    shows(&renamed.browser, "Working directory not found");
    shows(&renamed.browser, "pitree appends one");
    renamed.browser.press("1");
    shows(&renamed.browser, "in /home/dev/started, this time");
    shows(&renamed.browser, "> h  Resume");
    renamed.browser.press("n");
    assert!(!renamed.browser.asks() && renamed.browser.wants.is_empty());
    assert_eq!(renamed.written(), renamed.text, "canceled");
    renamed.browser.press("enter enter");
    assert_eq!(places(&renamed.browser), [renamed.moved.clone()]);
    let written = renamed.written();
    assert!(written.starts_with(&renamed.text) && written.lines().last().unwrap().contains("\"parentId\":\"a1\""));
}

#[test]
fn another_directory_can_be_entered_for_a_missing_one() {
    let mut renamed = Renamed::new();
    let root = renamed.dir.path().to_path_buf();
    let browser = &mut renamed.browser;
    browser.press("d");
    browser.press("ctrl+u").type_text(root.join("ne").to_str().unwrap());
    std::fs::create_dir(root.join("neighbour")).unwrap();
    browser.press("tab");
    shows(browser, "\n neighbour");
    shows(browser, "\n new");
    browser.type_text("ighbour").press("enter");
    shows(browser, "neighbour, which you entered.");
    browser.press("d").press("ctrl+u").type_text("/no/such/directory").press("enter");
    shows(browser, "no such directory: /no/such/directory");
    assert!(browser.wants.is_empty(), "typing can continue");
    browser.press("backspace");
    assert!(!browser.screen().contains("no such directory"));
    browser.press("tab");
    shows(browser, "no matching directory");
    browser.press("esc");
    shows(browser, "neighbour, which you entered.");
    browser.press("enter");
    let entered = dunce::canonicalize(root.join("neighbour")).unwrap();
    assert_eq!((places(browser), renamed.remembered()), (vec![entered.to_str().unwrap().into()], None));
}

#[test]
fn pi_forks_a_session_in_another_directory() {
    let mut renamed = Renamed::new();
    renamed.browser.press("f");
    let [Effect::Resume(Start { cwd, forks: true, .. })] = &renamed.browser.wants[..] else {
        panic!("{:?}", renamed.browser.wants)
    };
    assert_eq!(*cwd, renamed.moved);
}

/// Returns the first message to pi of each request to resume.
fn reported(browser: &Browser) -> Vec<Option<&str>> {
    let first = |effect: &Effect| match effect {
        Effect::Resume(Start { first, .. }) => first.clone(),
        other => panic!("{other:?}"),
    };
    let first: Vec<Option<String>> = browser.wants.iter().map(first).collect();
    first.into_iter().map(|first| first.map(|first| &*first.leak())).collect()
}

#[test]
fn a_pi_with_navigation_support_receives_the_entry_without_writes() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.model.pi_can_navigate = Some(Ok(()));
    let before = world.text("main");
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    shows(&browser, "pi writes nothing until");
    browser.press("h");
    to_entry(&mut browser, "go left");
    browser.press("enter");
    shows(&browser, "puts its text in the editor");
    browser.press("s");
    let [Some(here), Some(summarize)] = reported(&browser)[..] else { panic!("{:?}", browser.wants) };
    assert_eq!([here, summarize], ["/pitree-goto a2", "/pitree-goto u2 summarize"]);
    assert!(world.text("main") == before && browser.copied.is_empty());
    assert_eq!(resumed(&browser), ["main", "main"]);
}

#[test]
fn a_fork_at_a_message_takes_its_text_from_the_original() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.model.pi_can_navigate = Some(Ok(()));
    let before = world.text("main");
    browser.press("l");
    to_entry(&mut browser, "go left");
    browser.press("enter f");
    let first = reported(&browser)[0].unwrap();
    let words: Vec<&str> = first.split(' ').collect();
    let ["/pitree-text", offset, length, path] = words[..] else { panic!("{first}") };
    assert_eq!(path, world.path("main").to_str().unwrap());
    let (offset, length): (usize, usize) = (offset.parse().unwrap(), length.parse().unwrap());
    assert!(before[offset..offset + length].contains("\"go left\""), "{first}");
    assert!(world.text("main") == before && browser.copied.is_empty());
    assert!(!resumed(&browser).contains(&"main".into()));
}

#[test]
fn pi_receives_the_entry_in_a_replacement_directory_too() {
    let mut renamed = Renamed::new();
    renamed.browser.model.pi_can_navigate = Some(Ok(()));
    renamed.browser.press("esc l");
    to_entry(&mut renamed.browser, "left it is");
    renamed.browser.press("enter h");
    assert_eq!(reported(&renamed.browser), [Some("/pitree-goto a1")]);
    assert_eq!((places(&renamed.browser), renamed.written()), (vec![renamed.moved], renamed.text));
}

#[test]
fn an_old_session_is_migrated_after_one_question() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("s").version(2).user("u1", "start").assistant("a1", "left it is");
    let text = session.under("u1").assistant("a2", "right it is").text();
    std::fs::write(dir.path().join("s.jsonl"), text).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("enter");
    shows(&browser, "first migrates the session to format version 3");
    browser.press("enter");
    assert_eq!(resumed(&browser), ["s"]);
}

#[test]
fn a_key_during_a_pi_request_changes_nothing() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    let asked = browser.take(Msg::Key("enter".parse().unwrap()));
    browser.press("j");
    for effect in asked {
        for reply in browser.replies(effect) {
            browser.send(reply);
        }
    }
    assert!(browser.model.layers.key_context().is_none() && browser.wants.is_empty());
}

#[test]
fn a_leaf_behind_the_newest_message_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("s").user("u1", "start").assistant("a1", "one").user("u2", "second terminal");
    let path = dir.path().join("s.jsonl");
    let stale = session.assistant("a2", "real work").under("a1").custom("c1", "session_exit");
    std::fs::write(&path, stale.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    shows(&browser, "behind the newest message, which is on another branch");
    browser.press("enter");
    assert!(browser.wants.is_empty());
    shows(&browser, "Resume in pi");
    browser.press("enter");
    assert_eq!(resumed(&browser), ["s"]);
    // A label moves the leaf on purpose.
    std::fs::write(&path, stale.label("l1", "a1", "here").text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 160, 40);
    browser.press("enter");
    assert_eq!(resumed(&browser), ["s"]);
}
