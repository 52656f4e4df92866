//! The digests of `pitree ls` against the slow reader, including facts that pi's list does not contain.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::agreement::slow::{self, Reading, Session};
use crate::agreement::world::{World, assert_same};
use crate::common::home::{files_below, json_lines, repository};

/// Files with lines that serde_json cannot read.
const UNREADABLE: &[&str] = &[
    // Not JSON.
    "sessions/--home-dev-odd--/bom.jsonl",
    "sessions/--home-dev-odd--/garbage-before-header.jsonl",
    "sessions/--home-dev-odd--/not-a-session-text.jsonl",
    "sessions/--home-dev-odd--/not-json.jsonl",
    "sessions/--home-dev-odd--/torn-last-line.jsonl",
    "sessions/--home-dev-odd--/torn-with-newline.jsonl",
    "sessions/--home-dev-old--/v1-index-later.jsonl",
    // Two values on a line.
    "sessions/--home-dev-odd--/glued-header.jsonl",
    "sessions/--home-dev-odd--/glued-lines.jsonl",
    "sessions/--home-dev-odd--/lone-cr.jsonl",
    // Only JavaScript reads it.
    "sessions/--home-dev-odd--/deep-nesting.jsonl",
    "sessions/--home-dev-odd--/huge-number.jsonl",
    "sessions/--home-dev-odd--/invalid-utf8.jsonl",
    "sessions/--home-dev-odd--/lone-surrogate.jsonl",
];

fn facts(session: &Session) -> Value {
    let (branch_points, leaves) = session.branches();
    json!({
        "id": session.header["id"],
        "messageCount": session.message_count(),
        "entryCount": session.entries.len(),
        "labels": session.label_count(),
        "branchPoints": branch_points,
        "leaves": leaves,
    })
}

/// Compares a line of `ls --json` with the slow reader. Returns `true` if it could read the file.
fn check(path: &Path, listed: Option<&Value>) -> bool {
    match slow::read(path) {
        Reading::Unreadable => return false,
        Reading::NotASession => assert!(listed.is_none(), "{} is listed", path.display()),
        Reading::Session(session) => {
            let listed = listed.unwrap_or_else(|| panic!("{} is not listed", path.display()));
            for (fact, value) in facts(&session).as_object().unwrap() {
                assert_eq!(listed[fact], *value, "{fact} of {}", path.display());
            }
            for (fact, value) in [("cost", session.cost()), ("tokens", session.tokens())] {
                let listed = listed[fact].as_f64().unwrap();
                // Parsing and sums lose the last digit of numbers.
                assert!(
                    (listed - value).abs() <= 1e-9 * value.abs(),
                    "{fact} of {}: {listed}, {value}",
                    path.display()
                );
            }
        }
    }
    true
}

/// Returns `true` if a file is the session of a subagent, which the list omits.
fn is_of_subagent(file: &str) -> bool {
    file.contains("/run-")
}

#[test]
fn fixtures_match_the_slow_reader() {
    let world = World::new();
    let listed = world.list();
    let files: Vec<String> = world.files().into_iter().filter(|file| !is_of_subagent(file)).collect();
    let unreadable = files.iter().filter(|file| !check(&world.root().join(file), listed.get(*file)));
    assert_same(unreadable.cloned().collect(), UNREADABLE);
}

#[test]
fn samples_match_the_slow_reader() {
    let run = World::new().run(&["ls", "--demo", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let base = |path: &Path| path.file_name().unwrap().to_str().unwrap().rsplit('_').next().unwrap().to_owned();
    let mut listed = json_lines(&run.out);
    let samples = repository("assets/demo");
    let mut files = files_below(&samples);
    files.retain(|path| !is_of_subagent(&path.to_string_lossy().replace('\\', "/")));
    assert_eq!(listed.len(), files.len());
    listed.retain(|line| line["problems"].as_array().unwrap().is_empty());
    assert_eq!(listed.len(), files.len() - 1, "one sample is damaged");
    let mut all = BTreeMap::new();
    for path in files {
        let is_it = |line: &&Value| base(Path::new(line["path"].as_str().unwrap())) == base(&path);
        let Some(line) = listed.iter().find(is_it) else { continue };
        let Reading::Session(session) = slow::read(&path) else { panic!("{}", path.display()) };
        all.extend(session.known().unwrap());
        assert!(check(&path, Some(line)));
    }
    let own: f64 = listed.iter().map(|line| line["ownCost"].as_f64().unwrap()).sum();
    let once: f64 = all.values().sum();
    let twice: f64 = listed.iter().map(|line| line["cost"].as_f64().unwrap()).sum();
    assert!((own - once).abs() <= 1e-9 && once < twice, "{own}, {once}, {twice}");
}
