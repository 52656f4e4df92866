//! A line in the footer for something that is wanted: a name, a label, a word.

use crate::app::layers::answer::{LayerResult, PromptPurpose};
use crate::app::widgets::line::LineEdit;
use crate::keymap::{Action, Key};

/// A line that is wanted.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it is for.
    pub purpose: PromptPurpose,
    /// What stands in front of it.
    pub question: String,
    /// What is typed.
    pub line: LineEdit,
    /// How it may go on, as far as that was asked for.
    pub options: Vec<String>,
    /// Why it was not taken.
    pub problem: Option<String>,
}

impl Prompt {
    /// A line that begins with `value`.
    pub fn new(purpose: PromptPurpose, question: impl Into<String>, value: &str) -> Self {
        let line = LineEdit::new(value);
        Self { purpose, question: question.into(), line, options: Vec::new(), problem: None }
    }

    /// Text was pasted.
    pub(super) fn paste(&mut self, text: &str) {
        self.line.paste(text);
        self.forget();
    }

    /// What was said of the line does not hold for another one.
    fn forget(&mut self) {
        self.options.clear();
        self.problem = None;
    }

    pub(super) fn press<C>(&mut self, key: Key, action: Option<Action>) -> LayerResult<C> {
        let is_dir = matches!(self.purpose, PromptPurpose::Directory(_));
        match action {
            Some(Action::Accept) if is_dir => LayerResult::Tried(self.purpose.clone(), self.line.value().into()),
            Some(Action::Accept) => LayerResult::Accepted(self.purpose.clone(), self.line.value().into()),
            Some(Action::Cancel | Action::Close) => LayerResult::Close,
            Some(Action::Complete) if is_dir => LayerResult::Complete(self.line.value().into()),
            action => {
                if self.line.press(key, action) {
                    self.forget();
                }
                LayerResult::Stay
            }
        }
    }
}
