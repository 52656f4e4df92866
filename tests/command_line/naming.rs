//! `pitree name`: titles by a program.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

/// A home with two sessions without a name and one with a name, and a program that keeps what it was given.
fn home(script: &str) -> (Pitree, [PathBuf; 3]) {
    let pitree = Pitree::new();
    let secret = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let wrapped = format!("<system-reminder>Never say so</system-reminder>\nFix the cache, key {secret}");
    let one =
        Session::new("one").cwd("/w/shop").user("u1", &wrapped).assistant("a1", "It is fixed.").user("u2", "Thanks");
    let two = Session::new("two").cwd("/w/shop").user("u1", "Only a prompt");
    let named = Session::new("named").cwd("/w/shop").user("u1", "Named").name("n1", "A name");
    let files = [one, two, named].map(|session| pitree.write_session(&session));
    let program = pitree.script("bin/title", script);
    let config = pitree.home().join(".config/pitree/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, format!("name-command = [{:?}, {:?}]\n", program.display(), pitree.home().display())).unwrap();
    (pitree, files)
}

fn name_of(pitree: &Pitree, file: &std::path::Path) -> Value {
    pitree.listed(file)["name"].clone()
}

#[test]
fn sessions_without_a_name_are_named_at_once() {
    let script = "digest=$(cat)\necho \"$digest\" >>\"$1/seen\"\nls -a >>\"$1/dir\"\necho; echo '\"Title of' $(echo \"$digest\" | wc -l)'\"'; echo more\n";
    let (pitree, [one, two, named]) = home(script);
    let before = fs::read(&named).unwrap();
    let list = pitree.objects(&["name", "--all-unnamed", "--dry-run", "--json"]);
    assert_eq!(list.iter().map(|one| &one["id"]).collect::<Vec<_>>().len(), 2, "{list:?}");
    assert!(!pitree.home().join("seen").exists(), "a dry run asks nothing");
    let run = pitree.run(&["name", "--all-unnamed", "--yes"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(name_of(&pitree, &one), "Title of 7", "{}", run.out);
    assert_eq!(name_of(&pitree, &two), "Title of 4");
    assert_eq!(fs::read(&named).unwrap(), before);
    let seen = fs::read_to_string(pitree.home().join("seen")).unwrap();
    assert!(seen.contains("- Fix the cache, key ") && seen.contains("- It is fixed."), "{seen}");
    assert!(!seen.contains("16C7e42F292c") && !seen.contains("Never say so"), "{seen}");
    let dirs = fs::read_to_string(pitree.home().join("dir")).unwrap();
    assert_eq!(dirs, ".\n..\n".repeat(2), "an empty directory");
    pitree.run(&["undo"]);
    assert_eq!([name_of(&pitree, &one), name_of(&pitree, &two)], [Value::Null, Value::Null], "one change, one undo");
}

#[test]
fn failures_leave_sessions_unnamed() {
    let (pitree, [one, two, named]) = home("grep -q 'Only a prompt' || exit 0\necho no key >&2\nexit 3\n");
    let run = pitree.run(&["name", "--all-unnamed", "--yes"]);
    assert!(run.code == 1 && run.err.contains("no title was found"), "{}", run.err);
    assert!(run.err.contains("unnamed: one: the command printed nothing"), "{}", run.err);
    assert!(run.err.contains("unnamed: two: ") && run.err.contains("no key"), "{}", run.err);
    assert_eq!([name_of(&pitree, &one), name_of(&pitree, &two)], [Value::Null, Value::Null]);
    assert!(pitree.refuse(&["name"]).contains("--all-unnamed"));
    assert!(pitree.run(&["name", "--yes", named.to_str().unwrap()]).err.contains("no session without a name"));
    let run = pitree.run(&["name", "cache"]);
    assert!(run.code == 2 && run.err.contains("--yes"), "without a terminal nothing is asked: {}", run.err);
}

#[test]
fn a_name_given_meanwhile_stays() {
    let script = "cat >/dev/null\nfile=$(find \"$1/.pi\" -name two.jsonl)\nprintf '%s\\n' '{\"type\":\"session_info\",\"id\":\"n\",\"parentId\":\"u1\",\"name\":\"Given\"}' >>\"$file\"\necho Title; sleep 60 >/dev/null &\n";
    let (pitree, [one, two, _]) = home(script);
    let run = pitree.run(&["name", "--all-unnamed", "--yes"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!([name_of(&pitree, &one), name_of(&pitree, &two)], ["Title", "Given"], "{}", run.out);
}
