//! Marks on sessions: what is deleted together.

use crate::app::model::Model;
use crate::app::sessions::{Pane, Row};
use crate::app::update::say;
use crate::base::numbers::count;
use crate::base::text::Tone;

impl Pane {
    /// Whether a row is marked: a project is when all of its sessions are.
    pub fn is_marked(&self, row: &Row) -> bool {
        let is_marked = |at: &usize| self.all.get(*at).is_some_and(|session| self.marks.contains(&session.path));
        match row {
            Row::Session { at, .. } => is_marked(at),
            Row::Project(at) => !self.marks.is_empty() && self.projects[*at].sessions.iter().all(is_marked),
        }
    }

    fn mark(&mut self, sessions: &[usize], mark: bool) {
        for path in sessions.iter().filter_map(|&at| self.all.get(at)).map(|session| &session.path) {
            if mark {
                self.marks.insert(path.clone());
            } else {
                self.marks.remove(path);
            }
        }
    }

    /// The sessions that have a row.
    fn in_rows(&self) -> Vec<usize> {
        let session = |row: &Row| match row {
            Row::Session { at, .. } => Some(*at),
            Row::Project(_) => None,
        };
        self.rows.iter().filter_map(session).collect()
    }

    /// The marked sessions, the newest first, and how many of them have no row now.
    pub fn marked(&self) -> (Vec<usize>, usize) {
        let mut marked: Vec<usize> =
            (0..self.all.len()).filter(|&at| self.marks.contains(&self.all[at].path)).collect();
        marked.sort_by_key(|&at| (std::cmp::Reverse(self.all[at].order_time()), &self.all[at].path));
        let seen = self.in_rows().iter().filter(|&&at| self.marks.contains(&self.all[at].path)).count();
        let hidden = marked.len().saturating_sub(seen);
        (marked, hidden)
    }
}

/// Marks the selected row, or takes its mark away, and goes down.
pub(super) fn toggle(model: &mut Model) {
    let pane = &mut model.sessions;
    let Some(row) = pane.selected_row().cloned() else { return };
    let mark = !pane.is_marked(&row);
    match &row {
        Row::Session { at, .. } => pane.mark(&[*at], mark),
        Row::Project(at) => {
            let sessions = pane.projects[*at].sessions.clone();
            pane.mark(&sessions, mark);
        }
    }
    pane.cursor.go(1, pane.rows.len());
}

/// Marks all sessions that have a row; if all are, takes all marks away.
pub(super) fn toggle_all(model: &mut Model) {
    let pane = &mut model.sessions;
    let all = pane.in_rows();
    let are_marked = all.iter().all(|&at| pane.marks.contains(&pane.all[at].path));
    if are_marked {
        pane.marks.clear();
    } else {
        pane.mark(&all, true);
    }
    let said = count(model.sessions.marks.len(), "session marked", "sessions marked");
    say(model, Tone::Dim, said);
}
