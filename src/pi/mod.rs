//! The pi program: its `version`, its `processes` and their `status`, `requests` to a running pi, the
//! `extension` that navigates to an entry, the `warnings` about running pis, the files that pitree `install`s in pi's directory, and the command that
//! `launch`es pi.

pub(crate) mod extension;
pub(crate) mod install;
pub mod launch;
pub mod processes;
pub mod requests;
pub mod running;
pub mod status;
pub(crate) mod version;
pub(crate) mod warnings;
