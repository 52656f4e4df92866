//! The preview pane: what it is about, its text, and the part of it that is seen.

use std::path::PathBuf;

use crate::doc::DocLine;
use crate::doc::wrap::Wrapped;
use crate::session::tree::Index;

/// Rows that are wrapped beyond the top: nearly every text is then wrapped as a whole, and how far one is in it is
/// known.
const AHEAD: usize = 1000;

/// What the preview is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Nothing is selected.
    #[default]
    Nothing,
    /// A project, by its working directory.
    Project(String),
    /// A session, by its file.
    Session(PathBuf),
    /// An entry of the open session.
    Entry(PathBuf, Index),
}

/// The state of the pane.
#[derive(Debug)]
pub struct Pane {
    /// What it is about.
    pub subject: Subject,
    /// The lines, as they are before wrapping.
    pub lines: Vec<DocLine>,
    /// The lines as wrapped so far: only as far as they were seen.
    pub wrapped: Wrapped,
    /// The first wrapped row that is seen.
    pub top: usize,
    /// Whether the text is still being read.
    pub waiting: bool,
}

impl Default for Pane {
    fn default() -> Self {
        let subject = Subject::Nothing;
        Self { subject, lines: Vec::new(), wrapped: Wrapped::new(1), top: 0, waiting: false }
    }
}

impl Pane {
    /// Turns to another subject; its text is still to come.
    pub fn turn_to(&mut self, subject: Subject) {
        *self = Self { subject, wrapped: Wrapped::new(self.wrapped.width()), waiting: true, ..Self::default() };
    }

    /// Shows a text; the place stays, so that a text that grew does not jump.
    pub fn show(&mut self, lines: Vec<DocLine>) {
        self.waiting = false;
        if self.lines != lines {
            self.lines = lines;
            self.wrapped = Wrapped::new(self.wrapped.width());
        }
    }

    /// Wraps what is seen to the pane's size and keeps the place in the text when the width changes.
    pub fn fit(&mut self, width: usize, height: usize) {
        if self.wrapped.width() != width {
            let place = self.wrapped.place(self.top);
            self.wrapped = Wrapped::new(width);
            if let Some((line, byte)) = place {
                self.wrapped.ensure_place(&self.lines, line, byte);
                self.top = self.wrapped.row_at(line, byte).unwrap_or_default();
            }
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(height.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(height));
        }
    }

    /// Scrolls by some rows.
    pub fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by);
    }

    /// Scrolls to the end.
    pub fn to_end(&mut self) {
        self.wrapped.all(&self.lines);
        self.top = self.wrapped.len();
    }
}
