//! The home trash of the FreeDesktop specification, which pitree implements itself. A demo uses one in its directory on
//! all systems. Otherwise, files have no known places on other systems, and nothing here is called. The name in the
//! trash is chosen before the file moves, so that the journal can record it. Files on other file systems are copied.
//! The crate `trash` does neither, and looks up mount points for every file.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::base::path_context::PathContext;
use crate::disk::new_file::Draft;
use crate::disk::{create, demo, files, vacated};
use crate::system::{self, os};

/// The home trash during one request.
#[derive(Default)]
pub(crate) struct HomeTrash {
    /// The directory, once it exists.
    folder: Option<PathBuf>,
    /// The next suffix to try for each name.
    taken: HashMap<OsString, usize>,
    /// Trash info files that are not synced yet.
    fresh: Vec<PathBuf>,
}

impl HomeTrash {
    /// Chooses an unused place for a file of this name.
    ///
    /// # Errors
    /// There is no home trash and it cannot be created.
    pub(crate) fn choose(&mut self, path: &Path) -> Result<PathBuf> {
        let folder = match &self.folder {
            Some(folder) => folder.clone(),
            None => {
                let folder = folder()?;
                for part in ["files", "info"].map(|name| folder.join(name)) {
                    create::folders(&part).path_context("cannot create", part)?;
                }
                self.folder.insert(folder).clone()
            }
        };
        let name = path.file_name().with_context(|| format!("{} has no name", path.display()))?;
        let taken = self.taken.entry(name.to_owned()).or_default();
        loop {
            *taken += 1;
            let mut free = name.to_owned();
            if *taken > 1 {
                free.push(format!(".{taken}"));
            }
            let item = folder.join("files").join(free);
            let info = info_of(&item).context("a trash place has an info file")?;
            if item.symlink_metadata().is_err() && info.symlink_metadata().is_err() {
                return Ok(item);
            }
        }
    }

    /// Reserves a chosen place by writing a trash info file with the path and the deletion time. The directory of
    /// `path` has no symbolic links. Returns `false` if another program took the place first.
    ///
    /// # Errors
    /// The trash info file cannot be written.
    pub(crate) fn claim(&mut self, path: &Path, item: &Path, time: i64) -> Result<bool> {
        let info = info_of(item).context("a trash place has an info file")?;
        let time = Timestamp::from_millisecond(time)?.to_zoned_datetime(TimeZone::system());
        let note =
            format!("[Trash Info]\nPath={}\nDeletionDate={}\n", encoded(path), time.strftime("%Y-%m-%dT%H:%M:%S"));
        // The trash info file reserves the name. Other programs can leave files without one.
        match write_new(&info, note.as_bytes()) {
            Ok(()) if item.symlink_metadata().is_err() => {
                self.fresh.push(info);
                Ok(true)
            }
            Ok(()) => fs::remove_file(&info).map(|()| false).path_context("cannot remove", info),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error).path_context("cannot write", info),
        }
    }

    /// Syncs the trash info files before the files are moved.
    ///
    /// # Errors
    /// The disk fails.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(info) = fresh.first() else { return Ok(()) };
        let synced = os::sync_all(&fresh).and_then(|()| create::sync_folder_of(info));
        synced.path_context("cannot write to", info)
    }
}

/// Moves a file to its place in the trash. On another file system, it is copied, and the original is vacated: returns
/// its present path.
///
/// # Errors
/// The file cannot be moved; it is unchanged and the place is released.
pub(super) fn put(path: &Path, item: &Path) -> Result<Option<PathBuf>> {
    let moved = match create::rename(path, item) {
        // The original loses its name only after the copy is known to be complete.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            create::copy(path, item).and_then(|()| vacate(path).inspect_err(|_| drop(fs::remove_file(item))))
        }
        moved => moved.map(|()| None),
    };
    moved.inspect_err(|_| give_up(item)).path_context("cannot move it to", item)
}

/// Takes the name from a file that was copied. Returns its present path, unless it is a symbolic link.
fn vacate(path: &Path) -> io::Result<Option<PathBuf>> {
    if path.symlink_metadata()?.is_symlink() {
        return fs::remove_file(path).map(|()| None);
    }
    if vacated::is_vacated_path(path) {
        return Ok(Some(path.into())); // a second name of a file that is still in place
    }
    vacated::vacate(path).map(Some)
}

/// Releases an unused place in the trash.
pub(crate) fn give_up(item: &Path) {
    if item.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        forget(item);
    }
}

/// Moves a file from its place to a new path. From another file system, it is first copied to a draft, so that the new
/// path has the complete file or none. Never replaces another file.
///
/// # Errors
/// The file cannot be moved and stays in the trash.
pub(super) fn move_back(item: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        create::folders(folder)?;
    }
    match create::rename(item, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_back(item, to)?;
            let _ = fs::remove_file(item); // a second copy in the trash is harmless
        }
        renamed => renamed?,
    }
    Ok(())
}

/// Copies a file from the trash to another file system with its mode and time.
fn copy_back(item: &Path, to: &Path) -> io::Result<()> {
    if item.symlink_metadata()?.is_symlink() {
        return create::copy(item, to);
    }
    let mut draft = Draft::of(to)?;
    let mut session = files::open_regular(item, fs::File::options().read(true))?;
    io::copy(&mut session, &mut draft)?;
    let found = session.metadata()?;
    draft.file.set_permissions(found.permissions())?;
    draft.file.set_modified(found.modified()?)?;
    draft.file.sync_all()?;
    draft.place(to)
}

/// Removes the trash info file of a restored file.
pub(super) fn forget(item: &Path) {
    let _ = info_of(item).map(fs::remove_file); // an orphaned trash info file is harmless
}

/// Returns the path of the trash info file of a place.
pub(super) fn info_of(item: &Path) -> Option<PathBuf> {
    let name = create::beside(Path::new(item.file_name()?), ".trashinfo");
    Some(item.parent()?.parent()?.join("info").join(name))
}

/// A trashed file according to its trash info file.
pub(crate) struct TrashedFile {
    /// The path before the deletion.
    pub(crate) path: PathBuf,
    /// The deletion time in seconds since 1970; -1 if unknown.
    pub(super) time: i64,
}

impl TrashedFile {
    /// Returns `true` if it is a file with one of these paths, deleted at a time in milliseconds since 1970.
    ///
    /// Trash info files have local times without an offset. After a change of the time zone, the time therefore differs
    /// by a multiple of 15 minutes.
    pub(crate) fn is_of(&self, paths: &[&Path], time: i64) -> bool {
        const QUARTER: i64 = 15 * 60;
        const MAX_OFFSET: i64 = 26 * 60 * 60;
        let shift = self.time - time.div_euclid(1000);
        paths.contains(&&*self.path) && shift % QUARTER == 0 && shift.abs() <= MAX_OFFSET
    }
}

/// Parses a trash info file.
pub(super) fn read(info: &Path) -> Option<TrashedFile> {
    if !info.symlink_metadata().ok()?.is_file() {
        return None; // reading a pipe would block
    }
    let note = fs::read(info).ok()?;
    let mut lines = note.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.next().filter(|line| *line == b"[Trash Info]")?;
    let value = |key: &[u8]| lines.clone().find_map(|line| line.strip_prefix(key));
    let path = decoded(value(b"Path=")?);
    let time = value(b"DeletionDate=").and_then(|date| str::from_utf8(date).ok()?.parse::<DateTime>().ok());
    let time = time.and_then(|time| time.to_zoned_datetime(TimeZone::system()).ok());
    let time = time.map_or(-1, |time| time.timestamp().as_second());
    path.is_absolute().then_some(TrashedFile { path, time })
}

/// Returns the path of the home trash.
fn folder() -> Result<PathBuf> {
    if let Some(root) = demo::entered() {
        return Ok(root.join("trash"));
    }
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = match set("XDG_DATA_HOME") {
        Some(data) if data.is_relative() => bail!("XDG_DATA_HOME is not an absolute path: {}", data.display()),
        Some(data) => data,
        None => set("HOME").context("cannot locate the trash; set HOME or XDG_DATA_HOME")?.join(".local/share"),
    };
    Ok(data.join("Trash"))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create::private().write(true).create_new(true).open(path)?;
    let written = create::make_private(&file).and_then(|()| file.write_all(bytes));
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

/// Decodes a path that [`encoded`] or another program wrote.
fn decoded(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        let hex = behind.get(..2).filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit));
        let byte = hex.and_then(|hex| u8::from_str_radix(str::from_utf8(hex).ok()?, 16).ok());
        path.push(byte.unwrap_or(*first));
        rest = &behind[if byte.is_some() { 2 } else { 0 }..];
    }
    system::files::path_of(path).unwrap_or_default()
}

/// Percent-encodes a path.
fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => text.push(byte.into()),
            other => text += &format!("%{other:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_are_encoded_by_their_bytes() {
        use std::os::unix::ffi::OsStringExt;
        let path = Path::new("/a b/é%\n=.jsonl");
        assert_eq!(encoded(path), "/a%20b/%C3%A9%25%0A%3D.jsonl");
        assert_eq!(decoded(encoded(path).as_bytes()), path);
        assert_eq!(decoded("/é%%4%zz%c3%A9%".as_bytes()), Path::new("/é%%4%zzé%"));
        let odd = PathBuf::from(OsString::from_vec(b"/\xff".to_vec()));
        assert_eq!(decoded(encoded(&odd).as_bytes()), odd);
    }

    #[test]
    fn notes_are_read_as_others_write_them() {
        let dir = tempfile::tempdir().unwrap();
        let note = |text: &str| {
            let info = dir.path().join("s.trashinfo");
            fs::write(&info, text).unwrap();
            read(&info).map(|file| (file.path, file.time))
        };
        let then = DateTime::constant(2026, 1, 5, 9, 0, 0, 0).to_zoned_datetime(TimeZone::system()).unwrap();
        let then = then.timestamp().as_second();
        assert_eq!(
            note("[Trash Info]\r\nX=1\nPath=/a%20b\nPath=/c\nDeletionDate=2026-01-05T09:00:00\n"),
            Some(("/a b".into(), then))
        );
        assert_eq!(note("[Trash Info]\nDeletionDate=?\nPath=/a"), Some(("/a".into(), -1)));
        for other in ["", "Path=/a", "[Trash Info]\nPath=a", "[Trash Info]\n"] {
            assert_eq!(note(other), None, "{other}");
        }
        assert!(read(dir.path()).is_none());
    }

    #[test]
    fn a_place_that_is_not_used_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let trash = dir.path().join("Trash");
        for name in ["files", "info"] {
            fs::create_dir_all(trash.join(name)).unwrap();
        }
        let mut home = HomeTrash { folder: Some(trash.clone()), ..HomeTrash::default() };
        fs::write(trash.join("files/s.jsonl"), "without a note").unwrap();
        let item = home.choose(Path::new("/a/s.jsonl")).unwrap();
        assert_eq!(item, trash.join("files/s.jsonl.2"));
        assert!(!home.claim(Path::new("/a/s.jsonl"), &trash.join("files/s.jsonl"), 0).unwrap(), "there is a file");
        assert!(home.claim(Path::new("/a/s.jsonl"), &item, 0).unwrap());
        assert!(!home.claim(Path::new("/a/s.jsonl"), &item, 0).unwrap(), "there is a note");
        home.sync().unwrap();
        assert!(put(Path::new("/no/such/file"), &item).is_err());
        assert_eq!(fs::read_dir(trash.join("info")).unwrap().count(), 0);
        let file = dir.path().join("file");
        fs::write(&file, "one").unwrap();
        let item = home.choose(&file).unwrap();
        assert!(home.claim(&file, &item, 0).unwrap());
        put(&file, &item).unwrap();
        give_up(&item);
        assert!(item.exists() && info_of(&item).unwrap().exists() && !file.exists());
    }
}
