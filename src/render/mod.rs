//! Renders texts as styled lines: Markdown, highlighted code and diffs. [`wrap`]
//! wraps lines to the width of a pane. Pure: the theme chooses the colors.

pub mod code;
pub mod diff;
pub(crate) mod document;
pub mod file;
pub mod markdown;
pub mod wrap;

use std::sync::Arc;

use crate::base::text::{Span, Tone, clean_lines};

/// One logical line of a document, wrapped to the width of the pane when drawn. In an unstyled long text, it holds many
/// lines separated by `\n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocLine {
    /// The sanitized text.
    pub spans: Vec<Span>,
    /// The indentation of continuation rows in columns (list items, quotes).
    pub indent: u16,
    /// `true` for code, tables and diffs, which are broken at the edge of the pane and not between words.
    pub verbatim: bool,
}

impl DocLine {
    /// Creates a line of one tone from untrusted text.
    pub fn new(tone: Tone, text: &str) -> Self {
        Self { spans: vec![Span::clean(tone, text)], ..Self::default() }
    }

    /// Creates a line of ordinary untrusted text.
    pub fn text(text: &str) -> Self {
        Self::new(Tone::Text, text)
    }

    /// Creates a line of less important untrusted text.
    pub fn dim(text: &str) -> Self {
        Self::new(Tone::Dim, text)
    }

    /// Creates a line of untrusted text that warns.
    pub fn warning(text: &str) -> Self {
        Self::new(Tone::Warning, text)
    }

    /// Creates a line of several tones.
    pub fn of(spans: Vec<Span>) -> Self {
        Self { spans, ..Self::default() }
    }

    /// Creates a line that is broken at the edge of the pane.
    pub(crate) fn verbatim(spans: Vec<Span>) -> Self {
        Self { spans, verbatim: true, ..Self::default() }
    }
}

/// Lines of which some can be folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedLines {
    /// All lines.
    pub lines: Vec<DocLine>,
    /// The folds, by their titles. They can be nested.
    pub folds: Vec<Fold>,
    /// The images, by their lines.
    pub images: Vec<DocImage>,
}

impl From<Vec<DocLine>> for FoldedLines {
    /// Returns lines without folds and images.
    fn from(lines: Vec<DocLine>) -> Self {
        Self { lines, ..Self::default() }
    }
}

/// An image in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocImage {
    /// The line that describes it.
    pub line: usize,
    /// The width and the height in pixels.
    pub pixels: [usize; 2],
    /// The data of a PNG in Base64; empty for other formats, which terminals cannot show.
    pub png: Arc<str>,
}

/// A part of a text that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The line with its title.
    pub title: usize,
    /// The line after its last one.
    pub end: usize,
    /// `true` if it is unfolded at first.
    pub is_open: bool,
}

/// Returns a span with text that is already clean, or nothing if it is empty.
fn spans_of(tone: Tone, text: impl Into<String>) -> Vec<Span> {
    let text = text.into();
    if text.is_empty() { Vec::new() } else { vec![Span::new(tone, text)] }
}

/// Renders untrusted text as verbatim lines of one tone.
pub fn plain(tone: Tone, text: &str) -> Vec<DocLine> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    clean_lines(text).map(|line| DocLine::verbatim(vec![Span::new(tone, line)])).collect()
}
