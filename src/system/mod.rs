//! The one door to what systems have otherwise: owners and modes of files, processes, signals, the terminal. All that is
//! asked of it is there on each; where a system lacks something, what comes nearest. Nothing else asks which system it is,
//! but `disk/trash`, as the trash is another one on each.

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
pub(crate) use linux as kernel;
pub(crate) use messages::{FileFacts, Input, Signal};
#[cfg(not(target_os = "linux"))]
pub(crate) use not_linux as kernel;
#[cfg(unix)]
pub(crate) use unix::{files, input, programs, signals, terminal};
#[cfg(windows)]
pub(crate) use windows::{files, input, programs, signals, terminal};
