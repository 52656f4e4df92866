//! Paths in two parts.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::session::links::IdHash;

/// A path in two parts, which are stored once for many files.
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinedPath<'a> {
    /// The directory with a trailing separator, or an empty string.
    pub dir: &'a OsStr,
    /// The rest.
    pub rest: &'a OsStr,
}

impl<'a> JoinedPath<'a> {
    /// Splits nothing: the whole path is one part.
    pub fn whole(path: &'a Path) -> Self {
        Self { dir: OsStr::new(""), rest: path.as_os_str() }
    }

    /// Returns the path.
    pub fn join(self) -> PathBuf {
        let mut path = OsString::with_capacity(self.dir.len() + self.rest.len());
        path.push(self.dir);
        path.push(self.rest);
        path.into()
    }

    /// Returns both parts as bytes.
    pub fn bytes(self) -> [&'a [u8]; 2] {
        [self.dir.as_encoded_bytes(), self.rest.as_encoded_bytes()]
    }

    /// Returns a hash of the path, equal to [`IdHash::new`] of its bytes.
    pub fn hash(self) -> IdHash {
        let [dir, rest] = self.bytes();
        let mut short = [0; 512]; // most paths fit, so that no memory is allocated
        match short.get_mut(..dir.len() + rest.len()) {
            Some(path) => {
                path[..dir.len()].copy_from_slice(dir);
                path[dir.len()..].copy_from_slice(rest);
                IdHash::new(path)
            }
            None => IdHash::new(&[dir, rest].concat()),
        }
    }

    /// Returns `true` if this is the given path.
    pub fn is(self, path: &OsStr) -> bool {
        let [dir, rest] = self.bytes();
        path.as_encoded_bytes().strip_prefix(dir) == Some(rest)
    }

    /// Compares the bytes of two paths.
    pub fn compare(self, other: Self) -> Ordering {
        let ([mut one, mut rest], [mut other, mut other_rest]) = (self.bytes(), other.bytes());
        loop {
            if one.is_empty() {
                one = std::mem::take(&mut rest);
            }
            if other.is_empty() {
                other = std::mem::take(&mut other_rest);
            }
            let common = one.len().min(other.len());
            let order = one[..common].cmp(&other[..common]);
            if common == 0 || order.is_ne() {
                return order.then(one.len().cmp(&other.len()));
            }
            (one, other) = (&one[common..], &other[common..]);
        }
    }

    /// Returns `true` if another path has the same parts up to the name of the file.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        let parent = |path: Self| &path.bytes()[1][..last_separator(path.bytes()[1]).unwrap_or(0)];
        self.dir == other.dir && parent(self) == parent(other)
    }

    /// Returns the bytes of the directory of the file.
    pub fn folder(self) -> Vec<u8> {
        let [dir, rest] = self.bytes();
        match last_separator(rest) {
            Some(at) => [dir, &rest[..at]].concat(),
            None => dir[..last_separator(dir).unwrap_or(0)].into(),
        }
    }
}

fn last_separator(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(std::path::MAIN_SEPARATOR as u8, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_two_parts_equal_whole_paths() {
        let long = "long/".repeat(200) + "c.jsonl";
        let parts = [
            ("", ""),
            ("", "/a/"),
            ("/a/", ""),
            ("/a/", "b"),
            ("", "/a/b.jsonl"),
            ("/a/", "b.jsonl"),
            ("/a/", "c/d.jsonl"),
            ("/", "a/b.jsonl"),
            ("", "x.jsonl"),
            ("/a/", &long),
        ];
        let paths = parts.map(|(dir, rest)| JoinedPath { dir: OsStr::new(dir), rest: OsStr::new(rest) });
        for one in paths {
            let whole = one.join();
            assert!(one.is(whole.as_os_str()) && !one.is(OsStr::new("/a")));
            for other in paths {
                assert_eq!(one.compare(other), whole.as_os_str().cmp(other.join().as_os_str()));
            }
            if whole.extension().is_none() {
                continue; // not a file
            }
            assert_eq!(one.hash(), IdHash::new(whole.as_os_str().as_encoded_bytes()));
            let folder = whole.parent().unwrap().as_os_str().as_encoded_bytes();
            assert_eq!(one.folder(), folder, "{}", whole.display());
        }
    }
}
