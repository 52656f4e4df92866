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
    assert_eq!(found("\"Batch changes to one file\" all:").len(), 13);
    assert_eq!(found("\"Batch changes to one file\"").len(), 0);
    // The second system message of a file contains the changes.
    let hits = talks(&["search", "all: \"Read file contents\" in:/home/dev/talk"]);
    let compacted = hits.iter().filter(|hit| hit["path"].as_str().unwrap().ends_with("talk-compacted.jsonl"));
    assert_eq!(compacted.count(), 4, "two system messages, two compactions");
    assert_eq!(found("all: \"green\\nblue\""), [""; 0]);
    assert_eq!(found("all: \"no such file or directory\""), ["talk-batch", "talk-failed", "talk-script"]);
}

/// Returns the output of a command for a fixture, which follows the first words.
fn print(command: &[&str], name: &str, more: &[&str]) -> String {
    let path = format!("{FIXTURES}/sessions/{name}.jsonl");
    let dir = path[..path.rfind('/').unwrap()].to_string();
    let dir: &[&str] = if command == ["stats"] || command == ["entries"] { &["--dir", &dir] } else { &[] };
    let outcome = Pitree::new().run(&[command, &[&*path], more, dir].concat());
    let is_quiet = outcome.err.is_empty() || outcome.err.starts_with("Redaction found no likely secrets.");
    assert!(outcome.code == 0 && is_quiet, "{command:?}: {}", outcome.err);
    outcome.out
}

#[test]
fn calls_that_never_ran_are_no_failures() {
    let batch = "--home-dev-talk--/talk-batch";
    let total = json_lines(&print(&["stats"], batch, &["--json"])).pop().unwrap();
    let counts = ["toolCalls", "toolFailures", "toolsNotRun"].map(|name| total[name].as_u64().unwrap());
    assert_eq!(counts, [5, 2, 3], "a command was stopped, a file is missing, and three calls never ran");
    let entries = json_lines(&print(&["entries"], batch, &[]));
    let count = |name: &str| entries.iter().filter(|entry| entry[name] == true).count();
    assert_eq!((count("failed"), count("notRun")), (2, 3));
    let prompt = format!("{FIXTURES}/sessions/{batch}.jsonl@c0000005");
    let diff = print(&["diff", "--json", &prompt], batch, &[]);
    assert_eq!(json_lines(&diff)[0]["b"]["errors"]["notRun"], 3, "{diff}");
}

#[test]
fn diagnostics_of_answers_are_shown_searched_and_exported() {
    assert_eq!(found("all:prefix_mismatch"), ["talk-diagnostics"]);
    let dropped = "OpenAI dropped 2 reasoning items: prefix_mismatch";
    let name = "--home-dev-talk--/talk-diagnostics";
    let export = print(&["export"], name, &["-o", "-"]).replace('\\', "");
    assert!(export.contains(dropped), "{export}");
    // Damaged ones are omitted.
    let others = print(&["export"], "--home-dev-app--/diagnostics", &["-o", "-"]).replace('\\', "");
    for text in [
        "anthropic_thread_fallback: 409 thread not found",
        "Anthropic dropped 1 thinking block: model_changed",
        "\n*(odd)*\n",
    ] {
        assert!(others.contains(text), "{others}");
    }
}

#[test]
fn a_model_without_images_gets_a_placeholder() {
    let (unseen, both) = ("--home-dev-talk--/talk-image-unseen", "--home-dev-talk--/talk-image");
    let note = "none-1 does not support images; it saw a placeholder instead";
    let export = print(&["export"], unseen, &["-o", "-"]);
    assert!(export.contains(note), "{export}");
    let placeholder = "(tool image omitted: model does not support images)";
    let context = print(&["context"], unseen, &[]);
    assert!(context.contains(placeholder) && !context.contains("image]"), "{context}");
    // The model of that entry still gets the placeholder, the last model gets both images.
    let first = print(&["context"], both, &["c0000008"]);
    assert!(first.contains(placeholder) && !first.contains("1 image]"), "{first}");
    let last = print(&["context"], both, &[]);
    assert!(!last.contains(placeholder) && last.matches("[1 image]").count() == 2, "{last}");
}
