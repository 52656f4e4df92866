//! Search over sessions. [`query`] is the language, with [`qualifier`]s for session properties. [`matching`] matches a
//! query with a [`candidate`], and [`entry_match`] with its entries. [`text_match`] searches a single text, [`fuzzy`]
//! handles approximate matches, and [`byte_search`] probes undecoded lines. Pure: no files, no threads.

pub mod byte_search;
pub mod candidate;
pub mod entry_match;
pub mod fuzzy;
pub mod known_secrets;
pub mod lost_work;
pub mod matching;
mod needle;
mod pattern;
pub mod qualifier;
pub mod query;
pub mod text_match;
