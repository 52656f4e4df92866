//! Platform-specific code: owners and modes of files, processes, signals, the terminal. The interface is the same on
//! all systems, with the closest equivalent where a feature is missing. Only this module and `disk/trash` distinguish
//! systems.

#[cfg(target_os = "linux")]
pub(crate) mod linux;
mod messages;
#[cfg(any(not(target_os = "linux"), test))]
pub(crate) mod not_linux;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux as os;
pub(crate) use messages::{FileMetadata, Input, Signal};
#[cfg(not(target_os = "linux"))]
pub(crate) use not_linux as os;
#[cfg(unix)]
pub(crate) use unix::{files, input, programs, signals, terminal};
#[cfg(windows)]
pub(crate) use windows::{files, input, programs, signals, terminal};
