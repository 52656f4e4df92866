//! What is shown of an entry in full, as styled lines: [`entry`] says what belongs there, with Markdown, highlighted
//! code and diffs; [`wrap`] breaks it to the width of the pane. Pure; colours are the theme's business.

pub mod code;
pub mod diff;
pub(crate) mod document;
pub mod entry;
pub mod markdown;
pub mod plain_markdown;
pub mod wrap;

use crate::base::text::{Span, Tone, clean_lines};

/// One logical line of a document, or of a long text many with `\n` between them: wrapped to the width of the pane when
/// shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocLine {
    /// The text, clean.
    pub spans: Vec<Span>,
    /// Columns by which continuation lines are indented when the line is wrapped (list items, quotes).
    pub indent: u16,
    /// Code, tables, and diffs are not broken between words but wherever the pane ends.
    pub verbatim: bool,
}

impl DocLine {
    /// A line of text of one meaning, which may come from a file.
    pub fn new(tone: Tone, text: &str) -> Self {
        Self { spans: vec![Span::clean(tone, text)], ..Self::default() }
    }

    /// A line of several meanings.
    pub fn of(spans: Vec<Span>) -> Self {
        Self { spans, ..Self::default() }
    }

    /// A line that is broken wherever the pane ends.
    pub(crate) fn verbatim(spans: Vec<Span>) -> Self {
        Self { spans, verbatim: true, ..Self::default() }
    }
}

/// Lines of text as they are, which may come from a file.
pub fn plain(tone: Tone, text: &str) -> Vec<DocLine> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    clean_lines(text).map(|line| DocLine::verbatim(vec![Span::new(tone, line)])).collect()
}
