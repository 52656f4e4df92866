//! The trash: moves files there and restores them. Uses the trash of the system through the crate `trash` (on Linux,
//! the FreeDesktop trash), or a configured command.

mod command;
mod contents;
mod home;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, Result, anyhow};
use thiserror::Error;

use crate::base::path_context::PathContext;
use crate::disk::files::{self, is_there};
use crate::disk::fingerprint::Fingerprint;
use crate::disk::lock::LockObserver;
use crate::disk::new_file::Draft;
pub(crate) use crate::disk::trash::command::CommandTimeout;
pub(crate) use crate::disk::trash::contents::RestoreError;
use crate::disk::trash::contents::{TrashContents, in_words};
pub(crate) use crate::disk::trash::home::give_up;
use crate::disk::trash::home::{HomeTrash, info_of};
use crate::disk::vacated::{self, FileStart, FileToVacate, Successor, VacatedFile};
use crate::disk::{create, demo};

/// The trash configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trash {
    /// A program and its arguments, followed by the path of the file; empty for the system trash.
    pub command: Vec<String>,
    /// The time limit per file.
    pub limit: Duration,
}

impl Default for Trash {
    fn default() -> Self {
        Self { command: Vec::new(), limit: Duration::from_secs(60) }
    }
}

impl Trash {
    /// Opens the trash for a request at the time `now`, in milliseconds since 1970.
    pub(crate) fn open(&self, now: i64) -> TrashBatch<'_> {
        TrashBatch {
            trash: self,
            now,
            home: HomeTrash::default(),
            contents: None,
            added: HashSet::new(),
            moved: HashSet::new(),
            vacated: Vec::new(),
        }
    }
}

/// The trash during one request, which can move many files. The content is looked up once.
pub(crate) struct TrashBatch<'a> {
    trash: &'a Trash,
    /// The time of the request, in milliseconds since 1970.
    now: i64,
    home: HomeTrash,
    /// The content when it was looked up.
    contents: Option<TrashContents>,
    /// Files added since then.
    added: HashSet<PathBuf>,
    /// Directories with moved files that are not synced yet.
    moved: HashSet<PathBuf>,
    /// The files that the current step vacated, at their present paths.
    pub(crate) vacated: Vec<PathBuf>,
}

/// A file that pitree moved to the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrashEntry {
    /// Its path in the trash, if known.
    pub(crate) place: Option<PathBuf>,
    /// The time of the deletion, in milliseconds since 1970.
    pub(crate) time: i64,
    /// Its fingerprint; older versions of pitree recorded none.
    pub(crate) file: Option<Fingerprint>,
}

/// The trash refused a file, which is unchanged.
#[derive(Debug, Error)]
#[error("{0:#}")]
pub(crate) struct TrashRefused(anyhow::Error);

impl TrashBatch<'_> {
    /// Returns `true` for a configured command, which can take long.
    pub(crate) fn is_command(&self) -> bool {
        !self.trash.command.is_empty()
    }

    /// Chooses a place in the trash for a file, if the system supports it.
    ///
    /// # Errors
    /// [`TrashRefused`].
    pub(crate) fn choose(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        let is_supported = cfg!(all(unix, not(target_os = "macos"))) || demo::entered().is_some();
        if self.is_command() || !is_supported {
            return Ok(None);
        }
        Ok(Some(self.home.choose(path).map_err(TrashRefused)?))
    }

    /// Reserves the chosen place of a file deleted at `time`, in milliseconds since 1970. Returns `false` if another
    /// program took the place first.
    ///
    /// # Errors
    /// [`TrashRefused`].
    pub(crate) fn claim(&mut self, path: &Path, item: &Path, time: i64) -> Result<bool> {
        Ok(self.home.claim(&known_as(path), item, time).map_err(TrashRefused)?)
    }

    /// Syncs the reserved places.
    ///
    /// # Errors
    /// [`TrashRefused`].
    pub(crate) fn sync_places(&mut self) -> Result<()> {
        Ok(self.home.sync().map_err(TrashRefused)?)
    }

    /// Moves a file, or a symbolic link itself, to the trash, to its reserved place. `wait` is notified after a while,
    /// and decides whether to keep waiting.
    ///
    /// # Errors
    /// [`TrashRefused`] after releasing the place, or [`CommandTimeout`].
    pub(crate) fn put(&mut self, path: &Path, item: Option<&Path>, wait: LockObserver<'_>) -> Result<()> {
        let known = known_as(path);
        self.added.insert(known.clone());
        self.moved.extend([path.parent(), item.and_then(Path::parent)].into_iter().flatten().map(Path::to_path_buf));
        let put = match (&self.trash.command[..], item) {
            ([program, arguments @ ..], _) => command::run(program, arguments, path, self.trash.limit, wait),
            ([], Some(item)) => home::put(&known, item).map(|spare| self.vacated.extend(spare)),
            ([], None) => trash::delete(&known).map_err(|error| anyhow!(in_words(&error))),
        };
        put.map_err(|error| if error.is::<CommandTimeout>() { error } else { TrashRefused(error).into() })
    }

    /// Reserves a place and moves a file there.
    ///
    /// # Errors
    /// [`TrashRefused`].
    pub(crate) fn put_somewhere(&mut self, path: &Path, wait: LockObserver<'_>) -> Result<()> {
        loop {
            let item = self.choose(path)?;
            let is_ours = item.as_deref().map_or(Ok(true), |item| self.claim(path, item, self.now))?;
            if is_ours {
                self.sync_places()?;
                return self.put(path, item.as_deref(), wait);
            }
        }
    }

    /// Syncs the directories of moved files.
    ///
    /// # Errors
    /// The disk fails.
    pub(crate) fn sync(&mut self) -> std::io::Result<()> {
        // A removed directory needs no sync.
        let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        let sync = |folder: PathBuf| {
            create::sync_names(&folder).or_else(|error| if gone(&error) { Ok(()) } else { Err(error) })
        };
        std::mem::take(&mut self.moved).into_iter().try_for_each(sync)
    }

    /// Restores a file: from its place in the trash if known, otherwise the most recently deleted file with at least
    /// the given size.
    ///
    /// # Errors
    /// [`RestoreError`], or the trash is inaccessible; the file stays there.
    pub(crate) fn take_back(&mut self, path: &Path, kept: Option<&TrashEntry>, at_least: u64) -> Result<()> {
        let item = kept.and_then(|kept| kept.place.as_deref()).filter(|item| info_of(item).is_some());
        self.moved.extend([path.parent(), item.and_then(Path::parent)].into_iter().flatten().map(Path::to_path_buf));
        if is_there(path).path_context("cannot access", path)? {
            return Err(RestoreError::Taken(path.into()).into());
        }
        if let (Some(item), Some(kept)) = (item, kept) {
            let is_at_item = is_there(item).path_context("cannot access", item)?;
            // The trash command may have moved it elsewhere.
            let checked =
                if is_at_item { check(path, kept, at_least) } else { Err(RestoreError::Emptied(path.into()).into()) };
            match checked {
                Ok(()) => {
                    let back = home::move_back(item, path);
                    back.with_context(|| format!("cannot restore {} from the trash", path.display()))?;
                    home::forget(item);
                    return Ok(());
                }
                Err(error) if !self.is_command() => return Err(error),
                Err(_) => {}
            }
        }
        let known = known_as(path);
        let contents = match self.contents.take().filter(|_| !self.added.contains(&known)) {
            Some(contents) => contents,
            None => {
                self.added.clear();
                TrashContents::read()?
            }
        };
        let file = kept.and_then(|kept| kept.file.as_ref());
        self.contents.insert(contents).take_back(path, &known, at_least, file)
    }

    /// Returns `true` if a running pi continued at the path of a trashed session, so that both can be
    /// [merged](Self::join).
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn can_join(&self, path: &Path, item: Option<&Path>) -> io::Result<bool> {
        let Some(item) = item.filter(|_| !self.is_command()) else { return Ok(false) };
        Ok(vacated::start(path)? == FileStart::Entry && vacated::start(item)? == FileStart::Header)
    }

    /// Restores a session to a path where a pi continued to write: its lines, followed by those of pi. The latter also
    /// go to `place` in the trash. Lines written meanwhile are included, and a file exists at every moment.
    ///
    /// # Errors
    /// A file cannot be read, written or moved. Both files are unchanged, or the merged file is in place.
    pub(crate) fn join(&mut self, path: &Path, item: &Path, place: &Path, wait: LockObserver<'_>) -> Result<()> {
        let failed = || format!("cannot merge {} with the entries that pi wrote there later", path.display());
        let draft = || {
            let mut draft = Draft::of(path)?;
            let mut session = files::open_regular(item, fs::File::options().read(true))?;
            let bytes = io::copy(&mut session, &mut draft)?;
            draft.file.set_permissions(session.metadata()?.permissions())?;
            Ok::<_, io::Error>((FileToVacate::headless(path, &mut draft.file)?, draft, bytes))
        };
        let (original, draft, bytes) = draft().with_context(failed)?;
        let replaced = self.exchange(original, &late(path), Some(place), |path| draft.replace(path), bytes, wait);
        replaced.with_context(failed)?;
        self.clear(path, item);
        Ok(())
    }

    /// Replaces a file: a second name of it moves to the trash, with the name `kept` and to the place `item` if known. Then
    /// `rename` puts another file in its place. Lines that a pi writes at the last moment are appended to that file, which
    /// can have them from the offset `start`.
    ///
    /// # Errors
    /// [`TrashRefused`], the file cannot have a second name or changed meanwhile, or a file cannot be written.
    pub(crate) fn exchange(
        &mut self,
        original: FileToVacate<'_>,
        kept: &Path,
        item: Option<&Path>,
        rename: impl FnOnce(&Path) -> io::Result<()>,
        start: u64,
        wait: LockObserver<'_>,
    ) -> Result<()> {
        let path = original.path;
        // Without a known place, the file is found by its name.
        let second = if item.is_some() { vacated::vacated_path(path)? } else { kept.into() };
        create::second_name(path, &second).path_context("cannot keep the original as", &second)?;
        let put = self.put(&second, item, wait).inspect_err(|_| drop(fs::remove_file(&second)));
        put.context("cannot move the original to the trash")?;
        // A file that is still in place needs no copy in the trash.
        original.replace(rename).inspect_err(|_| item.iter().for_each(|item| self.clear(path, item)))?;
        self.has_vacated(item);
        original.append_late_lines(path, start)
    }

    /// Notes that the file at a place in the trash is one that a step vacated, unless it is a copy.
    pub(crate) fn has_vacated(&mut self, item: Option<&Path>) {
        if self.vacated.is_empty() {
            self.vacated.extend(item.map(Path::to_path_buf));
        }
    }

    /// Completes or reverts an interrupted [merge](Self::join).
    pub(crate) fn mend_join(&mut self, path: &Path, item: &Path, place: &Path) {
        if vacated::start(path).is_ok_and(|start| start != FileStart::Header) {
            return self.clear(path, place);
        }
        let start = item.symlink_metadata().map_or(0, |session| session.len());
        match (VacatedFile { path: place.into(), from: 0, to: Some(Successor::new(path, start)) }).append_late_lines() {
            Ok(_) => self.clear(path, item),
            // If the session is no longer in the trash, the merge was complete.
            Err(_) => give_up(item),
        }
    }

    /// Permanently deletes the file that came from `path`.
    ///
    /// # Errors
    /// The errors of [`check`], or the file cannot be deleted.
    pub(crate) fn erase(&mut self, path: &Path, kept: &TrashEntry) -> Result<()> {
        check(path, kept, 0)?;
        let Some(item) = &kept.place else { return Ok(()) };
        fs::remove_file(item).path_context("cannot delete", item)?;
        home::forget(item);
        Ok(())
    }

    /// Removes the copy of a file, such as an incomplete one, from the trash if the file still exists at `path`.
    pub(crate) fn clear(&mut self, path: &Path, item: &Path) {
        if path.symlink_metadata().is_ok() {
            // Leftovers that cannot be removed stay.
            if create::starts_with(path, item).unwrap_or(false) && fs::remove_file(item).is_ok() {
                home::forget(item);
            }
            give_up(item);
        }
    }
}

/// Returns the name in the trash of lines that a pi wrote to the path of a trashed session; not a session name.
pub(crate) fn late(path: &Path) -> PathBuf {
    create::beside(path, create::LATE)
}

/// Returns `true` if a place in the trash is that of such lines.
pub(crate) fn is_late(path: &Path, place: &Path) -> bool {
    let (late, name) = (late(path), place.file_name().unwrap_or_default());
    late.file_name().is_some_and(|late| name.as_encoded_bytes().starts_with(late.as_encoded_bytes()))
}

/// Checks that the trash still holds the file from `path` at its recorded place. Other programs may have emptied the
/// trash and moved another file there under the same name.
///
/// # Errors
/// [`RestoreError::Other`], or the trash cannot be read.
pub(crate) fn check(path: &Path, kept: &TrashEntry, at_least: u64) -> Result<()> {
    let Some(item) = kept.place.as_deref().filter(|item| info_of(item).is_some()) else { return Ok(()) };
    let failed = "cannot access";
    let note = info_of(item).and_then(|info| home::read(&info));
    let is_ours = match (&kept.file, &note) {
        (_, Some(note)) if !note.is_of(&[&known_as(path), path], kept.time) => false,
        (Some(file), _) => file.fits(item).path_context(failed, item)?,
        (None, Some(_)) => item.symlink_metadata().path_context(failed, item)?.len() >= at_least,
        (None, None) => false,
    };
    if is_ours {
        return Ok(());
    }
    Err(RestoreError::Other { path: path.into(), item: item.into(), from: note.map(|note| note.path) }.into())
}

/// Returns `true` if a file is no longer at its recorded place in the trash.
pub(crate) fn is_gone(path: &Path, kept: &TrashEntry) -> bool {
    let is_gone = |place: &PathBuf| {
        place.symlink_metadata().is_err() || check(path, kept, 0).is_err_and(|error| error.is::<RestoreError>())
    };
    kept.place.as_ref().is_some_and(is_gone)
}

/// Returns the path as the trash records it: symbolic links in its directory are resolved, as far as it still exists.
fn known_as(path: &Path) -> PathBuf {
    let real = path.ancestors().skip(1).find_map(|above| Some((above, dunce::canonicalize(above).ok()?)));
    let known = real.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?)));
    known.unwrap_or_else(|| path.to_path_buf())
}
