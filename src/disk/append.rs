//! Appends one line to a session file while a pi may be writing to it. This is the only way in which pitree changes an
//! existing session file; existing bytes are never modified.
//!
//! pi takes no lock and keeps no file open (0.74.2, 0.87.1), so it can append a line between our read and our write. In
//! this case, the file is read again. In the remaining instant between the last check and the write, a line of pi would
//! become a sibling of ours; no byte is lost.
//!
//! A line alone is synced before [`line()`] returns. For many files, `read` and `write` leave the sync to `sync`, once per
//! batch.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::base::path_context::PathContext;
use crate::disk::files::open_regular;
use crate::disk::load;
use crate::disk::lock::{self, LockObserver};
use crate::session::tree::Tree;
use crate::system::os;

/// The minimum number of attempts on a file that keeps growing, and how long to continue after them: on a busy machine, a
/// few lines of pi can win many races in a row.
const TRIES: usize = 20;
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);

/// A line about to be appended. It identifies a partial line if the process is killed during the write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingLine {
    /// The offset of the line in the file, in bytes.
    pub at: u64,
    /// The bytes to append: the line, its line break, and a preceding line break if the file lacks one.
    pub text: String,
}

impl PendingLine {
    /// Creates the line for the end of a loaded file.
    pub fn new(tree: &Tree, line: &str) -> Self {
        // An incomplete last line is kept; the new line is separate.
        let start = if tree.ended { "" } else { "\n" };
        Self { at: tree.end, text: format!("{start}{line}\n") }
    }
}

/// Appends the line that `build` creates from the current file, or nothing if it returns `None`. With `keep_time`, the
/// file keeps its modification time, so that `pi -c` still opens the most recently used session. `wait` is notified
/// about a lock, and decides whether to keep waiting. Returns the problems that occurred after the write, or `None` if
/// nothing was appended.
///
/// # Errors
/// The file cannot be read or written, is not a session, is locked, or `build` fails. The file is unchanged.
pub fn line(
    path: &Path,
    keep_time: bool,
    wait: &mut dyn FnMut(&str) -> ControlFlow<()>,
    mut build: impl FnMut(&Tree) -> Result<Option<PendingLine>>,
) -> Result<Option<Vec<String>>> {
    let failed = "cannot write to";
    let mut file = open(path, wait).path_context(failed, path)?;
    let started = Instant::now();
    let mut tries = 0;
    while tries < TRIES || started.elapsed() < RETRY_TIMEOUT {
        tries += 1;
        if !lock::is_at(&file, path).path_context(failed, path)? {
            file = open(path, wait).path_context(failed, path)?;
        }
        let seen = file.metadata().path_context(failed, path)?;
        let tree = load::writable(path)?;
        let Some(draft) = build(&tree)? else { return Ok(None) };
        if let Some(problem) = append(&mut file, path, &seen, &draft, keep_time)? {
            let synced = sync(std::slice::from_ref(&file)).map_err(|error| unsynced(&error));
            return Ok(Some(problem.map_or(synced, Err).err().into_iter().collect()));
        }
    }
    bail!("{} keeps changing: pi is writing to it; try again when pi is idle", path.display())
}

/// A written line that is not synced yet.
pub(crate) struct WrittenLine {
    /// The file, for [`sync`].
    pub(crate) file: File,
    /// The problem that occurred after the write.
    pub(crate) problem: Option<String>,
}

/// Reads a file for which a line is prepared, before it is locked.
///
/// # Errors
/// The file cannot be read, or is not a session.
pub(crate) fn read(path: &Path) -> Result<(Tree, Metadata)> {
    let seen = fs::metadata(path).path_context("cannot read", path)?;
    Ok((load::writable(path)?, seen))
}

/// Appends a line prepared for a file that was [`read`], like [`line()`], but does not sync it. Returns `None` if the file has
/// changed since; then nothing is written.
///
/// # Errors
/// The file cannot be written, or is locked. It is unchanged.
pub(crate) fn write(
    path: &Path,
    line: &PendingLine,
    seen: &Metadata,
    keep_time: bool,
    wait: LockObserver<'_>,
) -> Result<Option<WrittenLine>> {
    let mut file = open(path, wait).path_context("cannot write to", path)?;
    let appended = append(&mut file, path, seen, line, keep_time)?;
    // The next file of the batch can be a link to this one.
    let _ = file.unlock();
    Ok(appended.map(|problem| WrittenLine { file, problem }))
}

/// Syncs files with new lines. Afterward, a power failure does not lose the lines.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync(files: &[File]) -> io::Result<()> {
    os::sync_files(files)
}

/// Describes a failed sync.
pub(crate) fn unsynced(error: &io::Error) -> String {
    format!("cannot sync to disk; a power failure may lose the change: {error}")
}

/// Opens and locks a session file. On file systems without locks, the lock of the journal must suffice.
fn open(path: &Path, wait: LockObserver<'_>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    match lock::open(&options, path, wait) {
        Err(error) if lock::has_no_locks(&error) => open_regular(path, &options),
        opened => opened,
    }
}

/// Appends the line without a sync, unless the file has changed since it was `seen` or was replaced. Returns the problem
/// that occurred after the write.
fn append(
    file: &mut File,
    path: &Path,
    seen: &Metadata,
    draft: &PendingLine,
    keep_time: bool,
) -> Result<Option<Option<String>>> {
    let unchanged = || format!("cannot append to {}; file unchanged", path.display());
    let bytes = draft.text.as_bytes();
    let mut write = || {
        let before = file.metadata()?;
        if before.len() != draft.at || before.modified()? != seen.modified()? || !lock::is_at(file, path)? {
            return Ok(None);
        }
        write_at_once(file, bytes).map(|written| Some((before, written)))
    };
    let Some((before, written)) = write().with_context(unchanged)? else { return Ok(None) };
    if written < bytes.len() {
        let error = Err(io::Error::new(io::ErrorKind::StorageFull, "incomplete write (is the disk full?)"));
        return match take_back(file, before.len(), written) {
            Ok(()) => error.with_context(unchanged),
            Err(_) => {
                let torn = "it now ends with an incomplete line, which pi and pitree ignore";
                error.with_context(|| format!("cannot append to {}; {torn}", path.display()))
            }
        };
    }
    // The line is written, even if the following step fails.
    let time = if keep_time { restore_time(file, &before, bytes.len() as u64) } else { Ok(()) };
    Ok(Some(time.err().map(|error| format!("cannot restore the modification time: {error}"))))
}

fn restore_time(file: &File, before: &Metadata, written: u64) -> io::Result<()> {
    // If pi wrote too, the file rightly has a new time.
    if file.metadata()?.len() != before.len() + written {
        return Ok(());
    }
    file.set_times(FileTimes::new().set_modified(before.modified()?))
}

/// Writes all bytes with one system call, so that no other line comes in between. A killed process leaves all bytes or
/// none. If the line spans two pages of the file, it can leave a part, which [`take_back_part`] removes. Returns the
/// number of bytes written.
fn write_at_once(file: &mut File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match file.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Removes a partially written line, unless another process has appended to it since. In that case, it stays as an
/// invalid line, which pi and pitree skip.
fn take_back(file: &File, before: u64, written: usize) -> io::Result<()> {
    let is_ours = written > 0 && file.metadata()?.len() == before + written as u64;
    if is_ours { file.set_len(before) } else { Ok(()) }
}

/// Removes the partial line of a killed process from the end of the file. Never waits for a lock.
///
/// # Errors
/// The file cannot be read or written, or is locked.
pub(crate) fn take_back_part(path: &Path, draft: &PendingLine) -> io::Result<()> {
    let mut file = open(path, &mut |_| ControlFlow::Break(()))?;
    let is_part = |len: u64| draft.at < len && len < draft.at + draft.text.len() as u64;
    if !is_part(file.metadata()?.len()) {
        return Ok(());
    }
    let mut part = Vec::new();
    file.seek(SeekFrom::Start(draft.at))?;
    file.read_to_end(&mut part)?;
    if draft.text.as_bytes().starts_with(&part) && is_part(draft.at + part.len() as u64) {
        take_back(&file, draft.at, part.len())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patient(_: &str) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

    fn session(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, format!("{HEADER}{text}")).unwrap();
        (dir, path)
    }

    fn draft(tree: &Tree, id: &str) -> PendingLine {
        PendingLine::new(tree, &entry(tree, id))
    }

    fn entry(tree: &Tree, id: &str) -> String {
        let parent = tree.leaf.and_then(|leaf| tree.nodes[leaf as usize].id.clone());
        format!(
            "{{\"type\":\"custom\",\"id\":{id:?},\"parentId\":{}}}",
            serde_json::to_string(&parent.as_deref()).unwrap()
        )
    }

    #[test]
    fn a_line_stands_on_its_own_whatever_the_file_ends_with() {
        for (end, joint) in
            [("", ""), ("{\"id\":\"a\"}\n", ""), ("{\"id\":\"a\"}", "\n"), ("{\"id\":\"a", "\n"), ("\n\n", "")]
        {
            let (_dir, path) = session(end);
            let appended = line(&path, false, &mut patient, |tree| Ok(Some(draft(tree, "new")))).unwrap();
            assert!(appended.is_some_and(|problems| problems.is_empty()));
            let text = fs::read_to_string(&path).unwrap();
            let start = format!("{HEADER}{end}{joint}");
            assert!(
                text.starts_with(&start) && text.ends_with("}\n") && text[start.len()..].starts_with("{\"type\""),
                "{text}"
            );
            let tree = load::tree(&path, "").unwrap();
            assert_eq!(tree.nodes.last().unwrap().id.as_deref(), Some("new"));
        }
    }

    #[test]
    fn the_time_stays_if_asked_and_nothing_changes_without_a_line() {
        let (_dir, path) = session("");
        let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        OpenOptions::new().append(true).open(&path).unwrap().set_modified(then).unwrap();
        line(&path, true, &mut patient, |tree| Ok(Some(draft(tree, "a")))).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        assert!(line(&path, false, &mut patient, |_| Ok(None)).unwrap().is_none());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then);
        line(&path, false, &mut patient, |tree| Ok(Some(draft(tree, "b")))).unwrap();
        assert_ne!(fs::metadata(&path).unwrap().modified().unwrap(), then);
    }

    #[test]
    fn a_file_that_grew_is_read_again() {
        let (_dir, path) = session("");
        let mut grown = false;
        line(&path, false, &mut patient, |tree| {
            if !std::mem::replace(&mut grown, true) {
                let mut pi = OpenOptions::new().append(true).open(&path)?;
                writeln!(pi, "{}", entry(tree, "pi"))?;
            }
            Ok(Some(draft(tree, "ours")))
        })
        .unwrap();
        let tree = load::tree(&path, "").unwrap();
        assert_eq!(tree.parent(1), Some(0), "ours follows pi's");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_replaced_is_read_again() {
        let (_dir, path) = session("");
        let mut is_replaced = false;
        line(&path, false, &mut patient, |tree| {
            if !std::mem::replace(&mut is_replaced, true) {
                let new = path.with_file_name("new");
                fs::write(&new, format!("{HEADER}{}\n", entry(tree, "pi")))?;
                fs::rename(&new, &path)?;
            }
            Ok(Some(draft(tree, "ours")))
        })
        .unwrap();
        let tree = load::tree(&path, "").unwrap();
        assert_eq!(tree.parent(1), Some(0), "ours follows pi's in the new file");
    }

    #[test]
    fn a_part_of_a_line_is_taken_back_and_nothing_else() {
        let (_dir, path) = session("{\"id\":\"a\"}");
        let before = fs::read_to_string(&path).unwrap();
        let draft = draft(&load::tree(&path, "").unwrap(), "new");
        for end in 0..=draft.text.len() {
            let part = before.clone() + &draft.text[..end];
            for (now, after) in [
                (part.clone(), if end < draft.text.len() { &before } else { &part }),
                (part.clone() + "{\"id\":\"pi\"}\n", &(part.clone() + "{\"id\":\"pi\"}\n")),
                (before.clone() + "x", &(before.clone() + "x")),
            ] {
                fs::write(&path, &now).unwrap();
                take_back_part(&path, &draft).unwrap();
                assert_eq!(&fs::read_to_string(&path).unwrap(), after, "{end}");
            }
        }
    }

    #[test]
    fn writers_side_by_side_lose_nothing() {
        let (_dir, path) = session("");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for at in 0..50 {
                        line(path, true, &mut patient, |tree| Ok(Some(draft(tree, &format!("{writer}-{at}")))))
                            .unwrap();
                    }
                });
            }
        });
        let tree = load::tree(&path, "").unwrap();
        assert_eq!((tree.nodes.len(), tree.path(tree.leaf.unwrap()).len()), (200, 200));
        assert_eq!(tree.problems, []);
    }

    #[test]
    fn what_can_not_be_written_to_says_so() {
        let (_dir, path) = session("");
        let gone = path.with_file_name("gone.jsonl");
        let error = line(&gone, false, &mut patient, |_| Ok(None)).unwrap_err();
        assert!(format!("{error:#}").contains("gone.jsonl"));
        fs::write(&gone, "not a session\n").unwrap();
        assert!(line(&gone, false, &mut patient, |_| Ok(Some(draft(&Tree::default(), "")))).is_err());
        assert_eq!(fs::read_to_string(&gone).unwrap(), "not a session\n");
    }
}
