//! `pitree skill`: prints the skill for agents.

use anyhow::Result;

use crate::cli::output;
use crate::pi::install::SKILL;

/// Print the agent skill for searching earlier sessions
///
/// The npm package and `pitree pi install` add the skill to pi. For another agent, save it in that agent's skills
/// directory.
#[derive(Debug, clap::Args)]
pub(super) struct SkillCommand {}

impl SkillCommand {
    pub(super) fn run() -> Result<()> {
        Ok(output::write(SKILL.as_bytes())?)
    }
}
