//! The only user of the file system: where sessions are ([`locate`]), finding and reading them ([`scan`], [`load`]), one
//! line safely at the end of a file ([`append`]), new files (`create`), the trash, whether a file can be reached (`reach`),
//! locks (`lock`), what changes ([`watch`]) and what is new in that ([`incremental`], `mark`), whether a pi is at work ([`crate::pi::running`]), where a gone directory is now ([`relocations`]), where a program is
//! (`program`), copies for other programs (`aside`), and what the model gets at an entry ([`prompt`]). What lines mean is said in `session`.

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
