//! `pitree undo` and `pitree redo`: changes that pitree made, taken back and made again.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

use crate::base::text::{UNICODE, clean, width};
use crate::base::time;
use crate::changes::Request;
use crate::changes::journal::{Record, State};
use crate::cli::change::{Changer, RecordLine, Step, Switches};
use crate::cli::{Chosen, now, output};

/// Take the last change back that pitree made
#[derive(Debug, clap::Args)]
pub(super) struct Undo {
    /// The number of a change in the list, if not the last one
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
            return self.list(&changer);
        }
        let done = changer.make(&Request::Undo { number: self.number })?;
        changer.say(&done, Step::Undo)
    }

    fn list(&self, changer: &Changer<'_>) -> Result<ExitCode> {
        let records = changer.history()?;
        let mut out = output::stdout();
        if self.switches.json {
            for record in &records {
                output::json(&mut out, &RecordLine::new(record))?;
            }
        } else {
            let now = now();
            let cells = |record: &Record| {
                let path = changer.short(record.change.path());
                [
                    record.number.to_string(),
                    time::age(now, record.time),
                    state(record.state).into(),
                    record.change.describe(),
                    path,
                ]
            };
            table(&mut out, &records.iter().map(cells).collect::<Vec<_>>())?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Done => "done",
        State::Undone => "undone",
        State::Begun | State::Undoing | State::Redoing => "cut short",
        State::Dropped => "not made",
        State::Overtaken => "passed over",
        State::Unknown => "as a newer pitree left it",
    }
}

/// Rows in columns: the first one, of numbers, to the right. The last one, of paths, is never cut.
pub(super) fn table<const COLUMNS: usize>(out: &mut impl Write, rows: &[[String; COLUMNS]]) -> Result<()> {
    const MOST: usize = 60;
    let mut rows: Vec<[String; COLUMNS]> = rows.iter().map(|row| row.clone().map(|cell| clean(&cell).into())).collect();
    for cell in rows.iter_mut().flat_map(|row| row.iter_mut().take(COLUMNS - 1)) {
        *cell = UNICODE.cut(cell, MOST).into();
    }
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let columns: Vec<usize> = (0..COLUMNS).map(widest).collect();
    for row in &rows {
        for (at, (cell, columns)) in row.iter().zip(&columns).enumerate() {
            let space = " ".repeat(columns - width(cell));
            match at {
                0 => write!(out, "{space}{cell}")?,
                _ if at + 1 == COLUMNS => write!(out, "  {cell}")?,
                _ => write!(out, "  {cell}{space}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Make the change again that was taken back last
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
