//! Jobs that read all sessions: the scan, and the watch on their files. Both find the git worktrees of working directories.

use std::collections::HashSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::app::message::Reply;
use crate::catalog::cost_sharing;
use crate::catalog::user_data::local_cwds;
use crate::disk::incremental::IncrementalReader;
use crate::disk::locate::missing_home;
use crate::disk::relocations;
use crate::disk::scan::{IndexPlace, ScanBatch, ScanSources};
use crate::disk::watch::{self, Watch, WatchEvents};
use crate::pi::running;
use crate::runtime::jobs::{JobContext, now};

use crate::session::digest::listed::SharedLazySession;

/// The maximum time that a scan waits until the first sessions are shown.
const MAX_HELD: Duration = Duration::from_millis(50);

/// The number of sessions from which on the newest ones are shown first, and the number of these.
const MANY: usize = 20_000;
const SHOWN_FIRST: usize = 1000;

impl JobContext {
    /// Reports changes of the files from now on. `known` holds the sessions as last read.
    pub(super) fn watch(
        &self,
        known: &[SharedLazySession],
        is_wanted: impl Fn() -> bool,
        mut reply: impl FnMut(Reply) -> bool,
    ) {
        let dirs = self.all_dirs();
        let mut reader = IncrementalReader::new(&self.settings.home, &dirs, known);
        let mut watch = Watch::new(&dirs, watch::of_system);
        let mut is_reported = false;
        // Finds changes that happened before the watch started.
        let mut seen = WatchEvents { is_all: true, ..WatchEvents::default() };
        let mut is_received = true;
        while is_received && is_wanted() {
            reader.check_paths(&seen, &self.own_changes, now(), &mut |mut changes| {
                if let Some(own) = &self.changes {
                    own.explain(&mut changes.unreadable);
                }
                let here = changes.read.iter().filter(|digest| !digest.facts().is_mirrored());
                let dirs: HashSet<&String> = here.map(|digest| &digest.header.cwd).collect();
                let is_gone = |cwd: &&String| self.is_missing_dir(cwd);
                self.find_worktrees(dirs.iter().map(|dir| dir.as_str()), &mut reply);
                let _ = self.worktrees.lock().keep(now()); // without the record, only removed ones are lost
                let gone = dirs.into_iter().filter(is_gone).cloned().collect();
                let (hold, taken) = mpsc::channel();
                is_received = reply(Reply::FilesChanged { changes, gone, hold: Some(hold) });
                let _ = taken.recv(); // blocks until the other end is dropped
                is_received
            });
            if let Some(problem) = watch.problem().filter(|_| !is_reported) {
                (is_reported, is_received) = (true, reply(Reply::Warning(problem.into())));
            }
            let left = reader.due().map(|due| Duration::from_millis((due - now()).max(1).unsigned_abs()));
            seen = watch.wait(left);
        }
    }

    /// Scans all sessions. The first scan shows the content of the index before it checks the files.
    pub(super) fn scan(&self, is_first: bool, is_wanted: impl Fn() -> bool, mut reply: impl FnMut(Reply) -> bool) {
        let located = &self.settings.located;
        let limit = self.settings.config.index_bytes();
        let cache = self.cache.as_deref().map(|dir| IndexPlace { dir, limit });
        let dirs = located.all_existing(self.archive());
        let sources = ScanSources { dirs: &dirs, home: &self.settings.home, cache };
        let mut known = HashSet::new();
        let mut scanned = |mut batch: ScanBatch, held| {
            if let Some(changes) = &self.changes {
                changes.explain(&mut batch.unreadable);
            }
            cost_sharing::prepare(&batch.sessions);
            let cwds = cwds(&batch.sessions);
            let fresh: Vec<String> = cwds.into_iter().filter(|cwd| !known.contains(*cwd)).map(String::from).collect();
            let is_gone = |cwd: &&String| self.is_missing_dir(cwd);
            let gone = fresh.iter().filter(is_gone).cloned().collect();
            known.extend(fresh);
            Reply::Scanned { batch, gone, held }
        };
        let mut remembered = sources.remembered();
        let is_separate = !self.settings.config.group_worktrees;
        self.worktrees.lock().restart(self.state_dir.as_deref(), is_separate);
        if is_first {
            let sessions = remembered.sessions();
            let newest = if sessions.len() < MANY { Vec::new() } else { newest_sessions(&sessions, SHOWN_FIRST) };
            for sessions in [newest, sessions].into_iter().filter(|sessions| !sessions.is_empty()) {
                self.recall_worktrees(&sessions, &mut reply);
                let (held, released) = mpsc::channel();
                if !reply(scanned(ScanBatch { sessions, ..ScanBatch::default() }, Some(held))) {
                    return;
                }
                // Sessions are shown sooner while this job does not use all processors.
                let _ = released.recv_timeout(MAX_HELD);
            }
        }
        let mut scan = remembered.scan();
        let found = &mut scan.found;
        // pi creates its default directory with the first session, if there is a home directory.
        let missing_home = missing_home(&self.settings.home);
        found.unreadable.retain_mut(|one| {
            if !(one.is_missing && located.is_default() && located.dirs.contains(&one.path)) {
                return true;
            }
            one.reason = missing_home.clone().unwrap_or_default();
            missing_home.is_some()
        });
        let total = found.len();
        let unreadable = std::mem::take(&mut found.unreadable);
        let outdated = std::mem::take(&mut scan.outdated);
        if !reply(Reply::FilesFound { total, unreadable, outdated, pis: running::running(self.state_dir.as_deref()) }) {
            return;
        }
        scan.read(|batch| {
            is_wanted()
                && self.find_worktrees(cwds(&batch.sessions).into_iter(), &mut reply)
                && reply(scanned(batch, None))
        });
        let here = [&*self.settings.current_dir];
        self.find_worktrees(known.iter().map(String::as_str).chain(here), &mut reply);
        reply(Reply::ScanDone);
        let _ = self.worktrees.lock().keep(now()); // without the record, only removed ones are lost
        if let Err(error) = scan.keep_in_background() {
            reply(Reply::Warning(format!("cannot write the index: {error}; the next start takes longer")));
        }
        if let Some(state) = self.state_dir.as_deref().filter(|_| !self.settings.demo) {
            // Without the record, a renamed directory is not suggested.
            let _ = relocations::record_identities(state, known.iter().map(String::as_str));
        }
    }
}

/// Returns the working directories of sessions on this machine.
fn cwds(sessions: &[SharedLazySession]) -> HashSet<&str> {
    local_cwds(sessions.iter()).collect()
}

/// Returns the newest of some sessions.
fn newest_sessions(sessions: &[SharedLazySession], count: usize) -> Vec<SharedLazySession> {
    // Forks belong to their parents, which may be old.
    let facts = sessions.iter().map(|session| session.facts()).enumerate();
    let timed = facts.filter(|(_, facts)| !facts.is_fork()).map(|(at, facts)| (facts.order_time(), at));
    let mut timed: Vec<(i64, usize)> = timed.collect();
    if timed.len() > count {
        timed.select_nth_unstable_by(count, |one, other| other.cmp(one));
        timed.truncate(count);
    }
    timed.into_iter().map(|(_, at)| sessions[at].clone()).collect()
}

impl JobContext {
    /// Reports the recorded worktrees of sessions without looking at their directories.
    fn recall_worktrees(&self, sessions: &[SharedLazySession], reply: &mut impl FnMut(Reply) -> bool) {
        let mut finder = self.worktrees.lock();
        let here = [&*self.settings.current_dir];
        if !self.settings.demo && finder.recall(cwds(sessions).into_iter().chain(here)) {
            reply(Reply::Worktrees(Arc::new(finder.found().clone())));
        }
    }

    /// Finds the worktrees of working directories, and reports them if they changed. Returns `false` if no reply is
    /// wanted.
    fn find_worktrees<'a>(&self, cwds: impl Iterator<Item = &'a str>, reply: &mut impl FnMut(Reply) -> bool) -> bool {
        let mut finder = self.worktrees.lock();
        // The directories of demo sessions never exist.
        let is_changed = !self.settings.demo && finder.find(cwds);
        !is_changed || reply(Reply::Worktrees(Arc::new(finder.found().clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::Digest;

    #[test]
    fn the_newest_sessions_without_forks_come_first() {
        let session = |modified: i64, parent: Option<&str>| {
            let mut digest = Digest { modified: Some(modified), ..Digest::default() };
            digest.header.parent_session = parent.map(String::from);
            SharedLazySession::from(digest)
        };
        let all = [session(1, None), session(5, Some("/a")), session(3, None), session(2, None)];
        let times = |count| {
            let mut times: Vec<i64> = newest_sessions(&all, count).iter().map(|one| one.facts().order_time()).collect();
            times.sort();
            times
        };
        assert_eq!([times(0), times(2), times(9)], [vec![], vec![2, 3], vec![1, 2, 3]]);
    }
}
