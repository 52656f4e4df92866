//! `pitree config`: prints the configuration, its path, or the recorded moves of directories.

use std::path::Path;

use anyhow::{Context, Result};

use crate::base::text::{UNICODE, clean};
use crate::cli::command_context::read_config;
use crate::cli::{output, table};
use crate::config::default_toml;
use crate::disk::{locate, relocations};

/// Print the path of the configuration, or the default one
#[derive(Debug, clap::Args)]
pub(super) struct ConfigCommand {
    /// Print a commented default configuration
    #[arg(long)]
    default: bool,
    /// List replacements for missing directories, and the path of the file that stores them
    #[arg(long, conflicts_with = "default")]
    moved: bool,
}

impl ConfigCommand {
    pub(super) fn run(&self, file: Option<&Path>) -> Result<()> {
        if self.default {
            output::write(default_toml().as_bytes())?;
        } else if self.moved {
            let state = locate::state_dir().context("no home directory; set HOME")?;
            let rows = relocations::all(&state)?.into_iter().map(<[String; 2]>::from);
            table::print("directory/ now/", rows, "no moved directories recorded", &UNICODE)?;
            output::note(&relocations::file(&state).to_string_lossy());
        } else {
            let path = file.map(Path::to_path_buf).or_else(locate::config_file);
            let path =
                path.context("cannot locate config.toml: no home directory; specify a file with --config FILE")?;
            read_config(file)?; // prints the errors
            output::line(clean(&path.to_string_lossy()))?;
        }
        Ok(())
    }
}
