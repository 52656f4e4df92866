//! `pitree restore`: restores sessions from the trash, and lists those that pitree moved there.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::base::numbers::bytes;
use crate::base::text::Glyphs;
use crate::base::time;
use crate::changes::change::TrashChange;
use crate::changes::history;
use crate::changes::journal::JournalRecord;
use crate::changes::{Change, Request};
use crate::cli::change::{self, ChangeArgs, Changer, CliStep};
use crate::cli::output::Output;
use crate::cli::table::{self, Column, TITLE};
use crate::cli::{CommandContext, now, output, resolve};

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
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.switches)?;
        let glyphs = chosen.config.signs();
        let away: Vec<JournalRecord> = changer.changes.history()?.into_iter().filter(JournalRecord::is_away).collect();
        let number = match &self.what {
            Some(what) => find(what, &away, glyphs)?,
            None if self.switches.json => return change::print_records(out, &away),
            None => return print_trash(&away, &changer, glyphs, out),
        };
        let done = changer.make(&Request::Undo { number: Some(number) })?;
        changer.say(&done, CliStep::Restore)
    }
}

/// Prints the sessions in the trash as a table: number, age, size, session title, original path.
fn print_trash(away: &[JournalRecord], changer: &Changer<'_>, glyphs: &Glyphs, out: &mut Output) -> Result<ExitCode> {
    const COLUMNS: [Column; 5] =
        [Column::Number, Column::Number, Column::Number, Column::Words(TITLE), Column::Path(usize::MAX)];
    let (now, mut sessions) = (now(), history::sessions(&mut away.iter(), away, &|| true));
    let cells = |record: &JournalRecord| {
        let path = changer.short(record.change.path());
        let (title, _) = sessions.remove(&record.number).unwrap_or_default();
        [record.number.to_string(), time::age(now, record.time), size(&record.change), title, path]
    };
    table::print(out, COLUMNS, &away.iter().map(cells).collect::<Vec<_>>(), glyphs)?;
    if away.is_empty() {
        output::note("pitree's trash is empty");
    }
    Ok(ExitCode::SUCCESS)
}

fn size(change: &Change) -> String {
    match change {
        Change::Trash(TrashChange { link: false, bytes: size, .. }) => bytes(*size),
        _ => "link".into(),
    }
}

/// Returns the number of the matching change.
///
/// # Errors
/// No change or several changes match.
fn find(what: &OsStr, away: &[JournalRecord], glyphs: &Glyphs) -> Result<u64> {
    let number = what.to_str().and_then(|what| what.parse().ok());
    if let Some(record) = away.iter().find(|record| number == Some(record.number)) {
        return Ok(record.number);
    }
    let path = resolve::absolute(Path::new(what)).ok();
    let mut matches: Vec<&JournalRecord> =
        away.iter().filter(|record| Some(record.change.path()) == path.as_deref()).collect();
    if matches.is_empty() && !what.is_empty() {
        matches = away.iter().filter(|record| has_id(record.change.path(), what)).collect();
    }
    match &matches[..] {
        [one] => Ok(one.number),
        [] => bail!("no session in pitree's trash matches {what:?}; run `pitree restore` to list them"),
        several => {
            let sessions = history::sessions(&mut matches.iter().copied(), away, &|| true);
            let line = |one: &&JournalRecord| {
                let title = sessions.get(&one.number).map(|(title, _)| table::words(title, TITLE, glyphs));
                format!("\n{}  {}  {}", one.number, title.unwrap_or_default(), one.change.path().display())
            };
            let list: String = several.iter().map(line).collect();
            bail!("{what:?} matches {} sessions in the trash; give a number:{list}", several.len())
        }
    }
}

/// Returns `true` if the id in a file name, or the whole name, has this prefix.
fn has_id(path: &Path, start: &OsStr) -> bool {
    let name = path.file_stem().unwrap_or_default().as_encoded_bytes();
    let start = start.as_encoded_bytes();
    let id = name.iter().position(|&byte| byte == b'_').map(|at| &name[at + 1..]);
    name.starts_with(start) || id.is_some_and(|id| id.starts_with(start))
}
