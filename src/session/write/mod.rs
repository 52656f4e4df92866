//! Construction of lines and files: a line to append ([`mod@line`]), a context edit ([`context_edit`]), a new file ([`fork`] and [`import`]), a migrated
//! file ([`migrate`]), one with another header ([`header`]), a repaired one ([`repair`]), and a smaller one ([`slim`]).
//! Without I/O.

pub mod context_edit;
pub mod fork;
pub mod header;
pub mod import;
pub mod line;
pub mod migrate;
pub mod repair;
pub(crate) mod shorten;
pub mod slim;
