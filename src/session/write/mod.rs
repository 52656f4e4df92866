//! Construction of lines and files: a line to append ([`mod@line`]), a new file ([`fork`] and [`import`]), a migrated
//! file ([`migrate`]), and a repaired one ([`repair`]). Without I/O.

pub mod fork;
pub mod import;
pub mod line;
pub mod migrate;
pub mod repair;
