//! `pitree undo`, `pitree redo` and `pitree restore`: revert and repeat changes made by pitree, and restore sessions from
//! the trash.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::base::numbers::{bytes, thousands};
use crate::base::text::Glyphs;
use crate::base::time;
use crate::changes::change::TrashChange;
use crate::changes::history::{self, state};
use crate::changes::journal::{ChangeState, JournalRecord};
use crate::changes::{Change, Request};
use crate::cli::change::{self, ChangeArgs, Changer, CliStep};
use crate::cli::output::Output;
use crate::cli::table::{self, Column, LAST, TITLE};
use crate::cli::{CommandContext, now, output, resolve};

/// Undo the last change that pitree made
#[derive(Debug, clap::Args)]
pub(super) struct UndoCommand {
    /// Change number from --list, or the range of a command, such as 3-48 [default: the last command]
    number: Option<ChangeNumbers>,
    /// List all changes, most recent last
    #[arg(long, conflicts_with_all = ["number", "dry_run"])]
    list: bool,
    #[command(flatten)]
    switches: ChangeArgs,
}

/// The number of a change in the list, or the range of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChangeNumbers {
    first: u64,
    last: u64,
}

impl FromStr for ChangeNumbers {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().map_err(|_| "expected a number, or a range such as 3-48");
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Ok(Self { first: number(first)?, last: number(last)? })
    }
}

impl ChangeNumbers {
    /// Returns the request that undoes these changes.
    ///
    /// # Errors
    /// They are not exactly the changes of one command.
    fn request(self, records: &[JournalRecord]) -> Result<Request> {
        let Self { first, last } = self;
        if first == last {
            return Ok(Request::Undo { number: Some(first) });
        }
        let group = || records.iter().filter(|record| record.group == first).map(|record| record.number);
        if group().min() != Some(first) || group().max() != Some(last) {
            bail!("{first}-{last} are not the changes of one command; `pitree undo --list` shows them");
        }
        Ok(Request::UndoGroup { group: first })
    }
}

impl UndoCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.switches)?;
        let history = || changer.changes.history();
        let request = match self.number {
            _ if self.list && self.switches.json => return change::print_records(out, &history()?),
            _ if self.list => return print_changes(&history()?, &changer, chosen.config.signs(), out),
            Some(numbers) => numbers.request(&history()?)?,
            None => Request::Undo { number: None },
        };
        let done = changer.make(&request)?;
        changer.say(&done, CliStep::Undo)
    }
}

/// Prints changes as a table: numbers, age, state, change, session.
fn print_changes(
    records: &[JournalRecord],
    changer: &Changer<'_>,
    glyphs: &Glyphs,
    out: &mut Output,
) -> Result<ExitCode> {
    const COLUMNS: [Column; 5] =
        [Column::Number, Column::Number, Column::Whole, Column::Words(60), Column::Words(LAST)];
    let actions: Vec<&[JournalRecord]> = records.chunk_by(|one, next| one.group == next.group).collect();
    let mut sessions = history::sessions(&mut actions.iter().filter_map(|action| action.first()), records, &|| true);
    let mut title = |record: &JournalRecord| {
        let known = sessions.remove(&record.number).map(|(title, _)| title);
        known.unwrap_or_else(|| changer.short(record.change.path()))
    };
    let rows: Vec<_> = actions.iter().filter_map(|action| row(action, &mut title)).collect();
    table::print(out, COLUMNS, &rows, glyphs)?;
    if rows.is_empty() {
        output::tell("no changes yet");
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats the changes of one request as a row: numbers, time, state, change, session.
fn row(action: &[JournalRecord], title: impl FnOnce(&JournalRecord) -> String) -> Option<[String; 5]> {
    let [first, ..] = action else { return None };
    let last = action.last().unwrap_or(first);
    let numbers = if action.len() > 1 { format!("{}-{}", first.number, last.number) } else { first.number.to_string() };
    let is_done = |record: &&JournalRecord| record.state == ChangeState::Done;
    let state = if action.iter().all(|record| record.state == first.state) {
        state(first.state).unwrap_or("done").into()
    } else {
        format!("{} of {} done", action.iter().filter(is_done).count(), action.len())
    };
    let mut what: Vec<String> = action.iter().map(|record| record.change.describe()).collect();
    what.dedup();
    let sessions: HashSet<&Path> = action.iter().map(|record| record.change.path()).collect();
    let title = title(first);
    let session = match sessions.len() {
        1 => title,
        several => format!("{} sessions, such as {title}", thousands(several)),
    };
    Some([numbers, time::age(now(), first.time), state, what.join("; "), session])
}

/// Redo the change that was undone last
#[derive(Debug, clap::Args)]
pub(super) struct RedoCommand {
    #[command(flatten)]
    switches: ChangeArgs,
}

impl RedoCommand {
    pub(super) fn run(&self, chosen: &CommandContext) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.switches)?;
        let done = changer.make(&Request::Redo)?;
        changer.say(&done, CliStep::Redo)
    }
}

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
        output::tell("pitree's trash is empty");
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
