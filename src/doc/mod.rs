//! Text as styled lines for the preview pane.

pub mod code;
pub mod diff;
pub mod markdown;
pub mod wrap;

use crate::text::Span;

/// One logical line of a document: wrapped to the width of the pane when shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocLine {
    /// The text, clean.
    pub spans: Vec<Span>,
    /// Columns by which continuation lines are indented when the line is wrapped (list items, quotes).
    pub indent: u16,
    /// Code, tables, and diffs are not broken between words but wherever the pane ends.
    pub verbatim: bool,
}
