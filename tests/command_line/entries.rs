//! `pitree entries`: records, sums, redaction, and the choice of sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::command_line::json;
use crate::command_line::pitree::{FIXTURES, Pitree, samples};
use crate::common::home::{json_lines, long_ago, set_modified};
use crate::common::session::Session;

/// Returns the lines of an entry of a session, as pi appends them.
fn line(id: &str, parent: &str, text: &str) -> String {
    Session::new("x").at(100).under(parent).assistant(id, text).lines().to_owned()
}

#[test]
fn the_schema_describes_entries() {
    json::check_all("entries", &json_lines(&Pitree::new().print(&["entries", "--demo"])));
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
    assert_eq!((entries.len(), &entries[0]["session"]), (5, &json!("one")));
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

/// Returns the sessions of the printed entries.
fn sessions(lines: &[Value]) -> BTreeSet<String> {
    lines.iter().map(|line| line["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn since_prints_the_sessions_whose_files_changed() {
    let pitree = Pitree::new();
    let session = Session::new("one").user("u1", "first").assistant("a2", "second");
    let one = pitree.write_session(&session);
    pitree.write_session(&session.forked("fork", &one, 50).assistant("f3", "in the fork"));
    let other = pitree.write_session(&Session::new("other").user("x1", "unrelated"));
    let since = |time: &str| sessions(&json_lines(&pitree.print(&["entries", "--since", time])));
    let all = || BTreeSet::from(["fork".into(), "one".into(), "other".into()]);
    assert_eq!((since("1h"), since("today").len()), (all(), 3), "the entries are older than the files");
    assert_eq!(since("2999-01-01T00:00:00Z"), BTreeSet::new());
    let run = pitree.objects(&["entries"])[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(since(&run), all(), "a file may have changed while it was read");
    // The system sets the time at which a file came to its path.
    set_modified(&other, long_ago());
    assert_eq!(since("1h").contains("other"), cfg!(unix));
    // A file in the future stands for one that changes later.
    let later = SystemTime::now() + Duration::from_secs(10_000);
    set_modified(&one, later);
    let (pitree, now) = (&pitree, jiff::Timestamp::now());
    let since = |seconds: i64| {
        let time = (now + jiff::SignedDuration::from_secs(seconds)).to_string();
        sessions(&json_lines(&pitree.print(&["entries", "--since", &time])))
    };
    assert_eq!(since(5000), BTreeSet::from(["fork".into(), "one".into()]), "and those that share entries with it");
    assert_eq!(since(15_000), BTreeSet::new());
    assert!(pitree.refuse(&["entries", "--since", "recently"]).contains("not a date or an age"));
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
}

#[test]
fn queries_choose_sessions() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("one").user("u1", "apples"));
    pitree.write_session(&Session::new("two").user("u1", "pears"));
    assert_eq!(sessions(&pitree.objects(&["entries", "apples"])), BTreeSet::from(["one".into()]));
    assert_eq!(sessions(&pitree.objects(&["entries", "two"])), BTreeSet::from(["two".into()]));
    assert_eq!(pitree.nothing(&["entries", "plums"]), "");
}
