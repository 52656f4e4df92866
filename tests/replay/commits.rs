//! Compares the commits found in the output of the installed git with those of the repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use pitree::session::digest::builder::DigestBuilder;
use pitree::session::digest::commits::{CommitPrefix, DigestCommit};
use pitree::session::lines::Line;
use serde_json::{Value, json};

/// Runs a script in a directory, without the settings of the user, and returns its output with its errors.
fn run(dir: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec 2>&1\n{script}")).current_dir(dir).env("HOME", dir.parent().unwrap());
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Me").env(format!("GIT_{name}_EMAIL"), "me@example.org");
    }
    let settings = [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_EDITOR", "true")];
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    String::from_utf8(command.envs(settings).output().unwrap().stdout).unwrap()
}

/// Returns the commits of a session with one call.
fn found(script: &str, output: &str) -> Vec<DigestCommit> {
    let message = |id: &str, message: Value| json!({"type": "message", "id": id, "message": message}).to_string();
    let call = json!({"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": script}});
    let lines = [
        json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"}).to_string(),
        message("a", json!({"role": "assistant", "content": [call]})),
        message("r", json!({"role": "toolResult", "toolCallId": "c", "content": [{"type": "text", "text": output}]})),
    ];
    let mut builder = DigestBuilder::new("");
    lines.iter().for_each(|line| builder.line(Line::new(0, line.as_bytes(), true)));
    builder.finish(0, &mut |_| None).unwrap().commits
}

/// The title and the branch of the last commit that a command prints.
type LastCommit = (&'static str, Option<&'static str>);

#[test]
fn commits_that_git_prints_are_those_of_the_repository() {
    let dir = tempfile::tempdir().unwrap();
    let repository = dir.path().join("work");
    fs::create_dir(&repository).unwrap();
    if !run(&repository, "git init -b main").contains("Initialized") {
        return; // git is missing
    }
    let hook = "printf '#!/bin/sh\\nprintf \"lint 1/2\\\\rlint 2/2\\\\r\"\\necho \"[ok] checked [main 1234567] x\"\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";
    // git prints no hash for commands with `None`.
    let cases: [(&str, Option<LastCommit>); 17] = [
        ("echo a > a; git add -A && git commit -m 'First [one]'", Some(("First [one]", Some("main")))),
        ("echo b > a; git commit -am \"$(cat <<'EOF'\nDon't\n\nBody\nEOF\n)\"", Some(("Don't", Some("main")))),
        ("git commit --amend -m 'Amended' && false", Some(("Amended", Some("main")))),
        ("echo b >> a; git commit -qam Quiet", None),
        ("git commit -m x", None),
        ("git checkout -q -b feature/x; echo c > c; git add c; git -C . commit -m C", Some(("C", Some("feature/x")))),
        ("git checkout main && git merge feature/x", Some(("Fast-forward", None))),
        ("git checkout -q -b other HEAD~1; echo d > d; git add d; git commit -m D", Some(("D", Some("other")))),
        ("git checkout -q main && git merge --no-edit other", None),
        ("git checkout -q --detach; echo e > e; git add e; git commit -m E", Some(("E", None))),
        ("git checkout -q main; git cherry-pick -", Some(("E", Some("main")))),
        ("git revert --no-edit HEAD", Some(("Revert \"E\"", Some("main")))),
        (hook, None),
        ("for i in 1 2; do echo $i > f; git add f; git commit -m \"F$i\"; done", Some(("F2", Some("main")))),
        (
            "git checkout -q -b left; echo l > g; git add g; git commit -m L; git checkout -q main",
            Some(("L", Some("left"))),
        ),
        ("echo r > g; git add g; bash -c 'git commit -m R'", Some(("R", Some("main")))),
        ("git merge left; echo m > g; git add g; git merge --continue", Some(("Merge branch 'left'", Some("main")))),
    ];
    for (script, wanted) in cases {
        let output = run(&repository, script);
        let found = found(script, &output);
        let last = found.last().map(|commit| (&*commit.title, commit.branch.as_deref()));
        assert_eq!(last, wanted, "{script}: {output}");
        let Some(commit) = found.last() else { continue };
        let branch = commit.branch.as_deref().unwrap_or("HEAD");
        let whole = run(&repository, &format!("git rev-parse {branch}"));
        assert!(whole.starts_with(&*commit.sha), "{script}: {output}{whole}");
        assert!(CommitPrefix::read(whole.trim()).unwrap().unwrap().is_of(&commit.sha));
        let titles = run(&repository, &format!("git log -1 --format=%s {branch}"));
        assert!(&*commit.title == titles.trim() || &*commit.title == "Fast-forward", "{titles}");
        // Every found commit exists.
        for commit in &found {
            assert_eq!(run(&repository, &format!("git cat-file -t {}", commit.sha)), "commit\n", "{script}");
        }
    }
}
