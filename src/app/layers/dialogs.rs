//! Dialogs: a note, which is a text in a box; a question with choices; and an input line in the footer. The line asks
//! for a name, a label, a confirmation or a directory.

use crossterm::event::KeyModifiers;

use crate::app::layers::screen::{LayerResult, PromptPurpose, Screen, movement};
use crate::app::widgets::{LineEdit, TerminalSize, TextBox, largest, middle};
use crate::base::text::{Span, Tone};
use crate::keymap::{Action, Key};
use crate::render::{DocLine, plain};

/// Maximum width of a note.
const NOTE: u16 = 88;

/// A text in a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageBox {
    /// The title.
    pub title: String,
    /// The text; may have several lines. If the first line ends with a colon, the second line is a command.
    pub text: String,
    /// The first visible row.
    pub top: usize,
}

impl MessageBox {
    /// Creates a note.
    pub fn new(title: &str, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), top: 0 }
    }

    /// Returns the content of the box.
    pub(crate) fn text_box(&self, terminal: TerminalSize) -> TextBox {
        let mut lines = plain(Tone::Text, &self.text);
        let has_command = self.text.lines().next().is_some_and(|first| first.ends_with(':'));
        for (at, line) in lines.iter_mut().enumerate() {
            line.verbatim = has_command && at == 1;
        }
        TextBox::new(lines, largest(terminal, NOTE), 0)
    }
}

impl Screen for MessageBox {
    fn press(&mut self, _key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        let text_box = self.text_box(terminal);
        match action.and_then(|action| movement(action, text_box.height)) {
            Some(by) if text_box.scrolls() => self.wheel(by, terminal),
            _ => LayerResult::Close,
        }
    }

    fn click(&mut self, _position: (u16, u16), _terminal: TerminalSize) -> LayerResult {
        LayerResult::Close
    }

    fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult {
        self.top = self.text_box(terminal).scrolled(self.top, by);
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Down, Action::Up]
    }

    fn offers(&self, _action: Action, terminal: TerminalSize) -> bool {
        self.text_box(terminal).scrolls()
    }
}

/// Maximum width of a question.
const QUESTION: u16 = 76;

/// A choice of a dialog.
#[derive(Clone, Debug)]
pub struct QuestionChoice<C> {
    /// The letter that selects and confirms the choice.
    pub key: char,
    /// A short name.
    pub word: &'static str,
    /// An explanation; may contain text from files.
    pub sentence: String,
    /// The command; `None` only closes the dialog.
    pub then: Option<C>,
    /// `true` if the dialog stays open below the result.
    pub stays: bool,
}

impl<C> QuestionChoice<C> {
    /// Creates a choice.
    pub fn new(key: char, word: &'static str, sentence: impl Into<String>, then: C) -> Self {
        Self { key, word, sentence: sentence.into(), then: Some(then), stays: false }
    }
}

/// A dialog.
#[derive(Clone, Debug)]
pub struct Question<C> {
    /// The title.
    pub title: &'static str,
    text: Vec<DocLine>,
    pub(crate) choices: Vec<QuestionChoice<C>>,
    /// Index of the choice that Enter confirms.
    selected: usize,
    /// The first visible row.
    pub top: usize,
}

impl<C: Clone> Question<C> {
    /// Creates a dialog that selects the first choice.
    pub fn new(title: &'static str, text: Vec<DocLine>, choices: Vec<QuestionChoice<C>>) -> Self {
        Self { title, text, choices, selected: 0, top: 0 }
    }

    /// Selects the choice with a key, if there is one.
    #[must_use]
    pub(crate) fn select_key(self, key: char) -> Self {
        let at = self.choices.iter().position(|choice| choice.key == key);
        self.select_at(at.unwrap_or_default())
    }

    /// Selects the choice at an index, or the last one.
    #[must_use]
    pub(crate) fn select_at(self, at: usize) -> Self {
        Self { selected: at.min(self.choices.len().saturating_sub(1)), ..self }
    }

    /// Returns the selected choice.
    pub(crate) fn selected(&self) -> Option<&QuestionChoice<C>> {
        self.choices.get(self.selected)
    }

    /// Returns the name of the selected choice.
    pub fn answer_word(&self) -> &'static str {
        self.choices.get(self.selected).map_or("close", |choice| choice.word.trim_end())
    }

    /// Returns the content of the box.
    pub(crate) fn text_box(&self, terminal: TerminalSize) -> TextBox {
        let mut lines = self.text.clone();
        if !lines.is_empty() && !self.choices.is_empty() {
            lines.push(DocLine::default());
        }
        for (at, choice) in self.choices.iter().enumerate() {
            let mark = if at == self.selected { "> " } else { "  " };
            let spans = vec![
                Span::text(mark),
                Span::accent(format!("{}  ", choice.key)),
                Span::new(Tone::Strong, choice.word),
                Span::clean(Tone::Text, &format!("  {}", choice.sentence)),
            ];
            lines.push(DocLine { spans, indent: 5, ..DocLine::default() });
        }
        TextBox::new(lines, largest(terminal, QUESTION), 0)
    }

    /// Returns `true` if a row belongs to the selected choice.
    pub fn is_selected(&self, text_box: &TextBox, row: usize) -> bool {
        let line = text_box.lines.len() - self.choices.len() + self.selected;
        !self.choices.is_empty() && text_box.wrapped.place(&text_box.lines, row).is_some_and(|(at, _)| at == line)
    }

    /// Scrolls by some rows.
    fn scroll(&mut self, by: isize, terminal: TerminalSize) {
        self.top = self.text_box(terminal).scrolled(self.top, by);
    }

    /// Selects the next or previous choice; scrolls if the selected choice is not visible or there is no other.
    fn go(&mut self, by: isize, terminal: TerminalSize) {
        if self.is_in_sight(terminal) {
            let next = self.selected.saturating_add_signed(by).min(self.choices.len().saturating_sub(1));
            if next != self.selected {
                self.selected = next;
                while !self.is_in_sight(terminal) {
                    let top = self.top;
                    self.scroll(by, terminal);
                    if self.top == top {
                        return;
                    }
                }
                return;
            }
        }
        self.scroll(by, terminal);
    }

    /// Returns `true` if the selected choice is visible; if it is taller than the box, its start.
    fn is_in_sight(&self, terminal: TerminalSize) -> bool {
        let text_box = self.text_box(terminal);
        let mut rows = (0..text_box.wrapped.len()).filter(|&row| self.is_selected(&text_box, row));
        let Some(first) = rows.next() else { return true };
        let last = rows.next_back().unwrap_or(first).min(first + text_box.height.saturating_sub(1));
        self.top <= first && last < self.top + text_box.height
    }
}

impl<C: Clone> Screen for Question<C> {
    /// Takes a key. The letter of a choice has priority over its action.
    fn press(&mut self, key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        let letter = key.typed().filter(|_| key.modifiers == KeyModifiers::NONE);
        if let Some(at) = self.choices.iter().position(|choice| Some(choice.key) == letter) {
            return LayerResult::Choice(at);
        }
        let page = isize::try_from(self.text_box(terminal).height).unwrap_or(1);
        match action {
            Some(Action::Back | Action::Quit) => return LayerResult::Close,
            Some(Action::Confirm) => return LayerResult::Choice(self.selected),
            Some(Action::Up) => self.go(-1, terminal),
            Some(Action::Down) => self.go(1, terminal),
            Some(Action::PageUp) => self.scroll(-page, terminal),
            Some(Action::PageDown) => self.scroll(page, terminal),
            _ => {}
        }
        LayerResult::Stay
    }

    /// Confirms the clicked choice; a click outside the box closes it.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        let text_box = self.text_box(terminal);
        let area = middle(terminal, text_box.size);
        if !area.contains(position.into()) {
            return LayerResult::Close;
        }
        let at = position.1.checked_sub(area.y + 1).map(usize::from).filter(|&at| at < text_box.height);
        let line = at.and_then(|at| text_box.wrapped.place(&text_box.lines, self.top + at));
        let choice = line.and_then(|(line, _)| line.checked_sub(text_box.lines.len() - self.choices.len()));
        choice.map_or(LayerResult::Stay, LayerResult::Choice)
    }

    fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult {
        self.scroll(by, terminal);
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Confirm, Action::Down, Action::Up, Action::Back, Action::Help]
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::Confirm => Some(self.answer_word()),
            Action::Back => Some("cancel"),
            _ => None,
        }
    }
}

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

    /// Removes candidates and error of the previous text.
    fn forget(&mut self) {
        self.options.clear();
        self.problem = None;
    }
}

impl Screen for Prompt {
    fn press(&mut self, key: Key, action: Option<Action>, _terminal: TerminalSize) -> LayerResult {
        let is_dir = self.purpose.is_directory();
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

    fn paste(&mut self, text: &str) -> LayerResult {
        self.line.paste(text);
        self.forget();
        LayerResult::Stay
    }

    fn wheel(&mut self, _by: isize, _terminal: TerminalSize) -> LayerResult {
        LayerResult::Pass
    }
}

/// The input line of a search over all sessions; its text is in [`Search`](crate::app::search::Search), whose module
/// handles the input.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchLine;

impl Screen for SearchLine {
    fn press(&mut self, _key: Key, _action: Option<Action>, _terminal: TerminalSize) -> LayerResult {
        LayerResult::Pass
    }

    fn paste(&mut self, _text: &str) -> LayerResult {
        LayerResult::Pass
    }

    fn click(&mut self, _position: (u16, u16), _terminal: TerminalSize) -> LayerResult {
        LayerResult::Pass
    }

    fn wheel(&mut self, _by: isize, _terminal: TerminalSize) -> LayerResult {
        LayerResult::Pass
    }
}

/// The input line of a search in the tree or the preview, or of the filter of a list.
#[derive(Clone, Debug, Default)]
pub struct FindLine(pub LineEdit);

impl Screen for FindLine {
    fn press(&mut self, key: Key, action: Option<Action>, _terminal: TerminalSize) -> LayerResult {
        match action {
            Some(Action::Accept) => LayerResult::KeepSearch,
            Some(Action::Cancel | Action::Close) => LayerResult::CancelSearch,
            Some(action @ Action::OnlyHits) => LayerResult::Act(action),
            action if self.0.press(key, action) => LayerResult::SearchText(self.0.value().into()),
            _ => LayerResult::Stay,
        }
    }

    fn paste(&mut self, text: &str) -> LayerResult {
        self.0.paste(text);
        LayerResult::SearchText(self.0.value().into())
    }

    fn wheel(&mut self, _by: isize, _terminal: TerminalSize) -> LayerResult {
        LayerResult::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(lines: usize) -> Question<()> {
        let choice = |key| QuestionChoice::new(key, "word", "a sentence that goes on for more than a row or two", ());
        Question::new(
            "Title",
            crate::render::plain(Tone::Text, &"a line\n".repeat(lines)),
            vec![choice('a'), choice('b'), choice('c')],
        )
    }

    proptest::proptest! {
        #[test]
        fn every_row_and_every_choice_is_reachable(lines in 0usize..12, columns in 40u16..90, rows in 10u16..20) {
            let mut question = question(lines);
            let (terminal, mut seen) = ((columns, rows), std::collections::HashSet::new());
            let mut chosen = std::collections::HashSet::new();
            for key in ["down"; 40].into_iter().chain(["up"; 40]) {
                let text_box = question.text_box(terminal);
                seen.extend(question.top..question.top + text_box.height);
                if question.is_in_sight(terminal) {
                    chosen.insert(question.selected);
                }
                let action = if key == "down" { Action::Down } else { Action::Up };
                question.press(key.parse().unwrap(), Some(action), terminal);
                proptest::prop_assert!(question.top + text_box.height <= text_box.wrapped.len());
            }
            proptest::prop_assert_eq!(seen.len(), question.text_box(terminal).wrapped.len());
            proptest::prop_assert_eq!(chosen.len(), 3);
            proptest::prop_assert_eq!((question.top, question.selected), (0, 0));
        }
    }
}
