//! `pitree pi`: pitree as a part of pi, for whoever has the program from elsewhere than npm.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cli::output;
use crate::disk::locate::Environment;
use crate::disk::program;
use crate::pi::install::{InstallOptions, InstallOutcome, Installation};

/// Put pitree into pi as the command /pitree, or take it out
///
/// The extension goes to `extensions/pitree` in pi's directory, the skill that tells agents how to search earlier sessions to
/// `skills/pitree`. Files that you edited stay as they are. With the npm package, `pi install npm:pitree` does the same.
#[derive(Debug, clap::Args)]
pub(super) struct PiCommand {
    #[command(subcommand)]
    what: PiAction,
}

#[derive(Debug, clap::Subcommand)]
enum PiAction {
    /// Write the extension and the skill, or bring them up to date
    Install(PiArgs),
    /// Remove what install wrote
    Remove(PiArgs),
}

#[derive(Debug, clap::Args)]
struct PiArgs {
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Replace or delete edited files as well
    #[arg(long)]
    force: bool,
}

impl PiCommand {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let program = program::this().context("can't tell where pitree itself is")?;
        let Some(in_pi) = Installation::new(&Environment::current(), &program) else {
            bail!("there is no home directory to find pi's directory in; set HOME");
        };
        let how = |&PiArgs { dry_run, force }: &PiArgs| InstallOptions { force, dry_run };
        let (outcomes, verb, forced, is_dry) = match &self.what {
            PiAction::Install(switches) => {
                let outcomes = in_pi.install(how(switches)).context("cannot write to pi's directory")?;
                (outcomes, ["wrote", "would write"], "replaces", switches.dry_run)
            }
            PiAction::Remove(switches) => {
                let outcomes = in_pi.remove(how(switches)).context("cannot remove files from pi's directory")?;
                (outcomes, ["removed", "would remove"], "deletes", switches.dry_run)
            }
        };
        if outcomes.is_empty() {
            output::tell("nothing of pitree is in pi's directory");
        }
        for outcome in outcomes {
            output::tell(&match outcome {
                InstallOutcome::Done(file) => format!("{} {}", verb[usize::from(is_dry)], file.display()),
                InstallOutcome::Kept(file, reason) => {
                    format!("kept {}: {reason}; --force {forced} it", file.display())
                }
            });
        }
        Ok(ExitCode::SUCCESS)
    }
}
