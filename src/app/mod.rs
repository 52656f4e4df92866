//! The state of the browser and how it changes: pure. `update(&mut Model, Msg) -> Vec<Effect>`; time and everything
//! read from disk come in as messages.

pub mod rows;
pub mod tree_text;
