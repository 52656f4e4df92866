//! The thread that reads terminal input, and the gate that pauses it while another program uses the terminal.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::{io, thread};

use crate::app::message::Msg;
use crate::config::Palette;
use crate::runtime::terminal::palette_of_answer;
use crate::system::input::{self, InputWaker};
use crate::system::{Input, Signal};

/// An event for the event loop.
pub(super) enum Event {
    /// Input of one read.
    Inputs(Vec<crossterm::event::Event>),
    InputEnded,
    Msg(Msg),
    Signal(Signal),
}

/// The time limit for the reading thread to reach the gate.
const GATE_TIMEOUT: Duration = Duration::from_secs(1);

/// A gate for the reading thread.
#[derive(Clone)]
pub(super) struct InputGate(Arc<SharedGate>);

struct SharedGate {
    state: Mutex<GateState>,
    changed: Condvar,
    waker: InputWaker,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum GateState {
    #[default]
    Open,
    /// The gate is closing, and the thread may still be reading.
    Closing,
    /// The thread is paused.
    Closed,
    /// The thread has ended.
    Left,
}

impl InputGate {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        // The state is consistent after a panic, because each change is a single step.
        self.0.state.lock()
    }

    /// The state is final after the thread has ended.
    fn set(&self, new: GateState) {
        let mut state = self.lock();
        if *state != GateState::Left {
            *state = new;
            self.0.changed.notify_all();
        }
    }

    /// Blocks while the gate is closed.
    fn pass(&self) {
        let mut state = self.lock();
        while matches!(*state, GateState::Closing | GateState::Closed) {
            *state = GateState::Closed;
            self.0.changed.notify_all();
            self.0.changed.wait(&mut state);
        }
    }

    /// Runs a function while the thread is paused.
    pub(super) fn closed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set(GateState::Closing);
        if self.0.waker.wake() {
            let is_coming = |state: &mut GateState| *state == GateState::Closing;
            self.0.changed.wait_while_for(&mut self.lock(), is_coming, GATE_TIMEOUT);
        }
        let result = work();
        self.set(GateState::Open);
        result
    }
}

/// Starts the thread that reads terminal input. Sends the background color of the terminal to `asked`.
///
/// # Errors
/// There is no terminal to read from.
pub(super) fn watch(sender: Sender<Event>, asked: Option<Sender<Palette>>) -> io::Result<InputGate> {
    let (mut reader, waker) = input::open()?;
    let gate = InputGate(Arc::new(SharedGate { state: Mutex::default(), changed: Condvar::new(), waker }));
    let here = gate.clone();
    thread::spawn(move || {
        loop {
            here.pass();
            let Ok(inputs) = reader.read() else { break };
            let mut events = Vec::new();
            for input in inputs {
                match input {
                    Input::Event(event) => events.push(event),
                    Input::Answer(text) => {
                        // A late answer has no receiver.
                        let _ =
                            asked.as_ref().zip(palette_of_answer(&text)).map(|(asked, palette)| asked.send(palette));
                    }
                }
            }
            if !events.is_empty() && sender.send(Event::Inputs(events)).is_err() {
                return;
            }
        }
        here.set(GateState::Left);
        let _ = sender.send(Event::InputEnded); // fails if the loop has ended
    });
    Ok(gate)
}
