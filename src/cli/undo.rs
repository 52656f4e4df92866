//! `pitree undo` and `pitree redo`: changes that pitree made, taken back and made again.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::base::numbers::thousands;
use crate::base::text::Glyphs;
use crate::base::time;
use crate::changes::Request;
use crate::changes::journal::{Record, State};
use crate::changes::past::{self, state};
use crate::cli::change::{Changer, RecordLine, Step, Switches};
use crate::cli::table::{self, Column, LAST};
use crate::cli::{Chosen, now, output};

/// Numbers, age, state, what was done, and the session.
const COLUMNS: [Column; 5] = [Column::Number, Column::Number, Column::Whole, Column::Words(60), Column::Words(LAST)];

/// Undo the last change that pitree made
#[derive(Debug, clap::Args)]
pub(super) struct Undo {
    /// The number of a change in the list, if not the last one
    #[arg(value_parser = crate::cli::number)]
    number: Option<u64>,
    /// List the changes, the newest last
    #[arg(long, conflicts_with_all = ["number", "dry_run"])]
    list: bool,
    #[command(flatten)]
    switches: Switches,
}

impl Undo {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.switches)?;
        if self.list {
            return self.list(&changer, chosen.config.signs());
        }
        let done = changer.make(&Request::Undo { number: self.number })?;
        changer.say(&done, Step::Undo)
    }

    fn list(&self, changer: &Changer<'_>, glyphs: &Glyphs) -> Result<ExitCode> {
        let records = changer.history()?;
        let mut out = output::stdout();
        if self.switches.json {
            for record in &records {
                output::json(&mut out, &RecordLine::new(record))?;
            }
        } else {
            let actions: Vec<&[Record]> = records.chunk_by(|one, next| one.group == next.group).collect();
            let mut sessions =
                past::sessions(&mut actions.iter().filter_map(|action| action.first()), &records, &|| true);
            let mut title = |record: &Record| {
                let known = sessions.remove(&record.number).map(|(title, _)| title);
                known.unwrap_or_else(|| changer.short(record.change.path()))
            };
            let rows: Vec<_> = actions.iter().filter_map(|action| row(action, &mut title)).collect();
            table::print(&mut out, COLUMNS, &rows, glyphs)?;
            if rows.is_empty() {
                output::tell("pitree has changed nothing yet");
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The line of what one request did, which may be many changes: their numbers, when, what is so now, what was done, and
/// with which session.
fn row(action: &[Record], title: impl FnOnce(&Record) -> String) -> Option<[String; 5]> {
    let [first, ..] = action else { return None };
    let last = action.last().unwrap_or(first);
    let numbers = if action.len() > 1 { format!("{}-{}", first.number, last.number) } else { first.number.to_string() };
    let is_done = |record: &&Record| record.state == State::Done;
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
pub(super) struct Redo {
    #[command(flatten)]
    switches: Switches,
}

impl Redo {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        let changer = Changer::new(chosen, &self.switches)?;
        let done = changer.make(&Request::Redo)?;
        changer.say(&done, Step::Redo)
    }
}
