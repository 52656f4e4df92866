//! A home directory of its own for each test, with sessions made for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::terminal::{Launch, Terminal};

/// 2026-01-05T09:00:00Z
const BEGIN: i64 = 1_767_603_600;

/// A home directory; it goes when this is dropped.
pub(crate) struct Home {
    dir: TempDir,
    path: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        fs::create_dir(path.join("bin")).unwrap();
        Self { dir, path }
    }

    pub(crate) fn path(&self) -> &Path {
        debug_assert!(self.dir.path().is_dir());
        &self.path
    }

    /// Where pi keeps sessions.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.path.join(".pi/agent/sessions")
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Makes a directory.
    pub(crate) fn dir(&self, path: &str) -> PathBuf {
        let path = self.path.join(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Writes a session where pi would look for it.
    pub(crate) fn session(&self, session: &Session) -> PathBuf {
        self.write(&format!(".pi/agent/sessions/--project--/{}.jsonl", session.id), session.text())
    }

    /// Puts a program that is a shell script on the PATH.
    pub(crate) fn script(&self, path: &str, script: &str) -> PathBuf {
        let path = self.write(path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// pitree at home here.
    pub(crate) fn launch(&self, args: &[&str]) -> Launch {
        Launch::new(env!("CARGO_BIN_EXE_pitree"), &self.path).args(args.iter().copied())
    }

    /// pitree in a terminal of 100 columns and 30 rows.
    pub(crate) fn open(&self, args: &[&str]) -> Terminal {
        self.launch(args).open()
    }
}

/// A session to be written.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) name: Option<String>,
    /// What the user asked first.
    pub(crate) prompt: String,
    /// What the model answered; each answer is a branch of its own.
    pub(crate) answers: Vec<String>,
    /// Seconds after some day.
    pub(crate) time: i64,
}

impl Session {
    pub(crate) fn new(id: &str, cwd: &Path, prompt: &str) -> Self {
        Self {
            id: id.into(),
            cwd: cwd.to_string_lossy().into(),
            name: None,
            prompt: prompt.into(),
            answers: vec![format!("answer to {prompt}")],
            time: 0,
        }
    }

    pub(crate) fn at(self, time: i64) -> Self {
        Self { time, ..self }
    }

    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    pub(crate) fn answers(self, answers: &[&str]) -> Self {
        Self { answers: answers.iter().map(ToString::to_string).collect(), ..self }
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let stamp = |after: i64| {
            let seconds = BEGIN + self.time + after;
            (jiff::Timestamp::from_second(seconds).unwrap().to_string(), seconds * 1000)
        };
        let (time, _) = stamp(0);
        let mut lines =
            vec![json!({"type": "session", "version": 3, "id": self.id, "timestamp": time, "cwd": self.cwd})];
        let mut message = |id: &str, parent: Option<&str>, role: &str, text: &str, after: i64| {
            let (time, ms) = stamp(after);
            let content = json!([{"type": "text", "text": text}]);
            let message = json!({"role": role, "content": content, "timestamp": ms});
            lines.push(json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message}));
        };
        message("u1", None, "user", &self.prompt, 1);
        for (at, answer) in (2..).zip(&self.answers) {
            message(&format!("a{at}"), Some("u1"), "assistant", answer, at);
        }
        if let Some(name) = &self.name {
            let (time, _) = stamp(1);
            let info = json!({"type": "session_info", "id": "n1", "parentId": null, "timestamp": time, "name": name});
            lines.insert(1, info);
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
