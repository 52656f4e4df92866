//! pitree in a home directory of its own, with sessions in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// pitree in an empty home directory, knowing nothing of whoever runs the tests.
pub(crate) struct Pitree {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
}

/// How a run ended, and what it said.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Pitree {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), variables: Vec::new() }
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
        let dir = self.home().join(dir);
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(format!("{id}.jsonl"));
        let text = fs::read_to_string(format!("{FIXTURES}/flat/2026-01-05T09-00-00-000Z_flat-one.jsonl")).unwrap();
        fs::write(&path, text.replace("flat-one", id)).unwrap();
        path
    }

    /// Puts a session from the fixtures where pi would look for it, as if it was written long ago. The directory that
    /// it worked in is the home, so that it is there.
    pub(crate) fn fixture(&self, name: &str) -> PathBuf {
        let folder = ["app", "old", "odd"].map(|kind| format!("{FIXTURES}/sessions/--home-dev-{kind}--/{name}.jsonl"));
        let text = folder.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap();
        let dir = self.home().join(SESSIONS);
        let text = text.replace("/fixtures-root/sessions/--home-dev-app--", dir.to_str().unwrap());
        let text = text.replace("\"cwd\":\"/home/dev/app\"", &format!("\"cwd\":{:?}", self.home()));
        self.write(&format!("{name}.jsonl"), &text)
    }

    /// Writes a file where pi would look for sessions, as if long ago.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(SESSIONS).join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago()).unwrap();
        path
    }

    /// Every file of the home: its contents and its time.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.home().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let contents = fs::read(&path).unwrap_or_default();
                    files.insert(path.clone(), (contents, path.symlink_metadata().unwrap().modified().unwrap()));
                }
            }
        }
        files
    }

    /// Runs something that has to fail and to change nothing: what it complains about.
    pub(crate) fn refuse(&self, args: &[&str]) -> String {
        let before = self.files();
        let outcome = self.run(args);
        assert_eq!((outcome.code, outcome.out.as_str()), (1, ""), "{args:?}: {}", outcome.err);
        assert!(outcome.err.starts_with("pitree: "), "{args:?}: {}", outcome.err);
        assert!(sessions(&before) == sessions(&self.files()), "{args:?} changed something");
        outcome.err
    }

    /// A session as the list has it.
    pub(crate) fn listed(&self, path: &Path) -> Value {
        let sessions = self.objects(&["ls", "--json"]);
        sessions.into_iter().find(|session| session["path"] == path.to_str().unwrap()).unwrap()
    }

    /// The entry of a tree for which something is so.
    pub(crate) fn entry(&self, path: &Path, is_it: impl Fn(&Value) -> bool) -> Value {
        self.objects(&["tree", path.to_str().unwrap(), "--json"]).into_iter().find(is_it).unwrap()
    }

    /// The id of the entry from which pi goes on, neutral lines left out.
    pub(crate) fn goes_on_at(&self, path: &Path) -> Option<String> {
        let entries = self.objects(&["tree", path.to_str().unwrap(), "--json"]);
        let mut at = entries.iter().find(|entry| entry["leaf"] == true);
        while let Some(entry) = at.filter(|entry| entry["type"] == "label") {
            at = entries.iter().find(|parent| parent["id"] == entry["parentId"]);
        }
        at.map(|entry| entry["id"].as_str().unwrap().into())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pitree"));
        command.args(args).env_clear().env("HOME", self.home()).env("TZ", "UTC").current_dir(self.home());
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        Outcome { code: status.code().unwrap(), out, err }
    }

    /// What a run prints that has nothing to complain about.
    pub(crate) fn print(&self, args: &[&str]) -> String {
        let outcome = self.run(args);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{args:?}");
        outcome.out
    }

    pub(crate) fn objects(&self, args: &[&str]) -> Vec<Value> {
        self.print(args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The ids of the sessions that are found without being told where.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.objects(&["ls", "--json"]).iter().map(|session| session["id"].as_str().unwrap().into()).collect()
    }
}

/// Where pi keeps the sessions of one project.
pub(crate) const SESSIONS: &str = ".pi/agent/sessions/--p--";

pub(crate) fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_603_600)
}

/// The files without what pitree keeps for itself: a refusal may find that out only with the journal open.
fn sessions(files: &BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) -> Vec<(&PathBuf, &(Vec<u8>, SystemTime))> {
    files.iter().filter(|(path, _)| !path.ends_with(".local/state/pitree/journal.jsonl")).collect()
}
