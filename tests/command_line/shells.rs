//! The printed command for resuming a session, in real shells: they parse unusual names as intended.
#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, Stdio};

use pitree::base::text;

use crate::command_line::pitree::{Pitree, SESSIONS};
use crate::common::effort::skipped;
use crate::common::session::Session;

/// Shells with options that skip the user's startup files.
const SHELLS: &[(&str, &[&str])] =
    &[("bash", &["--norc", "--noprofile"]), ("zsh", &["-f"]), ("dash", &[]), ("fish", &["--no-config"])];

const NAMES: &[&str] = &[
    "-",
    "-x",
    "--",
    "+1",
    "~",
    "~root",
    "=ls",
    "%self %s %d",
    "it's",
    "fin\\'",
    "back\\slash\\\\",
    "\\",
    "bang!! !x !$",
    "^a^b",
    "$HOME `id` $(id) ${x} \"",
    "a b ",
    "  a",
    "é漢😀",
    "*?[a]{b,c}",
    "#x",
    "(a);|&<>",
    "a\nb",
    "tail \n",
    "\n\n",
    "\t",
    "\u{1b}[31m!x%",
    "\u{7f}",
    "a\u{202e}b",
    "\u{9b}7",
    "-\n",
    "\\012",
    "'\n1",
];

/// Runs the lines in a shell, typed and as a script; returns pi's arguments from each.
fn started(pitree: &Pitree, (shell, options): (&str, &[&str]), is_typed: bool, lines: &OsStr) -> Vec<Vec<u8>> {
    let file = pitree.home().join("started");
    let _ = fs::remove_file(&file);
    let mut command = Command::new(shell);
    command.args(options).current_dir(pitree.home()).env_clear().stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("HOME", pitree.home()).env("PATH", pitree.path_variable()).env("LC_ALL", "C.UTF-8");
    if is_typed {
        command.arg("-i").stdin(Stdio::piped());
    } else {
        command.arg("-c").arg(lines).stdin(Stdio::null());
    }
    let mut running = command.spawn().unwrap();
    if let Some(mut keys) = running.stdin.take() {
        keys.write_all(lines.as_bytes()).unwrap();
    }
    let output = running.wait_with_output().unwrap();
    let started = fs::read(file).unwrap_or_else(|_| panic!("{shell}: {}", String::from_utf8_lossy(&output.stderr)));
    started.split(|&byte| byte == 0).map(<[u8]>::to_vec).collect()
}

#[test]
fn every_shell_parses_the_command_as_intended() {
    let pitree = Pitree::new();
    pitree.script("bin/pi", "printf '%s\\0' \"$PWD\" \"$@\" >> \"$HOME/started\"\n");
    let path = format!("{}/bin:/usr/bin:/bin", pitree.home().display());
    let pitree = pitree.variable("PATH", &path);
    let words: Vec<&str> = ["pi"].iter().chain(NAMES).copied().collect();
    let config = pitree.home().join("config.toml");
    let quoted = serde_json::to_string(&words).unwrap().replace('\u{7f}', "\\u007f");
    fs::write(&config, format!("pi = {quoted}\n")).unwrap();
    let (mut lines, mut meant) = (Vec::new(), Vec::new());
    let bytes = NAMES.iter().map(|name| name.as_bytes()).chain([&b"\xff"[..], b"'\xff\xfe1\n", b"\xc3\x28!"]);
    for (at, name) in bytes.enumerate() {
        // The directory of a session is valid UTF-8.
        let dir = pitree.home().join(NAMES[at % NAMES.len()]);
        fs::create_dir_all(&dir).unwrap();
        let file = pitree.home().join(SESSIONS).join(OsStr::from_bytes(name));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, Session::new(&format!("s{at}")).cwd(&dir).text()).unwrap();
        let args = [
            &["resume".as_ref(), "--print".as_ref(), "--config".as_ref()],
            &[config.as_os_str(), file.as_os_str()][..],
        ];
        let output = pitree.command(&args.concat()).output().unwrap();
        assert!(output.status.success(), "{name:?}: {}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8(output.stdout).unwrap();
        let is_whole = text::clean(line.trim_end_matches('\n')) == line.trim_end_matches('\n');
        assert!(is_whole || line.contains("\n'"), "a terminal shows it as it is: {line:?}");
        lines.extend(line.into_bytes());
        meant.push(dir.into_os_string().into_vec());
        meant.extend(NAMES.iter().map(|name| name.as_bytes().to_vec()));
        meant.extend([b"--session".to_vec(), file.into_os_string().into_vec()]);
    }
    meant.push(Vec::new());
    let lines = OsString::from_vec(lines);
    for &(shell, options) in SHELLS {
        if Command::new(shell).arg("-c").arg(":").status().is_err() {
            skipped(&format!("there is no {shell}"));
            continue;
        }
        for is_typed in [false, true] {
            let started = started(&pitree, (shell, options), is_typed, &lines);
            for (at, (started, meant)) in started.iter().zip(&meant).enumerate() {
                let text = |bytes| OsString::from_vec(bytes);
                assert_eq!(text(started.clone()), text(meant.clone()), "{shell}, typed: {is_typed}, word {at}");
            }
            assert_eq!(started.len(), meant.len(), "{shell}, typed: {is_typed}");
        }
    }
}
