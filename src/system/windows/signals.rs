//! Signals, which do not exist here.

use std::io;

use crate::system::messages::Signal;

/// Reports nothing.
///
/// # Errors
/// None.
pub(crate) fn watch(_on_signal: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// None.
pub(crate) fn hold() -> io::Result<()> {
    Ok(())
}

/// Runs some work.
pub(crate) fn held_during<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Returns `None`.
pub(crate) fn pending_signal() -> Option<u8> {
    None
}

/// Does nothing: there is no such limit.
///
/// # Errors
/// None.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// Does nothing: programs cannot be stopped.
///
/// # Errors
/// None.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(())
}

/// Does nothing: programs cannot be stopped.
///
/// # Errors
/// None.
pub(crate) fn suspend_job() -> io::Result<()> {
    Ok(())
}

/// Does nothing.
pub(crate) fn lend_terminal() {}
