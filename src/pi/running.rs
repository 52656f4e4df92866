//! Which pis run, and in which sessions. One with pitree's extension (`assets/pi/pitree.ts`) says so in a file, and what it
//! is doing; of any other one only its process is seen, with its directory.

use std::path::Path;
use std::time::Duration;

use crate::disk::create;
use crate::disk::watch::{self, Watch, WatchEvents};
use crate::pi::processes::ByDir;
use crate::pi::status::PiStatus;

/// How often is looked whether those that told what they do still run: a process that is killed says nothing any more.
const LOOK: Duration = Duration::from_secs(2);

/// The pis that run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningPis {
    /// Those that tell what they do, by the numbers of their processes.
    pub told: Vec<PiStatus>,
    /// How many others run in each directory.
    pub by_dir: ByDir,
}

impl From<ByDir> for RunningPis {
    fn from(by_dir: ByDir) -> Self {
        Self { told: Vec::new(), by_dir }
    }
}

/// The pis that run now and tell what they do.
pub(crate) fn told(state: Option<&Path>) -> Vec<PiStatus> {
    state.map(crate::pi::status::read).unwrap_or_default()
}

/// The pis that run now, by their files in the state directory and by what the system tells.
pub(crate) fn running(state: Option<&Path>) -> RunningPis {
    let told = told(state);
    let known = told.iter().map(|told| told.pid).collect();
    RunningPis { by_dir: crate::pi::processes::running(&known), told }
}

/// Tells the pis that run whenever they are others, or do something else, until `tell` returns false. While none tells what
/// it does, nothing is looked for.
pub(crate) fn follow(state: &Path, mut tell: impl FnMut(RunningPis) -> bool) {
    let folder = crate::pi::status::folder(state);
    // What is not there yet could be watched only from above, where others write too.
    let _ = create::private_folder(&folder);
    let mut watch = Watch::new(&[folder], watch::of_system);
    let mut last = running(Some(state));
    if !tell(last.clone()) {
        return;
    }
    loop {
        let seen = watch.wait((!last.told.is_empty()).then_some(LOOK));
        // Those without a file are looked for where something happened, not every while.
        let now = match seen == WatchEvents::default() {
            true => RunningPis { told: crate::pi::status::read(state), by_dir: last.by_dir.clone() },
            false => running(Some(state)),
        };
        if now != last {
            last = now;
            if !tell(last.clone()) {
                return;
            }
        }
    }
}
