//! `is:lost`: sessions whose lines are neither in the working tree nor at a tip of git's refs.

use std::fs;

use serde_json::json;

use crate::command_line::pitree::Pitree;
use crate::common::home::json_lines;
use crate::common::repository::with_real_git;
use crate::common::session::Session;

/// Returns a text of different lines.
fn text(name: &str, lines: usize) -> String {
    (0..lines).map(|line| format!("    let {name} = work({line});\n")).collect()
}

/// Writes a session whose abandoned branch uses a tool on a file.
fn session(pitree: &Pitree, id: &str, dir: &str, (tool, file, text): (&str, &str, &str)) {
    let [arguments, result] = match tool {
        "write" => [json!({"path": file, "content": text}), "Successfully wrote".into()],
        _ => [json!({"path": file}), text.into()],
    };
    let session = Session::new(id)
        .cwd(pitree.home().join(dir))
        .user("u", "Begin")
        .tool("t", tool, &arguments, result.as_str().unwrap())
        .under("u")
        .user("v", "Do something else");
    pitree.write_session(&session);
}

#[test]
fn lines_are_lost_until_a_file_or_a_ref_has_them() {
    // The programs of the user, for git.
    let pitree = Pitree::new().variable("PATH", &std::env::var("PATH").unwrap());
    let (work, plain) = (pitree.home().join("work"), pitree.home().join("plain"));
    for dir in [&work, &plain] {
        fs::create_dir(dir).unwrap();
    }
    fs::write(work.join("b.rs"), text("saved", 5)).unwrap();
    let saved = "git add . && git commit -qm x && git branch side && git rm -q b.rs && git commit -qm y";
    if !with_real_git(&work, saved) {
        return; // git is not installed
    }
    session(&pitree, "lost", "work", ("write", "src/a.rs", &text("lost", 4)));
    session(&pitree, "saved", "work", ("write", "b.rs", &text("saved", 5)));
    session(&pitree, "short", "work", ("write", "a.rs", &(text("short", 2) + "}\n{\n()\n[]\n")));
    session(&pitree, "read", "work", ("read", "a.rs", &text("read", 4)));
    session(&pitree, "other", "work", ("write", "../other.rs", &text("other", 4)));
    session(&pitree, "gone", "missing", ("write", "a.rs", &text("gone", 4)));
    session(&pitree, "plain", "plain", ("write", "a.rs", &text("plain", 4)));
    let ids = |query: &str| {
        let listed = json_lines(&pitree.run(&["ls", "--json", "--", query]).out);
        let mut ids: Vec<String> = listed.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
        ids.sort_unstable();
        ids.join(" ")
    };
    assert_eq!(ids("is:lost"), "lost plain");
    assert_eq!(ids("-is:lost"), "gone other read saved short");
    // The stored results are used only for the same files and refs.
    fs::write(plain.join("a.rs"), text("plain", 2)).unwrap();
    assert_eq!(ids("is:lost"), "lost", "two lines are too few");
    fs::remove_file(plain.join("a.rs")).unwrap();
    assert_eq!(ids("is:lost"), "lost plain");
    fs::create_dir(work.join("src")).unwrap();
    fs::write(work.join("src/a.rs"), text("lost", 4).replace("    ", "\t")).unwrap();
    assert_eq!(ids("is:lost"), "plain");
    assert!(with_real_git(&work, "git checkout -q -b rescue && git add . && git commit -qm z && git checkout -q main"));
    assert!(!work.join("src/a.rs").exists());
    assert_eq!(ids("is:lost"), "plain");
    assert!(with_real_git(&work, "git branch -q -D rescue"));
    assert_eq!(ids("is:lost"), "lost plain");
}
