//! The only user of the file system: where sessions are ([`locate`]), finding and reading them ([`scan`], [`load`]), one
//! line safely at the end of a file ([`append`]), new files (`create`), the trash, whether a file can be reached (`reach`),
//! locks (`lock`), what changes ([`watch`]) and what is new in that ([`news`], `mark`), whether a pi is at work ([`live`]), where a gone directory is now ([`moved`]), where a program is
//! (`program`), copies for other programs (`aside`), and what the model gets at an entry ([`prompt`]). What lines mean is said in `session`.

pub mod append;
pub(crate) mod aside;
pub(crate) mod beside;
pub(crate) mod content;
pub(crate) mod create;
pub mod crew;
pub mod demo;
pub(crate) mod digest;
pub mod files;
pub(crate) mod find;
pub(crate) mod goto;
pub(crate) mod in_pi;
pub(crate) mod index;
pub mod lines;
pub mod live;
pub mod load;
pub mod locate;
pub(crate) mod lock;
pub(crate) mod mark;
pub mod moved;
pub mod news;
pub(crate) mod program;
pub mod prompt;
pub(crate) mod reach;
pub mod scan;
pub(crate) mod stamp;
pub(crate) mod state;
pub mod trash;
pub mod watch;
