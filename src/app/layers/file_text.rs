//! The content of a file, or the difference between two states, over the whole screen.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerResult, movement};
use crate::app::layers::screen::Screen;
use crate::app::ticket::Claim;
use crate::app::widgets::TerminalSize;
use crate::base::text::{Glyphs, Span};
use crate::catalog::EntryRef;
use crate::catalog::file_states::{FileAt, FileTextRequest};
use crate::keymap::{Action, Key};
use crate::render::DocLine;
use crate::render::wrap::{VerbatimStyle, Wrapped};

/// Rows above the text.
const HEAD: u16 = 2;

/// Rows to wrap beyond the first visible one.
const AHEAD: usize = 1000;

/// A text over the whole screen.
#[derive(Clone, Debug)]
pub struct FileTextView {
    /// The file as shown, cleaned.
    pub title: String,
    /// The compared states, cleaned.
    pub subject: String,
    /// The file and the form.
    pub request: FileTextRequest,
    /// The file at the selected entry; `None` in a comparison of branches.
    pub at: Option<(EntryRef, FileAt)>,
    /// Facts about the states, cleaned; empty while they are read.
    pub facts: String,
    /// `true` while the text is read.
    pub is_reading: bool,
    /// The lines.
    pub lines: Arc<Vec<DocLine>>,
    /// The wrapped lines.
    pub wrapped: Wrapped,
    /// The first visible row.
    pub top: usize,
    /// The pending reading.
    pub(crate) claim: Option<Claim>,
}

impl FileTextView {
    /// Creates a view whose text is read.
    pub(crate) fn new(title: String, subject: String, request: FileTextRequest, glyphs: &Glyphs) -> Self {
        let style = VerbatimStyle {
            continuation: glyphs.wrapped.clone(),
            more: glyphs.ellipsis.clone(),
            ..VerbatimStyle::default()
        };
        Self {
            title,
            subject,
            request,
            at: None,
            facts: String::new(),
            is_reading: true,
            lines: Arc::default(),
            wrapped: Wrapped::with_style(1, style),
            top: 0,
            claim: None,
        }
    }

    /// Takes the text.
    pub(crate) fn take(&mut self, facts: String, lines: Vec<DocLine>) {
        (self.facts, self.lines, self.is_reading, self.claim) = (facts, Arc::new(lines), false, None);
        self.wrapped = Wrapped::with_style(self.wrapped.width, self.wrapped.style.clone());
    }

    /// Returns the area of the text.
    pub fn body((columns, rows): (u16, u16)) -> Rect {
        let width = columns.saturating_sub(2);
        Rect { x: 1.min(columns), y: HEAD.min(rows), width, height: rows.saturating_sub(HEAD + 1) }
    }

    /// Returns a visible row.
    pub fn row(&self, at: usize) -> Vec<Span> {
        let shown = self.wrapped.shown(&self.lines, at);
        shown
            .map_or_else(Vec::new, |shown| shown.pieces.into_iter().map(|(text, tone)| Span::new(tone, text)).collect())
    }
}

impl<C> Screen<C> for FileTextView {
    fn fit(&mut self, terminal: TerminalSize) {
        let body = Self::body(terminal);
        let (columns, rows) = (usize::from(body.width).max(1), usize::from(body.height));
        if self.wrapped.width != columns {
            self.wrapped = Wrapped::with_style(columns, self.wrapped.style.clone());
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(rows.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(rows));
        }
    }

    fn press(&mut self, _key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult<C> {
        let page = usize::from(Self::body(terminal).height).saturating_sub(1).max(1);
        match action.and_then(|action| movement(action, page)) {
            Some(by) => self.wheel(by, terminal),
            None => action.map_or(LayerResult::Stay, |action| self.act(action, terminal)),
        }
    }

    fn wheel(&mut self, by: isize, _terminal: TerminalSize) -> LayerResult<C> {
        self.top = self.top.saturating_add_signed(by);
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::Down,
            A::ShowContent,
            A::DiffState,
            A::DiffDisk,
            A::WriteFile,
            A::Copy,
            A::NextEntry,
            A::PreviousEntry,
            A::Confirm,
            A::Back,
            A::PageDown,
            A::Quit,
        ]
    }

    fn offers(&self, action: Action, _terminal: TerminalSize) -> bool {
        use Action as A;
        self.at.is_some() || matches!(action, A::Help | A::Down | A::Back | A::PageDown | A::Quit)
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::NextEntry => Some("next"),
            Action::PreviousEntry => Some("previous"),
            Action::Confirm => Some("go to entry"),
            _ => None,
        }
    }
}
