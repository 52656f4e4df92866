//! `pitree log`: lists the states of a file over all sessions and branches.

use std::collections::HashSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::base::paths::full_path;
use crate::base::time;
use crate::catalog::file_history::{FileVersion, prompt, versions};
use crate::cli::exit::Exit;
use crate::cli::output::{Output, PathFields, object};
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column, LAST};
use crate::cli::{CommandContext, output, resolve};
use crate::disk::load;
use crate::disk::locate::Environment;
use crate::session::digest::listed::SharedSession;
use crate::session::replay::session_path;
use crate::session::tree::Tree;

/// List the states of a file in all sessions, most recent first
///
/// Lists each entry that changed the content of the file or read it for the first time, on all branches. An entry that
/// forks inherited is listed once. Sessions in which only shell commands touched the file are not found.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree log src/auth.rs                the states of a file
  pitree log src/auth.rs -S 'fn login'  only states that added or removed a text
  pitree file src/auth.rs --at SESSION@ENTRY  print one of them"))]
pub(super) struct LogCommand {
    /// File, relative to the current directory or absolute
    path: String,
    /// List only states in which TEXT came or went
    #[arg(short = 'S', long, value_name = "TEXT")]
    search: Option<String>,
    /// List only states that this commit contains, as far as a command printed it; a prefix of at least 7 characters
    #[arg(long, value_name = "SHA", value_parser = commit_prefix)]
    commit: Option<String>,
    /// List at most N states
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

/// A state with its session.
pub(super) struct LoggedVersion {
    pub(super) session: PathBuf,
    pub(super) session_id: String,
    pub(super) entry: Option<String>,
    pub(super) time: Option<i64>,
    pub(super) prompt: String,
    pub(super) is_abandoned: bool,
    pub(super) version: FileVersion,
}

impl LogCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let here = Environment::current().cwd;
        let file = full_path(&self.path, &here.to_string_lossy(), &chosen.home);
        let is_wanted = self.project.matcher(chosen);
        let (mut all, unreadable) = logged(&file, &is_wanted, chosen)?;
        all.retain(|logged| self.search.as_ref().is_none_or(|text| logged.version.changes_count(text)));
        let is_committed = |logged: &LoggedVersion, wanted: &str| {
            // git prints abbreviations of different lengths.
            let commit = logged.version.commit.as_deref();
            commit.is_some_and(|commit| commit.starts_with(wanted) || wanted.starts_with(commit))
        };
        all.retain(|logged| self.commit.as_ref().is_none_or(|wanted| is_committed(logged, wanted)));
        all.truncate(self.limit.map_or(usize::MAX, NonZeroUsize::get));
        if self.json {
            for logged in &all {
                let LoggedVersion { session, session_id, entry, time, prompt, is_abandoned, version } = logged;
                let lines = version.changed_lines();
                let (added, removed) = (lines.map(|(added, _)| added), lines.map(|(_, removed)| removed));
                output::json(
                    out,
                    &object! {
                        #[serde(flatten)] path: PathFields::from(&*resolve::absolute(session)?),
                        id: session_id,
                        entry,
                        timestamp: time.and_then(time::iso),
                        prompt,
                        added,
                        removed,
                        exactness: version.state.exactness().name(),
                        source: version.state.source.name(),
                        commit: &version.commit,
                        abandoned: is_abandoned,
                    },
                )?;
            }
        } else {
            rows(out, &all, chosen)?;
        }
        if all.is_empty() {
            output::note(&format!("no listed state of {file}; see `pitree files` for the files that tools touched"));
        }
        let end = output::end(out, unreadable)?;
        Ok(if end == Exit::Done { end.found(!all.is_empty()) } else { end }.into())
    }
}

/// Returns the states of a file in all sessions, most recent first.
pub(super) fn logged(
    file: &str,
    is_wanted: &dyn Fn(&str) -> bool,
    chosen: &CommandContext,
) -> Result<(Vec<LoggedVersion>, Vec<crate::disk::scan::Unreadable>)> {
    let mut sessions: Vec<SharedSession> = Vec::new();
    let mut scan = chosen.sources().scan();
    let unreadable = crate::cli::read(&mut scan, |batch| {
        sessions.extend(batch.into_iter().filter(|session| is_wanted(session.facts().cwd)));
    });
    chosen.keep(scan);
    sessions.sort_by(|a, b| a.age().cmp(&b.age()));
    let mut known = HashSet::new();
    let mut all = Vec::new();
    for session in sessions {
        let touches = &session.details().touches;
        if !touches.paths.iter().any(|path| session_path(path, &session.header.cwd, &chosen.home) == file) {
            continue;
        }
        let tree = load::tree(&session.path, &chosen.home)?;
        for version in versions((&session.path, &tree), file, &chosen.home)? {
            // Forks inherit entries; the oldest session counts.
            if session.entry_key(version.entry).is_none_or(|key| known.insert(key)) {
                all.push(LoggedVersion::new(&session.path, &tree, version));
            }
        }
    }
    all.sort_by_key(|logged| std::cmp::Reverse((logged.time, logged.version.entry)));
    Ok((all, unreadable))
}

impl LoggedVersion {
    fn new(session: &std::path::Path, tree: &Tree, version: FileVersion) -> Self {
        let node = &tree.nodes[version.entry as usize];
        Self {
            session: session.into(),
            session_id: tree.header.id.clone(),
            entry: node.id.as_deref().map(String::from),
            time: node.time,
            prompt: prompt(tree, version.entry).map_or(String::new(), |at| tree.nodes[at as usize].words().into()),
            is_abandoned: !tree.is_active(version.entry),
            version,
        }
    }

    /// Returns `SESSION@ENTRY` with a short session ID.
    pub(super) fn place(&self, length: usize) -> String {
        let id: String = self.session_id.chars().take(length).collect();
        format!("{id}@{}", self.entry.as_deref().unwrap_or("?"))
    }
}

/// Parses the prefix of a commit.
fn commit_prefix(text: &str) -> Result<String, &'static str> {
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_prefix = is_hex && (7..=40).contains(&text.len());
    is_prefix.then(|| text.to_ascii_lowercase()).ok_or("expected 7 to 40 hexadecimal digits")
}

fn rows(out: &mut impl Write, all: &[LoggedVersion], chosen: &CommandContext) -> Result<()> {
    const WHOLE: Column = Column::Whole;
    const COLUMNS: [Column; 7] = [Column::Number, WHOLE, Column::Number, WHOLE, WHOLE, WHOLE, Column::Words(LAST)];
    let now = crate::cli::now();
    let length = resolve::shortest(all.iter().map(|logged| logged.session_id.as_str()));
    let row = |logged: &LoggedVersion| {
        let state = &logged.version.state;
        let lines = logged.version.changed_lines().map(|(added, removed)| format!("+{added} -{removed}"));
        [
            logged.time.map_or("?".into(), |then| time::age(now, then)),
            logged.place(length),
            lines.unwrap_or_default(),
            state.exactness().name().into(),
            logged.version.commit.clone().unwrap_or_default(),
            if logged.is_abandoned { "abandoned".into() } else { String::new() },
            logged.prompt.clone(),
        ]
    };
    table::print(out, COLUMNS, &all.iter().map(row).collect::<Vec<_>>(), chosen.config.signs())
}
