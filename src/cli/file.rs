//! Files of sessions: `pitree file` prints one as it was at an entry, `pitree files` lists those that tools and commands
//! touched, and `pitree recover` writes those of a session as they were at an entry.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::base::diff::unified;
use crate::base::numbers::count;
use crate::base::paths::{full_path, shorten};
use crate::base::time;
use crate::catalog::file_history::{ReplayControl, files_at, files_at_ends};
use crate::catalog::file_states::text_for_comparison;
use crate::catalog::files::{FilePlaces, TouchedFile, outline};
use crate::catalog::user_data::local_cwds;
use crate::cli::output::{PathFields, object};
use crate::cli::selection::ProjectArg;
use crate::cli::{CommandContext, Exit, completions, output, table};
use crate::disk::files::read_regular;
use crate::disk::new_file::{self, RecoveredDir, is_taken};
use crate::session::digest::listed::SharedLazySession;
use crate::session::replay::files::Files;
use crate::session::replay::places::{places, runs_by_itself, safe_name};
use crate::session::replay::session_path;
use crate::session::replay::state::{Content, Exactness, FileState};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::worktrees::Worktrees;

/// Print a file as it was at an entry of a session
///
/// pitree restores the content from the tool calls on the path to the entry. Content is exact only if every byte is known.
/// After a command that may have changed the file, it counts as possibly changed until a read confirms it.
#[derive(Debug, clap::Args)]
pub(super) struct FileCommand {
    /// File as the session names it, or relative to the current directory
    path: String,
    /// Session and entry: SESSION or SESSION@ENTRY
    #[arg(long, value_name = "SESSION[@ENTRY]", default_value = ".", add = completions::sessions())]
    at: OsString,
    /// Print the content even if it is possibly changed or partial; a line marks each gap
    #[arg(long)]
    partial: bool,
    /// Print the differences from the file on the disk, or from the file at another entry
    #[arg(long, value_name = "disk|SESSION@ENTRY", conflicts_with_all = ["output", "json"])]
    diff: Option<OsString>,
    /// Write the content to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    force: bool,
    /// Write even a file from which programs run by themselves, such as .git/config or .envrc
    #[arg(long = "unsafe", requires = "output")]
    is_unsafe: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A file at an entry.
struct FoundFile {
    session: PathBuf,
    tree: Tree,
    at: EntryIndex,
    path: String,
    state: Arc<FileState>,
}

impl FileCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let runs = self.output.as_ref().filter(|path| runs_by_itself([&*path.to_string_lossy()]));
        if let Some(path) = runs.filter(|_| !self.is_unsafe) {
            bail!("programs run from {} by themselves; use --unsafe to write it", path.display());
        }
        let Some(found) = FoundFile::find(&self.path, &self.at, context)? else {
            return output::nothing(&format!("{} is not touched up to this entry; see `pitree files`", self.path));
        };
        let exit = found.exit();
        if self.json {
            output::json(&found.fields())?;
            return Ok(exit);
        }
        output::note(&found.facts(&context.home));
        if matches!(found.state.content, Content::Unknown | Content::Removed) {
            return Ok(exit);
        }
        if exit != Exit::Done && !self.partial {
            output::note("use --partial to print it");
            return Ok(exit);
        }
        let text = text_for_comparison(Some(&found.state))?;
        match (&self.output, &self.diff) {
            (Some(path), _) if is_taken(path) && !self.force => {
                bail!("{} exists; use --force to replace it, or another --output", path.display());
            }
            (Some(path), _) => new_file::write_for_user(path, &text, self.force)?,
            (None, Some(other)) => {
                let other = self.other(other, &found, context)?;
                output::diff(&unified(&text, &other, found.path.trim_start_matches('/')))?;
            }
            (None, None) if stdout().is_terminal() => output::lines(&text, "")?,
            (None, None) => output::write(text.as_bytes())?,
        }
        Ok(exit)
    }

    /// Returns the text to compare with.
    fn other(&self, other: &OsString, found: &FoundFile, context: &CommandContext) -> Result<String> {
        if other == "disk" {
            let bytes = read_regular(Path::new(&found.path)).with_context(|| format!("cannot read {}", found.path))?;
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        let found = FoundFile::find(&self.path, other, context)?;
        let text = found.as_ref().and_then(|found| found.state.whole());
        let unknown = || format!("the content of {} at {} is not known completely", self.path, other.display());
        text.map(String::from).with_context(unknown)
    }
}

impl FoundFile {
    /// Finds a file at an entry: the path as the session names it, or else relative to the current directory.
    fn find(path: &str, at: &OsString, context: &CommandContext) -> Result<Option<Self>> {
        let place = context.place(at, None)?;
        let tree = context.tree(&place.path)?;
        let at = place.entry_in(&tree)?.or(tree.leaf).context("the session has no entries")?;
        let names = [session_path(path, &tree.header.cwd, &context.home), context.full_path(path)];
        let files = files_at((&place.path, &tree), at, names.iter().cloned().collect(), &context.home)?;
        let found = names.into_iter().find_map(|name| files.get(&name).cloned().map(|state| (name, state)));
        Ok(found.map(|(path, state)| Self { session: place.path, tree, at, path, state }))
    }

    fn exit(&self) -> Exit {
        match self.state.exactness() {
            Exactness::Exact => Exit::Done,
            Exactness::Possible | Exactness::Partial => Exit::Over,
            Exactness::Unknown | Exactness::Removed => Exit::Unknown,
        }
    }

    /// Describes the state on one line.
    fn facts(&self, home: &str) -> String {
        let Self { state, tree, path, .. } = self;
        let last = state.doubt.map(|(_, at)| at).or(state.entries.last().copied());
        let entry = last.and_then(|at| tree.id(at)).map_or(String::new(), |id| format!(" at {id}"));
        let outside = match state.outside.len() {
            0 => String::new(),
            times => format!("; changed by another program {}", count(times, "time", "times")),
        };
        format!("{}: {}: {}{entry}{outside}", shorten(path, home), state.exactness().name(), state.reason())
    }

    fn fields(&self) -> impl Serialize + '_ {
        let Self { session, tree, at, path: file, state } = self;
        let ids =
            |entries: &[EntryIndex]| entries.iter().filter_map(|&at| tree.id(at).map(String::from)).collect::<Vec<_>>();
        let lines = match &state.content {
            Content::Partial(lines) => Some(lines.with_gaps()),
            Content::Exact(_) | Content::Unknown | Content::Removed => None,
        };
        object! {
            file,
            #[serde(flatten)] path: PathFields::from(&**session),
            id: &tree.header.id,
            entry: tree.id(*at),
            exactness: state.exactness().name(),
            reason: state.reason(),
            doubted_by: state.doubt.and_then(|(_, at)| tree.id(at)),
            entries: ids(&state.entries),
            outside: ids(&state.outside),
            text: state.whole(),
            known_lines: lines,
        }
    }
}

/// List files that were read or changed, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct FilesCommand {
    /// List only the files of this session (path, id, unique id prefix, or name)
    #[arg(conflicts_with = "project", add = completions::sessions())]
    session: Option<OsString>,
    #[command(flatten)]
    project: ProjectArg,
    /// List at most N files
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
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
        match (&self.session, &self.project.dir, &sessions[..], &unreadable[..]) {
            (Some(_), _, _, [one]) if one.is_headless => bail!("{} is {}", one.path.display(), one.reason),
            (Some(session), _, [], []) => {
                bail!("{} is not a pi session: the first line is not a session header", session.display());
            }
            (_, Some(dir), [], _) => {
                let advice = "run `pitree ls` to list the directories of sessions";
                output::error(&format!("no session found in {dir}; {advice}"));
                return Ok(output::end(unreadable)?.found(false));
            }
            _ => {}
        }
        // The files of one session are where it touched them.
        let worktrees = match &self.session {
            Some(_) => Worktrees::default(),
            None => context.worktrees(local_cwds(sessions.iter())),
        };
        let places = FilePlaces { home: &context.home, worktrees: &worktrees };
        let mut files = outline(&sessions, places, &|| true).unwrap_or_default();
        files.truncate(self.limit.unwrap_or(usize::MAX));
        let calls = match self.session {
            Some(_) if self.json => Some(calls(&sessions, context)?),
            _ => None,
        };
        let row = |file: &TouchedFile| {
            let times = |count: usize, what: &str| if count > 0 { format!("{count} {what}") } else { String::new() };
            let (reads, changes) = (times(file.uses.reads, "read"), times(file.uses.changes(), "changed"));
            let sessions = count(file.sessions, "session", "sessions");
            [table::age(file.latest), reads, changes, sessions, shorten(&file.path, &context.home).into_owned()]
        };
        let line = |TouchedFile { path, uses, sessions, latest }: &TouchedFile| {
            let entries = calls.as_ref().map(|calls| calls.get(path).map_or(&[][..], Vec::as_slice));
            object! {
                path: path.clone(),
                reads: uses.reads,
                changes: uses.changes(),
                sessions: *sessions,
                last_touched: latest.and_then(time::iso),
                #[serde(flatten)] entries: entries.map(|entries| object! { entries }),
            }
        };
        context.list(
            self.json,
            &files,
            line,
            ("age> reads> changes> sessions> file/", row),
            "no tool or command touched a file",
        )?;
        output::end(unreadable)
    }
}

/// Returns the entries that touched each file, in file order.
fn calls(sessions: &[SharedLazySession], context: &CommandContext) -> Result<HashMap<String, Vec<impl Serialize>>> {
    let mut calls: HashMap<String, Vec<_>> = HashMap::new();
    for session in sessions {
        let tree = context.tree(&session.path)?;
        let touches = &session.details().touches;
        for touched in &touches.all {
            let call = object! {
                id: tree.nodes.get(touched.entry as usize).and_then(|node| node.id.as_deref()).map(String::from),
                touch: touched.operation.name(),
                active: session.is_active(touched.entry),
                timestamp: touched.time.and_then(time::iso),
            };
            let path = full_path(touches.paths.get(touched.path), &session.header.cwd, &context.home);
            calls.entry(path).or_default().push(call);
        }
    }
    Ok(calls)
}

/// Write the files of a session as they were at an entry
///
/// Writes the files whose content is known into a new or empty directory. Files outside of the working directory of the
/// session are below _outside. The report lists all files, and the reason for those that are not exact.
#[derive(Debug, clap::Args)]
pub(super) struct RecoverCommand {
    /// Session and entry: SESSION or SESSION@ENTRY; the default entry is the leaf
    #[arg(value_name = "SESSION[@ENTRY]", add = completions::sessions())]
    at: OsString,
    /// New or empty directory
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write even files from which programs run by themselves, such as .git/config or .envrc
    #[arg(long = "unsafe")]
    is_unsafe: bool,
    /// Write the last states of all abandoned branches, each into a directory of its own
    #[arg(long)]
    abandoned: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

/// A file in the report.
struct RecoveredFile {
    file: String,
    /// The written file, if the content is known.
    written: Option<PathBuf>,
    entry: Option<String>,
    exactness: Exactness,
    reason: &'static str,
    /// The error, if the content is known but cannot be written.
    error: Option<String>,
}

impl RecoverCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let place = context.place(&self.at, None)?;
        let (path, tree) = (&place.path, context.tree(&place.path)?);
        let ends: Vec<EntryIndex> = match &place.entry {
            Some(_) if self.abandoned => bail!("--abandoned takes a session without an entry"),
            None if self.abandoned => tree.abandoned().iter().map(|branch| branch.end).collect(),
            _ => place.entry_in(&tree)?.or(tree.leaf).into_iter().collect(),
        };
        if ends.is_empty() {
            let missing = if self.abandoned { "abandoned branch" } else { "entries" };
            return output::nothing(&format!("the session has no {missing}"));
        }
        let to = self.to.display();
        let dir = RecoveredDir::create(&self.to).with_context(|| format!("cannot create {to}"))?;
        let dir = dir.with_context(|| format!("{to} is not an empty directory; choose a new one"))?;
        let control = ReplayControl { home: &context.home, is_wanted: &|| true };
        let (files, _) = files_at_ends((path, &tree), &ends, control)?;
        let report = ends.into_iter().zip(files).flat_map(|(end, files)| self.write(&tree, end, &files, &dir));
        let report: Vec<RecoveredFile> = report.collect();
        let line = |RecoveredFile { file, written, entry, exactness, reason, error }: &RecoveredFile| {
            object! {
                file: file.clone(),
                entry: entry.clone(),
                #[serde(flatten)] path: written.as_deref().map(PathFields::from),
                exactness: exactness.name(),
                reason: *reason,
                error: error.clone(),
            }
        };
        let row = |file: &RecoveredFile| {
            [
                file.entry.clone().filter(|_| self.abandoned).unwrap_or_default(),
                file.exactness.name().into(),
                file.written.as_ref().map_or("not written", |_| "written").into(),
                shorten(&file.file, &context.home).into(),
                file.error.clone().unwrap_or_else(|| file.reason.into()),
            ]
        };
        context.list(
            self.json,
            &report,
            line,
            ("entry state written file/ reason~60", row),
            "no tool or command touched a file",
        )?;
        let is_exact = report.iter().all(|file| matches!(file.exactness, Exactness::Exact | Exactness::Removed));
        Ok(match () {
            () if report.iter().any(|file| file.error.is_some()) => Exit::Failed,
            () if report.iter().all(|file| file.written.is_none()) => Exit::Nothing,
            () if is_exact => Exit::Done,
            () => Exit::Over,
        })
    }

    /// Writes the files at the end of a branch.
    fn write(&self, tree: &Tree, end: EntryIndex, files: &Files, dir: &RecoveredDir) -> Vec<RecoveredFile> {
        // Each of several branches has a directory of its own.
        let below = self.abandoned.then(|| tree.id(end).map_or_else(|| end.to_string(), safe_name));
        let known = files.iter().filter(|(_, state)| state.whole().is_some());
        let mut places = places(known.map(|(path, _)| path.as_str()), &tree.header.cwd).into_iter();
        let mut write = |text: &str| {
            let place: Vec<String> = below.iter().cloned().chain(places.next().unwrap_or_default()).collect();
            if !self.is_unsafe && runs_by_itself(place.iter().map(String::as_str)) {
                return Err("programs run from it by themselves; --unsafe writes it".into());
            }
            dir.write(&place, text.as_bytes()).map_err(|error| format!("cannot write {}: {error}", place.join("/")))
        };
        let file = |(path, state): (&String, &Arc<FileState>)| {
            // One file that cannot be written does not prevent the others.
            let written = state.whole().map(&mut write).transpose();
            RecoveredFile {
                file: path.clone(),
                error: written.as_ref().err().cloned(),
                written: written.ok().flatten(),
                entry: tree.id(end).map(String::from),
                exactness: state.exactness(),
                reason: state.reason(),
            }
        };
        files.iter().map(file).collect()
    }
}
