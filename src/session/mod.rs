//! What a session file means: pure, no I/O. A line is read into an [`entry`], on top of [`json`]; a file's lines make a
//! [`tree`], or a [`digest`] where a list is enough; files make families in [`family`]. What is to be written is built in
//! [`write`](mod@write).

pub mod digest;
pub mod entry;
pub mod family;
pub mod json;
pub mod tree;
pub mod write;
