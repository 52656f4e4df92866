//! The symbol of a running pi.

use crate::base::text::{Glyphs, Tone};
use crate::pi::status::PiState;

/// Returns tone and symbol of a pi's state; `None` means a guess that a pi is running.
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
