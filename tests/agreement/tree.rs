//! `pitree tree --json` against `SessionManager.open`, `getTree` and `getBranch`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::agreement::world::{World, assert_same, golden};

const MEANT: &[&str] = &[
    // IDs are always strings in pitree's JSON.
    "sessions/--home-dev-odd--/id-number.jsonl entry 2 id: pi 7, pitree \"7\"",
    "sessions/--home-dev-odd--/id-number.jsonl entry 3 parentId: pi 7, pitree \"7\"",
    "sessions/--home-dev-odd--/parent-odd.jsonl entry 3 parentId: pi 5, pitree \"5\"",
    // A field of an invalid type is treated as missing.
    "sessions/--home-dev-odd--/parent-odd.jsonl entry 5 parentId: pi false, pitree null",
    "sessions/--home-dev-odd--/role-missing.jsonl entry 3 role: pi 5, pitree null",
    "sessions/--home-dev-odd--/time-garbage.jsonl entry 1 timestamp: pi {}, pitree null",
    "sessions/--home-dev-odd--/unknown-types.jsonl entry 6 type: pi 12, pitree null",
];

#[test]
fn links_entries_as_pi_does() {
    let world = World::new();
    let mut golden: BTreeMap<String, Vec<Value>> = serde_json::from_str(&golden("tree.json")).unwrap();
    golden.remove("refused");
    let mut found = Vec::new();
    for (file, pi) in &golden {
        let pitree = world.tree(file);
        assert_eq!(pitree.len(), pi.len(), "{file}");
        for (at, (pi, pitree)) in pi.iter().zip(&pitree).enumerate() {
            let (pi, pitree) = (pi.as_object().unwrap(), pitree.as_object().unwrap());
            assert!(pi.keys().eq(pitree.keys()), "{file}");
            for (field, value) in pi.iter().filter(|(field, value)| pitree[*field] != **value) {
                found.push(format!("{file} entry {at} {field}: pi {value}, pitree {}", pitree[field]));
            }
        }
    }
    assert_same(found, MEANT);
}

#[test]
fn rejects_what_pi_rejects() {
    let world = World::new();
    let golden: Value = serde_json::from_str(&golden("tree.json")).unwrap();
    let refused = golden["refused"].as_array().unwrap();
    assert!(refused.len() > 3, "{refused:?}");
    for file in refused {
        let run = world.run(&["tree", file.as_str().unwrap()]);
        assert_eq!((run.code, &*run.out), (2, ""), "{file}");
        assert!(run.err.contains("is not a pi session"), "{file}: {}", run.err);
    }
}

#[test]
fn an_empty_file_is_not_a_session() {
    // pi creates a new session from it.
    let run = World::new().run(&["tree", "sessions/--home-dev-odd--/empty.jsonl"]);
    assert_eq!((run.code, &*run.out), (2, ""));
    assert!(run.err.contains("is not a pi session"), "{}", run.err);
}
