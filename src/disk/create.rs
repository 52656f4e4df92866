//! Creates new files atomically and with minimal permissions, and temporary copies.

use std::env;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use crate::disk::files;
use crate::system::files as system_files;
pub(crate) use crate::system::files::{make_private, sync_names};

/// Returns options that create a file accessible only by its owner.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    system_files::for_owner(&mut options);
    options
}

/// Creates a private directory with its parents, or makes an existing directory private.
///
/// # Errors
/// The directory cannot be created, or others can write to it and this cannot be changed.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    folders(folder)?;
    system_files::close_folder(folder)
}

/// Creates a directory and its missing parents, accessible only by the owner regardless of the umask. Existing
/// directories are unchanged.
///
/// # Errors
/// A directory cannot be created.
pub(crate) fn folders(folder: &Path) -> io::Result<()> {
    // An empty path is the working directory.
    let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.is_dir();
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !is_there(folder)).collect();
    for folder in missing.into_iter().rev() {
        match system_files::make_folder(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {} // created meanwhile
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates the missing parents of a file, and syncs their names.
///
/// # Errors
/// A directory cannot be created or synced.
pub(crate) fn synced_folders(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.is_dir()).collect();
    folders(folder)?;
    missing.into_iter().rev().try_for_each(sync_folder_of)
}

/// The suffixes of the names that other versions of a session have in the trash: lines that a pi wrote late, and the
/// versions before and after a rewrite.
pub(crate) const LATE: &str = ".late";
pub(crate) const ORIGINAL: &str = ".original";
pub(crate) const REWRITTEN: &str = ".rewritten";

/// The suffixes of the versions before and after a conversion, without the format version.
pub(crate) const VERSION: &str = ".v";

/// Appends a suffix to a path.
pub(crate) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// The number of random hexadecimal digits in the names that only pitree gives.
const DIGITS: usize = 16;

/// Returns a new name next to a file that no user gives: a random number and a suffix are appended.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn unique(path: &Path, suffix: &str) -> io::Result<PathBuf> {
    let mut random = [0; DIGITS / 2];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(beside(path, &format!(".{:0DIGITS$x}{suffix}", u64::from_ne_bytes(random))))
}

/// Returns the existing files with names like those of [`unique`].
pub(crate) fn uniques(path: &Path, suffix: &str) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_unique = |file: &fs::DirEntry| {
        let file = file.file_name();
        let digits = file.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let digits = digits.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(suffix.as_bytes()));
        digits.is_some_and(|digits| digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit))
    };
    files::entries(folder).filter(is_unique).map(|file| file.path()).collect()
}

/// Creates a hard link, or a copy with its mode and time on file systems without hard links.
///
/// # Errors
/// The target exists, or the file system fails; nothing is left at the target.
pub(crate) fn second_name(path: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(path, to).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => copy(path, to),
    })
}

/// Copies a file, or a symbolic link itself, to a new path with its mode and time, and syncs it.
///
/// # Errors
/// The target exists, a file cannot be read or written, or it changed meanwhile; an incomplete copy is removed.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let before = from.symlink_metadata()?;
    if before.is_symlink() {
        return system_files::link(&fs::read_link(from)?, to);
    }
    if !before.is_file() {
        return Err(io::Error::other("it is neither a file nor a link"));
    }
    let mut new = private().write(true).create_new(true).open(to)?;
    let copied = (|| {
        io::copy(&mut File::open(from)?, &mut new)?;
        new.set_permissions(before.permissions())?;
        new.set_times(FileTimes::new().set_modified(before.modified()?))?;
        new.sync_all()?;
        let now = from.symlink_metadata()?;
        let is_same = now.len() == before.len() && now.modified()? == before.modified()?;
        if is_same && starts_with(to, from)? { Ok(()) } else { Err(io::Error::other("it was modified meanwhile")) }
    })();
    copied.inspect_err(|_| drop(fs::remove_file(to)))?;
    sync_folder(to);
    Ok(())
}

/// The number of bytes compared at once.
const PIECE: usize = 64 * 1024;

/// Returns `true` if a file starts with the content of another file, or both are equal symbolic links.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn starts_with(file: &Path, beginning: &Path) -> io::Result<bool> {
    let is_link = |path: &Path| Ok::<_, io::Error>(path.symlink_metadata()?.is_symlink());
    if is_link(file)? || is_link(beginning)? {
        return Ok(is_link(file)? && is_link(beginning)? && fs::read_link(file)? == fs::read_link(beginning)?);
    }
    let open = |path| Ok::<_, io::Error>(BufReader::with_capacity(PIECE, File::open(path)?));
    let (mut file, mut beginning) = (open(file)?, open(beginning)?);
    skip_same(&mut file, &mut beginning)?;
    Ok(beginning.fill_buf()?.is_empty())
}

/// Reads two files as long as they have the same bytes.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn skip_same(one: &mut impl BufRead, other: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 || left[..length] != right[..length] {
            return Ok(());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Renames a file within a file system; never replaces an existing file.
///
/// # Errors
/// The target exists, or the file system fails.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match system_files::rename_new(from, to) {
        // Some file systems do not support this operation.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
        renamed => return renamed,
    }
    match fs::hard_link(from, to) {
        Ok(()) => {
            sync_folder(to); // sync the new name before removing the old one
            fs::remove_file(from).inspect_err(|_| drop(fs::remove_file(to)))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links either.
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Syncs the directory of a file, and ignores errors on file systems that cannot sync directories.
pub(crate) fn sync_folder(of: &Path) {
    let _ = sync_folder_of(of);
}

/// Syncs the directory of a file.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), sync_names)
}

/// Creates a private directory with a random name for temporary files.
///
/// # Errors
/// The directory cannot be created.
pub(crate) fn temp_folder(prefix: &str) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let folder = env::temp_dir().join(format!("{prefix}{:016x}", u64::from_ne_bytes(random)));
    // The directory must be new, because an existing directory is not trusted.
    system_files::make_folder(&folder)?;
    Ok(folder)
}

/// A copy of a text for another program, in a private temporary directory that is removed on drop with all files in it.
#[derive(Debug)]
pub(crate) struct TempCopy {
    folder: PathBuf,
    pub(crate) file: PathBuf,
}

impl TempCopy {
    /// Writes a file with this name in a new temporary directory.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn new(name: &str, content: &[u8]) -> io::Result<Self> {
        let folder = temp_folder("pitree-")?;
        let copy = Self { file: folder.join(name), folder };
        let mut file = private().write(true).create_new(true).open(&copy.file)?;
        file.write_all(content)?;
        Ok(copy)
    }

    /// Keeps the file for a program that outlives this one, and returns its path.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.folder = PathBuf::new();
        std::mem::take(&mut self.file)
    }

    /// Returns the current text; `None` if it cannot be read.
    pub(crate) fn text(&self) -> Option<String> {
        fs::read_to_string(&self.file).ok()
    }
}

impl Drop for TempCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // a remaining copy is still private
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[cfg(unix)]
    fn mode_of(path: &Path) -> Option<u32> {
        fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o777)
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_are_there_stay_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let there = dir.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::set_permissions(&there, fs::Permissions::from_mode(0o755)).unwrap();
        folders(&there.join("a/b")).unwrap();
        folders(&there.join("a/b")).unwrap();
        assert_eq!(["", "a", "a/b"].map(|path| mode_of(&there.join(path))), [0o755, 0o700, 0o700].map(Some));
        fs::write(there.join("file"), "").unwrap();
        assert!(folders(&there.join("file")).is_err() && folders(&there.join("file/a")).is_err());
    }

    #[test]
    fn a_copy_is_its_owners_and_goes() {
        let copy = TempCopy::new("entry.txt", b"text\n").unwrap();
        let folder = copy.folder.clone();
        assert_eq!(fs::read_to_string(&copy.file).unwrap(), "text\n");
        assert_eq!(copy.text().as_deref(), Some("text\n"));
        #[cfg(unix)]
        for (path, mode) in [(&copy.file, 0o600), (&folder, 0o700)] {
            assert_eq!(mode_of(path), Some(mode));
        }
        fs::write(folder.join("entry.txt.swp"), "left by an editor").unwrap();
        drop(copy);
        assert!(!folder.exists());
    }

    #[cfg(unix)]
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
            assert_eq!(starts_with(file, beginning).unwrap(), is);
        }
    }
}
