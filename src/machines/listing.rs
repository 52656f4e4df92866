//! Lists of session files, of this machine and of another one. Names from another machine are untrusted.

use std::path::{Path, PathBuf};

use crate::base::text::is_unsafe;
use crate::disk::scan;

/// The maximum number of files of a machine.
pub(super) const MOST_FILES: usize = 2_000_000;

/// The maximum depth of a file below the session directory: projects, sessions with subagents, and these with theirs.
const DEEPEST: usize = 12;

/// The maximum length of a name in bytes.
const LONGEST_NAME: usize = 255;

/// The maximum length of a path below the session directory in bytes.
const LONGEST_PATH: usize = 2000;

/// A session file of a machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RemoteFile {
    /// The path below the session directory, with `/`.
    pub(super) path: String,
    /// The length in bytes.
    pub(super) bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub(super) mtime: i64,
}

impl RemoteFile {
    /// Returns `true` if the path can be used below a directory of this machine: it names a session file, leads nowhere
    /// else, and is no option, device or control sequence.
    pub(super) fn is_safe(&self) -> bool {
        is_safe(&self.path)
    }

    /// Returns `true` if two files probably have the same content. Some machines report only seconds.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_whole = |file: &Self| file.mtime % 1000 == 0;
        let is_same_time = if is_whole(self) || is_whole(other) {
            self.mtime.div_euclid(1000) == other.mtime.div_euclid(1000)
        } else {
            self.mtime == other.mtime
        };
        self.bytes == other.bytes && is_same_time
    }
}

/// Returns `true` for a path below a session directory that can be used on this machine; see [`RemoteFile::is_safe`].
pub(super) fn is_safe(path: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name != "." && name != ".." && name.len() <= LONGEST_NAME && !name.contains('\\')
    };
    let last = path.rsplit('/').next().unwrap_or_default();
    path.len() <= LONGEST_PATH
        && path.split('/').count() <= DEEPEST
        && path.split('/').all(is_name)
        && !path.contains(is_unsafe)
        && last.ends_with(".jsonl")
        && !(cfg_windows() && path.contains([':', '<', '>', '"', '|', '?', '*']))
}

/// Returns `true` where some characters have a meaning in file names.
fn cfg_windows() -> bool {
    std::path::MAIN_SEPARATOR == '\\'
}

/// The session files of a directory of this machine.
#[derive(Debug, Default)]
pub(super) struct ListedFiles {
    pub(super) files: Vec<RemoteFile>,
    /// The number of files that are left out, because other machines would refuse their names.
    pub(super) refused: usize,
    /// `false` if a directory cannot be read.
    pub(super) is_complete: bool,
}

/// Lists the session files below a directory of this machine.
pub(super) fn list(dir: &Path) -> ListedFiles {
    let found = scan::find(&[dir.to_path_buf()]);
    let (mut files, mut refused) = (Vec::with_capacity(found.files.len()), 0);
    let is_complete = found.unreadable.is_empty();
    // A shell on another machine does not list links either.
    for file in found.files.into_iter().filter(|file| !file.is_link) {
        let below = file.path.strip_prefix(dir).ok().and_then(Path::to_str);
        let (bytes, mtime) = file.version();
        let path = below.map(|below| below.replace(std::path::MAIN_SEPARATOR, "/")).unwrap_or_default();
        let file = RemoteFile { path, bytes, mtime };
        if file.is_safe() { files.push(file) } else { refused += 1 }
    }
    files.sort();
    ListedFiles { files, refused, is_complete }
}

/// Returns the path of a file below a directory of this machine.
pub(super) fn below(dir: &Path, path: &str) -> PathBuf {
    path.split('/').fold(dir.to_path_buf(), |path, name| path.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_names_are_refused() {
        for path in ["a.jsonl", "--a--/2026-01-01_x.jsonl", "--a--/x/y/run-0/z.jsonl", "-rf.jsonl", "é/ b.jsonl"] {
            assert!(is_safe(path), "{path}");
        }
        let (long, deep) = (format!("{}.jsonl", "x".repeat(250)), format!("{}a.jsonl", "a/".repeat(12)));
        for path in [
            "",
            "/etc/a.jsonl",
            "../a.jsonl",
            "a/../../b.jsonl",
            "a//b.jsonl",
            "./a.jsonl",
            "a/",
            "a.txt",
            "a\n.jsonl",
            "a\u{1b}[2J.jsonl",
            "a\u{202e}.jsonl",
            "a\\b.jsonl",
            "a\0.jsonl",
            &long,
            &deep,
        ] {
            assert!(!is_safe(path), "{path:?}");
        }
    }

    #[test]
    fn files_are_alike_with_times_in_seconds() {
        let file = |path: &str, bytes, mtime| RemoteFile { path: path.into(), bytes, mtime };
        assert!(
            file("a", 1, 5_000).is_like(&file("a", 1, 5_999)) && !file("a", 1, 5_001).is_like(&file("a", 1, 5_999))
        );
    }
}
