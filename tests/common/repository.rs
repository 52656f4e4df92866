//! Git repositories: with linked worktrees, as git 2.47 writes them, and a real one.

use std::fs;
use std::path::{Path, PathBuf};

/// A main working tree `code/app` with the linked worktree `w/fix` on the branch `fix-42`, in a directory.
pub(crate) struct Repository {
    pub(crate) main: PathBuf,
    pub(crate) linked: PathBuf,
}

impl Repository {
    pub(crate) fn new(dir: &Path) -> Self {
        let (main, linked) = (dir.join("code/app"), dir.join("w/fix"));
        let admin = main.join(".git/worktrees/fix");
        for dir in [&admin, &linked] {
            fs::create_dir_all(dir).unwrap();
        }
        let pointer = |path: &Path| format!("{}\n", path.display());
        for (path, text) in [
            (main.join(".git/HEAD"), "ref: refs/heads/main\n".to_owned()),
            (linked.join(".git"), format!("gitdir: {}", pointer(&admin))),
            (admin.join("gitdir"), pointer(&linked.join(".git"))),
            (admin.join("commondir"), "../..\n".into()),
            (admin.join("HEAD"), "ref: refs/heads/fix-42\n".into()),
        ] {
            fs::write(path, text).unwrap();
        }
        Self { main, linked }
    }

    /// Removes the linked worktree like `git worktree remove`.
    pub(crate) fn remove_worktree(&self) {
        fs::remove_dir_all(&self.linked).unwrap();
        fs::remove_dir_all(self.main.join(".git/worktrees")).unwrap();
    }
}

/// Runs a shell script in a repository, which is created first. Returns `false` if git is missing or the script fails.
#[cfg(unix)]
pub(crate) fn with_real_git(dir: &Path, script: &str) -> bool {
    let mut command = std::process::Command::new("sh");
    let names = ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL"];
    command.arg("-ec").arg(format!("test -e .git || git init -q -b main\n{script}")).current_dir(dir).env("HOME", dir);
    command.envs(names.map(|name| (format!("GIT_{name}"), "x"))).status().unwrap().success()
}
