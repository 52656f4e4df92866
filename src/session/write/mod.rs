//! Construction of lines and files, without I/O. Lines to append are in [`mod@line`] and [`context_edit`], and new files in
//! [`fork`], `pick` and [`import`]. Other files replace one: [`migrate`], [`header`], [`repair`] and [`slim`].

pub mod context_edit;
pub mod fork;
pub mod header;
pub mod import;
pub mod line;
pub mod migrate;
pub(crate) mod pick;
pub mod repair;
pub(crate) mod shorten;
pub mod slim;
