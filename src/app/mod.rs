//! The state of the browser and how it changes: pure. [`update`](mod@update) takes a message, changes the [`model`] and
//! returns effects; time and everything read from disk come in as messages. [`panes`] and [`layers`] are made of
//! [`widgets`]; [`palettes`], [`card`] and [`flows`] read a [`selection`] and answer with a [`command`]; work is asked for with a
//! [`ticket`].

pub mod card;
pub mod command;
pub mod flows;
pub mod hints;
pub mod jump_history;
pub mod layers;
pub mod message;
pub mod model;
pub mod palettes;
pub mod panes;
pub mod query_history;
pub mod saved_state;
pub mod search;
pub mod selection;
pub mod startup;
pub mod ticket;
pub mod title;
pub mod update;
pub mod widgets;
