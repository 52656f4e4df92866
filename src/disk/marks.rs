//! The file of lasting marks in pitree's data directory. It is replaced atomically under a lock. An invalid file is never
//! replaced, because it has data of the user.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::disk::fingerprint::FileMetadata;
use crate::disk::lock::LockObserver;
use crate::disk::watch::Watch;
use crate::disk::{create, new_file, state};
use crate::session::marks::Marks;

/// The current marks, read when they are first needed.
pub(crate) struct CurrentMarks<'a> {
    path: &'a Path,
    marks: OnceCell<Option<Marks>>,
}

impl<'a> CurrentMarks<'a> {
    /// Creates it with the file of marks.
    pub(crate) fn new(path: &'a Path) -> Self {
        Self { path, marks: OnceCell::new() }
    }

    /// Returns the marks, or `None` if they cannot be read.
    pub(crate) fn get(&self) -> Option<&Marks> {
        self.marks.get_or_init(|| read(self.path).ok()).as_ref()
    }
}

/// Returns the path of the file in pitree's data directory.
pub(crate) fn file(data: &Path) -> PathBuf {
    data.join("marks.json")
}

/// Reads the marks. Without a file, there are none.
///
/// # Errors
/// The file cannot be read, is not valid, or was written by a newer pitree.
pub(crate) fn read(path: &Path) -> Result<Marks> {
    state::read(path).map_err(with_help).context("cannot read the marks of sessions")
}

/// Reads, modifies and writes the marks under the lock, unless `change` returns `false`. `wait` is notified about another
/// program that has the lock.
///
/// # Errors
/// The errors of [`read`] or of `change`, or the file cannot be locked or written; it is unchanged then.
pub(crate) fn update(
    path: &Path,
    wait: LockObserver<'_>,
    change: impl FnOnce(&mut Marks) -> Result<bool>,
) -> Result<()> {
    let unwritten = "cannot write the marks of sessions";
    let _lock = state::locked(path, wait).context(unwritten)?;
    let mut marks = read(path)?;
    if change(&mut marks)? {
        state::write(path, &marks).with_context(|| format!("{unwritten} in {}", path.display()))?;
    }
    Ok(())
}

/// Reports the marks whenever another program may have changed them, until `on_marks` returns `false`. A file that cannot be
/// read is skipped.
pub(crate) fn follow(path: &Path, mut on_marks: impl FnMut(Marks) -> bool) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let _ = create::private_folder(folder); // without it, nothing is reported
    let mut watch = Watch::files_in(folder);
    let mut last = None;
    loop {
        let now = FileMetadata::of(path).ok();
        if now != last {
            last = now;
            if let Ok(marks) = read(path)
                && !on_marks(marks)
            {
                return;
            }
        }
        watch.wait(None);
    }
}

/// Returns marks as JSON, in the format of the file.
///
/// # Errors
/// The marks have no form in JSON.
pub(crate) fn to_json(marks: &Marks) -> Result<Vec<u8>> {
    Ok(state::bytes(marks)?)
}

/// Parses the result of [`to_json`].
///
/// # Errors
/// The text is not valid, or was written by a newer pitree.
pub(crate) fn of_json(text: &[u8]) -> Result<Marks> {
    Ok(state::parse(text)?)
}

/// Writes exported marks to a new file.
///
/// # Errors
/// The file exists or cannot be written.
pub(crate) fn export(path: &Path, text: &[u8]) -> Result<()> {
    new_file::write(&std::path::absolute(path)?, text, None)
        .with_context(|| format!("cannot create {}", path.display()))
}

/// Adds a hint to the error for an invalid file.
fn with_help(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ io::ErrorKind::InvalidData => io::Error::new(kind, format!("{error}; fix, rename or delete the file")),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::{fs, thread};

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn set(path: &Path, (session, key): (&str, &str), value: Option<Value>) -> Result<()> {
        update(path, &mut |_| ControlFlow::Continue(()), |marks| {
            marks.set(session, key, value);
            Ok(true)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn concurrent_writers_lose_nothing(
            work in prop::collection::vec(prop::collection::vec((0..3_u8, 0..4_u8, any::<bool>()), 0..6), 4),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = file(dir.path());
            thread::scope(|scope| {
                for (writer, steps) in work.iter().enumerate() {
                    let path = &path;
                    scope.spawn(move || {
                        for (session, tag, is_set) in steps {
                            let key = format!("tag:{writer}-{tag}");
                            set(path, (&session.to_string(), &key), is_set.then_some(Value::Bool(true))).unwrap();
                        }
                    });
                }
            });
            let mut expected = Marks::default();
            for (writer, steps) in work.iter().enumerate() {
                for (session, tag, is_set) in steps {
                    let key = format!("tag:{writer}-{tag}");
                    expected.set(&session.to_string(), &key, is_set.then_some(Value::Bool(true)));
                }
            }
            prop_assert_eq!(read(&path).unwrap(), expected);
        }
    }

    #[test]
    fn an_invalid_or_newer_file_is_reported_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path());
        for (text, why) in [
            ("{\"version\": 1, \"sessions\": {", "fix, rename or delete the file"),
            ("{\"version\": 1, \"sessions\": {\"s\": 1}}", "fix, rename or delete the file"),
            ("{\"version\": 2}", "update this one"),
        ] {
            fs::write(&path, text).unwrap();
            for error in [read(&path).unwrap_err(), set(&path, ("s", "pin"), Some(true.into())).unwrap_err()] {
                let error = format!("{error:#}");
                assert!(error.contains(&*path.display().to_string()) && error.ends_with(why), "{error}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_failed_change_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = file(dir.path());
        set(&path, ("s", "pin"), Some(true.into())).unwrap();
        let before = fs::read(&path).unwrap();
        let failed = update(&path, &mut |_| ControlFlow::Continue(()), |marks| {
            marks.set("s", "pin", None);
            anyhow::bail!("no")
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
