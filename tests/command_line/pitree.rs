//! pitree in its own home directory, with sessions.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

use pitree::disk::demo;
use serde_json::Value;

use crate::common::home::{Home, json_lines, set_modified};
pub(crate) use crate::common::home::{Outcome, long_ago};
use crate::common::session::Session;

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// pitree in an empty home directory, isolated from the environment of the user who runs the tests.
pub(crate) struct Pitree {
    home: Home,
    variables: Vec<(&'static str, String)>,
}

/// Returns a directory with the demo sessions, with fixed times.
pub(crate) fn samples() -> &'static str {
    static SAMPLES: LazyLock<(Home, PathBuf)> = LazyLock::new(|| {
        let home = Home::new();
        let dir = home.dir("samples");
        demo::write(&dir, &dir, None).unwrap();
        (home, dir)
    });
    SAMPLES.1.to_str().unwrap()
}

impl Pitree {
    pub(crate) fn new() -> Self {
        Self { home: Home::new(), variables: Vec::new() }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub(crate) fn path_variable(&self) -> String {
        let path = self.variables.iter().find(|(name, _)| *name == "PATH");
        path.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Puts a session in a directory of the home.
    pub(crate) fn session(&self, dir: &str, id: &str) -> PathBuf {
        let text = fs::read_to_string(format!("{FIXTURES}/flat/2026-01-05T09-00-00-000Z_flat-one.jsonl")).unwrap();
        self.home.write(format!("{dir}/{id}.jsonl"), text.replace("flat-one", id))
    }

    /// Puts a session from the fixtures in pi's session directory, with an old file time. Its working directory is the
    /// home, so that it exists.
    pub(crate) fn fixture(&self, name: &str) -> PathBuf {
        let folder = ["app", "old", "odd"].map(|kind| format!("{FIXTURES}/sessions/--home-dev-{kind}--/{name}.jsonl"));
        let text = folder.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap();
        let dir = self.home().join(SESSIONS);
        let text = text.replace("/fixtures-root/sessions/--home-dev-app--", dir.to_str().unwrap());
        let text = text.replace("\"cwd\":\"/home/dev/app\"", &format!("\"cwd\":{:?}", self.home()));
        self.write(&format!("{name}.jsonl"), &text)
    }

    /// Writes a file in pi's session directory, with an old file time.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.write(format!("{SESSIONS}/{name}"), text);
        set_modified(&path, long_ago());
        path
    }

    /// Writes a session to pi's session directory.
    pub(crate) fn write_session(&self, session: &Session) -> PathBuf {
        self.write(&format!("{}.jsonl", session.id), &session.text())
    }

    /// Puts a shell script in the home as an executable program.
    #[cfg(unix)]
    pub(crate) fn script(&self, path: &str, script: &str) -> PathBuf {
        self.home.script(path, script)
    }

    /// Returns the content and time of every file in the home.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        self.home.files()
    }

    /// Runs a command that must fail and change nothing; returns its error message.
    pub(crate) fn refuse(&self, args: &[&str]) -> String {
        let before = self.files();
        let outcome = self.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{args:?}: {}", outcome.err);
        assert!(outcome.err.starts_with("pitree: "), "{args:?}: {}", outcome.err);
        assert!(sessions(&before) == sessions(&self.files()), "{args:?} changed something");
        outcome.err
    }

    /// Returns a session as listed.
    pub(crate) fn listed(&self, path: &Path) -> Value {
        let sessions = self.objects(&["ls", "--json"]);
        sessions.into_iter().find(|session| session["path"] == path.to_str().unwrap()).unwrap()
    }

    /// Returns the entry of a tree that matches.
    pub(crate) fn entry(&self, path: &Path, is_it: impl Fn(&Value) -> bool) -> Value {
        self.objects(&["tree", path.to_str().unwrap(), "--json"]).into_iter().find(is_it).unwrap()
    }

    /// Returns the ID of the entry from which pi continues, skipping neutral entries.
    pub(crate) fn goes_on_at(&self, path: &Path) -> Option<String> {
        let entries = self.objects(&["tree", path.to_str().unwrap(), "--json"]);
        let mut at = entries.iter().find(|entry| entry["leaf"] == true);
        while let Some(entry) = at.filter(|entry| entry["type"] == "label") {
            at = entries.iter().find(|parent| parent["id"] == entry["parentId"]);
        }
        at.map(|entry| entry["id"].as_str().unwrap().into())
    }

    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = self.home.command(args);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run(&self, args: &[impl AsRef<OsStr>]) -> Outcome {
        Outcome::of(&mut self.command(args))
    }

    /// Returns the output of a run without errors or warnings.
    pub(crate) fn print(&self, args: &[impl AsRef<OsStr>]) -> String {
        let command = self.command(args);
        let outcome = self.run(args);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{command:?}");
        outcome.out
    }

    /// Returns the output of a run that finds nothing to do.
    pub(crate) fn nothing(&self, args: &[impl AsRef<OsStr>]) -> String {
        let outcome = self.run(args);
        assert_eq!((outcome.code, outcome.err.as_str()), (1, ""), "{}", outcome.out);
        outcome.out
    }

    /// Returns the objects that a command prints, without their common field `schema`.
    pub(crate) fn objects(&self, args: &[impl AsRef<OsStr>]) -> Vec<Value> {
        let unversioned = |mut object: Value| {
            let version = object.as_object_mut().unwrap().remove("schema");
            assert_eq!(version, Some(1.into()), "{object}");
            object
        };
        let lines = json_lines(&self.print(args)).into_iter().map(unversioned);
        lines.filter(|object| object["type"] != "end").collect()
    }

    /// Returns the IDs of the sessions in the default directory.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.objects(&["ls", "--json"]).iter().map(|session| session["id"].as_str().unwrap().into()).collect()
    }
}

/// pi's session directory of one project.
pub(crate) const SESSIONS: &str = ".pi/agent/sessions/--p--";

/// Returns the files except pitree's own, because some refusals happen after the journal is open.
fn sessions(files: &BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) -> Vec<(&PathBuf, &(Vec<u8>, SystemTime))> {
    files.iter().filter(|(path, _)| !path.ends_with(".local/state/pitree/journal.jsonl")).collect()
}
