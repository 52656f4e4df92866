//! The trait of all layers, and the list that most of them show.

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerResult, movement};
use crate::app::widgets::TerminalSize;
use crate::app::widgets::cursor::Cursor;
use crate::keymap::{Action, Key};

/// The list of a layer.
#[derive(Debug)]
pub struct List<'a> {
    /// The selection and the scroll position.
    pub(super) cursor: &'a mut Cursor,
    /// Number of rows.
    pub(super) len: usize,
    /// Area of the rows.
    pub(super) area: Rect,
}

impl List<'_> {
    fn height(&self) -> usize {
        self.area.height.max(1).into()
    }

    /// Moves the selection. Returns `false` if the action is not a movement.
    pub(super) fn go(self, action: Action) -> bool {
        let by = movement(action, self.height().saturating_sub(1).max(1));
        by.into_iter().for_each(|by| self.cursor.go(by, self.len));
        by.is_some()
    }

    /// Returns the row at a position of the terminal.
    pub(super) fn row_at(&self, (column, row): (u16, u16)) -> Option<usize> {
        let line = self.area.contains((column, row).into()).then(|| usize::from(row - self.area.y))?;
        Some(self.cursor.top + line).filter(|&at| at < self.len)
    }
}

/// A layer: its input, and its keys in the footer. Most layers show a [`List`]; the others handle more input themselves.
pub trait Screen<C> {
    /// Returns the list in a terminal of a size.
    fn list(&mut self, _terminal: TerminalSize) -> Option<List<'_>> {
        None
    }

    /// Updates what depends on the size of the terminal, such as the scroll position. Called after each message.
    fn fit(&mut self, terminal: TerminalSize) {
        if let Some(list) = self.list(terminal) {
            let height = list.height();
            list.cursor.fit(list.len, height);
        }
    }

    /// Handles a key.
    fn press(&mut self, _key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult<C> {
        match action {
            None => LayerResult::Stay,
            Some(action) if self.list(terminal).is_some_and(|list| list.go(action)) => LayerResult::Stay,
            Some(action) => self.act(action, terminal),
        }
    }

    /// Handles an action that does not move the selection. Actions that need the model are returned.
    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult<C> {
        if action == Action::Back { LayerResult::Close } else { LayerResult::Act(action) }
    }

    /// Handles pasted text.
    fn paste(&mut self, _text: &str) -> LayerResult<C> {
        LayerResult::Stay
    }

    /// Selects the row at a position, or confirms it if it is selected. Returns `None` if there is no row.
    fn click_row(&mut self, position: (u16, u16), terminal: TerminalSize) -> Option<LayerResult<C>> {
        let list = self.list(terminal)?;
        let at = list.row_at(position)?;
        let is_same = std::mem::replace(&mut list.cursor.at, at) == at;
        Some(if is_same { LayerResult::Act(Action::Confirm) } else { LayerResult::Stay })
    }

    /// Handles a click.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult<C> {
        self.click_row(position, terminal).unwrap_or(LayerResult::Stay)
    }

    /// Scrolls by some rows, down or (negative) up.
    fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult<C> {
        if let Some(list) = self.list(terminal) {
            let height = list.height();
            list.cursor.scroll(by, list.len, height);
        }
        LayerResult::Stay
    }

    /// Returns the actions that the footer shows, the most important first.
    fn hints(&self) -> &'static [Action] {
        &[]
    }

    /// Returns `true` if the footer shows an action of [`hints`](Self::hints) now.
    fn offers(&self, _action: Action, _terminal: TerminalSize) -> bool {
        true
    }

    /// Returns the word for an action in the footer, if it differs from that of the table.
    fn word(&self, _action: Action) -> Option<&'static str> {
        None
    }
}
