//! The pi program: its `version`, its `processes` and their `status`, and `warnings` about running ones. `requests` go to
//! a running pi, `extension` navigates to an entry. `install` writes the files that pitree adds to pi's directory, and
//! `launch` starts pi. `prices` are those of its models.

mod extension;
pub(crate) mod install;
pub mod launch;
pub(crate) mod prices;
pub mod processes;
pub mod requests;
pub mod running;
pub mod status;
pub(crate) mod version;
pub(crate) mod warnings;
