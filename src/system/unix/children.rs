//! Programs in the background, which end with this process: in the directory of a session, even git can wait forever.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process_group};

/// The process groups of the programs that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock()
}

/// Starts a program in a process group of its own.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut running = running();
    let child = command.process_group(0).spawn()?;
    running.insert(child.id());
    Ok(child)
}

/// Notes that a program has ended.
pub(crate) fn has_ended(child: &Child) {
    running().remove(&child.id());
}

/// Ends a program with its children.
pub(crate) fn end(child: &mut Child) {
    kill(child.id());
    let _ = child.kill(); // it may have exited already
    let _ = child.wait();
    has_ended(child);
}

/// Ends all programs. Until the guard is dropped, no other starts.
pub(super) fn end_all() -> MutexGuard<'static, BTreeSet<u32>> {
    let running = running();
    running.iter().copied().for_each(kill);
    running
}

/// Ends all programs before this process exits, once.
pub(crate) fn end_all_before_exit() {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if !IS_ENDING.swap(true, Ordering::SeqCst) {
        std::mem::forget(end_all());
    }
}

fn kill(group: u32) {
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
