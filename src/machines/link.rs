//! A connection to a machine: a subprocess whose input and output are read and written by threads, so that a machine that
//! hangs is given up. Its error messages explain a failure.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::base::text::clean;
use crate::disk::program;
use crate::machines::transport::Transport;
use crate::system::{programs, signals};

/// The time without any data after which a machine is given up.
const IDLE: Duration = Duration::from_secs(10);

/// The time without any data while ssh can ask the user.
const ASKING: Duration = Duration::from_secs(180);

/// The time limit to list files.
pub(super) const LIST_LIMIT: Duration = Duration::from_secs(300);

/// The interval between checks for signals.
const LOOK: Duration = Duration::from_millis(200);

/// The time for a program to end after its output.
const END: Duration = Duration::from_secs(3);

/// The number of bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// The number of chunks that are read ahead.
const AHEAD: usize = 16;

/// The maximum number of kept bytes of error messages.
const MOST_ERRORS: usize = 8192;

/// The maximum wait for the last error messages of a program that ended.
const LAST_ERRORS: Duration = Duration::from_millis(250);

/// The maximum number of lines that the shell of a machine prints before the output of a script.
const MOST_LINES: usize = 200;

/// The exit code of a script that did not find a program.
pub(super) const MISSING: i32 = 97;

/// The reason why a machine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct LinkError {
    /// The reason and a remedy, on one line.
    pub(crate) reason: String,
    /// `true` if the machine cannot be reached, which can change by itself.
    pub(crate) is_offline: bool,
    /// `true` if the machine did not answer in time.
    pub(crate) is_silent: bool,
    /// `true` if a script did not find the program that it runs.
    pub(crate) is_missing: bool,
}

impl LinkError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_offline: false, is_silent: false, is_missing: false }
    }

    pub(super) fn offline(reason: impl Into<String>) -> Self {
        Self { is_offline: true, ..Self::new(reason) }
    }
}

/// A connection.
pub(super) struct Link {
    child: Child,
    input: Option<Sender<Vec<u8>>>,
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
    errors: Arc<ErrorOutput>,
    /// The number of bytes received and sent.
    pub(super) transferred: u64,
    idle: Duration,
    /// The time at which the machine is given up.
    end: Option<Instant>,
}

impl Link {
    /// Runs a script on a machine.
    ///
    /// # Errors
    /// The program that reaches the machine is missing or cannot be started.
    pub(super) fn run(transport: Transport<'_>, script: &str) -> Result<Self, LinkError> {
        let command = transport.script(script).map_err(|error| LinkError::new(format!("{error:#}")))?;
        Self::start_as(command, transport.can_ask)
    }

    /// Starts the program.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(command: Command) -> Result<Self, LinkError> {
        Self::start_as(command, false)
    }

    /// Starts the program, which can ask in the terminal with `can_ask`.
    fn start_as(mut command: Command, can_ask: bool) -> Result<Self, LinkError> {
        // A program in the background cannot read from the terminal.
        let started = if can_ask { command.spawn() } else { programs::start_apart(&mut command) };
        let mut child = started.map_err(|error| LinkError::new(error.to_string()))?;
        let idle = if can_ask { ASKING } else { IDLE };
        let input = child.stdin.take().map(write_from);
        let (sender, chunks) = mpsc::sync_channel(AHEAD);
        if let Some(mut output) = child.stdout.take() {
            thread::spawn(move || {
                loop {
                    let mut chunk = vec![0; CHUNK];
                    let read = output.read(&mut chunk).map(|count| {
                        chunk.truncate(count);
                        chunk
                    });
                    let is_end = read.as_ref().map_or(true, Vec::is_empty);
                    if sender.send(read).is_err() || is_end {
                        return;
                    }
                }
            });
        }
        let errors = Arc::new(ErrorOutput::default());
        if let Some(from) = child.stderr.take() {
            let errors = errors.clone();
            thread::spawn(move || errors.collect(from));
        }
        Ok(Self { child, input, chunks, chunk: Vec::new(), at: 0, errors, transferred: 0, idle, end: None })
    }

    /// Gives up the machine after a time, even if it sends data; `None` for no limit. Silence has the usual limit from now
    /// on.
    pub(super) fn end_within(&mut self, limit: Option<Duration>) {
        self.end = limit.map(|limit| Instant::now() + limit);
        self.idle = IDLE;
    }

    /// Sets the time without any data after which the machine is given up.
    pub(super) fn wait_at_most(&mut self, idle: Duration) {
        self.idle = idle;
    }

    /// Ends the input of the program.
    pub(super) fn end_input(&mut self) {
        self.input = None;
    }

    /// Explains why the connection failed.
    pub(super) fn explain(&mut self, error: &io::Error) -> LinkError {
        if error.kind() == io::ErrorKind::TimedOut {
            let reason = format!("no answer for {} s", self.idle.as_secs());
            return LinkError { is_silent: true, ..LinkError::offline(reason) };
        }
        self.end_input();
        let status = program::ended(&mut self.child, |elapsed| elapsed >= END);
        let code = status.ok().flatten().and_then(|status| status.code());
        let is_end = matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe);
        explain(&self.errors.text(), code, if is_end { None } else { Some(error) })
    }

    /// Returns the exit code after the end of the output; `None` if it does not end, or ended by a signal.
    pub(super) fn code(&mut self) -> Option<i32> {
        self.end_input();
        program::ended(&mut self.child, |elapsed| elapsed >= END).ok().flatten()?.code()
    }

    /// Skips the lines that the shell prints before one of the lines that mark the output of a script. Returns the mark.
    ///
    /// # Errors
    /// There is no such line, or too many before it.
    pub(super) fn skip_to<'m>(&mut self, marks: &[&'m str]) -> io::Result<&'m str> {
        for _ in 0..MOST_LINES {
            let line = self.line()?;
            if let Some(mark) = marks.iter().find(|mark| line.trim_end_matches('\r') == **mark) {
                return Ok(mark);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "the shell printed other lines than expected"))
    }

    /// Reads a line without its end.
    ///
    /// # Errors
    /// The output ends, or the line is too long.
    pub(super) fn line(&mut self) -> io::Result<String> {
        /// The maximum length of a line: a path and two numbers.
        const LONGEST: usize = 8192;
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            self.read_exact(&mut byte)?;
            match byte[0] {
                b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
                byte if line.len() < LONGEST => line.push(byte),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long")),
            }
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            self.chunk = self.next_chunk()?;
            (self.at, self.transferred) = (0, self.transferred + self.chunk.len() as u64);
        }
        let count = buffer.len().min(self.chunk.len() - self.at);
        buffer[..count].copy_from_slice(&self.chunk[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

impl Link {
    fn next_chunk(&self) -> io::Result<Vec<u8>> {
        let begun = Instant::now();
        loop {
            if self.end.is_some_and(|end| Instant::now() >= end) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.chunks.recv_timeout(LOOK) {
                Ok(chunk) => return chunk,
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) if signals::noted().is_some() => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= self.idle => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_open = self.input.as_ref().is_some_and(|input| input.send(bytes.to_vec()).is_ok());
        if !is_open {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.transferred += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.input = None;
        programs::end(&mut self.child);
    }
}

/// Writes to a program in a thread, because it may not read.
fn write_from(mut to: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, pieces) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for piece in pieces {
            if to.write_all(&piece).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

/// The first error messages of a program.
#[derive(Default)]
struct ErrorOutput {
    text: Mutex<Vec<u8>>,
    is_complete: AtomicBool,
}

impl ErrorOutput {
    /// Reads all messages, and keeps the first ones.
    fn collect(&self, mut from: impl Read) {
        let mut chunk = [0; 1024];
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MOST_ERRORS.saturating_sub(text.len());
            text.extend_from_slice(&chunk[..count.min(room)]);
        }
        self.is_complete.store(true, Ordering::Release);
    }

    /// Returns the messages. Waits a moment for the last one, but not for the end: a connection that ssh shares keeps the
    /// pipe open.
    fn text(&self) -> String {
        let begun = Instant::now();
        while !self.is_complete.load(Ordering::Acquire) && begun.elapsed() < LAST_ERRORS {
            thread::sleep(LAST_ERRORS / 50);
        }
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Parts of error messages, and what to do. `true` for a machine that cannot be reached.
const KNOWN: &[(&str, &str, bool)] = &[
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the host key has changed; check why, then remove the old key with ssh-keygen -R",
        false,
    ),
    ("Host key verification failed", "the host key is unknown; run ssh once by hand to accept it", false),
    ("Permission denied (", "ssh cannot log in; add your key to the ssh agent or to the machine", false),
    ("Disk quota exceeded", "the disk quota on the machine is used up", false),
    ("No space left on device", "the disk of the machine is full", false),
    ("No such container", "no such container; its mirror is kept", true),
    ("is not running", "the container is not running", true),
    ("Cannot connect to the Docker daemon", "docker is not running", true),
    ("Could not resolve hostname", "unknown host", true),
    ("Connection refused", "connection refused", true),
    ("timed out", "no answer", true),
    ("No route to host", "no route to the host", true),
    ("Network is unreachable", "the network is unreachable", true),
];

fn explain(errors: &str, code: Option<i32>, error: Option<&io::Error>) -> LinkError {
    if let Some((_, reason, is_offline)) = KNOWN.iter().find(|(part, ..)| errors.contains(part)) {
        return LinkError { is_offline: *is_offline, ..LinkError::new(*reason) };
    }
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(|line| clean(line.trim()).into_owned());
    match (code, last, error) {
        (Some(MISSING), ..) => LinkError { is_missing: true, ..LinkError::new("pitree is not installed there") },
        // ssh itself failed.
        (Some(255), Some(last), _) => LinkError::offline(last),
        (Some(code), Some(last), _) if code != 0 => LinkError::new(format!("{last} (exit code {code})")),
        (_, _, Some(error)) => LinkError::new(error.to_string()),
        (Some(0 | 255) | None, ..) => LinkError::offline("the connection was lost"),
        (Some(code), ..) => LinkError::new(format!("the command there failed with exit code {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_explained() {
        let of = |errors: &str, code| {
            let error = explain(errors, code, None);
            (error.reason, error.is_offline)
        };
        let changed = "@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n";
        assert!(of(changed, Some(255)).0.starts_with("the host key has changed"));
        assert!(of("Host key verification failed.", Some(255)).0.starts_with("the host key is unknown"));
        assert_eq!(
            of("ssh: connect to host b port 22: Connection refused", Some(255)),
            ("connection refused".into(), true)
        );
        assert_eq!(of("Error: No such container: x", Some(1)), ("no such container; its mirror is kept".into(), true));
        assert!(!of("odd\u{1b}[2J", Some(3)).0.contains("\u{1b}"));
        assert_eq!(of("", None), ("the connection was lost".into(), true));
        assert!(explain("", Some(MISSING), None).is_missing);
    }
}
