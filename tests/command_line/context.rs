//! `pitree context`: the model's context, as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use crate::command_line::json::check_unversioned;
use crate::command_line::pitree::Pitree;
use crate::common::home::repository;
use crate::common::session::Session;

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

/// A session with parallel calls, whose last answer has signed thinking.
fn session_with_calls() -> Session {
    let long = (1..=100).map(|line| format!("line {line} of a long output\n")).collect::<String>();
    let calls = json!([
        { "type": "text", "text": "I look." },
        { "type": "toolCall", "id": "call-a2", "name": "bash", "arguments": {} },
        { "type": "toolCall", "id": "call-x", "name": "bash", "arguments": {} },
    ]);
    let thinking = json!([
        { "type": "thinking", "thinking": "hm", "thinkingSignature": "s1" },
        { "type": "toolCall", "id": "call-a8", "name": "read", "arguments": {} },
    ]);
    Session::new("edited")
        .cwd("/w")
        .user("u1", "Look at it")
        .entry("a2", "message", format!("\"message\":{{\"role\":\"assistant\",\"content\":{calls}}}"))
        .result("r3", "a2", "bash", &long)
        .result("r4", "x", "bash", "short")
        .call("a5", "bash", &json!({}))
        .result("r6", "a5", "bash", &["key ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat())
        .user("u7", "Go on")
        .entry("a8", "message", format!("\"message\":{{\"role\":\"assistant\",\"content\":{thinking}}}"))
        .result("r9", "a8", "read", "text")
        .entry("b10", "message", "\"message\":{\"role\":\"bashExecution\",\"command\":\"ls\",\"output\":\"x\"}")
}

/// Returns the objects that a command prints beside the note that there is no pi.
fn planned(pitree: &Pitree, args: &[&str]) -> Vec<Value> {
    let run = pitree.run(args);
    assert!(run.code == 0 && run.err.contains("it may ignore the edits"), "{args:?}: {}", run.err);
    let objects: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    check_unversioned("context", &objects);
    objects
}

/// Returns the kinds of edits by entry, and the last line.
fn edits(objects: &[Value]) -> (Vec<(&str, &str)>, &Value) {
    let (last, edits) = objects.split_last().unwrap();
    (edits.iter().map(|one| (one["entryId"].as_str().unwrap(), one["edit"].as_str().unwrap())).collect(), last)
}

#[test]
fn calls_and_results_are_omitted_together() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session_with_calls());
    let path = path.to_str().unwrap();
    let plan = |options: &[&str]| planned(&pitree, &[&["context", path, "--dry-run", "--json"], options].concat());
    let of_result = plan(&["--omit", "r3"]);
    assert_eq!(edits(&of_result).0, [("a2", "replace"), ("r3", "omit")], "the other call stays");
    assert_eq!(edits(&plan(&["--omit", "r3", "--omit", "r4"])).0, [("a2", "replace"), ("r3", "omit"), ("r4", "omit")]);
    assert_eq!(edits(&plan(&["--omit", "r6"])).0, [("a5", "omit"), ("r6", "omit")], "nothing else is left");
    assert_eq!(
        edits(&plan(&["--omit", "a2", "u1"])).0,
        [("u1", "omit"), ("a2", "omit"), ("r3", "omit"), ("r4", "omit")]
    );
    assert_eq!(edits(&plan(&["--shorten", "bash>1kB"])).0, [("r3", "shorten")]);
    assert_eq!(edits(&plan(&["--keep-last", "1"])).0.len(), 6);
    let suggested = plan(&["--suggest"]);
    assert_eq!(edits(&suggested).0, [("r6", "replace")], "the secret");
    for (id, why) in [("r9", "without its call"), ("a8", "its thinking is signed"), ("b10", "a command run with `!`")] {
        let error = pitree.refuse(&["context", path, "--omit", id]);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn edits_go_to_a_fork_or_to_the_session_and_are_undone() {
    let pitree = Pitree::new();
    let file = pitree.write_session(&session_with_calls());
    let path = file.to_str().unwrap();
    let before = std::fs::read_to_string(&file).unwrap();
    let texts = |path: &str| -> Vec<Value> {
        let objects = pitree.objects(&["context", path, "--json"]);
        each(&objects, "text").into_iter().cloned().collect()
    };
    let original = texts(path);
    let made = planned(&pitree, &["context", path, "--omit", "r4", "--shorten", "r3", "--yes", "--json"]);
    let (of_entries, last) = edits(&made);
    assert_eq!(of_entries, [("a2", "replace"), ("r3", "shorten"), ("r4", "omit")]);
    let fork = last["path"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "the session stays as it was");
    let edited = texts(fork);
    assert!(
        edited.len() + 1 == original.len() && edited[2].as_str().unwrap().contains("[80 lines left out"),
        "{edited:?}"
    );
    let tokens = pitree.objects(&["context", fork, "--json"]).pop().unwrap()["tokens"].clone();
    assert_eq!(tokens, last["tokensAfter"]);
    pitree.run(&["undo"]);
    assert!(!Path::new(fork).exists());
    pitree.run(&["context", path, "--omit", "r4", "u7", "--here", "--yes"]);
    let appended = std::fs::read_to_string(&file).unwrap();
    assert!(appended.starts_with(&before) && appended[before.len()..].lines().count() == 3);
    assert_ne!(texts(path), original);
    pitree.run(&["undo"]);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&appended), "undo only appends");
    assert_eq!(texts(path), original);
    pitree.run(&["redo"]);
    assert_eq!(texts(path).len() + 2, original.len());
    let run = pitree.run(&["context", path, "--omit", "r6"]);
    assert!(run.code == 1 && run.err.contains("--yes"), "without a terminal nothing is asked or written: {}", run.err);
}

#[test]
fn edits_of_a_fork_do_not_keep_it_after_they_are_undone() {
    let pitree = Pitree::new();
    let file = pitree.write_session(&session_with_calls());
    let fork = pitree.run(&["fork", file.to_str().unwrap(), "r6"]).out;
    let fork = fork.trim_end();
    let edited = pitree.run(&["context", fork, "--omit", "u1", "r3", "r4", "--here", "--yes"]);
    assert_eq!(edited.code, 0, "{}", edited.err);
    let undone = pitree.run(&["undo"]).out;
    let text = std::fs::read_to_string(fork).unwrap();
    let last: Vec<&str> = text.lines().rev().take(4).collect();
    let ids = last.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned());
    assert!(ids.into_iter().all(|id| undone.contains(&id)), "it names the appended lines: {undone}");
    let undone = pitree.run(&["undo"]);
    assert!(!Path::new(fork).exists(), "all lines after the fork are pitree's: {}", undone.err);
}

#[test]
fn an_undo_respects_later_edits() {
    let pitree = Pitree::new();
    let file = pitree.write_session(&session_with_calls());
    let path = file.to_str().unwrap();
    let shorten = |id: &str| pitree.run(&["context", path, "--shorten", id, "--here", "--yes"]);
    shorten("r3");
    pitree.run(&["context", path, "--omit", "r3", "--here", "--yes"]);
    let error = pitree.refuse(&["undo", "1"]);
    assert!(error.contains("r3 was edited again"), "{error}");
    pitree.run(&["undo"]);
    let objects = pitree.objects(&["context", path, "--json"]);
    assert!(objects[2]["text"].as_str().unwrap().contains("left out"), "the earlier edit is in force again");
    pitree.run(&["undo", "1"]);
    let objects = pitree.objects(&["context", path, "--json"]);
    assert!(objects[2]["text"].as_str().unwrap().contains("line 50 "), "{}", objects[2]);
}
