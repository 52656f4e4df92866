//! Construction of lines and files: a line to append ([`mod@line`]), a new file ([`fork`]), a migrated file
//! ([`migrate`]). Without I/O.

pub mod fork;
pub mod line;
pub mod migrate;
