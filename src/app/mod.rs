//! The state of the browser and how it changes: pure. [`update::update`] takes a message, changes the [`model`] and
//! returns effects; time and everything read from disk come in as messages.

pub mod card;
pub mod cursor;
pub mod help;
pub mod layout;
pub mod message;
pub mod model;
pub mod preview;
pub mod rows;
pub mod sessions;
pub mod sheet;
pub mod tree;
pub mod tree_text;
pub mod update;
