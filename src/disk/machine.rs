//! The names of this machine and its user.

use std::{env, fs};

/// Returns the host name, if the system reports it in a file or in the environment.
pub(crate) fn host_name() -> Option<String> {
    let of_files = ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|file| fs::read_to_string(file).ok());
    let name = of_files.or_else(|| env::var("HOSTNAME").ok()).or_else(|| env::var("COMPUTERNAME").ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Returns the name of the user.
pub(crate) fn user_name() -> Option<String> {
    let name = env::var("USER").or_else(|_| env::var("USERNAME")).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}
