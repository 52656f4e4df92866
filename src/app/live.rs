//! In which sessions a pi is likely at work.

use std::collections::HashMap;
use std::path::Path;

use crate::app::sessions::Pane;

impl Pane {
    /// Whether a pi is likely at work in a session.
    pub fn is_live(&self, at: usize) -> bool {
        self.live.contains(&at)
    }

    /// Finds the sessions in which a pi is likely at work: one runs in the directory, and no session there is newer.
    /// Where the system tells of no processes: the file was written in the last two minutes.
    pub fn note_live(&mut self, now: i64) {
        let mut newest: HashMap<&str, usize> = HashMap::new();
        for (at, session) in self.all.iter().enumerate().filter(|(_, session)| session.owner.is_none()) {
            let newest = newest.entry(&session.header.cwd).or_insert(at);
            if session.mtime > self.all[*newest].mtime {
                *newest = at;
            }
        }
        self.live = match &self.live_dirs {
            Some(dirs) => {
                let has_pi = |cwd: &str| !cwd.is_empty() && dirs.contains(Path::new(cwd));
                newest.into_iter().filter(|(cwd, _)| has_pi(cwd)).map(|(_, at)| at).collect()
            }
            None => {
                let is_fresh = |at: &usize| (0..120_000).contains(&(now - self.all[*at].mtime));
                (0..self.all.len()).filter(is_fresh).collect()
            }
        };
        self.totals.live = self.live.len();
    }
}
