//! An input line in the footer: for a name, a label, a confirmation or a directory.

use crate::app::layers::answer::{LayerResult, PromptPurpose};
use crate::app::widgets::line::LineEdit;
use crate::keymap::{Action, Key};

/// A prompt for a line of text.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Purpose of the line.
    pub purpose: PromptPurpose,
    /// Text before the line.
    pub question: String,
    /// The input line.
    pub line: LineEdit,
    /// Completion candidates.
    pub options: Vec<String>,
    /// The reason why the line was rejected.
    pub problem: Option<String>,
}

impl Prompt {
    /// Creates a prompt with an initial text.
    pub fn new(purpose: PromptPurpose, question: impl Into<String>, value: &str) -> Self {
        let line = LineEdit::new(value);
        Self { purpose, question: question.into(), line, options: Vec::new(), problem: None }
    }

    /// Inserts pasted text.
    pub(super) fn paste(&mut self, text: &str) {
        self.line.paste(text);
        self.forget();
    }

    /// Removes candidates and error of the previous text.
    fn forget(&mut self) {
        self.options.clear();
        self.problem = None;
    }

    pub(super) fn press<C>(&mut self, key: Key, action: Option<Action>) -> LayerResult<C> {
        let is_dir = matches!(self.purpose, PromptPurpose::Directory(_));
        match action {
            Some(Action::Accept) => LayerResult::Submit(self.purpose.clone(), self.line.value().into()),
            Some(Action::Cancel | Action::Close) => LayerResult::Close,
            Some(Action::Complete) if is_dir => LayerResult::CompleteDir(self.line.value().into()),
            action => {
                if self.line.press(key, action) {
                    self.forget();
                }
                LayerResult::Stay
            }
        }
    }
}
