//! Programs that run beside this one, out of sight: what they say, and that they come to an end.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::programs;

/// How long it takes until it is seen that one ended.
const LOOK: Duration = Duration::from_millis(5);

/// As much of what they say is kept, in bytes.
const KEPT: u64 = 4096;

/// Starts one. Ctrl+C in a terminal is for pitree, not for it.
///
/// # Errors
/// It can't be run.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    programs::start_apart(command)
}

/// Waits until one ended; `gives_up` gets how long that takes, and may have it ended with all that it started: then there
/// is no status.
///
/// # Errors
/// The system can't tell.
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

/// What one says, once that is all.
pub(crate) fn said(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    if let Some(from) = from {
        thread::spawn(move || {
            let mut said = Vec::new();
            let mut from = from.take(KEPT);
            let _ = from.read_to_end(&mut said); // what was read is said
            let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
            let _ = io::copy(from.get_mut(), &mut io::sink()); // or it would wait for somebody to read on
        });
    }
    words
}
