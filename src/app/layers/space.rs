//! The space that sessions take, over the whole screen: bars of bytes by kind, project, session, tool, type and entry.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerResult, neighbor};
use crate::app::layers::screen::{List, Screen};
use crate::app::ticket::Claim;
use crate::app::widgets::TerminalSize;
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
    /// The pending measurement.
    pub(crate) claim: Option<Claim>,
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
            claim: None,
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
}

impl<C> Screen<C> for SpaceView {
    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        let (len, area) = (self.rows().len(), self.layout(terminal).list);
        Some(List { cursor: &mut self.cursor, len, area })
    }

    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult<C> {
        match action {
            Action::Back | Action::Space => LayerResult::Close,
            Action::NextGrouping | Action::PreviousGrouping => {
                self.grouping = neighbor(SpaceGrouping::ALL, self.grouping, action == Action::NextGrouping);
                self.cursor = Cursor::default();
                LayerResult::Stay
            }
            action => LayerResult::Act(action),
        }
    }

    /// Selects the clicked row. A click on the selected row or on one of the largest entries opens it.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult<C> {
        if let Some(result) = self.click_row(position, terminal) {
            return result;
        }
        let largest = self.layout(terminal).largest.filter(|area| area.contains(position.into()));
        let entry = largest.and_then(|area| usize::from(position.1 - area.y).checked_sub(1));
        if let Some(at) = entry.filter(|&at| at < self.rows_of(SpaceGrouping::Entry).len()) {
            (self.grouping, self.cursor) = (SpaceGrouping::Entry, Cursor { at, top: 0 });
            return LayerResult::Act(Action::Confirm);
        }
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[A::Help, A::NextGrouping, A::Confirm, A::Back, A::Down, A::Up, A::Quit]
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        (action == Action::Confirm).then_some("open")
    }
}
