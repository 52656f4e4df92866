//! Finding sessions: pure. [`query`] is the language, [`qualifier`] what of it is about sessions; [`matching`] holds a
//! query against a [`candidate`], [`entry_match`] against its entries; [`text_match`] looks into one text at a time, and [`fuzzy`] where nothing matches
//! literally; [`byte_search`] probes lines as they stand in the file. No files, no threads.

pub mod byte_search;
pub mod candidate;
pub mod entry_match;
pub mod fuzzy;
pub mod matching;
mod needle;
mod pattern;
pub mod qualifier;
pub mod query;
pub mod scope;
pub mod text_match;
pub mod value_lists;
