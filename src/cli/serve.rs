//! `pitree serve`: the server for a pitree on another machine.

use std::io;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::{CommandContext, change, now};
use crate::disk::{files, locate};
use crate::machines::serve::Server;
use crate::pi::running;

/// Serve sessions to a pitree on another machine
///
/// Another pitree starts this command through ssh or docker; see `pitree machine`. It sends session files, and changes
/// names, labels and the trash on request.
#[derive(Debug, clap::Args)]
pub(super) struct ServeCommand {
    /// Use standard input and output
    #[arg(long, required = true)]
    stdio: bool,
}

impl ServeCommand {
    pub(super) fn run(&self, chosen: &CommandContext) -> Result<ExitCode> {
        chosen.refuse_samples()?;
        debug_assert!(self.stdio, "required");
        let dir = chosen.located.dirs.first().context("there is no session directory")?;
        let dir = std::path::absolute(dir)?;
        // A directory that is named by a symbolic link has one mirror.
        let dir = files::resolved(&dir);
        let state = locate::state_dir();
        let changes =
            state.clone().map(|state| change::changes(state, &chosen.config).with_archive(chosen.archive.clone()));
        let server = Server { dir, changes, pis: running::reported(state.as_deref()), now };
        server.run(io::stdin().lock(), io::stdout().lock())?;
        Ok(ExitCode::SUCCESS)
    }
}
