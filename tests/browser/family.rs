//! The family of a session in its tree: forks expanded in place, the entire family as one tree, and actions in them.

use std::path::{Path, PathBuf};

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::panes::tree::rows::RowItem;
use pitree::pi::launch::Start;

use crate::browser::card::card;
use crate::browser::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(fork_in_place, (110, 34), "j j l G l");
snapshot!(whole, (110, 44), "j j l v m");
snapshot!(whole_smallest, (80, 24), "j j l v m");
snapshot!(legend, (110, 20), "j j l v m v s down enter");

/// A session, a fork of it and a fork of that fork, each in its own file.
struct Files {
    _dir: tempfile::TempDir,
    paths: [PathBuf; 3],
}

impl Files {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["parent.jsonl", "fork.jsonl", "fork-of-fork.jsonl"].map(|name| dir.path().join(name));
        let begun = Session::new("p").user("u1", "the question").assistant("a1", "the answer");
        let parent = begun.clone().user("u2", "go on here").assistant("a2", "went on here");
        let fork = begun.forked("f", &paths[0], 100).user("u3", "another way").assistant("a3", "it was longer");
        let deep = fork.clone().forked("g", &paths[1], 200).user("u4", "deeper").assistant("a4", "found it");
        let fork = fork.user("u5", "and back").assistant("a5", "home");
        // The parent is the newest session, so it is the first row.
        let parent = parent.later(500).user("u6", "the last word");
        for (path, session) in paths.iter().zip([parent, fork, deep]) {
            std::fs::write(path, session.text()).unwrap();
        }
        Self { _dir: dir, paths }
    }

    fn browse(&self, columns: u16, rows: u16) -> Browser {
        let mut browser = Browser::on(&[self.paths[0].parent().unwrap()], columns, rows);
        browser.press("home");
        while browser.session().is_none_or(|session| session.path != self.paths[0]) {
            browser.press("j");
        }
        browser.press("tab");
        browser
    }
}

fn go_to(browser: &mut Browser, text: &str) {
    browser.press("home");
    for _ in 0..browser.model.tree.rows.list.len() {
        if browser.selected().contains(text) {
            return;
        }
        browser.press("j");
    }
    panic!("no row contains {text:?}\n{}", browser.screen());
}

fn texts(browser: &Browser) -> Vec<String> {
    let tree = browser.model.tree.tree.as_ref().unwrap();
    let forks = browser.model.tree.forks();
    let text = |item: RowItem| match item {
        RowItem::Entry(at) => tree.nodes[at as usize].text.to_string(),
        RowItem::Fork(place) => format!("fork {}", browser.model.catalog[forks[place].key].header.id),
        other => format!("{other:?}"),
    };
    browser.model.tree.rows.list.iter().map(|row| text(row.item)).collect()
}

const ALONE: [&str; 6] = ["the question", "the answer", "go on here", "went on here", "the last word", "fork f"];

#[test]
fn forks_and_their_forks_expand_in_place() {
    let files = Files::new();
    let mut browser = files.browse(110, 30);
    assert_eq!(texts(&browser), ALONE);
    browser.press("G l");
    let opened = ["fork f", "another way", "it was longer", "and back", "home", "fork g"];
    assert_eq!(texts(&browser)[5..], opened);
    assert_eq!(browser.selected(), "another way", "it enters the fork, as for any row");
    browser.press("G l");
    assert_eq!(texts(&browser)[10..], ["fork g", "deeper", "found it"]);
    go_to(&mut browser, "deeper");
    browser.press("h h");
    assert_eq!(texts(&browser)[5..], opened, "closed again");
    go_to(&mut browser, "another way");
    browser.press("h h");
    assert_eq!(texts(&browser), ALONE);
    // Expanded forks stay expanded when the tree is reopened.
    browser.press("l G l esc j k l");
    assert!(texts(&browser).contains(&"deeper".to_string()) || texts(&browser).contains(&"another way".to_string()));
}

#[test]
fn changes_of_a_fork_entry_apply_to_its_file() {
    let files = Files::new();
    let before: Vec<String> = files.paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut browser = files.browse(110, 30);
    browser.press("G l");
    go_to(&mut browser, "it was longer");
    browser.press("m l w o r k s enter");
    assert_eq!(read(&files.paths[0]), before[0]);
    let added = read(&files.paths[1]);
    let added = added.strip_prefix(&before[1]).unwrap();
    assert!(added.contains("\"targetId\":\"a3\"") && added.contains("works"), "{added}");
    shows(&browser, "[works]");
    assert!(browser.selected().contains("it was longer"));
    browser.press("u");
    assert!(!browser.screen().contains("[works] "), "{}", browser.screen());
    // Its end is the place where that file continues.
    go_to(&mut browser, "home");
    browser.press("enter");
    let there = |path: &Path| path == files.paths[1];
    let resumed = |effect: &Effect| matches!(effect, Effect::Resume(Start { path, .. }) if there(path));
    if !browser.wants.iter().any(resumed) {
        shows(&browser, "Resume from this entry");
        browser.press("esc");
    }
    // A shared entry belongs to the open session.
    go_to(&mut browser, "the answer");
    browser.press("m l x enter");
    assert!(read(&files.paths[0]).len() > before[0].len());
}

#[test]
fn the_whole_family_is_one_tree_in_which_each_file_can_be_hidden() {
    let files = Files::new();
    let mut browser = files.browse(110, 30);
    browser.press("v m");
    let all = [
        "the question",
        "the answer",
        "go on here",
        "went on here",
        "the last word",
        "fork f",
        "another way",
        "it was longer",
        "fork g",
        "deeper",
        "found it",
        "and back",
        "home",
    ];
    let mut shown = texts(&browser);
    shown.sort();
    let mut wanted = all.map(String::from);
    wanted.sort();
    assert_eq!(shown, wanted);
    shows(&browser, "3 sessions");
    // The search covers all files.
    browser.press("/ f o u n d enter");
    assert_eq!(browser.selected(), "found it");
    browser.press("esc v s down down enter esc");
    assert!(!texts(&browser).contains(&"deeper".to_string()), "{:?}", texts(&browser));
    assert!(texts(&browser).contains(&"home".to_string()));
    browser.press("v m");
    assert_eq!(texts(&browser), ALONE);
}

#[test]
fn edits_of_a_fork_are_marked_in_the_whole_family() {
    let files = Files::new();
    let fork = std::fs::read_to_string(&files.paths[1]).unwrap();
    let edit = r#"{"type":"context_edit","id":"e1","parentId":"a5","targetId":"u1","replacement":null}"#;
    std::fs::write(&files.paths[1], format!("{fork}{edit}\n")).unwrap();
    let mut browser = files.browse(110, 30);
    let is_marked = |browser: &Browser| card(browser).iter().any(|line| line == "not sent to the model");
    browser.press("v m");
    go_to(&mut browser, "home");
    assert!(is_marked(&browser), "{:?}", card(&browser));
    go_to(&mut browser, "found it");
    assert!(!is_marked(&browser), "{:?}", card(&browser));
}

#[test]
fn the_session_of_an_entry_opens_and_esc_returns() {
    let files = Files::new();
    let mut browser = files.browse(110, 30);
    browser.press("v m");
    // The first row with that name belongs to the fork, which is titled by its first prompt.
    go_to(&mut browser, "deeper");
    browser.press("j g o");
    assert_eq!(browser.session().unwrap().path, files.paths[2]);
    assert_eq!(browser.selected(), "deeper");
    assert!(browser.model.tree.selected_fork().is_none());
    browser.press("g j");
    assert_eq!(browser.session().unwrap().path, files.paths[0]);
    assert_eq!(browser.selected(), "deeper", "the family is shown as before");
    go_to(&mut browser, "the answer");
    browser.press("g o");
    assert_eq!(browser.session().unwrap().path, files.paths[1], "the first other file with the entry");
    assert_eq!(browser.selected(), "the answer");
}

#[test]
fn unlinked_copies_are_offered() {
    let files = Files::new();
    let copy = files.paths[0].with_file_name("copy.jsonl");
    let text = std::fs::read_to_string(&files.paths[0]).unwrap();
    let (_, entries) = text.split_once('\n').unwrap();
    let header = Session::new("c").text();
    let added = Session::new("c").at(900).under("u6").assistant("a9", "only in the copy").text();
    let (_, added) = added.split_once('\n').unwrap();
    std::fs::write(&copy, format!("{}\n{entries}{added}", header.trim_end())).unwrap();
    let mut browser = files.browse(110, 30);
    browser.press("v m");
    assert!(!texts(&browser).contains(&"only in the copy".to_string()));
    browser.press("v s");
    shows(&browser, "same origin");
    browser.press("end down down down enter esc");
    assert!(texts(&browser).contains(&"only in the copy".to_string()), "{}", browser.screen());
}

#[test]
fn entries_with_the_same_id_and_different_text_are_flagged() {
    let files = Files::new();
    let text = std::fs::read_to_string(&files.paths[1]).unwrap();
    std::fs::write(&files.paths[1], text.replace("the answer", "the ANSWER")).unwrap();
    let mut browser = files.browse(160, 30);
    browser.press("v m");
    shows(&browser, " conflict");
    let both = texts(&browser);
    assert!(both.contains(&"the answer".to_string()) && both.contains(&"the ANSWER".to_string()));
}

#[test]
fn a_moved_parent_is_found_by_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old/2026-01-05_p.jsonl"), dir.path().join("sessions/2026-01-05_p.jsonl"));
    std::fs::create_dir_all(new.parent().unwrap()).unwrap();
    let parent = Session::new("p").user("u1", "the question").assistant("a1", "the answer");
    let fork = parent.clone().forked("f", &old, 100).user("u3", "another way");
    // A session that begins differently is unrelated despite the parent in its header.
    let stranger = Session::new("s").parent(&old).user("x1", "something else");
    std::fs::write(&new, parent.text()).unwrap();
    std::fs::write(new.with_file_name("fork.jsonl"), fork.text()).unwrap();
    std::fs::write(new.with_file_name("stranger.jsonl"), stranger.text()).unwrap();
    let browser = Browser::on(&[new.parent().unwrap()], 110, 40);
    let catalog = &browser.model.catalog;
    let [parent, fork, stranger] = ["2026-01-05_p.jsonl", "fork.jsonl", "stranger.jsonl"]
        .map(|name| catalog.key_of(&new.with_file_name(name)).unwrap());
    assert_eq!((catalog.families().parent(fork), catalog.families().parent(stranger)), (Some(parent), None));
    let mut browser = browser;
    browser.press("home");
    while browser.session().is_none_or(|session| session.header.id != "f") {
        browser.press("j");
    }
    shows(&browser, "moved from");
}

#[test]
fn forks_of_a_missing_parent_are_grouped() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dunce::canonicalize(dir.path()).unwrap();
    let path = |name: &str| dir.join(name);
    let parent = Session::new("p").user("u1", "the question").assistant("a1", "the answer");
    let fork = |id: &str, at: i64, text: &str| {
        parent.clone().forked(id, &path("2026_p.jsonl"), at).user(&format!("u{id}"), text).text()
    };
    std::fs::write(path("2026_p.jsonl"), parent.text()).unwrap();
    std::fs::write(path("f.jsonl"), fork("f", 100, "one way")).unwrap();
    std::fs::write(path("g.jsonl"), fork("g", 200, "another way")).unwrap();
    std::fs::write(path("x.jsonl"), Session::new("x").at(150).user("x1", "something else").text()).unwrap();
    let mut browser = Browser::on(&[&dir], 110, 30);
    browser.press("home");
    while browser.session().is_none_or(|session| session.header.id != "p") {
        browser.press("j");
    }
    browser.press("ctrl+d t");
    assert!(!path("2026_p.jsonl").exists());
    let rows = browser.screen();
    let lines: Vec<&str> = rows.lines().map(|line| line.split('│').next().unwrap().trim_end()).collect();
    let at =
        |text: &str| lines.iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text}\n{rows}"));
    assert!(lines[at("missing")].contains("the question"), "{rows}");
    assert!(
        at("missing") < at("another way") && at("another way") < at("one way") && at("one way") < at("something else"),
        "{rows}"
    );
    assert!(lines[at("one way")].contains("└─") && lines[at("another way")].contains("├─"), "{rows}");
    browser.press("home");
    while browser.model.sessions.selected_missing_parent().is_none() {
        browser.press("j");
    }
    shows(&browser, "In the trash. Press Enter to restore it.");
    browser.press("h");
    assert!(!browser.screen().contains("├─ ⋎"), "folded\n{}", browser.screen());
    browser.press("l j");
    assert_eq!(browser.session().unwrap().header.id, "g");
}

#[test]
fn hits_in_many_sessions_arrive_in_few_batches_with_progress() {
    let dir = tempfile::tempdir().unwrap();
    let parent = dir.path().join("parent.jsonl");
    let begun = Session::new("p").user("u1", "the question").assistant("a1", "the answer");
    std::fs::write(&parent, begun.clone().later(9000).user("u2", "needle first").text()).unwrap();
    for number in 0..100 {
        let fork = begun.clone().forked(&format!("f{number}"), &parent, number);
        let text = fork.user(&format!("x{number}"), "another needle").text();
        std::fs::write(dir.path().join(format!("fork{number}.jsonl")), text).unwrap();
    }
    let mut browser = Browser::on(&[dir.path()], 110, 30);
    browser.press("home j tab v m /").type_text("needl");
    let effects = browser.take(Msg::Key("e".parse().unwrap()));
    let finds = effects.into_iter().filter(|effect| matches!(effect, Effect::Ask(_, Work::Find { .. })));
    let replies: Vec<Msg> = finds.flat_map(|effect| browser.replies(effect)).collect();
    assert!(replies.len() < 20, "each batch rebuilds all rows: {}", replies.len());
    let Some(Msg::Reply(ticket, _)) = replies.first() else { panic!("there are hits") };
    let hits = Vec::new();
    let progress = Reply::EntriesFound { hits, is_first: false, is_last: false, progress: Some((40, 101)) };
    let ticket = ticket.clone();
    browser.send(Msg::Reply(ticket.clone(), progress));
    shows(&browser, "40 of 101 sessions");
    replies.into_iter().for_each(|reply| browser.send(reply));
    shows(&browser, "1/101");
    assert!(!browser.screen().contains("of 101 sessions"));
    browser.press("esc");
    assert!(!ticket.is_wanted());
}
