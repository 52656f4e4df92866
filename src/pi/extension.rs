//! The extension with which pi navigates to an entry. It is embedded in pitree and written to the cache for pi.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use crate::disk::{create, new_file};
use crate::system::files as system;

/// The text of the extension.
const TEXT: &str = include_str!("../../assets/pi/goto.ts");

/// Returns the file of the extension in the cache directory, and writes it if needed. Its name is a checksum of its
/// text, so that other versions of pitree and printed commands keep their own files.
///
/// pi executes the file, so it must be in a directory that no other user can write to.
///
/// # Errors
/// The file cannot be written, or another user could replace it.
pub(crate) fn file(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join("pi");
    let was_private = folder.metadata().is_ok_and(|folder| system::is_private(&folder));
    create::private_folder(cache)?;
    create::private_folder(&folder)?;
    let folder = system::private_dir(&folder).map_err(|error| {
        io::Error::new(error.kind(), format!("{error}; set XDG_CACHE_HOME to a directory of your own"))
    })?;
    let path = folder.join(format!("goto-{:016x}.ts", XxHash3_64::oneshot(TEXT.as_bytes())));
    // A file created while others could write to the directory may still be open in their programs.
    let is_ours = was_private && path.symlink_metadata().is_ok_and(|file| file.is_file() && system::is_private(&file));
    if !is_ours || fs::read(&path).is_ok_and(|text| text != TEXT.as_bytes()) {
        new_file::replace(&path, TEXT.as_bytes())?;
    }
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
    #[cfg(unix)]
    #[test]
    fn other_users_cannot_write_to_it() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let temp = tempfile::tempdir().unwrap();
        let parent = temp.path().join("parent");
        let cache = parent.join("cache");
        fs::create_dir_all(cache.join("pi")).unwrap();
        set_mode(&cache.join("pi"), 0o777);
        let path = file(&cache).unwrap();
        assert_eq!(cache.join("pi").metadata().unwrap().mode() & 0o777, 0o700);

        // Another user may still have the formerly writable file open.
        let before = path.metadata().unwrap().ino();
        assert_eq!(file(&cache).unwrap().metadata().unwrap().ino(), before);
        fs::hard_link(&path, cache.join("keeps the inode")).unwrap();
        for unsafe_once in [&path, &cache.join("pi")] {
            set_mode(unsafe_once, 0o777);
            assert_ne!(file(&cache).unwrap().metadata().unwrap().ino(), before, "{}", unsafe_once.display());
            fs::remove_file(&path).unwrap();
            fs::hard_link(cache.join("keeps the inode"), &path).unwrap();
            set_mode(&path, 0o600);
        }

        set_mode(&cache, 0o777);
        assert!(file(&cache).is_ok() && cache.metadata().unwrap().mode() & 0o777 == 0o700);
        set_mode(&parent, 0o777);
        let error = file(&cache).unwrap_err().to_string();
        assert!(error.contains("is writable by all users; set XDG_CACHE_HOME"), "{error}");
        set_mode(&parent, 0o1777);
        assert!(file(&cache).is_ok(), "a sticky directory is safe");

        // Only root can change the owner of a directory.
        if chown(cache.join("pi"), Some(65534), None).is_ok() {
            let error = file(&cache).unwrap_err().to_string();
            assert!(error.contains("belongs to another user"), "{error}");
        }
    }
}
