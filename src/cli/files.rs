//! `pitree files`: lists files touched by tools and commands in a session, a project, or all sessions.

use std::collections::HashMap;
use std::ffi::OsString;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::base::numbers::count;
use crate::base::paths::{full_path, shorten};
use crate::base::time;
use crate::catalog::files::{FilePlaces, TouchedFile, outline};
use crate::catalog::machines::local_cwds;
use crate::cli::output::object;
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column};
use crate::cli::{CommandContext, Exit, completions, output};
use crate::session::digest::listed::SharedSession;
use crate::session::worktrees::Worktrees;

/// List files that tools and shell commands read or changed, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct FilesCommand {
    /// List only the files of this session (path, id, unique id prefix, or name)
    #[arg(conflicts_with = "project", add = completions::sessions())]
    session: Option<OsString>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines; with SESSION, include the entries that touched each file
    #[arg(long)]
    json: bool,
}

impl FilesCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let scan = match &self.session {
            Some(session) => context.sources().one(&context.session(session)?),
            None => context.sources().scan(),
        };
        let (sessions, unreadable) = context.read_sessions(scan, self.project.matcher(context));
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
            return Ok(output::end(unreadable)?.found(false));
        }
        // The files of one session are where it touched them.
        let worktrees = match &self.session {
            Some(_) => Worktrees::default(),
            None => context.worktrees(local_cwds(sessions.iter())),
        };
        let places = FilePlaces { home: &context.home, worktrees: &worktrees };
        let files = outline(&sessions, places, &|| true).unwrap_or_default();
        if self.json {
            let mut calls = match &self.session {
                Some(_) => Some(calls(&sessions, context)?),
                None => None,
            };
            for file in &files {
                let entries = calls.as_mut().map(|calls| calls.remove(&file.path).unwrap_or_default());
                let TouchedFile { path, uses, sessions, latest } = file;
                let (reads, changes, last_touched) = (uses.reads, uses.changes(), latest.and_then(time::iso));
                let entries = entries.map(|entries| object! { entries });
                output::json(&object! { path, reads, changes, sessions, last_touched, #[serde(flatten)] entries })?;
            }
        } else {
            table(&files, context)?;
        }
        output::end(unreadable)
    }
}

fn table(files: &[TouchedFile], context: &CommandContext) -> Result<()> {
    const NUMBER: Column = Column::Number;
    const COLUMNS: [Column; 5] = [NUMBER, NUMBER, NUMBER, NUMBER, Column::Path(usize::MAX)];
    let row = |file: &TouchedFile| {
        let times = |count: usize, what: &str| if count > 0 { format!("{count} {what}") } else { String::new() };
        let (reads, changes) = (times(file.uses.reads, "read"), times(file.uses.changes(), "changed"));
        let sessions = count(file.sessions, "session", "sessions");
        [table::age(file.latest), reads, changes, sessions, shorten(&file.path, &context.home).into_owned()]
    };
    context.table(COLUMNS, files.iter().map(row), "no tool or command touched a file")
}

/// Returns the entries that touched each file, in file order.
fn calls(sessions: &[SharedSession], context: &CommandContext) -> Result<HashMap<String, Vec<impl Serialize>>> {
    let mut calls: HashMap<String, Vec<_>> = HashMap::new();
    for session in sessions {
        let tree = context.tree(&session.path)?;
        let touches = &session.details().touches;
        for touched in &touches.all {
            let call = object! {
                id: tree.nodes.get(touched.entry as usize).and_then(|node| node.id.as_deref()).map(String::from),
                touch: touched.touch.name(),
                active: session.is_active(touched.entry),
                timestamp: touched.time.and_then(time::iso),
            };
            let path = full_path(touches.paths.get(touched.path), &session.header.cwd, &context.home);
            calls.entry(path).or_default().push(call);
        }
    }
    Ok(calls)
}
