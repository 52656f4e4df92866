//! What only Unix has: signals, suspending, replacing the process. Other systems get what comes nearest.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

use crate::runtime::event::{Event, Signal};

/// Sends an event for each signal that would end or stop the program.
#[cfg(unix)]
pub(super) fn watch_signals(sender: &Sender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    let sender = sender.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let what = match signal {
                SIGTSTP => Signal::Suspend,
                SIGCONT => Signal::Continued,
                other => Signal::Stop(other),
            };
            if sender.send(Event::Signal(what)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn watch_signals(_sender: &Sender<Event>) -> io::Result<()> {
    Ok(())
}

/// Signals that ask the program to end, held back while it does what must not be cut off: interrupt, terminate, hang up.
#[derive(Debug)]
pub struct Hold {
    /// Whether they end the program.
    is_free: Arc<AtomicBool>,
    /// The number of the last one that was held back; 0 if there was none.
    noted: Arc<AtomicUsize>,
}

impl Hold {
    /// One that holds nothing back yet.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn new() -> io::Result<Self> {
        let hold = Self { is_free: Arc::new(AtomicBool::new(true)), noted: Arc::default() };
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register_conditional_default(signal, hold.is_free.clone())?;
            signal_hook::flag::register_usize(signal, hold.noted.clone(), signal.unsigned_abs() as usize)?;
        }
        Ok(hold)
    }

    /// Holds them back during some work.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_free.store(false, Ordering::SeqCst);
        let done = work();
        self.is_free.store(true, Ordering::SeqCst);
        done
    }

    /// The number of the signal that was held back last.
    pub fn noted(&self) -> Option<u8> {
        u8::try_from(self.noted.load(Ordering::SeqCst)).ok().filter(|&signal| signal > 0)
    }
}

/// Lets a write beyond the size that files may have fail as any other write, instead of ending the program.
///
/// # Errors
/// The system does not allow it.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    // A handler rather than none: pi, which may take the place of this process, shall find the signal as it was.
    let noted = std::sync::Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted).map(|_| ())
}

/// There is no such limit.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// Stops this process until the shell continues it, because it was told to.
#[cfg(unix)]
pub(super) fn suspend() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)
}

/// Stops the whole job that this process belongs to, as Ctrl+Z does where the terminal sees to it: a script around
/// pitree must stop as well, or the shell would not get the terminal back.
#[cfg(unix)]
pub(super) fn suspend_job() -> io::Result<()> {
    Ok(rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?)
}

#[cfg(not(unix))]
pub(super) fn suspend() -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn suspend_job() -> io::Result<()> {
    Ok(())
}

/// Lets `command` take the place of this process. Returns only if that failed.
#[cfg(unix)]
pub(super) fn replace_process(command: &mut Command) -> io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

/// Runs `command` to its end and ends with its code. Returns only if that failed.
#[cfg(not(unix))]
pub(super) fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}
