//! Finds the git worktrees of working directories while sessions are scanned and watched.

use parking_lot::MutexGuard;
use std::sync::Arc;

use crate::app::message::Reply;
use crate::disk::worktrees::WorktreeFinder;
use crate::runtime::jobs::{JobContext, now};
use crate::runtime::scan_job::cwds;
use crate::session::digest::listed::SharedSession;

impl JobContext {
    fn worktrees(&self) -> MutexGuard<'_, WorktreeFinder> {
        self.worktrees.lock()
    }

    /// Looks at all directories again from now on.
    pub(super) fn restart_worktrees(&self) {
        let is_separate = !self.setting.config.group_worktrees;
        self.worktrees().restart(self.state_dir.as_deref(), is_separate);
    }

    /// Reports the recorded worktrees of sessions without looking at their directories.
    pub(super) fn recall_worktrees(&self, sessions: &[SharedSession], reply: &mut impl FnMut(Reply) -> bool) {
        let mut finder = self.worktrees();
        let here = [&*self.setting.here];
        if !self.setting.demo && finder.recall(cwds(sessions).into_iter().chain(here)) {
            reply(Reply::Worktrees(Arc::new(finder.found().clone())));
        }
    }

    /// Finds the worktrees of working directories, and reports them if they changed. Returns `false` if no reply is
    /// wanted.
    pub(super) fn find_worktrees<'a>(
        &self,
        cwds: impl Iterator<Item = &'a str>,
        reply: &mut impl FnMut(Reply) -> bool,
    ) -> bool {
        let mut finder = self.worktrees();
        // The directories of demo sessions never exist.
        let is_changed = !self.setting.demo && finder.find(cwds);
        !is_changed || reply(Reply::Worktrees(Arc::new(finder.found().clone())))
    }

    /// Records the worktrees that were found. Without the record, only removed ones are lost.
    pub(super) fn keep_worktrees(&self) {
        let _ = self.worktrees().keep(now());
    }
}
