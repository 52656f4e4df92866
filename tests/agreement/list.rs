//! `pitree ls --json` against `SessionManager.listAll`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::agreement::world::{World, assert_same, golden};

const MEANT: &[&str] = &[
    // pi's list omits a session with one such message: it reads a property of null or of a missing message.
    "sessions/--home-dev-odd--/content-null-assistant.jsonl: only pitree lists it",
    "sessions/--home-dev-odd--/content-null-block.jsonl: only pitree lists it",
    "sessions/--home-dev-odd--/content-null-user.jsonl: only pitree lists it",
    "sessions/--home-dev-odd--/message-missing.jsonl: only pitree lists it",
    // pi lists these and then refuses to open them: the ID of their header is not a string.
    "sessions/--home-dev-odd--/not-a-session-id-missing.jsonl: only pi lists it",
    "sessions/--home-dev-odd--/not-a-session-id-number.jsonl: only pi lists it",
    // pi's list treats a single CR as a line break; pi's tree and pitree do not.
    "sessions/--home-dev-odd--/lone-cr.jsonl messageCount: pi 5, pitree 4",
    // `branchedFrom` of version 1 is the later `parentSession`.
    "sessions/--home-dev-old--/v1-branched-from.jsonl parentSession: pi null, \
     pitree \"/fixtures-root/sessions/--home-dev-old--/v1-linear.jsonl\"",
];

#[test]
fn lists_what_pi_lists() {
    let pi: Vec<BTreeMap<String, Value>> = serde_json::from_str(&golden("list.json")).unwrap();
    let pi: BTreeMap<&str, _> = pi.iter().map(|session| (session["path"].as_str().unwrap(), session)).collect();
    let pitree = World::new().list();
    let paths: BTreeSet<&str> = pi.keys().copied().chain(pitree.keys().map(String::as_str)).collect();
    let mut found = Vec::new();
    for path in paths {
        match (pi.get(path), pitree.get(path)) {
            (Some(pi), Some(pitree)) => {
                let fields = pi.iter().filter(|(field, value)| *field != "path" && pitree[*field] != **value);
                found.extend(
                    fields.map(|(field, value)| format!("{path} {field}: pi {value}, pitree {}", pitree[field])),
                );
            }
            (Some(_), None) => found.push(format!("{path}: only pi lists it")),
            (None, _) => found.push(format!("{path}: only pitree lists it")),
        }
    }
    assert_same(found, MEANT);
}
