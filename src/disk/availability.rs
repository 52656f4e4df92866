//! Checks whether files exist, are missing, or are inaccessible. An inaccessible file is not missing.

use std::fs;
use std::io;
use std::path::Path;

/// Returns `true` if a path exists, including dangling symbolic links.
///
/// # Errors
/// The answer is unknown: a directory cannot be entered, the disk fails, or is probably not mounted.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match left_empty(path) {
            Some(folder) => Err(io::Error::other(format!(
                "{} is empty; mount its disk, or recreate the file's parent directory",
                folder.display()
            ))),
            None => Ok(false),
        },
        Err(error) => Err(error),
    }
}

/// If the directory of a file is missing, returns its nearest existing parent if that is empty, like an unused mount
/// point.
fn left_empty(path: &Path) -> Option<&Path> {
    let is_there = |folder: &&Path| folder.symlink_metadata().is_ok();
    let above = path.ancestors().skip(1).find(is_there)?;
    let is_empty = || fs::read_dir(above).is_ok_and(|mut entries| entries.next().is_none());
    (Some(above) != path.parent() && is_empty()).then_some(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_reached_is_not_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, other) = (dir.path().join("disk"), dir.path().join("other"));
        fs::create_dir_all(&disk).unwrap();
        fs::create_dir_all(other.join("project")).unwrap();
        fs::write(other.join("file"), "").unwrap();
        for gone in [disk.join("a"), other.join("a"), other.join("project/a"), other.join("another/a")] {
            assert_eq!(is_there(&gone).ok(), Some(false), "{}", gone.display());
        }
        assert!(is_there(&disk.join("project/a")).unwrap_err().to_string().contains("mount it"));
        assert!(is_there(&disk.join("sessions/project/a")).is_err());
        assert!(is_there(&other.join("file/a")).is_err(), "no folder");
        assert_eq!(is_there(&other).ok(), Some(true));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", disk.join("link")).unwrap();
            assert_eq!(is_there(&disk.join("link")).ok(), Some(true));
        }
    }
}
