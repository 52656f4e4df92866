//! `pitree pi`: installs or removes the extension and the skill without the npm package.

use std::io;

use anyhow::{Context, Result};

use crate::cli::output;
use crate::disk::locate::Environment;
use crate::disk::program;
use crate::pi::install::{self, InstallOptions, InstallOutcome};

/// Install or remove the /pitree extension
///
/// Installs the extension in `extensions/pitree` of pi's directory, and in `skills/pitree` a skill that teaches agents to
/// search earlier sessions. Keeps files that you edited. With the npm package, `pi install npm:pitree`
/// does the same.
#[derive(Debug, clap::Args)]
pub(super) struct PiCommand {
    #[command(subcommand)]
    what: PiAction,
}

#[derive(Debug, clap::Subcommand)]
enum PiAction {
    /// Install or update the extension and the skill
    Install(InstallOptions),
    /// Remove what install wrote
    Remove(InstallOptions),
}

impl PiCommand {
    pub(super) fn run(&self) -> Result<()> {
        let program = program::this().context("cannot find the pitree program")?;
        let dirs = install::dirs(&Environment::current(), &program)
            .context("cannot locate pi's directory: no home directory; set HOME")?;
        let all = |[extension, skill]: [io::Result<Vec<InstallOutcome>>; 2]| {
            Ok::<_, io::Error>([extension?, skill?].concat())
        };
        let (how, outcomes, verb, forced) = match self.what {
            PiAction::Install(how) => {
                let outcomes =
                    all(dirs.each_ref().map(|dir| dir.install(how))).context("cannot write to pi's directory")?;
                (how, outcomes, ["wrote", "would write"], "replaces")
            }
            PiAction::Remove(how) => {
                let outcomes = all(dirs.each_ref().map(|dir| dir.remove(how)));
                let outcomes = outcomes.context("cannot remove files from pi's directory")?;
                (how, outcomes, ["removed", "would remove"], "deletes")
            }
        };
        if outcomes.is_empty() {
            output::note("pitree is not installed in pi");
        }
        for (file, kept) in outcomes {
            output::note(&match kept {
                None => format!("{} {}", verb[usize::from(how.dry_run)], file.display()),
                Some(reason) => format!("kept {}: {reason}; --force {forced} it", file.display()),
            });
        }
        Ok(())
    }
}
