//! A menu: a box at the lower edge with one line per action that applies. A key runs its action, any other key closes it.

use ratatui::layout::Rect;

use crate::app::layers::screen::{ChoiceAction, LayerResult, List, Screen};
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::text::width;
use crate::keymap::{Action, Key, Menu};

/// A menu.
#[derive(Clone, Debug)]
pub struct MenuView {
    /// The menu.
    pub menu: Menu,
    /// The keys and their actions.
    pub rows: Vec<(Key, Action)>,
    /// The keys of actions that do not apply; they report why.
    others: Vec<(Key, Action)>,
    /// The selected row.
    pub cursor: Cursor,
}

impl MenuView {
    /// Creates a menu with the actions that apply.
    pub(crate) fn new(menu: Menu, rows: Vec<(Key, Action)>, others: Vec<(Key, Action)>) -> Self {
        Self { menu, rows, others, cursor: Cursor::default() }
    }

    /// Returns the area of the box: at the lower right, above the footer.
    pub fn area(&self, (columns, rows): TerminalSize) -> Rect {
        let title = |(_, action): &(Key, Action)| width(action.row().title);
        let widest = self.rows.iter().map(title).max().unwrap_or_default() as u16;
        let width = (widest + 10).max(24).min(columns);
        let height = (self.rows.len() as u16 + 2).min(rows.saturating_sub(2));
        Rect::new(columns - width, rows.saturating_sub(1 + height), width, height)
    }
}

/// Runs the action of a row; closes the menu if there is none.
fn choose(row: Option<&(Key, Action)>) -> LayerResult {
    row.map_or(LayerResult::Close, |&(_, action)| LayerResult::Choose(ChoiceAction::Act(action)))
}

impl Screen for MenuView {
    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        let area = self.area(terminal);
        let area = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
        Some(List { cursor: &mut self.cursor, len: self.rows.len(), area })
    }

    fn press(&mut self, key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        let pressed = Key { menu: Some(self.menu), ..key };
        if let Some(chosen) = self.rows.iter().chain(&self.others).find(|(key, _)| *key == pressed) {
            return choose(Some(chosen));
        }
        match action {
            Some(Action::Accept) => choose(self.rows.get(self.cursor.at)),
            Some(action) if self.list(terminal).is_some_and(|list| list.go(action)) => LayerResult::Stay,
            _ => LayerResult::Close,
        }
    }

    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        let row = self.list(terminal).and_then(|list| list.row_at(position));
        choose(row.and_then(|row| self.rows.get(row)))
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Accept, Action::ListDown, Action::ListUp, Action::Cancel]
    }
}
