//! The space that sessions take, over the whole screen: bars of bytes by kind, project, session, tool, type and entry.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerResult, movement, neighbor};
use crate::app::widgets::cursor::Cursor;
use crate::catalog::space::{SpaceContent, SpaceGrouping, SpaceRow};
use crate::catalog::stats::sessions::StatsSessions;
use crate::keymap::Action;
use crate::session::space::LARGEST;

/// Rows from which on the largest entries are below the bars.
const TALL: u16 = 30;

/// The areas of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLayout {
    /// The totals.
    pub head: Rect,
    /// The heading of the bars.
    pub heading: Rect,
    /// The bars.
    pub list: Rect,
    /// The largest entries, with a heading.
    pub largest: Option<Rect>,
}

/// The space that some sessions take.
#[derive(Clone, Debug)]
pub struct SpaceView {
    /// The sessions in words, cleaned.
    pub scope: String,
    /// The search whose hits are measured, empty for none.
    pub query: String,
    /// The sessions.
    pub sessions: Arc<StatsSessions>,
    /// The numbers of measured and of all files.
    pub progress: (usize, usize),
    /// The content, once measured.
    pub content: Option<Arc<SpaceContent>>,
    /// The grouping of the bars.
    pub grouping: SpaceGrouping,
    /// The error.
    pub problem: Option<String>,
    /// The selected row.
    pub cursor: Cursor,
}

impl SpaceView {
    /// Creates the view before the sessions are measured.
    pub(crate) fn new(scope: String, query: String, sessions: Arc<StatsSessions>) -> Self {
        Self {
            scope,
            query,
            sessions,
            progress: (0, 0),
            content: None,
            grouping: SpaceGrouping::Kind,
            problem: None,
            cursor: Cursor::default(),
        }
    }

    /// Returns the rows of a grouping.
    pub fn rows_of(&self, grouping: SpaceGrouping) -> &[SpaceRow] {
        self.content.as_ref().map_or(&[], |content| content.rows(grouping))
    }

    /// Returns the rows of the shown grouping.
    pub fn rows(&self) -> &[SpaceRow] {
        self.rows_of(self.grouping)
    }

    /// Returns the selected row.
    pub(crate) fn selected(&self) -> Option<&SpaceRow> {
        self.rows().get(self.cursor.at)
    }

    /// Returns the areas of the terminal above the footer.
    pub fn layout(&self, (columns, rows): (u16, u16)) -> SpaceLayout {
        let all = Rect { x: 1, y: 0, width: columns.saturating_sub(2), height: rows.saturating_sub(1) };
        let row = |y: u16, height: u16| Rect {
            y: y.min(all.height),
            height: height.min(all.height.saturating_sub(y)),
            ..all
        };
        let above = if rows < 16 { 2 } else { 3 };
        let below = if rows >= TALL && self.grouping != SpaceGrouping::Entry { LARGEST as u16 + 2 } else { 0 };
        let list = row(above + 1, all.height.saturating_sub(above + 1 + below));
        let largest = (below > 0).then(|| row(list.bottom() + 1, below - 1));
        SpaceLayout { head: row(0, above), heading: row(above, 1), list, largest }
    }

    fn height(&self, size: (u16, u16)) -> usize {
        self.layout(size).list.height.max(1).into()
    }

    /// Scrolls to the selection.
    pub(crate) fn fit(&mut self, size: (u16, u16)) {
        self.cursor.fit(self.rows().len(), self.height(size));
    }

    /// Handles an action. Actions that lead elsewhere are returned.
    pub(super) fn press<C>(&mut self, action: Option<Action>, size: (u16, u16)) -> LayerResult<C> {
        let page = self.height(size).saturating_sub(1).max(1);
        let Some(action) = action else { return LayerResult::Stay };
        match action {
            Action::Back | Action::Space => return LayerResult::Close,
            Action::NextGrouping | Action::PreviousGrouping => {
                self.grouping = neighbor(SpaceGrouping::ALL, self.grouping, action == Action::NextGrouping);
                self.cursor = Cursor::default();
            }
            action => match movement(action, page) {
                Some(by) => {
                    self.cursor.go(by, self.rows().len());
                    self.fit(size);
                }
                None => return LayerResult::Act(action),
            },
        }
        LayerResult::Stay
    }

    pub(super) fn wheel(&mut self, by: isize, size: (u16, u16)) {
        let (len, height) = (self.rows().len(), self.height(size));
        self.cursor.scroll(by, len, height);
    }

    /// Selects the clicked row; a click on the selected row, or on a large entry, opens it.
    pub(super) fn click<C>(&mut self, position: (u16, u16), size: (u16, u16)) -> LayerResult<C> {
        let layout = self.layout(size);
        let line = |area: Rect| area.contains(position.into()).then(|| usize::from(position.1 - area.y));
        if let Some(at) = line(layout.list).map(|line| self.cursor.top + line).filter(|&at| at < self.rows().len()) {
            if self.cursor.at == at {
                return LayerResult::Act(Action::Confirm);
            }
            self.cursor.at = at;
            return LayerResult::Stay;
        }
        let entry = layout.largest.and_then(line).and_then(|line| line.checked_sub(1));
        if let Some(at) = entry.filter(|&at| at < self.rows_of(SpaceGrouping::Entry).len()) {
            (self.grouping, self.cursor) = (SpaceGrouping::Entry, Cursor { at, top: 0 });
            return LayerResult::Act(Action::Confirm);
        }
        LayerResult::Stay
    }
}
