//! The only user of the file system. [`locate`] finds session directories, and [`scan`] and [`load`] read sessions.
//! [`append`] safely adds one line, and `create` writes new files. [`watch`] and [`incremental`] detect changes. Other
//! modules handle the trash, locks (`lock`), availability, temporary copies, missing directories ([`relocations`]) and
//! programs on the PATH (`program`). [`prompt`] reads the model context. `session` interprets lines.

pub mod append;
pub(crate) mod availability;
pub(crate) mod content;
pub(crate) mod create;
pub mod demo;
pub(crate) mod digest;
pub(crate) mod file_version;
pub mod files;
pub(crate) mod find;
pub(crate) mod fingerprint;
pub mod incremental;
pub(crate) mod index;
pub mod lines;
pub mod load;
pub mod locate;
pub(crate) mod lock;
pub mod parallel;
pub(crate) mod program;
pub mod prompt;
pub mod relocations;
pub mod scan;
pub(crate) mod state;
pub(crate) mod subprocess;
pub(crate) mod temp_copy;
pub mod trash;
pub mod watch;
