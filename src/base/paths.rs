//! Paths for display, and paths in JSON, including names that are not UTF-8.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::system;

/// Replaces the home directory at the start of `path` by `~`, as pi does (1.6.0): whole components only, with `.`, `..` and
/// repeated separators removed. Returns other paths unchanged.
pub(crate) fn shorten<'a>(path: &'a str, home: &str) -> Cow<'a, str> {
    if !Path::new(home).is_absolute() || !Path::new(path).is_absolute() {
        return Cow::Borrowed(path);
    }
    match normalize(Path::new(path)).strip_prefix(normalize(Path::new(home))) {
        Ok(rest) => Cow::Owned(Path::new("~").join(rest).to_string_lossy().trim_end_matches(MAIN_SEPARATOR).into()),
        Err(_) => Cow::Borrowed(path),
    }
}

/// Splits a path into its parent directory and its name. The directory is empty if the path has no separator. A path that
/// starts with a drive letter is a Windows path on every system, because sessions are copied between systems.
pub(crate) fn split_name(path: &str) -> (&str, &str) {
    let is_windows = path.as_bytes().get(1..3) == Some(b":\\");
    let separator = if is_windows { '\\' } else { MAIN_SEPARATOR };
    let path = match path.trim_end_matches(separator) {
        "" => path,
        trimmed => trimmed,
    };
    match path.rfind(separator).map(|at| path.split_at(at + 1)) {
        Some((dir, name)) if !name.is_empty() => (if dir.len() > 1 { &dir[..dir.len() - 1] } else { dir }, name),
        _ => ("", path),
    }
}

/// Returns the usual form of a Windows path, on every system: an upper-case drive letter and backslashes. Its length is the
/// same. Other paths are returned as they are.
pub(crate) fn windows_form(path: &str) -> Cow<'_, str> {
    match path.as_bytes() {
        [b'a'..=b'z', b':', b'/' | b'\\', ..] | [b'A'..=b'Z', b':', b'/' | b'\\', ..] => {
            Cow::Owned(path[..1].to_ascii_uppercase() + &path[1..].replace('/', "\\"))
        }
        _ => Cow::Borrowed(path),
    }
}

/// Removes `.`, `..` and repeated separators lexically, like Node's `path.normalize`.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match (part, normal.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(normal.pop()),
            _ => normal.push(part),
        }
    }
    normal
}

/// Makes the path of a tool call absolute and removes `.` and `..`. `cwd` is the working directory of the session.
pub(crate) fn full_path(path: &str, cwd: &str, home: &str) -> String {
    let from_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_windows = path.get(1..3).is_some_and(|start| matches!(start, ":\\" | ":/"));
    let joined = match from_home {
        Some(rest) => format!("{home}{rest}"),
        None if path.starts_with('/') || is_windows || cwd.is_empty() => path.into(),
        None => format!("{cwd}/{path}"),
    };
    let root = if joined.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

/// Returns the bytes of a path in base64 if the path is not UTF-8.
pub(crate) fn non_utf8_base64(path: impl AsRef<Path>) -> Option<String> {
    let path = path.as_ref();
    path.to_str().is_none().then(|| base64(path))
}

/// Encodes the bytes of a path or an argument in base64.
pub(crate) fn base64(path: impl AsRef<OsStr>) -> String {
    BASE64_STANDARD.encode(path.as_ref().as_encoded_bytes())
}

/// Decodes a path from base64. Returns `None` if the bytes are not a valid path on this system.
pub(crate) fn path_from_base64(base64: &str) -> Option<PathBuf> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    system::files::path_of(bytes)
}

/// A path with a lossless form in JSON: see `exact_json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExactPath(#[serde(with = "exact_json")] pub PathBuf);

/// Lossless paths in JSON, for `#[serde(with)]`: a string, or `{"bytes":"<base64>"}` if the path is not UTF-8.
pub(crate) mod exact_json {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    /// The JSON form of a path.
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(PathBuf),
        Odd { bytes: String },
    }

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match super::non_utf8_base64(path) {
            None => path.serialize(to),
            Some(bytes) => Written::Odd { bytes }.serialize(to),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(path) => Ok(path),
            Written::Odd { bytes } => {
                super::path_from_base64(&bytes).ok_or_else(|| de::Error::custom("these bytes are not a path"))
            }
        }
    }
}

/// Returns the file name for display.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// Shortens a path for display: relative to `cwd` if it is inside, otherwise with `~` for the home directory.
pub(crate) fn relative_to<'a>(cwd: &str, path: &'a str, home: &str) -> Cow<'a, str> {
    let inside = path.strip_prefix(cwd).filter(|_| !cwd.is_empty());
    match inside.and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix(['/', '\\']) }) {
        Some("") => ".".into(),
        Some(inside) => inside.into(),
        None => shorten(path, home),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct File {
        #[serde(with = "exact_json")]
        path: PathBuf,
    }

    #[test]
    fn a_windows_path_has_one_form() {
        for path in ["C:\\Users\\me", "c:\\Users\\me", "C:/Users/me", "c:/Users\\me"] {
            assert_eq!(windows_form(path), "C:\\Users\\me");
        }
        for path in ["/c:/x", "c:", "c:x", "cd:/x", "1:/x", "\\\\host\\c", "/home/me", ""] {
            assert_eq!(windows_form(path), path);
        }
    }

    #[test]
    fn paths_of_a_file_are_normalized() {
        for (path, wanted) in [
            ("src/a.rs", "/home/me/app/src/a.rs"),
            ("./src//b/../a.rs", "/home/me/app/src/a.rs"),
            ("../../../../x", "/x"),
            ("/etc/./hosts", "/etc/hosts"),
            ("~/notes", "/home/me/notes"),
            ("~other", "/home/me/app/~other"),
            (r"C:\x", r"C:\x"),
        ] {
            assert_eq!(full_path(path, "/home/me/app", "/home/me"), wanted, "{path}");
        }
        assert_eq!(full_path("../a", "", ""), "../a");
    }

    /// Results of `shortenHomePath` in pi 1.6.0.
    #[test]
    fn home_is_shortened_by_whole_components() {
        for (path, short) in [
            ("/home/ann", "~"),
            ("/home/ann/", "~"),
            ("/home/ann//a/./b/../c/", "~/a/c"),
            ("/home/bob/../ann/a", "~/a"),
            ("//home/ann/a", "~/a"),
            ("/home/ann/..hidden", "~/..hidden"),
            ("/home/ann2", "/home/ann2"),
            ("/home/ann2/", "/home/ann2/"),
            ("/home/ann/../bob", "/home/ann/../bob"),
            ("/home", "/home"),
            ("/../home/ann", "~"),
            ("home/ann", "home/ann"),
            ("~/a", "~/a"),
            ("", ""),
        ] {
            assert_eq!(shorten(path, "/home/ann"), short, "{path}");
            assert_eq!(shorten(path, "/home//x/../ann/"), short, "{path}");
            assert_eq!(shorten(path, ""), path);
        }
        assert_eq!((shorten("/a/b", "/"), shorten("/", "/")), ("~/a/b".into(), "~".into()));
    }

    #[test]
    fn paths_in_json_round_trip() {
        for (bytes, json) in [
            (&b"/a/\xc3\xa9\n\"\\.jsonl"[..], "{\"path\":\"/a/\u{e9}\\n\\\"\\\\.jsonl\"}"),
            (b"", r#"{"path":""}"#),
            (b"/a/\xff.jsonl", r#"{"path":{"bytes":"L2Ev/y5qc29ubA=="}}"#),
        ] {
            let file = File { path: OsStr::from_bytes(bytes).into() };
            assert_eq!(serde_json::to_string(&file).unwrap(), json);
            assert_eq!(serde_json::from_str::<File>(json).unwrap(), file);
        }
        for wrong in [r#"{"path":{"bytes":"%"}}"#, r#"{"path":{}}"#, r#"{"path":1}"#] {
            assert!(serde_json::from_str::<File>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_session_directory() {
        for (path, shown) in [
            ("/home/me/app/src/a.rs", "src/a.rs"),
            ("/home/me/app", "."),
            ("/home/me/app/", "."),
            ("/home/me/app2/a.rs", "~/app2/a.rs"),
            ("src/a.rs", "src/a.rs"),
            ("/etc/hosts", "/etc/hosts"),
        ] {
            assert_eq!(relative_to("/home/me/app", path, "/home/me"), shown);
        }
        assert_eq!(relative_to("", "/a", "/home/me"), "/a");
    }
}
