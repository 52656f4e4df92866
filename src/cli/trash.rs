//! `pitree trash`: lists what pitree moved to the trash, and deletes it permanently.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Result, bail, ensure};
use clap::Subcommand;

use crate::base::numbers::{bytes, count};
use crate::base::text::Glyphs;
use crate::base::time;
use crate::changes::change::TrashChange;
use crate::changes::journal::JournalRecord;
use crate::changes::{Change, Request, history};
use crate::cli::change::{self, ChangeArgs, Changer};
use crate::cli::table::{self, Column, TITLE};
use crate::cli::{CommandContext, Exit, now, output, resolve};

/// The word that confirms a permanent deletion.
const WORD: &str = "delete";

/// List or empty pitree's trash
///
/// Concerns only what pitree moved to the trash: deleted sessions, forks and imports that were undone, and the originals
/// of converted files. `pitree restore` brings deleted sessions back.
#[derive(Debug, clap::Args)]
pub(super) struct TrashCommand {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the sessions in pitree's trash, most recent last (default)
    List {
        /// Print each change as a line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Permanently delete sessions in pitree's trash
    ///
    /// Asks for a typed word, because this cannot be undone. Without WHAT, deletes all of them.
    Empty {
        /// Numbers in the list, original paths, or id prefixes
        what: Vec<OsString>,
        #[command(flatten)]
        switches: ChangeArgs,
    },
}

impl TrashCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        match &self.what {
            None => list(context, false),
            Some(What::List { json }) => list(context, *json),
            Some(What::Empty { what, switches }) => empty(context, what, switches),
        }
    }
}

/// Returns the changes with a file in the trash.
fn away(changer: &Changer<'_>) -> Result<Vec<JournalRecord>> {
    Ok(changer.changes.history()?.into_iter().filter(JournalRecord::is_in_trash).collect())
}

fn list(context: &CommandContext, json: bool) -> Result<Exit> {
    let switches = ChangeArgs { json, ..ChangeArgs::default() };
    let changer = Changer::new(context, &switches)?;
    print(&away(&changer)?, &changer)
}

fn empty(context: &CommandContext, what: &[OsString], switches: &ChangeArgs) -> Result<Exit> {
    let changer = Changer::new(context, switches)?;
    let mut away = away(&changer)?;
    if what.is_empty() {
        let all = away.len();
        away.retain(|record| record.place().is_some());
        if away.len() < all {
            let left = count(all - away.len(), "session is", "sessions are");
            note!("{left} in a trash whose places pitree does not know; empty it there");
        }
    } else {
        let numbers: Result<Vec<u64>> = what.iter().map(|what| find(what, &away, context.config.signs())).collect();
        let numbers = numbers?;
        away.retain(|record| numbers.contains(&record.number));
    }
    if away.is_empty() {
        return output::nothing("pitree's trash is empty");
    }
    if !switches.dry_run {
        ensure!(output::can_ask(), "cannot ask for confirmation without a terminal; empty the trash in one");
        let size = away.iter().map(JournalRecord::bytes_in_trash).sum();
        let sessions = count(away.len(), "session", "sessions");
        note!("{sessions} in pitree's trash, {}", bytes(size));
        if output::ask(&format!("Type \"{WORD}\" to delete permanently (no undo):"))? != WORD {
            return output::nothing("canceled; no file deleted");
        }
    }
    let numbers = away.iter().map(|record| record.number).collect();
    changer.finish(&Request::EmptyTrash { numbers })
}

/// Prints the sessions in the trash as JSON or as a table: number, age, size, session title, original path.
pub(super) fn print(away: &[JournalRecord], changer: &Changer<'_>) -> Result<Exit> {
    if changer.is_json() {
        return change::print_records(away);
    }
    const COLUMNS: [Column; 5] =
        [Column::Number, Column::Number, Column::Number, Column::Words(TITLE), Column::Path(usize::MAX)];
    let (now, mut sessions) = (now(), history::sessions(&mut away.iter(), away, &|| true));
    let cells = |record: &JournalRecord| {
        let path = changer.short(record.change.path());
        let (title, _) = sessions.remove(&record.number).unwrap_or_default();
        [record.number.to_string(), time::age(now, record.time), size(record), title, path]
    };
    changer.context.table(COLUMNS, away.iter().map(cells), "pitree's trash is empty")?;
    Ok(Exit::Done)
}

fn size(record: &JournalRecord) -> String {
    match &record.change {
        Change::Trash(TrashChange { link: true, .. }) => "link".into(),
        _ => bytes(record.bytes_in_trash()),
    }
}

/// Returns the number of the matching change.
///
/// # Errors
/// No change or several changes match.
pub(super) fn find(what: &OsStr, away: &[JournalRecord], glyphs: &Glyphs) -> Result<u64> {
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
