//! Marks on sessions, for actions on several of them.

use std::cmp::Reverse;

use crate::app::panes::sessions::{SessionRow, SessionsPane};
use crate::catalog::{Catalog, SessionKey};

impl SessionsPane {
    /// Returns `true` if a row is marked. A project is marked if all of its sessions are.
    pub(crate) fn is_marked(&self, row: &SessionRow) -> bool {
        let sessions = self.sessions_of(row);
        !sessions.is_empty() && sessions.iter().all(|key| self.marks.contains(key))
    }

    fn sessions_of<'a>(&'a self, row: &'a SessionRow) -> &'a [SessionKey] {
        match row {
            SessionRow::Session { key, .. } => std::slice::from_ref(key),
            SessionRow::MissingParent(..) => &[],
            SessionRow::Project(at) => &self.projects[*at].sessions,
        }
    }

    fn mark(&mut self, sessions: &[SessionKey], mark: bool) {
        for key in sessions {
            if mark {
                self.marks.insert(*key);
            } else {
                self.marks.remove(key);
            }
        }
    }

    /// Returns the sessions that have a row.
    fn in_rows(&self) -> Vec<SessionKey> {
        self.rows.iter().filter_map(SessionRow::session).collect()
    }

    /// Returns the marked sessions, newest first, and how many of them have no row now.
    pub fn marked(&self, catalog: &Catalog) -> (Vec<SessionKey>, usize) {
        let mut marked: Vec<SessionKey> = self.marks.iter().copied().filter(|&key| catalog.has(key)).collect();
        marked.sort_by_key(|&key| (Reverse(catalog[key].order_time()), &catalog[key].path));
        let seen = self.in_rows().iter().filter(|key| self.marks.contains(key)).count();
        let hidden = marked.len().saturating_sub(seen);
        (marked, hidden)
    }

    /// Marks or unmarks the selected row and moves down.
    pub(crate) fn toggle_mark(&mut self) {
        let Some(row) = self.selected_row() else { return };
        let (mark, sessions) = (!self.is_marked(row), self.sessions_of(row).to_vec());
        self.mark(&sessions, mark);
        self.cursor.go(1, self.rows.len());
    }

    /// Marks all sessions that have a row; unmarks them if all are marked. Returns the number of sessions skipped
    /// because a fold hides them.
    pub(crate) fn toggle_all_marks(&mut self) -> usize {
        let mut all = self.in_rows();
        all.retain(|&key| self.is_hit(key));
        let folded = if self.hits.is_some() { 0 } else { self.totals.sessions.saturating_sub(all.len()) };
        if !all.is_empty() && all.iter().all(|key| self.marks.contains(key)) {
            self.marks.clear();
            return 0;
        }
        self.mark(&all, true);
        folded
    }
}
