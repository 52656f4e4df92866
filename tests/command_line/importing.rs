//! `pitree import`: sessions from files of other people and machines.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

const THEIRS: &str = "019a0000-0000-7000-8000-000000000001";

fn theirs() -> Session {
    Session::new(THEIRS)
        .cwd("/their/project")
        .parent(Path::new("/etc/passwd"))
        .user("u1", "Begin")
        .assistant("a1", "Done")
}

/// Writes a file outside the session directories.
fn outside(pitree: &Pitree, name: &str, text: &str) -> PathBuf {
    let path = pitree.home().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Imports a file and returns the path of the session.
fn import(pitree: &Pitree, args: &[&str]) -> String {
    let outcome = pitree.run(&[&["import"], args].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    outcome.out.trim().into()
}

/// Returns the values of the lines of a file.
fn lines(path: &str) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_is_added_to_the_project_of_choice_and_removed_by_undo() {
    let pitree = Pitree::new();
    let file = outside(&pitree, "theirs.jsonl", &theirs().text());
    let project = pitree.home().join("work/app");
    fs::create_dir_all(&project).unwrap();
    let project = project.to_str().unwrap();
    let path = &*import(&pitree, &[file.to_str().unwrap(), "--cwd", project]);
    let folder = format!("/--{}--/", project.trim_start_matches('/').replace('/', "-"));
    assert!(path.contains(&folder) && path.ends_with(&format!("_{THEIRS}.jsonl")), "{path}");
    let (now, before) = (lines(path), lines(file.to_str().unwrap()));
    assert_eq!(now[1..], before[1..]);
    assert_eq!((&now[0]["cwd"], &now[0]["id"]), (&project.into(), &THEIRS.into()));
    assert!(now[0].get("parentSession").is_none() && now[0]["imported"].is_string(), "{}", now[0]);
    assert!(pitree.print(&["search", "is:imported"]).contains("Begin"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    pitree.print(&["undo"]);
    assert!(!fs::exists(path).unwrap());
    pitree.print(&["redo"]);
    assert_eq!(lines(path), now);
}

#[test]
fn an_id_that_is_in_use_is_replaced() {
    let pitree = Pitree::new();
    let file = outside(&pitree, "theirs.jsonl", &theirs().text());
    let first = import(&pitree, &[file.to_str().unwrap()]);
    let outcome = pitree.run(&["import", file.to_str().unwrap()]);
    assert!(outcome.err.contains(&format!("another session has the id {THEIRS}")), "{}", outcome.err);
    let second = outcome.out.trim();
    assert_ne!(lines(second)[0]["id"], THEIRS);
    assert_eq!(lines(second)[1..], lines(&first)[1..]);
}

#[test]
fn invalid_lines_are_omitted_and_named() {
    let pitree = Pitree::new();
    let text = theirs().text() + "no JSON\n{\"type\":\"message\",\"id\":\"torn";
    let file = outside(&pitree, "theirs.jsonl", &text);
    let outcome = pitree.run(&["import", file.to_str().unwrap()]);
    assert!(outcome.err.contains("omitted 2 invalid lines: 4, 5"), "{}", outcome.err);
    assert_eq!(lines(outcome.out.trim()).len(), 3);
}

#[test]
fn a_dry_run_and_refusals_write_nothing() {
    let pitree = Pitree::new();
    let file = outside(&pitree, "theirs.jsonl", &theirs().text());
    assert!(pitree.print(&["import", "--dry-run", file.to_str().unwrap()]).contains("import session"));
    let other = outside(&pitree, "other.jsonl", "{\"type\":\"message\"}\n");
    assert!(pitree.refuse(&["import", other.to_str().unwrap()]).contains("the first line is not a session header"));
    let newer = outside(&pitree, "newer.jsonl", &theirs().text().replacen("\"version\":3", "\"version\":9", 1));
    assert!(pitree.refuse(&["import", newer.to_str().unwrap()]).contains("newer format (version 9)"));
    assert!(pitree.refuse(&["import", "missing.jsonl"]).contains("cannot read missing.jsonl"));
    assert!(pitree.refuse(&["import", file.to_str().unwrap(), "--cwd", "missing"]).contains("no such directory: "));
    assert!(!fs::exists(pitree.home().join(".pi")).unwrap());
}
