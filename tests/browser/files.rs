//! The files that sessions touched, their states, and the preview of entries that changed files.

use std::fs;
use std::path::PathBuf;

use pitree::app::layers::Layer;
use pitree::app::layers::files::{FilesRow, FilesView, SessionScope};
use pitree::app::message::{Effect, Msg, Work};
use pitree::keymap::KeyContext;
use serde_json::json;
use tempfile::TempDir;

use super::changes::to_entry;
use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(files_wide, (160, 48), "j g f enter");
snapshot!(files_80, (80, 24), "j g f enter");
snapshot!(files_smallest, (40, 10), "j g f enter");
snapshot!(files_of_a_project, (100, 20), "home g f enter");
snapshot!(files_filtered, (80, 24), "j g f / k e y s");
snapshot!(file_content, (80, 24), "j g f enter j v");
snapshot!(file_content_smallest, (40, 10), "j g f enter j v");
snapshot!(file_difference, (100, 30), "j g f enter j =");

/// A session with two branches, in a directory that exists.
struct World {
    dir: TempDir,
}

const FIRST: &str = "fn one() {}\nfn two() {}\n";
const SECOND: &str = "fn one() {}\nfn zwei() {}\nfn three() {}\n";

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        let work = world.work();
        fs::create_dir(&work).unwrap();
        let begun = Session::new("one").cwd(&work).user("u1", "Write it").tool(
            "w1",
            "write",
            &json!({"path": "src/a.rs", "content": FIRST}),
            "Successfully wrote",
        );
        let edit = json!({"path": "src/a.rs", "oldText": "fn two() {}\n", "newText": "fn zwei() {}\nfn three() {}\n"});
        let edited = begun.user("u2", "In German\u{1b}[31m").tool("e1", "edit", &edit, "Successfully replaced");
        let command = json!({"command": "cat > b.sh <<'EOF'\nls\nEOF"});
        let main = edited.under("w1r").user("u3", "Go on").tool("b1", "bash", &command, "");
        let main = main.tool(
            "p1",
            "read",
            &json!({"path": "c.txt", "offset": 3, "limit": 1}),
            "three\n\n[2 more lines in file. Use offset=4 to continue.]",
        );
        fs::create_dir(world.dir.path().join("sessions")).unwrap();
        fs::write(world.dir.path().join("sessions/one.jsonl"), main.assistant("a9", "Done").text()).unwrap();
        world
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Opens the files of the session.
    fn files(&self, columns: u16, rows: u16) -> Browser {
        let mut browser = Browser::on(&[&self.dir.path().join("sessions")], columns, rows);
        browser.press("j g f");
        browser
    }
}

fn view(browser: &Browser) -> &FilesView {
    let layers = &browser.model.layers.0;
    let view = layers.iter().find_map(|layer| if let Layer::Files(view) = layer { Some(view) } else { None });
    view.unwrap_or_else(|| panic!("{}", browser.screen()))
}

/// Returns the path of the selected file, and the tool of a state.
fn selected(browser: &Browser) -> (String, Option<String>) {
    let view = view(browser);
    let (path, entry) = match view.rows[view.cursor.at] {
        FilesRow::File(file) => (&view.files[file].shown, None),
        FilesRow::State(file, _) => {
            (&view.files[file].shown, view.state_at(view.cursor.at).map(|state| state.touch.clone()))
        }
        FilesRow::Note(_) => panic!("{}", browser.screen()),
    };
    (path.clone(), entry)
}

#[test]
fn states_are_listed_newest_first_and_lead_to_their_entries() {
    let world = World::new();
    let mut browser = world.files(120, 30);
    shows(&browser, "3 files");
    assert_eq!(selected(&browser), ("src/a.rs".into(), None), "the most changed file is first");
    browser.press("enter");
    let screen = browser.screen();
    let row =
        |text: &str| screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}\n{screen}"));
    let edit = row("In German");
    assert!(edit.contains("edit") && edit.contains("certain") && edit.contains("+2 -1") && edit.contains("abandoned"));
    assert!(!row("Write it").contains("abandoned"), "{screen}");
    browser.press("j j enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert!(browser.selected().contains("write"), "{}", browser.selected());
    // Going back returns to the same row.
    browser.press("esc esc");
    assert_eq!(selected(&browser), ("src/a.rs".into(), Some("write".into())));
    browser.press("h");
    assert_eq!((selected(&browser).1, view(&browser).rows.len()), (None, 3));
    browser.press("esc");
    assert!(browser.model.layers.0.is_empty());
}

#[test]
fn content_and_differences_of_states_are_shown() {
    let world = World::new();
    let mut browser = world.files(100, 30);
    browser.press("=");
    assert!(browser.footer().contains("select a state"), "{}", browser.footer());
    // On a file, the newest state is shown.
    browser.press("v");
    shows(&browser, "2 + fn zwei() {}");
    browser.press("esc k h enter j v");
    shows(&browser, "2 + fn zwei() {}");
    shows(&browser, "1   fn one() {}");
    shows(&browser, "certain: written");
    browser.press("=");
    shows(&browser, "-fn two() {}");
    // The next row is the state before.
    browser.press("]");
    shows(&browser, "+fn one() {}");
    browser.press("]");
    assert!(browser.footer().contains("oldest"), "{}", browser.footer());
    browser.press("[ esc");
    assert_eq!(selected(&browser).1.as_deref(), Some("edit"));
    // From the marked state to the selected one.
    browser.press("space j =");
    shows(&browser, "+fn two() {}");
    browser.press("esc d");
    shows(&browser, "cannot read");
    fs::create_dir(world.work().join("src")).unwrap();
    fs::write(world.work().join("src/a.rs"), "fn one() {}\nfn two() {}\n// mine\n").unwrap();
    browser.press("d");
    shows(&browser, "+// mine");
    browser.press("enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
}

#[test]
fn partial_states_have_gaps() {
    let world = World::new();
    let mut browser = world.files(100, 30);
    browser.press("/").type_text("c.txt").press("enter enter j");
    shows(&browser, "partial");
    browser.press("v");
    shows(&browser, "[2 unknown lines]");
    shows(&browser, "3   three");
    browser.press("y");
    assert_eq!(browser.copied, ["[2 unknown lines]\nthree\n[2 unknown lines]"]);
}

#[test]
fn content_is_copied_and_written_but_replaces_no_file_without_consent() {
    let world = World::new();
    let mut browser = world.files(120, 30);
    browser.press("y");
    assert!(browser.copied[0].ends_with("work/src/a.rs"), "{:?}", browser.copied);
    browser.press("enter j y");
    assert_eq!(browser.copied[1], SECOND);
    let target = world.work().join("new.rs");
    let write = |browser: &mut Browser, target: &PathBuf| {
        browser.press("s ctrl+u");
        browser.send(Msg::Paste(target.to_str().unwrap().into()));
        browser.press("enter");
    };
    browser.press("s");
    shows(&browser, "write to: a.rs");
    browser.press("esc");
    write(&mut browser, &target);
    assert!(browser.footer().contains("wrote"), "{}", browser.footer());
    assert_eq!(fs::read_to_string(&target).unwrap(), SECOND);
    let other = world.work().join("other.rs");
    fs::write(&other, "keep").unwrap();
    browser.press("j");
    for taken in [&target, &other] {
        write(&mut browser, taken);
        shows(&browser, "exists");
        let before = fs::read_to_string(taken).unwrap();
        browser.press("enter");
        assert_eq!(fs::read_to_string(taken).unwrap(), before, "the first choice cancels");
    }
    write(&mut browser, &other);
    browser.press("r");
    assert_eq!(fs::read_to_string(&other).unwrap(), FIRST);
    let runs = world.work().join(".envrc");
    write(&mut browser, &runs);
    shows(&browser, "by themselves");
    browser.press("enter");
    assert!(!runs.exists(), "the first choice cancels");
    write(&mut browser, &runs);
    browser.press("w");
    assert_eq!(fs::read_to_string(&runs).unwrap(), FIRST);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let world = World::new();
    let mut browser = world.files(120, 30);
    let (victim, link) = (world.work().join("victim"), world.work().join("link"));
    fs::write(&victim, "keep").unwrap();
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    browser.press("enter j s ctrl+u");
    browser.send(Msg::Paste(link.to_str().unwrap().into()));
    browser.press("enter");
    shows(&browser, "symbolic link");
    browser.press("r");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "keep");
    assert_eq!(fs::read_to_string(&link).unwrap(), SECOND);
    assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_project_and_all_sessions_have_states_of_several_sessions() {
    let mut browser = Browser::demo(160, 40);
    browser.press("j g f").press("/").type_text("0004 sessions").press("enter enter");
    let states = view(&browser).unfolded.values().next().unwrap().states.len();
    assert_eq!(states, 1);
    browser.press("a");
    assert_eq!(view(&browser).scope, SessionScope::All);
    shows(&browser, "of all sessions");
    let states = &view(&browser).unfolded.values().next().unwrap().states;
    let written = states.iter().filter(|state| state.touch == "write");
    assert_eq!(written.count(), 1, "entries shared with forks are listed once");
    shows(&browser, "Refactor auth module");
    browser.press("j j enter");
    assert!(browser.selected().contains("0004_sessions.sql"), "{}", browser.selected());
}

#[test]
fn long_paths_keep_the_file_name_visible() {
    let dir = tempfile::tempdir().unwrap();
    let path = format!("/{}the-last-of-them/chosen.rs", "a-rather-long-directory/".repeat(6));
    let session = Session::new("one").user("u1", "look").tool("r1", "read", &json!({ "path": path }), "fn");
    fs::write(dir.path().join("one.jsonl"), session.text()).unwrap();
    for columns in [40, 80, 120] {
        let mut browser = Browser::on(&[dir.path()], columns, 20);
        browser.press("G g f").press("/").type_text("chosen").press("enter");
        shows(&browser, "chosen.rs ");
        shows(&browser, "read 1×");
        browser.press("enter j v");
        shows(&browser, "chosen.rs");
    }
}

#[test]
fn the_filter_is_kept_or_cleared() {
    let world = World::new();
    let mut browser = world.files(80, 24);
    browser.press("/").type_text("c.t");
    shows(&browser, "1 of 3 files");
    browser.press("esc");
    shows(&browser, "3 files");
    browser.press("/").type_text("nothing of it").press("enter");
    shows(&browser, "no match");
    browser.press("esc");
    shows(&browser, "3 files");
    browser.press("esc");
    assert!(browser.model.layers.0.is_empty());
}

#[test]
fn closing_and_folding_cancel_the_work() {
    let world = World::new();
    let mut browser = Browser::on(&[&world.dir.path().join("sessions")], 80, 24);
    browser.press("g");
    let effects = browser.take(Msg::Key("f".parse().unwrap()));
    let mut tickets = effects.into_iter().filter_map(|effect| match effect {
        Effect::Ask(ticket, Work::ListFiles(_)) => Some(ticket),
        _ => None,
    });
    let ticket = tickets.next().unwrap();
    shows(&browser, "reading");
    assert!(ticket.is_wanted());
    browser.press("esc");
    assert!(!ticket.is_wanted());
    let mut browser = world.files(80, 24);
    for (asks, ends) in [("enter", "h"), ("l", "esc")] {
        let effects = browser.take(Msg::Key(asks.parse().unwrap()));
        let Some(Effect::Ask(ticket, Work::ListStates(..))) = effects.into_iter().next() else { panic!("no states") };
        shows(&browser, "replaying the session");
        assert!(ticket.is_wanted());
        browser.press(ends);
        assert!(!ticket.is_wanted(), "{ends}");
    }
}

#[test]
fn a_rewritten_session_is_reported() {
    let world = World::new();
    let mut browser = world.files(100, 24);
    let path = world.dir.path().join("sessions/one.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"id\":\"", "\"id\":\"x")).unwrap();
    browser.press("enter");
    shows(&browser, "changed since it was opened");
}

#[test]
fn the_preview_shows_what_an_entry_changed() {
    let world = World::new();
    let mut browser = Browser::on(&[&world.dir.path().join("sessions")], 120, 40);
    browser.press("j l ctrl+a");
    to_entry(&mut browser, "[edit: src/a.rs]");
    browser.press("v e");
    shows(&browser, "-fn two() {}");
    shows(&browser, "certain: written");
    browser.press("v e");
    shows(&browser, "2 + fn zwei() {}");
    shows(&browser, "1   fn one() {}");
    browser.press("v e");
    shows(&browser, "\"toolCallId\"");
    // Entries that changed no file look the same in the other forms.
    browser.press("v e v e");
    to_entry(&mut browser, "Go on");
    assert!(!browser.screen().contains("fn one"), "{}", browser.screen());
    // A file that a command wrote.
    to_entry(&mut browser, "[bash: cat > b.sh <<'EOF' ls EOF]");
    shows(&browser, "+ls");
}

#[test]
fn hostile_paths_are_cleaned_and_choose_no_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = "../../etc/pa\u{1b}[31m\nss*wd";
    let session = Session::new("one").user("u1", "write");
    let session = session.tool("w1", "write", &json!({"path": path, "content": "\u{1b}]0;title\u{7}\r\n"}), "ok");
    fs::write(dir.path().join("one.jsonl"), session.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 80, 24);
    browser.press("G g f enter j v");
    let screen = browser.screen();
    assert!(screen.contains("␛]0;title") && screen.contains("etc/pa␛[31m"), "{screen}");
    assert!(!screen.contains(|c: char| c != '\n' && pitree::base::text::is_unsafe(c)), "{screen}");
    browser.press("s");
    shows(&browser, "write to: pa_[31m_ss_wd");
    browser.press("esc esc k y");
    assert!(browser.copied.is_empty() && browser.footer().contains("control characters"), "{}", browser.footer());
}
