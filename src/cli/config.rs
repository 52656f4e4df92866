//! `pitree config`: where the configuration is, and one to start from.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::output;
use crate::config::default_toml;
use crate::disk::locate;

/// Show where the configuration is read from, or print the default one
#[derive(Debug, clap::Args)]
pub(super) struct ConfigCommand {
    /// Print a commented default configuration
    #[arg(long)]
    default: bool,
}

impl ConfigCommand {
    pub(super) fn run(&self, file: Option<&Path>) -> Result<ExitCode> {
        let mut out = output::stdout();
        if self.default {
            write!(out, "{}", default_toml())?;
        } else {
            let Some(path) = file.map(Path::to_path_buf).or_else(locate::config_file) else {
                bail!("there is no home directory to look for config.toml in; name a file with --config FILE")
            };
            crate::cli::read_config(file)?; // says what is wrong with it
            writeln!(out, "{}", crate::base::text::clean(&path.to_string_lossy()))?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
