//! Moves files across file systems: the copy is complete and synced before the original is removed.

use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::path::Path;

use crate::disk::create;
use crate::disk::trash::merge::has;

/// Copies a file, or a symbolic link itself, to a new path with its mode and time, and syncs it.
///
/// # Errors
/// The file cannot be read or written, or changed meanwhile; the incomplete copy is removed.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let before = from.symlink_metadata()?;
    #[cfg(unix)]
    if before.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !before.is_file() {
        return Err(io::Error::other("it is neither a file nor a link"));
    }
    let mut new = create::private().write(true).create_new(true).open(to)?;
    let copied = (|| {
        io::copy(&mut File::open(from)?, &mut new)?;
        new.set_permissions(before.permissions())?;
        new.set_times(FileTimes::new().set_modified(before.modified()?))?;
        new.sync_all()?;
        if !has(from, to)? || is_other(&before, from)? {
            return Err(io::Error::other("it was modified meanwhile"));
        }
        Ok(())
    })();
    copied.inspect_err(|_| drop(fs::remove_file(to)))?;
    create::sync_folder(to);
    Ok(())
}

/// Returns `true` if a file was replaced, or its length or time has changed.
fn is_other(before: &Metadata, path: &Path) -> io::Result<bool> {
    let now = path.symlink_metadata()?;
    Ok(now.len() != before.len() || now.modified()? != before.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_and_keeps_what_the_file_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let bytes: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        fs::write(path("a"), &bytes).unwrap();
        std::os::unix::fs::PermissionsExt::set_mode(&mut fs::metadata(path("a")).unwrap().permissions(), 0o640);
        let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        File::options().append(true).open(path("a")).unwrap().set_modified(then).unwrap();
        copy(&path("a"), &path("b")).unwrap();
        let (a, b) = (fs::metadata(path("a")).unwrap(), fs::metadata(path("b")).unwrap());
        assert_eq!((a.permissions(), b.modified().unwrap()), (b.permissions(), then));
        assert!(fs::read(path("b")).unwrap() == bytes);
        let taken = copy(&path("a"), &path("b")).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        std::os::unix::fs::symlink("nowhere", path("link")).unwrap();
        copy(&path("link"), &path("link 2")).unwrap();
        assert_eq!(fs::read_link(path("link 2")).unwrap(), Path::new("nowhere"));
        assert!(copy(dir.path(), &path("c")).is_err() && !path("c").exists());
    }
}
