//! The state of the browser and how it changes: pure. [`update`](mod@update) takes a message, changes the [`model`] and
//! returns effects; time and everything read from disk come in as messages. [`panes`] and [`layers`] are made of
//! [`widgets`]; [`palettes`], [`card`] and [`flows`] read a [`context`] and answer with a [`command`]; work is asked for with a
//! [`ticket`].

pub mod card;
pub mod command;
pub mod context;
pub mod flows;
pub mod jumps;
pub mod layers;
pub mod message;
pub mod model;
pub mod palettes;
pub mod panes;
pub mod queries;
pub mod remembered;
pub mod setting;
pub mod ticket;
pub mod title;
pub mod update;
pub mod widgets;
