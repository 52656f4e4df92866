//! The embedded demo sessions, written by the real pi: see `scripts/pi/demo.mjs`.

use std::io;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

static SESSIONS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/assets/demo");

/// The home directory in the samples.
pub const HOME: &str = "/home/demo";

/// The session directory of the samples, as in their `parentSession` fields.
pub const ROOT: &str = "/home/demo/.pi/agent/sessions";

/// Returns the bytes of a sample.
///
/// # Errors
/// There is no such sample.
pub fn file(path: &Path) -> io::Result<&'static [u8]> {
    let inside = path.strip_prefix(ROOT).ok();
    let file = inside.and_then(|path| SESSIONS.get_file(path)).ok_or(io::ErrorKind::NotFound)?;
    Ok(file.contents())
}

/// Returns the paths of all samples.
pub fn paths() -> impl Iterator<Item = PathBuf> {
    SESSIONS.dirs().flat_map(Dir::files).map(|file| Path::new(ROOT).join(file.path()))
}
