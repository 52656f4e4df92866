//! Resuming in pi: forks, moved leaves, and the command that starts pi. A shell script stands in for pi.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::command_line::pitree::{Outcome, Pitree};

/// Records pi's working directory, its arguments and the content of the session at the start.
const PI: &str = r#"case "$*" in *--version) exit 1;; esac
{ pwd -P; for word; do echo "$word"; done; } > "$HOME/started"
cp "$2" "$HOME/session-then"
exit 7
"#;

/// Creates pitree with a pi on the PATH.
fn with_pi() -> Pitree {
    let pitree = Pitree::new();
    pitree.script("bin/pi", PI);
    let path = format!("{}/bin:/usr/bin:/bin", pitree.home().display());
    pitree.variable("PATH", &path)
}

/// Resumes; returns pi's arguments and pitree's messages.
fn started(pitree: &Pitree, args: &[&str]) -> (Vec<String>, Outcome) {
    let outcome = pitree.run(&[&["resume"], args].concat());
    assert_eq!((outcome.code, outcome.out.as_str()), (7, ""), "{args:?}: {}", outcome.err);
    let started = fs::read_to_string(pitree.home().join("started")).unwrap();
    (started.lines().map(String::from).collect(), outcome)
}

fn assert_home(pitree: &Pitree, dir: &str) {
    assert_eq!(Path::new(dir), dunce::canonicalize(pitree.home()).unwrap());
}

#[test]
fn resumes_at_the_leaf_without_a_write() {
    let pitree = with_pi();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    for args in [&["branches"][..], &["branches", "a8"], &[".pi/agent/sessions/--p--/branches.jsonl"]] {
        let (words, outcome) = started(&pitree, args);
        assert_home(&pitree, &words[0]);
        assert_eq!(words[1..], ["--session", path.to_str().unwrap()]);
        assert_eq!(outcome.err, "");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn resumes_at_an_entry_by_one_neutral_line() {
    let pitree = with_pi();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let (_, outcome) = started(&pitree, &["branches", "jwt-works", "--allow-write"]);
    assert_eq!(outcome.err, "move leaf to a2  ~/.pi/agent/sessions/--p--/branches.jsonl\n");
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&before) && after[before.len()..].iter().filter(|&&b| b == b'\n').count() == 1);
    assert_eq!(fs::read(pitree.home().join("session-then")).unwrap(), after, "pi found it so");
    assert_eq!(pitree.goes_on_at(&path).unwrap(), "a2");
    assert_eq!(pitree.entry(&path, |entry| entry["id"] == "a2")["label"], "jwt-works");

    // A user message means the place before it; its text is handed back.
    let (_, outcome) = started(&pitree, &["branches", "u5", "--allow-write"]);
    assert!(outcome.err.ends_with("message text:\nRotate daily\n"), "{}", outcome.err);
    assert_eq!(pitree.goes_on_at(&path).unwrap(), "a4");
    pitree.print(&["undo"]);
    assert_eq!(pitree.goes_on_at(&path).unwrap(), "a2");
    pitree.print(&["undo"]);
    assert_eq!(pitree.goes_on_at(&path).unwrap(), "a8");
}

#[test]
fn resumes_in_a_fork() {
    let pitree = with_pi();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let (words, outcome) = started(&pitree, &["branches", "u3", "--fork"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    let made = Path::new(&words[2]);
    assert!(made != path && made.parent() == path.parent());
    assert!(
        outcome.err.starts_with("create fork  ~/") && outcome.err.contains("Add refresh tokens"),
        "{}",
        outcome.err
    );
    assert_eq!(pitree.listed(made)["parentSession"], path.to_str().unwrap());
    assert_eq!(pitree.goes_on_at(made).unwrap(), "a2");
}

#[test]
fn writes_nothing_if_pi_cannot_start_in_the_directory() {
    let pitree = with_pi();
    let path = pitree.fixture("branches");
    let text = fs::read_to_string(&path).unwrap();
    let cwd: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let text = text.replacen(cwd["cwd"].as_str().unwrap(), "/no/such/directory", 1);
    fs::write(&path, &text).unwrap();
    for option in ["--allow-write", "--fork"] {
        let outcome = pitree.run(&["resume", "branches", "jwt-works", option]);
        assert!(outcome.err.contains("working directory is missing: /no/such/directory"), "{}", outcome.err);
        assert_eq!((outcome.code, fs::read_to_string(&path).unwrap()), (2, text.clone()));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no fork");
    }
}

#[test]
fn forks_a_path_and_prints_the_new_file() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let outcome = pitree.run(&["fork", "branches", "u3"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.starts_with("create fork  ~/.pi/"), "{}", outcome.err);
    let made = Path::new(outcome.out.strip_suffix('\n').unwrap());
    assert_eq!(fs::read(&path).unwrap(), before);
    let entries = pitree.objects(&["tree", made.to_str().unwrap(), "--json"]);
    let ids: Vec<&Value> = entries.iter().filter(|entry| entry["type"] != "label").map(|entry| &entry["id"]).collect();
    assert_eq!(ids, ["u1", "a1", "u2", "a2", "u3"]);
    assert_eq!(pitree.entry(made, |entry| entry["id"] == "a2")["label"], "jwt-works");
    let objects = pitree.objects(&["fork", "branches", "a2", "--json"]);
    assert_eq!((&objects[0]["kind"], &objects[0]["done"]), (&"fork".into(), &true.into()));
    assert!(fs::exists(objects[0]["path"].as_str().unwrap()).unwrap());
}

#[test]
fn prints_a_command_for_the_shell() {
    let pitree = with_pi();
    let project = pitree.home().join("it's a project");
    fs::create_dir(&project).unwrap();
    let path = pitree.fixture("branches");
    let odd = path.with_file_name("it's odd.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&odd, text.replace(&format!("{:?}", pitree.home()), &format!("{project:?}"))).unwrap();
    fs::remove_file(path).unwrap();
    let outcome = pitree.run(&["resume", odd.to_str().unwrap(), "a2", "--print", "--allow-write"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.starts_with("cd '") && outcome.out.contains("&& pi --session '"), "{}", outcome.out);
    assert_eq!(pitree.goes_on_at(&odd).unwrap(), "a2", "the write is made");
    let variables = [("HOME", pitree.home().to_str().unwrap().to_string()), ("PATH", pitree.path_variable())];
    Command::new("/bin/sh").args(["-c", &outcome.out]).env_clear().envs(variables).status().unwrap();
    let started = fs::read_to_string(pitree.home().join("started")).unwrap();
    let words: Vec<&str> = started.lines().collect();
    assert_eq!(Path::new(words[0]), dunce::canonicalize(project).unwrap());
    assert_eq!(words[1..], ["--session", odd.to_str().unwrap()]);
}

#[test]
fn prints_objects_for_a_script() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let objects = pitree.objects(&["resume", "branches", "u5", "--json", "--allow-write"]);
    assert_eq!((objects.len(), &objects[0]["kind"], &objects[0]["after"]), (2, &"leaf".into(), &"a4".into()));
    let command = ["pi", "--session", path.to_str().unwrap()];
    assert_eq!(objects[1], json!({"path": path, "cwd": pitree.home(), "command": command, "text": "Rotate daily"}));
}

#[test]
fn prints_the_command_if_pi_does_not_start() {
    let pitree = Pitree::new().variable("PATH", "/nowhere");
    let path = pitree.fixture("branches");
    let refused = pitree.refuse(&["resume", "branches"]);
    let command = format!("cd {} && pi --session {}", pitree.home().display(), path.display());
    assert!(refused.contains(&command) && refused.contains("cannot find pi on the PATH"), "{refused}");
    let gone = fs::read_to_string(&path).unwrap().replace(&format!("{:?}", pitree.home()), "\"/nowhere/at/all\"");
    fs::write(&path, gone).unwrap();
    let refused = pitree.refuse(&["resume", "branches"]);
    assert!(refused.contains("is missing: /nowhere/at/all") && refused.contains("\n  pi --session "), "{refused}");
    let printed = pitree.run(&["resume", "branches", "--print"]);
    assert_eq!((printed.code, printed.out), (0, format!("pi --session {}\n", path.display())));
    assert!(printed.err.contains("is missing"), "{}", printed.err);
    let agent = pitree.home().join(".pi/agent").display().to_string();
    let pitree = pitree.variable("PI_CODING_AGENT_DIR", &agent);
    let printed = pitree.run(&["resume", "branches", "--print"]).out;
    assert_eq!(printed, format!("env 'PI_CODING_AGENT_DIR={agent}' pi --session {}\n", path.display()));
}

#[test]
fn pi_is_found_like_in_a_shell() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let home = pitree.home();
    fs::create_dir_all(home.join("a-folder/pi")).unwrap();
    fs::create_dir(home.join("no-program")).unwrap();
    fs::write(home.join("no-program/pi"), "#!/bin/sh\nexit 9\n").unwrap();
    for (place, code) in [("first", 3), ("second", 4), (".", 5)] {
        pitree.script(&format!("{place}/pi"), &format!("exit {code}\n"));
    }
    fs::write(home.join("slash.toml"), "pi = [\"second/pi\"]\n").unwrap();
    fs::write(home.join("none.toml"), "pi = [\"no-program/pi\"]\n").unwrap();
    let resumed = |path: &str, args: &[&str]| {
        let path = path.replace('@', home.to_str().unwrap());
        Outcome::of(pitree.command(&[&["resume", "branches"], args].concat()).env("PATH", path))
    };
    for (path, code) in [
        ("@/a-folder:@/no-program:@/gone:@/first:@/second", 3),
        ("@/second:@/first", 4),
        ("@/a-folder:", 5),
        (":@/first", 5),
        ("@/gone::@/first", 5),
        ("first", 3),
    ] {
        assert_eq!(resumed(path, &[]).code, code, "{path}");
    }
    assert_eq!(resumed("@/first", &["--config", "slash.toml"]).code, 4);
    let said = resumed("@/first", &["--config", "none.toml"]).err;
    assert!(said.contains("cannot start no-program/pi: Permission denied"), "{said}");
    let said = resumed("@/a-folder:@/no-program", &[]).err;
    assert!(said.contains("cannot find pi on the PATH"), "{said}");
}

#[test]
fn prints_the_path_of_a_session() {
    let pitree = Pitree::new();
    let path = pitree.fixture("branches");
    let line = format!("{}\n", path.display());
    for word in [
        "branches",
        "branch",
        ".pi/agent/sessions/--p--/branches.jsonl",
        ".pi/../.pi/agent/sessions/--p--/branches.jsonl",
    ] {
        assert_eq!(pitree.print(&["path", word]), line, "{word}");
    }
    assert_eq!(pitree.print(&["path", "branches", "--dir", ".pi/agent/../agent/sessions"]), line);
    assert_eq!(
        pitree.objects(&["path", "branches", "--json"]),
        [json!({"path": path, "id": "branches", "cwd": pitree.home()})]
    );
    fs::write(pitree.home().join("x.jsonl"), "{}").unwrap();
    for word in ["nothing", "nothing.jsonl", "x.jsonl"] {
        pitree.refuse(&["path", word]);
    }
}

/// Creates pitree with a pi on the PATH that reports its version.
fn with_new_pi() -> Pitree {
    let pitree = with_pi();
    pitree.script("bin/pi", &format!("case $* in --version) echo 1.5.2; exit;; esac\n{PI}"));
    pitree
}

#[test]
fn a_pi_with_navigation_support_receives_the_extension_and_the_entry() {
    let pitree = with_new_pi();
    let path = pitree.fixture("branches");
    let before = fs::read(&path).unwrap();
    let file = path.to_str().unwrap();
    for (args, told) in [
        (&["branches", "a3"][..], "/pitree-goto a3"),
        (&["branches", "u5"], "/pitree-goto u5"),
        (&["branches", "u5", "--summarize"], "/pitree-goto u5 summarize"),
    ] {
        let (words, outcome) = started(&pitree, args);
        let [_, e, extension, session, of, first] = &words[..] else { panic!("{words:?}") };
        assert_eq!([e, session, of, first], ["-e", "--session", file, told]);
        let text = fs::read_to_string(extension).unwrap();
        assert_eq!(text, include_str!("../../assets/pi/goto.ts"));
        assert_eq!(outcome.err, "", "the text is pi's to give back");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let (words, _) = started(&pitree, &["branches", "a8"]);
    assert_eq!(words[1..], ["--session", file], "at the leaf there is nothing to tell");
    let (words, outcome) = started(&pitree, &["branches", "u3", "--fork"]);
    assert!(words[5].starts_with("/pitree-text ") && words[5].ends_with(file), "{words:?}");
    assert!(!outcome.err.contains("the text of the message"), "{}", outcome.err);

    let line = pitree.print(&["resume", "branches", "a3", "--print"]);
    assert!(line.trim_end().ends_with(" '/pitree-goto a3'"), "{line}");
    fs::remove_file(pitree.home().join("started")).unwrap();
    let path_of_programs = format!("{}/bin:/usr/bin:/bin", pitree.home().display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("PATH", path_of_programs).env("HOME", pitree.home());
    assert_eq!(shell.status().unwrap().code(), Some(7));
    assert!(fs::read_to_string(pitree.home().join("started")).unwrap().ends_with("\n/pitree-goto a3\n"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn summaries_that_are_impossible_report_the_reason() {
    let pitree = with_new_pi();
    pitree.fixture("branches");
    let fails = |pitree: &Pitree, args: &[&str]| {
        let outcome = pitree.run(&[&["resume"], args].concat());
        assert_ne!(outcome.code, 0, "{args:?}");
        outcome.err
    };
    assert!(fails(&pitree, &["branches", "a8", "--summarize"]).contains("nothing to summarize"));
    let said = fails(&pitree, &["branches", "--summarize"]);
    assert!(said.contains("ENTRY"), "{said}");
    let config = pitree.home().join(".config/pitree");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "go-by = \"line\"\n").unwrap();
    let said = fails(&pitree, &["branches", "a3", "--summarize"]);
    assert!(said.contains("go-by is \"line\""), "{said}");
    pitree.run(&["resume", "branches", "a3", "--print", "--allow-write"]);
    assert_eq!(pitree.goes_on_at(&pitree.home().join(".pi/agent/sessions/--p--/branches.jsonl")).unwrap(), "a3");
    let old = with_pi();
    old.fixture("branches");
    assert!(fails(&old, &["branches", "a3", "--summarize"]).contains("did not report its version"));
}

#[test]
fn moving_the_leaf_needs_permission_to_write() {
    let new = with_new_pi();
    let old = with_pi();
    old.script("bin/pi", &format!("case $* in --version) echo 0.70.5; exit;; esac\n{PI}"));
    let none = Pitree::new().variable("PATH", "/nowhere");
    let no_cache = with_new_pi().variable("XDG_CACHE_HOME", "/proc/none");
    let elsewhere = tempfile::tempdir().unwrap();
    let cache = elsewhere.path().join("open");
    fs::create_dir_all(cache.join("pitree")).unwrap();
    fs::set_permissions(&cache, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let open_cache = with_new_pi().variable("XDG_CACHE_HOME", cache.to_str().unwrap());
    let by_line = with_new_pi();
    let config = by_line.home().join(".config/pitree");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "go-by = \"line\"\n").unwrap();
    for (pitree, reason) in [
        (&old, "pi has version 0.70.5; 0.70.6 or later is required"),
        (&none, "cannot find pi on the PATH"),
        (&no_cache, "cannot write its extension to /proc/none"),
        (&open_cache, "is writable by all users"),
        (&by_line, "go-by is \"line\" in config.toml"),
    ] {
        let path = pitree.fixture("branches");
        let before = fs::read(&path).unwrap();
        for more in [&["--print"][..], &["--print", "--json"], &["--print", "--dry-run"], &[]] {
            let may_write = more.is_empty() && std::ptr::eq(pitree, &by_line);
            if !may_write {
                let refused = pitree.run(&[&["resume", "branches", "a3"], more].concat());
                assert_eq!((refused.code, &*refused.out), (2, ""), "{more:?}: {}", refused.err);
                assert!(refused.err.contains(reason) && refused.err.contains("--allow-write"), "{}", refused.err);
                assert_eq!(fs::read(&path).unwrap(), before, "{more:?}: {reason}");
            }
        }
        assert_eq!(pitree.run(&["resume", "branches", "a3", "--print", "--fork"]).code, 0);
        assert_eq!(fs::read(&path).unwrap(), before, "{reason}");
        assert_eq!(pitree.run(&["resume", "branches", "a3", "--print", "--allow-write"]).code, 0);
        assert!(fs::read(&path).unwrap().starts_with(&before));
        assert_eq!(pitree.goes_on_at(&path).unwrap(), "a3");
    }
    let path = new.fixture("branches");
    let before = fs::read(&path).unwrap();
    new.print(&["resume", "branches", "a3", "--print", "--allow-write"]);
    assert_eq!(fs::read(&path).unwrap(), before, "pi goes there by itself");
}
