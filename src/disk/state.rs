//! Small files of pitree's own in its state directory, as JSON. They are replaced whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::create;

/// Where it is kept how the browser was left.
pub(crate) fn remembered(state: &Path) -> PathBuf {
    state.join("remembered.json")
}

/// What such a file is written as. Those of an early 0.1 have no version.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    #[serde(default)]
    version: u64,
    #[serde(flatten)]
    said: T,
}

/// What a file says; nothing, if there is none.
///
/// # Errors
/// It can't be read, is of a newer pitree, or is not as pitree writes it, with what to do: it is not to be written over.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    let at = |what: &str| io::Error::other(format!("{}: {what}", path.display()));
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(at(&error.to_string())),
    };
    let odd = |error| at(&format!("not as pitree writes it ({error}); mend or remove it"));
    let Versioned { version, said } = serde_json::from_slice::<Versioned<Value>>(&text).map_err(odd)?;
    if version > VERSION {
        return Err(at("was written by a newer pitree; update this one"));
    }
    serde_json::from_value(said).map_err(odd)
}

/// Writes a file, for nobody else to read.
///
/// # Errors
/// It can't be written.
pub(crate) fn write(path: &Path, said: &impl Serialize) -> io::Result<()> {
    create::private_folder(path.parent().unwrap_or(Path::new("")))?;
    let mut text = serde_json::to_vec_pretty(&Versioned { version: VERSION, said })?;
    text.push(b'\n');
    create::replace(path, &text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Said = BTreeMap<String, String>;

    #[test]
    fn what_was_written_is_read_and_nothing_else_lies_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/said.json");
        assert_eq!(read::<Said>(&path).unwrap(), Said::new());
        let said = Said::from([("a".into(), "b".into())]);
        write(&path, &said).unwrap();
        assert_eq!(read::<Said>(&path).unwrap(), said);
        fs::write(&path, r#"{"a": "b"}"#).unwrap();
        assert_eq!(read::<Said>(&path).unwrap(), said, "as it was without a version");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(write(&path, &said).is_err() && read::<Said>(&path).is_err());
        assert_eq!(fs::read_dir(dir.path().join("state")).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_read_says_so_with_the_file_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("said.json");
        for (text, says) in
            [("{\"version\": 2}", "newer pitree; update"), ("", "mend or remove"), ("{\"a\": 1}", "mend or remove")]
        {
            fs::write(&path, text).unwrap();
            let error = read::<Said>(&path).unwrap_err().to_string();
            assert!(error.starts_with(path.to_str().unwrap()) && error.contains(says), "{error}");
        }
    }
}
