//! Exports of hostile sessions: markup, templates, Unicode and URL tricks in every field. `scripts/browser/run` opens the
//! pages in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser};
use regex::Regex;
use serde_json::{Value, json};

use crate::command_line::pitree::{Pitree, samples};
use crate::common::effort;
use crate::common::home::repository;
use crate::common::session::Session;

/// A text that a page shows twice per branch.
const MARK: &str = "findable";

fn texts() -> Vec<String> {
    serde_json::from_str(include_str!("../common/hostile.json")).unwrap()
}

/// Returns a session that has a text in every field, with two branches.
fn session(text: &str) -> String {
    let id = |name: &str| format!("{name} {text}");
    let message = |at: &str, parent: &str, message: Value| json!({"type": "message", "id": id(at), "parentId": id(parent), "timestamp": text, "message": message});
    let entry = |kind: &str, at: &str, parent: &str, fields: Value| {
        let mut entry =
            json!({"type": kind, "id": id(at), "parentId": id(parent), "timestamp": "2026-01-05T09:00:00.000Z"});
        entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        entry
    };
    let call = |name: &str, arguments: Value| json!({"type": "toolCall", "id": id(name), "name": name, "arguments": arguments});
    let result = |at: &str, parent: &str, call: &str| {
        let content = json!([{"type": "text", "text": text}, {"type": "image", "data": text, "mimeType": text}]);
        let result = json!({"role": "toolResult", "toolCallId": id(call), "toolName": text, "content": content, "details": {"diff": format!("-{text}\n+{text}")}});
        message(at, parent, result)
    };
    let calls = json!([
        {"type": "thinking", "thinking": text, "thinkingSignature": text},
        {"type": "text", "text": text},
        {"type": "text", "text": format!("- {text}\n\n{text}")},
        {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png\" onerror=\"globalThis.hacked=1"},
        {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"},
        call("bash", json!({"command": format!("echo {text}\n{text}")})),
        call("edit", json!({"path": text, "edits": [{"oldText": text, "newText": format!("{text} {text}")}]})),
        call("write", json!({"path": format!("{text}.html"), "content": text})),
        call(text, json!({text: text})),
        {"type": text, "value": text},
    ]);
    let lines = [
        json!({"type": "session", "version": 3, "id": format!("s{text}"), "timestamp": text, "cwd": text}),
        entry("model_change", "model", "none", json!({"provider": text, "modelId": text})),
        message(
            "system",
            "model",
            json!({"role": "system", "content": text, "sections": {text: text}, "toolsAdded": [{"name": text, "description": text}]}),
        ),
        message("prompt", "system", json!({"role": "user", "content": format!("{MARK} {text}")})),
        message("calls", "prompt", json!({"role": "assistant", "model": text, "content": calls, "errorMessage": text})),
        result("r1", "calls", "bash"),
        result("r2", "r1", "edit"),
        result("r3", "r2", text),
        result("r4", "r3", "nowhere"),
        message("shell", "r4", json!({"role": "bashExecution", "command": text, "output": text, "exitCode": 1})),
        message("role", "shell", json!({"role": text, "content": text})),
        entry("custom", "custom", "role", json!({"customType": text, "data": {text: text}})),
        entry("custom_message", "note", "custom", json!({"customType": text, "content": text, "display": true})),
        entry(
            "compaction",
            "compaction",
            "note",
            json!({"summary": text, "firstKeptEntryId": id("note"), "tokensBefore": 7}),
        ),
        entry("branch_summary", "summary", "compaction", json!({"summary": text, "fromId": text})),
        entry(text, "unknown", "summary", json!({text: text})),
        message("one", "unknown", json!({"role": "user", "content": format!("First {MARK} {text}")})),
        message("other", "unknown", json!({"role": "user", "content": format!("Second {MARK} {text}")})),
        message("answer", "other", json!({"role": "assistant", "content": [{"type": "text", "text": text}]})),
        entry("session_info", "name", "answer", json!({"name": text})),
        entry("label", "label", "name", json!({"targetId": id("answer"), "label": text})),
    ];
    lines.map(|line| line.to_string()).join("\n") + "\n"
}

/// Exports a session and returns the text of the file.
fn exported(pitree: &Pitree, session: &Path, options: &[&str]) -> String {
    let made = pitree.home().join("made");
    let args = ["export", session.to_str().unwrap(), "--force", "--thinking", "--images", "-o", made.to_str().unwrap()];
    let run = pitree.run(&[&args, options].concat());
    assert_eq!(run.code, 0, "{}: {}", session.display(), run.err);
    fs::read_to_string(made).unwrap()
}

#[test]
fn markdown_of_hostile_sessions_has_no_html_of_theirs() {
    let pitree = Pitree::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for text in effort::sample(texts(), 3) {
        let path = pitree.write("s.jsonl", &session(&text));
        for scope in ["--tree", "--context"] {
            let out = exported(&pitree, &path, &["-f", "md", scope]);
            let mut folds = 0;
            for event in Parser::new_ext(&out, options) {
                let (Event::Html(html) | Event::InlineHtml(html)) = event else { continue };
                let inner =
                    html.trim().strip_prefix("<details><summary>").and_then(|html| html.strip_suffix("</summary>"));
                match (html.trim(), inner) {
                    ("</details>", _) => folds -= 1,
                    ("<!-- -->", _) => {}
                    (_, Some(inner)) => {
                        folds += 1;
                        let inner = inner.replacen("<b>", "", 1).replacen("</b>", "", 1);
                        assert!(!inner.contains('<'), "{text}: {html}");
                    }
                    _ => panic!("{text}: {html}"),
                }
                // A run of tools contains its calls.
                assert!((0..=2).contains(&folds), "{text}: folds are balanced");
            }
            assert_eq!(folds, 0, "{text}: {out}");
        }
    }
}

#[test]
fn pages_of_hostile_sessions_have_only_known_elements() {
    let pitree = Pitree::new();
    let known = "!doctype html head meta title style body main header nav h1 h2 h3 h4 h5 h6 dl dt dd article p a b small i em strong s \
                 details summary pre code div ul ol li table tr th td blockquote hr img ins del footer span script";
    let known: Vec<&str> = known.split(' ').collect();
    let attributes = "charset http-equiv content name lang class id data-up href rel alt src start aria-label open";
    let attributes: Vec<&str> = attributes.split(' ').collect();
    for text in effort::sample(texts(), 3) {
        let path = pitree.write("s.jsonl", &session(&text));
        let page = exported(&pitree, &path, &["-f", "html", "--tree"]);
        let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
        let script = page.split_once("\n<script>").unwrap().1.split_once("</script>").unwrap().0;
        let rest = page.replace(style, "").replace(script, "");
        assert_eq!(rest.matches("<script>").count(), 1, "{text}");
        for tag in rest.split('<').skip(1).map(|tag| tag.split_once('>').unwrap().0) {
            let mut words = tag.trim_start_matches('/').splitn(2, ' ');
            let name = words.next().unwrap();
            assert!(known.contains(&name), "{text}: <{tag}>");
            let values = words.next().unwrap_or_default();
            let is_safe =
                |address: &str| ["https://", "http://", "mailto:", "#"].iter().any(|start| address.starts_with(start));
            for (name, value) in attributes_of(values) {
                assert!(name == "html" || attributes.contains(&name), "{text}: <{tag}>");
                assert!(name != "href" || is_safe(value), "{text}: <{tag}>");
            }
        }
        assert!(!rest.contains(|c: char| c.is_control() && !"\n\t".contains(c)), "{text}");
    }
}

/// Returns the names and values of attributes. Values without quotes contain only plain characters.
fn attributes_of(mut rest: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => value.split_once(' ').unwrap_or((value, "")),
        };
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        assert!(is_plain || rest[name.len()..].starts_with("=\""), "{rest}");
        found.push((name, value));
        rest = after.trim_start();
    }
    found
}

/// Writes pages for `scripts/browser/run` to the directory in `PITREE_PAGES`.
#[test]
#[ignore = "scripts/browser/run calls it"]
fn writes_pages_for_the_browser() {
    let pitree = Pitree::new();
    let dir = PathBuf::from(std::env::var_os("PITREE_PAGES").unwrap());
    for (at, text) in texts().into_iter().enumerate() {
        let path = pitree.write("s.jsonl", &session(&text));
        fs::write(dir.join(format!("hostile-{at:02}.html")), exported(&pitree, &path, &["-f", "html", "--tree"]))
            .unwrap();
    }
    let folders = [PathBuf::from(samples()), repository("fixtures/sessions")];
    let projects = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|dir| dir.unwrap().path());
    for file in
        projects.filter(|dir| dir.is_dir()).flat_map(|dir| fs::read_dir(dir).unwrap()).map(|file| file.unwrap().path())
    {
        if pitree.run(&["tree", file.to_str().unwrap()]).code == 0 && file.extension().is_some_and(|end| end == "jsonl")
        {
            let name = format!("sample-{}.html", file.file_stem().unwrap().to_str().unwrap());
            fs::write(dir.join(name), exported(&pitree, &file, &["-f", "html", "--tree"])).unwrap();
        }
    }
}

#[test]
fn extreme_numbers_in_own_files_cause_no_panic() {
    let number = Regex::new(r#""(\w+)": ?(-?[0-9]+)"#).unwrap();
    let pitree = Pitree::new();
    for id in ["s-one", "s-two", "s-three"] {
        pitree.write_session(&Session::new(id).user("u1", "Hello"));
    }
    pitree.session("there", "s-four");
    for args in [
        &["pin", "s-one"][..],
        &["rename", "s-two", "Name"],
        &["archive", "--yes", "s-one"],
        &["rm", "--yes", "s-three"],
        &["machine", "add", "box", &format!("dir:{}", pitree.home().join("there").display())],
        &["machine", "sync"],
    ] {
        let outcome = pitree.run(args);
        assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.err);
    }
    let files = ["state/pitree/journal.jsonl", "state/pitree/machines/box.json", "share/pitree/marks.json"];
    for (file, commands) in files.into_iter().zip([
        &[&["undo", "--list"][..], &["trash"], &["undo"], &["redo"], &["pin", "s-two"]][..],
        &[&["machine"], &["machine", "--json"], &["machine", "sync"]],
        &[&["marks"], &["ls", "is:pinned"]],
    ]) {
        let path = pitree.home().join(".local").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let names: BTreeSet<&str> = number.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
        for name in names.into_iter().filter(|name| *name != "version" || file.ends_with("marks.json")) {
            let extremes = [i64::MIN.to_string(), u64::MAX.to_string(), i64::MAX.to_string(), "-1".into()];
            for extreme in &extremes[..effort::rounds(1, 4)] {
                let changed = number.replace_all(&text, |found: &regex::Captures<'_>| match &found[1] {
                    found if found == name => format!("\"{name}\":{extreme}"),
                    _ => found[0].to_owned(),
                });
                for args in commands {
                    fs::write(&path, &*changed).unwrap();
                    let outcome = pitree.run(args);
                    assert!(outcome.code <= 4 && !outcome.err.contains("panicked"), "{args:?}: {}", outcome.err);
                }
            }
        }
    }
}
