//! `--by-pi`: the pi that has a session open writes a name or a label, so that it shows it.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::output;
use crate::disk::locate;
use crate::pi::requests::{self, PiRequest};
use crate::pi::running;
use crate::pi::status::PiStatus;

/// Sends a request to the pi that has a session open.
///
/// # Errors
/// No pi reports the session as open, or the request failed.
pub(super) fn tell(session: &Path, what: &PiRequest) -> Result<ExitCode> {
    let state = locate::state_dir();
    let (Some(state), Some(pi)) = (&state, open(session)) else {
        bail!(
            "no running pi reports {} as open; run `pitree pi install` and restart pi, or omit --by-pi",
            session.display()
        );
    };
    if let Err(why) = requests::ask(state, &pi, what) {
        bail!("{why}");
    }
    output::tell(&format!("pi (pid {}) saved the change", pi.pid));
    Ok(ExitCode::SUCCESS)
}

/// Warns that a running pi has the session open and does not see the change.
pub(super) fn warn(session: &Path) {
    if let Some(pi) = open(session) {
        output::tell(&format!(
            "pi (pid {}) has the session open and shows the change only after reopening it; use --by-pi to have pi make the change",
            pi.pid
        ));
    }
}

/// Returns the most urgent pi that reports a session as open.
fn open(session: &Path) -> Option<PiStatus> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let told = running::told(locate::state_dir().as_deref());
    let in_it = told.into_iter().filter(|told| real(&told.session) == real(session));
    in_it.min_by_key(PiStatus::urgency)
}
