//! Restores a session after a running pi continued to write to its old path. pi appends to the path, so the new file
//! has entries but no header (1.5.2). Both files are merged, the lines of the session first. The lines of pi go to the
//! trash under a separate name before the merged file replaces them, and a file exists at every moment.

use std::fs::{self, File, FileTimes};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::disk::files::open_regular;
use crate::disk::{create, lines};
use crate::session::lines::NotASession;

/// The number of checks for the end of a line that pi is writing, and the interval between them.
const LOOKS: usize = 20;
const LOOK: Duration = Duration::from_millis(10);

/// The number of bytes compared at once.
const PIECE: usize = 64 * 1024;

/// Returns the name in the trash of lines written later by pi; not a session name.
pub(crate) fn late(path: &Path) -> PathBuf {
    create::beside(path, create::LATE)
}

/// Returns `true` if a place in the trash is that of such lines.
pub(crate) fn is_late(path: &Path, place: &Path) -> bool {
    let (late, name) = (late(path), place.file_name().unwrap_or_default());
    late.file_name().is_some_and(|late| name.as_encoded_bytes().starts_with(late.as_encoded_bytes()))
}

/// Returns `true` if a file starts with the content of another file, or both are equal symbolic links.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn has(file: &Path, beginning: &Path) -> io::Result<bool> {
    let is_link = |path: &Path| Ok::<_, io::Error>(path.symlink_metadata()?.is_symlink());
    if is_link(file)? || is_link(beginning)? {
        return Ok(is_link(file)? && is_link(beginning)? && fs::read_link(file)? == fs::read_link(beginning)?);
    }
    let open = |path| Ok::<_, io::Error>(BufReader::with_capacity(PIECE, File::open(path)?));
    let (mut file, mut beginning) = (open(file)?, open(beginning)?);
    loop {
        let (one, other) = (file.fill_buf()?, beginning.fill_buf()?);
        let length = one.len().min(other.len());
        if length == 0 {
            return Ok(other.is_empty());
        }
        if one[..length] != other[..length] {
            return Ok(false);
        }
        file.consume(length);
        beginning.consume(length);
    }
}

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
    let head = lines::head(&mut open(path)?, &mut Vec::new())?;
    Ok(match head.first {
        Some(Ok(_)) => FileStart::Header,
        Some(Err(NotASession::Headless)) => FileStart::Entry,
        _ => FileStart::Other,
    })
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_regular(path, File::options().read(true))
}

/// Writes the session `item`, followed by the complete lines of another file, to the draft of `path`, and syncs it. The
/// draft has the mode of the session and the time of the other file. Returns the number of bytes of those lines.
///
/// # Errors
/// A file cannot be read or written; the draft is removed.
pub(super) fn write_draft(path: &Path, item: &Path, late: &mut File) -> io::Result<u64> {
    let draft = create::draft(path);
    let mut new = create::private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        let mut session = open(item)?;
        io::copy(&mut session, &mut new)?;
        new.write_all(end_of_line(&mut session)?)?;
        new.set_permissions(session.metadata()?.permissions())?;
        add_late(&mut new, late)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Appends the complete lines of another file to a draft with the session, and syncs it. The draft gets the time of the
/// other file. Returns the number of bytes of those lines.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn add_late(draft: &mut File, late: &mut File) -> io::Result<u64> {
    let mut bytes = Vec::new();
    late.rewind()?;
    late.read_to_end(&mut bytes)?;
    // A line that pi is still writing is added when it is complete.
    bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
    draft.write_all(&bytes)?;
    draft.set_times(FileTimes::new().set_modified(late.metadata()?.modified()?))?;
    draft.sync_all()?;
    Ok(bytes.len() as u64)
}

/// Appends the lines that pi wrote after the first `taken` bytes to the merged file. After the merged file is in place,
/// pi writes to it directly.
///
/// # Errors
/// A file cannot be read or written; the lines are in the trash.
pub(crate) fn take_rest(path: &Path, late: &mut File, mut taken: u64) -> io::Result<()> {
    let mut is_last_look = false;
    loop {
        let rest = rest(late, taken)?;
        if rest.is_empty() && is_last_look {
            return Ok(());
        }
        if rest.is_empty() {
            // pi may have opened its own file earlier and write to it now.
            is_last_look = true;
            sleep(LOOK);
            continue;
        }
        let mut file = open_regular(path, File::options().append(true))?;
        file.write_all(&rest)?;
        file.write_all(if rest.ends_with(b"\n") { b"" } else { b"\n" })?;
        file.sync_all()?;
        taken += rest.len() as u64;
    }
}

/// Reads a file from an offset. Waits a limited time for the end of the last line.
pub(crate) fn rest(file: &mut File, from: u64) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    for _ in 0..LOOKS {
        rest.clear();
        file.seek(SeekFrom::Start(from))?;
        file.read_to_end(&mut rest)?;
        if rest.last().is_none_or(|&last| last == b'\n') {
            break;
        }
        sleep(LOOK);
    }
    Ok(rest)
}

/// Returns the number of bytes of pi's lines after the session `item` in the merged file.
///
/// # Errors
/// A file cannot be read.
pub(super) fn taken(path: &Path, item: &Path, late: &mut File) -> io::Result<u64> {
    let mut session = open(item)?;
    taken_from(path, session.metadata()?.len() + end_of_line(&mut session)?.len() as u64, late)
}

/// Returns the number of bytes of pi's lines in the merged file, where they start at an offset.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn taken_from(path: &Path, start: u64, late: &mut File) -> io::Result<u64> {
    let mut joined = BufReader::new(open(path)?);
    joined.seek(SeekFrom::Start(start))?;
    late.rewind()?;
    let mut late = BufReader::new(late);
    let (mut here, mut there, mut taken) = (Vec::new(), Vec::new(), 0);
    loop {
        here.clear();
        there.clear();
        joined.read_until(b'\n', &mut here)?;
        late.read_until(b'\n', &mut there)?;
        // A missing line break may have been added to the last line of pi.
        if there.is_empty() || here.strip_suffix(b"\n").unwrap_or(&here) != there.strip_suffix(b"\n").unwrap_or(&there)
        {
            return Ok(taken);
        }
        taken += there.len() as u64;
    }
}

/// Returns the line break that a file lacks at its end.
pub(crate) fn end_of_line(file: &mut File) -> io::Result<&'static [u8]> {
    let mut last = *b"\n";
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(if last == *b"\n" { b"" } else { b"\n" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_a_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).unwrap();
            dir.path().join(name)
        };
        let (none, some, all, other) = (write("0", ""), write("1", "ab"), write("2", "abc"), write("3", "xb"));
        for (file, beginning, is) in
            [(&all, &some, true), (&all, &all, true), (&all, &none, true), (&some, &all, false), (&all, &other, false)]
        {
            assert_eq!(has(file, beginning).unwrap(), is);
        }
    }
}
