//! Paths as people read them, and as JSON has them, where a name need not be text.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::system;

/// `path` with `~` for the home directory where it is in it, as pi shortens it (1.5.2): by whole components, and without
/// `.`, `..` and doubled separators then. Any other path stays as it is.
pub(crate) fn shorten<'a>(path: &'a str, home: &str) -> Cow<'a, str> {
    if !Path::new(home).is_absolute() || !Path::new(path).is_absolute() {
        return Cow::Borrowed(path);
    }
    match normalize(Path::new(path)).strip_prefix(normalize(Path::new(home))) {
        Ok(rest) => Cow::Owned(Path::new("~").join(rest).to_string_lossy().trim_end_matches(MAIN_SEPARATOR).into()),
        Err(_) => Cow::Borrowed(path),
    }
}

/// The directory that a path is in, and its name there; all of it is the name where there is no other. Sessions travel: a
/// path that begins with a drive is one of Windows on each system.
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

/// `path` without `.`, `..` and doubled separators, without asking the file system, as Node's `normalize`.
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

/// The bytes of a path in base64, if it is no text.
pub(crate) fn non_utf8_base64(path: impl AsRef<Path>) -> Option<String> {
    let path = path.as_ref();
    path.to_str().is_none().then(|| base64(path))
}

/// The bytes of a path or a word in base64.
pub(crate) fn base64(path: impl AsRef<OsStr>) -> String {
    BASE64_STANDARD.encode(path.as_ref().as_encoded_bytes())
}

/// The path that has these bytes, written in base64; `None` if there can be none.
pub(crate) fn path_from_base64(base64: &str) -> Option<PathBuf> {
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    system::files::path_of(bytes)
}

/// A path in JSON that comes back as it was, for `#[serde(with)]`: text where it is some, else `{"bytes":"<base64>"}`.
pub(crate) mod exact_json {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    /// What stands in the JSON.
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
                super::path_from_base64(&bytes).ok_or_else(|| de::Error::custom("these bytes are no path"))
            }
        }
    }
}

/// The name of a file, for people.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// A path as one sees it from a directory: relative below that, else with `~` for the home directory.
pub(crate) fn relative_to<'a>(cwd: &str, path: &'a str, home: &str) -> Cow<'a, str> {
    let inside = path.strip_prefix(cwd).filter(|_| !cwd.is_empty());
    match inside.and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix(['/', '\\']) }) {
        Some("") => ".".into(),
        Some(inside) => inside.into(),
        None => shorten(path, home),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct File {
        #[serde(with = "exact_json")]
        path: PathBuf,
    }

    /// As `shortenHomePath` of pi 1.5.2 gave them.
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
    fn a_path_in_json_comes_back_as_it_was() {
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
    fn paths_are_told_from_where_the_session_worked() {
        for (path, said) in [
            ("/home/me/app/src/a.rs", "src/a.rs"),
            ("/home/me/app", "."),
            ("/home/me/app/", "."),
            ("/home/me/app2/a.rs", "~/app2/a.rs"),
            ("src/a.rs", "src/a.rs"),
            ("/etc/hosts", "/etc/hosts"),
        ] {
            assert_eq!(relative_to("/home/me/app", path, "/home/me"), said);
        }
        assert_eq!(relative_to("", "/a", "/home/me"), "/a");
    }
}
