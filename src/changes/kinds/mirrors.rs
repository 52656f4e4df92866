//! Sessions of other machines: their mirrors never change here, except that they follow the machine.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::base::machine_paths;
use crate::changes::request::{Refusal, Request};

/// Refuses a change of a mirrored session.
///
/// # Errors
/// [`Refusal::Mirrored`].
pub(crate) fn check(request: &Request) -> Result<()> {
    let is_mirrored = |path: &&Path| machine_paths::machine(path).is_some();
    let paths: Vec<PathBuf> = request.paths().into_iter().filter(is_mirrored).map(Path::to_path_buf).collect();
    if paths.is_empty() { Ok(()) } else { Err(Refusal::Mirrored { paths }.into()) }
}
