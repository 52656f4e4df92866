//! `pitree path`: prints the path of a session file.

use std::ffi::OsString;

use anyhow::Result;

use crate::cli::output::{PathFields, RemoteFields, object};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::runtime::raw_output;

/// Print the path of a session's file
///
/// Of a mirrored session, prints the machine and the path there, and exits with 1: pi must not open the mirror.
#[derive(Debug, clap::Args)]
pub(super) struct PathCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Print a JSON object with the path, id and working directory
    #[arg(long)]
    json: bool,
}

impl PathCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        let path = context.file(&self.session)?;
        let header = resolve::digest(&path)?.header;
        if let Some(remote) = RemoteFields::of(&path) {
            if self.json {
                output::json(&object! { #[serde(flatten)] remote, id: header.id, cwd: header.cwd })?;
            } else {
                raw_output::print(format!("{}:{}", remote.machine, remote.remote_path).as_ref())?;
            }
            return Ok(Exit::Nothing);
        }
        if self.json {
            let path = PathFields::from(&*path);
            output::json(&object! { #[serde(flatten)] path, id: header.id, cwd: header.cwd })?;
        } else {
            raw_output::print(path.as_os_str())?;
        }
        Ok(Exit::Done)
    }
}
