//! A line in the footer for something that is wanted: a name, a label, a word.

use crate::app::layers::answer::{Answer, Purpose};
use crate::app::widgets::line::LineEdit;
use crate::keymap::{Action, Key};

/// A line that is wanted.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it is for.
    pub purpose: Purpose,
    /// What stands in front of it.
    pub question: String,
    /// What is typed.
    pub line: LineEdit,
}

impl Prompt {
    /// A line that begins with `value`.
    pub fn new(purpose: Purpose, question: impl Into<String>, value: &str) -> Self {
        Self { purpose, question: question.into(), line: LineEdit::new(value) }
    }

    pub(super) fn press<C>(&mut self, key: Key, action: Option<Action>) -> Answer<C> {
        match action {
            Some(Action::Accept) => Answer::Accepted(self.purpose.clone(), self.line.value().into()),
            Some(Action::Cancel | Action::Close) => Answer::Close,
            Some(Action::Complete) if matches!(self.purpose, Purpose::Directory { .. }) => {
                Answer::Complete(self.line.value().into())
            }
            action => {
                self.line.press(key, action);
                Answer::Stay
            }
        }
    }
}
