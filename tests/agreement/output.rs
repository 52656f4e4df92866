//! Output contains no terminal control sequences, whatever a file contains.

use pitree::base::text::is_unsafe;

use crate::agreement::world::{Outcome, World};
use crate::common::effort::sample;

fn assert_safe(run: &Outcome, what: &str) {
    for (stream, text) in [("stdout", &run.out), ("stderr", &run.err)] {
        let found = text.lines().find(|line| line.contains(is_unsafe));
        assert_eq!(found, None, "{what}, {stream}");
    }
}

#[test]
fn lists_are_safe() {
    let world = World::new();
    for args in [&[][..], &["--json"], &["--subagents"], &["--subagents", "--json"]] {
        let run = world.ls(args);
        assert!(run.out.lines().count() > 100, "{args:?}: {}", run.err);
        assert_safe(&run, &format!("ls {args:?}"));
    }
}

#[test]
fn trees_are_safe() {
    let world = World::new();
    let files = world.files();
    assert!(files.len() > 100, "{}", files.len());
    let all = [&["--json"][..], &["--filter", "all"], &["--filter", "outline"], &["--ascii"]];
    let cases: Vec<_> = files.iter().flat_map(|file| all.map(|args| (file, args))).collect();
    // Not a multiple of the number of arguments, so that each of them is tried.
    for (file, args) in sample(cases, 3) {
        let run = world.run(&[&["tree", file], args].concat());
        assert!(matches!(run.code, 0 | 2), "{file} {args:?}");
        assert_safe(&run, &format!("tree {file} {args:?}"));
    }
}

#[test]
fn json_keeps_the_original_text() {
    let world = World::new();
    let tree = world.tree("sessions/--home-dev-odd--/control-characters.jsonl");
    let text: String = tree.iter().filter_map(|entry| entry["text"].as_str()).collect();
    assert!(text.contains("\u{1b}[31m") && text.contains('\u{202e}') && text.contains('\0'), "{text:?}");
}
