//! The sign of what a pi is doing in a session.

use crate::base::text::{Glyphs, Tone};
use crate::catalog::live::State;

/// Its tone and sign; without a state it is guessed that one is there.
pub(super) fn sign(state: Option<State>, glyphs: &Glyphs) -> (Tone, &str) {
    match state {
        Some(State::Blocked) => (Tone::Error, &glyphs.blocked),
        Some(State::Error) => (Tone::Error, &glyphs.failed),
        Some(State::Waiting) => (Tone::Warning, &glyphs.waiting),
        Some(State::Working) => (Tone::Active, &glyphs.working),
        Some(State::Idle) => (Tone::Dim, &glyphs.idle),
        None => (Tone::Dim, &glyphs.live),
    }
}
