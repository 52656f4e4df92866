//! A session that comes back where a pi that was running went on: it appends to the path that it knows, so that the new
//! file there has entries and no header (1.5.2). Both become one file, the session's lines first. What pi wrote goes to
//! the trash under a name of its own before the whole takes its place, and there is a file at every moment.

use std::fs::{self, File, FileTimes};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::disk::files::open_regular;
use crate::disk::{create, lines};

/// How often it is looked whether a line that pi is writing has come to its end, and how long between two looks.
const LOOKS: usize = 20;
const LOOK: Duration = Duration::from_millis(10);

/// How much is compared at once, in bytes.
const PIECE: usize = 64 * 1024;

/// The name under which the lines of a pi that went on lie in the trash: no session's.
pub(crate) fn late(path: &Path) -> PathBuf {
    create::beside(path, ".late")
}

/// Whether a place in the trash is that of such lines.
pub(crate) fn is_late(path: &Path, place: &Path) -> bool {
    let (late, name) = (late(path), place.file_name().unwrap_or_default());
    late.file_name().is_some_and(|late| name.as_encoded_bytes().starts_with(late.as_encoded_bytes()))
}

/// Whether a file begins with all that another one holds, or a link is the same as another one.
///
/// # Errors
/// One of them can't be read.
pub(super) fn has(file: &Path, beginning: &Path) -> io::Result<bool> {
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

/// What a file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileStart {
    /// The header of a session.
    Header,
    /// An entry: a pi went on here whose file was gone.
    Entry,
    /// Something else, or nothing; also where there is no file, but a link.
    Other,
}

/// What the file at a path begins with.
///
/// # Errors
/// It can't be read.
pub(crate) fn start(path: &Path) -> io::Result<FileStart> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => return Ok(FileStart::Other),
    }
    let head = lines::head(&mut open(path)?, &mut Vec::new())?;
    Ok(match head.header() {
        Some(_) => FileStart::Header,
        None if head.is_headless() => FileStart::Entry,
        None => FileStart::Other,
    })
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> io::Result<File> {
    open_regular(path, File::options().read(true))
}

/// Writes the session `item` with the whole lines of another file behind it to the draft of `path`, with the mode of the
/// one and the time of the other, on the disk when this returns. Gives how many bytes of the lines are in it.
///
/// # Errors
/// It can't be read or written; nothing of it is left then.
pub(super) fn write_draft(path: &Path, item: &Path, late: &mut File) -> io::Result<u64> {
    let draft = create::draft(path);
    let mut new = create::private().write(true).create_new(true).open(&draft)?;
    let written = (|| {
        let mut session = open(item)?;
        io::copy(&mut session, &mut new)?;
        new.write_all(end_of_line(&mut session)?)?;
        let mut bytes = Vec::new();
        late.rewind()?;
        late.read_to_end(&mut bytes)?;
        // A line that pi is writing now is taken when it is whole.
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
        new.write_all(&bytes)?;
        new.set_permissions(session.metadata()?.permissions())?;
        new.set_times(FileTimes::new().set_modified(late.metadata()?.modified()?))?;
        new.sync_all()?;
        Ok(bytes.len() as u64)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Appends to the joined file what pi wrote into its own one, behind the bytes that were `taken`, until the whole had its
/// place: from then on pi writes into that.
///
/// # Errors
/// It can't be read or written: it is in the trash.
pub(super) fn take_rest(path: &Path, late: &mut File, mut taken: u64) -> io::Result<()> {
    let mut is_last_look = false;
    loop {
        let rest = rest(late, taken)?;
        if rest.is_empty() && is_last_look {
            return Ok(());
        }
        if rest.is_empty() {
            // It may have opened its own file before, and write now.
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

/// What a file holds from an offset on. For the end of a last line it is waited, though not for ever.
fn rest(file: &mut File, from: u64) -> io::Result<Vec<u8>> {
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

/// How many bytes of pi's lines stand behind the session `item` in the joined file.
///
/// # Errors
/// One of them can't be read.
pub(super) fn taken(path: &Path, item: &Path, late: &mut File) -> io::Result<u64> {
    let mut session = open(item)?;
    let start = session.metadata()?.len() + end_of_line(&mut session)?.len() as u64;
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
        // The last line of pi's may have got the line break that it lacked.
        if there.is_empty() || here.strip_suffix(b"\n").unwrap_or(&here) != there.strip_suffix(b"\n").unwrap_or(&there)
        {
            return Ok(taken);
        }
        taken += there.len() as u64;
    }
}

/// The line break that a file lacks at its end.
fn end_of_line(file: &mut File) -> io::Result<&'static [u8]> {
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
