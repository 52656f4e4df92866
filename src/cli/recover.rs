//! `pitree recover`: writes the files of a session as they were at an entry.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::base::paths::shorten;
use crate::catalog::file_history::{ReplayControl, files_at_ends};
use crate::cli::output::{PathFields, object};
use crate::cli::table::Column;
use crate::cli::{CommandContext, Exit, completions, output};
use crate::disk::new_file::RecoveredDir;
use crate::session::replay::files::Files;
use crate::session::replay::places::{places, runs_by_itself, safe_name};
use crate::session::replay::state::Exactness;
use crate::session::tree::{Index, Tree};

/// Write the files of a session as they were at an entry
///
/// Writes the files whose content is known into a new or empty directory. Files outside of the working directory of the
/// session are below _outside. The report lists all files, and the reason for those that are not exact.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree recover 01a1ceea@jwt-works --to jwt    the files at an entry
  pitree recover 01a1ceea --abandoned --to all  the files of all abandoned branches"))]
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
struct Recovered {
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
        let ends: Vec<Index> = match &place.entry {
            Some(_) if self.abandoned => bail!("--abandoned takes a session without an entry"),
            None if self.abandoned => tree.abandoned().iter().map(|branch| branch.end).collect(),
            _ => place.entry_in(&tree)?.or(tree.leaf).into_iter().collect(),
        };
        if ends.is_empty() {
            return output::nothing(if self.abandoned {
                "the session has no abandoned branch"
            } else {
                "the session has no entries"
            });
        }
        let to = &self.to;
        let dir = RecoveredDir::create(to).with_context(|| format!("cannot create {}", to.display()))?;
        let Some(dir) = dir else { bail!("{} is not an empty directory; choose a new one", to.display()) };
        let mut report = Vec::new();
        let control = ReplayControl { home: &context.home, is_wanted: &|| true };
        let (files, _) = files_at_ends((path, &tree), &ends, control)?;
        for (end, files) in ends.into_iter().zip(files) {
            let below = self.abandoned.then(|| directory(&tree, end));
            report.extend(self.recovered((&tree, end), &files, (&dir, below)));
        }
        self.print(&report, context)?;
        let is_exact = report.iter().all(|file| matches!(file.exactness, Exactness::Exact | Exactness::Removed));
        Ok(match () {
            () if report.iter().any(|file| file.error.is_some()) => Exit::Failed,
            () if report.iter().all(|file| file.written.is_none()) => Exit::Nothing,
            () if is_exact => Exit::Done,
            () => Exit::Over,
        })
    }

    fn print(&self, report: &[Recovered], context: &CommandContext) -> Result<()> {
        if self.json {
            for Recovered { file, written, entry, exactness, reason, error } in report {
                let written = written.as_deref().map(PathFields::from);
                let exactness = exactness.name();
                output::json(&object! { file, entry, #[serde(flatten)] path: written, exactness, reason, error })?;
            }
            return Ok(());
        }
        let row = |file: &Recovered| {
            let written = file.written.as_ref().map_or("not written", |_| "written");
            let entry = file.entry.clone().filter(|_| self.abandoned).unwrap_or_default();
            [
                entry,
                file.exactness.name().into(),
                written.into(),
                shorten(&file.file, &context.home).into(),
                file.error.clone().unwrap_or_else(|| file.reason.into()),
            ]
        };
        const COLUMNS: [Column; 5] =
            [Column::Whole, Column::Whole, Column::Whole, Column::Path(usize::MAX), Column::Words(60)];
        context.table(COLUMNS, report.iter().map(row), "no tool or command touched a file")
    }

    /// Writes the files at an entry.
    fn recovered(
        &self,
        (tree, at): (&Tree, Index),
        files: &Files,
        (dir, below): (&RecoveredDir, Option<String>),
    ) -> Vec<Recovered> {
        let mut report = Vec::new();
        let known = files.iter().filter(|(_, state)| state.whole().is_some());
        let mut places = places(known.map(|(path, _)| path.as_str()), &tree.header.cwd).into_iter();
        for (path, state) in files.iter() {
            // One file that cannot be written does not prevent the others.
            let (written, error) = match state.whole() {
                Some(text) => {
                    let place: Vec<String> = below.iter().cloned().chain(places.next().unwrap_or_default()).collect();
                    let runs = runs_by_itself(place.iter().map(String::as_str));
                    match (self.is_unsafe || !runs).then(|| dir.write(&place, text.as_bytes())) {
                        Some(Ok(path)) => (Some(path), None),
                        Some(Err(error)) => (None, Some(format!("cannot write {}: {error}", place.join("/")))),
                        None => (None, Some("programs run from it by themselves; --unsafe writes it".into())),
                    }
                }
                None => (None, None),
            };
            let entry = tree.nodes[at as usize].id.as_deref().map(String::from);
            report.push(Recovered {
                file: path.clone(),
                written,
                entry,
                exactness: state.exactness(),
                reason: state.reason(),
                error,
            });
        }
        report
    }
}

/// Returns the name of the directory for a branch.
fn directory(tree: &Tree, end: Index) -> String {
    tree.nodes[end as usize].id.as_deref().map_or_else(|| end.to_string(), safe_name)
}
