//! `pitree tree --filter` against the rows of pi's `/tree`.

use pitree::base::text::clean;

use crate::agreement::world::{World, assert_same, golden};
use crate::common::home::{files_below, repository};

const MODES: [&str; 5] = ["default", "no-tools", "user-only", "labeled-only", "all"];

const LEAF: &str = "  ← leaf";

/// pi does not count an entry that is its own parent as a root for the indentation, but draws it as one.
const INDENTED_OTHERWISE: &str = "--home-dev-odd--/parent-is-itself";

const MEANT: &[&str] = &[
    // pi shows no text for unknown types.
    "--home-dev-odd--/unknown-types: pi '•', pitree '• [checkpoint]'",
    "--home-dev-odd--/unknown-types: pi '•', pitree '• [no type]'",
    "--home-dev-odd--/unknown-types: pi '•', pitree '• [telemetry]'",
    // JavaScript's `undefined` for a missing role, and an invalid role.
    "--home-dev-odd--/role-missing: pi '• [undefined]', pitree '• [no role]'",
    "--home-dev-odd--/role-missing: pi '• [5]', pitree '• [no role]'",
    // pi never shows costs outside the conversation.
    "--home-dev-app--/usage-entries: only pitree draws '• [usage: claude-haiku-4-5 $0.006]'",
    "--home-dev-app--/usage-entries: only pitree draws '• [usage: text-embedding-3-small $0.000]'",
    // Damage is marked.
    "--home-dev-odd--/id-missing: pi '└─ user: I have no id', pitree '└─ ⚠ user: I have no id'",
    "--home-dev-odd--/orphan: pi 'user: My parent is lost', pitree '⚠ user: My parent is lost'",
    "--home-dev-odd--/orphan-leaf: pi '• user: My parent is lost', pitree '• ⚠ user: My parent is lost'",
    "--home-dev-odd--/parent-is-itself: pi 'user: My own parent', pitree '⚠ user: My own parent'",
    "--home-dev-odd--/parent-odd: pi 'user: A number', pitree '⚠ user: A number'",
    "--home-dev-odd--/parent-odd: pi 'user: An empty text', pitree '⚠ user: An empty text'",
];

/// Returns the rows of each mode.
fn sections(golden: &str) -> Vec<(&str, Vec<String>)> {
    let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
    // `lines` would remove a CR at the end of a row.
    for row in golden.strip_suffix('\n').unwrap().split('\n') {
        match (row.strip_prefix("## ").filter(|mode| MODES.contains(mode)), sections.last_mut()) {
            (Some(mode), _) => sections.push((mode, Vec::new())),
            (None, Some((_, rows))) => rows.push(clean(row).into_owned()),
            (None, None) => assert!(row.is_empty(), "a row before the first mode: {row}"),
        }
    }
    sections
}

/// Returns `true` for rows that only pitree draws.
fn is_extra(row: &str) -> bool {
    row.contains("[usage: ")
}

#[test]
fn draws_what_pi_draws() {
    let world = World::new();
    let mut found = Vec::new();
    for path in files_below(&repository("fixtures/golden/rows")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let file = name.replacen("__", "/", 1);
        let place = if file.starts_with("flat/") { format!("{file}.jsonl") } else { format!("sessions/{file}.jsonl") };
        let golden = golden(&format!("rows/{name}.txt"));
        let sections = sections(&golden);
        assert!(sections.iter().map(|(mode, _)| *mode).eq(MODES), "{file}");
        for (mode, pi) in &sections {
            let run = world.run(&["tree", &place, "--filter", mode]);
            assert_eq!(run.code, 0, "{file} {mode}: {}", run.err);
            let pitree = run.out.lines().map(|row| row.strip_suffix(LEAF).unwrap_or(row).trim_end());
            let (extra, pitree): (Vec<&str>, Vec<&str>) = pitree.partition(|row| is_extra(row));
            found.extend(extra.iter().map(|row| format!("{file}: only pitree draws '{row}'")));
            assert_eq!(pi.len(), pitree.len(), "{file} {mode}: pi {pi:#?}, pitree {pitree:#?}");
            let indented_otherwise = file == INDENTED_OTHERWISE;
            for (pi, pitree) in pi.iter().zip(pitree) {
                let (pi, pitree) =
                    if indented_otherwise { (pi.trim_start(), pitree.trim_start()) } else { (&**pi, pitree) };
                if pi != pitree {
                    found.push(format!("{file}: pi '{pi}', pitree '{pitree}'"));
                }
            }
        }
    }
    assert_same(found, MEANT);
}

#[test]
fn marks_the_leaf_once() {
    let world = World::new();
    for file in ["plain", "branches", "label-entry-leaf"] {
        let run = world.run(&["tree", &format!("sessions/--home-dev-app--/{file}.jsonl"), "--filter", "all"]);
        assert_eq!(run.out.lines().filter(|row| row.ends_with(LEAF)).count(), 1, "{file}");
    }
}
