//! Signals, which do not exist here.

use std::io;

use crate::system::messages::Signal;

/// Reports nothing.
///
/// # Errors
/// None.
pub(crate) fn watch(_tell: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Holds nothing back.
#[derive(Debug)]
pub(crate) struct SignalHold;

impl SignalHold {
    /// Creates it.
    ///
    /// # Errors
    /// None.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Runs some work.
    #[allow(clippy::unused_self, reason = "others hold something back")]
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Returns `None`.
    #[allow(clippy::unused_self, reason = "others hold something back")]
    pub(crate) fn noted(&self) -> Option<u8> {
        None
    }
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
