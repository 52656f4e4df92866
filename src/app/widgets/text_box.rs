//! A text box over the panes; the text scrolls if the terminal is too small.

use ratatui::layout::Rect;

use crate::render::DocLine;
use crate::render::wrap::Wrapped;

/// Columns and rows of the frame.
const FRAME: (u16, u16) = (4, 2);

/// Returns the maximum size of a box, frame included, for a terminal size.
pub(crate) fn largest((columns, rows): (u16, u16), widest: u16) -> (u16, u16) {
    (columns.saturating_sub(2).min(widest), rows.saturating_sub(2))
}

/// Returns the area of a box centered in the terminal.
pub fn middle((columns, rows): (u16, u16), (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(columns), height.min(rows));
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// A text wrapped to the inside of a box.
#[derive(Debug)]
pub struct TextBox {
    /// The lines.
    pub lines: Vec<DocLine>,
    /// The wrapped lines.
    pub wrapped: Wrapped,
    /// Columns and rows of the box, frame included.
    pub size: (u16, u16),
    /// Number of visible text rows.
    pub height: usize,
}

impl TextBox {
    /// Wraps `lines` into a box of at most `largest`; `extra` rows are reserved for other content.
    pub fn new(lines: Vec<DocLine>, largest: (u16, u16), extra: u16) -> Self {
        let mut wrapped = Wrapped::new(largest.0.saturating_sub(FRAME.0).into());
        wrapped.all(&lines);
        let room = largest.1.saturating_sub(FRAME.1 + extra);
        let height = u16::try_from(wrapped.len()).unwrap_or(u16::MAX).min(room);
        Self { lines, wrapped, size: (largest.0, height + FRAME.1 + extra), height: height.into() }
    }

    /// Returns the first visible row after scrolling `by` rows from `top`.
    pub fn scrolled(&self, top: usize, by: isize) -> usize {
        top.saturating_add_signed(by).min(self.wrapped.len().saturating_sub(self.height))
    }

    /// Returns `true` if the text does not fit and scrolls.
    pub(crate) fn scrolls(&self) -> bool {
        self.wrapped.len() > self.height
    }
}
