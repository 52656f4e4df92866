//! `pitree pi` and `pitree skill`: install or remove the extension and the skill without the npm package, or print the
//! skill.

use std::io::Write;

use anyhow::{Context, Result};

use crate::cli::output::{self, Output};
use crate::disk::locate::Environment;
use crate::disk::program;
use crate::pi::install::{InstallOptions, InstallOutcome, Installation, SKILL};

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
        let in_pi = Installation::new(&Environment::current(), &program)
            .context("cannot locate pi's directory: no home directory; set HOME")?;
        let (outcomes, verb, forced, is_dry) = match &self.what {
            PiAction::Install(switches) => {
                let outcomes = in_pi.install(*switches).context("cannot write to pi's directory")?;
                (outcomes, ["wrote", "would write"], "replaces", switches.dry_run)
            }
            PiAction::Remove(switches) => {
                let outcomes = in_pi.remove(*switches).context("cannot remove files from pi's directory")?;
                (outcomes, ["removed", "would remove"], "deletes", switches.dry_run)
            }
        };
        if outcomes.is_empty() {
            output::tell("pitree is not installed in pi");
        }
        for outcome in outcomes {
            output::tell(&match outcome {
                InstallOutcome::Done(file) => format!("{} {}", verb[usize::from(is_dry)], file.display()),
                InstallOutcome::Kept(file, reason) => {
                    format!("kept {}: {reason}; --force {forced} it", file.display())
                }
            });
        }
        Ok(())
    }
}

/// Print the agent skill for searching earlier sessions
///
/// The npm package and `pitree pi install` add the skill to pi. For another agent, save it in that agent's skills
/// directory.
#[derive(Debug, clap::Args)]
pub(super) struct SkillCommand {}

impl SkillCommand {
    pub(super) fn run(out: &mut Output) -> Result<()> {
        Ok(out.write_all(SKILL.as_bytes())?)
    }
}
