//! Files as they were: `file`, `log`, `recover` and `blame`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::session::Session;

fn write(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "edits": [{"oldText": old, "newText": new}]})
}

/// A session in the home with an abandoned branch: `a.txt` is written, edited on two branches, and doubtful at the end.
fn session(pitree: &Pitree) -> PathBuf {
    let session = Session::new("s-one")
        .cwd(pitree.home())
        .user("u1", "Write a")
        .tool("w1", "write", &write("a.txt", "one\ntwo\n"), "Successfully wrote")
        .user("u2", "First try")
        .tool("e1", "edit", &replace("a.txt", "two", "2"), "Successfully replaced")
        .tool("c1", "bash", &json!({"command": "git commit -am 'Two'"}), "hook\n[main 1a2b3c4] Two\n 1 file changed")
        .under("w1r")
        .user("u3", "Second try")
        .tool("e2", "edit", &replace("a.txt", "one", "1"), "Successfully replaced")
        .tool("b1", "bash", &json!({"command": "./change a.txt"}), "done");
    pitree.write_session(&session)
}

#[test]
fn a_file_is_printed_as_it_was() {
    let pitree = Pitree::new();
    session(&pitree);
    for (place, code, text) in [
        ("s-one@e1r", 0, "one\n2\n"),
        ("s-one@w1r", 0, "one\ntwo\n"),
        ("s-one@e2r", 0, "1\ntwo\n"),
        ("s-one", 3, ""),
        ("s-one@u1", 1, ""),
    ] {
        let outcome = pitree.run(&["file", "a.txt", "--at", place]);
        assert_eq!((outcome.code, outcome.out.as_str()), (code, text), "{place}: {}", outcome.err);
    }
    let doubtful = pitree.run(&["file", "./x/../a.txt", "--at", "s-one", "--partial"]);
    assert_eq!((doubtful.code, doubtful.out.as_str()), (3, "1\ntwo\n"));
    assert!(doubtful.err.contains("maybe: a command may have changed it at b1r"), "{}", doubtful.err);
    let object = pitree.run(&["file", "a.txt", "--at", "s-one@e1r", "--json"]).out;
    let object: Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["text"], &object["entries"]), (&json!("one\n2\n"), &json!(["w1r", "e1r"])));
}

#[test]
fn a_state_is_compared_and_written() {
    let pitree = Pitree::new();
    session(&pitree);
    fs::write(pitree.home().join("a.txt"), "one\nthree\n").unwrap();
    let of_disk = pitree.run(&["file", "a.txt", "--at", "s-one@w1r", "--diff", "disk"]).out;
    assert!(of_disk.contains("-two\n+three\n"), "{of_disk}");
    let of_other = pitree.run(&["file", "a.txt", "--at", "s-one@w1r", "--diff", "s-one@e1r"]).out;
    assert!(of_other.contains("-two\n+2\n"), "{of_other}");
    let to_a = ["file", "a.txt", "--at", "s-one@e1r", "-o", "a.txt"];
    let refused = pitree.run(&to_a);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("use --force"), "{}", refused.err);
    assert_eq!(pitree.run(&[&to_a[..], &["--force"]].concat()).code, 0);
    assert_eq!(fs::read_to_string(pitree.home().join("a.txt")).unwrap(), "one\n2\n");
}

#[test]
fn the_states_of_all_branches_are_listed() {
    let pitree = Pitree::new();
    let path = session(&pitree);
    let fork =
        Session::new("s-two").cwd(pitree.home()).user("f1", "Other").tool("f2", "write", &write("a.txt", "x\n"), "ok");
    pitree.write_session(&fork.at(100).parent(&path));
    let states = pitree.objects(&["log", "a.txt", "--json"]);
    let entries: Vec<&str> = states.iter().map(|state| state["entry"].as_str().unwrap()).collect();
    assert_eq!(entries.iter().filter(|entry| entry.starts_with('f')).count(), 1, "{entries:?}");
    let of = |entry: &str| states.iter().find(|state| state["entry"] == entry).unwrap();
    assert_eq!(
        (&of("e1r")["abandoned"], &of("e1r")["added"], &of("e1r")["prompt"]),
        (&json!(true), &json!(1), &json!("First try"))
    );
    assert_eq!(of("e2r")["abandoned"], false);
    assert_eq!((&of("w1r")["commit"], &of("e1r")["commit"]), (&Value::Null, &json!("1a2b3c4")));
    assert_eq!(pitree.objects(&["log", "a.txt", "--commit", "1A2B3C4D", "--json"]), [of("e1r").clone()]);
    assert_eq!(pitree.run(&["log", "a.txt", "--commit", "xyz"]).code, 2);
    let changed = pitree.objects(&["log", "a.txt", "-S", "two", "--json"]);
    let entries: Vec<&Value> = changed.iter().map(|state| &state["entry"]).collect();
    assert_eq!(entries, ["e1r", "w1r"]);
    assert_eq!(pitree.run(&["log", "missing.txt"]).code, 1);
    let files = |args: &[&str]| -> Vec<String> {
        let states = pitree.objects(&[&["log", "--json"], args].concat());
        states.iter().map(|state| state["file"].as_str().unwrap().to_owned()).collect()
    };
    let file = pitree.home().join("a.txt").display().to_string();
    assert!(files(&["a.txt"]).iter().all(|it| *it == file) && files(&["a.txt"]).len() == states.len());
    assert_eq!(files(&["TXT"]).len(), states.len(), "a part of the name");
    assert_eq!(files(&["txt", "--limit", "1"]).len(), 1);
    let rows = pitree.print(&["log", "a.txt"]);
    assert!(rows.contains("+1 -1") && rows.contains("abandoned"), "{rows}");
}

#[test]
fn files_of_commands_are_listed() {
    let pitree = Pitree::new();
    let bash = |session: Session, id: &str, command: &str| session.tool(id, "bash", &json!({"command": command}), "");
    let made = bash(Session::new("s-one").cwd(pitree.home()), "c1", "mkdir -p x && cat > x/new.sh <<'E'\nls\nE");
    pitree.write_session(&bash(made, "c2", "mv x/new.sh run.sh"));
    pitree.write_session(&bash(Session::new("s-two").cwd(pitree.home()).at(100), "c3", "rm run.sh"));
    let states = |file: &str| -> Vec<String> {
        let listed = pitree.objects(&["log", file, "--json"]);
        listed.iter().map(|state| format!("{} {}", state["entry"], state["exactness"])).collect()
    };
    assert_eq!(states("x/new.sh"), ["\"c2r\" \"removed\"", "\"c1r\" \"exact\""]);
    assert_eq!(states("run.sh"), ["\"c3r\" \"removed\"", "\"c2r\" \"exact\""]);
    let mut files: Vec<_> = pitree.objects(&["files", "--json"]);
    files.sort_by_key(|file| file["path"].to_string());
    let facts: Vec<_> = files.iter().map(|file| (file["changes"].clone(), file["sessions"].clone())).collect();
    assert_eq!(facts, [(json!(2), json!(2)), (json!(2), json!(1))]);
    assert_eq!(pitree.objects(&["ls", "--json", "edited:run.sh"]).len(), 2);
}

#[test]
fn files_are_recovered_below_a_new_directory() {
    let pitree = Pitree::new();
    let long = format!("{}/x", "y".repeat(4000));
    let hostile =
        ["../../etc/passwd", "/etc/absolute", "a\u{1b}[31m\n.txt", &long, "A.TXT", "a.txt/below", "..", "~/../up"];
    let base =
        Session::new("s-one").cwd(pitree.home().join("project")).tool("w0", "write", &write("a.txt", "a\n"), "ok");
    let session = hostile
        .iter()
        .enumerate()
        .fold(base, |session, (at, path)| session.tool(&format!("h{at}"), "write", &write(path, "x"), "ok"));
    let session = session.tool("e", "edit", &replace("unknown.txt", "a", "b"), "ok");
    pitree.write_session(&session);
    let before = pitree.files();
    let outcome = pitree.run(&["recover", "s-one", "--to", "out/new"]);
    assert_eq!(outcome.code, 3, "{}{}", outcome.out, outcome.err);
    assert!(!outcome.out.contains('\u{1b}') && outcome.out.contains("not written"), "{}", outcome.out);
    let target = pitree.home().join("out/new");
    let own = [".cache", ".local"].map(|dir| pitree.home().join(dir));
    let is_new = |path: &PathBuf| !before.contains_key(path) && !own.iter().any(|dir| path.starts_with(dir));
    let new: Vec<PathBuf> = pitree.files().into_keys().filter(is_new).collect();
    let below: Vec<&PathBuf> = new.iter().filter(|path| path.starts_with(&target)).collect();
    assert_eq!(below.len(), 1 + hostile.len(), "{new:?}");
    assert!(new.iter().all(|path| path.starts_with(&target)), "{new:?}");
    assert_eq!(fs::read_to_string(target.join("A.TXT")).unwrap(), "x");
    assert_eq!(fs::read_to_string(target.join("_conflicts/1/a.txt")).unwrap(), "a\n");
    let again = pitree.refuse(&["recover", "s-one", "--to", "out/new"]);
    assert!(again.contains("not an empty directory"), "{again}");
    #[cfg(unix)]
    {
        let linked = pitree.home().join("linked");
        fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink("../out/new/A.TXT", linked.join("a.txt")).unwrap();
        pitree.refuse(&["recover", "s-one", "--to", "linked"]);
    }
}

#[test]
fn files_from_which_programs_run_are_recovered_only_on_request() {
    let pitree = Pitree::new();
    let paths = [".git/config", "sub/.Git /config", ".envrc", "bare/HEAD", "src/a.rs"];
    let session = paths.iter().enumerate().fold(Session::new("s-one").cwd("/w"), |session, (at, path)| {
        session.tool(&format!("h{at}"), "write", &write(path, "x"), "ok")
    });
    pitree.write_session(&session);
    let outcome = pitree.run(&["recover", "s-one", "--to", "out"]);
    assert_eq!(outcome.code, 2, "{}{}", outcome.out, outcome.err);
    let written: Vec<bool> = paths.iter().map(|path| pitree.home().join("out").join(path).exists()).collect();
    assert_eq!(written, [false, false, false, false, true]);
    for path in &paths[..4] {
        let row = outcome.out.lines().find(|line| line.contains(path)).unwrap_or_default();
        assert!(row.contains("not written") && row.contains("--unsafe"), "{}", outcome.out);
    }
    assert_eq!(pitree.run(&["recover", "s-one", "--to", "all", "--unsafe"]).code, 0);
    assert_eq!(fs::read_to_string(pitree.home().join("all/.git/config")).unwrap(), "x");
    let file = ["file", "/w/.envrc", "--at", "s-one", "-o", ".envrc"];
    let refused = pitree.refuse(&file);
    assert!(refused.contains("--unsafe") && !pitree.home().join(".envrc").exists(), "{refused}");
    pitree.run(&[&file[..], &["--unsafe"]].concat());
    assert_eq!(fs::read_to_string(pitree.home().join(".envrc")).unwrap(), "x");
}

#[test]
fn abandoned_branches_are_recovered_each() {
    let pitree = Pitree::new();
    session(&pitree);
    let outcome = pitree.run(&["recover", "s-one", "--abandoned", "--to", "out"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert_eq!(fs::read_to_string(pitree.home().join("out/c1r/a.txt")).unwrap(), "one\n2\n");
    pitree.refuse(&["recover", "s-one@w1r", "--abandoned", "--to", "other"]);
}

#[test]
fn lines_that_were_only_read_have_no_prompt() {
    let pitree = Pitree::new();
    fs::write(pitree.home().join("a.txt"), "one\ntwo\n").unwrap();
    let part = |offset: usize| json!({"path": "a.txt", "offset": offset, "limit": offset});
    let session = Session::new("s-one")
        .cwd(pitree.home())
        .user("u1", "Read it")
        .tool("r1", "read", &part(1), "one\n\n[2 more lines in file. Use offset=2 to continue.]")
        .tool("r2", "read", &part(2), "two\n");
    pitree.write_session(&session);
    assert_eq!(pitree.run(&["file", "a.txt", "--at", "s-one"]).code, 0, "both parts are the whole file");
    assert_eq!(pitree.run(&["blame", "a.txt"]).code, 1, "no line has a session");
}

#[test]
fn lines_have_their_prompts() {
    let pitree = Pitree::new();
    session(&pitree);
    fs::write(pitree.home().join("a.txt"), "1\ntwo\nmine\n").unwrap();
    let lines = pitree.objects(&["blame", "a.txt", "--json"]);
    crate::command_line::json::check_unversioned("blame", &lines);
    let prompts: Vec<&Value> = lines.iter().map(|line| &line["prompt"]).collect();
    assert_eq!(prompts, [&json!("Second try"), &json!("Write a"), &Value::Null]);
    let one = pitree.print(&["blame", "a.txt:2"]);
    assert!(one.contains("s-one@w1r") && one.contains("two") && one.lines().count() == 1, "{one}");
    assert_eq!(pitree.run(&["blame", "a.txt:3"]).code, 1);
    pitree.refuse(&["blame", "a.txt:9"]);
}

/// Returns pitree with the programs of the user.
#[cfg(unix)]
fn with_git() -> Pitree {
    Pitree::new().variable("PATH", &std::env::var("PATH").unwrap())
}

/// One session made a commit in the repository of the home, another one in a repository that is missing.
#[cfg(unix)]
#[test]
fn a_commit_leads_to_its_session_and_prompt() {
    let pitree = with_git();
    let git = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(script).current_dir(pitree.home()).env("HOME", pitree.home());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let output = git("git init -q -b main && git -c user.name=x -c user.email=x commit --allow-empty -m 'Real one'");
    let is_sha = |word: &&str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sha = output.split([' ', ']']).find(is_sha).unwrap_or("89abcde");
    let has_git = !output.is_empty();
    let path = session(&pitree);
    let commit = json!({"command": "git commit --allow-empty -m 'Real one'"});
    let other = Session::new("s-two")
        .cwd(pitree.home())
        .user("p", "Commit it")
        .tool("k", "bash", &commit, &format!("[main (root-commit) {sha}] Real one\n"))
        .at(500);
    pitree.write_session(&other);
    // The fork inherits the commit.
    let fork = std::fs::read_to_string(&path).unwrap().replace("s-one", "s-three");
    pitree.write(".pi/agent/sessions/--p--/fork.jsonl", &fork);
    let found = pitree.objects(&["log", "--commit", "1A2B3C4D5E", "--json"]);
    crate::command_line::json::check_unversioned("log --commit", &found);
    let [one] = &found[..] else { panic!("listed once: {found:?}") };
    let field = |name: &str| one[name].clone();
    assert_eq!([field("entry"), field("prompt"), field("sha")], ["c1r", "First try", "1a2b3c4"]);
    assert_eq!([field("title"), field("branch")], ["Two", "main"]);
    assert_eq!(field("abandoned"), true);
    assert_eq!(field("confirmed"), if has_git { json!(false) } else { Value::Null });
    let real = pitree.objects(&["log", "--commit", sha, "--json"]);
    assert_eq!(real[0]["confirmed"], if has_git { json!(true) } else { Value::Null });
    let row = pitree.print(&["log", "--commit", sha]);
    assert!(row.contains("s-two@kr") && row.contains("Real one") && row.contains("Commit it"), "{row}");
    assert_eq!(pitree.run(&["log", "--commit", "fffffff"]).code, 1);
    for wrong in [&["log", "--commit", "1a2b"][..], &["log"], &["log", "--commit", "1a2b3c4", "-S", "x"]] {
        assert_eq!(pitree.run(wrong).code, 2, "{wrong:?}");
    }
    let listed = pitree.objects(&["ls", "commit:1a2b3c4", "--json"]);
    let commit = json!({"sha": "1a2b3c4", "branch": "main", "title": "Two", "entryId": "c1r"});
    let fields = |commit: &Value| {
        commit.as_object().unwrap().iter().all(|(name, value)| listed[0]["commits"][0][name] == *value)
    };
    assert!(listed.len() == 1 && fields(&commit), "{listed:?}");
    assert_eq!(pitree.objects(&["ls", "is:committed", "--json"]).len(), 2);
    let rows = pitree.objects(&["stats", "--by", "commit", "--json"]);
    let keys: Vec<&Value> = rows.iter().filter(|row| row["type"] == "row").map(|row| &row["commit"]).collect();
    assert!(keys.contains(&&json!(sha)) && keys.contains(&&Value::Null) && keys.len() == 3, "{keys:?}");
    assert!(pitree.print(&["stats", "--by", "commit"]).contains("not committed"));
}

#[cfg(unix)]
#[test]
fn git_starts_no_program_of_a_repository() {
    let pitree = with_git();
    let script = "git init -q -b main && git -c user.name=x -c user.email=x commit -q --allow-empty -m x && \
        git config core.repositoryFormatVersion 1 && git config extensions.partialClone origin && \
        git config remote.origin.promisor true && git config remote.origin.url ssh://host/x && \
        git config core.sshCommand \"touch '$PWD/ran'\" && git config core.fsmonitor \"touch '$PWD/ran'\"";
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(script).current_dir(pitree.home()).env("HOME", pitree.home()).status().unwrap();
    session(&pitree);
    let found = pitree.objects(&["log", "--commit", "1a2b3c4", "--json"]);
    assert_ne!(found[0]["confirmed"], true);
    // git would fetch a missing object by its whole hash.
    pitree.objects(&["log", "--commit", &format!("1a2b3c4{}", "0".repeat(33)), "--json"]);
    assert!(!pitree.home().join("ran").exists());
}

#[test]
fn nothing_is_created_without_abandoned_branches() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("s-one").cwd(pitree.home()).user("u1", "Only one branch"));
    let outcome = pitree.run(&["recover", "s-one", "--abandoned", "--to", "out"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.err.contains("no abandoned branch"), "{}", outcome.err);
    assert!(!pitree.home().join("out").exists());
}

/// The limit of the length of paths is 4,096 bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let pitree = Pitree::new();
    let deep = format!("{}z.txt", "y/".repeat(700));
    let session = Session::new("s-one").cwd(pitree.home()).tool("w1", "write", &write(&deep, "deep\n"), "ok").tool(
        "w2",
        "write",
        &write("a.txt", "a\n"),
        "ok",
    );
    pitree.write_session(&session);
    let to = "x/".repeat(1400);
    let files = pitree.run(&["recover", "s-one", "--to", &to, "--json"]);
    assert_eq!(files.code, 2, "{}", files.err);
    let files: Vec<Value> = files.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(files.len(), 2);
    let of = |name: &str| files.iter().find(|file| file["file"].as_str().unwrap().ends_with(name)).unwrap();
    assert!(of("z.txt")["error"].as_str().unwrap().contains("cannot write") && of("z.txt")["path"].is_null());
    assert_eq!(of("a.txt")["error"], Value::Null);
    assert_eq!(fs::read_to_string(pitree.home().join(to).join("a.txt")).unwrap(), "a\n");
}
