//! A temporary home directory for a test, and runs of pitree in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use super::session::{START, Session};

/// A temporary home directory, deleted on drop.
pub(crate) struct Home {
    _dir: TempDir,
    path: PathBuf,
}

/// The exit code and the output of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { path: dunce::canonicalize(dir.path()).unwrap(), _dir: dir }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns pi's session directory.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.path.join(".pi/agent/sessions")
    }

    /// Writes a file and creates its parent directories.
    pub(crate) fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        write(&self.path.join(path), contents)
    }

    /// Creates a directory.
    pub(crate) fn dir(&self, path: &str) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Writes a session to pi's session directory.
    pub(crate) fn session(&self, session: &Session) -> PathBuf {
        write(&self.sessions().join("--project--").join(format!("{}.jsonl", session.id)), session.text())
    }

    /// Writes an executable shell script.
    #[cfg(unix)]
    pub(crate) fn script(&self, path: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Returns a command for pitree without the environment of the user.
    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pitree"));
        command.args(args).current_dir(&self.path).stdin(Stdio::null());
        command.env_clear().envs(self.environment());
        command
    }

    /// Returns the environment variables for a program under test.
    pub(crate) fn environment(&self) -> [(&'static str, OsString); 2] {
        [("HOME", self.path.clone().into()), ("TZ", "UTC".into())]
    }

    /// Returns the contents and modification times of all files except caches.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let file = |path: PathBuf| {
            let time = path.symlink_metadata().unwrap().modified().unwrap();
            (path.clone(), (fs::read(path).unwrap_or_default(), time))
        };
        let is_cache = |path: &PathBuf| path.starts_with(self.path.join(".cache"));
        files_below(&self.path).into_iter().filter(|path| !is_cache(path)).map(file).collect()
    }
}

impl Outcome {
    pub(crate) fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
    }
}

/// Returns the start time of test sessions.
pub(crate) fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START.unsigned_abs())
}

/// Sets the modification time of a file.
pub(crate) fn set_modified(path: &Path, time: SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Returns a path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Writes a file and creates its parent directories.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
    path.into()
}

/// Returns the files in a directory and its subdirectories.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// Copies the files of a directory to another one.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        write(&to.join(file.strip_prefix(from).unwrap()), fs::read(file).unwrap());
    }
}

/// Parses one JSON value per line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Parses the last line of a file.
pub(crate) fn last_line(path: &Path) -> Value {
    json_lines(&fs::read_to_string(path).unwrap()).pop().unwrap()
}
