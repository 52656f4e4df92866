//! A home of its own for a test: sessions, a journal, a trash. The environment determines the system's trash, and only
//! a new process can get another environment: so the test starts itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pitree::changes::{ChangeResult, Changes, FileSnapshot, Request, to_the_end};
use pitree::disk::trash::Trash;
use pitree::disk::{load, scan};
use pitree::session::entry::kind::EntryKind;
use pitree::session::tree::{EntryIndex, Tree};
use tempfile::TempDir;

use crate::common::effort::skipped;
use crate::common::session::Session;

const HOME: &str = "PITREE_TEST_HOME";

/// 2026-11-21T08:00:00Z.
pub(crate) const NOW: i64 = 1_795_248_000_000;

/// Returns the command that runs one ignored test of this suite in a home of its own.
pub(crate) fn myself(test: &str, home: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&format!("changes::{test}"), "--exact", "--ignored", "--nocapture"]).stdin(Stdio::null());
    command.env(HOME, home).env("HOME", home).env("XDG_DATA_HOME", home.join("data"));
    command
}

/// Runs an ignored test in a home of its own; fails if the test fails.
pub(crate) fn in_own_home(test: &str) {
    let home = tempfile::tempdir().unwrap();
    let output = myself(test, home.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Returns a command in which another program starts this one.
pub(crate) fn around(program: &str, arguments: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(inner.get_program()).args(inner.get_args()).stdin(Stdio::null());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Runs a command that goes on for long, and kills it at one of the system calls that change files, another one in each
/// round. Returns `false` if there is no strace.
pub(crate) fn kill_in_round(round: usize, inner: &Command) -> bool {
    let calls = [("write", 250), ("fdatasync", 60), ("openat", 500), ("renameat2", 30)];
    let (call, most) = calls[round % calls.len()];
    // Spreads the calls over all that there are.
    let nth = 1 + round * 7919 % most;
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}"));
    let options = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
    let mut command = around("strace", &options, inner);
    match command.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        status => {
            assert_eq!(status.unwrap().signal(), Some(9), "{inject}");
            true
        }
    }
}

/// Runs an ignored test in a home of its own, with the right to mount file systems. `disk` in the home is a file system
/// of 64 KB. Fails if the test fails.
pub(crate) fn on_a_small_disk(test: &str) {
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return skipped("cannot mount a small file system on this system");
    }
    let home = tempfile::tempdir().unwrap();
    let disk = home.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mount = "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\"";
    let inner = myself(test, home.path());
    let output = around("unshare", &["-rm", "sh", "-c", mount, disk.to_str().unwrap()], &inner).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Returns the home that [`in_own_home`] made.
pub(crate) fn home() -> PathBuf {
    std::env::var_os(HOME).expect("this test is run by another one, in a home of its own").into()
}

/// A folder with sessions and a journal.
pub(crate) struct World {
    _temporary: Option<TempDir>,
    pub(crate) dir: PathBuf,
    pub(crate) changes: Changes,
}

impl World {
    /// Creates it in the home of the test, with that home's trash.
    pub(crate) fn at_home() -> Self {
        let dir = tempfile::tempdir_in(home()).unwrap();
        Self { changes: changes(dir.path()), dir: dunce::canonicalize(dir.path()).unwrap(), _temporary: Some(dir) }
    }

    /// Creates it in a temporary directory, for tests without trash.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { changes: changes(dir.path()), dir: dunce::canonicalize(dir.path()).unwrap(), _temporary: Some(dir) }
    }

    /// Creates it in a folder that is not removed.
    pub(crate) fn of(dir: &Path) -> Self {
        Self { changes: changes(dir), dir: dunce::canonicalize(dir).unwrap(), _temporary: None }
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn make(&self, request: &Request) -> anyhow::Result<ChangeResult> {
        self.changes.make(request, NOW, &mut to_the_end)
    }

    pub(crate) fn undo(&self) -> anyhow::Result<ChangeResult> {
        self.make(&Request::Undo { number: None })
    }

    pub(crate) fn trash(&self, path: &Path) -> anyhow::Result<ChangeResult> {
        self.make(&Request::Trash { files: vec![seen(path)] })
    }

    /// Returns the session files, sorted by name.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(&self.dir).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|is| is == "jsonl")).collect();
        files.sort();
        files
    }
}

fn changes(dir: &Path) -> Changes {
    Changes::new(dir.join("state"), Trash::default()).with_archive(Some(dir.join("archive")))
}

/// Returns the place of a session in the archive of its folder.
pub(crate) fn archived(path: &Path) -> PathBuf {
    archived_in(path.parent().unwrap(), path)
}

/// Returns the place of a session in the archive of a folder.
pub(crate) fn archived_in(folder: &Path, path: &Path) -> PathBuf {
    let mut place = folder.join("archive/original-paths").join(path.strip_prefix("/").unwrap());
    place.as_mut_os_string().push(".zst");
    place
}

/// Returns the content of a file or an archived session; an incomplete file is empty.
pub(crate) fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let is_read = pitree::disk::files::open(path).is_ok_and(|mut file| file.read_to_end(&mut bytes).is_ok());
    if is_read { bytes } else { Vec::new() }
}

pub(crate) fn seen(path: &Path) -> FileSnapshot {
    let metadata = fs::metadata(path).unwrap();
    let mtime = scan::milliseconds(metadata.modified().unwrap());
    FileSnapshot { path: path.into(), bytes: metadata.len(), mtime }
}

pub(crate) fn rename(path: &Path, name: &str) -> Request {
    Request::Rename { path: path.into(), name: name.into() }
}

pub(crate) fn tree(path: &Path) -> Tree {
    load::tree(path, "").unwrap()
}

pub(crate) fn id(tree: &Tree, at: EntryIndex) -> String {
    tree.nodes[at as usize].id.as_deref().unwrap_or_default().to_string()
}

/// The visible state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: Option<String>,
    pub(crate) labels: BTreeMap<String, String>,
    /// Entries of the conversation from which pi continues.
    pub(crate) conversation: Vec<String>,
}

impl View {
    pub(crate) fn of(path: &Path) -> Self {
        let tree = tree(path);
        let said = |at: &EntryIndex| {
            let kind = tree.nodes[*at as usize].kind;
            !matches!(kind, EntryKind::Label | EntryKind::SessionInfo)
        };
        let active = tree.leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
        Self {
            name: scan::reread(path, None, "").unwrap().unwrap().name,
            labels: tree.labels.iter().map(|(at, label)| (id(&tree, *at), label.text.to_string())).collect(),
            conversation: active.into_iter().filter(said).map(|at| id(&tree, at)).collect(),
        }
    }
}

/// Creates a session from the distance to the parent and the type of each entry.
pub(crate) fn session(shape: &[(usize, u8)]) -> String {
    let entry = |session: Session, (at, (back, kind)): (usize, &(usize, u8))| {
        let (id, other) = (format!("e{at}"), format!("e{}", at / 2));
        let session = match at.checked_sub(back + 1) {
            Some(parent) => session.under(&format!("e{parent}")),
            None => session.at_root(),
        };
        match kind % 6 {
            0 => session.label(&id, &other, &format!("at {at}")),
            1 => session.name(&id, &format!("name {at}")),
            2 => session.compaction(&id, "so far", &other),
            3 => session.assistant(&id, &format!("answer {at}")),
            _ => session.user(&id, &format!("question {at}")),
        }
    };
    shape.iter().enumerate().fold(Session::new("s").cwd("/w"), entry).text()
}

/// Returns a message appended by another program.
pub(crate) fn theirs(id: &str, parent: &str) -> String {
    Session::new("s").under(parent).user(id, "on").lines().into()
}
