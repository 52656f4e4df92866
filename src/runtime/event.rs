//! What the loop waits for.

use crossterm::event::Event as Input;

use crate::app::message::Msg;
use crate::system::Signal;

/// What the loop waits for.
pub(super) enum Event {
    /// From the terminal.
    Input(Input),
    /// The terminal can't be read any more.
    InputEnded,
    /// From a lane.
    Msg(Msg),
    /// The system wants the program to stop, for a while or for good.
    Signal(Signal),
}
