//! `pitree restore`: restores sessions from the trash, and lists those that pitree moved there.

use std::ffi::OsString;

use anyhow::Result;

use crate::changes::Request;
use crate::changes::journal::JournalRecord;
use crate::cli::change::{ChangeArgs, Changer, CliStep};
use crate::cli::{CommandContext, Exit, trash};

/// Restore a session from the trash
///
/// Without WHAT, lists the sessions that pitree moved to the trash, most recent last. If a running pi kept writing to
/// the old path, the restored session includes those entries.
#[derive(Debug, clap::Args)]
pub(super) struct RestoreCommand {
    /// Number in the list, original path, or id prefix
    what: Option<OsString>,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl RestoreCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.switches)?;
        let mut away: Vec<JournalRecord> =
            changer.changes.history()?.into_iter().filter(JournalRecord::is_away).collect();
        let Some(what) = &self.what else {
            away.retain(JournalRecord::is_in_trash);
            return trash::print(&away, &changer);
        };
        let number = trash::find(what, &away, context.config.signs())?;
        let done = changer.make(&Request::Undo { number: Some(number) })?;
        changer.say(&done, CliStep::Restore)
    }
}
