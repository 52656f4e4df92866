//! The pi program: its `version`, its `running` processes and their `status`, and `warnings` about them. `requests` go to a
//! running pi, and `attention` decides about notifications. `install` writes the files that pitree adds to pi's
//! directory, and `launch` starts pi, at an entry with an extension. `prices` are those of its models.

pub mod attention;
pub(crate) mod install;
pub mod launch;
pub(crate) mod prices;
pub mod requests;
pub mod running;
pub mod status;
pub(crate) mod version;
pub(crate) mod warnings;
