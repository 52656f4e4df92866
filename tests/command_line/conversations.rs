//! Sessions in the format of pi 1.x (`fixtures/sessions/--home-dev-talk--`): the new fields are searched and listed.

use serde_json::Value;

use super::pitree::{FIXTURES, Pitree};
use crate::common::home::json_lines;

fn talks(args: &[&str]) -> Vec<Value> {
    let dir = format!("{FIXTURES}/sessions/--home-dev-talk--");
    let outcome = Pitree::new().run(&[args, &["--json", "--dir", &dir]].concat());
    let found: Vec<Value> = json_lines(&outcome.out).into_iter().filter(|object| object["type"] != "end").collect();
    assert_eq!((outcome.err.as_str(), outcome.code == 1), ("", found.is_empty()), "{args:?}");
    found
}

/// Returns the names of the files that match a query.
fn found(query: &str) -> Vec<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap().trim_end_matches(".jsonl").to_string();
    let mut files: Vec<String> =
        talks(&["search", query]).iter().map(|hit| name(hit["path"].as_str().unwrap())).collect();
    files.sort();
    files.dedup();
    files
}

#[test]
fn tool_calls_of_a_script_are_found() {
    assert_eq!(found("file:colours.txt"), ["talk-script"]);
    assert_eq!(found("edited:colours.txt"), ["talk-script"]);
    assert_eq!(found("edited:nowhere.txt"), [""; 0]);
    assert_eq!(found("tool:edit"), ["talk", "talk-script"]);
    assert_eq!(found("file:nowhere.txt"), ["talk-failed", "talk-script"]);
    let files = talks(&["files"]);
    let colours = files.iter().find(|file| file["path"].as_str().unwrap().ends_with("colours.txt")).unwrap();
    assert_eq!((&colours["reads"], &colours["changes"]), (&1.into(), &2.into()), "{colours}");
}

#[test]
fn models_are_found_by_provider_name() {
    assert_eq!(found("model:none-1-2026"), ["talk"]);
    assert_eq!(found("model:none-2"), ["talk"]);
}

#[test]
fn all_searches_system_messages() {
    assert_eq!(found("\"Batch changes to one file\" all:").len(), 9);
    assert_eq!(found("\"Batch changes to one file\"").len(), 0);
    // The second system message of a file contains the changes.
    let hits = talks(&["search", "all: \"Read file contents\" in:/home/dev/talk"]);
    let compacted = hits.iter().filter(|hit| hit["path"].as_str().unwrap().ends_with("talk-compacted.jsonl"));
    assert_eq!(compacted.count(), 4, "two system messages, two compactions");
    assert_eq!(found("all: \"green\\nblue\""), [""; 0]);
    assert_eq!(found("all: \"no such file or directory\""), ["talk-failed", "talk-script"]);
}
