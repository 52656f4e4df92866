//! `pitree setup`: the report, and the files it writes.

use std::fs;

use serde_json::Value;

use super::pitree::Pitree;
use crate::common::session::Session;

/// Returns a check of the report.
fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

fn report(pitree: &Pitree, args: &[&str]) -> Value {
    pitree.objects(&[&["setup", "--json"], args].concat()).remove(0)
}

#[test]
fn reports_what_is_missing_and_writes_nothing() {
    let pitree = Pitree::new().variable("SHELL", "/bin/bash").variable("TERM", "xterm-256color");
    let before = pitree.files();
    let found = report(&pitree, &[]);
    for (name, state) in [("sessions", "note"), ("pi", "note"), ("extension", "missing"), ("completions", "missing")] {
        assert_eq!(check(&found, name)["state"], state, "{name}");
    }
    assert!(check(&found, "pi")["text"].as_str().unwrap().contains("npm install -g @earendil-works/pi-coding-agent"));
    assert_eq!(check(&found, "clipboard")["text"], "by the terminal (OSC 52)");
    assert_eq!(check(&found, "terminal")["state"], "note", "no locale");
    let outcome = pitree.run(&["setup"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.out.contains("missing  extension    adds /pitree to pi"), "{}", outcome.out);
    assert!(
        outcome.err.contains("run `pitree setup --yes`") && outcome.err.contains("`pitree demo`"),
        "{}",
        outcome.err
    );
    assert!(before == pitree.files());
}

#[cfg(unix)]
#[test]
fn installs_what_is_missing_in_the_listed_files_only() {
    for (shell, rc) in [("/bin/bash", ".bashrc"), ("/usr/bin/zsh", ".zshrc"), ("/bin/fish", ".config/fish/config.fish")]
    {
        let pitree = Pitree::new().variable("SHELL", shell).variable("LANG", "C.UTF-8").variable("TERM", "xterm");
        pitree.write_session(&Session::new("one").user("a", "hello"));
        pitree.script("bin/pi", "echo 1.5.2\n");
        let bin = pitree.home().join("bin");
        let pitree = pitree.variable("PATH", bin.to_str().unwrap());
        let rc = pitree.home().join(rc);
        fs::create_dir_all(rc.parent().unwrap()).unwrap();
        fs::write(&rc, "# my own line").unwrap();
        let before = pitree.files();
        let listed: Vec<String> = report(&pitree, &[])["checks"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|check| check["files"].as_array().unwrap())
            .map(|file| file.as_str().unwrap().to_owned())
            .collect();
        let outcome = pitree.run(&["setup", "--yes"]);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let changed: Vec<String> = pitree
            .files()
            .into_iter()
            .filter(|(path, now)| before.get(path) != Some(now))
            .map(|(path, _)| path.to_str().unwrap().to_owned())
            .collect();
        assert!(changed.iter().all(|path| listed.contains(path)), "{changed:?} {listed:?}");
        assert!(listed.iter().all(|path| changed.contains(path)), "{changed:?} {listed:?}");
        let text = fs::read_to_string(&rc).unwrap();
        assert!(text.starts_with("# my own line\n") && text.lines().count() == 3, "{text}");
        let found = report(&pitree, &[]);
        for name in ["sessions", "pi", "extension", "completions", "shell key", "terminal"] {
            assert_eq!(check(&found, name)["state"], "ok", "{name}: {found}");
        }
        let after = pitree.files();
        pitree.run(&["setup", "--yes"]);
        assert!(after == pitree.files(), "nothing is missing");
    }
}

#[test]
fn the_demo_is_not_set_up() {
    assert!(Pitree::new().refuse(&["setup", "--demo"]).contains("run `pitree demo`"));
}

#[cfg(unix)]
#[test]
fn reports_whether_the_shell_finds_this_program() {
    let pitree = Pitree::new();
    let empty = pitree.home().join("empty");
    fs::create_dir(&empty).unwrap();
    let pitree = pitree.variable("PATH", empty.to_str().unwrap());
    let printed = pitree.run(&["setup"]).out.replace("\n                      ", " ");
    assert!(
        printed.contains("not on the PATH: add its directory to the PATH") && !printed.contains("cargo"),
        "{printed}"
    );
    pitree.script("bin/pitree", "exit 1\n");
    let bin = pitree.home().join("bin");
    let pitree = pitree.variable("PATH", bin.to_str().unwrap());
    let printed = pitree.run(&["setup"]).out;
    assert!(printed.contains("but the PATH leads to ~/bin/pitree"), "{printed}");
}
