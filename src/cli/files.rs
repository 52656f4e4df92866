//! `pitree files`: lists files touched by tools and commands in a session, a project, or all sessions.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use serde::Serialize;

use crate::base::numbers::count;
use crate::base::paths::{full_path, shorten};
use crate::base::time;
use crate::catalog::copies::NumberedCopies;
use crate::catalog::files::{FilePlaces, TouchedFile, outline};
use crate::catalog::machines::local_cwds;
use crate::cli::output::{Output, object};
use crate::cli::project::ProjectArg;
use crate::cli::resolve::SessionResolver;
use crate::cli::table::{self, Column};
use crate::cli::{CommandContext, completions, output};
use crate::disk::load;
use crate::session::digest::listed::SharedSession;
use crate::session::worktrees::Worktrees;

/// List files that tools and shell commands read or changed, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct FilesCommand {
    /// List only the files of this session (path, id, unique id prefix, or name)
    #[arg(conflicts_with = "project", add = ArgValueCompleter::new(completions::sessions))]
    session: Option<OsString>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines; with SESSION, include the entries that touched each file
    #[arg(long)]
    json: bool,
}

impl FilesCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let mut scan = match &self.session {
            Some(session) => chosen.sources().one(&SessionResolver::new(chosen).session(session)?),
            None => chosen.sources().scan(),
        };
        let is_wanted = self.project.matcher(chosen);
        let mut sessions: Vec<SharedSession> = Vec::new();
        let unreadable = crate::cli::read(&mut scan, |batch| {
            sessions.extend(batch.into_iter().filter(|session| is_wanted(&session.facts())));
        });
        chosen.keep(scan);
        NumberedCopies::remove_from(&mut sessions);
        if let (Some(_), [one]) = (&self.session, &unreadable[..])
            && one.is_headless
        {
            bail!("{} is {}", one.path.display(), one.reason);
        }
        if let (Some(session), [], true) = (&self.session, &sessions[..], unreadable.is_empty()) {
            bail!("{} is not a pi session: the first line is not a session header", session.display());
        }
        if let (Some(dir), []) = (&self.project.dir, &sessions[..]) {
            output::error(&format!("no session found in {dir}; run `pitree ls` to list the directories of sessions"));
            return Ok(output::end(out, unreadable)?.found(false).into());
        }
        // The files of one session are where it touched them.
        let worktrees = match &self.session {
            Some(_) => Worktrees::default(),
            None => chosen.worktrees(local_cwds(sessions.iter())),
        };
        let places = FilePlaces { home: &chosen.home, worktrees: &worktrees };
        let files = outline(&sessions, places, &|| true).unwrap_or_default();
        if self.json {
            let mut calls = match &self.session {
                Some(_) => Some(calls(&sessions, chosen)?),
                None => None,
            };
            for file in &files {
                let entries = calls.as_mut().map(|calls| calls.remove(&file.path).unwrap_or_default());
                let TouchedFile { path, uses, sessions, latest } = file;
                let (reads, changes, last_touched) = (uses.reads, uses.changes(), latest.and_then(time::iso));
                let entries = entries.map(|entries| object! { entries });
                output::json(
                    out,
                    &object! { path, reads, changes, sessions, last_touched, #[serde(flatten)] entries },
                )?;
            }
        } else {
            table(out, &files, chosen)?;
            if files.is_empty() {
                output::note("no tool or command touched a file");
            }
        }
        Ok(output::end(out, unreadable)?.into())
    }
}

fn table(out: &mut impl Write, files: &[TouchedFile], chosen: &CommandContext) -> Result<()> {
    const NUMBER: Column = Column::Number;
    const COLUMNS: [Column; 5] = [NUMBER, NUMBER, NUMBER, NUMBER, Column::Path(usize::MAX)];
    let now = crate::cli::now();
    let row = |file: &TouchedFile| {
        let age = file.latest.map_or("?".into(), |then| time::age(now, then));
        let times = |count: usize, what: &str| if count > 0 { format!("{count} {what}") } else { String::new() };
        let (reads, changes) = (times(file.uses.reads, "read"), times(file.uses.changes(), "changed"));
        let sessions = count(file.sessions, "session", "sessions");
        [age, reads, changes, sessions, shorten(&file.path, &chosen.home).into_owned()]
    };
    table::print(out, COLUMNS, &files.iter().map(row).collect::<Vec<_>>(), chosen.config.signs())
}

/// Returns the entries that touched each file, in file order.
fn calls(sessions: &[SharedSession], chosen: &CommandContext) -> Result<HashMap<String, Vec<impl Serialize>>> {
    let mut calls: HashMap<String, Vec<_>> = HashMap::new();
    for session in sessions {
        let tree = load::tree(&session.path, &chosen.home)?;
        let touches = &session.details().touches;
        for touched in &touches.all {
            let call = object! {
                id: tree.nodes.get(touched.entry as usize).and_then(|node| node.id.as_deref()).map(String::from),
                touch: touched.touch.name(),
                active: session.is_active(touched.entry),
                timestamp: touched.time.and_then(time::iso),
            };
            let path = full_path(touches.paths.get(touched.path), &session.header.cwd, &chosen.home);
            calls.entry(path).or_default().push(call);
        }
    }
    Ok(calls)
}
