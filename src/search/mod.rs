//! Finding sessions: pure. [`query`] is the language and what a query means as data, read by `parse` from the tokens of
//! `token`, its values by [`value`] and its regular expressions by [`pattern`]; [`matcher`] holds a query against
//! sessions, with `facts` for what qualifiers ask, `needle` for what is looked for in a text, and [`fuzzy`] where nothing matches
//! literally; [`complete`] knows how a query may go on. No files, no threads: what was read of a session comes in.

pub mod complete;
mod facts;
pub mod fuzzy;
pub mod matcher;
mod needle;
mod parse;
pub mod pattern;
pub mod query;
mod token;
pub mod value;
