//! `docs/json.md` against what the commands print: each field that is printed is described, and each that is described is
//! printed, unless it may be absent.

use std::collections::BTreeSet;

use serde_json::Value;

use super::pitree::{FIXTURES, Pitree};
use crate::common::home::json_lines;

/// The fields that a section of the page describes: those that are always there, and those that may be.
fn described(section: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let page = include_str!("../../docs/json.md");
    let head = format!("\n## {section}\n");
    let rest = page.split_once(&head).unwrap_or_else(|| panic!("no section {section}")).1;
    let table = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| `"));
    let names = table.flat_map(|line| line.split(" | ").next().unwrap().split('`').skip(1).step_by(2));
    let (may_be, always): (Vec<&str>, Vec<&str>) = names.partition(|name| name.starts_with('?'));
    let set = |names: Vec<&str>| names.into_iter().map(|name| name.trim_start_matches('?').to_owned()).collect();
    (set(always), set(may_be))
}

/// The fields of an object, those below with the names above them.
fn fields(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let name = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
                fields(value, &name, found);
                found.insert(name);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, above, found)),
        _ => {}
    }
}

fn holds(section: &str, runs: &[&[&str]]) {
    let (always, may_be) = described(section);
    let mut all = BTreeSet::new();
    for args in runs {
        let pitree = Pitree::new();
        let outcome = pitree.run(args);
        let objects = json_lines(&outcome.out);
        assert!(!objects.is_empty(), "{args:?}: {}", outcome.err);
        for object in objects {
            let mut found = BTreeSet::new();
            fields(&object, "", &mut found);
            let undescribed: Vec<_> =
                found.iter().filter(|&name| !always.contains(name) && !may_be.contains(name)).collect();
            assert!(undescribed.is_empty(), "{section} prints what docs/json.md does not describe: {undescribed:?}");
            let top = |name: &&String| !name.contains('.');
            let missing: Vec<_> = always.iter().filter(top).filter(|&name| !found.contains(name)).collect();
            assert!(missing.is_empty(), "{section} lacks {missing:?}: {object}");
            all.extend(found);
        }
    }
    // Paths that are no text, and pis that run, are those of other tests.
    let is_elsewhere = |name: &&String| {
        name.ends_with("Bytes") || name.starts_with("live.") || name.contains("pis.") || name.contains("silent.")
    };
    let never: Vec<_> = always.union(&may_be).filter(|name| !is_elsewhere(name) && !all.contains(*name)).collect();
    assert!(never.is_empty(), "docs/json.md describes what {section} does not print: {never:?}");
}

#[test]
fn the_page_on_json_describes_what_is_printed() {
    let talks = format!("{FIXTURES}/sessions/--home-dev-talk--");
    holds("ls --json", &[&["ls", "--json", "--demo"]]);
    holds("tree --json", &[&["tree", "--json", "--demo", "01a1ceea"]]);
    let show = ["show", "--json", "--demo", "01a1ceea", "0e1adbe7"];
    holds("show --json", &[&show, &["show", "--json", "--demo", "01a1ceea", "decision", "--chars", "5"]]);
    holds("search --json", &[&["search", "--json", "--demo", "jwt"], &["search", "--json", "--demo", "is:fork"]]);
    let compacted = format!("{talks}/talk-compacted.jsonl");
    let images = format!("{FIXTURES}/sessions/--home-dev-app--/images.jsonl");
    let context = ["context", "--json", "--all", &compacted];
    holds("context --json", &[&context, &["context", "--json", "--demo", "01a1ceea"], &["context", "--json", &images]]);
    holds("labels --json", &[&["labels", "--json", "--demo"]]);
    holds(
        "files --json",
        &[
            &["files", "--json", "--demo", "01a1ceea"],
            &["files", "--json", "--demo", "--project", "/home/demo/code/webshop"],
        ],
    );
    holds("live --json", &[&["live", "--json"]]);
}

#[test]
fn the_page_on_json_describes_how_a_session_is_resumed() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let line = json_lines(&pitree.print(&["resume", "branches", "--json"])).pop().unwrap();
    let (always, _) = described("resume --json");
    let mut found = BTreeSet::new();
    fields(&line, "", &mut found);
    assert_eq!(found, always);
}
