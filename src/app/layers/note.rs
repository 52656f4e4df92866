//! A box with a text that a key closes.

use crate::app::layers::answer::{LayerResult, movement};
use crate::app::widgets::text_box::{TextBox, largest};
use crate::base::text::Tone;
use crate::keymap::Action;
use crate::render::plain;

/// Maximum width of the box.
const WIDEST: u16 = 88;

/// A text in a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The title.
    pub title: String,
    /// The text; may have several lines. If the first line ends with a colon, the second line is a command.
    pub text: String,
    /// The first visible row.
    pub top: usize,
}

impl Note {
    /// Creates a note.
    pub fn new(title: &str, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), top: 0 }
    }

    /// Returns the content of the box.
    pub(crate) fn text_box(&self, terminal: (u16, u16)) -> TextBox {
        let mut lines = plain(Tone::Text, &self.text);
        let has_command = self.text.lines().next().is_some_and(|first| first.ends_with(':'));
        for (at, line) in lines.iter_mut().enumerate() {
            line.verbatim = has_command && at == 1;
        }
        TextBox::new(lines, largest(terminal, WIDEST), 0)
    }

    pub(super) fn press<C>(&mut self, action: Option<Action>, terminal: (u16, u16)) -> LayerResult<C> {
        let text_box = self.text_box(terminal);
        let Some(by) = action.and_then(|action| movement(action, text_box.height)) else { return LayerResult::Close };
        if !text_box.scrolls() {
            return LayerResult::Close;
        }
        self.top = text_box.scrolled(self.top, by);
        LayerResult::Stay
    }

    pub(super) fn scroll(&mut self, by: isize, terminal: (u16, u16)) {
        self.top = self.text_box(terminal).scrolled(self.top, by);
    }
}
