//! Signals that end or stop the program: held back, sent, or left to a program that uses the terminal. Programs in the
//! background end with this process: in the directory of a session, even git can wait forever.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, getpid, kill_current_process_group, kill_process, kill_process_group};
use signal_hook::consts::{
    SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGWINCH, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

use crate::system::messages::Signal;
use crate::system::unix::terminal;

/// The time after a signal at which the program ends in any case.
const LIMIT: Duration = Duration::from_millis(900);

/// The signals that end a program by default, except those of keys and of errors in the program.
const ENDING: [i32; 9] = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGSYS];

/// Reports each signal that ends or stops the program or resizes the terminal, until `on_signal` returns `false`.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn watch(mut on_signal: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    let mut is_ending = false;
    IS_HANDLED.store(true, Ordering::SeqCst);
    let mut signals = Signals::new(ENDING.iter().chain(&[SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let program = PROGRAM.load(Ordering::SeqCst);
            if program != NONE {
                if is_for_us_too(signal, program) && !on_signal(Signal::Stop(signal)) {
                    return;
                }
                continue;
            }
            let what = match signal {
                SIGTSTP => Signal::Suspend,
                SIGCONT => Signal::Continued,
                SIGWINCH => Signal::Resized,
                other => {
                    if !std::mem::replace(&mut is_ending, true) {
                        std::thread::spawn(move || end_at_last(other));
                    }
                    Signal::Stop(other)
                }
            };
            if !on_signal(what) {
                return;
            }
        }
    });
    Ok(())
}

/// Ends the program after a time limit, because a blocked terminal can prevent the loop from handling the signal.
fn end_at_last(signal: i32) {
    std::thread::sleep(LIMIT);
    terminal::restore_at_once();
    end_all_before_exit();
    std::process::exit(128 + signal);
}

/// `true` if signals that ask the program to end are handled.
static IS_HANDLED: AtomicBool = AtomicBool::new(false);

/// `true` while signals that ask the program to end (interrupt, terminate, hang up) are held back, during work that must
/// not be interrupted.
static IS_HELD: AtomicBool = AtomicBool::new(false);

/// The number of the first signal held back; 0 for none.
static NOTED: AtomicU8 = AtomicU8::new(0);

/// Handles signals that ask the program to end, so that they can be held back, and end its children. The browser
/// [watches](watch) them instead.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn hold() -> io::Result<()> {
    if IS_HANDLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || signals.forever().for_each(end_unless_held));
    Ok(())
}

/// Holds signals back during some work, for most of a second at most.
pub(crate) fn held_during<T>(work: impl FnOnce() -> T) -> T {
    IS_HELD.store(true, Ordering::SeqCst);
    let done = work();
    IS_HELD.store(false, Ordering::SeqCst);
    done
}

/// Returns the number of the first signal held back.
pub(crate) fn pending_signal() -> Option<u8> {
    Some(NOTED.load(Ordering::SeqCst)).filter(|&signal| signal > 0)
}

fn end_unless_held(signal: i32) {
    if !IS_HELD.load(Ordering::SeqCst) {
        end_all_before_exit();
        let _ = signal_hook::low_level::emulate_default_handler(signal); // ends the program
        return;
    }
    let number = u8::try_from(signal).unwrap_or_default();
    if NOTED.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
        std::thread::sleep(LIMIT);
        if IS_HELD.load(Ordering::SeqCst) {
            let said = "pitree: interrupted during a change; the next change recovers it\n";
            let _ = io::stderr().write_all(said.as_bytes()); // standard error may be closed
            end_all_before_exit();
            std::process::exit(128 + signal);
        }
    }
}

/// Makes a write beyond the file size limit fail instead of ending the program.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    // A handler instead of ignoring the signal, because pi, which can replace this process, must find the default.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Stops this process until the shell continues it.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn suspend() -> io::Result<()> {
    signal_hook::low_level::emulate_default_handler(SIGTSTP)
}

/// Stops the whole job of this process, like Ctrl+Z in the terminal. A script around pitree must stop as well, or the
/// shell would not get the terminal.
///
/// # Errors
/// The system does not allow it.
pub(crate) fn suspend_job() -> io::Result<()> {
    Ok(kill_current_process_group(rustix::process::Signal::STOP)?)
}

/// The process groups of the programs that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Starts a program in a process group of its own.
pub(super) fn start_child(command: &mut Command) -> io::Result<Child> {
    let mut running = RUNNING.lock();
    let child = command.process_group(0).spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Notes that a program has ended.
pub(crate) fn has_ended(child: &Child) {
    RUNNING.lock().remove(&child.id());
}

/// Ends a program with its children.
pub(crate) fn end(child: &mut Child) {
    kill(child.id());
    let _ = child.kill(); // it may have exited already
    let _ = child.wait();
    has_ended(child);
}

/// Ends all programs. Until the guard is dropped, no other starts.
pub(super) fn end_children() -> MutexGuard<'static, BTreeSet<u32>> {
    let running = RUNNING.lock();
    running.iter().copied().for_each(kill);
    running
}

/// Ends all programs before this process exits, once.
pub(crate) fn end_all_before_exit() {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if !IS_ENDING.swap(true, Ordering::SeqCst) {
        std::mem::forget(end_children());
    }
}

fn kill(group: u32) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// No program uses the terminal.
const NONE: i32 = 0;
/// A program is about to use the terminal.
const SOON: i32 = -1;

/// The process that uses the terminal.
static PROGRAM: AtomicI32 = AtomicI32::new(NONE);

/// `true` after a signal that this process sent to itself arrived, so that earlier ones were handled.
static IS_HEARD: AtomicBool = AtomicBool::new(false);

/// Handles a signal while another program uses the terminal. Signals of the keyboard already went to that program;
/// signals that end pitree end the program first. Returns `true` if pitree must end too.
fn is_for_us_too(signal: i32, program: i32) -> bool {
    let ends = ENDING.contains(&signal);
    if signal == SIGCONT {
        IS_HEARD.store(true, Ordering::SeqCst);
    }
    let signal = rustix::process::Signal::from_named_raw(signal);
    if let (true, Some(pid), Some(signal)) = (ends, Pid::from_raw(program.max(0)), signal) {
        let _ = kill_process(pid, signal); // it may have exited already
    }
    ends
}

/// From now on, keys that end or stop programs belong to another program, which is [run](super::programs::run) next.
pub(crate) fn lend_terminal() {
    PROGRAM.store(SOON, Ordering::SeqCst);
}

/// Sets the process that uses the terminal.
pub(super) fn has_terminal(pid: Pid) {
    PROGRAM.store(pid.as_raw_nonzero().get(), Ordering::SeqCst);
}

/// The program has exited. A key that ended it was also sent to this process; that signal is handled before signals
/// count again.
pub(super) fn take_terminal() {
    IS_HEARD.store(false, Ordering::SeqCst);
    let _ = kill_process(getpid(), rustix::process::Signal::CONT);
    for _ in 0..100 {
        if IS_HEARD.load(Ordering::SeqCst) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    PROGRAM.store(NONE, Ordering::SeqCst);
}
