//! Status files of pis with pitree's extension: a small file per process in the state directory. The content is
//! untrusted, and a file only counts while its process runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::named::named;
use crate::base::time;
use crate::disk::{create, files, new_file};
use crate::system::{self, os};

/// The format version of the files.
pub(crate) const SCHEMA: u64 = 1;

/// The maximum size of a status file in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The age up to which it matters that a session was closed.
const RECENT: Duration = Duration::from_secs(300);

/// The age at which requests are abandoned; see [`ask`](super::requests).
const FORGOTTEN: Duration = Duration::from_secs(60);

/// The maximum number of status files read.
const MAX_PIS: usize = 1000;

named! {
    /// The state of a pi; those that wait for the user come first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PiState {
        /// Waiting for an answer of the user to a question.
        Blocked = "blocked",
        /// The last answer failed.
        Error = "error",
        /// Finished, and waiting for the next prompt.
        Waiting = "waiting",
        /// The model answers, tools run, or a conversation is compacted.
        Working = "working",
        /// Without messages since the session was opened, or stopped by the user.
        Idle = "idle",
    }
}

impl PiState {
    /// Returns `true` if pi waits for the user.
    pub(crate) fn wants_user(self) -> bool {
        self <= Self::Waiting
    }

    /// Describes the state for display.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Blocked => "blocked on a question",
            Self::Error => "stopped at an error",
            Self::Waiting => "waiting for you",
            Self::Working => "working",
            Self::Idle => "open, idle",
        }
    }
}

/// The status that a pi reports. The JSON form has only the fields that are printed for each session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PiStatus {
    /// The process id.
    pub pid: u32,
    /// The session file.
    #[serde(skip_serializing)]
    pub session: PathBuf,
    /// The id of the session.
    #[serde(skip_serializing)]
    pub id: String,
    /// The name of the session.
    #[serde(skip_serializing)]
    pub name: Option<String>,
    /// The working directory.
    #[serde(skip_serializing)]
    pub cwd: String,
    /// The state.
    pub state: PiState,
    /// The start of the state in milliseconds since 1970.
    #[serde(serialize_with = "iso", deserialize_with = "milliseconds")]
    pub since: i64,
    /// The current entry; `None` before the first one.
    #[serde(rename(serialize = "entryId"))]
    pub entry: Option<String>,
    /// The id of the selected model.
    #[serde(default, deserialize_with = "model_id")]
    pub model: Option<String>,
    /// The cost of the session as counted by pi, in US dollars.
    pub cost: f64,
}

impl PiStatus {
    /// Returns the sort key by urgency: question, error, answer, work, idle; the longest wait comes first.
    pub(crate) fn urgency(&self) -> (PiState, i64, u32) {
        (self.state, self.since, self.pid)
    }
}

/// The format of a status file: see `docs/json.md`.
#[derive(Deserialize)]
struct StatusFile {
    schema: u64,
    start: String,
    r#where: String,
    #[serde(flatten)]
    status: PiStatus,
}

#[derive(Deserialize)]
struct StatusModel {
    id: String,
}

fn iso<S: Serializer>(ms: &i64, to: S) -> Result<S::Ok, S::Error> {
    time::iso(*ms).serialize(to)
}

fn milliseconds<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Ok(f64::deserialize(from)? as i64)
}

fn model_id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<StatusModel>::deserialize(from)?.map(|model| model.id))
}

/// Returns the directory of the status files.
pub(crate) fn folder(state: &Path) -> PathBuf {
    state.join("live")
}

/// Reads the status of running pis. Removes the files of processes that have ended, also before the last boot.
pub(crate) fn read(state: &Path) -> Vec<PiStatus> {
    let folder = folder(state);
    let Some(place) = os::namespace_id().filter(|_| is_own_folder(&folder)) else { return Vec::new() };
    // On a network file system, another machine with an unknown boot time may write.
    let boot = os::boot_time().filter(|_| !os::is_remote(&folder));
    let mut reported = BTreeMap::new();
    let files = files::children(&folder);
    for path in files.filter(|path| !is_closed(path)).take(MAX_PIS) {
        let pid = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")?.parse::<u32>().ok());
        let Some(pid) = pid else {
            remove_asked(&path);
            continue;
        };
        let file = open(&path).ok().and_then(|text| serde_json::from_slice::<StatusFile>(&text).ok());
        // Processes in other PID namespaces or on other machines are invisible here.
        let Some(file) = file.filter(|file| file.r#where == place) else {
            if boot.zip(written(&path)).is_some_and(|(boot, written)| written < boot) {
                let _ = fs::remove_file(&path); // a remaining file is ignored
            }
            continue;
        };
        if file.schema != SCHEMA || file.status.pid != pid {
            continue;
        }
        if !os::runs(pid, &file.start) {
            let _ = fs::remove_file(&path); // a remaining file is ignored
            continue;
        }
        if file.status.session.is_absolute() {
            reported.insert(pid, file.status);
        }
    }
    reported.into_values().collect()
}

/// A session that a pi closed a moment ago.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedSession {
    /// The format version.
    schema: u64,
    /// The session file.
    pub session: PathBuf,
    /// The time in milliseconds since 1970.
    pub at: i64,
}

impl ClosedSession {
    /// Creates it for a session file and a time in milliseconds since 1970.
    pub fn new(session: impl Into<PathBuf>, at: i64) -> Self {
        Self { schema: SCHEMA, session: session.into(), at }
    }
}

/// The end of the name of a file about a [`ClosedSession`].
const CLOSED: &str = "closed";

fn is_closed(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == CLOSED)
}

/// Reads which sessions were closed a moment ago, and removes older files.
pub(crate) fn closed(state: &Path) -> Vec<ClosedSession> {
    let folder = folder(state);
    if !is_own_folder(&folder) {
        return Vec::new();
    }
    let files = files::children(&folder);
    let closed = files.filter(|path| is_closed(path)).take(MAX_PIS).filter_map(|path| {
        if written(&path).and_then(|time| time.elapsed().ok()).is_some_and(|since| since > RECENT) {
            let _ = fs::remove_file(&path); // it no longer matters
            return None;
        }
        serde_json::from_slice::<ClosedSession>(&open(&path).ok()?).ok().filter(|closed| closed.schema == SCHEMA)
    });
    closed.collect()
}

/// Records that a pi which pitree started closed a session, at a time in milliseconds since 1970. Without the record, pitree
/// guesses for a moment.
pub(crate) fn close(state: &Path, session: &Path, at: i64) {
    let folder = folder(state);
    let Ok(text) = serde_json::to_vec(&ClosedSession::new(session, at)) else { return };
    let name = format!("{}-{at}.{CLOSED}", std::process::id());
    let _ = create::private_folder(&folder).and_then(|()| new_file::write(&folder.join(name), &text, None));
}

/// Returns the time of the last write to a file.
fn written(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().and_then(|found| found.modified()).ok()
}

/// Removes an abandoned request or reply.
fn remove_asked(path: &Path) {
    let is_asked =
        path.extension().is_some_and(|end| end == "ask" || end == "answer" || end == "new" || end == "pitree-new");
    if is_asked && written(path).and_then(|time| time.elapsed().ok()).is_some_and(|since| since > FORGOTTEN) {
        let _ = fs::remove_file(path); // a remaining file is ignored
    }
}

/// Returns `true` if a directory belongs to the user and only they can write to it.
pub(crate) fn is_own_folder(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|found| found.is_dir() && system::files::is_own(&found))
}

/// Reads a small file that belongs only to the user and is not a link.
///
/// # Errors
/// The file violates these conditions, or cannot be read.
pub(crate) fn open(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe must not block.
    system::files::without_links(&mut options);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || !system::files::is_private(&found) || found.len() > MAX_BYTES {
        return Err(io::Error::other("not to be trusted"));
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Returns the status that this process would report.
    fn file() -> Value {
        let pid = std::process::id();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
        json!({
            "schema": 1, "pid": pid, "start": start, "where": os::namespace_id(), "session": "/s.jsonl", "id": "s", "entry": null,
            "cwd": "/", "state": "waiting", "since": 5, "model": {"provider": "p", "id": "m"}, "cost": 0.5, "new": [1],
        })
    }

    struct World(tempfile::TempDir);

    impl World {
        fn new() -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            fs::create_dir(folder(world.0.path())).unwrap();
            fs::set_permissions(folder(world.0.path()), fs::Permissions::from_mode(0o700)).unwrap();
            world
        }

        fn path(&self) -> PathBuf {
            folder(self.0.path()).join(format!("{}.json", std::process::id()))
        }

        fn write(&self, file: &Value) {
            fs::write(self.path(), file.to_string()).unwrap();
            fs::set_permissions(self.path(), fs::Permissions::from_mode(0o600)).unwrap();
        }

        fn read(&self) -> Vec<PiStatus> {
            read(self.0.path())
        }
    }

    #[test]
    fn closed_sessions_are_known_for_a_moment() {
        let world = World::new();
        let state = world.0.path();
        close(state, Path::new("/s.jsonl"), 7);
        assert_eq!(closed(state), [ClosedSession::new("/s.jsonl", 7)]);
        fs::write(folder(state).join("1-2.closed"), "no JSON").unwrap();
        for file in fs::read_dir(folder(state)).unwrap() {
            let file = File::options().write(true).open(file.unwrap().path()).unwrap();
            file.set_modified(SystemTime::now() - RECENT - RECENT).unwrap();
        }
        assert!(closed(state).is_empty() && fs::read_dir(folder(state)).unwrap().count() == 0);
    }

    #[test]
    fn a_process_that_runs_is_heard_and_one_that_is_gone_is_not() {
        let world = World::new();
        world.write(&file());
        let [reported] = &world.read()[..] else { panic!("it runs") };
        assert_eq!(
            (reported.pid, reported.state, reported.since, reported.cost),
            (std::process::id(), PiState::Waiting, 5, 0.5)
        );
        assert_eq!((reported.model.as_deref(), reported.entry.as_deref()), (Some("m"), None));
        // The PID was reused by another process.
        let mut other = file();
        other["start"] = json!("1");
        world.write(&other);
        assert_eq!(world.read(), []);
        assert!(!world.path().exists(), "no other process removes it");
        let mut elsewhere = file();
        elsewhere["where"] = json!("another machine");
        world.write(&elsewhere);
        assert_eq!(world.read(), []);
        assert!(world.path().exists(), "left to that machine");
    }

    #[test]
    fn removes_live_states_from_before_the_last_boot() {
        let world = World::new();
        let mut earlier = file();
        earlier["where"] = json!("d3b07384-0000-0000-0000-000000000000 pid:[4026531836]");
        let (earlier, own) = (earlier.to_string(), file().to_string());
        let is_kept = |text: &str, time: SystemTime| {
            fs::write(world.path(), text).unwrap();
            fs::set_permissions(world.path(), fs::Permissions::from_mode(0o600)).unwrap();
            File::options().append(true).open(world.path()).unwrap().set_modified(time).unwrap();
            assert_eq!(world.read().len(), usize::from(text == own));
            world.path().exists()
        };
        let boot = os::boot_time().unwrap();
        let before = boot - Duration::from_secs(60);
        assert_eq!([&*earlier, "torn", &own].map(|text| is_kept(text, before)), [false, false, true]);
        assert_eq!([&*earlier, "torn", &own].map(|text| is_kept(text, boot)), [true; 3]);
    }

    #[test]
    fn what_was_asked_long_ago_goes() {
        let world = World::new();
        world.write(&file());
        let [old, new] = ["1.0.answer.new", "1.1.ask"].map(|name| world.path().with_file_name(name));
        for path in [&old, &new] {
            fs::write(path, "{}").unwrap();
        }
        let then = std::time::SystemTime::now() - 2 * FORGOTTEN;
        File::options().write(true).open(&old).unwrap().set_modified(then).unwrap();
        assert_eq!(world.read().len(), 1);
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn what_is_not_as_it_should_be_is_passed_over() {
        let world = World::new();
        for (field, value) in [
            ("schema", json!(2)),
            ("schema", json!(null)),
            ("pid", json!(1)),
            ("state", json!("dancing")),
            ("session", json!("relative.jsonl")),
            ("session", json!(7)),
            ("since", json!("now")),
            ("id", json!(null)),
        ] {
            let mut odd = file();
            odd[field] = value;
            world.write(&odd);
            assert_eq!(world.read(), [], "{odd}");
        }
        let mut large = file();
        large["new"] = json!("x".repeat(MAX_BYTES as usize));
        world.write(&large);
        assert_eq!(world.read(), [], "too large");
        world.write(&file());
        fs::set_permissions(world.path(), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(world.read(), [], "readable by others");
        let other = world.0.path().join("other");
        fs::rename(world.path(), &other).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&other, world.path()).unwrap();
        assert_eq!(world.read(), [], "a link");
        fs::rename(&other, world.path()).unwrap();
        assert_eq!(world.read().len(), 1);
        fs::set_permissions(folder(world.0.path()), fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!(world.read(), [], "directory writable by others");
    }
}
