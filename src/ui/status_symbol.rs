//! The sign of what a pi is doing in a session.

use crate::base::text::{Glyphs, Tone};
use crate::catalog::live::PiState;

/// Its tone and sign; without a state it is guessed that one is there.
pub(super) fn sign(state: Option<PiState>, glyphs: &Glyphs) -> (Tone, &str) {
    match state {
        Some(PiState::Blocked) => (Tone::Error, &glyphs.blocked),
        Some(PiState::Error) => (Tone::Error, &glyphs.failed),
        Some(PiState::Waiting) => (Tone::Warning, &glyphs.waiting),
        Some(PiState::Working) => (Tone::Active, &glyphs.working),
        Some(PiState::Idle) => (Tone::Dim, &glyphs.idle),
        None => (Tone::Dim, &glyphs.live),
    }
}
