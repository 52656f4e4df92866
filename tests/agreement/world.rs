//! The fixtures in a folder of their own, and the program run on them as in pi's golden run: the same times, the same
//! home directory, nothing of pi's in the environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

/// 2026-01-02T03:04:05Z, in seconds since 1970.
const MTIME: u64 = 1_767_323_045;

/// The folders of the fixtures that are session directories.
pub(crate) const DIRS: [&str; 3] = ["sessions", "flat", "subagents"];

/// A copy of the fixtures.
pub(crate) struct World {
    folder: TempDir,
}

/// What the program did.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What the real pi said.
pub(crate) fn golden(path: &str) -> String {
    fs::read_to_string(repository("fixtures/golden").join(path)).unwrap()
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

/// `path` below `root`, as the golden files name it.
pub(crate) fn short(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/")
}

/// One JSON value a line.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Fails unless what was found is what is meant, whatever the order.
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
        let folder = tempfile::tempdir().unwrap();
        let fixtures = repository("fixtures");
        let mtime = SystemTime::UNIX_EPOCH + Duration::from_secs(MTIME);
        for from in DIRS.iter().flat_map(|dir| files_below(&fixtures.join(dir))) {
            let to = folder.path().join(from.strip_prefix(&fixtures).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, &to).unwrap();
            fs::File::options().append(true).open(to).unwrap().set_modified(mtime).unwrap();
        }
        fs::write(folder.path().join("config.toml"), "").unwrap();
        Self { folder }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The files that have the name of a session, by their paths in the fixtures.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = files_below(self.root()).into_iter().map(|path| short(&path, self.root()));
        files.filter(|path| path.ends_with(".jsonl")).collect()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_pitree"))
            .args(args)
            .arg("--config")
            .arg(self.root().join("config.toml"))
            .current_dir(self.root())
            .env_clear()
            .envs([("HOME", "/home/dev"), ("TZ", "UTC")])
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// `ls` on all directories of the fixtures.
    pub(crate) fn ls(&self, args: &[&str]) -> Run {
        let dirs = DIRS.iter().flat_map(|dir| ["--dir", dir]);
        self.run(&["ls"].into_iter().chain(dirs).chain(args.iter().copied()).collect::<Vec<_>>())
    }

    /// The lines of `ls --json`, by the paths in the fixtures.
    pub(crate) fn list(&self) -> BTreeMap<String, Value> {
        let run = self.ls(&["--json"]);
        assert_eq!((run.code, &*run.err), (Some(0), ""));
        let lines = json_lines(&run.out).into_iter();
        lines.map(|line| (short(Path::new(line["path"].as_str().unwrap()), self.root()), line)).collect()
    }

    /// The lines of `tree --json`.
    pub(crate) fn tree(&self, file: &str) -> Vec<Value> {
        let run = self.run(&["tree", file, "--json"]);
        assert_eq!((run.code, &*run.err), (Some(0), ""), "{file}");
        json_lines(&run.out)
    }
}
