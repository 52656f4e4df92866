//! Start-up files of shells and other text files of the user, to which `pitree setup` adds a line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::disk::create;
use crate::disk::files::{open_regular, read_regular};

/// Returns `true` if a line of the file contains the text. A missing file contains nothing.
///
/// # Errors
/// The file exists and cannot be read.
pub(crate) fn contains(path: &Path, text: &str) -> io::Result<bool> {
    match read_regular(path) {
        Ok(bytes) => Ok(bytes.split(|&byte| byte == b'\n').any(|line| {
            let line = line.trim_ascii_start();
            !line.starts_with(b"#") && memchr::memmem::find(line, text.as_bytes()).is_some()
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Appends a line to a file, which may be a symbolic link. Creates the file and its directory if they are missing.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn append_line(path: &Path, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create::folders(folder)?;
    }
    let is_open_line = match read_regular(path) {
        Ok(bytes) => bytes.last().is_some_and(|&last| last != b'\n'),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    let start = if is_open_line { "\n" } else { "" };
    let mut file = open_regular(path, File::options().append(true).create(true))?;
    file.write_all(format!("{start}{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_line_is_appended_after_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/rc");
        assert!(!contains(&path, "pitree").unwrap());
        append_line(&path, "one").unwrap();
        append_line(&path, "two").unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "# pitree\nthree").unwrap();
        assert!(!contains(&path, "pitree").unwrap(), "it is in a comment");
        append_line(&path, "eval pitree").unwrap();
        assert!(contains(&path, "pitree").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n# pitree\nthree\neval pitree\n");
        assert!(append_line(dir.path(), "x").is_err() && contains(dir.path(), "x").is_err());
    }
}
