//! Checks for other pi processes before a session is resumed, because two of them in one session do not see each
//! other's entries.

use std::path::Path;

use anyhow::Result;

use crate::cli::{CommandContext, confirm, now, output, resolve};
use crate::disk::locate;
use crate::pi::running;
use crate::pi::warnings::{is_open, signs};

/// The consequence of two pi processes in one session.
const APART: &str =
    "Two pi processes in one session do not see each other's entries; use --fork to resume in a new session.";

/// Warns about pi processes that may use a session. If one has it open and another would start (`starts`), asks first.
/// Returns `true` if pi may start.
///
/// # Errors
/// The session or the terminal cannot be read, or there is no terminal to ask on.
pub(super) fn may_start(session: &Path, starts: bool, chosen: &CommandContext) -> Result<bool> {
    let pis = running::running(locate::state_dir().as_deref());
    let digest = resolve::digest(session)?;
    let signs = signs(&[&digest], &pis, now(), &chosen.home);
    for sign in &signs {
        output::tell(&format!("{sign}."));
    }
    if !signs.is_empty() {
        output::tell(APART);
    }
    if !starts || !is_open(&digest, &pis) {
        return Ok(true);
    }
    anyhow::ensure!(
        confirm::is_possible(),
        "cannot ask for confirmation without a terminal; use --yes to resume the session anyway"
    );
    confirm::is_yes("Resume it anyway?")
}
