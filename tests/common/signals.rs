//! Signals to programs under test, sent without the program `kill`, which minimal systems lack.

use rustix::process::{Pid, Signal, kill_process};

const SIGNALS: [(&str, Signal); 9] = [
    ("ABRT", Signal::ABORT),
    ("CONT", Signal::CONT),
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("KILL", Signal::KILL),
    ("QUIT", Signal::QUIT),
    ("STOP", Signal::STOP),
    ("TERM", Signal::TERM),
    ("TSTP", Signal::TSTP),
];

/// Sends a signal, such as `TERM`.
pub(crate) fn send(pid: u32, name: &str) {
    let (_, signal) = SIGNALS.iter().find(|(known, _)| *known == name).unwrap();
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), *signal).unwrap();
}
