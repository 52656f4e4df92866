//! What a session file means: pure, no I/O. A line is read into an [`entry`], on top of [`json`]; a file's [`lines`] make
//! a [`tree`], or a [`digest`] where no tree is needed; both say which [`models`] answered and what is a [`problem`].
//! A [`last`] line may still be written. The [`texts`] are what is searched as one types, and `frame` says
//! where in a line none stands. The [`shape`] is how entries hang together. Files make families in [`family`], and
//! [`compare`] holds two ways in one against each other. What the model gets at an entry, message by message, is a
//! [`prompt`]. What is to be written is built in [`write`](mod@write).

pub mod compare;
pub mod digest;
pub mod entry;
pub mod family;
pub(crate) mod frame;
pub mod json;
pub mod last;
pub mod lines;
pub mod models;
pub mod problem;
pub mod prompt;
pub mod shape;
pub mod texts;
pub mod tree;
pub mod write;
