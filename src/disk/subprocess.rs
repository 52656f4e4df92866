//! Runs subprocesses in the background, captures their output and limits their time.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::programs;

/// The interval between checks for the end of a subprocess.
const LOOK: Duration = Duration::from_millis(5);

/// The maximum number of captured output bytes.
const KEPT: u64 = 4096;

/// Starts a subprocess. Ctrl+C in a terminal only interrupts pitree, not the subprocess.
///
/// # Errors
/// The program cannot be run.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    programs::start_apart(command)
}

/// Waits for a subprocess. `gives_up` receives the elapsed time and can end the subprocess with all its children; then
/// there is no status.
///
/// # Errors
/// The system cannot report its status.
pub(crate) fn ended(child: &mut Child, mut gives_up: impl FnMut(Duration) -> bool) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if gives_up(begun.elapsed()) {
            programs::end(child);
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// Captures the output of a subprocess to its end.
pub(crate) fn said(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    if let Some(from) = from {
        thread::spawn(move || {
            let mut said = Vec::new();
            let mut from = from.take(KEPT);
            let _ = from.read_to_end(&mut said); // a partial output is returned
            let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
            let _ = io::copy(from.get_mut(), &mut io::sink()); // otherwise the subprocess would block on a full pipe
        });
    }
    words
}
