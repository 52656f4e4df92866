//! Queries held against sessions and texts: [`matcher`] against sessions, with `facts` for what qualifiers ask, `needle`
//! for what is looked for in a text, and [`fuzzy`] where nothing matches literally; [`inside`] looks into one text.

mod facts;
pub mod fuzzy;
pub mod inside;
pub mod matcher;
mod needle;
