//! Running pis. A pi with pitree's extension (`assets/pi/pitree.ts`) reports its session and state in a status file. For
//! other pis, only the process and its working directory are known: pi keeps no file open between writes.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::base::sort;
use crate::disk::create;
use crate::disk::watch::{self, Watch, WatchEvents};
use crate::pi::processes::{self, ByDir};
use crate::pi::status::{self, ClosedSession, PiStatus};

/// The interval between checks that reporting pis still run, because a killed process cannot report its end.
const LOOK: Duration = Duration::from_secs(2);

/// The running pis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningPis {
    /// The pis that report their status, by PID.
    pub reported: Vec<PiStatus>,
    /// The number of other pis in each directory.
    pub by_dir: ByDir,
    /// The sessions that pis closed a moment ago.
    pub closed: Vec<ClosedSession>,
}

/// Returns the status of all reporting pis.
pub(crate) fn reported(state: Option<&Path>) -> Vec<PiStatus> {
    state.map(status::read).unwrap_or_default()
}

/// Returns the running pis from their status files and the process list.
pub(crate) fn running(state: Option<&Path>) -> RunningPis {
    let reported = reported(state);
    let known = reported.iter().map(|pi| pi.pid).collect();
    RunningPis { by_dir: processes::running(&known), reported, closed: state.map(status::closed).unwrap_or_default() }
}

/// Groups pis by session file, the most urgent first.
pub(crate) fn by_session(reported: &[PiStatus]) -> HashMap<&Path, Vec<&PiStatus>> {
    let mut by_session: HashMap<&Path, Vec<&PiStatus>> = HashMap::new();
    for pi in reported {
        by_session.entry(&pi.session).or_default().push(pi);
    }
    by_session.values_mut().for_each(|pi| sort::by_key(pi, |pi| pi.urgency()));
    by_session
}

/// Calls `tell` with the running pis whenever they or their states change, until it returns `false`. Never polls while
/// no pi reports a status.
pub(crate) fn follow(state: &Path, mut tell: impl FnMut(RunningPis) -> bool) {
    let folder = status::folder(state);
    // Without the directory, its parent would have to be watched, where others write too.
    let _ = create::private_folder(&folder);
    let mut watch = Watch::new(&[folder], watch::of_system);
    let mut last = running(Some(state));
    if !tell(last.clone()) {
        return;
    }
    loop {
        let seen = watch.wait((!last.reported.is_empty()).then_some(LOOK));
        // The process list is only read after an event, not periodically.
        let now = match seen == WatchEvents::default() {
            true => RunningPis { reported: status::read(state), ..last.clone() },
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
