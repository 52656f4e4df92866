//! What only Unix has: signals, suspending, replacing the process. Other systems get what comes nearest.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::runtime::event::{Event, Signal};
#[cfg(unix)]
use crate::runtime::terminal;

/// How long after a signal the program ends, whatever it is at.
pub(super) const LIMIT: Duration = Duration::from_millis(900);

/// Sends an event for each signal that would end or stop the program.
#[cfg(unix)]
pub(super) fn watch_signals(sender: &Sender<Event>) -> io::Result<()> {
    let mut is_ending = false;
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?;
    let sender = sender.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let program = beside::PROGRAM.load(Ordering::SeqCst);
            if program != beside::NONE {
                if beside::take(signal, program) && sender.send(Event::Signal(Signal::Stop(signal))).is_err() {
                    return;
                }
                continue;
            }
            let what = match signal {
                SIGTSTP => Signal::Suspend,
                SIGCONT => Signal::Continued,
                other => {
                    if !std::mem::replace(&mut is_ending, true) {
                        std::thread::spawn(move || end_at_last(other));
                    }
                    Signal::Stop(other)
                }
            };
            if sender.send(Event::Signal(what)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Whether an error says that the terminal is gone.
#[cfg(unix)]
pub(super) fn is_hung_up(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

#[cfg(not(unix))]
pub(super) fn is_hung_up(_error: &io::Error) -> bool {
    false
}

/// Ends the program after a while, if it did not end by itself: the terminal may take no output, so that the loop hears of
/// nothing.
#[cfg(unix)]
fn end_at_last(signal: i32) {
    std::thread::sleep(LIMIT);
    terminal::give_back_at_once();
    std::process::exit(128 + signal);
}

#[cfg(not(unix))]
pub(super) fn watch_signals(_sender: &Sender<Event>) -> io::Result<()> {
    Ok(())
}

/// Signals that ask the program to end, held back while it does what must not be cut off: interrupt, terminate, hang up.
#[derive(Debug)]
pub struct Hold(Arc<Held>);

#[derive(Debug)]
struct Held {
    /// Whether they end the program.
    is_free: AtomicBool,
    /// The number of the first one that was held back; 0 if there was none.
    noted: AtomicUsize,
}

impl Hold {
    /// One that holds nothing back yet.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn new() -> io::Result<Self> {
        let held = Arc::new(Held { is_free: AtomicBool::new(true), noted: AtomicUsize::new(0) });
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
            let held = held.clone();
            std::thread::spawn(move || signals.forever().for_each(|signal| held.take(signal)));
        }
        Ok(Self(held))
    }

    /// Holds them back during some work; for most of a second at the longest.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.is_free.store(false, Ordering::SeqCst);
        let done = work();
        self.0.is_free.store(true, Ordering::SeqCst);
        done
    }

    /// The number of the signal that was held back first.
    pub fn noted(&self) -> Option<u8> {
        u8::try_from(self.0.noted.load(Ordering::SeqCst)).ok().filter(|&signal| signal > 0)
    }
}

#[cfg(unix)]
impl Held {
    fn take(&self, signal: i32) {
        if self.is_free.load(Ordering::SeqCst) {
            let _ = signal_hook::low_level::emulate_default_handler(signal); // ends the program
            return;
        }
        let number = usize::try_from(signal).unwrap_or_default();
        if self.noted.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            std::thread::sleep(LIMIT);
            if !self.is_free.load(Ordering::SeqCst) {
                let said = "pitree: ended in the middle of a change; the next change finds out what became of it\n";
                let _ = io::Write::write_all(&mut io::stderr(), said.as_bytes()); // nobody may be there to read it
                std::process::exit(128 + signal);
            }
        }
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

/// Lets the thread that reads from the terminal look up from that.
#[cfg(unix)]
pub(super) fn wake_reader() {
    // It reads that the terminal has a new size.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH);
}

#[cfg(not(unix))]
pub(super) fn wake_reader() {}

/// What becomes of signals while another program has the terminal.
#[cfg(unix)]
mod beside {
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGTERM};

    /// No program has the terminal.
    pub(super) const NONE: i32 = 0;
    /// One is about to have it.
    pub(super) const SOON: i32 = -1;

    /// The process of the program.
    pub(super) static PROGRAM: AtomicI32 = AtomicI32::new(NONE);

    /// Whether a signal came that this process sent to itself: then those before it were taken.
    pub(super) static IS_HEARD: AtomicBool = AtomicBool::new(false);

    /// Takes a signal. Those of the keyboard are the program's, which has them already; what ends pitree ends the program
    /// first. Returns whether to end then.
    pub(super) fn take(signal: i32, program: i32) -> bool {
        let ends = matches!(signal, SIGHUP | SIGTERM);
        if signal == SIGCONT {
            IS_HEARD.store(true, Ordering::SeqCst);
        }
        if let (true, Some(pid), Some(signal)) = (ends, Pid::from_raw(program.max(0)), Signal::from_named_raw(signal)) {
            let _ = kill_process(pid, signal); // it may have ended by itself
        }
        ends
    }
}

/// From now on keys that end or stop programs are those of another one, which is to be [run](run) next.
#[cfg(unix)]
pub(super) fn lend_terminal() {
    beside::PROGRAM.store(beside::SOON, Ordering::SeqCst);
}

#[cfg(not(unix))]
pub(super) fn lend_terminal() {}

/// Runs a program beside this process, to its end. When the program stops, so does this process, until the shell lets both
/// go on.
///
/// # Errors
/// It could not be started.
#[cfg(unix)]
pub(super) fn run(command: &mut Command) -> io::Result<std::process::ExitStatus> {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};
    let ended = command.spawn().and_then(|child| {
        let pid = Pid::from_child(&child);
        beside::PROGRAM.store(pid.as_raw_nonzero().get(), Ordering::SeqCst);
        loop {
            match waitpid(Some(pid), WaitOptions::UNTRACED) {
                Ok(Some((_, status))) if status.stopped() => {
                    suspend_job()?;
                    let _ = kill_process(pid, Signal::CONT); // the shell may have done so
                }
                Ok(Some((_, status))) => break Ok(std::process::ExitStatus::from_raw(status.as_raw())),
                Ok(None) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => break Err(error.into()),
            }
        }
    });
    // A key that ended the program told this process as well: that is heard before it counts again.
    beside::IS_HEARD.store(false, Ordering::SeqCst);
    let _ = kill_process(getpid(), Signal::CONT);
    for _ in 0..100 {
        if beside::IS_HEARD.load(Ordering::SeqCst) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    beside::PROGRAM.store(beside::NONE, Ordering::SeqCst);
    ended
}

#[cfg(not(unix))]
pub(super) fn run(command: &mut Command) -> io::Result<std::process::ExitStatus> {
    command.status()
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
