//! The state of the browser and how it changes: pure. [`update::update`] takes a message, changes the [`model`] and
//! returns effects; time and everything read from disk come in as messages.

pub mod card;
pub mod change;
pub mod copy;
pub mod cursor;
mod delete;
pub mod edit;
pub mod find;
pub mod help;
mod labels;
pub mod layout;
mod live;
mod mark;
pub mod message;
pub mod model;
mod name;
mod outline;
pub mod palette;
pub mod picker;
pub mod preview;
pub mod projects;
pub mod question;
pub mod resume;
pub mod rows;
pub mod search;
pub mod sessions;
mod settle;
pub mod sheet;
pub mod spots;
pub mod tree;
pub mod tree_text;
pub mod update;
