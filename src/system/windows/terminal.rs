//! The terminal, which sets itself right when the program is gone.

use std::io;

/// The files of the terminal to read from and to write to.
pub(crate) const FILES: [&str; 2] = ["CONIN$", "CONOUT$"];

/// Whether what the terminal answers comes among the keys.
pub(crate) const ANSWERS: bool = false;

/// Is told whether the program has the terminal.
pub(crate) fn note(_is_taken: bool) {}

/// Nothing is to be done.
///
/// # Errors
/// None.
pub(crate) fn restore_on_abort() -> io::Result<()> {
    Ok(())
}

/// No error says so.
pub(crate) fn is_hung_up(_error: &io::Error) -> bool {
    false
}
