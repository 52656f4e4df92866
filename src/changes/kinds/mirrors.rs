//! Sessions of other machines: their mirrors never change here, except that they follow the machine.

use anyhow::Result;

use crate::base::machine_paths;
use crate::changes::request::{Refusal, Request};

/// Refuses a change of a mirrored session.
///
/// # Errors
/// [`Refusal::Mirrored`].
pub(crate) fn check(request: &Request) -> Result<()> {
    match request.paths().into_iter().find(|path| machine_paths::is_mirrored(path)) {
        Some(path) => Err(Refusal::Mirrored { path: path.into() }.into()),
        None => Ok(()),
    }
}
