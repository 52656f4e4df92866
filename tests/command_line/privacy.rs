//! File modes: only the owner may read pitree's files, whatever the umask.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::command_line::pitree::{Outcome, Pitree, SESSIONS};
use crate::common::effort::skipped;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs pitree with a umask.
fn masked(pitree: &Pitree, mask: &str, args: &[&str]) -> Outcome {
    let inner = pitree.command(args);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("umask {mask}; exec \"$0\" \"$@\"")]).arg(inner.get_program()).args(inner.get_args());
    command.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(pitree.home());
    Outcome::of(&mut command)
}

#[test]
fn new_files_are_private() {
    for mask in ["0000", "0022", "0777"] {
        let pitree = Pitree::new();
        let path = pitree.fixture("branches");
        pitree.session(".pi/agent/sessions/--other--", "other");
        set_mode(&path, 0o400);
        let forked = masked(&pitree, mask, &["fork", "branches", "u3"]);
        assert_eq!(forked.code, 0, "{}", forked.err);
        let fork = Path::new(forked.out.trim_end());
        assert_eq!(mode(fork), 0o600, "pi can write to it");
        set_mode(fork, 0o640);
        let removed = masked(&pitree, mask, &["rm", "--yes", fork.to_str().unwrap()]);
        assert_eq!(removed.code, 0, "{}", removed.err);
        let (state, share) = (pitree.home().join(".local/state"), pitree.home().join(".local/share"));
        let (name, trash) = (fork.file_name().unwrap().to_str().unwrap(), share.join("Trash"));
        for folder in [&state, &state.join("pitree"), &share, &trash, &trash.join("files"), &trash.join("info")] {
            assert_eq!(mode(folder), 0o700, "{mask} {}", folder.display());
        }
        for file in [state.join("pitree/journal.jsonl"), trash.join("info").join(format!("{name}.trashinfo"))] {
            assert_eq!(mode(&file), 0o600, "{mask} {}", file.display());
        }
        assert_eq!(mode(&trash.join("files").join(name)), 0o640, "it keeps its own");
        // The folder of the session is restored with it.
        set_mode(&path, 0o600);
        assert_eq!(masked(&pitree, mask, &["rm", "--yes", "branches"]).code, 0);
        fs::remove_dir(pitree.home().join(SESSIONS)).unwrap();
        let undone = masked(&pitree, mask, &["undo"]);
        assert_eq!((undone.code, mode(&pitree.home().join(SESSIONS))), (0, 0o700), "{mask} {}", undone.err);
    }
}

#[test]
fn a_journal_that_cannot_be_private_is_refused() {
    let pitree = Pitree::new();
    pitree.session(SESSIONS, "one");
    pitree.print(&["rename", "one", "first"]);
    let folder = pitree.home().join(".local/state/pitree");
    let journal = folder.join("journal.jsonl");
    for (path, open, flag, why) in
        [(&journal, 0o644, 'a', "cannot set its mode to 600"), (&folder, 0o777, 'i', "is writable by other users")]
    {
        let closed = mode(path);
        set_mode(path, open);
        let flags = |sign: char| Command::new("chattr").arg(format!("{sign}{flag}")).arg(path).output();
        if !flags('+').is_ok_and(|output| output.status.success()) {
            return skipped("cannot create an immutable file on this system");
        }
        let refused = pitree.run(&["rename", "one", "second"]);
        flags('-').unwrap();
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains(why) && refused.err.contains("journal.jsonl"), "{}", refused.err);
        pitree.print(&["rename", "one", &format!("with {flag}")]);
        assert_eq!(mode(path), closed);
    }
}
