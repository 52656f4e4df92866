//! `pitree skill`: what tells agents how to look things up in earlier sessions.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

use crate::cli::output;
use crate::pi::install::SKILL;

/// Print the skill that tells agents how to search earlier sessions
///
/// The npm package brings it to pi, and so does `pitree pi install`. Other agents read it where they keep theirs.
#[derive(Debug, clap::Args)]
pub(super) struct SkillCommand {}

impl SkillCommand {
    pub(super) fn run() -> Result<ExitCode> {
        let mut out = output::stdout();
        out.write_all(SKILL.as_bytes())?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
