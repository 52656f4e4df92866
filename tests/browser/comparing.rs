//! Comparison of two branches: marks, displayed rows, and follow-up actions.

use std::fs;
use std::path::PathBuf;

use pitree::app::layers::Layer;
use pitree::app::message::{Effect, Msg, Work};
use pitree::app::panes::tree::rows::RowItem;
use pitree::app::settings::{PickerFormat, PickerOutput};
use pitree::keymap::KeyContext;
use pitree::pi::launch::Start;
use serde_json::json;
use tempfile::TempDir;

use super::changes::{World, shows_not, to_entry};
use super::harness::{Browser, shows};
use crate::common::session::Session;

/// A session and a fork that diverged from it.
struct Family {
    dir: TempDir,
}

impl Family {
    fn new() -> Self {
        let family = Self { dir: tempfile::tempdir().unwrap() };
        let cache = "use std::collections::HashMap;\n\nstruct Cache(HashMap<String, String>);\n";
        let begun = Session::new("main").cwd("/w").costing(0.02).user("u1", "Write a cache");
        let begun = begun.call("a1", "write", &json!({"path": "src/cache.rs", "content": cache}));
        let begun = begun.result("r1", "a1", "write", "ok").assistant("a2", "The cache is there.");
        // pi copies labels into a fork as new entries.
        let main = begun.clone().label("l1", "a2", "cache").user("u2", "Let it expire");
        let edit = json!({"path": "src/cache.rs", "edits": [{"oldText": "(HashMap<String, String>)", "newText": "(HashMap<String, Timed>)"}]});
        let main = main.call("a3", "edit", &edit).result("r2", "a3", "edit", "ok");
        let lib = json!({"path": "src/lib.rs", "oldText": "mod a;", "newText": "mod a;\nmod cache;"});
        let main = main.call("a4", "edit", &lib).result("r3", "a4", "edit", "ok");
        let main = main.call("a5", "bash", &json!({"command": "cargo test"}));
        let main = main.failure("r4", "a5", "bash", "2 tests failed").assistant("a6", "It expires, two tests fail.");
        fs::write(family.path("main"), main.text()).unwrap();
        let fork = begun.forked("fork", &family.path("main"), 100).later(100).user("u3", "Use redis instead");
        let redis = json!({"path": "src/cache.rs", "content": "struct Cache(redis::Client);\n"});
        let fork = fork.call("b1", "write", &redis).result("s1", "b1", "write", "ok");
        let lib = json!({"path": "src/lib.rs", "oldText": "mod a;", "newText": "mod redis;"});
        let fork = fork.call("b2", "edit", &lib).result("s2", "b2", "edit", "ok");
        let fork = fork.call("b3", "read", &json!({"path": "Cargo.toml"})).result("s3", "b3", "read", "[package]");
        let fork = fork.label("l2", "a2", "cache").assistant("b4", "Redis it is.");
        fs::write(family.path("fork"), fork.text()).unwrap();
        family
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.jsonl"))
    }

    fn open(&self, columns: u16, rows: u16) -> Browser {
        Browser::on(&[self.dir.path()], columns, rows)
    }

    /// Opens the comparison of both sessions.
    fn compared(&self, columns: u16, rows: u16) -> Browser {
        let mut browser = self.open(columns, rows);
        browser.press("m A =");
        assert!(is_open(&browser), "{}", browser.screen());
        browser
    }
}

fn is_open(browser: &Browser) -> bool {
    matches!(browser.model.layers.top(), Some(Layer::Compare(_)))
}

/// Returns the screen without the header and footer.
fn body(browser: &Browser) -> String {
    let screen = browser.screen();
    let rows: Vec<&str> = screen.lines().collect();
    rows[4..rows.len() - 1].iter().map(|row| row.trim_end_matches(['▐', ' ']).to_owned() + "\n").collect()
}

#[test]
fn two_marked_sessions_next_to_each_other() {
    insta::assert_snapshot!("compare_wide", Family::new().compared(120, 40).screen());
}

#[test]
fn two_marked_sessions_one_below_the_other() {
    let mut browser = Family::new().compared(80, 24);
    insta::assert_snapshot!("compare_narrow", browser.screen());
    browser.press("G");
    insta::assert_snapshot!("compare_narrow_end", browser.screen());
}

#[test]
fn the_smallest_terminal_shows_a_comparison() {
    let browser = Family::new().compared(40, 10);
    insta::assert_snapshot!("compare_small", browser.screen());
}

#[test]
fn a_marked_session_and_the_selected_one() {
    let family = Family::new();
    let mut browser = family.open(120, 40);
    browser.press("home j =");
    assert_eq!(browser.footer(), "no sessions marked; press space to mark two of one family");
    browser.press("space =");
    assert!(is_open(&browser));
    shows(&browser, "4 common entries");
    browser.press("esc k =");
    assert_eq!(browser.footer(), "this session is already marked; select or mark another one of its family");
}

#[test]
fn marks_in_the_trees_of_two_sessions() {
    let family = Family::new();
    let mut browser = family.open(160, 40);
    let select = |browser: &mut Browser, name: &str| {
        browser.model.focus = KeyContext::Sessions;
        browser.press("home");
        while browser.session().is_none_or(|session| session.path != family.path(name)) {
            browser.press("j");
        }
        browser.press("l");
    };
    select(&mut browser, "main");
    to_entry(&mut browser, "Let it expire");
    browser.press("space");
    assert_eq!(browser.footer(), "1 entry marked · =: compare with the selected entry · space: mark another");
    shows(&browser, "✓ • user  Let it expire");
    select(&mut browser, "fork");
    shows_not(&browser, "✓");
    to_entry(&mut browser, "Redis it is.");
    browser.press("space");
    assert_eq!(browser.footer(), "2 entries marked · =: compare");
    browser.press("k");
    assert!(browser.footer().starts_with("= compare  ␣ mark  esc unmark all"), "{}", browser.footer());
    browser.press("=");
    let screen = browser.screen();
    let head: Vec<&str> = screen.lines().take(3).collect();
    assert!(head[1].contains("A  Write a cache · • user  Let it expire"), "{screen}");
    assert!(head[2].contains("B  Use redis instead · • asst  Redis it is."), "{screen}");
    // Each Esc goes back one step.
    browser.press("esc");
    assert!(!is_open(&browser) && browser.model.focus == KeyContext::Tree && browser.model.marks.len() == 2);
    browser.press("esc");
    assert!(browser.model.focus == KeyContext::Tree && browser.model.marks.is_empty());
    browser.press("esc");
    assert_eq!(browser.model.focus, KeyContext::Sessions);
}

#[test]
fn without_marks_the_selected_entry_and_the_leaf() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l =");
    assert_eq!(browser.footer(), "cannot compare the leaf with itself; select another entry or mark two (space)");
    to_entry(&mut browser, "left it is");
    browser.press("=");
    shows(&browser, "2 common entries, ending at  • asst  first answer");
    shows(&browser, "▌A  the main session · asst  left it is");
    shows(&browser, "B  … · • asst  right it is");
    browser.press("esc space =");
    assert_eq!(browser.footer(), "this entry is already marked; select or mark another one");
    to_entry(&mut browser, "go left");
    browser.press("=");
    shows(&browser, "B  … · no entries after the common entry");
}

#[test]
fn a_fork_row_is_compared_at_its_leaf() {
    let family = Family::new();
    let mut browser = family.open(160, 40);
    while browser.session().unwrap().path != family.path("main") {
        browser.press("j");
    }
    browser.press("l");
    to_entry(&mut browser, "Use redis instead");
    assert!(browser.model.tree.selected_fork().is_some());
    browser.press("space");
    assert_eq!(browser.footer(), "this row is a fork; press Enter to go to its session");
    browser.press("=");
    shows(&browser, "▌A  Use redis instead · • asst  Redis it is.");
    shows(&browser, "B  Write a cache · • asst  It expires, two tests fail.");
}

#[test]
fn a_run_is_marked_at_its_last_entry() {
    let mut browser = Browser::demo(160, 40);
    browser.press("l home");
    let is_run = |browser: &Browser| matches!(browser.model.tree.selected_item(), Some(RowItem::Run(_)));
    while !is_run(&browser) {
        browser.press("j");
    }
    let end = browser.model.tree.selected_entry().unwrap();
    browser.press("space");
    shows(&browser, "✓ • ⋯");
    browser.press("l");
    assert_eq!(browser.screen().matches('✓').count(), 1, "the entry's own row has the mark\n{}", browser.screen());
    assert_eq!(browser.model.marks[0].at, end);
}

#[test]
fn unrelated_sessions_are_not_compared() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("space");
    world.select(&mut browser, "other");
    browser.press("space =");
    assert!(!is_open(&browser));
    shows(&browser, "the two branches have no common entry");
}

#[test]
fn a_missing_file_is_named() {
    let family = Family::new();
    let mut browser = family.open(160, 40);
    browser.press("m A");
    fs::remove_file(family.path("fork")).unwrap();
    browser.press("=");
    assert!(!is_open(&browser));
    shows(&browser, "cannot read");
    shows(&browser, "fork.jsonl");
}

#[test]
fn the_selected_branch_is_resumed() {
    let family = Family::new();
    let mut browser = family.compared(120, 40);
    let before = fs::read_to_string(family.path("fork")).unwrap();
    browser.press("b enter");
    let resumed =
        |effect: &Effect| matches!(effect, Effect::Resume(Start { path, .. }) if *path == family.path("fork"));
    assert!(browser.wants.iter().any(resumed), "{:?}", browser.wants);
    assert_eq!(fs::read_to_string(family.path("fork")).unwrap(), before);
    // A branch that does not end at the leaf asks first, as in the tree.
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("= enter");
    shows(&browser, "Resume from this entry");
    shows(&browser, "The model will see 4 messages.");
    browser.press("h");
    assert!(world.text("main").lines().last().unwrap().contains("\"parentId\":\"a2\""));
}

#[test]
fn a_grown_session_is_reread_before_resuming() {
    let world = World::new();
    let mut browser = world.open(120, 40);
    browser.press("l");
    to_entry(&mut browser, "left it is");
    browser.press("= enter h");
    assert_eq!(browser.wants.len(), 1, "{:?}", browser.wants);
    // The other branch no longer ends at the leaf.
    browser.press("b enter");
    assert_eq!((browser.footer().as_str(), browser.wants.len()), ("the session has changed; comparing again", 1));
    shows(&browser, "▌B  … · asst  right it is");
    browser.press("enter");
    shows(&browser, "Resume from this entry");
    browser.press("h");
    assert!(world.text("main").lines().last().unwrap().contains("\"parentId\":\"a3\""));
}

#[test]
fn the_selected_branch_is_labeled() {
    let family = Family::new();
    let mut browser = family.compared(120, 40);
    browser.press("b m l").type_text("redis").press("enter");
    assert!(is_open(&browser));
    let text = fs::read_to_string(family.path("fork")).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.contains(r#""targetId":"b4""#) && last.contains(r#""label":"redis""#), "{last}");
}

#[test]
fn the_common_entry_is_selected() {
    let family = Family::new();
    for (side, file) in [("a", "main"), ("b", "fork")] {
        let mut browser = family.compared(160, 40);
        browser.press(side).press("o");
        assert!(!is_open(&browser));
        assert_eq!(browser.model.focus, KeyContext::Tree);
        assert_eq!(browser.session().unwrap().path, family.path(file));
        assert_eq!(browser.selected(), "The cache is there.");
    }
}

#[test]
fn a_picker_prints_the_selected_branch() {
    let mut browser = Family::new().compared(120, 40);
    browser.pick(PickerFormat::Entry);
    browser.press("b enter");
    assert!(matches!(&browser.wants[..], [Effect::Answer(PickerOutput::Id(id))] if id == "b4"), "{:?}", browser.wants);
}

#[test]
fn sections_fold() {
    let mut browser = Family::new().compared(120, 60);
    let unfolded = body(&browser);
    browser.press("v c");
    let headings = body(&browser);
    assert!(headings.lines().filter(|row| !row.is_empty()).all(|row| row.starts_with('▸')), "{headings}");
    browser.press("v x");
    assert_eq!(body(&browser), unfolded, "no section is long");
    assert!(browser.screen().lines().nth(4).unwrap().starts_with("▾ Last answers"));
    // The selection stays in its section.
    browser.press("G");
    browser.press("v c l k");
    shows(&browser, "▾ src/cache.rs");
    shows(&browser, "▸ Last answers");
    browser.press("v x g g");
    // Fold the selected row with the keyboard, then by mouse.
    browser.press("j h");
    shows(&browser, "▸ Last answers");
    shows(&browser, "▾ Prompts");
    browser.press("l");
    assert_eq!(body(&browser), unfolded);
    browser.send(Msg::Click { column: 3, row: 4, double: false });
    shows(&browser, "▸ Last answers");
    browser.send(Msg::Click { column: 3, row: 2, double: false });
    shows(&browser, "▌B");
}

#[test]
fn a_long_section_is_folded_at_first() {
    let family = Family::new();
    let long: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let fork = fs::read_to_string(family.path("fork")).unwrap().replace("Redis it is.", &long.replace('\n', "\\n"));
    fs::write(family.path("fork"), fork).unwrap();
    let mut browser = family.compared(120, 40);
    shows(&browser, "▸ Last answers");
    browser.press("v c l");
    shows(&browser, "▾ Last answers");
    browser.press("j pagedown pagedown pagedown");
    shows(&browser, "line 99");
}

#[test]
fn rows_adapt_to_the_terminal_width() {
    let mut browser = Family::new().compared(120, 40);
    shows(&browser, "Let it expire                                             │ Use redis instead");
    browser.send(Msg::Resized(100, 40));
    shows(&browser, "│ Use redis instead");
    browser.send(Msg::Resized(99, 40));
    shows_not(&browser, "│ Use redis instead");
    browser.send(Msg::Resized(80, 40));
    shows(&browser, "A Let it expire");
    shows(&browser, "B Use redis instead");
}

#[test]
fn late_comparisons_are_not_shown() {
    let mut browser = Family::new().open(120, 40);
    browser.press("m A");
    let asked = browser.take(Msg::Key("=".parse().unwrap()));
    shows(&browser, "reading both");
    // Actions that need the comparison report that it is not loaded.
    browser.press("enter");
    assert_eq!(browser.footer(), "the sessions are still being read");
    browser.press("esc");
    let work = asked.into_iter().find(|effect| matches!(effect, Effect::Ask(_, Work::Compare(_)))).unwrap();
    let Effect::Ask(ticket, _) = &work else { panic!("{work:?}") };
    assert!(!ticket.is_wanted(), "the ticket is dropped");
    for reply in browser.replies(work) {
        browser.send(reply);
    }
    assert!(!is_open(&browser));
}

#[test]
fn files_that_differ_at_the_ends_are_listed_with_their_difference() {
    let family = Family::new();
    let mut browser = family.compared(120, 40);
    shows(&browser, "Files at the ends  2 files");
    shows(&browser, "src/cache.rs  A: certain; B: certain  +1 -3");
    shows(&browser, "src/lib.rs  A: unknown; B: unknown");
    assert!(!body(&browser).contains("Cargo.toml  A"), "{}", browser.screen());
    browser.press("d");
    assert!(browser.footer().contains("select a file below"), "{}", browser.footer());
    while !browser.model.layers.0.iter().any(|layer| matches!(layer, Layer::FileText(_))) {
        browser.press("j d");
    }
    shows(&browser, "from the end of A to the end of B");
    shows(&browser, "-struct Cache(HashMap<String, Timed>);");
    shows(&browser, "+struct Cache(redis::Client);");
    browser.press("v");
    assert!(browser.footer().contains("works in the list of files"), "{}", browser.footer());
    browser.press("esc");
    assert!(is_open(&browser), "{}", browser.screen());
}

#[test]
fn commands_and_removed_files_count_at_the_ends() {
    let dir = tempfile::tempdir().unwrap();
    let begun = Session::new("one").cwd("/w").user("u1", "go");
    let begun = begun.tool("w1", "write", &json!({"path": "a.txt", "content": "a\n"}), "ok");
    let begun = begun.tool("w2", "write", &json!({"path": "same.txt", "content": "s\n"}), "ok");
    let left = begun.tool("b1", "bash", &json!({"command": "rm a.txt"}), "");
    let left =
        left.tool("b2", "bash", &json!({"command": "cat > new.sh <<'EOF'\nls\nEOF"}), "").assistant("a1", "left");
    let both = left.under("w2r").tool("r1", "read", &json!({"path": "same.txt"}), "s\n").assistant("a2", "right");
    fs::write(dir.path().join("one.jsonl"), both.text()).unwrap();
    let mut browser = Browser::on(&[dir.path()], 120, 40);
    browser.press("j l ctrl+a");
    to_entry(&mut browser, "left");
    browser.press("=");
    shows(&browser, "a.txt  A: removed; B: certain");
    shows(&browser, "new.sh  A: certain; B: not touched");
    assert!(!body(&browser).contains("same.txt  A"), "{}", browser.screen());
}

#[test]
fn messages_of_the_other_branch_are_copied_to_a_fork() {
    let family = Family::new();
    let mut browser = family.open(120, 40);
    browser.press("m A m i");
    shows(&browser, "Copies 8 messages of branch B to the end of a fork of branch A.");
    browser.press("n b m i");
    shows(&browser, "Copies 8 messages of branch A to the end of a fork of branch B.");
    browser.press("f");
    assert!(!is_open(&browser), "{}", browser.screen());
    assert!(browser.footer().contains("Forked the session here"), "{}", browser.footer());
    let made = browser.session().unwrap().path.clone();
    let text = fs::read_to_string(&made).unwrap();
    assert!(text.lines().last().unwrap().contains("It expires, two tests fail."), "{text}");
    assert!(text.contains(&format!("\"parentSession\":\"{}\"", family.path("fork").display())));
    browser.press("u");
    assert!(!made.exists(), "one change, one undo");
}
