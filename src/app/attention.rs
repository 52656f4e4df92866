//! State of notifications about pis that want the user.

use crate::app::ticket::Claim;
use crate::pi::attention::PiHistories;

/// State of notifications about pis.
#[derive(Debug, Default)]
pub struct AttentionState {
    /// The reported states.
    pub(crate) histories: PiHistories,
    /// Claim on the notifications that are being sent; the next ones wait for it.
    pub(crate) sending: Option<Claim>,
    /// `true` once a failure was shown.
    pub(crate) has_failed: bool,
}

impl AttentionState {
    /// Returns the time of the next notification in milliseconds since 1970.
    pub(crate) fn due(&self) -> Option<i64> {
        self.histories.due().filter(|_| self.sending.is_none())
    }
}
