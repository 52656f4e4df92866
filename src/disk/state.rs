//! Small files of pitree's own in its state directory, as JSON. They are replaced whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::disk::create;

/// Where it is kept how the browser was left.
pub(crate) fn remembered(state: &Path) -> PathBuf {
    state.join("remembered.json")
}

/// What a file says; nothing, if there is none or it says something else.
pub(crate) fn read<T: DeserializeOwned + Default>(path: &Path) -> T {
    serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default()
}

/// Writes a file, for nobody else to read.
///
/// # Errors
/// It can't be written.
pub(crate) fn write(path: &Path, said: &impl Serialize) -> io::Result<()> {
    create::private_folder(path.parent().unwrap_or(Path::new("")))?;
    let draft = create::draft(path);
    let mut new = create::private().write(true).create(true).truncate(true).open(&draft)?;
    serde_json::to_writer_pretty(&mut new, said)?;
    new.write_all(b"\n")?;
    fs::rename(&draft, path)
}
