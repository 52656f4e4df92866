//! `pitree fork`: forks a session at an entry.

use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::changes::Request;
use crate::cli::change::{ChangeArgs, Changer};
use crate::cli::resolve::SessionPlace;
use crate::cli::{CommandContext, Exit, completions, resolve};
use crate::session::entry::EntryId;

/// Fork a session at an entry and print the new path
#[derive(Debug, clap::Args)]
pub(super) struct ForkCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Last entry to copy: id, unique id prefix, or label; required unless SESSION is SESSION@ENTRY
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Migrate an old session file to version 3, as pi does; moves the original to the trash
    #[arg(long)]
    migrate: bool,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl ForkCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.switches)?;
        let SessionPlace { path, entry } = context.place_to_change(&self.session, self.entry.as_deref())?;
        let entry = entry.context("name the last entry of the new session: SESSION ENTRY or SESSION@ENTRY")?;
        let tree = context.tree(&path)?;
        let at = Some(EntryId::of(&tree, resolve::entry(&entry, &tree)?));
        let request = |migrate| Request::Fork { path: path.clone(), at: at.clone(), migrate };
        let done = changer.make_migrating(self.migrate, request)?;
        changer.say_made(&done)
    }
}
