//! The thread that reads what comes from the terminal, and the gate before it: while another program has the terminal,
//! what is typed is that program's.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::config::Palette;
use crate::runtime::background::{GAP, Heard, Listener};
use crate::runtime::event::Event;
use crate::system::{signals, terminal};

/// How often the thread is woken until it stands at the gate, and how long it may take to get there each time.
const TRIES: (usize, Duration) = (50, Duration::from_millis(20));

/// Where the reading thread is let through, or stands.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// It is to be closed, and the thread may still be reading.
    Closing,
    /// The thread stands before it.
    Closed,
    /// The thread ended.
    Left,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        // It is changed in single steps, so that a panic leaves it whole.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing comes after the thread's end.
    fn set(&self, new: State) {
        let mut state = self.lock();
        if *state != State::Left {
            *state = new;
            self.0.1.notify_all();
        }
    }

    /// Stands before the gate as long as it is closed.
    fn pass(&self) {
        let mut state = self.lock();
        while matches!(*state, State::Closing | State::Closed) {
            *state = State::Closed;
            self.0.1.notify_all();
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does something while nobody here reads from the terminal.
    pub(super) fn closed<T>(&self, work: impl FnOnce() -> T) -> T {
        self.set(State::Closing);
        for _ in 0..TRIES.0 {
            if *self.lock() != State::Closing || !signals::wake_reader() {
                break;
            }
            let state = self.lock();
            let is_coming = |state: &mut State| *state == State::Closing;
            drop(self.0.1.wait_timeout_while(state, TRIES.1, is_coming));
        }
        let result = work();
        self.set(State::Open);
        result
    }
}

/// Sends what comes from the terminal, without its answer about its background, which is told to the one who has `asked`.
pub(super) fn watch(sender: Sender<Event>, mut asked: Option<Sender<Palette>>) -> Gate {
    let gate = Gate::default();
    let here = gate.clone();
    let ended = sender.clone();
    terminal::watch_hang_up(move || drop(ended.send(Event::InputEnded)));
    thread::spawn(move || {
        let mut listener = Listener::default();
        loop {
            here.pass();
            let is_silent = listener.is_waiting() && matches!(crossterm::event::poll(GAP), Ok(false));
            let inputs = if is_silent {
                listener.give_up()
            } else {
                let Ok(input) = crossterm::event::read() else { break };
                match (&asked, input) {
                    (None, input) => vec![input],
                    (Some(tell), input) => match listener.hear(input) {
                        Heard::Inputs(inputs) => inputs,
                        Heard::Answer(palette) => {
                            let _ = palette.map(|palette| tell.send(palette)); // nobody waits for a late one
                            asked = None;
                            Vec::new()
                        }
                    },
                }
            };
            for input in inputs {
                if sender.send(Event::Input(input)).is_err() {
                    return;
                }
            }
        }
        here.set(State::Left);
        let _ = sender.send(Event::InputEnded); // nobody is left to hear it if this fails
    });
    gate
}
