//! What panes and layers are made of: a list's [`cursor`], a [`mod@line`] that is typed, a [`text_box`] of text in a box.

pub mod cursor;
pub mod line;
pub mod text_box;
