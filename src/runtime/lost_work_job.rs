//! The background search for lost work.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::catalog::SessionKey;
use crate::catalog::lost_lines::KnownTips;
use crate::catalog::lost_work::compared_paths;
use crate::runtime::jobs::JobContext;
use crate::search::lost_work::LostWork;
use crate::session::digest::listed::SharedSession;

/// The time after which a batch ends.
const BATCH: Duration = Duration::from_millis(200);

impl JobContext {
    /// Finds the lost work of sessions, one after another. Returns that of the first ones if they take long, and `None` if it
    /// is no longer wanted.
    pub(super) fn find_lost_work(
        &self,
        sessions: Vec<(SessionKey, SharedSession)>,
        is_last: bool,
        is_wanted: &dyn Fn() -> bool,
    ) -> Option<Vec<(SessionKey, LostWork)>> {
        let (begun, tips, cache) = (Instant::now(), KnownTips::default(), self.cache.as_deref());
        // A query does not wait for more than one session.
        let lock = || self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, mut found) = (sessions.len(), Vec::new());
        for (key, session) in sessions {
            let find = |session| lock().find_in(&session, (&self.setting.home, cache), &tips, is_wanted);
            let work = compared_paths(&session.facts()).map(find).unwrap_or_default();
            if !is_wanted() {
                break;
            }
            found.push((key, work));
            if begun.elapsed() >= BATCH {
                break;
            }
        }
        if let Some(cache) = cache {
            lock().save(cache, is_last && found.len() == all || !is_wanted());
        }
        is_wanted().then_some(found)
    }
}
