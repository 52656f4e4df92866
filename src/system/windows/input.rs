//! Console input, as crossterm reads it.

use std::io;

use crate::system::messages::Input;

/// Reader of the console's input.
pub(crate) struct Reader;

/// Cannot interrupt a [`Reader`].
#[derive(Debug)]
pub(crate) struct Waker;

/// Opens the console for reading.
///
/// # Errors
/// None.
pub(crate) fn open() -> io::Result<(Reader, Waker)> {
    Ok((Reader, Waker))
}

impl Waker {
    /// Returns `false`: the reader does not react.
    #[allow(clippy::unused_self, reason = "other systems need it")]
    pub(crate) fn wake(&self) -> bool {
        false
    }
}

impl Reader {
    /// Waits for input.
    ///
    /// # Errors
    /// The console is gone.
    #[allow(clippy::unused_self, reason = "other systems need it")]
    pub(crate) fn read(&mut self) -> io::Result<Vec<Input>> {
        Ok(vec![Input::Event(crossterm::event::read()?)])
    }
}
