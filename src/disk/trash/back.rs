//! What the trash holds, and how it gives something back.

use std::fmt;
#[cfg(all(unix, not(target_os = "macos")))]
use std::fs;
#[cfg(all(unix, not(target_os = "macos")))]
use std::io;
#[cfg(all(unix, not(target_os = "macos")))]
use std::path::Path;
use std::path::PathBuf;

#[cfg(all(unix, not(target_os = "macos")))]
use crate::disk::create;
#[cfg(all(unix, not(target_os = "macos")))]
use crate::disk::trash::over;
pub(crate) use system::Contents;

/// The trash has nothing to give back, or nowhere to give it to, and will not have it later by itself.
#[derive(Debug)]
pub(crate) enum NotBack {
    /// The file is not in the trash.
    Emptied(PathBuf),
    /// There is another file in its place.
    Taken(PathBuf),
}

impl fmt::Display for NotBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emptied(path) => {
                write!(f, "{} is not in the trash: it was emptied, or another trash took the file", path.display())
            }
            Self::Taken(path) => {
                write!(f, "there is a file in its place, which stays as it is: {}", path.display())
            }
        }
    }
}

impl std::error::Error for NotBack {}

/// The reason without the words for programmers.
pub(super) fn in_words(error: &trash::Error) -> String {
    match error {
        trash::Error::Unknown { description } | trash::Error::Os { description, .. } => description.clone(),
        #[cfg(all(unix, not(target_os = "macos")))]
        trash::Error::FileSystem { path, source } => format!("{}: {source}", path.display()),
        trash::Error::CouldNotAccess { target } => format!("can't reach {target}"),
        other => other.to_string(),
    }
}

/// Systems whose trash can be asked what it holds.
#[cfg(any(windows, all(unix, not(target_os = "macos"))))]
mod system {
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    use anyhow::{Context, Result, anyhow};
    use trash::{TrashItem, TrashItemSize, os_limited};

    use crate::base::guard;
    #[cfg(unix)]
    use crate::disk::trash::back::restore;
    use crate::disk::trash::back::{NotBack, in_words};

    /// What is in the trash, by where it was.
    pub(crate) struct Contents(HashMap<PathBuf, Vec<TrashItem>>);

    impl Contents {
        /// Looks into the trash.
        ///
        /// # Errors
        /// It can't be read.
        pub(crate) fn read() -> Result<Self> {
            // The crate panics at mount points whose names are no Unicode (5.2).
            let items = guard::caught(os_limited::list).map_err(|why| anyhow!(why))?;
            let items = items.map_err(|error| anyhow!(in_words(&error)));
            let mut by_path = HashMap::<PathBuf, Vec<TrashItem>>::new();
            for item in items.context("can't look into the trash")? {
                by_path.entry(item.original_path()).or_default().push(item);
            }
            Ok(Self(by_path))
        }

        /// Takes a file back to where it was, which is `known` to the trash: the one that was removed last, of those
        /// with at least so many bytes.
        ///
        /// # Errors
        /// It is not in the trash, or can't be moved: then it stays there.
        pub(crate) fn take_back(&mut self, path: &Path, known: &Path, at_least: u64) -> Result<()> {
            let is_whole = |item: &TrashItem| {
                let size = os_limited::metadata(item).map(|metadata| metadata.size);
                matches!(size, Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least)
            };
            let items = self.0.get(known).into_iter().flatten().filter(|item| is_whole(item));
            // Of those removed in the same second, on Unix the one whose note was written last.
            let written = |item: &TrashItem| std::fs::metadata(&item.id).and_then(|info| info.modified()).ok();
            let Some(item) = items.max_by_key(|item| (item.time_deleted, written(item))) else {
                return Err(NotBack::Emptied(path.into()).into());
            };
            by_system(item, known).with_context(|| format!("can't take {} back from the trash", path.display()))
        }
    }

    #[cfg(unix)]
    fn by_system(item: &TrashItem, to: &Path) -> Result<()> {
        let info = Path::new(&item.id);
        let in_trash = || Some(info.parent()?.parent()?.join("files").join(info.file_stem()?));
        let in_trash = in_trash().with_context(|| format!("{} is in no trash", info.display()))?;
        Ok(restore(&in_trash, info, to)?)
    }

    #[cfg(not(unix))]
    fn by_system(item: &TrashItem, _to: &Path) -> Result<()> {
        os_limited::restore_all([item.clone()]).map_err(|error| anyhow!(in_words(&error)))
    }
}

/// Takes what lies in the trash, with a note of it, to a place where nothing is. From another file system it is copied to
/// a draft beside the place first: under its name there is all of it or nothing, and never in place of another file.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn restore(item: &Path, info: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        create::folders(folder)?;
    }
    match create::rename(item, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let draft = create::draft(to);
            over::copy(item, &draft)?;
            create::rename(&draft, to).inspect_err(|_| drop(fs::remove_file(&draft)))?;
            create::sync_folder(to);
            let _ = fs::remove_file(item); // a second one in the trash is of no harm
        }
        renamed => renamed?,
    }
    let _ = fs::remove_file(info);
    Ok(())
}

/// Systems whose trash only a person can take things from.
#[cfg(not(any(windows, all(unix, not(target_os = "macos")))))]
mod system {
    use std::path::Path;

    use anyhow::{Result, bail};

    pub(crate) struct Contents;

    impl Contents {
        #[allow(clippy::unnecessary_wraps, reason = "others may fail")]
        pub(crate) fn read() -> Result<Self> {
            Ok(Self)
        }

        pub(crate) fn take_back(&mut self, path: &Path, _known: &Path, _at_least: u64) -> Result<()> {
            bail!("this system's trash gives nothing back to programs: put {} back by hand", path.display())
        }
    }
}
