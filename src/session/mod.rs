//! What a session file means: pure, no I/O. Lines are read by [`read`] into an [`entry`], on top of [`json`]; a file's
//! lines make a [`tree`], a [`summary`] or a [`searchable`]; files make families in [`family`]; what tools did to
//! files in many sessions is summed in [`files`]. The texts
//! of an entry are named in [`field`], and looked for in raw lines by [`needle`]. What the model would see is in
//! [`context`]. Changes are built in [`mod@line`] (one line to append), [`fork`] (a new file) and [`migrate`] (an old file
//! in today's form), on top of `raw`.

pub mod active;
pub mod call;
pub mod context;
pub mod data;
pub mod entry;
pub mod family;
pub mod field;
pub mod files;
pub mod fork;
pub mod json;
pub mod line;
pub mod migrate;
pub mod needle;
pub mod node;
mod raw;
pub mod read;
pub mod resume;
pub mod searchable;
pub mod shape;
pub mod summary;
pub mod time;
pub mod tree;
