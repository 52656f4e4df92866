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
    #[cfg_attr(target_os = "macos", allow(dead_code, reason = "its trash tells nothing"))]
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

/// The trashes of the FreeDesktop specification: that of the home, and others by the crate `trash`.
#[cfg(all(unix, not(target_os = "macos")))]
mod system {
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    use anyhow::{Context, Result, bail};

    use crate::base::guard;
    use crate::disk::trash::back::{NotBack, in_words, restore};
    use crate::disk::trash::home::{self, Lying};

    /// What is in the trash, by where it was.
    pub(crate) struct Contents {
        items: HashMap<PathBuf, Vec<Lying>>,
        /// Why only that in the home trash is known.
        others: Result<(), String>,
    }

    impl Contents {
        /// Looks into the trash.
        ///
        /// # Errors
        /// It can't be read.
        pub(crate) fn read() -> Result<Self> {
            let mut lying = home::lying().context("can't look into the trash")?;
            // The crate panics at mount points whose names are no Unicode (5.3): those of the home come back all the same.
            let others = guard::caught(trash::os_limited::list);
            let others = others.and_then(|others| others.map_err(|error| in_words(&error))).map(|others| {
                lying.extend(others.into_iter().map(|item| Lying {
                    path: item.original_path(),
                    time: item.time_deleted,
                    info: item.id.into(),
                }));
            });
            let mut items = HashMap::<PathBuf, Vec<Lying>>::new();
            for item in lying {
                items.entry(item.path.clone()).or_default().push(item);
            }
            Ok(Self { items, others })
        }

        /// Takes a file back to where it was, which is `known` to the trash: the one that was removed last, of those
        /// with at least so many bytes.
        ///
        /// # Errors
        /// It is not in the trash, or can't be moved: then it stays there.
        pub(crate) fn take_back(&mut self, path: &Path, known: &Path, at_least: u64) -> Result<()> {
            let is_whole = |(item, _): &(PathBuf, &Lying)| {
                item.symlink_metadata().is_ok_and(|item| !item.is_dir() && item.len() >= at_least)
            };
            let places = self.items.get(known).into_iter().flatten().filter_map(|lying| Some((place(lying)?, lying)));
            // Of those removed in the same second the one whose note was written last.
            let written = |info: &Path| info.metadata().and_then(|info| info.modified()).ok();
            let last = places.filter(is_whole).max_by_key(|(_, lying)| (lying.time, written(&lying.info)));
            match (last, &self.others) {
                (Some((item, lying)), _) => restore(&item, &lying.info, known)
                    .with_context(|| format!("can't take {} back from the trash", path.display())),
                (None, Ok(())) => Err(NotBack::Emptied(path.into()).into()),
                (None, Err(why)) => {
                    bail!("{} is not in the home trash, and others can't be looked into: {why}", path.display())
                }
            }
        }
    }

    /// Where the file lies that a note is of.
    fn place(lying: &Lying) -> Option<PathBuf> {
        Some(lying.info.parent()?.parent()?.join("files").join(lying.info.file_stem()?))
    }
}

/// The recycle bin.
#[cfg(windows)]
mod system {
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    use anyhow::{Context, Result, anyhow};
    use trash::{TrashItem, TrashItemSize, os_limited};

    use crate::disk::trash::back::{NotBack, in_words};

    /// What is in the trash, by where it was.
    pub(crate) struct Contents(HashMap<PathBuf, Vec<TrashItem>>);

    impl Contents {
        pub(crate) fn read() -> Result<Self> {
            let items = os_limited::list().map_err(|error| anyhow!(in_words(&error)));
            let mut by_path = HashMap::<PathBuf, Vec<TrashItem>>::new();
            for item in items.context("can't look into the trash")? {
                by_path.entry(item.original_path()).or_default().push(item);
            }
            Ok(Self(by_path))
        }

        pub(crate) fn take_back(&mut self, path: &Path, known: &Path, at_least: u64) -> Result<()> {
            let is_whole = |item: &TrashItem| {
                let size = os_limited::metadata(item).map(|metadata| metadata.size);
                matches!(size, Ok(TrashItemSize::Bytes(bytes)) if bytes >= at_least)
            };
            let items = self.0.get(known).into_iter().flatten().filter(|item| is_whole(item));
            let Some(item) = items.max_by_key(|item| item.time_deleted) else {
                return Err(NotBack::Emptied(path.into()).into());
            };
            let restored = os_limited::restore_all([item.clone()]).map_err(|error| anyhow!(in_words(&error)));
            restored.with_context(|| format!("can't take {} back from the trash", path.display()))
        }
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
