//! `pitree config`: prints the location of the configuration, or the defaults.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::base::text::{UNICODE, clean};
use crate::cli::output;
use crate::cli::table::{self, Column};
use crate::config::default_toml;
use crate::disk::{locate, relocations};

/// Print the path of the configuration file, or the default configuration
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
    pub(super) fn run(&self, file: Option<&Path>) -> Result<ExitCode> {
        let mut out = output::stdout();
        if self.default {
            write!(out, "{}", default_toml())?;
        } else if self.moved {
            let Some(state) = locate::state_dir() else { bail!("no home directory; set HOME") };
            let rows: Vec<[String; 2]> = relocations::all(&state)?.into_iter().map(<[String; 2]>::from).collect();
            table::print(&mut out, [Column::Path(usize::MAX); 2], &rows, &UNICODE)?;
            if rows.is_empty() {
                output::tell("no moved directories recorded");
            }
            output::tell(&relocations::file(&state).to_string_lossy());
        } else {
            let Some(path) = file.map(Path::to_path_buf).or_else(locate::config_file) else {
                bail!("cannot locate config.toml: no home directory; specify a file with --config FILE")
            };
            crate::cli::read_config(file)?; // prints the errors
            writeln!(out, "{}", clean(&path.to_string_lossy()))?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
