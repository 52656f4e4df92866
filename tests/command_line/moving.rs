//! `pitree move`: sessions follow a project to another working directory.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::command_line::pitree::{Outcome, Pitree};
use crate::common::session::Session;

/// Returns the path of a session in pi's folder of a working directory.
fn place(pitree: &Pitree, dir: &Path, name: &str) -> PathBuf {
    let folder = format!("-{}--", dir.to_str().unwrap().replace('/', "-"));
    pitree.home().join(".pi/agent/sessions").join(folder).join(format!("{name}.jsonl"))
}

/// Writes a session to pi's folder of its working directory.
fn write(pitree: &Pitree, dir: &Path, session: Session) -> PathBuf {
    let name = format!("2026_{}", session.id);
    let path = place(pitree, dir, &name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, session.cwd(dir).text()).unwrap();
    path
}

fn said(outcome: &Outcome, text: &str) {
    assert!(outcome.err.contains(text), "{}", outcome.err);
}

/// Returns a field of each listed session by ID.
fn listed(pitree: &Pitree, field: &str) -> Vec<(String, Value)> {
    let all = pitree.objects(&["ls", "--json", "--subagents"]);
    let mut all: Vec<(String, Value)> =
        all.iter().map(|session| (session["id"].as_str().unwrap().into(), session[field].clone())).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

#[test]
fn sessions_follow_a_moved_project() {
    let pitree = Pitree::new();
    let [old, new, other] = ["app", "code/app", "other"].map(|dir| pitree.home().join(dir));
    [&new, &other].into_iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
    let root = Session::new("root").user("u1", "how it began").assistant("a1", "as it went");
    let path = write(&pitree, &old, root.clone());
    write(&pitree, &old, root.clone().forked("fork", &path, 60).user("u2", "in the same project"));
    let away = write(&pitree, &other, root.forked("away", &path, 120).user("u3", "in another project"));
    write(&pitree, &old.join("gone"), Session::new("below").user("u4", "in a missing directory"));
    write(&pitree, &new, Session::new("there").user("u5", "already there"));
    pitree.print(&["tag", "root", "+release"]);
    let before = (listed(&pitree, "path"), listed(&pitree, "parent"), fs::read(&away).unwrap());

    // A dry run changes no file, and names all new paths.
    let files = pitree.files();
    let outcome = pitree.run(&["move", "app", "code/app", "--dry-run", "--json"]);
    said(&outcome, "1 fork elsewhere names the old path; --relink sets the new path");
    let planned: Vec<Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let planned: Vec<_> = planned.iter().map(|line| json!([line["kind"], line["cwd"], line["to"]])).collect();
    let line = |name: &str, dir: &Path| json!(["move", dir, place(&pitree, dir, name)]);
    assert_eq!(planned.len(), 3);
    for line in [line("2026_root", &new), line("2026_fork", &new), line("2026_below", &new.join("gone"))] {
        assert!(planned.contains(&line), "{line}");
    }
    assert_eq!(pitree.files(), files);

    // The family stays whole, also with a fork elsewhere that names the old path.
    pitree.run(&["move", "app", "code/app", "--yes"]);
    let cwds = listed(&pitree, "cwd");
    let expected = [("away", &other), ("below", &new.join("gone")), ("fork", &new), ("root", &new), ("there", &new)];
    assert_eq!(cwds, expected.map(|(id, dir)| (id.to_string(), json!(dir))));
    assert_eq!(fs::read(&away).unwrap(), before.2);
    let parents: Vec<Value> = listed(&pitree, "parent").into_iter().map(|(_, parent)| parent).collect();
    let moved = place(&pitree, &new, "2026_root");
    let parent = |state: &str| json!({"path": moved, "state": state});
    assert_eq!(parents, [parent("moved"), Value::Null, parent("present"), Value::Null, Value::Null]);
    assert_eq!(pitree.print(&["tag", "root"]).trim(), "+release");

    pitree.print(&["undo"]);
    assert_eq!((listed(&pitree, "path"), listed(&pitree, "parent"), fs::read(&away).unwrap()), before);
    // With its path in the fork.
    let done = pitree.objects(&["move", "app", "code/app", "--relink", "--yes", "--json"]);
    let kinds: Vec<_> = done.iter().map(|line| json!([line["kind"], line["purpose"]])).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == json!(["move", null])).count(), 3);
    assert_eq!(kinds.last(), Some(&json!(["rewrite", "relink"])));
    assert!(fs::read_to_string(&away).unwrap().contains(moved.to_str().unwrap()));
    assert_eq!(pitree.objects(&["undo", "--json"]).len(), 4);
    assert_eq!((listed(&pitree, "path"), fs::read(&away).unwrap()), (before.0, before.2));
}

#[test]
fn single_sessions_and_families_move() {
    let pitree = Pitree::new();
    let [old, new] = ["app", "lib"].map(|dir| pitree.home().join(dir));
    [&old, &new].into_iter().for_each(|dir| fs::create_dir_all(dir).unwrap());
    let root = Session::new("root").user("u1", "how it began").assistant("a1", "as it went");
    let path = write(&pitree, &old, root.clone());
    write(&pitree, &old, root.forked("fork", &path, 60).user("u2", "a fork"));
    let agent = path.with_file_name("2026_root/abc/run-0/session.jsonl");
    fs::create_dir_all(agent.parent().unwrap()).unwrap();
    fs::write(&agent, Session::new("agent").cwd(&old).user("u3", "a subagent").text()).unwrap();
    pitree.print(&["move", "fork", "--to", "lib", "--yes"]);
    let cwds = || listed(&pitree, "cwd").into_iter().map(|(_, cwd)| cwd).collect::<Vec<_>>();
    assert_eq!(cwds(), [json!(old), json!(new), json!(old)]);
    pitree.print(&["undo"]);
    pitree.print(&["move", "fork", "--family", "--to", "lib", "--yes"]);
    assert_eq!(cwds(), [json!(new), json!(new), json!(new)]);
    assert!(place(&pitree, &new, "2026_root/abc/run-0/session").exists() && !agent.exists());
}

#[test]
fn questions_and_mistakes_change_nothing() {
    let pitree = Pitree::new();
    let [old, new] = ["code/app", "code/2026/app"].map(|dir| pitree.home().join(dir));
    fs::create_dir_all(new.join(".git")).unwrap();
    write(&pitree, &old, Session::new("one").user("u1", "hello"));
    assert!(pitree.refuse(&["move", "code/app"]).contains("it may be ~/code/2026/app"));
    assert!(pitree.refuse(&["move", "code/app", "code/new", "--yes"]).contains("no such directory: "));
    assert!(pitree.refuse(&["move", "code/other", "code", "--yes"]).contains("no session has the working directory"));
    assert!(pitree.refuse(&["move", "code/app", "code", "x", "--yes"]).contains("one old and one new directory"));
    assert!(pitree.refuse(&["move", "code/app", "code/2026/app"]).contains("without a terminal"));
    // Archived sessions stay, and are asked about by name.
    pitree.print(&["archive", "one", "--yes"]);
    let outcome = pitree.run(&["move", "code/app", "code", "--yes"]);
    assert_eq!(outcome.code, 1);
    said(&outcome, "1 archived session stays");
    assert!(pitree.refuse(&["move", "one", "--to", "code", "--yes"]).contains("is archived"));
}
