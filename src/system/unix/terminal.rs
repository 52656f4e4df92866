//! The terminal by a way of its own, for when the program is ended in the middle of anything.

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

/// The files of the terminal to read from and to write to.
pub(crate) const FILES: [&str; 2] = ["/dev/tty"; 2];

/// Whether what the terminal answers comes among the keys.
pub(crate) const ANSWERS: bool = true;

/// Whether the terminal is not as it was before.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, not waited for, and how it was set before.
static DIRECT: OnceLock<(File, Termios)> = OnceLock::new();

/// Is told whether the program has the terminal.
pub(crate) fn note(is_taken: bool) {
    IS_TAKEN.store(is_taken, Ordering::SeqCst);
}

/// Gives the terminal back as far as that is possible at once. Allocates nothing and waits for nobody, so that it can be
/// done in a handler of a signal and beside a thread that waits for the terminal.
pub(super) fn give_back_at_once() {
    /// No marked pastes, no mouse, the other screen, the cursor: as `give_back` in `runtime/terminal` says it.
    const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1049l\x1b[?25h";
    if let Some((terminal, before)) = DIRECT.get().filter(|_| IS_TAKEN.load(Ordering::SeqCst)) {
        if rustix::io::write(terminal, LEAVE) != Ok(LEAVE.len()) {
            // What the terminal did not take is of no use any more, and there is room then.
            let _ = tcflush(terminal, QueueSelector::OFlush);
            let _ = rustix::io::write(terminal, LEAVE);
        }
        let _ = tcsetattr(terminal, OptionalActions::Now, before);
    }
}

/// When the program is aborted, as for want of memory, it gives the terminal back first. Without a terminal of its own
/// there is nothing to give back.
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
            give_back_at_once();
            if let Some((terminal, _)) = DIRECT.get() {
                let _ = rustix::io::write(terminal, b"pitree: aborted, probably out of memory\r\n");
            }
            let _ = emulate_default_handler(SIGABRT); // ends the program
        };
        register(SIGABRT, abort).map(drop)
    }
}

/// Whether an error says that the terminal is gone.
pub(crate) fn is_hung_up(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}
