//! Paths of archived sessions. The archive mirrors the file system: below a directory with a fixed name, each file is at
//! its original path, with `.zst` appended. The paths alone thus show where an archived session was.

use std::ffi::OsStr;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf, Prefix};

/// The directory in the archive below which files are at their original paths.
const MIRROR: &str = "original-paths";

/// The end of the name of an archived session.
const SESSION: &str = ".jsonl.zst";

/// The part of the name that an archived session has in addition.
pub(crate) const PACKED: &str = ".zst";

/// Returns `true` if a path is that of an archived session.
pub(crate) fn is_archived(path: impl AsRef<OsStr>) -> bool {
    path.as_ref().as_encoded_bytes().ends_with(SESSION.as_bytes())
}

/// Returns a path without the end that only archived sessions have.
pub(crate) fn unpacked(path: &str) -> &str {
    if is_archived(path) { &path[..path.len() - PACKED.len()] } else { path }
}

/// Returns the path in an archive of the files of a directory. Returns `None` if the path is relative, is not normalized,
/// or is a network path of Windows.
pub(crate) fn dir_in(archive: &Path, dir: &Path) -> Option<PathBuf> {
    let mut place = archive.join(MIRROR);
    for part in dir.components() {
        match part {
            Component::Prefix(prefix) => match prefix.kind() {
                Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => place.push(char::from(letter).to_string()),
                _ => return None,
            },
            Component::Normal(name) => place.push(name),
            Component::RootDir => {}
            Component::CurDir | Component::ParentDir => return None,
        }
    }
    dir.is_absolute().then_some(place)
}

/// Returns the path in an archive of a session file; see [`dir_in`].
pub(crate) fn file_in(archive: &Path, file: &Path) -> Option<PathBuf> {
    let mut place = dir_in(archive, file)?.into_os_string();
    place.push(PACKED);
    is_archived(&place).then_some(place.into())
}

/// Returns the original path of a file or a directory in an archive; `None` for other paths.
pub(crate) fn original(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    let mut rest = None;
    while let Some(part) = parts.next() {
        if part.as_os_str() == MIRROR {
            rest = Some(parts.as_path());
        }
    }
    let drive = |rest: &Path| {
        let letter = rest
            .components()
            .next()?
            .as_os_str()
            .to_str()
            .filter(|name| MAIN_SEPARATOR_STR == "\\" && name.len() == 1)?;
        Some(Path::new(&format!("{letter}:\\")).join(rest.strip_prefix(letter).ok()?))
    };
    let rest = rest?;
    let original = drive(rest).unwrap_or_else(|| Path::new(MAIN_SEPARATOR_STR).join(rest));
    Some(if is_archived(path) { original.with_extension("") } else { original })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archived_session_is_at_its_original_path() {
        let archive = Path::new("/data/archive");
        for file in ["/home/ann/.pi/agent/sessions/--a--/2026_x.jsonl", "/.jsonl", "/a/original-paths/b.jsonl"] {
            let place = file_in(archive, Path::new(file)).unwrap();
            assert_eq!(place, Path::new(&format!("/data/archive/original-paths{file}.zst")));
            assert!(is_archived(&place) && !is_archived(file));
        }
        let dir = dir_in(archive, Path::new("/home/ann")).unwrap();
        assert_eq!(original(&dir), Some("/home/ann".into()));
        assert_eq!(original(&dir.join("b/c.jsonl.zst")), Some("/home/ann/b/c.jsonl".into()));
        assert_eq!(original(&dir.join(".jsonl.zst")), Some("/home/ann/.jsonl".into()));
        for other in ["relative.jsonl", "/a/../b.jsonl", "/a.txt"] {
            assert_eq!(file_in(archive, Path::new(other)), None, "{other}");
        }
        assert_eq!(original(Path::new("/home/ann/a.jsonl")), None);
    }
}
