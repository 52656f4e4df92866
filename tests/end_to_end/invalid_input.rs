//! Files that are not sessions, missing directories, and malicious content.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::{fs, io};

use crate::common::effort::skipped;
use crate::end_to_end::home::{Home, Session, session};
use crate::end_to_end::terminal::{ESC, TAB, selected};

#[test]
fn invalid_files_are_harmless() {
    let home = Home::new();
    home.session(&session("sound", home.path(), "a sound session"));
    let dir = home.sessions().join("--project--");
    let mut noise = 1u32;
    let mut random = || -> Vec<u8> {
        let next = || {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            noise as u8
        };
        std::iter::repeat_with(next).take(5000).collect()
    };
    fs::write(dir.join("random.jsonl"), random()).unwrap();
    let mut header = Session::new("half").cwd(home.path()).text().into_bytes();
    header.extend(random());
    fs::write(dir.join("half.jsonl"), header).unwrap();
    fs::write(dir.join("empty.jsonl"), "").unwrap();
    fs::create_dir(dir.join("folder.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(dir.join("pipe.jsonl")).status().unwrap().success());
    std::os::unix::fs::symlink("nowhere", dir.join("dangling.jsonl")).unwrap();
    std::os::unix::fs::symlink(".", dir.join("round")).unwrap();
    let mut pitree = home.open(&[]);
    pitree.wait_for("2 sessions · 1 project");
    pitree.wait_without("reading");
    for _ in 0..4 {
        pitree.send("j");
    }
    pitree.send("\x1b[Hj");
    pitree.wait_until("a session selected", |screen| !selected(screen).is_empty());
    pitree.send("l\u{1}G");
    pitree.wait_without("reading");
    pitree.send(TAB);
    pitree.quit();
}

#[test]
fn undisplayable_characters_are_reported() {
    let home = Home::new();
    let folder = home.sessions().join("--project--");
    home.write(folder.join("odd \u{1b}[31m.jsonl"), session("odd", home.path(), "hello").text());
    home.write(folder.join("even.jsonl"), session("even", home.path(), "hello").text());
    let mut terminal = home.launch(&["path", "odd"]).size(200, 30).open();
    terminal.wait_for("odd ␛[31m.jsonl");
    terminal.wait_for("redirect to a pipe or file for the exact text");
    assert_eq!(terminal.wait_exit(), 0);
    let mut terminal = home.launch(&["path", "even"]).size(200, 30).open();
    terminal.wait_for("even.jsonl");
    assert_eq!(terminal.wait_exit(), 0);
    assert!(!terminal.contents().contains("exactly"), "{}", terminal.contents());
}

#[test]
fn an_unreadable_file_is_counted_and_the_others_are_read() {
    let home = Home::new();
    home.session(&session("sound", home.path(), "a sound session"));
    let secret = home.session(&session("secret", home.path(), "a secret"));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).map_err(|error| error.kind()) != Err(io::ErrorKind::PermissionDenied) {
        return skipped("root reads everything");
    }
    let pitree = home.open(&[]);
    pitree.wait_for("⚠ 1 unreadable");
    pitree.wait_for("1 session ·");
    pitree.quit();
}

#[test]
fn a_folder_without_search_permission_is_unreadable() {
    let home = Home::new();
    home.session(&session("secret", home.path(), "a secret"));
    for (folder, mode) in [(home.sessions().join("--project--"), 0o444), (home.path().into(), 0o755)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    let (pitree, args) = (env!("CARGO_BIN_EXE_pitree"), ["ls", "--dir", &home.sessions().display().to_string()]);
    // Permissions do not restrict root.
    let is_root = fs::metadata(home.path()).unwrap().uid() == 0;
    let mut command = Command::new(if is_root { "setpriv" } else { pitree });
    if is_root {
        let copy = home.path().join("pitree");
        // A file that this process writes is busy while other tests start programs.
        assert!(Command::new("cp").arg(pitree).arg(&copy).status().unwrap().success());
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy);
    }
    command.env_clear().envs(home.environment());
    let Ok(outcome) = command.args(args).output() else { return skipped("there is no setpriv") };
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert!(said.contains("--project--") && said.contains("permission denied"), "{said}");
    fs::set_permissions(home.sessions().join("--project--"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Harmful escape sequences, which a file can contain in any part: none may reach the terminal.
#[test]
fn no_escape_sequence_of_a_file_reaches_the_terminal() {
    let evil =
        "\u{1b}]0;owned\u{7}\u{1b}[31;5mred\u{1b}[0m\u{9b}31m\u{202e}drawkcab\u{202c}\u{2066}iso\u{85}\u{8}\u{7f}end";
    let home = Home::new();
    let answer =
        format!("answer {evil}\n\n```{evil}\n{evil}\n```\n\n| {evil} |\n|---|\n| {evil} |\n\n[{evil}](http://{evil})");
    let session = Session::new(&format!("evil{evil}")).cwd(format!("{}{evil}", home.path().display()));
    let session = session.name("n1", &format!("name {evil}")).at_root().asked(&format!("prompt {evil}"), &[&answer]);
    let text = session.label("l", "a2", &format!("label {evil}")).entry("odd", evil, "\"odd\":true").text();
    let folder = home.sessions().join("--project--\u{1b}]2;folder\u{7}");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("file\u{1b}]2;name\u{7}.jsonl"), text).unwrap();
    let mut pitree = home.launch(&[]).size(160, 40).open();
    pitree.wait_selected("name ");
    pitree.wait_for("last active");
    pitree.send("\u{10}l"); // paths; the tree
    pitree.wait_selected("leaf");
    pitree.send("\u{1}\x1b[H"); // all entries
    pitree.wait_for("[label: label ");
    pitree.wait_selected("user  prompt ");
    for _ in 0..5 {
        pitree.send("j");
        pitree.send(TAB);
        pitree.send("\x1b[Z");
    }
    pitree.wait_selected("[title: name");
    pitree.send("h\r");
    pitree.wait_for("Working directory not found");
    pitree.send(ESC);
    pitree.wait_for("m menu");
    pitree.send("q");
    assert_eq!(pitree.wait_exit(), 0);
    let raw = String::from_utf8(pitree.raw()).unwrap().replacen("\u{1b}]11;?\u{7}", "", 1); // pitree's own query
    for part in
        ["\u{1b}]", "\u{7}", "\u{9b}", "\u{202e}", "\u{202c}", "\u{2066}", "\u{85}", "\u{8}", "\u{7f}", "\u{1b}[31;5m"]
    {
        assert!(
            !raw.contains(part),
            "{part:?} got through: {:?}",
            raw.split(part).next().map(|before| before.chars().rev().take(80).collect::<Vec<_>>())
        );
    }
}

#[test]
fn an_empty_directory_is_friendly() {
    let home = Home::new();
    home.dir(".pi/agent/sessions");
    let pitree = home.open(&[]);
    for text in ["No sessions yet.", "~/.pi/agent/sessions", "pi's default", "--dir DIR", "--demo"] {
        pitree.wait_for(text);
    }
    pitree.quit();
}

#[test]
fn a_missing_directory_is_friendly() {
    let home = Home::new();
    let pitree = home.open(&["--dir", "/nowhere/at all"]);
    for text in ["No sessions here.", "(from --dir)", "/nowhere/at all: no such directory", "--demo"] {
        pitree.wait_for(text);
    }
    pitree.quit();
}
