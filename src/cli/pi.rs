//! `pitree pi`: pitree as a part of pi, for whoever has the program from elsewhere than npm.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cli::output;
use crate::disk::in_pi::InPi;
use crate::disk::locate::Environment;
use crate::disk::program;

/// Put pitree into pi as the command /pitree, or take it out
///
/// The extension goes to `extensions/pitree` in pi's directory, the skill that tells agents how to search earlier sessions to
/// `skills/pitree`. Nothing else there is touched. With the npm package, `pi install npm:pitree` does the same.
#[derive(Debug, clap::Args)]
pub(super) struct PiCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Write the extension and the skill, or bring them up to date
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
        let Some(in_pi) = InPi::new(&Environment::current()) else {
            bail!("there is no home directory to find pi's directory in; set HOME");
        };
        let is_there = in_pi.is_there().context("nothing was changed; move it away if it is not needed")?;
        let (done, would, How { dry_run }) = match &self.what {
            What::Install(how) => ("wrote", "would write", how),
            What::Remove(how) => ("removed", "would remove", how),
        };
        let is_removed = matches!(self.what, What::Remove(_));
        if is_removed && !is_there {
            output::tell("nothing of pitree is in pi's directory");
            return Ok(ExitCode::SUCCESS);
        }
        let files = in_pi.files().into_iter().filter(|file| !is_removed || file.symlink_metadata().is_ok());
        let files: Vec<_> = files.collect();
        if !dry_run {
            match self.what {
                What::Install(_) => {
                    let program = program::this().context("can't tell where pitree itself is")?;
                    in_pi.write(&program).context("can't write to pi's directory")?;
                }
                What::Remove(_) => in_pi.remove().context("can't remove what is in pi's directory")?,
            }
        }
        for file in files {
            output::tell(&format!("{} {}", if *dry_run { would } else { done }, file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
