//! The only user of the file system: where sessions are ([`locate`]), what a list shows of them ([`scan`]), what is
//! searched of them ([`texts`], [`everything`]), one file's tree and bodies ([`load`]), and whether a pi is at work in them ([`live`]). What lines mean is said in `session`.

pub mod append;
pub mod change;
mod create;
pub mod crew;
pub mod demo;
pub mod everything;
pub mod files;
pub mod hits;
pub mod journal;
pub mod lines;
pub mod live;
pub mod load;
pub mod locate;
pub mod scan;
pub mod texts;
pub mod trash;
