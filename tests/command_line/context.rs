//! `pitree context`: the model's context, as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::home::repository;

fn fixture(path: &str) -> String {
    repository("fixtures/sessions").join(path).to_str().unwrap().into()
}

/// Returns a field of all objects except the last one.
fn each<'a>(objects: &'a [Value], field: &str) -> Vec<&'a Value> {
    objects[..objects.len() - 1].iter().map(|object| &object[field]).collect()
}

#[test]
fn each_message_is_an_object_and_the_last_line_is_a_summary() {
    let file = fixture("--home-dev-talk--/talk-compacted.jsonl");
    let objects = Pitree::new().objects(&["context", &file, "--json"]);
    let [first, second, .., last] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!((&first["role"], &first["from"]), (&json!("system"), &json!("system")));
    assert_eq!((&second["role"], &second["from"]), (&json!("user"), &json!("compaction")));
    assert_eq!(first["entryId"], second["entryId"], "the compaction has both");
    let text = second["text"].as_str().unwrap();
    assert!(text.starts_with("The conversation history") && text.ends_with("\n</summary>"), "{text}");
    assert_eq!(last["model"], json!({ "provider": "none", "modelId": "none-1" }));
    assert_eq!(last["tools"], json!(["read", "bash", "write", "codemode"]));
    assert!(last["tokens"] == 1160 && last["thinkingLevel"] == "low", "{last}");
    assert!(objects[..objects.len() - 1].iter().all(|one| one["tokens"].is_u64() && one.get("leftOut").is_none()));
}

#[test]
fn entries_have_standard_ids_and_omitted_messages_are_optional() {
    let pitree = Pitree::new();
    let file = fixture("--home-dev-app--/compaction-edits.jsonl");
    let at = pitree.objects(&["context", &file, "a2", "--json"]);
    assert!(each(&at, "entryId").contains(&&json!("a2")) && !each(&at, "entryId").contains(&&json!("a3")), "{at:?}");
    let all = pitree.objects(&["context", &file, "--all", "--json"]);
    let told = pitree.objects(&["context", &file, "--json"]);
    let sent: Vec<&Value> = all.iter().filter(|one| one.get("leftOut").is_none()).collect();
    assert_eq!(sent, told.iter().collect::<Vec<_>>());
    let gone = all.iter().filter_map(|one| one["leftOut"].as_str()).collect::<Vec<_>>();
    assert_eq!(gone, ["compacted", "omitted by a context edit", "superseded compaction", "empty"]);
    let run = pitree.run(&["context", &file, "nowhere"]);
    assert!(run.code == 2 && run.err.contains("no entry matches \"nowhere\""), "{}", run.err);
}

#[test]
fn calls_and_their_results_are_printed() {
    let file = fixture("--home-dev-talk--/talk.jsonl");
    let objects = Pitree::new().objects(&["context", &file, "c0000006", "--json"]);
    let [.., call, answer, _] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!(call["toolCalls"][0]["name"], "write");
    assert_eq!(call["toolCalls"][0]["arguments"], "{\"path\":\"fruit.txt\",\"content\":\"apple\\npear\\nplum\\n\"}");
    assert_eq!((&answer["role"], &answer["text"]), (&json!("toolResult"), &json!("No result provided")));
    assert_eq!(answer["entryId"], "c0000006", "pi says it because of the call there");
}

#[test]
fn the_table_has_sizes_and_a_sum() {
    let pitree = Pitree::new();
    let table = pitree.print(&["context", &fixture("--home-dev-app--/errors.jsonl"), "--all"]);
    let last = table.lines().last().unwrap();
    assert_eq!(last, "claude-sonnet-4-5 · thinking off · 4 messages · ~1,209 tokens · 8 not sent");
    assert!(table.contains("0  assistant   failed answer   529 overloaded"), "{table}");
    let sent = pitree.print(&["context", &fixture("--home-dev-app--/errors.jsonl"), "--ascii"]);
    assert_eq!(sent.lines().count(), 5);
    assert!(sent.is_ascii() && !sent.contains("failed"), "{sent}");
}

#[test]
fn old_files_have_no_ids_and_empty_files_no_messages() {
    let pitree = Pitree::new();
    let old = pitree.objects(&["context", &fixture("--home-dev-old--/v1-linear.jsonl"), "--json"]);
    assert!(old.len() > 2 && each(&old, "entryId").iter().all(|id| id.is_null()), "{old:?}");
    let file = fixture("--home-dev-app--/header-only.jsonl");
    let none = pitree.objects(&["context", &file, "--json"]);
    let expected = json!({ "model": null, "thinkingLevel": "off", "tokens": 0, "tools": [] });
    assert_eq!(none, [expected]);
    let run = pitree.run(&["context", &file]);
    assert_eq!((run.code, &*run.out), (0, "thinking off · 0 messages · ~0 tokens\n"));
    assert!(run.err.contains("the context is empty"), "{}", run.err);
    let gone = pitree.run(&["context", Path::new("gone.jsonl").to_str().unwrap()]);
    assert!(gone.code == 2 && gone.err.contains("cannot read gone.jsonl"), "{}", gone.err);
}
