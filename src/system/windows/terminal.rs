//! The terminal, which restores itself when the program exits.

use std::io;

/// The files of the terminal to read from and to write to.
pub(crate) const FILES: [&str; 2] = ["CONIN$", "CONOUT$"];

/// `true` if answers of the terminal arrive among the keys.
pub(crate) const ANSWERS: bool = false;

/// Does nothing.
pub(crate) fn note(_is_taken: bool) {}

/// Does nothing.
///
/// # Errors
/// None.
pub(crate) fn restore_on_abort() -> io::Result<()> {
    Ok(())
}

/// Returns `false`: no error means that the terminal is closed.
pub(crate) fn is_hung_up(_error: &io::Error) -> bool {
    false
}
