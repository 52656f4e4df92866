//! Browser state and its changes, without input or output. [`update`](mod@update) takes a message, changes the
//! [`model`] and returns effects; time and file contents arrive as messages.
//!
//! [`widgets`] are the parts of [`panes`] and [`layers`]. [`palettes`], [`card`] and [`flows`] read the model; flows
//! return a [`command`]. Each piece of background work has a [`ticket`].

pub mod attention;
pub mod card;
pub mod command;
pub mod external;
pub mod flows;
pub mod hints;
pub mod histories;
pub mod layers;
pub mod machines;
pub mod message;
pub mod model;
pub mod palettes;
pub mod panes;
pub mod resume_target;
pub mod saved_state;
pub mod search;
pub mod session_text;
pub mod settings;
pub mod ticket;
pub mod title;
pub mod unread;
pub mod update;
pub mod widgets;
