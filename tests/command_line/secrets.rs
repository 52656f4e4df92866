//! `pitree secrets`: places, samples, exit codes, selection and configuration.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::command_line::pitree::{Outcome, Pitree};
use crate::common::home::json_lines;
use crate::common::session::Session;

/// Returns a made-up token. It is not written as a whole, so that this file contains none.
fn token(last: char) -> String {
    format!("{}_{}{last}", "ghp", "k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3")
}

/// Returns the lines of JSON output, and asserts that the values are not part of any output.
fn found(outcome: &Outcome, code: i32) -> Vec<Value> {
    assert_eq!(outcome.code, code, "{}", outcome.err);
    let part = "k3J9dQ2mX8vB5nR7";
    assert!(!outcome.out.contains(part) && !outcome.err.contains(part), "{}", outcome.out);
    json_lines(&outcome.out)
}

fn places(lines: &[Value]) -> Vec<String> {
    let text = |line: &Value, field: &str| line[field].as_str().unwrap_or("-").to_owned();
    lines.iter().map(|line| ["entryId", "rule", "place"].map(|field| text(line, field)).join(" ")).collect()
}

#[test]
fn secrets_are_found_in_all_parts_of_a_session() {
    let pitree = Pitree::new();
    let key = ["q7Xw2mPq", "9Zt4Lk8R"].concat();
    let arguments = json!({"command": format!("echo \"x\"\n{}", token('c')), "env": {"API_KEY": key}});
    let session = Session::new("one")
        .cwd(format!("/work/{}", token('a')))
        .user("u", &format!("Use {} please", token('b')))
        .tool("t", "bash", &arguments, &token('d'))
        .label("l", "u", &token('e'))
        .name("n", &format!("Key {}", token('f')));
    let path = pitree.write_session(&session);
    pitree.write_session(&Session::new("two").user("u", "nothing"));
    let lines = found(&pitree.run(&["secrets", "--json"]), 3);
    let expected = [
        "- github-token cwd",
        "u github-token message.content[0].text",
        "t github-token message.content[0].arguments.command",
        "t assigned-secret message.content[0].arguments.env.API_KEY",
    ];
    let found_places = places(&lines);
    for place in expected {
        assert!(found_places.iter().any(|found| found == place), "{place} is missing in {found_places:?}");
    }
    assert_eq!(lines.len(), 7, "{found_places:?}");
    assert!(lines.iter().all(|line| line["id"] == "one" && line["path"] == path.to_str().unwrap()));
    assert!(lines.iter().all(|line| line["sample"].as_str().unwrap().len() <= 4));
}

#[test]
fn tables_contain_no_value_and_masked_titles() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("one").user("u", &format!("{} is my key", token('a'))));
    let outcome = pitree.run(&["secrets"]);
    assert_eq!(outcome.code, 3);
    assert!(!outcome.out.contains("k3J9"), "{}", outcome.out);
    assert!(outcome.out.contains("[github-token] is my key") && outcome.out.contains("ghp_…"), "{}", outcome.out);
    assert!(outcome.err.contains("1 likely secret in 1 file; rules cannot find every secret"), "{}", outcome.err);
}

#[test]
fn sessions_are_selected_by_id_query_and_project() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("aaaa-one").cwd("/work/one").user("u", &format!("alpha {}", token('a'))));
    pitree.write_session(&Session::new("bbbb-two").cwd("/work/two").user("u", &format!("beta {}", token('b'))));
    let ids = |args: &[&str]| {
        let lines = found(&pitree.run(&[&["secrets", "--json"], args].concat()), 3);
        lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&["aaaa-one"]), "aaaa-one");
    assert_eq!(ids(&["beta"]), "bbbb-two");
    assert_eq!(ids(&["--project", "/work/one"]), "aaaa-one");
    assert_eq!(pitree.run(&["secrets", "gamma"]).code, 0);
    assert_eq!(ids(&["--rule", "github-token", "alpha"]), "aaaa-one");
    assert_eq!(pitree.run(&["secrets", "--rule", "private-key"]).code, 0);
    assert!(
        pitree
            .refuse(&["secrets", "--rule", "github-tokn"])
            .contains("no such rule: github-tokn; did you mean github-token?")
    );
    assert!(pitree.print(&["secrets", "--list"]).contains("github-token"));
}

#[test]
fn files_and_standard_input_are_searched() {
    let pitree = Pitree::new();
    let file = pitree.home().join("notes.md");
    std::fs::write(&file, format!("one\ntwo {}\n", token('a'))).unwrap();
    let name = file.to_str().unwrap();
    let lines = found(&pitree.run(&["secrets", "--json", name]), 3);
    assert_eq!(places(&lines), ["- github-token line 2"]);
    assert_eq!((lines[0]["id"].clone(), &lines[0]["path"]), (Value::Null, &Value::from(name)));
    std::fs::write(&file, "nothing\n").unwrap();
    assert_eq!(pitree.run(&["secrets", name]).code, 0);
    assert!(pitree.refuse(&["secrets", pitree.home().to_str().unwrap()]).contains("is a directory"));
    let input = |text: &str| {
        let mut child = pitree.command(&["secrets", "--json", "-"]);
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, out) = input(&format!("\n\n{}", token('a')));
    assert!(
        code == 3 && out.contains("\"line 3\"") && out.contains("\"path\":\"-\"") && !out.contains("k3J9"),
        "{out}"
    );
    assert_eq!(input("nothing"), (0, String::new()));
}

#[test]
#[cfg(unix)]
fn settings_add_values_rules_and_exceptions() {
    let pitree = Pitree::new().variable("ACME", "plum-orchard-41");
    let config = pitree.home().join("config.toml");
    let file = pitree.home().join("notes");
    std::fs::write(&file, format!("plum-orchard-41\nfrom-command\nacme_77\n{}\n", token('a'))).unwrap();
    let run = |text: &str| {
        std::fs::write(&config, text).unwrap();
        pitree.run(&["secrets", "--json", "--config", config.to_str().unwrap(), file.to_str().unwrap()])
    };
    let settings = "[redact]\nvalues = [\"ACME\", \"MISSING\", [\"sh\", \"-c\", \"echo from-command\"]]\nallow = ['^ghp_']\n\
                    rules.acme = 'acme_[0-9]+'\n";
    let lines = found(&run(settings), 3);
    assert_eq!(places(&lines), ["- configured-value line 1", "- configured-value line 2", "- acme line 3"]);
    for (command, reason) in [
        ("[\"sh\", \"-c\", \"exit 3\"]", "sh failed (exit status: 3); check redact.values in config.toml"),
        ("[\"no-such-program\"]", "cannot run no-such-program"),
        ("[\"sleep\", \"60\"]", "sleep timed out after 0 s and was stopped"),
    ] {
        let outcome = run(&format!("[redact]\nseconds = 0\nvalues = [{command}]\n"));
        let is_timeout = outcome.err.contains("timed out");
        assert!(outcome.code == 2 && (outcome.err.contains(reason) || is_timeout), "{}", outcome.err);
    }
}

#[test]
fn sessions_with_secrets_are_found() {
    let pitree = Pitree::new();
    let session = Session::new("one").user("u", &format!("Use {}", token('a'))).assistant("a", "Done");
    pitree.write("one.jsonl", &session.text());
    pitree.write("two.jsonl", &Session::new("two").user("u", "nothing").text());
    let ids = |query: &str| -> Vec<String> {
        let listed = pitree.run(&["ls", "--json", "--", query]);
        json_lines(&listed.out).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("is:secret", &["one"][..]),
        ("-is:secret", &["two"]),
        ("secret:github", &["one"]),
        ("secret:aws", &[]),
        ("is:secret done", &["one"]),
    ] {
        assert_eq!(ids(query), expected, "{query}");
    }
    // The result is stored, without the value, until the session changes.
    pitree.write("one.jsonl", &Session::new("one").user("u", "nothing").text());
    assert_eq!(ids("is:secret"), [""; 0]);
    let at = pitree.run(&["search", "--json", "is:secret"]);
    assert_eq!(at.code, 1, "{}", at.out);
}
