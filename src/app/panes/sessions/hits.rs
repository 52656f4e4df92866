//! What a search found, as rows: under its projects where all of it is seen at once, else in its order.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::mem::take;

use crate::app::panes::sessions::{SessionRow, SessionsPane};
use crate::app::title::plain;
use crate::app::widgets::cursor::Cursor;
use crate::base::text::{Glyphs, width};
use crate::catalog::search::SessionHit;
use crate::catalog::{Catalog, SessionKey};

/// What a row has besides its name and the text of a hit, at the most: signs, counts, the age.
const BESIDE: usize = 46;
impl SessionsPane {
    /// The next order of what was found: under its projects where all of it is seen at once, the best first, the newest
    /// first.
    pub(crate) fn next_order(&mut self) {
        let shows = &mut self.shows;
        (shows.hits_flat, shows.newest_hits_first) = match (self.is_flat, shows.newest_hits_first) {
            (false, _) => (true, false),
            (true, false) => (true, true),
            (true, true) => (false, false),
        };
    }

    /// Rows of what was found: with their projects and the sessions that they were forked from if all of it is seen at
    /// once, else in their order.
    pub(super) fn show_hits(&mut self, catalog: &Catalog, shown: &[SessionKey], glyphs: &Glyphs) {
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
                    // What is done to a project is done to its hits.
                    project.sessions.retain(|key| self.hits.as_ref().is_none_or(|hits| hits.contains_key(key)));
                    project.sum = catalog.sum(&project.sessions);
                }
                self.threads(catalog, glyphs);
                if (0..self.rows.len()).map(|row| self.lines(row)).sum::<usize>() <= self.room.1 {
                    self.aside = Some(all);
                    return;
                }
                self.rows.clear();
                (self.families, self.projects) = all;
            }
        }
        self.is_flat = true;
        if self.shows.newest_hits_first {
            ranked.sort_by_key(|&(_, key)| Reverse(catalog[key].order_time()));
        } else {
            ranked.sort_unstable();
        }
        let row = |(_, key)| {
            let is_tall = self.is_tall(catalog, key, "");
            SessionRow::Session { key, prefix: String::new(), below: 0, is_tall }
        };
        self.rows = ranked.into_iter().map(row).collect();
    }

    /// Whether the text in which a session was found has no room beside its name.
    pub(super) fn is_tall(&self, catalog: &Catalog, key: SessionKey, prefix: &str) -> bool {
        let Some(quote) = self.found(key).and_then(|found| found.snippet.as_ref()) else { return false };
        let least = prefix.chars().count() + BESIDE + quote.text.len();
        // Bytes are no columns, but a text with so many of them has no room for another one.
        least > self.room.0 || least + width(&plain(&catalog[key])) > self.room.0
    }

    /// How a session was found.
    pub fn found(&self, key: SessionKey) -> Option<&SessionHit> {
        self.hits.as_ref()?.get(&key)
    }

    /// Whether a session was found, or nothing is searched.
    pub(crate) fn is_hit(&self, key: SessionKey) -> bool {
        self.hits.is_none() || self.found(key).is_some()
    }

    /// The hits of the selected row: of a project, or of a session and its forks.
    pub(crate) fn focused_hits(&self) -> Vec<SessionHit> {
        let sessions = match self.selected_row() {
            Some(SessionRow::Session { key, .. }) => self.families.family(*key),
            Some(SessionRow::Project(at)) => self.projects[*at].sessions.clone(),
            Some(SessionRow::Ghost(..)) | None => Vec::new(),
        };
        sessions.into_iter().filter_map(|key| self.found(key).cloned()).collect()
    }

    /// Where the selected session was found.
    pub fn selected_hit(&self) -> Option<&SessionHit> {
        self.found(self.selected_session()?)
    }

    /// Selects the session that was found best, or the newest one.
    pub(crate) fn select_first_hit(&mut self) {
        let rank = |row: usize| match self.rows[row] {
            SessionRow::Session { key, .. } => self.found(key).map(|found| found.hit.rank()),
            SessionRow::Project(_) | SessionRow::Ghost(..) => None,
        };
        let hits = (0..self.rows.len()).filter_map(|row| Some((rank(row)?, row)));
        let row = if self.is_flat { None } else { hits.min().map(|(_, row)| row) };
        self.cursor = Cursor { at: row.unwrap_or(0), top: 0 };
        self.note_preselection();
    }
}
