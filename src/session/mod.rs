//! What a session file means: pure, no I/O. Lines are read by [`read`] into an [`entry`], on top of [`json`]; a file's
//! lines make a [`tree`] or a [`summary`]; files make families in [`family`].

pub mod call;
pub mod data;
pub mod entry;
pub mod family;
pub mod json;
pub mod node;
pub mod read;
pub mod shape;
pub mod summary;
pub mod time;
pub mod tree;
