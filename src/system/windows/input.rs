//! Console input, as crossterm reads it.

use std::io;

use crate::system::messages::Input;

/// Reader of the console's input.
pub(crate) struct InputReader;

/// Cannot interrupt a [`InputReader`].
#[derive(Debug)]
pub(crate) struct InputWaker;

/// Opens the console for reading.
///
/// # Errors
/// None.
pub(crate) fn open() -> io::Result<(InputReader, InputWaker)> {
    Ok((InputReader, InputWaker))
}

impl InputWaker {
    /// Returns `false`: the reader does not react.
    pub(crate) fn wake(&self) -> bool {
        false
    }
}

impl InputReader {
    /// Waits for input.
    ///
    /// # Errors
    /// The console is gone.
    pub(crate) fn read(&mut self) -> io::Result<Vec<Input>> {
        Ok(vec![Input::Event(crossterm::event::read()?)])
    }
}
