//! Read-only commands: output, directories searched, and exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use pitree::config::Config;
use serde_json::Value;

use crate::command_line::pitree::{FIXTURES, Pitree};

#[test]
fn version_and_help() {
    let pitree = Pitree::new();
    assert_eq!(pitree.print(&["--version"]), format!("pitree {}\n", env!("CARGO_PKG_VERSION")));
    let help = pitree.print(&["--help"]);
    assert!(help.contains("\nClean up\n  rm ") && help.lines().count() <= 59, "{help}");
    assert!(pitree.print(&["ls", "--help"]).contains("--json"));
    assert!(pitree.print(&["help", "options"]).contains("--no-index"));
}

#[test]
fn usage_errors_exit_with_2() {
    let pitree = Pitree::new();
    for args in [&["--colour"][..], &["search"], &["tree"], &["--demo", "--dir", "x"], &["--theme", "pink"]] {
        let outcome = pitree.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        assert!(outcome.err.contains("error:"), "{args:?}: {}", outcome.err);
    }
}

#[test]
fn invalid_numbers_have_clear_errors() {
    let pitree = Pitree::new();
    for (args, said) in [
        (&["undo", "x"][..], "'x' for '[NUMBER]': expected a number, or a range such as 3-48"),
        (&["undo", "--wait=-1"], "expected a number"),
        (&["search", "--limit", "0", "x"], "'0' for '--limit <N>': expected a number of at least 1"),
    ] {
        let outcome = pitree.run(args);
        assert!(outcome.code == 2 && outcome.err.contains(said), "{args:?}: {}", outcome.err);
    }
}

#[test]
fn a_directory_above_the_sessions_is_corrected_and_a_tilde_is_expanded() {
    let pitree = Pitree::new();
    let path = pitree.session(".pi/agent/sessions/--p--", "one");
    let listed = |pitree: &Pitree, args: &[&str]| {
        let outcome = pitree.run(&[&["ls", "--json"], args].concat());
        assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.err);
        assert_eq!(outcome.out.matches(path.to_str().unwrap()).count(), 1, "{args:?}: {}", outcome.out);
        outcome.err
    };
    let said = "~/.pi/agent is not a session directory: reading ~/.pi/agent/sessions instead\n";
    let agent = pitree.home().join(".pi/agent");
    assert_eq!(listed(&pitree, &["--dir", agent.to_str().unwrap()]), said);
    assert_eq!(listed(&pitree, &["--dir", "~/.pi/agent"]), said);
    assert!(listed(&pitree, &["--dir", ".pi"]).contains("reading .pi/agent/sessions instead"));
    assert_eq!(listed(&pitree, &["--dir", "~/.pi/agent/sessions"]), "");
    let named = pitree.run(&["path", "~/.pi/agent/sessions/--p--/one.jsonl"]);
    assert_eq!(named.out, format!("{}\n", path.display()));
    let pitree = pitree.variable("PI_CODING_AGENT_SESSION_DIR", agent.to_str().unwrap());
    assert_eq!(listed(&pitree, &[]), said);
}

#[test]
fn lists_the_demo_as_a_table() {
    let table = Pitree::new().print(&["ls", "--demo"]);
    // The first column is an age, which grows.
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().skip(1).collect()).collect();
    assert_eq!(rows.len(), 41);
    assert_eq!(rows[0].join(" "), "92 $0.93 01a1f83a ~/code/webshop Flaky checkout test: a race in the total");
    let columns: Vec<usize> = table.lines().take(3).map(|row| row.find("01a1").unwrap()).collect();
    assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
}

#[test]
fn lists_the_demo_as_json() {
    let sessions = Pitree::new().objects(&["ls", "--json", "--demo"]);
    assert_eq!(sessions.len(), 41);
    for session in &sessions {
        assert!(session["path"].as_str().unwrap().starts_with('/'));
    }
    let first = &sessions[0];
    assert_eq!(first["name"], "Flaky checkout test: a race in the total");
    assert_eq!((&first["entryCount"], &first["leaves"], &first["version"]), (&92.into(), &3.into(), &3.into()));
    let modified: Vec<&str> = sessions.iter().map(|session| session["modified"].as_str().unwrap()).collect();
    assert!(modified.is_sorted_by(|a, b| a >= b), "newest first: {modified:?}");
}

#[test]
fn a_fork_owns_only_its_new_entries() {
    let pitree = Pitree::new();
    let sessions = pitree.objects(&["ls", "--json", "--demo"]);
    let fork = sessions.iter().find(|session| session["name"] == "Sessions in Redis").unwrap();
    let number = |fact: &str| fork[fact].as_f64().unwrap();
    assert!(number("ownCost") > 0.0 && number("ownCost") < number("cost"), "{fork}");
    assert!(number("ownTokens") > 0.0 && number("ownTokens") < number("tokens"), "{fork}");
    assert!(number("ownEntries") > 0.0 && number("ownEntries") < number("entryCount"), "{fork}");
    let table = pitree.print(&["ls", "--demo"]);
    let row = table.lines().find(|row| row.ends_with("Sessions in Redis")).unwrap();
    assert!(row.contains(&format!(" +${:.2}  ", number("ownCost"))), "{row}");
}

#[test]
fn lists_directories_one_after_the_other() {
    let pitree = Pitree::new();
    let (flat, agents) = (format!("{FIXTURES}/flat"), format!("{FIXTURES}/subagents"));
    let count = |args: &[&str]| pitree.objects(args).len();
    assert_eq!(count(&["ls", "--json", "--dir", &flat]), 3);
    assert_eq!(count(&["ls", "--json", "--dir", &flat, "--dir", &agents]), 4);
    assert_eq!(count(&["--dir", &flat, "--dir", &flat, "ls", "--json"]), 3);
    assert_eq!(count(&["ls", "--json", "--dir", &agents, "--subagents"]), 2);
}

#[test]
fn a_missing_directory_fails_and_says_what_to_do() {
    let outcome = Pitree::new().run(&["ls"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("--dir") && outcome.err.contains("--demo"), "{}", outcome.err);
    let pitree = Pitree::new();
    fs::create_dir(pitree.home().join("empty")).unwrap();
    for (command, said) in [
        ("ls", "no sessions in empty (from --dir); specify another directory with --dir, or try --demo\n"),
        ("labels", "no session has a label\n"),
        ("files", "no tool or command touched a file\n"),
    ] {
        let nothing = pitree.run(&[command, "--dir", "empty"]);
        assert_eq!((nothing.code, &*nothing.out, &*nothing.err), (0, "", said));
        assert_eq!(pitree.print(&[command, "--dir", "empty", "--json"]), "");
    }
}

#[test]
fn draws_a_tree_through_a_filter() {
    let pitree = Pitree::new();
    let tree = pitree.print(&["tree", "01a13a84", "--demo"]);
    assert!(tree.starts_with("• user: The order list takes 6 seconds"), "{tree}");
    assert!(tree.contains("\n├⊟ • user: Could we page") && tree.contains("  ← leaf\n"), "{tree}");
    let users = pitree.print(&["tree", "01a13a84", "--demo", "--filter", "user-only"]);
    assert!(users.lines().count() < tree.lines().count() && !users.contains("assistant:"), "{users}");
    let turns = pitree.print(&["tree", "01a13a84", "--demo", "--filter", "turns"]);
    let first = turns.lines().next().unwrap();
    assert!(first.contains("user: The order list") && first.ends_with("  $0.09 · 15 s"), "{turns}");
    let ascii = pitree.print(&["tree", "01a13a84", "--demo", "--ascii", "--filter", "user-only"]);
    assert!(ascii.starts_with("* user: ") && ascii.contains("<- leaf") && !ascii.contains(['├', '•', '←']), "{ascii}");
}

#[test]
fn prints_every_entry_of_a_tree_as_json() {
    let entries = Pitree::new().objects(&["tree", "01a13a84", "--demo", "--json"]);
    assert_eq!(entries.len(), 12);
    assert_eq!((&entries[0]["parentId"], &entries[0]["depth"]), (&Value::Null, &0.into()));
    assert_eq!(entries.iter().filter(|entry| entry["leaf"] == true).count(), 1);
    assert!(entries.iter().skip(1).all(|entry| entry["parentId"].is_string()));
}

#[test]
fn finds_a_session_by_path_id_or_id_prefix() {
    let pitree = Pitree::new();
    let path = pitree.session(".pi/agent/sessions/--p--", "abc-one");
    pitree.session(".pi/agent/sessions/--p--", "abc-two");
    pitree.session(".pi/agent/sessions/--p--", "abc");
    let tree = pitree.print(&["tree", path.to_str().unwrap()]);
    assert!(tree.contains("In project one"));
    for word in ["abc-o", "abc-one", "abc", ".pi/agent/sessions/--p--/abc-one.jsonl"] {
        assert_eq!(pitree.print(&["tree", word]), tree, "{word}");
    }
    let several = pitree.run(&["tree", "ab"]);
    assert_eq!((several.code, several.out.as_str()), (2, ""));
    for id in ["abc-one", "abc-two", "abc"] {
        assert!(several.err.contains(&format!("{id}  ")), "{}", several.err);
    }
    for word in ["xyz", "", "nowhere/x.jsonl"] {
        let none = pitree.run(&["tree", word]);
        assert_eq!((none.code, none.out.as_str()), (2, ""), "{word}");
        assert!(none.err.starts_with("pitree: "), "{}", none.err);
    }
}

/// The reader closes the pipe before the first write, and the output is longer than a pipe buffer.
#[test]
fn a_closed_pipe_is_no_error() {
    let pitree = Pitree::new();
    for at in 0..400 {
        pitree.session("many", &format!("{at:0>200}"));
    }
    for args in [&["ls", "--json", "--dir", "many"][..], &["ls", "--demo"], &["--help"], &["config", "--default"]] {
        let mut child = pitree.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn the_default_configuration_reads_as_the_defaults() {
    let text = Pitree::new().print(&["config", "--default"]);
    assert_eq!(Config::parse(&text, "config.toml").unwrap(), Config::default());
    assert!(text.contains("# ") && text.contains("[keys]"));
}

#[test]
fn reports_the_path_and_the_errors_of_the_configuration() {
    let pitree = Pitree::new();
    let path = PathBuf::from(pitree.print(&["config"]).trim_end());
    assert!(path.starts_with(pitree.home()) && path.ends_with("config.toml"), "{}", path.display());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "sort = \"recent\"\n\ntheme = \"pink\"\n[keys]\nup = [\"x\"]\ndown = [\"x\"]\n").unwrap();
    for args in [&["config"][..], &["ls", "--demo"], &[]] {
        let outcome = pitree.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}");
        let place = format!("{}:3: \"theme\"", path.display());
        assert!(outcome.err.contains(&place) && outcome.err.contains("config.toml:6: "), "{}", outcome.err);
    }
    let outcome = pitree.run(&["--config", "nowhere.toml", "ls", "--demo"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("nowhere.toml"), "{}", outcome.err);
}

#[test]
fn uses_the_session_directory_of_pi() {
    let pitree = Pitree::new();
    pitree.session(".pi/agent/sessions/--p--", "by-default");
    pitree.session("from-settings", "by-settings");
    assert_eq!(pitree.ids(), ["by-default"]);
    fs::write(pitree.home().join(".pi/agent/settings.json"), r#"{"sessionDir": "~/from-settings"}"#).unwrap();
    assert_eq!(pitree.ids(), ["by-settings"]);
    fs::write(pitree.home().join(".pi/agent/settings.json"), "not JSON").unwrap();
    assert_eq!(pitree.ids(), ["by-default"]);

    let pitree = pitree.variable("PI_CODING_AGENT_DIR", "~/agent");
    pitree.session("agent/sessions/--p--", "by-agent-dir");
    assert_eq!(pitree.ids(), ["by-agent-dir"]);
    fs::write(pitree.home().join("agent/settings.json"), r#"{"sessionDir": "~/from-settings"}"#).unwrap();
    assert_eq!(pitree.ids(), ["by-settings"]);

    pitree.session("by the project", "by-project");
    fs::create_dir_all(pitree.home().join(".pi")).unwrap();
    fs::write(pitree.home().join(".pi/settings.json"), r#"{"sessionDir": "by the project"}"#).unwrap();
    assert_eq!(pitree.ids(), ["by-project"]);
    fs::write(pitree.home().join(".pi/settings.json"), r#"{"sessionDir": "nowhere"}"#).unwrap();
    let settings = pitree.home().join(".pi/settings.json");
    let outcome = pitree.run(&["ls"]);
    assert!(outcome.err.contains(&format!("sessionDir in {}", settings.display())), "{}", outcome.err);

    let pitree = pitree.variable("PI_CODING_AGENT_SESSION_DIR", "~/by hand");
    pitree.session("by hand", "by-variable");
    assert_eq!(pitree.ids(), ["by-variable"]);
    fs::write(pitree.home().join("c.toml"), "dirs = [\"~/from-settings\"]\n").unwrap();
    let configured = pitree.objects(&["ls", "--json", "--config", "c.toml"]);
    assert_eq!(configured.len(), 1);
    assert_eq!(configured[0]["id"], "by-settings");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let pitree = Pitree::new();
    let file = format!("{FIXTURES}/sessions/--home-dev-odd--/control-characters.jsonl");
    let dir = pitree.home().join("s");
    fs::create_dir(&dir).unwrap();
    fs::copy(file, dir.join("x.jsonl")).unwrap();
    for args in [
        &["ls"][..],
        &["ls", "--json"],
        &["tree", "s/x.jsonl"],
        &["tree", "s/x.jsonl", "--json"],
        &["tree", "s/x.jsonl", "--filter", "all"],
        &["labels"],
        &["labels", "--json"],
        &["files"],
        &["files", "s/x.jsonl", "--json"],
        &["tree", "nothing-\u{1b}[31m"],
    ] {
        let outcome = pitree.run(&[args, &["--dir", "s"]].concat());
        let text = outcome.out + &outcome.err;
        let odd = text.chars().find(|&c| c != '\n' && pitree::base::text::is_unsafe(c));
        assert_eq!(odd, None, "{args:?}: {text:?}");
    }
}

#[test]
fn files_of_similar_programs_are_refused_with_the_reason() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let session = std::fs::read_to_string(pitree.fixture("images")).unwrap();
    for (name, rest) in [("short", ""), ("long", &*"x".repeat(100_000))] {
        let text = format!("{{\"type\":\"title\",\"title\":\"A title{rest}\"}}\n{session}");
        pitree.write(&format!("{name}.jsonl"), &text);
    }
    let outcome = pitree.run(&["ls"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (2, 2), "{}", outcome.out);
    assert_eq!(outcome.err, "pitree: cannot read 2 files; `pitree doctor` lists them\n");
    let outcome = pitree.run(&["doctor"]);
    for name in ["short", "long"] {
        let said = outcome.err.lines().find(|line| line.contains(&format!("{name}.jsonl"))).unwrap();
        assert!(said.contains("unsupported oh-my-pi format (title before the header)"), "{said}");
    }
}

#[test]
fn the_default_tree_filter_comes_from_the_configuration_or_pi() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let settings = pitree.home().join(".pi/agent/settings.json");
    let rows = || pitree.print(&["tree", "branches"]);
    let (all, user) = (rows(), pitree.print(&["tree", "branches", "--filter", "user-only"]));
    assert_ne!(all, user);
    std::fs::write(&settings, r#"{"treeFilterMode":"user-only"}"#).unwrap();
    assert_eq!(rows(), user);
    std::fs::write(&settings, r#"{"treeFilterMode":"what is that"}"#).unwrap();
    assert_eq!(rows(), all);
    std::fs::write(&settings, r#"{"treeFilterMode":"user-only"}"#).unwrap();
    let config = pitree.home().join("config.toml");
    std::fs::write(&config, "filter = \"default\"\n").unwrap();
    assert_eq!(pitree.print(&["tree", "branches", "--config", config.to_str().unwrap()]), all);
}

#[test]
fn directories_without_sessions_say_why_and_what_to_do() {
    let pitree = Pitree::new();
    let (file, empty) = (pitree.home().join("file"), pitree.home().join("empty"));
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&empty).unwrap();
    let missing = pitree.home().join("missing");
    for (dir, why) in [
        (&missing, "no such directory"),
        (&file, "not a directory; specify the directory that holds the session files"),
        (&empty, "no sessions in"),
    ] {
        let run = pitree.run(&["ls", "--dir", dir.to_str().unwrap()]);
        assert!(run.err.contains(why) && run.err.contains("try --demo"), "{}", run.err);
        assert!(!run.err.contains("os error"), "{}", run.err);
    }
    let run = pitree.run(&["ls"]);
    assert!(run.err.contains("no sessions yet: pi creates"), "{}", run.err);
    let run = pitree.variable("HOME", "/nonexistent").run(&["ls"]);
    assert!(run.err.contains("home directory /nonexistent not found; set HOME"), "{}", run.err);
    let run = Pitree::new().run(&["tree", "/nowhere/at/all.jsonl"]);
    assert!(run.err.contains("No such file or directory") && !run.err.contains("os error"), "{}", run.err);
}

#[test]
fn unreadable_files_are_counted_and_listed_by_doctor() {
    let dir = format!("{FIXTURES}/sessions");
    let err = Pitree::new().run(&["ls", "--dir", &dir]).err;
    assert!(err.ends_with("pitree: cannot read 2 files; `pitree doctor` lists them\n"), "{err}");
    let found = Pitree::new().run(&["doctor", "--dir", &dir]).out;
    assert!(["/bom.jsonl", "/not-a-session-entry-first.jsonl"].iter().all(|file| found.contains(file)), "{found}");
}
