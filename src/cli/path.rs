//! `pitree path`: where a session's file is.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::cli::{Chosen, output, resolve};

/// Print the path of a session's file
#[derive(Debug, clap::Args)]
pub(super) struct PathCommand {
    /// A path, an id, or an unambiguous start of an id
    session: String,
    /// As a JSON object, with the id and the directory
    #[arg(long)]
    json: bool,
}

/// A session as a script sees it.
#[derive(Serialize)]
struct PathLine {
    path: PathBuf,
    id: String,
    cwd: String,
}

impl PathCommand {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        chosen.refuse_samples()?;
        let path = resolve::file(&self.session, chosen)?;
        let header = resolve::digest(&path)?.header;
        if self.json {
            let mut out = output::stdout();
            output::json(&mut out, &PathLine { path, id: header.id, cwd: header.cwd })?;
            out.flush()?;
        } else {
            output::product(path.as_os_str())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
