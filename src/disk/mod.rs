//! The only user of the file system. [`locate`] finds session directories, and [`scan`] and [`load`] read sessions.
//! [`append`] safely adds one line, and `create` writes new files. [`watch`] and [`incremental`] detect changes. Other
//! modules handle the trash, lasting marks (`marks`), shown messages (`last_seen`), locks (`lock`), missing directories
//! ([`relocations`]), git worktrees (`worktrees`), other programs (`program`), their terminals (`terminals`) and files of
//! interrupted operations ([`leftovers`]). [`prompt`] reads the model context. `archive` reads archived sessions, and
//! `archive_files` writes and restores them. `bug_log` writes the log for bug reports. `session` interprets lines.

pub mod append;
pub(crate) mod archive;
pub(crate) mod archive_files;
pub(crate) mod bug_log;
pub(crate) mod create;
pub mod demo;
pub(crate) mod digest;
pub mod files;
pub(crate) mod find;
pub(crate) mod fingerprint;
pub(crate) mod git;
pub mod incremental;
pub(crate) mod index;
pub(crate) mod kept_files;
mod known_files;
pub(crate) mod last_seen;
pub mod leftovers;
pub mod lines;
pub mod load;
pub mod locate;
pub(crate) mod lock;
pub(crate) mod machine;
pub(crate) mod marks;
pub(crate) mod new_file;
pub mod parallel;
pub(crate) mod program;
pub mod prompt;
pub mod relocations;
pub mod rewrite;
pub mod scan;
pub(crate) mod session_file;
pub(crate) mod startup_files;
pub(crate) mod state;
pub(crate) mod terminals;
pub mod trash;
pub(crate) mod vacated;
pub mod watch;
pub mod worktrees;
