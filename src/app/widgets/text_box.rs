//! A box over the panes, with a text that scrolls if the terminal is too small for it.

use ratatui::layout::Rect;

use crate::render::DocLine;
use crate::render::wrap::Wrapped;

/// Columns and rows that the frame of a box takes.
const FRAME: (u16, u16) = (4, 2);

/// How large a box may be, frame included, on a terminal of some columns and rows.
pub(crate) fn largest((columns, rows): (u16, u16), widest: u16) -> (u16, u16) {
    (columns.saturating_sub(2).min(widest), rows.saturating_sub(2))
}

/// Where a box of some columns and rows stands: in the middle of the terminal.
pub fn middle((columns, rows): (u16, u16), (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(columns), height.min(rows));
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// A text wrapped to the inside of a box.
#[derive(Debug)]
pub struct TextBox {
    /// The lines.
    pub lines: Vec<DocLine>,
    /// How they are wrapped.
    pub wrapped: Wrapped,
    /// Columns and rows of the box, frame included.
    pub size: (u16, u16),
    /// Rows of text that are seen at once.
    pub height: usize,
}

impl TextBox {
    /// Wraps `lines` to a box of at most `largest`, with `extra` rows set aside for something else.
    pub fn new(lines: Vec<DocLine>, largest: (u16, u16), extra: u16) -> Self {
        let mut wrapped = Wrapped::new(largest.0.saturating_sub(FRAME.0).into());
        wrapped.all(&lines);
        let room = largest.1.saturating_sub(FRAME.1 + extra);
        let height = u16::try_from(wrapped.len()).unwrap_or(u16::MAX).min(room);
        Self { lines, wrapped, size: (largest.0, height + FRAME.1 + extra), height: height.into() }
    }

    /// The first row that is seen after scrolling `by` rows from `top`.
    pub fn scrolled(&self, top: usize, by: isize) -> usize {
        top.saturating_add_signed(by).min(self.wrapped.len().saturating_sub(self.height))
    }

    /// Whether there is more than is seen at once.
    pub(crate) fn scrolls(&self) -> bool {
        self.wrapped.len() > self.height
    }
}
