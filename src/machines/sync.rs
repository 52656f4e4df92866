//! Synchronization: updates the mirror of a machine. One process at a time does so for each machine.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::base::numbers::{count, duration, thousands};
use crate::changes::journal::{ChangeState, JournalRecord};
use crate::changes::{Changes, FileSnapshot, Request, to_the_end};
use crate::config::{Address, SyncConfig};
use crate::disk::fingerprint::FileVersion;
use crate::disk::{create, parallel};
use crate::machines::client::Client;
use crate::machines::link::LinkError;
use crate::machines::listing::RemoteFile;
use crate::machines::mirror::{self, Mirror, SyncPlan};
use crate::machines::registry::Machine;
use crate::machines::shell::ShellSource;
use crate::machines::source::{DirSource, FetchedFile, Listing, Source};
use crate::machines::state::{self, MachineState};
use crate::machines::transport::Transport;
use crate::system;

/// The difference of clocks in milliseconds from which on it is reported.
const CLOCK: i64 = 120_000;

/// The time in milliseconds after which a machine without pitree is asked for it again.
const PROBE: i64 = 3_600_000;

/// The number of attempts to lock a machine, and the time between them.
const LOCK_TRIES: usize = 10;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// The parameters of a synchronization.
#[derive(Clone, Copy)]
pub(crate) struct SyncContext<'a> {
    pub(crate) config: &'a SyncConfig,
    /// The data directory, which has the mirrors.
    pub(crate) data: &'a Path,
    /// The state directory.
    pub(crate) state: &'a Path,
    /// The interface for changes, which moves files to the trash.
    pub(crate) changes: &'a Changes,
    /// `true` if ssh can ask for a password or confirmation in the terminal.
    pub(crate) can_ask: bool,
    /// Returns the current time in milliseconds since 1970.
    pub(crate) now: fn() -> i64,
    /// `true` to look for a pitree on the machine, even if there was none a moment ago.
    pub(crate) probes: bool,
    /// Returns `false` after the user canceled.
    pub(crate) is_wanted: &'a (dyn Fn() -> bool + Sync),
}

/// The treatment of files that are gone on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GoneFiles {
    /// Move them to the trash, unless they are many.
    Ask,
    /// The same, except for files that the user moved to the trash there: their paths.
    AskExcept(Vec<String>),
    /// Move them to the trash.
    Remove,
    /// Keep those that are gone now.
    Keep,
}

/// Updates the mirror of a machine, and returns its state. Returns `None` if another process is doing so.
///
/// # Errors
/// The state cannot be read or written. If the machine cannot be reached, its state says so.
pub(crate) fn sync(machine: &Machine, context: &SyncContext<'_>, gone: &GoneFiles) -> io::Result<Option<MachineState>> {
    let path = state::file(context.state, &machine.name);
    create::private_folder(path.parent().unwrap_or(context.state))?;
    let lock = create::private().read(true).write(true).create(true).open(path.with_extension("lock"))?;
    let is_locked = || matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
    // Another process can be about to end. Programs that this process starts share its lock for a moment.
    let mut tries = 0;
    while is_locked() {
        tries += 1;
        if tries == LOCK_TRIES {
            return Ok(None);
        }
        thread::sleep(LOCK_WAIT);
    }
    // An invalid state only describes the mirror.
    let mut state = state::read(context.state, &machine.name).or_else(|error| match error.kind() {
        io::ErrorKind::InvalidData => Ok(MachineState::default()),
        _ => Err(error),
    })?;
    mirror::repair(context.data, &machine.name)?;
    state.tried = Some((context.now)());
    match (MachineSync { machine, context, state: &mut state }).run(gone) {
        Ok(()) => {
            state.synced = Some((context.now)());
            (state.error, state.is_offline, state.failures) = (None, false, 0);
        }
        Err(error) => {
            state.failures = state.failures.saturating_add(1);
            (state.error, state.is_offline) = (Some(error.reason), error.is_offline);
            state.pis.clear();
            state.warnings.clear();
        }
    }
    state::write(context.state, &machine.name, &state)?;
    Ok(Some(state))
}

/// Forgets a machine, except its mirror.
pub(crate) fn forget(machine: &str, data: &Path, state: &Path) {
    state::forget(state, machine);
    mirror::forget_incoming(data, machine);
}

/// The maximum number of machines that are synchronized at the same time.
pub(crate) const AT_ONCE: usize = 8;

/// Updates the mirrors of several machines at the same time; see [`sync`]. The results are in the order of the machines.
pub(crate) fn several(
    machines: &[Machine],
    context: &SyncContext<'_>,
    gone: &GoneFiles,
) -> Vec<io::Result<Option<MachineState>>> {
    let failed = || Err(io::Error::other("internal error in pitree"));
    parallel::map_waiting(machines, AT_ONCE, |machine| sync(machine, context, gone), failed)
}

struct MachineSync<'a> {
    machine: &'a Machine,
    context: &'a SyncContext<'a>,
    state: &'a mut MachineState,
}

impl MachineSync<'_> {
    fn run(&mut self, gone: &GoneFiles) -> Result<(), LinkError> {
        let (context, machine) = (self.context, self.machine);
        let mut source = self.source(context, machine)?;
        let before = self.state.dir.clone();
        let mut opened = None;
        let listing = source.list(&mut |dir| {
            if let Some(before) = before.as_deref().filter(|before| *before != dir) {
                mirror::relocate(context.data, &machine.name, [before, dir]).map_err(|error| local(&error))?;
            }
            let mirror = Mirror::open(context.data, &machine.name, dir).map_err(|error| local(&error))?;
            let reason =
                || format!("cannot mirror the session directory {dir:?}: its path is too long or not absolute");
            let mirror = mirror.ok_or_else(|| LinkError::new(reason()))?;
            let held = mirror.files();
            opened = Some((mirror, held.clone()));
            Ok(held)
        })?;
        match opened {
            Some(opened) => self.update(&mut *source, listing, opened, gone),
            None => self.without_dir(listing, gone),
        }
    }

    /// Chooses the way in which files are read: a pitree on the machine, or else its shell.
    fn source<'s>(
        &mut self,
        context: &'s SyncContext<'_>,
        machine: &'s Machine,
    ) -> Result<Box<dyn Source + 's>, LinkError> {
        if let Address::Dir(dir) = &machine.address {
            return Ok(Box::new(DirSource::new(dir)));
        }
        let transport = Transport { address: &machine.address, config: context.config, can_ask: context.can_ask };
        let now = (context.now)();
        if context.probes
            || self.state.without_pitree.is_none_or(|then| !(then..=then.saturating_add(PROBE)).contains(&now))
        {
            match Client::connect(transport) {
                Ok(client) => {
                    self.state.without_pitree = None;
                    return Ok(Box::new(client));
                }
                Err(error) if error.is_missing => {
                    (self.state.without_pitree, self.state.pitree) = (Some(now), None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Box::new(ShellSource::new(transport)))
    }

    /// Keeps the mirror of a session directory that is missing, unless the user has decided.
    fn without_dir(&mut self, listing: Listing, gone: &GoneFiles) -> Result<(), LinkError> {
        let (context, name) = (self.context, &self.machine.name);
        let Listing { dir, pitree, program, pis, .. } = listing;
        (self.state.pitree, self.state.program, self.state.pis) = (pitree, program, pis);
        let mirrored = self.state.dir.clone().filter(|_| self.state.files > 0);
        let Some(mirrored) = mirrored else {
            self.state.warnings = vec![format!("there are no sessions yet: {dir} is missing there")];
            return Ok(());
        };
        let mirror = Mirror::open(context.data, name, &mirrored).map_err(|error| local(&error))?;
        let Some(mirror) = mirror else { return Ok(()) };
        self.settle_moving(&mirror)?;
        let trashed = &self.state.trashed;
        let (plan, _) = mirror::plan(&mirror.files(), &[], |path| trashed.contains(path), 0);
        self.state.warnings = vec![format!("the session directory {dir} is missing there; the mirror is kept")];
        self.remove(&mirror, &plan, (gone, &mirrored))?;
        self.count(&mirror);
        Ok(())
    }

    /// Finds out which files an interrupted synchronization moved to the trash.
    fn settle_moving(&mut self, mirror: &Mirror) -> Result<(), LinkError> {
        let moving = std::mem::take(&mut self.state.moving);
        if moving.is_empty() {
            return Ok(());
        }
        let history = self.context.changes.history();
        let history = history.map_err(|error| LinkError::new(format!("{error:#}")))?;
        let is_moved = |record: &JournalRecord| record.can_be_undone() || record.state == ChangeState::Undone;
        let moved: HashMap<&Path, bool> =
            history.iter().map(|record| (record.change.path(), is_moved(record))).collect();
        self.state.trashed.extend(moving.into_iter().filter(|path| moved.get(&*mirror.path(path)) == Some(&true)));
        Ok(())
    }

    /// Counts the mirrored files.
    fn count(&mut self, mirror: &Mirror) {
        let files = mirror.files();
        let state = &mut *self.state;
        (state.files, state.bytes) = (files.len() as u64, files.iter().map(|file| file.bytes).sum());
    }

    fn update(
        &mut self,
        source: &mut dyn Source,
        mut listing: Listing,
        (mirror, held): (Mirror, Vec<RemoteFile>),
        gone: &GoneFiles,
    ) -> Result<(), LinkError> {
        listing.files.sort();
        listing.files.dedup_by(|one, other| one.path == other.path);
        self.settle_moving(&mirror)?;
        self.state.trashed.retain(|path| listing.files.binary_search_by(|file| file.path.cmp(path)).is_err());
        let trashed = &self.state.trashed;
        let (plan, left) =
            mirror::plan(&held, &listing.files, |path| trashed.contains(path), self.context.config.bytes());
        let wanted =
            |(file, bytes): &(RemoteFile, u64)| FetchedFile { file: file.clone(), known: mirror.known(file, *bytes) };
        let wanted: Vec<FetchedFile> = plan.fetched.iter().map(wanted).collect();
        let mut written = Vec::new();
        let (mut fetched, mut refused) = (Ok(0), listing.refused);
        // A machine can send more than it listed.
        let size = |files: &[RemoteFile]| files.iter().map(|file| file.bytes).sum::<u64>();
        let replaced: u64 = plan.fetched.iter().map(|(_, known)| known).sum();
        let mut room = self.context.config.bytes().saturating_sub(size(&held).saturating_sub(replaced));
        if !wanted.is_empty() {
            fetched = source.fetch(&mirror, &wanted, &mut |at, (from, mtime), content| {
                if !(self.context.is_wanted)() {
                    return Err(LinkError::new("canceled"));
                }
                let file = RemoteFile { mtime, ..wanted[at].file.clone() };
                let mut content = Limited { from: content, room: &mut room };
                let mut remove = |path: &Path| self.trash(&[path.to_path_buf()]);
                match mirror.take(&file, (from, &mut content), &mut remove) {
                    Ok(path) => written.extend(path),
                    // Another file has the name in the directory of the mirror, such as a directory.
                    Err(error) if is_name_conflict(&error) => refused += 1,
                    Err(error) => match error.downcast::<LinkError>() {
                        Ok(error) => return Err(error),
                        Err(error) => return Err(local(&error)),
                    },
                }
                Ok(())
            });
        }
        sync_files(&mirror.dir, written);
        plan.retimed.iter().try_for_each(|file| mirror.set_time(file)).map_err(|error| local(&error))?;
        let unread = fetched.inspect_err(|_| self.count(&mirror))?;
        self.state.gone = 0;
        if listing.is_complete {
            self.remove(&mirror, &plan, (gone, &listing.dir))?;
        }
        self.count(&mirror);
        let state = &mut *self.state;
        (state.dir, state.pis) = (Some(listing.dir), listing.pis);
        (state.method, state.transferred) = (Some(source.method()), source.transferred());
        (state.pitree, state.program) = (listing.pitree, listing.program);
        state.warnings = warnings(refused, unread, left, listing.now.map(|now| now - (self.context.now)()));
        if !listing.is_complete {
            state.warnings.push("a directory there cannot be read; no session was removed".into());
        }
        Ok(())
    }

    /// Moves files that are gone from the session directory on the machine to the trash, unless they are many.
    fn remove(&mut self, mirror: &Mirror, plan: &SyncPlan, (gone, dir): (&GoneFiles, &str)) -> Result<(), LinkError> {
        let expected: Vec<&str> = match gone {
            GoneFiles::AskExcept(paths) => paths.iter().filter_map(|path| path.strip_prefix(dir)).collect(),
            _ => Vec::new(),
        };
        let is_expected = |path: &str| expected.iter().any(|expected| expected.trim_start_matches('/') == path);
        let asks = matches!(gone, GoneFiles::Ask | GoneFiles::AskExcept(_));
        let is_doubtful = asks && plan.is_doubtful(is_expected);
        let (removed, kept): (Vec<&String>, Vec<&String>) =
            plan.gone.iter().partition(|path| !is_doubtful || is_expected(path));
        self.state.gone = kept.len() as u64;
        if *gone != GoneFiles::Keep && !removed.is_empty() {
            let paths: Vec<PathBuf> = removed.iter().map(|path| mirror.path(path)).collect();
            // If pitree ends meanwhile, a file that the user restores still stays.
            self.state.moving.extend(removed.iter().copied().cloned());
            let noted = state::write(self.context.state, &self.machine.name, self.state);
            let moved = noted.and_then(|()| self.trash(&paths));
            moved.map_err(|error| LinkError::new(format!("cannot move mirrored sessions to the trash: {error}")))?;
            self.state.moving.clear();
        }
        self.state.trashed.extend(removed.into_iter().cloned());
        Ok(())
    }

    fn trash(&self, paths: &[PathBuf]) -> io::Result<()> {
        let file = |path: &PathBuf| {
            let version = FileVersion::of(path)?;
            Ok(FileSnapshot { path: path.clone(), bytes: version.bytes, mtime: version.mtime() })
        };
        let files = paths.iter().map(file).collect::<io::Result<Vec<_>>>()?;
        let changes = self.context.changes.clone().of_mirrors();
        let done = changes.make(&Request::Trash { files }, (self.context.now)(), &mut to_the_end);
        done.map(drop).map_err(|error| io::Error::other(format!("{error:#}")))
    }
}

/// A reader with a limit that several readers share.
struct Limited<'a> {
    from: &'a mut dyn Read,
    room: &'a mut u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        match self.room.checked_sub(count as u64) {
            Some(room) => *self.room = room,
            None => {
                return Err(io::Error::other(LinkError::new("the machine sends more than the limit of its mirror")));
            }
        }
        Ok(count)
    }
}

/// Syncs files to the disk. A failure shows with the next synchronization, or costs a repetition.
fn sync_files(folder: &Path, files: Vec<PathBuf>) {
    /// The number of files from which on the whole file system is synced.
    const MANY: usize = 50;
    let is_synced = files.len() >= MANY && system::files::sync_file_system(folder).unwrap_or(false);
    if !is_synced {
        parallel::map(files, |path| File::open(path).and_then(|file| file.sync_data()));
    }
}

/// Returns `true` if a name is taken by something else, such as a directory, or is not allowed by the file system.
fn is_name_conflict(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::DirectoryNotEmpty
    )
}

/// The error for a mirror that cannot be written.
fn local(error: &io::Error) -> LinkError {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull => "; free space on this machine",
        io::ErrorKind::QuotaExceeded => "; the disk quota on this machine is used up",
        _ => "",
    };
    LinkError::new(format!("cannot write the mirror: {error}{advice}"))
}

/// Describes what a synchronization left out, and a clock that is wrong.
fn warnings(refused: usize, unread: usize, left: usize, clock: Option<i64>) -> Vec<String> {
    let files = |number: usize| count(number, "file", "files");
    let mut warnings = Vec::new();
    warnings.extend((refused > 0).then(|| format!("{} left out because of their names", files(refused))));
    warnings.extend((unread > 0).then(|| format!("{} could not be read", files(unread))));
    warnings.extend((left > 0).then(|| {
        format!("{} left out: the mirror would exceed its limit; see gigabytes in [sync] of config.toml", files(left))
    }));
    if let Some(ahead) = clock.filter(|ahead| ahead.abs() > CLOCK) {
        let side = if ahead > 0 { "ahead" } else { "behind" };
        let time = duration(ahead.unsigned_abs() as f64);
        warnings.push(format!("its clock is {time} {side}; times of its sessions are wrong"));
    }
    warnings
}

/// Describes the result of a synchronization in one line.
pub(crate) fn summary(state: &MachineState) -> String {
    let files = count(usize::try_from(state.files).unwrap_or(usize::MAX), "session", "sessions");
    let by = state.method.map_or(String::new(), |method| format!(" by {}", method.name()));
    let gone = match state.gone {
        0 => String::new(),
        gone => format!("; {} gone there are kept here", thousands(usize::try_from(gone).unwrap_or(usize::MAX))),
    };
    format!("{files}{by}{gone}")
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::Address;
    use crate::disk::trash::Trash;
    use crate::machines::wire::{self, Answer, PROTOCOL, ServerFacts};

    /// A machine that prints prepared bytes.
    struct Hostile {
        dir: tempfile::TempDir,
        config: SyncConfig,
    }

    impl Hostile {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("data")).unwrap();
            fs::create_dir(dir.path().join("outside")).unwrap();
            Self { dir, config: SyncConfig::default() }
        }

        /// Synchronizes with a program that runs a script with the script for the machine as its third argument.
        fn sync(&self, script: &str) -> MachineState {
            let program = self.dir.path().join("machine");
            fs::write(&program, format!("#!/bin/sh\ncd {}\n{script}\n", self.dir.path().display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let address = Address::Command(vec![program.to_str().unwrap().into()]);
            let machine = Machine { name: "box".into(), address, is_configured: false };
            let state = self.dir.path().join("state");
            let context = SyncContext {
                config: &self.config,
                data: &self.dir.path().join("data"),
                state: &state,
                changes: &Changes::new(state.clone(), Trash { command: vec!["rm".into()], ..Trash::default() }),
                can_ask: false,
                now: || 1_000_000_000_000,
                probes: false,
                is_wanted: &|| true,
            };
            sync(&machine, &context, &GoneFiles::Ask).unwrap().unwrap()
        }

        /// Synchronizes with a machine that sends these answers.
        fn answer(&self, write: impl FnOnce(&mut Vec<u8>)) -> MachineState {
            let mut bytes = format!("welcome\n{}\n", wire::GREETING).into_bytes();
            write(&mut bytes);
            fs::write(self.dir.path().join("answers"), bytes).unwrap();
            self.sync("cat answers; exec >&-; cat > /dev/null")
        }

        /// Returns the mirrored files, and asserts that there is none elsewhere.
        fn files(&self) -> Vec<String> {
            let data = self.dir.path().join("data");
            let mut found = Vec::new();
            let mut dirs = vec![self.dir.path().to_path_buf()];
            while let Some(dir) = dirs.pop() {
                for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                    let metadata = fs::symlink_metadata(&path).unwrap();
                    assert!(metadata.is_file() || metadata.is_dir(), "{}", path.display());
                    if metadata.is_dir() {
                        dirs.push(path);
                    } else if path.extension().is_some_and(|extension| extension == "jsonl")
                        && !path.ends_with("state/journal.jsonl")
                    {
                        found.push(path.strip_prefix(&data).unwrap().to_str().unwrap().to_owned());
                    }
                }
            }
            found.sort();
            found
        }
    }

    fn hello(dir: &str) -> Answer {
        let (pitree, program) = ("9\u{1b}[2J".to_owned(), "x".to_owned());
        let (dir, now) = (dir.to_owned(), 1_000_000_000_000);
        Answer::Hello(ServerFacts { protocol: PROTOCOL, pitree, program, dir, has_dir: true, now, pis: Vec::new() })
    }

    fn file(path: &str, bytes: u64) -> RemoteFile {
        RemoteFile { path: path.into(), bytes, mtime: 5_001 }
    }

    fn send_file(bytes: &mut Vec<u8>, at: u32, from: u64, content: &[u8]) {
        wire::send(bytes, &Answer::File { at, from, mtime: i64::MAX }).unwrap();
        content.chunks(wire::PIECE).for_each(|piece| wire::send_bytes(bytes, piece).unwrap());
        wire::send(bytes, &Answer::FileEnd).unwrap();
    }

    #[test]
    fn hostile_names_write_nothing_outside_of_the_mirror() {
        let hostile = Hostile::new();
        let long = format!("{}.jsonl", "x".repeat(300));
        let names = [
            "/etc/a.jsonl",
            "../../outside/a.jsonl",
            "a/../../../outside/b.jsonl",
            "a\n.jsonl",
            "a\u{1b}]0;x\u{7}.jsonl",
            "./a.jsonl",
            "a//b.jsonl",
            "con",
            "a/.",
            &long,
            "-x.jsonl",
            "A.jsonl",
            "a.jsonl",
            "a.jsonl",
        ];
        let state = hostile.answer(|bytes| {
            wire::send(bytes, &hello("/s")).unwrap();
            wire::send(bytes, &Answer::Differs).unwrap();
            wire::send(bytes, &Answer::Files(names.iter().map(|name| file(name, 3)).collect())).unwrap();
            wire::send(bytes, &Answer::Listed { folders: vec![String::new(), "../..".into()], is_complete: true })
                .unwrap();
            (0..3).for_each(|at| send_file(bytes, at, 0, b"{}\n"));
            wire::send(bytes, &Answer::Fetched).unwrap();
        });
        assert_eq!(state.error, None);
        let mirror = "machine-mirrors/box/%2Fs";
        assert_eq!(hostile.files(), ["-x", "A", "a"].map(|name| format!("{mirror}/{name}.jsonl")));
        assert_eq!(state.warnings, ["10 files left out because of their names"]);
    }

    #[test]
    fn hostile_answers_end_the_synchronization() {
        let listed = |bytes: &mut Vec<u8>| {
            wire::send(bytes, &hello("/s")).unwrap();
            wire::send(bytes, &Answer::Differs).unwrap();
            wire::send(bytes, &Answer::Files(vec![file("a.jsonl", 3)])).unwrap();
            wire::send(bytes, &Answer::Listed { folders: Vec::new(), is_complete: true }).unwrap();
        };
        type Answers<'a> = &'a dyn Fn(&mut Vec<u8>);
        let cases: [Answers<'_>; 8] = [
            &|bytes| send_file(bytes, 7, 0, b"{}\n"),
            &|bytes| send_file(bytes, 0, 99, b"{}\n"),
            &|bytes| wire::send_bytes(bytes, b"{}\n").unwrap(),
            &|bytes| wire::send(bytes, &Answer::Same).unwrap(),
            &|bytes| bytes.extend([255; 100]),
            &|bytes| bytes.extend([1, 0]),
            &|bytes| {
                wire::send(bytes, &Answer::File { at: 0, from: 0, mtime: 0 }).unwrap();
                wire::send_bytes(bytes, b"{\"half\"").unwrap();
            },
            &|bytes| {
                wire::send(bytes, &Answer::File { at: 0, from: 0, mtime: 0 }).unwrap();
                wire::send(bytes, &Answer::Fetched).unwrap();
            },
        ];
        for (number, case) in cases.iter().enumerate() {
            let hostile = Hostile::new();
            let state = hostile.answer(|bytes| {
                listed(bytes);
                case(bytes);
            });
            assert!(state.error.is_some(), "{number}");
            assert_eq!(hostile.files(), Vec::<String>::new(), "{number}");
        }
        for dir in ["", "relative", "/a/../../b", "/a\0", &format!("/{}", "x".repeat(4000))] {
            let hostile = Hostile::new();
            let state = hostile.answer(|bytes| {
                wire::send(bytes, &hello(dir)).unwrap();
                wire::send(bytes, &Answer::Differs).unwrap();
            });
            assert!(state.error.is_some() && hostile.files().is_empty(), "{dir:?}");
        }
    }

    #[test]
    fn a_machine_cannot_exceed_the_limit_of_its_mirror() {
        let mut hostile = Hostile::new();
        hostile.config.gigabytes = 0;
        let state = hostile.answer(|bytes| {
            wire::send(bytes, &hello("/s")).unwrap();
            wire::send(bytes, &Answer::Differs).unwrap();
            wire::send(bytes, &Answer::Files(vec![file("a.jsonl", 0)])).unwrap();
            wire::send(bytes, &Answer::Listed { folders: Vec::new(), is_complete: true }).unwrap();
            send_file(bytes, 0, 0, b"{}\n");
            wire::send(bytes, &Answer::Fetched).unwrap();
        });
        assert!(state.error.is_some_and(|error| error.contains("more than the limit")));
        assert!(hostile.files().is_empty());
    }

    #[test]
    fn only_listed_regular_files_are_taken_from_an_archive() {
        let hostile = Hostile::new();
        let mut archive = tar::Builder::new(Vec::new());
        let mut add = |path: &str, kind: tar::EntryType, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(content.len() as u64);
            let name = header.as_old_mut();
            name.name[..path.len()].copy_from_slice(path.as_bytes());
            name.linkname[..4].copy_from_slice(b"/etc");
            header.set_cksum();
            archive.append(&header, content).unwrap();
        };
        for path in ["./../outside/x.jsonl", "/etc/x.jsonl", "./b.jsonl"] {
            add(path, tar::EntryType::Regular, b"{}\n");
        }
        for kind in [
            tar::EntryType::Symlink,
            tar::EntryType::Link,
            tar::EntryType::Fifo,
            tar::EntryType::Char,
            tar::EntryType::Directory,
        ] {
            add("./a.jsonl", kind, b"");
        }
        add("./a.jsonl", tar::EntryType::Regular, b"{\"a\":1}\n{\"long");
        fs::write(hostile.dir.path().join("tar"), archive.into_inner().unwrap()).unwrap();
        let mut list = fs::File::create(hostile.dir.path().join("list")).unwrap();
        write!(list, "motd\npitree-list\n1000000000\n\n/s\n20 5 ./a.jsonl\n20 5 ./../x.jsonl\njunk\npitree-end\n")
            .unwrap();
        let script = "case $3 in *pitree-list*) cat list;; *tar*) cat tar;; *) exit 97;; esac";
        let state = hostile.sync(script);
        assert_eq!((state.error, state.warnings), (None, vec!["2 files left out because of their names".to_owned()]));
        assert_eq!(hostile.files(), ["machine-mirrors/box/%2Fs/a.jsonl"]);
        let mirrored = hostile.dir.path().join("data/machine-mirrors/box/%2Fs/a.jsonl");
        assert_eq!(fs::read_to_string(mirrored).unwrap(), "{\"a\":1}\n");
    }

    #[test]
    fn nothing_is_removed_after_an_incomplete_list() {
        let hostile = Hostile::new();
        let mut archive = tar::Builder::new(Vec::new());
        for name in (0..10).map(|number| format!("./{number}.jsonl")) {
            let mut header = tar::Header::new_gnu();
            header.set_size(3);
            archive.append_data(&mut header, name, &b"{}\n"[..]).unwrap();
        }
        fs::write(hostile.dir.path().join("tar"), archive.into_inner().unwrap()).unwrap();
        let list = |names: std::ops::Range<u8>, end: &str| {
            // `find` has an order of its own.
            let lines: String = names.rev().map(|number| format!("3 5 ./{number}.jsonl\n")).collect();
            let list = format!("pitree-list\n1000000000\n\n/s\n{lines}{end}pitree-end\n");
            fs::write(hostile.dir.path().join("list"), list).unwrap();
            hostile.sync("case $3 in *pitree-list*) cat list;; *tar*) cat tar;; *) exit 97;; esac")
        };
        assert_eq!((list(0..10, "").files, hostile.files().len()), (10, 10));
        let state = list(1..10, "pitree-incomplete\n");
        assert_eq!((state.files, state.gone, state.warnings.len()), (10, 0, 1), "{state:?}");
        assert_eq!((list(1..10, "").files, hostile.files().len()), (9, 9));
        // A file that comes back is an ordinary one again.
        assert_eq!((list(0..10, "").files, hostile.files().len()), (10, 10));
        assert_eq!((list(1..10, "").files, hostile.files().len()), (9, 9));
    }

    #[test]
    fn a_file_that_is_cut_off_stays_as_it_was() {
        let hostile = Hostile::new();
        let write = |name: &str, bytes: &[u8]| fs::write(hostile.dir.path().join(name), bytes).unwrap();
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(8);
        archive.append_data(&mut header, "./a.jsonl", &b"{\"a\":1}\n"[..]).unwrap();
        write("tar", &archive.into_inner().unwrap());
        let script = "case $3 in *pitree-list*) cat list;; *cksum*) cat tail;; *tar*) cat tar;; *) exit 97;; esac";
        write("list", b"pitree-list\n1000000000\n\n/s\n8 5 ./a.jsonl\npitree-end\n");
        assert_eq!(hostile.sync(script).error, None);
        // Cut off, or shorter than listed.
        write("list", b"pitree-list\n1000000000\n\n/s\n24 6 ./a.jsonl\npitree-end\n");
        let sum = format!("{}\n", cksum(b"{\"a\":1}\n"));
        for tail in ["{\"b\":2}\n{\"c\":", "{\"b\":2}\n\npitree-end\n", "{\"b\":2}\n{\"c\":3}\nodd\npitree-end\n"] {
            write("tail", format!("{sum}{tail}").as_bytes());
            let state = hostile.sync(script);
            assert!(state.error.is_some(), "{tail:?}");
            let mirrored = hostile.dir.path().join("data/machine-mirrors/box/%2Fs/a.jsonl");
            assert_eq!(fs::read_to_string(mirrored).unwrap(), "{\"a\":1}\n", "{tail:?}");
        }
        write("tail", format!("{sum}{{\"b\":2}}\n{{\"c\":3}}\n\npitree-end\n").as_bytes());
        assert_eq!((hostile.sync(script).error, hostile.files().len()), (None, 1));
    }

    fn cksum(bytes: &[u8]) -> String {
        let mut sum = crate::machines::cksum::Cksum::default();
        sum.write_all(bytes).unwrap();
        sum.to_string()
    }
}
