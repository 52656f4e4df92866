//! Terminal input: reads bytes from the terminal and parses them. A wake-up interrupts the wait.
//!
//! crossterm (0.29) reads on in its parser after a sequence that it does not understand, and misses resizes meanwhile.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;

use filedescriptor::{POLLIN, poll, pollfd};

use crate::system::messages::Input;
use crate::system::unix::sequences::Parser;
use crate::system::unix::terminal::FILES;

/// The number of bytes per read.
const BUFFER: usize = 4096;

/// Reader of the terminal's input.
pub(crate) struct InputReader {
    terminal: File,
    woken: UnixStream,
    parser: Parser,
}

/// Interrupts a [`InputReader`] that waits.
#[derive(Debug)]
pub(crate) struct InputWaker(UnixStream);

/// Opens the terminal for reading.
///
/// # Errors
/// There is no terminal, or the system is out of file descriptors.
pub(crate) fn open() -> io::Result<(InputReader, InputWaker)> {
    let stdin = io::stdin();
    let terminal = if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open(FILES[0])? };
    let (woken, waker) = UnixStream::pair()?;
    waker.set_nonblocking(true)?;
    Ok((InputReader { terminal, woken, parser: Parser::default() }, InputWaker(waker)))
}

impl InputWaker {
    /// Interrupts the reader. Returns `true` if it reacts.
    pub(crate) fn wake(&self) -> bool {
        // A full pipe holds a wake-up already.
        !matches!((&self.0).write(&[0]), Err(error) if error.kind() != io::ErrorKind::WouldBlock)
    }
}

impl InputReader {
    /// Waits for input; returns nothing after a wake-up.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn read(&mut self) -> io::Result<Vec<Input>> {
        let wait_for = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut waits = [wait_for(self.terminal.as_raw_fd()), wait_for(self.woken.as_raw_fd())];
        match poll(&mut waits, self.parser.patience()) {
            Ok(0) => return Ok(self.parser.give_up()),
            Ok(_) => {}
            Err(filedescriptor::Error::Poll(error)) if error.kind() == io::ErrorKind::Interrupted => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        let mut buffer = [0; BUFFER];
        if waits[1].revents != 0 {
            return self.woken.read(&mut buffer).map(|_| Vec::new());
        }
        let len = length(self.terminal.read(&mut buffer))?;
        Ok(self.parser.take(&buffer[..len]))
    }
}

/// Returns the number of bytes that were read. It is 0 if a signal interrupted reading, or if another program that uses
/// the terminal took the bytes: such a program may also have made it non-blocking.
fn length(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(0),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_the_input_and_real_errors_end_reading() {
        let failed = |kind: io::ErrorKind| length(Err(kind.into())).map_err(|error| error.kind());
        assert_eq!(length(Ok(7)).unwrap(), 7);
        assert_eq!(length(Ok(0)).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(failed(io::ErrorKind::WouldBlock), Ok(0));
        assert_eq!(failed(io::ErrorKind::Interrupted), Ok(0));
        assert_eq!(failed(io::ErrorKind::PermissionDenied), Err(io::ErrorKind::PermissionDenied));
    }
}
