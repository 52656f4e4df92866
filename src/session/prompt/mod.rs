//! What the model gets when pi goes on at an entry, message by message: which messages in which order and what is left out
//! ([`plan`]), what they say ([`message`]), how much room they take (`tokens`, [`sum`]); and the rows of a list of them ([`listing`]). The lines of the entries are read by a
//! caller, one after the other, so that nothing of a long session but the rows of its list is held.

pub mod listing;
pub mod message;
pub mod plan;
pub mod sum;
mod tokens;
