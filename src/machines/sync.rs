//! Synchronization: updates the mirror of a machine. One process at a time does so for each machine.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::base::numbers::{count, duration, thousands};
use crate::changes::journal::{ChangeState, JournalRecord};
use crate::changes::{Changes, FileSnapshot, Request, to_the_end};
use crate::config::{Address, SyncConfig};
use crate::disk::fingerprint::FileMetadata;
use crate::disk::{create, lock, parallel};
use crate::machines::link::LinkError;
use crate::machines::mirror::{self, Mirror, RemoteFile, SyncPlan};
use crate::machines::registry::Machine;
use crate::machines::remote::Listing;
use crate::machines::state::{self, MachineState};
use crate::machines::transport::Transport;
use crate::system;

/// The difference of clocks in milliseconds from which on it is reported.
const CLOCK: i64 = 120_000;

/// The number of files and of bytes that are fetched at a time, so that an interruption does not lose many.
const FILES_AT_ONCE: usize = 2000;
const BYTES_AT_ONCE: u64 = 1_000_000_000;

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
    let mut options = create::private();
    options.read(true).write(true).create(true);
    // It waits for a moment: another process can be about to end, and programs that this process starts share its lock.
    let _lock = match lock::open(&options, &path.with_extension("lock"), &mut |_| ControlFlow::Break(())) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
        Err(error) if lock::has_no_locks(&error) => None,
        lock => Some(lock?),
    };
    // An invalid state only describes the mirror.
    let mut state = state::read(context.state, &machine.name).or_else(|error| match error.kind() {
        io::ErrorKind::InvalidData => Ok(MachineState::default()),
        _ => Err(error),
    })?;
    state.tried = Some((context.now)());
    match (MachineSync { machine, context, state: &mut state }).run(gone) {
        Ok(()) => {
            state.synced = Some((context.now)());
            (state.error, state.is_offline, state.failures) = (None, false, 0);
            state.messages.clear();
        }
        Err(error) => {
            state.failures = state.failures.saturating_add(1);
            (state.error, state.is_offline, state.messages) = (Some(error.reason), error.is_offline, error.messages);
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
pub(crate) const MAX_PARALLEL: usize = 8;

/// Updates the mirrors of several machines at the same time; see [`sync`]. The results are in the order of the machines.
pub(crate) fn several(
    machines: &[Machine],
    context: &SyncContext<'_>,
    gone: &GoneFiles,
) -> Vec<io::Result<Option<MachineState>>> {
    let failed = || Err(io::Error::other("internal error in pitree"));
    parallel::map_waiting(machines, MAX_PARALLEL, |machine| sync(machine, context, gone), failed)
}

/// Connects to a machine, and returns what works there and the number of its sessions.
///
/// # Errors
/// It cannot be reached, or has no `rsync`.
pub(crate) fn probe(machine: &Machine, config: &SyncConfig, can_ask: bool) -> Result<MachineState, LinkError> {
    let mut listing = Transport { address: &machine.address, config, can_ask }.list(&|| true)?;
    if let (Address::Dir(dir), false) = (&machine.address, listing.has_dir) {
        return Err(LinkError::new(format!("no directory {}", dir.display())));
    }
    let mut state = MachineState { files: listing.files.len() as u64, ..MachineState::default() };
    state.note(&mut listing);
    Ok(state)
}

/// Returns the command that reaches a machine; `None` for a directory.
pub(crate) fn command(machine: &Machine, config: &SyncConfig, can_ask: bool) -> Option<String> {
    Transport { address: &machine.address, config, can_ask }.shown()
}

impl MachineState {
    /// Notes what works on the machine.
    fn note(&mut self, listing: &mut Listing) {
        self.pis = std::mem::take(&mut listing.pis);
        (self.rsync, self.pitree, self.program) = (listing.rsync.take(), listing.pitree.take(), listing.program.take());
        self.programs = std::mem::take(&mut listing.programs);
    }
}

struct MachineSync<'a> {
    machine: &'a Machine,
    context: &'a SyncContext<'a>,
    state: &'a mut MachineState,
}

impl MachineSync<'_> {
    fn run(&mut self, gone: &GoneFiles) -> Result<(), LinkError> {
        let (context, machine) = (self.context, self.machine);
        let transport = Transport { address: &machine.address, config: context.config, can_ask: context.can_ask };
        let mut listing = transport.list(context.is_wanted)?;
        self.state.note(&mut listing);
        if !listing.has_dir {
            return self.without_dir(&listing.dir, gone);
        }
        if let Some(before) = self.state.dir.as_deref().filter(|before| *before != listing.dir) {
            mirror::relocate(context.data, &machine.name, [before, &listing.dir])?;
        }
        let mirror = Mirror::open(context.data, &machine.name, &listing.dir)?;
        let reason =
            || format!("cannot mirror the session directory {:?}: its path is too long or not absolute", listing.dir);
        let mirror = mirror.ok_or_else(|| LinkError::new(reason()))?;
        let updated = self.update(&transport, listing, &mirror, gone);
        mirror.clear();
        updated
    }

    /// Keeps the mirror of a session directory that is missing, unless the user has decided.
    fn without_dir(&mut self, dir: &str, gone: &GoneFiles) -> Result<(), LinkError> {
        let (context, name) = (self.context, &self.machine.name);
        let mirrored = self.state.dir.clone().filter(|_| self.state.files > 0);
        let Some(mirrored) = mirrored else {
            self.state.warnings = vec![format!("there are no sessions yet: {dir} is missing there")];
            return Ok(());
        };
        let mirror = Mirror::open(context.data, name, &mirrored)?;
        let Some(mirror) = mirror else { return Ok(()) };
        self.resolve_interrupted_moves(&mirror)?;
        let trashed = &self.state.trashed;
        let (plan, _) = mirror::plan(&mirror.files(), &[], |path| trashed.contains(path), 0);
        self.state.warnings = vec![format!("the session directory {dir} is missing there; the mirror is kept")];
        self.remove(&mirror, &plan, gone, &mirrored)?;
        self.count(&mirror);
        Ok(())
    }

    /// Finds out which files an interrupted synchronization moved to the trash.
    fn resolve_interrupted_moves(&mut self, mirror: &Mirror) -> Result<(), LinkError> {
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
        transport: &Transport<'_>,
        mut listing: Listing,
        mirror: &Mirror,
        gone: &GoneFiles,
    ) -> Result<(), LinkError> {
        listing.files.sort();
        listing.files.dedup_by(|one, other| one.path == other.path);
        self.resolve_interrupted_moves(mirror)?;
        self.state.trashed.retain(|path| listing.files.binary_search_by(|file| file.path.cmp(path)).is_err());
        let (held, trashed, limit) = (mirror.files(), &self.state.trashed, self.context.config.bytes());
        let (plan, left) = mirror::plan(&held, &listing.files, |path| trashed.contains(path), limit);
        (self.state.transferred, self.state.gone) = (0, 0);
        let mut unread = 0;
        let mut fetched = &plan.fetched[..];
        let result = loop {
            let mut bytes = 0;
            let fits = |file: &&RemoteFile| {
                bytes += file.bytes;
                bytes <= BYTES_AT_ONCE
            };
            let count = fetched.iter().take(FILES_AT_ONCE).take_while(fits).count().max(1);
            let Some((some, rest)) = fetched.split_at_checked(count) else { break Ok(()) };
            match self.fetch(transport, &listing.dir, mirror, some, &mut listing.refused) {
                Ok(missing) => unread += missing,
                Err(error) => break Err(error),
            }
            fetched = rest;
        };
        if let Err(error) = result {
            self.count(mirror);
            return Err(error);
        }
        if listing.is_complete {
            self.remove(mirror, &plan, gone, &listing.dir)?;
        }
        self.count(mirror);
        let clock = listing.now.map(|now| now - (self.context.now)());
        self.state.warnings = warnings(listing.refused, unread, left, clock);
        if !listing.is_complete {
            self.state.warnings.push("a directory there cannot be read; no session was removed".into());
        }
        self.state.dir = Some(listing.dir);
        Ok(())
    }

    /// Fetches some files. Returns the number of those that could not be read.
    fn fetch(
        &mut self,
        transport: &Transport<'_>,
        dir: &str,
        mirror: &Mirror,
        files: &[RemoteFile],
        refused: &mut usize,
    ) -> Result<usize, LinkError> {
        mirror.stage(files)?;
        let fetched = transport.fetch(dir, mirror, files, self.context.is_wanted);
        // After a failure, too, complete files are taken.
        let staged = files.iter().filter_map(|file| Some((file, mirror.staged(file)?)));
        let staged: Vec<(&RemoteFile, PathBuf)> = staged.collect();
        sync_files(&mirror.staging(), staged.iter().map(|(_, path)| path.clone()).collect());
        for (file, staged) in &staged {
            let mut remove = |path: &Path| self.trash(&[path.to_path_buf()]);
            match mirror.take(file, staged, &mut remove) {
                Ok(()) => {}
                // Another file has the name in the directory of the mirror, such as a directory.
                Err(error) if is_name_conflict(&error) => *refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
        self.state.transferred += fetched?;
        Ok(files.len() - staged.len())
    }

    /// Moves files that are gone from the session directory on the machine to the trash, unless they are many.
    fn remove(&mut self, mirror: &Mirror, plan: &SyncPlan, gone: &GoneFiles, dir: &str) -> Result<(), LinkError> {
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
            let written = state::write(self.context.state, &self.machine.name, self.state);
            let moved = written.and_then(|()| self.trash(&paths));
            moved.map_err(|error| LinkError::new(format!("cannot move mirrored sessions to the trash: {error}")))?;
            self.state.moving.clear();
        }
        self.state.trashed.extend(removed.into_iter().cloned());
        Ok(())
    }

    fn trash(&self, paths: &[PathBuf]) -> io::Result<()> {
        let file = |path: &PathBuf| {
            let version = FileMetadata::of(path)?;
            Ok(FileSnapshot { path: path.clone(), bytes: version.bytes, mtime: version.mtime() })
        };
        let files = paths.iter().map(file).collect::<io::Result<Vec<_>>>()?;
        let changes = self.context.changes.clone().of_mirrors();
        let done = changes.make(&Request::Trash { files }, (self.context.now)(), &mut to_the_end);
        done.map(drop).map_err(|error| io::Error::other(format!("{error:#}")))
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
    let gone = match state.gone {
        0 => String::new(),
        gone => format!("; {} gone there are kept here", thousands(usize::try_from(gone).unwrap_or(usize::MAX))),
    };
    format!("{files}{gone}")
}
