//! Session files that lose their name to a change, because a new version replaces them or they move, while a pi may be
//! writing. pi opens, writes and closes the file for each line (`appendFileSync`, 1.6.0), and creates a file without a
//! header if there is none. So a line can still arrive in a file that pi opened under its former name. Such late lines
//! are appended to the file that took its place, until no process has the vacated file open for writing.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::base::path_context::PathContext;
use crate::disk::files::open_regular;
use crate::disk::fingerprint::hash;
use crate::disk::new_file::Draft;
use crate::disk::{create, lines, lock};
use crate::session::lines::NotASession;
use crate::system::os;

/// The end of the name of a vacated file that is not in the trash.
pub(crate) const VACATED_SUFFIX: &str = ".pitree-old";

/// The interval between two looks at files that a process may be writing, and the number of looks for the end of a line.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const MAX_POLLS: usize = 20;

/// The age from which a file is not that of a running pi, on systems that do not tell which files are open.
const IDLE: Duration = Duration::from_secs(3600);

/// The start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileStart {
    /// The header of a session.
    Header,
    /// An entry: a pi continued to write after its file was moved.
    Entry,
    /// Anything else, an empty or missing file, or a symbolic link.
    Other,
}

/// Determines the start of the file at a path.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn start(path: &Path) -> io::Result<FileStart> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => return Ok(FileStart::Other),
    }
    let head = lines::head(&mut open_regular(path, File::options().read(true))?, &mut Vec::new())?;
    Ok(match head.first {
        Some(Ok(_)) => FileStart::Header,
        Some(Err(NotASession::Headless)) => FileStart::Entry,
        _ => FileStart::Other,
    })
}

/// Returns a name for a vacated file next to its former path, or for a second name of a file that is about to be replaced;
/// not a session name.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn vacated_path(path: &Path) -> io::Result<PathBuf> {
    create::unique(path, VACATED_SUFFIX)
}

/// Takes the name from a file. Returns its present path.
///
/// # Errors
/// It cannot be renamed.
pub(crate) fn vacate(path: &Path) -> io::Result<PathBuf> {
    let spare = vacated_path(path)?;
    create::rename(path, &spare)?;
    create::sync_folder(path);
    Ok(spare)
}

/// Returns `true` for a name of this kind.
pub(crate) fn is_vacated_path(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(VACATED_SUFFIX.as_bytes())
}

/// Returns the vacated files next to their former path. Only an interrupted change leaves them.
pub(crate) fn vacated_siblings(path: &Path) -> Vec<PathBuf> {
    create::uniques(path, VACATED_SUFFIX)
}

/// The file at a path before it is vacated.
pub(crate) struct FileToVacate<'a> {
    pub(super) path: &'a Path,
    file: File,
    /// The length that its successor has.
    bytes: u64,
    /// `true` for a file without a header, which a pi can be writing all the time.
    is_headless: bool,
}

impl<'a> FileToVacate<'a> {
    /// Opens a file, of which its successor has the first `bytes`.
    ///
    /// # Errors
    /// The file cannot be read, or has another length: it is being written.
    pub(crate) fn open(path: &'a Path, bytes: u64) -> Result<Self> {
        let file = open_regular(path, File::options().read(true)).path_context("cannot read", path)?;
        let original = Self { path, file, bytes, is_headless: false };
        original.check()?;
        Ok(original)
    }

    /// Opens a file without a header, of which `draft` gets all complete lines and the time.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn headless(path: &'a Path, draft: &mut File) -> io::Result<Self> {
        let mut file = open_regular(path, File::options().read(true))?;
        let mut late = Vec::new();
        file.read_to_end(&mut late)?;
        // A line that pi is still writing is added when it is complete.
        late.truncate(memchr::memrchr(b'\n', &late).map_or(0, |at| at + 1));
        let end = end_of_line(draft)?;
        draft.write_all(end)?;
        draft.write_all(&late)?;
        draft.set_modified(file.metadata()?.modified()?)?;
        draft.sync_all()?;
        Ok(Self { path, file, bytes: late.len() as u64, is_headless: true })
    }

    /// Checks that the file is still at its path, with the same length if it has a header.
    ///
    /// # Errors
    /// It is being written or was replaced, or it is inaccessible.
    fn check(&self) -> Result<()> {
        let Self { path, file, bytes, is_headless } = self;
        let is_at = lock::is_at(file, path).path_context("cannot access", path)?;
        ensure!(is_at, "{} was replaced meanwhile; try again", path.display());
        let now = file.metadata().path_context("cannot access", path)?.len();
        ensure!(*is_headless || now == *bytes, "{} is being written; try again when pi is idle", path.display());
        Ok(())
    }

    /// Puts another file in place with `rename`. The caller gave this one a second name before, and
    /// [appends](Self::append_late_lines) its late lines to it afterwards.
    ///
    /// # Errors
    /// The file changed meanwhile, or the file system fails; it is still in place.
    pub(crate) fn replace(&self, rename: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
        self.check()?;
        rename(self.path).path_context("cannot replace", self.path)?;
        create::sync_folder(self.path);
        Ok(())
    }

    /// Replaces the file like [`replace`](Self::replace), and appends its late lines. Its second name is that of a vacated
    /// file, which is added to `vacated`. `start` is the offset from which the other file can have late lines.
    ///
    /// # Errors
    /// Those of [`replace`](Self::replace), or late lines cannot be written.
    pub(crate) fn replace_beside(
        self,
        rename: impl FnOnce(&Path) -> io::Result<()>,
        start: u64,
        vacated: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let (path, spare) = (self.path, vacated_path(self.path)?);
        create::second_name(path, &spare).path_context("cannot give a second name to", path)?;
        self.replace(rename).inspect_err(|_| drop(fs::remove_file(&spare)))?;
        vacated.push(spare);
        self.append_late_lines(path, start)
    }

    /// Puts a complete new file at `to`, then takes the name from this one with `remove`. The caller
    /// [appends](Self::append_late_lines) its late lines to it afterwards.
    ///
    /// # Errors
    /// The place is taken, this file changed meanwhile, or the file system fails; both files can exist.
    pub(crate) fn move_to(&self, draft: Draft, to: &Path, remove: impl FnOnce() -> Result<()>) -> Result<()> {
        let placed = draft.place(to).and_then(|()| create::sync_folder_of(to));
        placed.path_context("cannot write", to)?;
        self.check()?;
        remove()?;
        create::sync_folder(self.path);
        Ok(())
    }

    /// Carries over the lines that were added until now, after the file was vacated.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn append_late_lines(self, to: &Path, start: u64) -> Result<()> {
        let Self { mut file, bytes, .. } = self;
        append_late_lines(&mut file, bytes, to, start).path_context("cannot write", to)
    }
}

/// The file to which late lines are appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Successor {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The offset in bytes from which it can have late lines.
    pub(crate) start: u64,
}

impl Successor {
    /// Creates it from its path, and the offset from which it can have late lines.
    pub(crate) fn new(path: &Path, start: u64) -> Self {
        Self { path: path.into(), start }
    }
}

/// A file that may have late lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VacatedFile {
    /// Its present path: in the trash, or a [`vacated_path`].
    pub(crate) path: PathBuf,
    /// The offset in bytes from which its lines are late.
    pub(crate) from: u64,
    /// `None` if late lines cannot be appended, because the session was archived.
    pub(crate) to: Option<Successor>,
}

impl VacatedFile {
    /// Carries over the late lines. Returns `true` if there is no successor for them.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn append_late_lines(&self) -> io::Result<bool> {
        let mut file = match open_regular(&self.path, File::options().read(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        match &self.to {
            Some(to) => append_late_lines(&mut file, self.from, &to.path, to.start).map(|()| false),
            None => Ok(file.metadata()?.len() != self.from),
        }
    }

    /// Removes the file, unless it is in the trash.
    pub(crate) fn remove(&self) {
        if is_vacated_path(&self.path) {
            let _ = fs::remove_file(&self.path); // not a session name, and all its lines are elsewhere
        }
    }
}

/// Gives a vacated file its former path again. If a pi created a file without a header there meanwhile, its lines are
/// added to the session, and that file's present path is added to `vacated`.
///
/// # Errors
/// A file cannot be read or written, or another session is at the path.
pub(crate) fn put_back(spare: &Path, path: &Path, vacated: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || format!("cannot move {} back to {}", spare.display(), path.display());
    match create::rename(spare, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && start(path)? == FileStart::Entry => {}
        renamed => return renamed.with_context(failed),
    }
    let mut session = open_regular(spare, File::options().read(true).append(true)).with_context(failed)?;
    let bytes = session.metadata().with_context(failed)?.len();
    let original = FileToVacate::headless(path, &mut session).with_context(failed)?;
    original.replace_beside(|path| fs::rename(spare, path), bytes, vacated).with_context(failed)
}

/// Resolves the vacated files that an interrupted change left next to a path. One whose content is the start of one of
/// the files `complete` is removed. Of another one, the lines after an offset are appended to it, or it gets its path again.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn resolve(path: &Path, complete: &[&Path], late: Option<&(u64, Successor)>) -> Result<()> {
    for spare in vacated_siblings(path) {
        if remove_if_contained(&spare, complete) {
            continue;
        }
        if let Some((from, to)) = late {
            let vacated = VacatedFile { path: spare, from: *from, to: Some(to.clone()) };
            vacated.append_late_lines().path_context("cannot write", &to.path)?;
            vacated.remove();
        } else {
            put_back(&spare, path, &mut Vec::new())?;
        }
    }
    Ok(())
}

/// Removes a vacated file whose content is the start of one of the files `complete`. Returns `true` if it was.
pub(crate) fn remove_if_contained(spare: &Path, complete: &[&Path]) -> bool {
    let is_second = complete.iter().any(|file| create::starts_with(file, spare).unwrap_or(false));
    if is_second && is_vacated_path(spare) {
        let _ = fs::remove_file(spare); // not a session name
    }
    is_second
}

/// Waits until no process has the files open for writing. Returns for each file `true` if no line can arrive any more.
pub(crate) fn wait_for_writers(files: &[PathBuf], timeout: Duration) -> Vec<bool> {
    let begun = Instant::now();
    loop {
        let is_over = begun.elapsed() >= timeout;
        match os::are_written(files) {
            Some(written) if is_over || !written.contains(&true) => {
                return written.into_iter().map(|is_written| !is_written).collect();
            }
            None => {
                sleep(POLL_INTERVAL.min(timeout));
                return files.iter().map(|file| is_idle(file)).collect();
            }
            Some(_) => sleep(POLL_INTERVAL),
        }
    }
}

/// Returns `true` if a file is missing, or was last written long ago.
fn is_idle(file: &Path) -> bool {
    let age = || fs::metadata(file).ok()?.modified().ok()?.elapsed().ok();
    age().is_none_or(|age| age > IDLE)
}

/// Appends the lines of a file after `from` to another file, except those that it has from an offset on.
fn append_late_lines(file: &mut File, from: u64, to: &Path, start: u64) -> io::Result<()> {
    let mut late = Vec::new();
    for _ in 0..MAX_POLLS {
        late.clear();
        file.seek(SeekFrom::Start(from))?;
        file.read_to_end(&mut late)?;
        if late.last().is_none_or(|&last| last == b'\n') {
            break;
        }
        sleep(POLL_INTERVAL); // pi is writing the line
    }
    let mut lines: Vec<(u64, &[u8])> =
        late.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(|line| (hash(line), line)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let missing: HashSet<u64> = {
        let mut missing: HashSet<u64> = lines.iter().map(|(hash, _)| *hash).collect();
        let mut there = open_regular(to, File::options().read(true))?;
        there.seek(SeekFrom::Start(start))?;
        let (mut there, mut line) = (BufReader::new(there), Vec::new());
        while !missing.is_empty() && there.read_until(b'\n', &mut line)? > 0 {
            missing.remove(&hash(line.strip_suffix(b"\n").unwrap_or(&line)));
            line.clear();
        }
        missing
    };
    lines.retain(|(hash, _)| missing.contains(hash));
    if lines.is_empty() {
        return Ok(());
    }
    // A read-only session that has all lines is not opened for writing.
    let mut to = open_regular(to, File::options().read(true).append(true))?;
    let mut bytes = end_of_line(&mut to)?.to_vec();
    for (_, line) in lines {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    to.write_all(&bytes)?;
    to.sync_all()
}

/// Returns the line break that a file lacks at its end. The next write is at its end.
///
/// # Errors
/// The file cannot be read.
fn end_of_line(file: &mut File) -> io::Result<&'static [u8]> {
    let mut last = *b"\n";
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(if last == *b"\n" { b"" } else { b"\n" })
}
