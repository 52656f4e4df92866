//! A home directory with pitree, and machines, each a home directory with its own way to reach it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::home::{Home, Outcome, files_below, json_lines, repository};

/// The way in which a machine is reached. All but [`Dir`](Self::Dir) are read by rsync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A program that runs a shell there, and pitree.
    Pitree,
    /// The same without pitree.
    Command,
    /// A stand-in for docker.
    Docker,
    /// A directory.
    Dir,
}

const WAYS: [Way; 4] = [Way::Pitree, Way::Command, Way::Docker, Way::Dir];

/// Returns `true` with rsync, without which only directories can be read.
pub(crate) fn has_rsync() -> bool {
    let is_found = Path::new("/usr/bin/rsync").exists();
    if !is_found {
        crate::common::effort::skipped("no rsync");
    }
    is_found
}

/// Returns all ways that are possible here.
pub(crate) fn ways() -> impl Iterator<Item = Way> {
    WAYS.into_iter().filter(|way| *way == Way::Dir || has_rsync())
}

/// A machine named `box`.
pub(crate) struct Remote {
    /// The home directory of pitree.
    pub(crate) here: Home,
    /// The home directory of the machine.
    pub(crate) there: Home,
}

impl Remote {
    /// Creates a machine with the fixtures, and adds it.
    pub(crate) fn new(way: Way) -> Self {
        let remote = Self::unknown();
        crate::common::home::copy(&repository("fixtures/sessions"), &remote.there.sessions());
        remote.add(way);
        remote
    }

    /// Creates a machine without sessions that is not added yet.
    pub(crate) fn unknown() -> Self {
        let (here, there) = (Home::new(), Home::new());
        fs::create_dir_all(here.sessions()).unwrap();
        fs::create_dir_all(there.sessions()).unwrap();
        Self { here, there }
    }

    /// Installs pitree on the machine.
    pub(crate) fn install(&self) {
        self.there.dir(".local/bin");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pitree"), self.there.path().join(".local/bin/pitree")).unwrap();
    }

    /// Adds the machine as `box`.
    pub(crate) fn add(&self, way: Way) {
        let address = match way {
            Way::Dir => vec![format!("dir:{}", self.there.sessions().display())],
            Way::Docker => {
                self.docker();
                vec!["docker:box".into()]
            }
            Way::Pitree | Way::Command => self.program(),
        };
        if way == Way::Pitree {
            self.install();
        }
        let mut words = vec!["machine".to_owned(), "add".into(), "box".into()];
        words.extend(address);
        let added = self.run(&words);
        assert_eq!(added.code, 0, "{added:?}");
    }

    /// Returns the address of a program that runs a command on the machine.
    pub(crate) fn program(&self) -> Vec<String> {
        let home = format!("HOME={}", self.there.path().display());
        ["command:env", "-i", "PATH=/usr/bin:/bin", &home].map(String::from).to_vec()
    }

    /// Creates a stand-in for docker with the container `box`.
    fn docker(&self) {
        let home = self.there.path().display();
        let script = format!(
            "shift\nwhile case $1 in -*) true;; *) false;; esac; do shift; done\n\
             [ \"$1\" = box ] || {{ echo \"Error: No such container: $1\" >&2; exit 1; }}\nshift\n\
             cd / && exec env -i PATH=/usr/bin:/bin HOME={home} \"$@\"\n"
        );
        let docker = self.here.script("docker", &script);
        self.here.write(".config/pitree/config.toml", format!("[sync]\ndocker = [{:?}]\n", docker.to_str().unwrap()));
    }

    /// Runs pitree.
    pub(crate) fn run(&self, args: &[impl AsRef<std::ffi::OsStr>]) -> Outcome {
        Outcome::of(self.here.command(args).env("PATH", "/usr/bin:/bin"))
    }

    /// Runs pitree with success and returns the standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run.out
    }

    /// Synchronizes, and returns the state.
    pub(crate) fn sync(&self, args: &[&str]) -> Value {
        let args = [&["machine", "sync", "box", "--json"], args].concat();
        let run = self.run(&args);
        json_lines(&run.out).pop().unwrap_or_else(|| panic!("{run:?}"))
    }

    /// Returns the directory of the mirror.
    pub(crate) fn mirror(&self) -> PathBuf {
        let mirrors = self.here.path().join(".local/share/pitree/machine-mirrors/box");
        let dirs = fs::read_dir(mirrors).into_iter().flatten();
        dirs.map(|entry| entry.unwrap().path()).next().unwrap_or_default()
    }

    /// Returns the mirrored files by their paths below the session directory.
    pub(crate) fn mirrored(&self) -> BTreeMap<String, Vec<u8>> {
        let mirror = self.mirror();
        if mirror.is_dir() { files(&mirror) } else { BTreeMap::new() }
    }

    /// Asserts that the mirror has all complete lines of the machine.
    pub(crate) fn check(&self) {
        let expected = files(&self.there.sessions());
        let expected: BTreeMap<String, Vec<u8>> = expected
            .into_iter()
            .map(|(path, bytes)| (path, complete(&bytes).to_vec()))
            .filter(|(_, bytes)| !bytes.is_empty())
            .collect();
        let mirrored = self.mirrored();
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&mirrored), names(&expected));
        for (path, bytes) in &expected {
            assert!(mirrored[path] == *bytes, "{path} differs");
        }
    }
}

/// Returns the complete lines of a file; the last one can lack a line break.
fn complete(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let is_whole = serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes[end..]).is_ok();
    if is_whole { bytes } else { &bytes[..end] }
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let is_session = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let name = |path: &PathBuf| path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
    files_below(dir).into_iter().filter(is_session).map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}
