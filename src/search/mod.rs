//! Finding sessions: pure. [`query`] is the language; [`find`] holds a query against what was read of sessions; [`raw`]
//! looks for a word in lines as they stand in the file. No files, no threads.

pub mod find;
pub mod query;
pub mod raw;
