//! `pitree doctor`: findings in and between files, and repairs with undo.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pitree::session::health::code::Code;
use serde_json::Value;

use crate::command_line::pitree::Pitree;
use crate::common::broken;
use crate::common::home::{json_lines, long_ago, repository, set_modified};
use crate::common::session::Session;

/// Writes a broken file as a session of a project, long ago.
fn write(pitree: &Pitree, bytes: &[u8]) -> PathBuf {
    let path = pitree.write(&format!("2026-01-05T09-00-00-000Z_{}.jsonl", broken::ID), "");
    fs::write(&path, bytes).unwrap();
    set_modified(&path, long_ago());
    path
}

/// Returns the codes of the findings with their file names.
fn codes(lines: &[Value]) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let name = |path: String| path.rsplit('/').next().unwrap().to_string();
    lines.iter().map(|line| (name(text(&line["path"])), text(&line["code"]))).collect()
}

#[test]
fn a_sound_directory_has_no_findings() {
    let pitree = Pitree::new();
    let parent = Session::new("parent").user("u1", "one").assistant("a1", "two");
    let path = pitree.write_session(&parent);
    pitree.write_session(&parent.forked("fork", &path, 100).user("u2", "three"));
    for _ in 0..2 {
        let outcome = pitree.run(&["doctor", "--notes"]);
        assert_eq!((outcome.code, &*outcome.out), (0, ""), "{}", outcome.err);
        assert_eq!(outcome.err, "no problem in 2 files\n");
    }
    assert_eq!(pitree.run(&["doctor", "missing.jsonl"]).code, 2);
}

#[test]
fn broken_files_are_found_repaired_and_restored() {
    let pitree = Pitree::new();
    let files: Vec<(PathBuf, broken::Broken)> = broken::files()
        .into_iter()
        .filter(|broken| broken.name != "bytes that are not UTF-8")
        .map(|broken| {
            let folder = pitree.home().join("broken").join(broken.name);
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join(format!("{}.jsonl", broken::ID));
            fs::write(&path, &broken.bytes).unwrap();
            set_modified(&path, long_ago());
            (path, broken)
        })
        .collect();
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.to_str().unwrap()).collect();
    let with = |args: &[&str]| pitree.run(&[&["doctor"], args, &paths].concat());
    let outcome = with(&["--json"]);
    assert_eq!(outcome.code, 3, "{}", outcome.err);
    let found = json_lines(&outcome.out);
    for (path, broken) in &files {
        let of_file: BTreeSet<&str> = found
            .iter()
            .filter(|line| line["path"].as_str() == path.to_str())
            .map(|line| line["code"].as_str().unwrap())
            .collect();
        let expected: BTreeSet<&str> = broken.findings.iter().map(|(code, _)| *code).collect();
        assert_eq!(of_file, expected, "{}", broken.name);
    }
    let dry = with(&["--repair", "--dry-run", "--cwd", "/"]);
    assert!(dry.code == 0 && dry.out.contains("would: repair"), "{}{}", dry.out, dry.err);
    assert!(files.iter().all(|(path, broken)| fs::read(path).unwrap() == broken.bytes));
    let unasked = with(&["--repair"]);
    assert!(unasked.code == 2 && unasked.err.contains("--yes"), "{}", unasked.err);

    let outcome = with(&["--repair", "--yes", "--cwd", "/"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    let clean = with(&[]);
    assert_eq!((clean.code, &*clean.out), (0, ""), "{}", clean.err);
    assert!(files.iter().all(|(path, _)| fs::metadata(path).unwrap().modified().unwrap() == long_ago()));
    pitree.print(&["undo"]);
    for (path, broken) in &files {
        assert!(fs::read(path).unwrap() == broken.bytes, "{}", broken.name);
    }
    assert!(files.iter().any(|(path, _)| path.with_extension("jsonl.rest").exists()));
}

#[test]
fn a_header_is_created_from_the_path_and_the_sessions_beside() {
    let pitree = Pitree::new();
    let headless = broken::files().into_iter().find(|broken| broken.name == "no header").unwrap();
    let path = write(&pitree, &headless.bytes);
    let beside = Session::new("beside").cwd("/home/dev/my-app").user("u1", "x").text();
    pitree.write("beside.jsonl", &beside);
    let outcome = pitree.run(&["doctor", "--repair", "--yes"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let header: Value = json_lines(&fs::read_to_string(&path).unwrap()).remove(0);
    assert_eq!((header["id"].as_str(), header["cwd"].as_str()), (Some(broken::ID), Some("/home/dev/my-app")));
    assert_eq!(header["timestamp"], "2026-01-05T09:00:00.000Z");
    assert!(pitree.print(&["ls"]).contains("my-app"));
}

#[test]
fn findings_between_files_name_the_other_file() {
    let pitree = Pitree::new();
    let parent = Session::new("parent").user("u1", "one").assistant("a1", "two");
    let path = pitree.write_session(&parent);
    pitree.write_session(&parent.clone().forked("fork", &path, 100).user("u2", "three"));
    pitree.write("copy.jsonl", &parent.text());
    pitree.write("old.jsonl.0123456789abcdef.pitree-new", "");
    pitree.print(&["rm", path.to_str().unwrap(), "--yes"]);
    let found = json_lines(&pitree.run(&["doctor", "--json"]).out);
    let expected = [("fork.jsonl", "fork-parent-missing"), ("old.jsonl.0123456789abcdef.pitree-new", "leftover")];
    assert_eq!(codes(&found), expected.map(|(file, code)| (file.into(), code.into())).into());
    let fork = found.iter().find(|line| line["code"] == "fork-parent-missing").unwrap();
    assert!(
        fork["detail"].as_str().unwrap().contains("pitree trash restore 1")
            || fork["detail"].as_str().unwrap().contains("copy.jsonl"),
        "{fork}"
    );
    pitree.print(&["undo"]);
    let outcome = pitree.run(&["doctor", "--json"]);
    let shared: Vec<Value> =
        json_lines(&outcome.out).into_iter().filter(|line| line["code"] == "shared-session-id").collect();
    assert_eq!((outcome.code, shared.len()), (3, 2));
    assert!(shared[0]["detail"].as_str().unwrap().ends_with("parent.jsonl"), "{}", shared[0]);
}

#[cfg(unix)]
#[test]
fn files_that_all_users_can_write_are_found() {
    use std::os::unix::fs::PermissionsExt;
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("open").user("u1", "one"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let outcome = pitree.run(&["doctor"]);
    assert!(outcome.code == 3 && outcome.out.contains("writable-by-others"), "{}{}", outcome.out, outcome.err);
    // A repair cannot help.
    assert_eq!(pitree.run(&["doctor", "--repair", "--yes"]).code, 3);
}

#[test]
fn a_line_that_is_being_written_is_read_again() {
    let pitree = Pitree::new();
    let text = Session::new("live").user("u1", "one").assistant("a1", "two").text();
    let path = pitree.write("live.jsonl", &text[..text.len() - 20]);
    set_modified(&path, std::time::SystemTime::now());
    let rest = text[text.len() - 20..].to_string();
    let pi = std::thread::spawn(move || {
        use std::io::Write;
        std::thread::sleep(std::time::Duration::from_millis(300));
        fs::File::options().append(true).open(&path).unwrap().write_all(rest.as_bytes()).unwrap();
    });
    let outcome = pitree.run(&["doctor"]);
    pi.join().unwrap();
    assert_eq!((outcome.code, &*outcome.out), (0, ""), "{}", outcome.err);
}

#[test]
fn damaged_sessions_are_found_by_a_query() {
    let pitree = Pitree::new();
    pitree.write_session(&Session::new("sound").user("u1", "one"));
    let torn = broken::files().remove(0);
    write(&pitree, &torn.bytes);
    assert_eq!(pitree.run(&["doctor", "is:damaged"]).err, "1 problem in 1 of 1 file\n");
    assert!(pitree.print(&["ls", "is:damaged"]).contains("0199f2c1"));
    assert_eq!(pitree.run(&["doctor", "--repair", "--yes", "is:damaged"]).code, 0);
    assert_eq!(pitree.run(&["ls", "is:damaged"]).code, 1);
}

#[test]
fn all_codes_are_documented() {
    let page = fs::read_to_string(repository("docs/repair.md")).unwrap();
    for code in Code::ALL {
        assert!(page.contains(&format!("| `{}` |", code.name())), "{}", code.name());
    }
}

/// A session with a repeated entry ID, and a label that refers to the second entry with it.
const REPEATED: &str = r#"{"type":"session","version":3,"id":"0199f2c1-aaaa-7000-8000-000000000001","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/written"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"aaaaaaaa","parentId":"aaaaaaaa","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"user","content":"two"}}
{"type":"label","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-05T09:00:03.000Z","targetId":"aaaaaaaa","label":"here"}
"#;

#[test]
fn a_dry_run_prints_the_ids_that_are_written() {
    let pitree = Pitree::new();
    let path = write(&pitree, REPEATED.as_bytes());
    let dry = pitree.run(&["doctor", "--repair", "--dry-run"]);
    let new = dry.err.split("repeated one: ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    pitree.run(&["doctor", "--repair", "--yes"]);
    let lines = json_lines(&fs::read_to_string(&path).unwrap());
    assert_eq!((lines[2]["id"].as_str(), lines[3]["targetId"].as_str()), (Some(new), Some(new)));
    let rest = fs::read_to_string(path.with_extension("jsonl.rest")).unwrap();
    assert!(rest.contains(r#"{"line":4,"parentId":"aaaaaaaa","targetId":"aaaaaaaa"}"#), "{rest}");
}

#[test]
fn a_created_header_is_described_as_written() {
    let pitree = Pitree::new();
    let (header, entries) = REPEATED.split_once('\n').unwrap();
    let path = write(&pitree, format!("{entries}{header}\n").as_bytes());
    let dry = pitree.run(&["doctor", "--repair", "--dry-run"]);
    assert!(dry.err.contains("moved the header to the start") && dry.err.contains("directory /written"), "{}", dry.err);
    assert_eq!(pitree.run(&["doctor", "--repair", "--yes"]).code, 0);
    assert_eq!(json_lines(&fs::read_to_string(&path).unwrap())[0]["cwd"], "/written");
}

#[test]
fn an_empty_file_is_not_repaired() {
    let pitree = Pitree::new();
    let path = pitree.write("empty.jsonl", "");
    let said = pitree.run(&["doctor", "--repair", "--yes", path.to_str().unwrap()]);
    assert!(!said.err.contains("Invalid argument"), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_reported_once_and_fails() {
    use std::os::unix::fs::symlink;
    let pitree = Pitree::new();
    write(&pitree, REPEATED.as_bytes());
    // Also unreadable for an administrator.
    let link = pitree.write("loop.jsonl", "").with_file_name("cycle.jsonl");
    symlink(&link, link.with_file_name("other.jsonl")).unwrap();
    symlink(link.with_file_name("other.jsonl"), &link).unwrap();
    let said = pitree.run(&["doctor", link.to_str().unwrap()]);
    assert_eq!((said.code, said.err.matches("cycle.jsonl").count()), (2, 1), "{}", said.err);
}

#[test]
fn a_session_without_a_directory_gets_an_existing_one() {
    let pitree = Pitree::new();
    let project = tempfile::tempdir().unwrap();
    let project = dunce::canonicalize(project.path()).unwrap();
    fs::create_dir(project.join("my-proj")).unwrap();
    let folder = |dir: &str| format!("-{}--", project.join(dir).to_str().unwrap().replace('/', "-"));
    let entry = Session::new("s").user("u1", "hello").lines().to_string();
    let write = |dir: &str| pitree.write(&format!("{}/2026-01-05T09-00-00-000Z_s.jsonl", folder(dir)), &entry);
    let cwd = |path: &PathBuf| {
        let header: Value = serde_json::from_str(fs::read_to_string(path).unwrap().lines().next().unwrap()).unwrap();
        header["cwd"].as_str().map(String::from)
    };
    let (there, gone) = (write("my-proj"), write("gone"));
    set_modified(&there, long_ago());
    set_modified(&gone, long_ago());
    let outcome = pitree.run(&["doctor", "--repair", "--yes"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.err.contains("its working directory is unknown; run `pitree doctor --repair FILE --cwd DIR`"));
    assert_eq!((cwd(&there).as_deref(), cwd(&gone)), (project.join("my-proj").to_str(), None));
    let outcome =
        pitree.run(&["doctor", "--repair", "--yes", "--cwd", project.to_str().unwrap(), gone.to_str().unwrap()]);
    assert_eq!((outcome.code, cwd(&gone).as_deref()), (0, project.to_str()), "{}", outcome.err);
}

#[test]
fn other_forms_of_files_are_named() {
    let pitree = Pitree::new();
    let text = Session::new("s").user("u1", "hello").assistant("a1", "hi").text();
    let lines: Vec<&str> = text.lines().collect();
    let values: Vec<Value> = json_lines(&text);
    let pretty: Vec<String> = values.iter().map(|value| serde_json::to_string_pretty(value).unwrap()).collect();
    let utf16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let sessions = pitree.write("crlf.jsonl", "").parent().unwrap().to_owned();
    let write = |name: &str, bytes: &[u8]| {
        let path = pitree.write(name, "");
        fs::write(&path, bytes).unwrap();
        set_modified(&path, long_ago());
    };
    write("array.jsonl", format!("[{}]", lines.join(", ")).as_bytes());
    write("bom.jsonl", format!("\u{feff}{text}").as_bytes());
    write("cr.jsonl", text.replace('\n', "\r").as_bytes());
    write("pretty.jsonl", pretty.join("\n").as_bytes());
    write("utf16.jsonl", &utf16);
    write("crlf.jsonl", text.replace('\n', "\r\n").as_bytes());
    let found = json_lines(&pitree.run(&["doctor", "--json"]).out);
    let texts = found.iter().map(|line| (line["code"].as_str().unwrap(), line["text"].as_str().unwrap()));
    let expected = [
        ("not-json-lines", "one JSON array"),
        ("byte-order-mark", ""),
        ("carriage-returns", ""),
        ("not-json-lines", "several lines"),
        ("not-json-lines", "it is UTF-16"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((code, text), expected) in texts.zip(expected) {
        assert!(code == expected.0 && text.contains(expected.1), "{code}: {text}");
    }
    pitree.run(&["doctor", "--repair", "--yes"]);
    assert_eq!(fs::read(sessions.join("utf16.jsonl")).unwrap(), utf16);
    for name in ["bom", "cr"] {
        let repaired = fs::read_to_string(sessions.join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(json_lines(&repaired), values, "{name}");
    }
}

#[test]
fn conflict_copies_and_orphaned_drafts_are_named() {
    let pitree = Pitree::new();
    let session = Session::new("0199f2c1").user("u1", "hello").costing(1.0).assistant("a1", "hi");
    pitree.write("T_0199f2c1.jsonl", &session.text());
    pitree.write("T_0199f2c1 (1).jsonl", &session.text());
    let more = session.assistant("a2", "from another machine").text();
    pitree.write("T_0199f2c1.sync-conflict-20261120-101500-ABCDEFG.jsonl", &more);
    let outcome = pitree.run(&["doctor", "--json"]);
    let found = json_lines(&outcome.out);
    assert_eq!((outcome.code, found.len()), (3, 2), "{found:?}");
    for (line, what) in found.iter().zip(["a number in its file name", "Syncthing"]) {
        let detail = line["detail"].as_str().unwrap();
        assert!(line["code"] == "conflict-copy" && detail.contains(what), "{line}");
        assert!(detail.ends_with("/T_0199f2c1.jsonl"), "{line}");
    }
    assert_eq!(pitree.run(&["ls", "is:damaged"]).code, 1);
    let sums = pitree.objects(&["stats", "--json"]);
    assert_eq!(sums.last().unwrap()["cost"], 2.0, "costs count once");
    let draft = pitree.write(".T_0199f2c2.jsonl.14cf2e87b5dc9d49.tmp", &more);
    set_modified(&draft, long_ago());
    let outcome = pitree.run(&["doctor"]);
    assert!(outcome.out.contains("orphan-draft"), "{}", outcome.out);
    let stale = Session::new("s").user("u1", "start").assistant("a1", "one").user("u2", "newer").under("a1");
    pitree.write_session(&stale.custom("c1", "session_exit"));
    let found = json_lines(&pitree.run(&["doctor", "--json", "s"]).out);
    assert_eq!((&found[0]["code"], &found[0]["entryId"]), (&"newer-message".into(), &"u2".into()), "{found:?}");
}
