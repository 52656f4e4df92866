//! The thread that reads input from the terminal, and the gate that stops it while another program has the terminal.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::config::Palette;
use crate::runtime::event::Event;
use crate::runtime::terminal_background::of_answer;
use crate::system::Input;
use crate::system::input::{self, InputWaker};

/// Time limit for the reading thread to get to the gate.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the reading thread is let through, or stands.
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
    /// It is to be closed, and the thread may still be reading.
    Closing,
    /// The thread stands before it.
    Closed,
    /// The thread ended.
    Left,
}

impl InputGate {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        // It is changed in single steps, so that a panic leaves it whole.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing comes after the thread's end.
    fn set(&self, new: GateState) {
        let mut state = self.lock();
        if *state != GateState::Left {
            *state = new;
            self.0.changed.notify_all();
        }
    }

    /// Stands before the gate as long as it is closed.
    fn pass(&self) {
        let mut state = self.lock();
        while matches!(*state, GateState::Closing | GateState::Closed) {
            *state = GateState::Closed;
            self.0.changed.notify_all();
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does something while the thread does not read from the terminal.
    pub(super) fn closed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set(GateState::Closing);
        if self.0.waker.wake() {
            let is_coming = |state: &mut GateState| *state == GateState::Closing;
            drop(self.0.changed.wait_timeout_while(self.lock(), PATIENCE, is_coming));
        }
        let result = work();
        self.set(GateState::Open);
        result
    }
}

/// Starts the thread that sends input from the terminal; the terminal's background color goes to the one who `asked`.
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
                        let _ = asked.as_ref().zip(of_answer(&text)).map(|(asked, palette)| asked.send(palette));
                    }
                }
            }
            if !events.is_empty() && sender.send(Event::Inputs(events)).is_err() {
                return;
            }
        }
        here.set(GateState::Left);
        let _ = sender.send(Event::InputEnded); // fails if the loop ended before
    });
    Ok(gate)
}
