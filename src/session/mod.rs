//! What a session file means: pure, no I/O. A line is read into an [`entry`], on top of [`json`]; a file's [`lines`] make
//! a [`tree`], or a [`digest`] where no tree is needed; both say which [`models`] answered and what is a [`problem`].
//! A [`partial_line`] line may still be written. The [`search_text`] are what is searched as one types, and `frame` says
//! where in a line none stands. The [`links`] is how entries hang together. Files make families in [`family`], and
//! [`compare`] holds two ways in one against each other. What the model gets at an entry, message by message, is a
//! [`prompt`]. What is to be written is built in [`write`](mod@write).

pub mod compare;
pub mod digest;
pub mod entry;
pub mod family;
pub mod json;
pub mod lines;
pub mod links;
pub mod models;
pub mod partial_line;
pub mod problem;
pub mod prompt;
pub mod search_text;
pub(crate) mod text_spans;
pub mod tree;
pub mod write;
