//! `pitree entries`: records, sums, redaction, and runs that continue from a cursor.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::common::home::json_lines;
use crate::common::session::Session;
use crate::json;
use crate::pitree::{FIXTURES, Pitree, samples};

/// A table of records: the entries of the newest generation of each session.
#[derive(Default)]
struct Table(Vec<Value>);

impl Table {
    fn load(&mut self, lines: &[Value]) {
        self.0.extend(lines.iter().filter(|line| line["type"] != "end").cloned());
    }

    fn entries(&self) -> Vec<Value> {
        let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
        for line in &self.0 {
            let known = newest.entry(line["path"].as_str().unwrap()).or_default();
            *known = line["generation"].as_i64().unwrap().max(*known);
        }
        let is_valid =
            |line: &&Value| line["generation"].as_i64() == newest.get(line["path"].as_str().unwrap()).copied();
        let mut entries: BTreeMap<(String, u64), Value> = BTreeMap::new();
        for line in self.0.iter().filter(is_valid).filter(|line| line["type"] == "entry") {
            let mut entry = line.clone();
            entry.as_object_mut().unwrap().remove("generation");
            entries.insert((line["path"].to_string(), line["index"].as_u64().unwrap()), entry);
        }
        entries.into_values().collect()
    }
}

fn append(path: &std::path::Path, text: &str) {
    fs::File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Returns the lines of an entry of a session, as pi appends them.
fn line(id: &str, parent: &str, text: &str) -> String {
    Session::new("x").at(100).under(parent).assistant(id, text).lines().to_owned()
}

#[test]
fn the_schema_describes_entries() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("one").user("u1", "first"));
    let mut lines = json_lines(&pitree.print(&["entries", "--demo"]));
    let first = json_lines(&pitree.print(&["entries"]));
    fs::remove_file(path).unwrap();
    let cursor = first.last().unwrap()["cursor"].as_str().unwrap();
    lines.extend(json_lines(&pitree.print(&["entries", "--since", cursor])));
    json::check_all("entries", &lines);
}

#[test]
fn sums_equal_those_of_stats() {
    let pitree = Pitree::new();
    let fixtures = format!("{FIXTURES}/sessions");
    for dirs in [&["--dir", samples()][..], &["--dir", &fixtures], &["--dir", samples(), "is:abandoned"]] {
        let total = json_lines(&pitree.run(&[&["stats", "--json"], dirs].concat()).out).pop().unwrap();
        let lines = json_lines(&pitree.run(&[&["entries"], dirs].concat()).out);
        let own: Vec<&Value> = lines.iter().filter(|line| line["own"] == true).collect();
        let sum = |field: &str, is_wanted: &dyn Fn(&Value) -> bool| -> f64 {
            own.iter().filter(|entry| is_wanted(entry)).filter_map(|entry| entry[field].as_f64()).sum()
        };
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for field in ["cost", "tokens", "input", "output", "cacheRead", "cacheWrite"] {
            sums.insert(field, sum(field, &|_| true));
        }
        sums.insert("abandonedCost", sum("cost", &|entry| entry["abandoned"] == true));
        sums.insert("entries", own.len() as f64);
        sums.insert("toolCalls", own.iter().map(|entry| entry["tools"].as_array().unwrap().len() as f64).sum());
        sums.insert("toolFailures", own.iter().filter(|entry| entry["failed"] == true).count() as f64);
        sums.insert("prompts", own.iter().filter(|entry| entry["role"] == "user").count() as f64);
        for (field, sum) in sums {
            let wanted = total[field].as_f64().unwrap();
            assert!((sum - wanted).abs() <= 1e-9 * wanted.max(1.0), "{dirs:?} {field}: {sum}, not {wanted}");
        }
    }
}

#[test]
fn a_record_has_the_facts_about_its_entry() {
    let pitree = Pitree::new();
    let session = Session::new("one").cwd("/home/me/app").costing(0.5).user("u1", "Look \u{1b}[1m at it");
    let session = session.call("c1", "read", &json!({"path": "src/a.rs"})).later(3).result("r1", "c1", "read", "text");
    let session = session.failure("r2", "c1", "read", "no").under("u1").assistant("a2", "other branch");
    pitree.write_session(&session);
    let entries = pitree.objects(&["entries"]);
    let entry = |id: &str| entries.iter().find(|entry| entry["entryId"] == id).unwrap();
    assert_eq!((&entries[0]["type"], &entries[0]["session"]), (&json!("session"), &json!("one")));
    assert_eq!((&entry("u1")["text"], &entry("u1")["role"]), (&json!("Look \u{1b}[1m at it"), &json!("user")));
    let call = entry("c1");
    assert_eq!((&call["tools"], &call["tool"]), (&json!(["read"]), &Value::Null));
    assert_eq!(call["files"], json!([{"path": "/home/me/app/src/a.rs", "touch": "read"}]));
    assert_eq!(
        (&call["text"], &call["cost"], &call["tokens"]),
        (&json!("path\nsrc/a.rs"), &json!(0.5), &json!(150_000))
    );
    assert_eq!((&call["own"], &call["active"], &call["abandoned"]), (&json!(true), &json!(false), &json!(true)));
    let result = entry("r1");
    assert_eq!(
        (&result["tool"], &result["durationMs"], &result["failed"]),
        (&json!("read"), &json!(4000), &json!(false))
    );
    assert_eq!((&entry("r2")["failed"], &entry("r2")["durationMs"]), (&json!(true), &Value::Null));
    assert_eq!((&entry("a2")["active"], &entry("a2")["parentId"]), (&json!(true), &json!("u1")));
    for field in ["machine", "session", "family", "project", "index"] {
        let wanted = json!({"machine": null, "session": "one", "family": "one", "project": "/home/me/app", "index": 4});
        assert_eq!(entry("a2")[field], wanted[field], "{field}");
    }
}

#[test]
fn runs_from_a_cursor_keep_a_table_current() {
    let pitree = Pitree::new();
    let session = Session::new("one").user("u1", "first").assistant("a2", "second");
    let one = pitree.write_session(&session);
    pitree.write_session(&Session::new("other").user("x1", "unrelated"));
    let (mut table, mut cursor) = (Table::default(), None::<String>);
    let mut run = |what: &str, wanted: [u64; 3]| {
        let since: Vec<&str> = cursor.iter().flat_map(|cursor| ["--since", cursor]).collect();
        let lines = json_lines(&pitree.print(&[&["entries"], &since[..]].concat()));
        let end = lines.last().unwrap();
        let found = ["entries", "sessions", "removedSessions"].map(|field| end[field].as_u64().unwrap());
        assert_eq!(found, wanted, "{what}");
        table.load(&lines);
        let mut fresh = Table::default();
        fresh.load(&json_lines(&pitree.print(&["entries"])));
        assert_eq!(table.entries(), fresh.entries(), "{what}");
        cursor = end["cursor"].as_str().map(String::from);
    };
    run("first", [3, 2, 0]);
    append(&one, &line("a3", "a2", "third"));
    run("append", [1, 1, 0]);
    run("nothing", [0, 0, 0]);
    append(&one, &line("b3", "u1", "another branch"));
    run("branch", [4, 1, 0]);
    let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
    append(&one, &line("b4", "b3", &token));
    run("a first secret", [5, 1, 0]);
    append(&one, &line("b5", "b4", &format!("the same: {token}")));
    run("a known secret", [1, 1, 0]);
    let fork = pitree.write_session(&session.forked("fork", &one, 50).assistant("f3", "in the fork"));
    run("fork", [9, 2, 0]);
    fs::write(&one, fs::read_to_string(&one).unwrap().replace("second", "SECOND")).unwrap();
    run("rewrite", [6, 1, 0]);
    let moved = one.with_file_name("moved.jsonl");
    fs::rename(&one, &moved).unwrap();
    run("move", [6, 1, 1]);
    fs::write(&moved, fs::read_to_string(&moved).unwrap().lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    run("truncate", [4, 2, 0]);
    fs::remove_file(&moved).unwrap();
    run("remove the owner of shared entries", [3, 1, 1]);
    fs::remove_file(&fork).unwrap();
    run("remove", [0, 0, 1]);
}

#[test]
fn a_session_that_cannot_be_read_is_not_removed() {
    let pitree = Pitree::new();
    let one = pitree.write_session(&Session::new("one").user("u1", "first"));
    let end = |lines: &[Value]| lines.last().unwrap().clone();
    let first = end(&json_lines(&pitree.print(&["entries"])));
    let text = fs::read(&one).unwrap();
    fs::remove_file(&one).unwrap();
    fs::create_dir(&one).unwrap();
    fs::remove_dir(&one).unwrap();
    fs::write(&one, line("u1", "x", "an entry without a header")).unwrap();
    let outcome = pitree.run(&["entries", "--since", first["cursor"].as_str().unwrap()]);
    let second = end(&json_lines(&outcome.out));
    assert_eq!((&second["entries"], &second["removedSessions"]), (&json!(0), &json!(0)), "{}", outcome.err);
    fs::write(&one, text).unwrap();
    let third = end(&json_lines(&pitree.print(&["entries", "--since", second["cursor"].as_str().unwrap()])));
    assert_eq!((&third["entries"], &third["removedSessions"]), (&json!(0), &json!(0)));
}

#[test]
fn secrets_are_replaced_everywhere_unless_asked() {
    let pitree = Pitree::new();
    let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
    let password = ["zq7x3", "Ww9"].concat();
    let escaped = token.replace("g", "\\u0067");
    let session = Session::new("one").user("u1", &format!("use {token}"));
    let session = session.call("c1", "write", &json!({"path": format!("/tmp/{token}.txt"), "password": password}));
    let session = session.user("u2", "x").raw(&line("u3", "u2", "ESCAPED").replace("ESCAPED", &escaped));
    pitree.write_session(&session);
    let printed = pitree.print(&["entries"]);
    assert!(!printed.contains(&token) && !printed.contains(&password), "{printed}");
    let texts: Vec<String> =
        json_lines(&printed).iter().filter_map(|line| Some(line["text"].as_str()?.into())).collect();
    assert_eq!((&*texts[0], &*texts[3]), ("use [github-token 1]", "[github-token 1]"));
    assert!(printed.contains("/tmp/[github-token 1].txt"));
    let kept = pitree.print(&["entries", "--no-redact"]);
    assert!(kept.contains(&token) && kept.contains(&password));
    // Another choice prints the entries again.
    let cursor = json_lines(&kept).last().unwrap()["cursor"].as_str().unwrap().to_owned();
    let again = json_lines(&pitree.print(&["entries", "--since", &cursor]));
    assert_eq!(again.last().unwrap()["entries"], 4);
}

#[test]
fn queries_choose_sessions_and_cursors_are_checked() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("one").user("u1", "apples"));
    pitree.write_session(&Session::new("two").user("u1", "pears"));
    let sessions = |lines: Vec<Value>| -> BTreeSet<String> {
        lines.iter().map(|line| line["session"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(sessions(pitree.objects(&["entries", "apples"])), BTreeSet::from(["one".into()]));
    assert_eq!(sessions(pitree.objects(&["entries", "two"])), BTreeSet::from(["two".into()]));
    assert_eq!(json_lines(&pitree.nothing(&["entries", "plums"]))[0]["type"], "end");
    assert!(pitree.refuse(&["entries", "--since", "yesterday"]).contains("is not a cursor"));
    let error = pitree.refuse(&["entries", "--since", "e1-00000000-00000000"]);
    assert!(error.contains("is not kept on this machine; run without --since"), "{error}");
}
