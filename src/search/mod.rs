//! Finding sessions: pure. [`query`] is the language, [`qualifier`] what of it is about sessions; [`matching`] holds a
//! query against a [`candidate`], [`fulfil`] against its entries; [`words`] looks into one text at a time, and [`fuzzy`] where nothing matches
//! literally; [`raw`] probes lines as they stand in the file. No files, no threads.

pub mod candidate;
pub mod fulfil;
pub mod fuzzy;
pub mod here;
pub mod lists;
pub mod matching;
mod needle;
mod pattern;
pub mod qualifier;
pub mod query;
pub mod raw;
pub mod words;
