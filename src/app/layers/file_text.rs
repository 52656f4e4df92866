//! The content of a file, or the difference between two states, over the whole screen.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerResult, movement};
use crate::base::text::{Glyphs, Span};
use crate::catalog::EntryRef;
use crate::catalog::file_states::{FileAt, FileTextRequest};
use crate::keymap::Action;
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
        }
    }

    /// Takes the text.
    pub(crate) fn take(&mut self, facts: String, lines: Vec<DocLine>) {
        (self.facts, self.lines, self.is_reading) = (facts, Arc::new(lines), false);
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

    /// Wraps the visible text to the size of the terminal.
    pub(crate) fn fit(&mut self, size: (u16, u16)) {
        let body = Self::body(size);
        let (columns, rows) = (usize::from(body.width).max(1), usize::from(body.height));
        if self.wrapped.width != columns {
            self.wrapped = Wrapped::with_style(columns, self.wrapped.style.clone());
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(rows.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(rows));
        }
    }

    /// Handles an action. Actions that need the model are returned.
    pub(super) fn press<C>(&mut self, action: Option<Action>, size: (u16, u16)) -> LayerResult<C> {
        let page = usize::from(Self::body(size).height).saturating_sub(1).max(1);
        let Some(action) = action else { return LayerResult::Stay };
        match action {
            Action::Back => return LayerResult::Close,
            action => match movement(action, page) {
                Some(isize::MAX) => {
                    self.wrapped.all(&self.lines);
                    self.top = self.wrapped.len();
                }
                Some(by) => self.top = self.top.saturating_add_signed(by),
                None => return LayerResult::Act(action),
            },
        }
        self.fit(size);
        LayerResult::Stay
    }

    pub(super) fn wheel(&mut self, by: isize, size: (u16, u16)) {
        self.top = self.top.saturating_add_signed(by);
        self.fit(size);
    }
}
