//! What the loop waits for.

use crossterm::event::Event as Input;

use crate::app::message::Msg;

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

/// What the system wants.
pub(super) enum Signal {
    /// End; the number of the signal.
    Stop(i32),
    /// Stop until continued.
    Suspend,
    /// Go on after a stop that was not announced: the terminal may have changed.
    Continued,
}
