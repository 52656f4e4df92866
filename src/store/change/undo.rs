//! undo
