//! Events of the main loop.

use crossterm::event::Event as Input;

use crate::app::message::Msg;
use crate::system::Signal;

/// An event of the main loop.
pub(super) enum Event {
    /// All pending input from the terminal.
    Inputs(Vec<Input>),
    /// The terminal can no longer be read.
    InputEnded,
    /// A message from a worker.
    Msg(Msg),
    /// A signal.
    Signal(Signal),
}
