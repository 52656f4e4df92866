//! `pitree pi`: pitree as a part of pi, for whoever has the program from elsewhere than npm.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cli::output;
use crate::disk::extension::Extension;
use crate::disk::locate::Environment;
use crate::disk::program;

/// Put pitree into pi as the command /pitree, or take it out
///
/// The extension goes to `extensions/pitree` in pi's directory. Nothing else there is touched. With the npm package,
/// `pi install npm:pitree` does the same.
#[derive(Debug, clap::Args)]
pub(super) struct PiCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Write the extension, or bring it up to date
    Install(How),
    /// Remove what install wrote
    Remove(How),
}

#[derive(Debug, clap::Args)]
struct How {
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

impl PiCommand {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let extension = Extension::new(&Environment::current());
        if !extension.0.is_absolute() {
            bail!("there is no home directory to find pi's directory in; set HOME");
        }
        let is_there = extension.is_there().context("nothing was changed; move it away if it is not needed")?;
        let (done, would, How { dry_run }) = match &self.what {
            What::Install(how) => ("wrote", "would write", how),
            What::Remove(how) => ("removed", "would remove", how),
        };
        if matches!(self.what, What::Remove(_)) && !is_there {
            output::tell(&format!("there is nothing to remove in {}", extension.0.display()));
            return Ok(ExitCode::SUCCESS);
        }
        if !dry_run {
            let failed = || format!("can't change {}", extension.0.display());
            match self.what {
                What::Install(_) => {
                    let program = program::this().context("can't tell where pitree itself is")?;
                    extension.write(&program).with_context(failed)?;
                }
                What::Remove(_) => extension.remove().with_context(failed)?,
            }
        }
        for file in extension.files() {
            output::tell(&format!("{} {}", if *dry_run { would } else { done }, file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
