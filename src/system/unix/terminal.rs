//! Direct access to the terminal, for ending the program at any point.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{emulate_default_handler, register};

/// The files for reading from and writing to the terminal.
pub(crate) const FILES: [&str; 2] = ["/dev/tty"; 2];

/// `true` if answers of the terminal arrive among the keys.
pub(crate) const ANSWERS: bool = true;

/// `true` while the terminal is not in its original state.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The non-blocking terminal, and its original settings.
static DIRECT: OnceLock<(File, Termios)> = OnceLock::new();

/// Records if the program uses the terminal.
pub(crate) fn note(is_taken: bool) {
    IS_TAKEN.store(is_taken, Ordering::SeqCst);
}

/// Restores the terminal without blocking. Allocates nothing, so that it can run in a signal handler and beside a
/// thread that waits for the terminal.
pub(super) fn restore_at_once() {
    /// Disables bracketed paste and mouse, leaves the alternate screen and shows the cursor, like `restore` in
    /// `runtime/terminal`.
    const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1049l\x1b[?25h";
    if let Some((terminal, before)) = DIRECT.get().filter(|_| IS_TAKEN.load(Ordering::SeqCst)) {
        if rustix::io::write(terminal, LEAVE) != Ok(LEAVE.len()) {
            // Discards pending output to make room.
            let _ = tcflush(terminal, QueueSelector::OFlush);
            let _ = rustix::io::write(terminal, LEAVE);
        }
        let _ = tcsetattr(terminal, OptionalActions::Now, before);
    }
}

/// Restores the terminal before the program is aborted, for example without memory. Does nothing without a terminal.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn restore_on_abort() -> io::Result<()> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let terminal = OpenOptions::new().write(true).custom_flags(flags).open(FILES[1]);
    let Ok(terminal) = terminal else { return Ok(()) };
    let Ok(before) = tcgetattr(&terminal) else { return Ok(()) };
    if DIRECT.set((terminal, before)).is_err() {
        return Ok(());
    }
    #[allow(
        unsafe_code,
        reason = "a handler must do nothing but what is safe in one: this writes and sets the terminal"
    )]
    unsafe {
        let abort = || {
            restore_at_once();
            if let Some((terminal, _)) = DIRECT.get() {
                let _ = rustix::io::write(terminal, b"pitree: aborted, probably out of memory\r\n");
            }
            let _ = emulate_default_handler(SIGABRT); // ends the program
        };
        register(SIGABRT, abort).map(drop)
    }
}

/// Returns `true` if the error means that the terminal is closed.
pub(crate) fn is_hung_up(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}
