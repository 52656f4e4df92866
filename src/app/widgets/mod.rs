//! Building blocks of panes and layers: a list [`cursor`], an input [`mod@line`] and a scrollable [`text_box`].

pub mod cursor;
pub mod line;
pub mod text_box;

/// Columns and rows of the terminal.
pub type TerminalSize = (u16, u16);
