//! Measures the space that sessions take.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::app::message::Reply;
use crate::catalog::space::{self, SpaceContent};
use crate::catalog::stats::sessions::StatsSessions;

/// Measures sessions and reports the progress. Returns `None` if it was canceled.
pub(super) fn all(
    sessions: &StatsSessions,
    is_wanted: impl Fn() -> bool,
    reply: &mut dyn FnMut(Reply) -> bool,
) -> Option<Reply> {
    let report = space::measure(sessions, |done, all| is_wanted() && reply(Reply::Measuring(done, all)))?;
    Some(Reply::Measured(Arc::new(SpaceContent::new(report, sessions))))
}

/// Measures the file of one session.
///
/// # Errors
/// The file cannot be read, or is not a session.
pub(super) fn one(path: &Path, is_wanted: impl Fn() -> bool) -> Result<Reply> {
    let measured = space::file(path, &[], &mut Vec::new(), &|| !is_wanted());
    let measured = measured.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Reply::SessionMeasured(Box::new(measured)))
}
