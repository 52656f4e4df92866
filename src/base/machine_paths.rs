//! Paths of sessions of other machines. Each machine has a mirror of its session directory below one directory with a
//! fixed name: `machine-mirrors/NAME/DIR/…`, where `DIR` is the encoded path of the session directory on the machine. The
//! paths alone thus show the machine of a session, and where its file is there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use memchr::memmem;

use crate::base::text::percent_encoded;

/// The name of the directory with the mirrors of all machines.
const MIRRORS: &str = "machine-mirrors";

/// The maximum length of a file name on common file systems, in bytes.
const NAME_MAX: usize = 255;

/// The maximum length of a machine name in bytes.
const MACHINE_MAX: usize = 32;

/// The name of this machine in queries; no other machine can have it.
pub(crate) const LOCAL_MACHINE: &str = "here";

/// Returns `true` if a text can be the name of a machine: ASCII letters, digits, and `.`, `_` or `-` inside.
pub(crate) fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MACHINE_MAX
        && bytes.iter().all(|&byte| is_inner(byte))
        && is_outer(bytes.first())
        && is_outer(bytes.last())
        && !text.eq_ignore_ascii_case(LOCAL_MACHINE)
}

/// Returns the directory with the mirrors of all machines in the data directory.
pub(crate) fn mirrors_in(data: &Path) -> PathBuf {
    data.join(MIRRORS)
}

/// Returns `true` for a directory with the mirrors of all machines.
pub(crate) fn is_mirrors(dir: &Path) -> bool {
    dir.file_name() == Some(OsStr::new(MIRRORS))
}

/// Finds the name of the directory with all mirrors. Each list searches many paths for it.
static NAME: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(MIRRORS));

/// Returns `false` if no file in a directory is in a mirror, given the whole path of the directory.
pub(crate) fn may_be_mirrored(dir: &[u8]) -> bool {
    NAME.find(dir).is_some()
}

/// Returns the machine of a session file in a mirror, by the path of the file in two parts; `None` for other files.
pub(crate) fn machine_of_parts<'a>([dir, rest]: [&'a [u8]; 2]) -> Option<&'a str> {
    let inside = |bytes: &'a [u8]| {
        let at = NAME.find_iter(bytes).find(|&at| {
            let is_start = at == 0 || is_separator(bytes[at - 1]);
            is_start && bytes.get(at + MIRRORS.len()).is_some_and(|&next| is_separator(next))
        })?;
        Some(&bytes[at + MIRRORS.len() + 1..])
    };
    let below = match inside(dir) {
        Some([]) => rest,
        Some(below) => below,
        None => inside(rest)?,
    };
    let name = below.split(|&byte| is_separator(byte)).next()?;
    std::str::from_utf8(name).ok().filter(|name| is_name(name))
}

/// Returns the machine of a session file in a mirror; `None` for other files.
pub(crate) fn machine(path: &Path) -> Option<&str> {
    machine_of_parts([&[], path.as_os_str().as_encoded_bytes()])
}

/// Returns `true` for a session file in a mirror.
pub(crate) fn is_mirrored(path: &Path) -> bool {
    machine(path).is_some()
}

/// Returns the path on its machine of a file or directory in a mirror; `None` for other paths.
pub(crate) fn remote_path(path: &Path) -> Option<PathBuf> {
    Split::of(path).map(|split| split.remote())
}

/// Returns a path in a mirror as `MACHINE:PATH`, and any other path as it is.
pub(crate) fn shown(path: &Path) -> String {
    place(path).unwrap_or_else(|| path.display().to_string())
}

/// Returns the machine and the path there of a file in a mirror, as in `box:/home/ann/x.jsonl`; `None` for other files.
pub(crate) fn place(path: &Path) -> Option<String> {
    Some(format!("{}:{}", machine(path)?, remote_path(path)?.display()))
}

/// Returns the directory in the mirrors for a session directory of a machine. Returns `None` if its path is too long, or
/// not absolute and normalized.
pub(crate) fn mirror(mirrors: &Path, machine: &str, dir: &str) -> Option<PathBuf> {
    let dir = dir.strip_suffix('/').filter(|dir| !dir.is_empty()).unwrap_or(dir);
    let is_normal = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_absolute = dir.strip_prefix('/').is_some_and(|dir| dir.split('/').all(is_normal));
    let name = encoded(dir);
    (is_absolute && name.len() <= NAME_MAX).then(|| mirrors.join(machine).join(name))
}

/// Returns the path in the mirrors of a file that a mirrored session names by its path on the machine. The file need not
/// exist in either place.
pub(crate) fn named_by(session: &Path, named: &Path) -> Option<PathBuf> {
    let split = Split::of(session)?;
    let below = named.strip_prefix(&split.dir).ok().filter(|below| below.components().next().is_some());
    Some(match below {
        Some(below) => split.root.join(below),
        None => split.root.parent()?.join(encoded(&named.to_string_lossy())),
    })
}

/// The parts of a path in a mirror.
struct Split {
    /// The directory of the mirror.
    root: PathBuf,
    /// The session directory on the machine.
    dir: String,
    /// The path below both.
    below: PathBuf,
}

impl Split {
    fn of(path: &Path) -> Option<Self> {
        machine(path)?;
        let mut parts = path.components();
        let mut root = PathBuf::new();
        for part in parts.by_ref() {
            root.push(part);
            if part.as_os_str() == MIRRORS {
                break;
            }
        }
        root.push(parts.next()?); // the machine
        let dir = parts.next()?;
        root.push(dir);
        Some(Self { root, dir: decoded(dir.as_os_str().to_str()?)?, below: parts.as_path().into() })
    }

    fn remote(&self) -> PathBuf {
        let dir = Path::new(&self.dir);
        if self.below.as_os_str().is_empty() { dir.into() } else { dir.join(&self.below) }
    }
}

fn is_separator(byte: u8) -> bool {
    std::path::is_separator(byte.into())
}

/// Encodes a path as a file name.
fn encoded(path: &str) -> String {
    percent_encoded(path, b"-_.")
}

/// Decodes a path from a file name; `None` if the name is not a result of [`encoded`].
fn decoded(name: &str) -> Option<String> {
    let mut parts = name.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_mirror_show_the_machine_and_the_path_there() {
        let mirrors = mirrors_in(Path::new("/data"));
        assert!(is_mirrors(&mirrors) && !is_mirrors(Path::new("/data")));
        for dir in ["/home/ann/.pi/agent/sessions", "/", "/a b/%2F/é"] {
            let mirror = mirror(&mirrors, "box-1", dir).filter(|_| dir != "/");
            let Some(mirror) = mirror else { continue };
            let file = mirror.join("--a--/2026_x.jsonl");
            assert_eq!(machine(&file), Some("box-1"));
            assert_eq!(remote_path(&file), Some(Path::new(dir).join("--a--/2026_x.jsonl")));
            assert_eq!(remote_path(&mirror), Some(dir.into()));
            assert_eq!(place(&mirror), Some(format!("box-1:{dir}")));
        }
        for dir in ["", "a", "/a/../b", "/a//b", "/a/.", &format!("/{}", "x".repeat(255))] {
            assert_eq!(mirror(&mirrors, "box", dir), None, "{dir}");
        }
        for path in
            ["/a/b.jsonl", "/data/machine-mirrors", "/data/machine-mirrors/..", "/x-machine-mirrors/box/a.jsonl"]
        {
            assert_eq!((machine(Path::new(path)), remote_path(Path::new(path))), (None, None), "{path}");
        }
    }

    #[test]
    fn the_machine_is_found_in_paths_of_two_parts() {
        let of = |dir: &'static str, rest: &'static str| machine_of_parts([dir.as_bytes(), rest.as_bytes()]);
        assert_eq!(of("/d/machine-mirrors/", "box/%2Fs/a.jsonl"), Some("box"));
        assert_eq!(of("/d/machine-mirrors/box/", "%2Fs/a.jsonl"), Some("box"));
        assert_eq!(of("", "/d/machine-mirrors/box/%2Fs/a.jsonl"), Some("box"));
        assert_eq!(of("/home/ann/", "a.jsonl"), None);
    }

    #[test]
    fn sessions_name_other_files_of_their_machine() {
        let session = mirror(&mirrors_in(Path::new("/data")), "box", "/s").unwrap().join("--a--/x.jsonl");
        let named = |path: &str| named_by(&session, Path::new(path)).unwrap();
        assert_eq!(named("/s/--b--/y.jsonl"), Path::new("/data/machine-mirrors/box/%2Fs/--b--/y.jsonl"));
        let outside = named("/other/z.jsonl");
        assert_eq!(remote_path(&outside), Some("/other/z.jsonl".into()));
        assert_eq!(machine(&outside), Some("box"));
        assert_eq!(named_by(Path::new("/s/--a--/x.jsonl"), Path::new("/s/y.jsonl")), None);
    }

    #[test]
    fn machine_names_are_safe_file_names() {
        assert!(["box", "gpu-1", "a.b_c", "B", "7"].iter().all(|name| is_name(name)));
        let long = "x".repeat(33);
        let bad = ["", ".", "..", "-a", "a-", ".a", "a/b", "a b", "é", "here", "Here", &long];
        assert!(bad.iter().all(|name| !is_name(name)));
    }
}
