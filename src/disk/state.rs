//! Small JSON files in the state directory. They are replaced atomically under a lock shared by all pitree processes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::paths::file_name;
use crate::disk::files::read_regular;
use crate::disk::lock::{self, LockObserver};
use crate::disk::{create, new_file};

/// Returns the path of the saved browser state.
pub(crate) fn remembered(state: &Path) -> PathBuf {
    state.join("remembered.json")
}

/// The format version of these files. Files of an early 0.1 have no version.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    #[serde(default)]
    version: u64,
    #[serde(flatten)]
    content: T,
}

/// Reads a file. Returns the default if it is missing.
///
/// # Errors
/// The file cannot be read or was written by a newer pitree. [`io::ErrorKind::InvalidData`]: it is not valid, or not a
/// regular file.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    let content = content_of_file(path)?.map(serde_json::from_value).transpose();
    content.map(Option::unwrap_or_default).map_err(|error| in_file(path, &invalid(&error)))
}

/// Reads the content of a file; `None` if it is missing. Compiled once for all types.
fn content_of_file(path: &Path) -> io::Result<Option<Value>> {
    let text = match read_regular(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(in_file(path, &io::Error::new(io::ErrorKind::InvalidData, error)));
        }
        Err(error) => return Err(in_file(path, &error)),
    };
    content(&text).map(Some).map_err(|error| in_file(path, &error))
}

fn in_file(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn invalid(error: &serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not valid ({error})"))
}

/// Parses the content of a file.
///
/// # Errors
/// The content is not valid, or was written by a newer pitree.
pub(crate) fn parse<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    serde_json::from_value(content(text)?).map_err(|error| invalid(&error))
}

fn content(text: &[u8]) -> io::Result<Value> {
    let Versioned { version, content } =
        serde_json::from_slice::<Versioned<Value>>(text).map_err(|error| invalid(&error))?;
    if version > VERSION {
        let newer = "was written by a newer pitree; update this one";
        return Err(io::Error::new(io::ErrorKind::Unsupported, newer));
    }
    Ok(content)
}

/// Returns the bytes of a file.
///
/// # Errors
/// The content has no form in JSON.
pub(crate) fn bytes<T: Serialize>(content: &T) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(&Versioned { version: VERSION, content })?;
    text.push(b'\n');
    Ok(text)
}

/// Reads a file like [`read`]. Renames an invalid file, so that it is reported once.
///
/// # Errors
/// The errors of [`read`]; the error names the new name of an invalid file.
pub(crate) fn load<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    read(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => match rename_invalid(path) {
            Ok(renamed) => io::Error::new(error.kind(), format!("{error}; renamed to {}", file_name(&renamed))),
            Err(why) => io::Error::other(format!("{error}; cannot be renamed ({why}): delete it")),
        },
        _ => error,
    })
}

/// Renames an invalid file, and replaces an earlier one.
fn rename_invalid(path: &Path) -> io::Result<PathBuf> {
    let renamed = create::beside(path, ".invalid");
    fs::rename(path, &renamed).map(|()| renamed)
}

/// Reads a file, modifies its content and writes it under the lock.
///
/// # Errors
/// The errors of [`load`], or the file cannot be locked or written, or could not be read again.
pub(crate) fn update<T: DeserializeOwned + Default + Serialize>(
    path: &Path,
    change: impl FnOnce(&mut T),
) -> io::Result<()> {
    let _lock = locked(path, &mut |_| ControlFlow::Break(()))?;
    let mut content = load(path)?;
    change(&mut content);
    let text = bytes(&content)?;
    parse::<T>(&text).map_err(|error| in_file(path, &error))?; // JSON lacks some values, such as NaN
    new_file::replace(path, &text)
}

/// Locks a file for an update until the result is dropped, and creates its directory. `None` if the file system has no
/// locks.
///
/// # Errors
/// The lock cannot be taken, or the directory cannot be created.
pub(crate) fn locked(path: &Path, wait: LockObserver<'_>) -> io::Result<Option<fs::File>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    create::private_folder(folder)?;
    let path = folder.join("state.lock");
    let mut take = || lock::open(create::private().read(true).write(true).create(true), &path, wait);
    let taken = take().or_else(|error| match error.kind() {
        io::ErrorKind::InvalidData => rename_invalid(&path).and_then(|_| take()),
        _ => Err(error),
    });
    match taken {
        Err(error) if lock::has_no_locks(&error) => Ok(None),
        taken => taken.map(Some).map_err(|error| in_file(&path, &error)),
    }
}

/// Writes a file that is locked.
///
/// # Errors
/// The file cannot be written; it is unchanged then.
pub(crate) fn write<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    new_file::replace(path, &bytes(content)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::thread;

    use super::*;

    type Content = BTreeMap<String, String>;

    #[test]
    fn what_cannot_be_read_again_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("numbers.json");
        let put =
            |number: f64| update(&path, |content: &mut BTreeMap<String, f64>| content.extend([("a".into(), number)]));
        put(0.5).unwrap();
        let error = put(f64::NAN).unwrap_err();
        assert!(error.to_string().contains("numbers.json"), "{error}");
        assert_eq!(read::<BTreeMap<String, f64>>(&path).unwrap()["a"], 0.5);
    }

    /// Repeats an update while another thread holds the lock: on a busy machine, an update gives up.
    pub(crate) fn patiently<T>(update: impl Fn() -> io::Result<T>) -> T {
        loop {
            match update() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done.unwrap(),
            }
        }
    }

    fn add(path: &Path, name: &str) -> io::Result<()> {
        update(path, |content: &mut Content| drop(content.insert(name.into(), "b".into())))
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else_lies_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/said.json");
        assert_eq!(read::<Content>(&path).unwrap(), Content::new());
        add(&path, "a").unwrap();
        let content = Content::from([("a".into(), "b".into())]);
        assert_eq!(read::<Content>(&path).unwrap(), content);
        fs::write(&path, r#"{"a": "b"}"#).unwrap();
        assert_eq!(read::<Content>(&path).unwrap(), content, "as it was without a version");
        fs::write(path.with_file_name("said.json.0123456789abcdef.pitree-new"), "half").unwrap();
        add(&path, "b").unwrap();
        assert_eq!(names(&dir.path().join("state")), ["said.json", "state.lock"]);
    }

    #[test]
    fn concurrent_updates_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("said.json");
        thread::scope(|scope| {
            for at in 0..8 {
                let path = &path;
                scope.spawn(move || patiently(|| add(path, &at.to_string())));
            }
        });
        assert_eq!(read::<Content>(&path).unwrap().len(), 8);
    }

    #[test]
    fn a_file_of_a_newer_pitree_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("said.json");
        fs::write(&path, "{\"version\": 2}").unwrap();
        for error in [add(&path, "a").unwrap_err(), load::<Content>(&path).unwrap_err()] {
            assert_eq!(
                error.to_string(),
                format!("{}: was written by a newer pitree; update this one", path.display())
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"version\": 2}");
    }

    #[test]
    fn an_invalid_file_is_reported_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("said.json");
        for text in ["", "{\"a\": 1}", "{\"a\""] {
            fs::write(&path, text).unwrap();
            let error = load::<Content>(&path).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: not valid", path.display())), "{error}");
            assert!(error.ends_with("; renamed to said.json.invalid"), "{error}");
            assert_eq!(load::<Content>(&path).unwrap(), Content::new());
            assert_eq!(fs::read_to_string(dir.path().join("said.json.invalid")).unwrap(), text);
            add(&path, "a").unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_in_place_of_a_file_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("said.json");
        for name in ["said.json", "state.lock"] {
            let pipe = dir.path().join(name);
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
        }
        let error = load::<Content>(&path).unwrap_err().to_string();
        assert!(error.contains("not a regular file; renamed to "), "{error}");
        add(&path, "a").unwrap();
        assert_eq!(read::<Content>(&path).unwrap().len(), 1);
    }
}
