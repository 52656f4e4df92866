//! A home directory of its own for a test, and pitree at home there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use super::session::{START, Session};

/// A home directory; it goes when this is dropped.
pub(crate) struct Home {
    _dir: TempDir,
    path: PathBuf,
}

/// How a run ended, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { path: dir.path().canonicalize().unwrap(), _dir: dir }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where pi keeps sessions.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.path.join(".pi/agent/sessions")
    }

    /// Writes a file, in directories that are made for it.
    pub(crate) fn write(&self, path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> PathBuf {
        write(&self.path.join(path), contents)
    }

    /// Makes a directory.
    pub(crate) fn dir(&self, path: &str) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Writes a session where pi would look for it.
    pub(crate) fn session(&self, session: &Session) -> PathBuf {
        write(&self.sessions().join("--project--").join(format!("{}.jsonl", session.id)), session.text())
    }

    /// Writes a program that is a shell script.
    #[cfg(unix)]
    pub(crate) fn script(&self, path: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// pitree, knowing nothing of whoever runs the tests.
    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pitree"));
        command.args(args).current_dir(&self.path).stdin(Stdio::null());
        command.env_clear().envs(self.environment());
        command
    }

    /// The variables that a program under test sees.
    pub(crate) fn environment(&self) -> [(&'static str, OsString); 2] {
        [("HOME", self.path.clone().into()), ("TZ", "UTC".into())]
    }

    /// Every file but those of caches, which are nobody's loss: its contents and its time.
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

/// The day on which sessions of tests begin.
pub(crate) fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(START.unsigned_abs())
}

/// As if a file was written then.
pub(crate) fn set_modified(path: &Path, time: SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Writes a file, in directories that are made for it.
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
    path.into()
}

/// The files below a folder, and below its folders.
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

/// Copies the files below a folder to another one.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        write(&to.join(file.strip_prefix(from).unwrap()), fs::read(file).unwrap());
    }
}

/// One JSON value a line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The last line of a file.
pub(crate) fn last_line(path: &Path) -> Value {
    json_lines(&fs::read_to_string(path).unwrap()).pop().unwrap()
}
