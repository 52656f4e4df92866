//! The fixtures in a temporary directory. The program runs on them as in pi's golden run: with the same times and home
//! directory, and without pi's environment variables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

pub(crate) use crate::common::home::Outcome;
use crate::common::home::{Home, files_below, json_lines, repository, set_modified, write};

/// 2026-01-02T03:04:05Z, in seconds since 1970.
const MTIME: u64 = 1_767_323_045;

/// The session directories of the fixtures.
pub(crate) const DIRS: [&str; 3] = ["sessions", "flat", "subagents"];

/// A copy of the fixtures.
pub(crate) struct World {
    home: Home,
}

/// Reads the output of the real pi.
pub(crate) fn golden(path: &str) -> String {
    fs::read_to_string(repository("fixtures/golden").join(path)).unwrap()
}

/// Returns `path` relative to `root`, as in the golden files.
pub(crate) fn short(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/")
}

/// Asserts that the differences are the intended ones, in any order.
pub(crate) fn assert_same(mut found: Vec<String>, meant: &[&str]) {
    let mut meant = meant.to_vec();
    meant.sort_unstable();
    found.sort();
    found.dedup();
    let new: Vec<_> = found.iter().filter(|one| !meant.contains(&one.as_str())).collect();
    let gone: Vec<_> = meant.iter().filter(|one| !found.iter().any(|other| other == *one)).collect();
    assert!(new.is_empty() && gone.is_empty(), "not meant: {new:#?}\nmeant, but not there: {gone:#?}");
}

impl World {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        let fixtures = repository("fixtures");
        let mtime = SystemTime::UNIX_EPOCH + Duration::from_secs(MTIME);
        for from in DIRS.iter().flat_map(|dir| files_below(&fixtures.join(dir))) {
            let to = home.path().join(from.strip_prefix(&fixtures).unwrap());
            set_modified(&write(&to, fs::read(from).unwrap()), mtime);
        }
        home.write("config.toml", "");
        Self { home }
    }

    pub(crate) fn root(&self) -> &Path {
        self.home.path()
    }

    /// Returns the session files by their paths in the fixtures.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = files_below(self.root()).into_iter().map(|path| short(&path, self.root()));
        files.filter(|path| path.ends_with(".jsonl")).collect()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        let mut command = self.home.command(args);
        command.args(["--config", "config.toml"]).env("HOME", "/home/dev");
        // Nothing is written to that home directory, which can exist.
        for name in ["XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.home.path().join(".written"));
        }
        Outcome::of(&mut command)
    }

    /// Runs `ls` on all directories of the fixtures.
    pub(crate) fn ls(&self, args: &[&str]) -> Outcome {
        let dirs = DIRS.iter().flat_map(|dir| ["--dir", dir]);
        self.run(&["ls"].into_iter().chain(dirs).chain(args.iter().copied()).collect::<Vec<_>>())
    }

    /// Returns the lines of `ls --json` by path in the fixtures.
    pub(crate) fn list(&self) -> BTreeMap<String, Value> {
        let run = self.ls(&["--json"]);
        // Two of the files have no header, which is no error.
        let told = "pitree: cannot read 2 files; `pitree doctor` lists them\n";
        assert_eq!((run.code, &*run.err), (0, told));
        let lines = json_lines(&run.out).into_iter();
        lines.map(|line| (short(Path::new(line["path"].as_str().unwrap()), self.root()), line)).collect()
    }

    /// Returns the lines of `tree --json`.
    pub(crate) fn tree(&self, file: &str) -> Vec<Value> {
        let run = self.run(&["tree", file, "--json"]);
        assert_eq!((run.code, &*run.err), (0, ""), "{file}");
        let mut entries = json_lines(&run.out);
        // pi's tree does not have this field.
        entries.iter_mut().for_each(|entry| drop(entry.as_object_mut().unwrap().remove("schema")));
        entries
    }
}
