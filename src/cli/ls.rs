//! `pitree ls`: the sessions as a table, or as JSON for scripts.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::Number;

use crate::base::js::cut;
use crate::base::numbers::dollars;
use crate::base::paths::shorten;
use crate::base::time;
use crate::cli::output::PathFields;
use crate::cli::table::{self, Column, LAST, PATH};
use crate::cli::{Chosen, output, resolve};
use crate::disk::scan;
use crate::disk::scan::Unreadable;
use crate::library::shares::Shares;
use crate::session::digest::entries::Tally;
use crate::session::digest::{Digest, NO_MESSAGES};
use crate::session::problem::Problem;

/// List sessions, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Ls {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Also sessions of sub-agents, which lie deeper than pi's own list looks
    #[arg(long)]
    subagents: bool,
}

impl Ls {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        let mut found = scan::find(chosen.files, &chosen.located.dirs);
        let mut unreadable = std::mem::take(&mut found.unreadable);
        if found.files.is_empty() && !unreadable.is_empty() {
            bail!("{}", nothing(&unreadable, &chosen.located.origin));
        }
        if !self.subagents {
            found.files.retain(|file| file.owner.is_none());
        }
        let mut sessions = Vec::new();
        scan::read(chosen.files, &found.files, &chosen.home, |batch| {
            sessions.extend(batch.sessions);
            unreadable.extend(batch.unreadable);
            true
        });
        // pi orders by time only; files of the same time keep a fixed order here.
        sessions.sort_by(|a, b| b.order_time().cmp(&a.order_time()).then_with(|| b.path.cmp(&a.path)));
        let shares = Shares::new(sessions.iter().enumerate(), Shares::default());
        let own: Vec<Tally> = (0..).zip(&sessions).map(|(at, session)| shares.own(at, session)).collect();
        let mut out = output::stdout();
        if self.json {
            for (session, own) in sessions.iter().zip(own) {
                output::json(&mut out, &SessionLine::new(session, own))?;
            }
        } else {
            table(&mut out, &sessions, &own, chosen)?;
        }
        out.flush()?;
        if sessions.is_empty() && !self.json {
            let dirs: Vec<_> = chosen.located.dirs.iter().map(|dir| dir.to_string_lossy()).collect();
            output::tell(&format!("no sessions in {} (from {})", dirs.join(", "), chosen.located.origin));
        }
        Ok(output::end(unreadable))
    }
}

/// Why there is nothing to list, and what to do.
fn nothing(unreadable: &[Unreadable], origin: &str) -> String {
    let dirs: Vec<String> =
        unreadable.iter().map(|Unreadable { path, reason, .. }| format!("{}: {reason}", path.display())).collect();
    format!(
        "no sessions: can't read {} (from {origin}); name another directory with --dir, or try --demo",
        dirs.join(", ")
    )
}

/// A session as a script sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionLine<'a> {
    #[serde(flatten)]
    path: PathFields,
    id: &'a str,
    cwd: &'a str,
    name: Option<&'a str>,
    first_message: &'a str,
    message_count: usize,
    entry_count: usize,
    created: Option<String>,
    modified: Option<String>,
    parent_session: Option<&'a str>,
    version: Option<Number>,
    branch_points: usize,
    leaves: usize,
    labels: usize,
    cost: f64,
    tokens: f64,
    own_cost: f64,
    own_tokens: f64,
    own_entries: usize,
    bytes: u64,
    problems: Vec<String>,
}

impl<'a> SessionLine<'a> {
    fn new(session: &'a Digest, own: Tally) -> Self {
        let header = &session.header;
        Self {
            path: (&*absolute(&session.path)).into(),
            id: &header.id,
            cwd: &header.cwd,
            name: session.name.as_deref(),
            first_message: session.first_message.as_deref().unwrap_or(NO_MESSAGES),
            message_count: session.message_count,
            entry_count: session.entry_count,
            created: header.created.and_then(time::iso),
            modified: session.modified.and_then(time::iso),
            parent_session: header.parent_session.as_deref(),
            version: output::number(header.version),
            branch_points: session.branch_points,
            leaves: session.leaves,
            labels: session.labels.len(),
            cost: session.cost,
            tokens: session.tokens,
            own_cost: own.cost,
            own_tokens: own.tokens,
            own_entries: own.entries,
            bytes: session.bytes,
            problems: session.problems.iter().map(Problem::to_string).collect(),
        }
    }
}

/// The path from the root of the file system, symbolic links as they are.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// What a fork cost is what is its own, so that the column sums up to what was paid.
fn table(out: &mut impl Write, sessions: &[Digest], own: &[Tally], chosen: &Chosen) -> Result<()> {
    const COLUMNS: [Column; 6] =
        [Column::Number, Column::Number, Column::Number, Column::Whole, Column::Path(PATH), Column::Words(LAST)];
    let now = crate::cli::now();
    let ids = resolve::shortest(sessions.iter().map(|session| &*session.header.id));
    let is_fork = |session: &Digest, own: &Tally| own.entries < session.entries.all.entries;
    let any_fork = sessions.iter().zip(own).any(|(session, own)| is_fork(session, own));
    let row = |(session, own): (&Digest, &Tally)| {
        let age = session.modified.map_or("?".into(), |then| time::age(now, then));
        let cwd = shorten(&session.header.cwd, &chosen.home).into_owned();
        let id = cut(&session.header.id, ids).to_string();
        let mark = match () {
            () if is_fork(session, own) => " own",
            () if any_fork => "    ",
            () => "",
        };
        [age, session.entry_count.to_string(), dollars(own.cost) + mark, id, cwd, session.title().to_string()]
    };
    let rows: Vec<[String; 6]> = sessions.iter().zip(own).map(row).collect();
    table::print(out, COLUMNS, &rows, chosen.config.signs())
}
