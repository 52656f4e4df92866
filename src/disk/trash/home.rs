//! The home trash of the FreeDesktop specification, for many files at once: the crate `trash` looks for the mount points
//! again with every file, and for each of several files of one name (those of sub-agents are all `session.jsonl`)
//! through all names that the others got.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::disk::create;

/// The home trash during one request.
pub(super) struct Home {
    now: i64,
    /// Its folder once it is there; `None` inside if there can't be one.
    folder: Option<Option<PathBuf>>,
    /// How often a name is taken, as far as it was tried.
    taken: HashMap<OsString, usize>,
}

impl Home {
    /// For files that are removed at a time in milliseconds since 1970.
    pub(super) fn new(now: i64) -> Self {
        Self { now, folder: None, taken: HashMap::new() }
    }

    /// Moves a file there, without links in the path of its folder; `None` if that is not possible, as from another file
    /// system: then nothing has changed.
    pub(super) fn put(&mut self, path: &Path) -> Option<()> {
        let folder = self.folder.get_or_insert_with(prepared).clone()?;
        let name = path.file_name()?;
        let info_text = self.info(path)?;
        let taken = self.taken.entry(name.to_owned()).or_default();
        loop {
            *taken += 1;
            let mut free = name.to_owned();
            if *taken > 1 {
                free.push(format!(".{taken}"));
            }
            let mut info = free.clone();
            info.push(".trashinfo");
            let (info, file) = (folder.join("info").join(info), folder.join("files").join(free));
            // The name is ours as soon as there is a file of it in `info`.
            match write_new(&info, info_text.as_bytes())
                .and_then(|()| create::rename(path, &file).inspect_err(|_| drop(fs::remove_file(&info))))
            {
                Ok(()) => return Some(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
    }

    /// What the trash has to know of a file.
    fn info(&self, path: &Path) -> Option<String> {
        let time = Timestamp::from_millisecond(self.now).ok()?.to_zoned(TimeZone::system());
        let time = time.strftime("%Y-%m-%dT%H:%M:%S");
        Some(format!("[Trash Info]\nPath={}\nDeletionDate={time}\n", encoded(path)))
    }
}

/// The folder of the home trash, where the crate looks for it as well, with what has to be in it.
fn prepared() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
    let folder = data.join("Trash");
    let is_made = |name| DirBuilder::new().recursive(true).mode(0o700).create(folder.join(name)).is_ok();
    (folder.is_absolute() && is_made("files") && is_made("info")).then_some(folder)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes).inspect_err(|_| drop(fs::remove_file(path)))
}

/// A path as a URL has it: what is not plain ASCII by its bytes.
fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
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

    #[test]
    fn paths_are_encoded_by_their_bytes() {
        assert_eq!(encoded(Path::new("/a b/é%\n=.jsonl")), "/a%20b/%C3%A9%25%0A%3D.jsonl");
    }
}
