//! `pitree path`: prints the path of a session file.

use std::ffi::OsString;

use anyhow::Result;
use clap_complete::ArgValueCompleter;

use crate::cli::output::{Output, PathFields, object};
use crate::cli::resolve::SessionResolver;
use crate::cli::{CommandContext, completions, output, resolve};
use crate::runtime::raw_output;

/// Print the path of a session's file
#[derive(Debug, clap::Args)]
pub(super) struct PathCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(add = ArgValueCompleter::new(completions::sessions))]
    session: OsString,
    /// Print a JSON object with the path, id and working directory
    #[arg(long)]
    json: bool,
}

impl PathCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<()> {
        chosen.refuse_samples()?;
        let path = SessionResolver::new(chosen).file(&self.session)?;
        let header = resolve::digest(&path)?.header;
        if self.json {
            output::json(
                out,
                &object! { #[serde(flatten)] path: PathFields::from(&*path), id: header.id, cwd: header.cwd },
            )
        } else {
            Ok(raw_output::print(path.as_os_str())?)
        }
    }
}
