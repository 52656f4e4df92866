//! The archive: moves, agreement of all commands before and after, and changes of archived sessions. Only on Linux is
//! the archive below the home at this path.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::home::{files_below, set_modified};
use crate::common::session::Session;

/// Returns the place of a session in the archive.
fn archived(pitree: &Pitree, path: &Path) -> PathBuf {
    let mirror = pitree.home().join(".local/share/pitree/archive/original-paths");
    let mut place = mirror.join(path.strip_prefix("/").unwrap());
    place.as_mut_os_string().push(".zst");
    place
}

/// The content, the time in nanoseconds and the mode of each session file.
type Sessions = BTreeMap<PathBuf, (Vec<u8>, i64, u32)>;

fn sessions(pitree: &Pitree) -> Sessions {
    let of = |path: PathBuf| {
        let metadata = fs::metadata(&path).unwrap();
        (
            path.clone(),
            (fs::read(&path).unwrap(), metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(), metadata.mode()),
        )
    };
    files_below(&pitree.home().join(".pi")).into_iter().map(of).collect()
}

/// Creates a family with a fork and a subagent session, and another session.
fn family(pitree: &Pitree) -> [PathBuf; 4] {
    let parent = Session::new("parent").user("u1", "how it began").assistant("a1", "as it went");
    let path = pitree.write_session(&parent);
    let fork = parent.forked("fork", &path, 60).user("u2", "the fork's own").label("l1", "u2", "here");
    let fork = pitree.write_session(&fork);
    let agent = pitree.write("parent/run-0/agent.jsonl", &Session::new("agent").user("u3", "a helper").text());
    let other = pitree.write_session(&Session::new("other").at(120).user("u4", "something else"));
    for (at, path) in [&path, &fork, &agent, &other].into_iter().enumerate() {
        fs::set_permissions(path, fs::Permissions::from_mode([0o600, 0o644, 0o664, 0o400][at])).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000 + at as u64, 123_456_789);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        set_modified(path, time);
        fs::set_permissions(path, fs::Permissions::from_mode([0o600, 0o644, 0o664, 0o400][at])).unwrap();
    }
    [path, fork, agent, other]
}

/// Removes from JSON what differs for archived sessions: their place, and the length of the file.
fn alike(mut lines: Vec<Value>, mirror: &str) -> Vec<String> {
    let mut stack: Vec<&mut Value> = lines.iter_mut().collect();
    while let Some(value) = stack.pop() {
        match value {
            Value::String(text) => *text = text.replace(mirror, "").replace(".jsonl.zst", ".jsonl"),
            Value::Array(values) => stack.extend(values),
            Value::Object(fields) => {
                fields.remove("bytes");
                stack.extend(fields.values_mut());
            }
            _ => {}
        }
    }
    lines.iter().map(Value::to_string).collect()
}

#[test]
fn archived_sessions_come_back_byte_for_byte() {
    let pitree = Pitree::new();
    let [parent, .., agent, other] = family(&pitree);
    let before = sessions(&pitree);
    let name = "~/.pi/agent/sessions/--p--/other.jsonl";
    let dry_run = pitree.run(&["archive", "other", "--dry-run"]);
    assert_eq!((dry_run.code, dry_run.out), (0, format!("would: move to archive  {name}\n")));
    assert_eq!(sessions(&pitree), before);
    for back in [&["unarchive", "other", "--yes"][..], &["undo"], &["unarchive", "is:archived", "--yes"]] {
        assert_eq!(pitree.print(&["archive", "other", "--yes"]), format!("move to archive  {name}\n"));
        assert!(!other.exists());
        let place = archived(&pitree, &other);
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o600, "archives are private");
        assert_eq!(fs::metadata(&place).unwrap().mtime_nsec(), 123_456_789);
        pitree.print(back);
        assert_eq!(sessions(&pitree), before);
        assert!(!place.exists());
    }
    pitree.print(&["archive", "parent", "--yes"]);
    assert!(!parent.exists() && !agent.exists(), "subagent sessions move with their session");
    for (step, is_away) in [("undo", false), ("redo", true), ("undo", false)] {
        pitree.print(&[step]);
        assert_eq!(parent.exists(), !is_away);
    }
    pitree.print(&["archive", "fork", "--family", "--yes"]);
    assert_eq!(sessions(&pitree).into_keys().collect::<Vec<_>>(), [other]);
    pitree.print(&["unarchive", "agent", "--family", "--yes"]);
    assert_eq!(sessions(&pitree), before);
}

#[test]
fn commands_agree_before_and_after_archiving() {
    let pitree = Pitree::new();
    let [.., other] = family(&pitree);
    let commands: &[&[&str]] = &[
        &["ls", "--json", "--subagents"],
        &["ls", "--json", "--no-index"],
        &["ls", "is:fork", "--json"],
        &["tree", "fork", "--json"],
        &["context", "fork", "--json"],
        &["search", "--json", "all:own"],
        &["search", "--json", "began", "--subagents"],
        &["labels", "--json"],
        &["stats", "--json"],
        &["show", "fork", "u2", "--json"],
        &["export", "parent", "--format", "md", "-o", "-"],
    ];
    let mirror = pitree.home().join(".local/share/pitree/archive/original-paths");
    let all = || {
        let one = |args: &&[&str]| match args[0] {
            "export" => vec![pitree.run(args).out],
            _ => alike(pitree.objects(args), mirror.to_str().unwrap()),
        };
        commands.iter().map(one).collect::<Vec<_>>()
    };
    let before = all();
    pitree.print(&["archive", "before:2100", "--yes"]);
    assert!(sessions(&pitree).is_empty());
    for round in ["without their index", "with their index"] {
        for (args, (now, before)) in commands.iter().zip(all().iter().zip(&before)) {
            assert_eq!(now, before, "{args:?} {round}");
        }
    }
    assert_eq!(pitree.objects(&["ls", "is:archived", "--json"]).len(), 3);
    // The parent is found by the path that the fork names.
    pitree.print(&["unarchive", "fork", "--yes"]);
    let fork = pitree.objects(&["ls", "fork", "--json"]).into_iter().find(|one| one["id"] == "fork").unwrap();
    let place = archived(&pitree, &other.with_file_name("parent.jsonl"));
    assert_eq!(fork["parent"], json!({"state": "present", "path": place}));
    let agent = pitree.objects(&["ls", "--subagents", "--json"]).into_iter().find(|one| one["id"] == "agent").unwrap();
    assert!(agent["subagentOf"].is_string() || agent["subagentOf"].is_object(), "{agent}");
    // The original path still names a session.
    let tree = pitree.print(&["tree", other.to_str().unwrap()]);
    assert!(tree.contains("something else"), "{tree}");
}

#[test]
fn archived_sessions_must_be_brought_back_before_a_change() {
    let pitree = Pitree::new();
    let [parent, ..] = family(&pitree);
    pitree.print(&["archive", "parent", "--yes"]);
    let place = archived(&pitree, &parent);
    for args in [
        &["rename", "parent", "x"][..],
        &["label", "parent", "u1", "x"],
        &["fork", "parent", "u1"],
        &["resume", "parent", "--print"],
    ] {
        let error = pitree.refuse(args);
        assert!(
            error.contains("is archived; bring it back first with `pitree archive --restore`"),
            "{args:?}: {error}"
        );
    }
    // Moves to the trash are possible.
    pitree.print(&["rm", "parent", "--yes"]);
    assert!(!place.exists() && !parent.exists());
    pitree.print(&["undo"]);
    assert!(place.exists());
}

#[test]
fn nothing_replaces_another_session() {
    let pitree = Pitree::new();
    let [.., other] = family(&pitree);
    let text = fs::read(&other).unwrap();
    pitree.print(&["archive", "other", "--yes"]);
    pitree.write_session(&Session::new("other").user("u9", "a new one"));
    let new = fs::read(&other).unwrap();
    let error = pitree.refuse(&["archive", other.to_str().unwrap(), "--yes"]);
    assert!(error.contains("exists; an earlier session with this path is archived"), "{error}");
    let place = archived(&pitree, &other);
    let error = pitree.refuse(&["unarchive", place.to_str().unwrap(), "--yes"]);
    assert!(error.contains("another session is at"), "{error}");
    assert_eq!(fs::read(&other).unwrap(), new);
    fs::remove_file(&other).unwrap();
    pitree.print(&["unarchive", place.to_str().unwrap(), "--yes"]);
    assert_eq!(fs::read(&other).unwrap(), text);
}

#[test]
fn lines_of_a_running_pi_are_merged() {
    let pitree = Pitree::new();
    let [.., other] = family(&pitree);
    let before = fs::read_to_string(&other).unwrap();
    pitree.print(&["archive", "other", "--yes"]);
    // pi 1.5.2 appends to the path of a missing file.
    let lines = Session::new("other").under("u4").name("n1", "after").lines().to_string();
    fs::write(&other, &lines).unwrap();
    let told = pitree.run(&["ls"]);
    assert!(told.err.contains("moved to the archive; run `pitree undo 1` to bring it back"), "{told:?}");
    pitree.print(&["undo", "1"]);
    assert_eq!(fs::read_to_string(&other).unwrap(), before + &lines);
    assert_eq!(files_below(other.parent().unwrap()).len(), 4, "nothing else is left");
}

#[test]
fn what_cannot_be_archived_stays() {
    let pitree = Pitree::new();
    let [parent, ..] = family(&pitree);
    let link = parent.with_file_name("link.jsonl");
    symlink(&parent, &link).unwrap();
    assert_eq!(pitree.run(&["archive", link.to_str().unwrap(), "--yes"]).code, 1, "a symbolic link");
    fs::remove_file(&link).unwrap();
    let before = sessions(&pitree);
    assert_eq!(pitree.run(&["archive", "nothinglikethis", "--yes"]).code, 1);
    assert_eq!(pitree.run(&["unarchive", "parent", "--yes"]).code, 1, "is not archived");
    assert!(pitree.refuse(&["archive", "parent"]).contains("use --yes to skip the prompt"));
    assert_eq!(sessions(&pitree), before);
    // Other files in the archive are not sessions.
    pitree.print(&["archive", "parent", "--yes"]);
    let place = archived(&pitree, &parent);
    fs::write(place.with_file_name("x.jsonl.zst"), "something else").unwrap();
    fs::write(place.with_file_name("y.jsonl"), Session::new("y").user("u1", "hi").text()).unwrap();
    let listed = pitree.objects(&["ls", "--json"]);
    assert_eq!(listed.len(), 3, "{listed:#?}");
    // A damaged archive is reported, and stays.
    let mut bytes = fs::read(&place).unwrap();
    bytes[20] ^= 1;
    fs::write(&place, &bytes).unwrap();
    let told = pitree.run(&["ls", "--no-index"]);
    assert!(told.err.contains("the archived session is damaged"), "{told:?}");
    pitree.refuse(&["unarchive", place.to_str().unwrap(), "--yes"]);
    assert!(!parent.exists() && fs::read(&place).unwrap() == bytes);
}

#[test]
fn a_qualifier_with_a_path_is_a_query() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&Session::new("one").cwd("/home/dev/app").user("u1", "begin"));
    pitree.write_session(&Session::new("two").cwd("/home/dev/other").user("u1", "begin"));
    pitree.print(&["archive", "in:/home/dev/app", "--yes"]);
    assert!(!path.exists());
    assert_eq!(pitree.objects(&["ls", "is:archived", "--json"]).len(), 1);
}

#[test]
fn sessions_of_a_relative_directory_can_be_archived() {
    let pitree = Pitree::new();
    let session = Session::new("one").user("u1", "begin").text();
    let path = pitree.home().join("other/one.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &session).unwrap();
    pitree.print(&["archive", "--dir", "other", "one", "--yes"]);
    assert!(!path.exists());
    // Undo works in each directory.
    pitree.print(&["undo", "--dir", "/"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), session);
    pitree.print(&["rm", "--dir", "other", "one", "--yes"]);
    pitree.print(&["undo", "--dir", "/"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), session);
}

#[test]
fn the_archive_can_be_another_directory() {
    let pitree = Pitree::new();
    let [parent, ..] = family(&pitree);
    let config = pitree.home().join("config.toml");
    fs::write(&config, "archive-dir = \"~/old\"").unwrap();
    let with = |args: &[&str]| pitree.print(&[args, &["--config", config.to_str().unwrap()]].concat());
    fs::create_dir(pitree.home().join("old")).unwrap();
    with(&["archive", "parent", "--yes"]);
    let place = pitree.home().join("old/original-paths").join(parent.strip_prefix("/").unwrap());
    assert!(place.with_file_name("parent.jsonl.zst").exists());
    assert!(with(&["ls"]).contains("how it began") && !pitree.print(&["ls"]).contains("how it began  "));
    with(&["unarchive", "parent", "--yes"]);
    assert!(parent.exists());
}

#[test]
fn many_sessions_move_in_one_group() {
    let pitree = Pitree::new();
    for at in 0..300 {
        pitree.write_session(&Session::new(&format!("s{at:03}")).at(at).user("u1", &format!("Say {at}")));
    }
    let before = sessions(&pitree);
    assert_eq!(pitree.print(&["archive", "Say", "--yes"]).lines().count(), 300);
    assert!(sessions(&pitree).is_empty());
    assert!(pitree.print(&["undo", "--list"]).contains("1-300"));
    pitree.print(&["undo"]);
    assert_eq!(sessions(&pitree), before);
}
