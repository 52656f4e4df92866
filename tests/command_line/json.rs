//! Validates the output of the commands against docs/json-schema.json, which is generated from the tables of
//! docs/json.md. Output is valid, each printed field is described, and each described field is printed.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::pitree::{FIXTURES, Pitree};
use crate::common::broken;
use crate::common::home::{json_lines, long_ago, set_modified, write};
use crate::common::session::Session;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../docs/json-schema.json")).unwrap());

/// Returns the definition of a command's objects.
fn definition(name: &str) -> &'static Value {
    let found = &SCHEMA["$defs"][name];
    assert!(found.is_object(), "docs/json.md has no section {name}");
    found
}

/// Checks objects of a command, without the field `schema`, against its definition.
pub(crate) fn check_unversioned(name: &str, objects: &[Value]) {
    for object in objects {
        let mut object = object.clone();
        object["schema"] = 1.into();
        validate(&object, definition(name), name);
    }
}

/// Checks a value against the keywords that the schema uses.
fn validate(value: &Value, schema: &Value, at: &str) {
    if let Some(wanted) = schema.get("const") {
        assert_eq!(value, wanted, "{at}");
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_allowed = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.contains(&kind.into()),
        only => only == kind,
    };
    assert!(is_allowed, "{at} is {value}, not {}", schema["type"]);
    if let (Value::Object(object), Some(properties)) = (value, schema.get("properties")) {
        for name in schema["required"].as_array().unwrap() {
            assert!(object.contains_key(name.as_str().unwrap()), "{at} lacks {name}: {value}");
        }
        for (name, value) in object {
            let known = properties.get(name);
            validate(value, known.unwrap_or_else(|| panic!("docs/json.md lacks {at}.{name}")), &format!("{at}.{name}"));
        }
    }
    if let (Value::Array(list), Some(items)) = (value, schema.get("items")) {
        list.iter().for_each(|value| validate(value, items, at));
    }
}

/// Collects all fields of a definition; those of nested objects have their parents as a prefix.
fn described(schema: &Value, above: &str, found: &mut BTreeSet<String>) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let name = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        described(schema, &name, found);
        described(schema.get("items").unwrap_or(&Value::Null), &name, found);
        found.insert(name);
    }
}

/// Collects the fields of an object; nested fields have their parents as a prefix.
fn fields(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let name = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
                fields(value, &name, found);
                found.insert(name);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, above, found)),
        _ => {}
    }
}

/// Validates objects and adds their fields to those found.
fn check(name: &str, objects: &[Value], found: &mut BTreeSet<String>) {
    assert!(!objects.is_empty(), "{name} prints nothing");
    for object in objects {
        validate(object, definition(name), name);
        fields(object, "", found);
    }
}

/// Validates objects, and fails on a described field that they lack.
pub(crate) fn check_all(name: &str, objects: &[Value]) {
    let mut found = BTreeSet::new();
    check(name, objects, &mut found);
    all_are_printed(name, &found);
}

/// Fails on a described field that was never printed.
fn all_are_printed(name: &str, found: &BTreeSet<String>) {
    let mut all = BTreeSet::new();
    described(definition(name), "", &mut all);
    // Other tests cover paths that are not UTF-8, running pis, mirrored sessions, and edits of contexts.
    let is_context = name == "context";
    let is_elsewhere = |name: &&String| {
        let is_remote = ["machine", "remotePath"].iter().any(|field| name.ends_with(field));
        let is_start = ["live.", "copies"].iter().any(|start| name.starts_with(start));
        let is_edit = is_context && ["edit", "path", "tokensAfter", "tokensBefore"].contains(&name.as_str());
        name.ends_with("Bytes") || is_edit || is_remote || is_start || name.contains("pis.") || name.contains("silent.")
    };
    let never: Vec<_> = all.difference(found).filter(|name| !is_elsewhere(name)).collect();
    assert!(never.is_empty(), "docs/json.md describes what {name} does not print: {never:?}");
}

/// Checks that the output of the command matches its section, with these arguments after its name and `--json`.
fn holds(name: &str, runs: &[&[&str]]) {
    let mut found = BTreeSet::new();
    for args in runs {
        let outcome = Pitree::new().run(&[&[name, "--json"], *args].concat());
        check(name, &json_lines(&outcome.out), &mut found);
    }
    all_are_printed(name, &found);
}

#[test]
fn the_schema_describes_the_output() {
    let talks = format!("{FIXTURES}/sessions/--home-dev-talk--");
    holds("ls", &[&["--demo"]]);
    holds("tree", &[&["--demo", "01a1ceea"]]);
    holds("show", &[&["--demo", "01a1ceea", "0e1adbe7"], &["--demo", "01a1ceea", "decision", "--chars", "5"]]);
    holds("search", &[&["--demo", "jwt"], &["--demo", "is:fork"]]);
    let compacted = format!("{talks}/talk-compacted.jsonl");
    let images = format!("{FIXTURES}/sessions/--home-dev-app--/images.jsonl");
    holds("context", &[&["--all", &compacted], &["--demo", "01a1ceea"], &[&images]]);
    holds("labels", &[&["--demo"]]);
    holds("files", &[&["--demo", "01a1ceea"], &["--demo", "--project", "/home/demo/code/webshop"]]);
    let file = "/home/demo/code/logq/src/follow.rs";
    holds("file", &[&["--demo", "--at", "01a1efdb", file]]);
    holds("log", &[&["--demo", file]]);
    holds("recover", &[&["--demo", "01a1efdb", "--to", "recovered"]]);
    holds(
        "stats",
        &[
            &["--demo"],
            &["--demo", "--by", "day", "--by", "week"],
            &["--demo", "--by", "hour", "--by", "model"],
            &["--demo", "--by", "tag", "--by", "machine"],
            &["--demo", "--by", "model", "--by", "provider"],
            &["--demo", "--by", "project", "--by", "tool"],
            &["--demo", "--by", "family", "--by", "session"],
            &["--demo", "--by", "branch", "--by", "prompt"],
        ],
    );
    holds("space", &[&["--demo"]]);
    holds("live", &[&[]]);
    holds("setup", &[&[]]);
}

#[test]
fn the_schema_describes_sessions_changes_and_the_index() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    pitree.fixture("v2-labels");
    let objects = |args: &[&str]| json_lines(&pitree.run(args).out);
    let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
    pitree.write_session(&Session::new("secret").user("u1", &token));
    let (mut changes, mut history) = (BTreeSet::new(), BTreeSet::new());
    let edited = pitree.run(&["context", "branches", "--omit", "u1", "--here", "--yes"]);
    assert_eq!(edited.code, 0, "{}", edited.err);
    for args in [
        &["undo"][..],
        &["rename", "branches", "One"],
        &["label", "branches", "a2", "two"],
        &["label", "v2-labels", "u1", "x", "--migrate"],
        &["tag", "branches", "+release"],
        &["note", "branches@a2", "a note"],
        &["secrets", "scrub", "secret", "--yes"],
        &["fork", "branches", "a2"],
        &["move", "branches", "--family", "--to", ".", "--yes"],
        &["archive", "secret", "--yes"],
        &["unarchive", "secret", "--yes"],
        &["undo", "--dry-run"],
        &["rm", "branches", "--yes"],
    ] {
        check("Changes", &objects(&[args, &["--json"]].concat()), &mut changes);
    }
    check("History", &objects(&["undo", "--list", "--json"]), &mut history);
    if cfg!(target_os = "linux") {
        check("History", &objects(&["restore", "--json"]), &mut history);
        check("Changes", &objects(&["restore", "branches", "--json"]), &mut changes);
    }
    all_are_printed("Changes", &changes);
    all_are_printed("History", &history);
    let secret = pitree.home().join("secret");
    std::fs::write(&secret, format!("AKIA{}\n", "Q7XW2MPRZ5TKL4HV")).unwrap();
    let mut secrets = BTreeSet::new();
    check("secrets", &objects(&["secrets", "--json", secret.to_str().unwrap()]), &mut secrets);
    all_are_printed("secrets", &secrets);
    let damaged = pitree.home().join("damaged.jsonl");
    std::fs::write(&damaged, broken::files().remove(0).bytes).unwrap();
    let mut findings = BTreeSet::new();
    check("doctor", &objects(&["doctor", "--json", damaged.to_str().unwrap()]), &mut findings);
    all_are_printed("doctor", &findings);
    let snapshots =
        (0..25).fold(Session::new("slim").user("u", "x"), |session, at| session.custom(&format!("s{at}"), "t"));
    pitree.write_session(&snapshots);
    let mut planned = BTreeSet::new();
    check("slim", &objects(&["slim", "slim", "--dry-run", "--json"]), &mut planned);
    all_are_printed("slim", &planned);
    let empty = pitree.write_session(&Session::new("empty"));
    set_modified(&empty, long_ago());
    set_modified(&pitree.write("empty.jsonl.0123456789abcdef.pitree-new", "left"), long_ago());
    let mut suggested = BTreeSet::new();
    check("clean", &objects(&["clean", "--dry-run", "--json"]), &mut suggested);
    all_are_printed("clean", &suggested);
    pitree.print(&["ls"]); // writes the index
    for (name, args) in
        [("path", &["path", "branches"][..]), ("resume", &["resume", "branches"]), ("index", &["index"])]
    {
        let mut found = BTreeSet::new();
        check(name, &objects(&[args, &["--json"]].concat()), &mut found);
        all_are_printed(name, &found);
    }
}

#[test]
fn the_schema_describes_mirrored_sessions() {
    let mut pitree = Pitree::new();
    let data = pitree.home().join("data");
    pitree = pitree.variable("XDG_DATA_HOME", data.to_str().unwrap());
    let token = format!("{}_{}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3q");
    let both = Session::new("both-1").user("u1", "the question");
    pitree.write_session(&both);
    for session in [both, Session::new("boxed-1").user("u1", &token).label("l", "u1", "key")] {
        let file = format!("pitree/machine-mirrors/box/%2Fs/--a--/{}.jsonl", session.id);
        write(&data.join(file), session.text());
    }
    let mut printed = BTreeSet::new();
    for (name, args) in [
        ("ls", &["ls"][..]),
        ("show", &["show", "boxed-1"]),
        ("search", &["search", "ghp"]),
        ("labels", &["labels"]),
        ("path", &["path", "boxed-1"]),
        ("space", &["space"]),
        ("secrets", &["secrets"]),
        ("diff", &["diff", "boxed-1", "both-1"]),
    ] {
        let mut found = BTreeSet::new();
        check(name, &json_lines(&pitree.run(&[args, &["--json"]].concat()).out), &mut found);
        printed.extend(found.into_iter().filter(|field| field.ends_with("achine")).map(|field| (name, field)));
    }
    let expected = ["ls", "show", "search", "labels", "path", "space", "secrets"].map(|name| (name, "machine"));
    let expected =
        expected.into_iter().chain([("ls", "copies.machine"), ("diff", "a.machine"), ("space", "largest.machine")]);
    assert_eq!(printed, expected.map(|(name, field)| (name, field.to_owned())).collect());
}
