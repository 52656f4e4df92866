//! Rows of search results: grouped by project if all of them fit on the screen, otherwise in result order.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::mem::take;

use crate::app::panes::sessions::{SessionRow, SessionsPane};
use crate::app::title::plain;
use crate::app::widgets::cursor::Cursor;
use crate::base::sort;
use crate::base::text::width;
use crate::catalog::search::SessionHit;
use crate::catalog::{Catalog, SessionKey};

/// The maximum columns of a row without the name and the hit's text: symbols, counts and age.
const BESIDE: usize = 46;
impl SessionsPane {
    /// Switches to the next result order: grouped by project if all fit on the screen, best first, newest first.
    pub(crate) fn next_order(&mut self) {
        let shows = &mut self.shows;
        (shows.hits_flat, shows.newest_hits_first) = match (self.is_flat, shows.newest_hits_first) {
            (false, _) => (true, false),
            (true, false) => (true, true),
            (true, true) => (false, false),
        };
    }

    /// Builds the rows of search results: grouped by project and family if all of them fit, otherwise in result order.
    pub(super) fn show_hits(&mut self, catalog: &Catalog, shown: &[SessionKey]) {
        let mut ranked: Vec<_> = shown.iter().filter_map(|&key| Some((self.found(key)?.hit.rank(), key))).collect();
        if !self.is_flat && !self.shows.hits_flat && ranked.len() < self.room.1 {
            let families = catalog.families();
            let mut context: Vec<SessionKey> = ranked.iter().flat_map(|&(_, hit)| families.line(hit)).collect();
            context.sort_unstable();
            context.dedup();
            let projects: HashSet<_> = context.iter().map(|&key| catalog.project(key)).collect();
            if context.len() + projects.len() <= self.room.1 {
                let all = (take(&mut self.families), take(&mut self.projects));
                self.tie(catalog, &context);
                for project in &mut self.projects {
                    // Actions on a project apply to its hits only.
                    project.sessions.retain(|key| self.hits.as_ref().is_none_or(|hits| hits.contains_key(key)));
                    project.sum = catalog.sum(&project.sessions);
                }
                self.threads(catalog);
                if self.rows.iter().map(SessionRow::lines).sum::<usize>() <= self.room.1 {
                    self.aside = Some(all);
                    return;
                }
                self.rows.clear();
                (self.families, self.projects) = all;
            }
        }
        self.is_flat = true;
        if self.shows.newest_hits_first {
            sort::by_key(&mut ranked, |&(_, key)| Reverse(catalog[key].facts().order_time()));
        } else {
            ranked.sort_unstable();
        }
        let row = |(_, key)| {
            let is_tall = self.is_tall(catalog, key, "");
            SessionRow::Session { key, prefix: String::new(), below: 0, is_tall }
        };
        self.rows = ranked.into_iter().map(row).collect();
    }

    /// Returns `true` if the text around a hit does not fit beside the session name.
    pub(super) fn is_tall(&self, catalog: &Catalog, key: SessionKey, prefix: &str) -> bool {
        let Some(quote) = self.found(key).and_then(|found| found.snippet.as_ref()) else { return false };
        let least = prefix.chars().count() + BESIDE + quote.text.len();
        // A byte count is not a width, but a name with this many bytes leaves no room for the hit.
        least > self.room.0 || least + width(&plain(&catalog[key])) > self.room.0
    }

    /// Returns the search hit of a session.
    pub fn found(&self, key: SessionKey) -> Option<&SessionHit> {
        self.hits.as_ref()?.get(&key)
    }

    /// Returns `true` if a session matches the search, or if no search is active.
    pub(crate) fn is_hit(&self, key: SessionKey) -> bool {
        self.hits.is_none() || self.found(key).is_some()
    }

    /// Returns the hits of the selected row: those of a project, or of a session and its forks.
    pub(crate) fn focused_hits(&self) -> Vec<SessionHit> {
        let sessions = match self.selected_row() {
            Some(SessionRow::Session { key, .. }) => self.families.family(*key),
            Some(SessionRow::Project(at)) => self.projects[*at].sessions.clone(),
            Some(SessionRow::MissingParent(..)) | None => Vec::new(),
        };
        sessions.into_iter().filter_map(|key| self.found(key).cloned()).collect()
    }

    /// Returns the hit of the selected session.
    pub fn selected_hit(&self) -> Option<&SessionHit> {
        self.found(self.selected_session()?)
    }

    /// Selects the best match, or the newest one if results are sorted by time.
    pub(crate) fn select_first_hit(&mut self) {
        let rank = |row: &SessionRow| Some(self.found(row.session()?)?.hit.rank());
        let hits = self.rows.iter().enumerate().filter_map(|(at, row)| Some((rank(row)?, at)));
        let row = if self.is_flat { None } else { hits.min().map(|(_, row)| row) };
        self.cursor = Cursor { at: row.unwrap_or(0), top: 0 };
        self.note_preselection();
    }
}
