//! A git repository with linked worktrees, as git 2.47 writes them.

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
