//! `pitree file`: prints a file as it was at an entry.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::base::diff::unified;
use crate::base::numbers::count;
use crate::base::paths::{full_path, shorten};
use crate::base::text::clean_lines;
use crate::catalog::file_history::files_at;
use crate::cli::output::{PathFields, object};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::files::read_regular;
use crate::disk::locate::Environment;
use crate::disk::new_file::{self, is_taken};
use crate::session::replay::places::runs_by_itself;
use crate::session::replay::session_path;
use crate::session::replay::state::{Content, Exactness, FileState};
use crate::session::tree::{Index, Tree};

/// Print a file as it was at an entry of a session
///
/// pitree restores the content from the tool calls on the path to the entry. Content is exact only if every byte is known.
/// After a command that may have changed the file, it counts as possibly changed until a read confirms it.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree file src/auth/index.ts                           the file at the end of the newest session here
  pitree file src/auth/refresh.ts --at 01a1ceea@jwt-works  at an entry, also on an abandoned branch
  pitree file src/auth/index.ts --at 01a1ceea -o old.ts   write it to a new file
  pitree file src/auth/index.ts --at 01a1ceea --diff disk  compare it with the file on the disk"))]
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
struct Found {
    session: PathBuf,
    tree: Tree,
    at: Index,
    path: String,
    state: Arc<FileState>,
}

impl FileCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let runs = self.output.as_ref().filter(|path| runs_by_itself([&*path.to_string_lossy()]));
        if let Some(path) = runs.filter(|_| !self.is_unsafe) {
            bail!("programs run from {} by themselves; use --unsafe to write it", path.display());
        }
        let Some(found) = find(&self.path, &self.at, context)? else {
            return output::nothing(&format!("{} is not touched up to this entry; see `pitree files`", self.path));
        };
        let exit = exit(&found.state);
        if self.json {
            output::json(&fields(&found)?)?;
            return Ok(exit);
        }
        output::note(&facts(&found, &context.home));
        let text = match &found.state.content {
            Content::Exact(text) if exit == Exit::Done || self.partial => text.to_string(),
            Content::Partial(lines) if self.partial => lines.with_gaps(),
            Content::Exact(_) | Content::Partial(_) => {
                output::note("use --partial to print it");
                return Ok(exit);
            }
            Content::Unknown | Content::Removed => return Ok(exit),
        };
        match (&self.output, &self.diff) {
            (Some(path), _) => write(path, &text, self.force)?,
            (None, Some(other)) => {
                let text_of_other = self.other(other, &found, context)?;
                let name = found.path.trim_start_matches('/');
                for line in clean_lines(&unified(&text, &text_of_other, name)) {
                    output::line(line)?;
                }
            }
            (None, None) if stdout().is_terminal() => {
                for line in clean_lines(&text) {
                    output::line(line)?;
                }
            }
            (None, None) => output::write(text.as_bytes())?,
        }
        Ok(exit)
    }

    /// Returns the text to compare with.
    fn other(&self, other: &OsString, found: &Found, context: &CommandContext) -> Result<String> {
        if other == "disk" {
            let path = Path::new(&found.path);
            let bytes = read_regular(path).with_context(|| format!("cannot read {}", path.display()))?;
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        let state = find(&self.path, other, context)?.map(|other| other.state);
        match state.as_ref().and_then(|state| state.whole()) {
            Some(text) => Ok(text.into()),
            None => bail!("the content of {} at {} is not known completely", self.path, other.display()),
        }
    }
}

/// Finds a file at an entry: the path as the session names it, or else relative to the current directory.
fn find(path: &str, at: &OsString, context: &CommandContext) -> Result<Option<Found>> {
    let place = context.place(at, None)?;
    let (tree, session) = (context.tree(&place.path)?, place.path.clone());
    let at = place.entry_in(&tree)?.or(tree.leaf).context("the session has no entries")?;
    let here = Environment::current().cwd;
    let names =
        [session_path(path, &tree.header.cwd, &context.home), full_path(path, &here.to_string_lossy(), &context.home)];
    let wanted: BTreeSet<String> = names.iter().cloned().collect();
    let files = files_at((&session, &tree), at, wanted, &context.home)?;
    let found = names.into_iter().find_map(|name| files.get(&name).cloned().map(|state| (name, state)));
    Ok(found.map(|(path, state)| Found { session, tree, at, path, state }))
}

/// Returns the exit code for a state.
pub(super) fn exit(state: &FileState) -> Exit {
    match state.exactness() {
        Exactness::Exact => Exit::Done,
        Exactness::Possible | Exactness::Partial => Exit::Over,
        Exactness::Unknown | Exactness::Removed => Exit::Unknown,
    }
}

fn id(tree: &Tree, at: Index) -> Option<&str> {
    tree.nodes[at as usize].id.as_deref()
}

/// Describes a state on one line.
fn facts(found: &Found, home: &str) -> String {
    let state = &found.state;
    let last = state.doubt.map(|(_, at)| at).or(state.entries.last().copied());
    let entry = last.and_then(|at| id(&found.tree, at)).map_or(String::new(), |id| format!(" at {id}"));
    let outside = match state.outside.len() {
        0 => String::new(),
        times => format!("; changed by another program {}", count(times, "time", "times")),
    };
    let path = shorten(&found.path, home);
    format!("{path}: {}: {}{entry}{outside}", state.exactness().name(), state.reason())
}

fn fields(found: &Found) -> Result<impl serde::Serialize + '_> {
    let Found { session, tree, at, path: file, state } = found;
    let ids = |entries: &[Index]| entries.iter().filter_map(|&at| id(tree, at).map(String::from)).collect::<Vec<_>>();
    let lines = match &state.content {
        Content::Partial(lines) => Some(lines.with_gaps()),
        Content::Exact(_) | Content::Unknown | Content::Removed => None,
    };
    Ok(object! {
        file,
        #[serde(flatten)] path: PathFields::from(&*resolve::absolute(session)?),
        id: &tree.header.id,
        entry: id(tree, *at).map(String::from),
        exactness: state.exactness().name(),
        reason: state.reason(),
        doubted_by: state.doubt.and_then(|(_, at)| id(tree, at).map(String::from)),
        entries: ids(&state.entries),
        outside: ids(&state.outside),
        text: state.whole(),
        known_lines: lines,
    })
}

fn write(path: &Path, text: &str, replaces: bool) -> Result<()> {
    if is_taken(path) && !replaces {
        bail!("{} exists; use --force to replace it, or another --output", path.display());
    }
    new_file::write_for_user(path, text, replaces)
}
