//! A journal written by a newer pitree: nothing in it is lost, reinterpreted, or undone by guessing.

use std::fs;
use std::path::{Path, PathBuf};

use pitree::changes::journal::JournalRecord;
use pitree::changes::{Request, to_the_end};

use crate::changes::world::{View, World, rename, session};

const SHAPE: &[(usize, u8)] = &[(0, 4), (0, 3), (0, 4)];

/// A change of an unknown type that was made, with an extra field in the line and in the change.
const MERGE: &str = r#"{"number":2,"time":7,"state":"begun","by":"x","change":{"kind":"merge","path":"/m.jsonl","of":["/a"]}}
{"number":2,"time":8,"state":"done","seal":{"of":2}}
"#;

fn journal(world: &World) -> PathBuf {
    world.dir.join("state/journal.jsonl")
}

fn add(world: &World, lines: &str) {
    let path = journal(world);
    let text = fs::read_to_string(&path).unwrap_or_default() + lines;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a session with a name and a merge after it.
fn merged() -> (World, PathBuf) {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    world.make(&rename(&path, "one")).unwrap();
    add(&world, MERGE);
    (world, path)
}

fn name(path: &Path) -> Option<String> {
    View::of(path).name
}

fn history(world: &World) -> Vec<(u64, String, String)> {
    let told = |record: &JournalRecord| (record.number, record.change.describe(), format!("{:?}", record.state));
    world.changes.history().unwrap().iter().map(told).collect()
}

fn undo(world: &World, number: u64) -> anyhow::Result<pitree::changes::ChangeResult> {
    world.make(&Request::Undo { number: Some(number) })
}

#[test]
fn an_unknown_change_is_kept_and_counted() {
    let (world, path) = merged();
    let before = fs::read_to_string(journal(&world)).unwrap();
    world.make(&rename(&path, "two")).unwrap();
    let numbers: Vec<u64> = world.changes.history().unwrap().iter().map(|record| record.number).collect();
    assert_eq!(numbers, [1, 2, 3], "the number of the unknown change is not reused");
    assert_eq!(history(&world)[1], (2, "made by a newer pitree (\"merge\")".into(), "Done".into()));
    // Its next state, in a later run of the newer pitree, belongs to this change only.
    add(&world, "{\"number\":2,\"time\":9,\"state\":\"undone\"}\n");
    let states: Vec<String> = history(&world).into_iter().map(|(_, _, state)| state).collect();
    assert_eq!(states, ["Done", "Undone", "Done"]);
    assert!(fs::read_to_string(journal(&world)).unwrap().starts_with(&before), "nothing of it is rewritten");
}

#[test]
fn undo_stops_at_an_unknown_change_but_skips_it_by_number() {
    let (world, path) = merged();
    let error = format!("{:#}", world.undo().unwrap_err());
    assert!(error.contains("change 2") && error.contains("newer pitree (\"merge\")"), "{error}");
    assert_eq!(name(&path).as_deref(), Some("one"), "nor is what lies before it undone");
    let dry = format!(
        "{:#}",
        world.changes.clone().dry_run().make(&Request::Undo { number: None }, 0, &mut to_the_end).unwrap_err()
    );
    assert_eq!(dry, error);
    assert!(format!("{:#}", undo(&world, 2).unwrap_err()).contains("newer pitree (\"merge\")"));
    assert_eq!(history(&world)[1].2, "Done", "it is not passed over");

    world.make(&rename(&path, "two")).unwrap();
    world.undo().unwrap();
    assert_eq!(name(&path).as_deref(), Some("one"), "a later one can be undone");
    assert_eq!(format!("{:#}", world.undo().unwrap_err()), error);
    undo(&world, 1).unwrap();
    assert_eq!(name(&path), None, "an earlier one as well, if it is wanted");
    let error = format!("{:#}", world.undo().unwrap_err());
    assert!(error.contains("change 2"), "{error}");
}

#[test]
fn an_undone_unknown_change_does_not_stop_undo() {
    for state in ["undone", "dropped", "overtaken"] {
        let (world, path) = merged();
        add(&world, &format!("{{\"number\":2,\"time\":9,\"state\":\"{state}\"}}\n"));
        world.undo().unwrap();
        assert_eq!(name(&path), None, "{state}");
    }
}

#[test]
fn redo_stops_at_an_unknown_change() {
    let (world, _) = merged();
    add(&world, "{\"number\":2,\"time\":9,\"state\":\"undone\"}\n");
    let error = format!("{:#}", world.make(&Request::Redo).unwrap_err());
    assert!(error.contains("change 2") && error.contains("newer pitree"), "{error}");
    assert_eq!(history(&world)[1].2, "Undone");
}

#[test]
fn a_group_with_an_unknown_change_is_not_undone() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    world.make(&rename(&path, "one")).unwrap();
    add(&world, &MERGE.replace("\"by\"", "\"group\":1,\"by\""));
    let error = format!("{:#}", world.undo().unwrap_err());
    assert!(error.contains("change 2"), "{error}");
    add(
        &world,
        r#"{"number":3,"time":7,"state":"done","group":2,"change":{"kind":"trash","path":"/gone","bytes":1,"link":false}}"#,
    );
    let error = format!("{:#}", world.undo().unwrap_err());
    assert!(error.contains("change 3") || error.contains("/gone"), "{error}");
    assert_eq!(name(&path).as_deref(), Some("one"));
}

#[test]
fn an_interrupted_unknown_change_is_left_alone() {
    let (world, _) = merged();
    for state in ["begun", "undoing", "redoing"] {
        add(&world, &format!("{{\"number\":2,\"time\":9,\"state\":\"{state}\"}}\n"));
        let before = fs::read(journal(&world)).unwrap();
        let error = format!("{:#}", world.undo().unwrap_err());
        assert!(error.contains("change 2"), "{error}");
        assert_eq!(fs::read(journal(&world)).unwrap(), before, "{state}");
    }
}

#[test]
fn an_unknown_state_of_a_known_change_is_kept_and_stops_undo() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    world.make(&rename(&path, "one")).unwrap();
    world.make(&rename(&path, "two")).unwrap();
    add(&world, "{\"number\":2,\"time\":9,\"state\":\"archived\",\"where\":\"/x\"}\n");
    for request in [Request::Undo { number: None }, Request::Undo { number: Some(2) }] {
        let error = format!("{:#}", world.make(&request).unwrap_err());
        assert!(error.contains("change 2") && error.contains("newer pitree"), "{error}");
    }
    assert_eq!(name(&path).as_deref(), Some("two"));
    undo(&world, 1).unwrap_err(); // the name has changed since: superseded, not guessed
    add(&world, "{\"number\":2,\"time\":9,\"state\":\"done\"}\n");
    world.undo().unwrap();
    assert_eq!(name(&path).as_deref(), Some("one"));
}

#[test]
fn a_known_change_type_with_an_unknown_format_is_unknown() {
    let (world, path) = merged();
    add(&world, "{\"number\":3,\"time\":9,\"state\":\"done\",\"change\":{\"kind\":\"name\",\"paths\":[\"/x\"]}}\n");
    assert_eq!(history(&world)[2].1, "made by a newer pitree (\"name\")");
    world.make(&rename(&path, "two")).unwrap();
    assert_eq!(history(&world)[3].0, 4);
}

#[test]
fn a_journal_without_a_version_is_continued() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    world.make(&rename(&path, "one")).unwrap();
    let text = fs::read_to_string(journal(&world)).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    assert_eq!(first, "{\"journal\":\"pitree\",\"version\":1}");
    fs::write(journal(&world), rest).unwrap();
    world.make(&rename(&path, "two")).unwrap();
    assert!(fs::read_to_string(journal(&world)).unwrap().starts_with(rest));
    world.undo().unwrap();
    world.undo().unwrap();
    assert_eq!(name(&path), None);
}

#[test]
fn a_journal_of_a_newer_version_is_read_but_not_written() {
    let (world, path) = merged();
    let text = fs::read_to_string(journal(&world)).unwrap();
    // The first line or a later line declares the newer version.
    let newer = "{\"journal\":\"pitree\",\"version\":2}\n";
    for text in [newer.to_string() + text.split_once('\n').unwrap().1, text.clone() + newer + "{\"what\":1}\n{\"torn"] {
        fs::write(journal(&world), &text).unwrap();
        let before = fs::read(&path).unwrap();
        let dry = world.changes.clone().dry_run();
        for request in [rename(&path, "two"), Request::Undo { number: None }, Request::Undo { number: Some(1) }] {
            for result in [world.make(&request), dry.make(&request, 0, &mut to_the_end)] {
                let error = format!("{:#}", result.unwrap_err());
                assert!(error.contains("version 2") && error.contains("journal.jsonl"), "{error}");
            }
        }
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_to_string(journal(&world)).unwrap(), text);
        assert_eq!(world.changes.history().unwrap().len(), 2);
    }
}

#[test]
fn change_numbers_are_never_reused() {
    let world = World::new();
    let path = world.write("s.jsonl", session(SHAPE));
    // The line that started change 5 is lost; its state line is not.
    add(&world, "{\"number\":5,\"time\":9,\"state\":\"done\"}\n{\"number\":4,\"ti\n");
    world.make(&rename(&path, "one")).unwrap();
    assert_eq!(history(&world)[0].0, 6);
    add(&world, &format!("{{\"number\":{},\"time\":9,\"state\":\"done\"}}\n", u64::MAX));
    assert!(world.make(&rename(&path, "two")).is_err(), "and there is an end to numbers");
    assert_eq!(name(&path).as_deref(), Some("one"));
}
