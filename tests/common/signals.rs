//! Signals to programs under test, sent without the program `kill`, which minimal systems lack.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const SIGNALS: [(&str, Signal); 15] = [
    ("ABRT", Signal::ABORT),
    ("ALRM", Signal::ALARM),
    ("CONT", Signal::CONT),
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("KILL", Signal::KILL),
    ("PROF", Signal::PROF),
    ("QUIT", Signal::QUIT),
    ("STOP", Signal::STOP),
    ("TERM", Signal::TERM),
    ("TSTP", Signal::TSTP),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("VTALRM", Signal::VTALARM),
    ("XCPU", Signal::XCPU),
];

/// Sends a signal, such as `TERM`.
pub(crate) fn send(pid: u32, name: &str) {
    let (_, signal) = SIGNALS.iter().find(|(known, _)| *known == name).unwrap();
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), *signal).unwrap();
}

/// Waits until a process has ended, for up to a minute: a signal takes its time to arrive. Returns `true` if it has.
pub(crate) fn ends(pid: &str) -> bool {
    (0..6000).any(|_| {
        is_over(pid) || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    })
}

/// Returns `true` if a process has ended; on Linux, its parent may not have read its status.
fn is_over(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => test_kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap()).is_err(),
    }
}
