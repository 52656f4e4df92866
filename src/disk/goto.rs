//! The extension with which pi goes to an entry by itself: pitree carries it, and pi reads it from a file in the cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use crate::disk::create;

/// Its text.
const TEXT: &str = include_str!("../../assets/pi/goto.ts");

/// The file of the extension in the folder of the cache, for its owner alone. Its name tells what is in it, so that another
/// pitree, and a command line that was printed, keep theirs.
///
/// # Errors
/// It can't be written.
pub(crate) fn file(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join("pi");
    let path = folder.join(format!("goto-{:016x}.ts", XxHash3_64::oneshot(TEXT.as_bytes())));
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file && fs::read(&path).is_ok_and(|text| text == TEXT.as_bytes()) {
        return Ok(path);
    }
    create::private_folder(&folder)?;
    create::replace(&path, TEXT.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_there_is_what_pitree_carries() {
        let cache = tempfile::tempdir().unwrap();
        let path = file(cache.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777, 0o600);
        fs::write(&path, "something else").unwrap();
        assert_eq!(file(cache.path()).unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let other = cache.path().join("other");
            fs::write(&other, "other").unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(&other, &path).unwrap();
            file(cache.path()).unwrap();
            assert!(path.symlink_metadata().unwrap().is_file());
            assert_eq!(fs::read_to_string(&other).unwrap(), "other", "a link is not followed");
        }
    }
}
