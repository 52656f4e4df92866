//! `pitree undo` and `pitree redo`: revert and repeat changes made by pitree.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail, ensure};

use crate::base::numbers::thousands;
use crate::base::time;
use crate::changes::Request;
use crate::changes::history::{self, state};
use crate::changes::journal::{ChangeState, JournalRecord};
use crate::cli::change::{self, ChangeArgs, ChangePrinter, CliStep};
use crate::cli::{CommandContext, Exit, completions, now};

/// Undo the last change that pitree made
#[derive(Debug, clap::Args)]
pub(super) struct UndoCommand {
    /// Change number from --list, or the range of a command, such as 3-48 [default: the last command]
    number: Option<ChangeNumbers>,
    /// List all changes, most recent last
    #[arg(long, conflicts_with_all = ["number", "dry_run"])]
    list: bool,
    /// Undo a change that was made on this machine; NUMBER is the one there
    #[arg(long, value_name = "MACHINE", conflicts_with = "list", add = completions::machines())]
    on: Option<String>,
    #[command(flatten)]
    args: ChangeArgs,
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
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let history = || changer.changes.history();
        let request = match self.number {
            _ if self.list && self.args.json => return change::print_records(&history()?),
            _ if self.list => return print_changes(&history()?, &changer),
            Some(ChangeNumbers { first, last }) if self.on.is_some() => {
                ensure!(first == last, "--on undoes one change or the last command; give one number");
                Request::Undo { number: Some(first) }
            }
            Some(numbers) => numbers.request(&history()?)?,
            None => Request::Undo { number: None },
        };
        make(&changer, self.on.as_deref(), &request, self.number.is_none(), CliStep::Undo)
    }
}

/// Undoes or redoes a change: on a machine, or else where the last one was made.
fn make(
    changer: &ChangePrinter<'_>,
    on: Option<&str>,
    request: &Request,
    is_last: bool,
    step: CliStep,
) -> Result<Exit> {
    let elsewhere = match on {
        Some(machine) => Some(changer.make_on(machine, request)?),
        None if is_last => changer.undo_elsewhere(step == CliStep::Redo)?,
        None => None,
    };
    let done = elsewhere.map_or_else(|| changer.make(request), Ok)?;
    changer.print_result(&done, step)
}

/// Prints changes as a table: numbers, age, state, change, session.
fn print_changes(records: &[JournalRecord], changer: &ChangePrinter<'_>) -> Result<Exit> {
    let actions: Vec<&[JournalRecord]> = records.chunk_by(|one, next| one.group == next.group).collect();
    let mut sessions = history::sessions(&mut actions.iter().filter_map(|action| action.first()), records, &|| true);
    let mut title = |record: &JournalRecord| {
        let known = sessions.remove(&record.number).map(|(title, _)| title);
        known.unwrap_or_else(|| changer.short(record.change.path()))
    };
    let rows = actions.iter().filter_map(|action| row(action, &mut title));
    changer.context.table("number> age> state change~60 title~100", rows, "no changes yet")?;
    Ok(Exit::Done)
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
    /// Redo a change on this machine
    #[arg(long, value_name = "MACHINE", add = completions::machines())]
    on: Option<String>,
    #[command(flatten)]
    args: ChangeArgs,
}

impl RedoCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        make(&changer, self.on.as_deref(), &Request::Redo, true, CliStep::Redo)
    }
}
