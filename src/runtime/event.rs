//! What the loop waits for.

use crossterm::event::Event as Input;

use crate::app::message::Msg;
use crate::system::Signal;

/// What the loop waits for.
pub(super) enum Event {
    /// Input from the terminal, all that was waiting.
    Inputs(Vec<Input>),
    /// The terminal cannot be read any more.
    InputEnded,
    /// From a lane.
    Msg(Msg),
    /// A signal of the system.
    Signal(Signal),
}
