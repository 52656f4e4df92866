//! There are no signals that the program could hear of.

use std::io;

use crate::system::messages::Signal;

/// Tells of nothing.
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
    /// One that holds nothing back.
    ///
    /// # Errors
    /// None.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Does some work.
    #[allow(clippy::unused_self, reason = "others hold something back")]
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    /// None was held back.
    #[allow(clippy::unused_self, reason = "others hold something back")]
    pub(crate) fn noted(&self) -> Option<u8> {
        None
    }
}

/// There is no such limit.
///
/// # Errors
/// None.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// Programs are not stopped here.
///
/// # Errors
/// None.
pub(crate) fn suspend() -> io::Result<()> {
    Ok(())
}

/// Programs are not stopped here.
///
/// # Errors
/// None.
pub(crate) fn suspend_job() -> io::Result<()> {
    Ok(())
}

/// Keys reach whoever reads them.
pub(crate) fn lend_terminal() {}
