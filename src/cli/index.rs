//! `pitree index`: what is kept of sessions between runs, and reading them all anew.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::base::numbers::{bytes, count};
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::cli::output::PathFields;
use crate::cli::{Chosen, output};
use crate::disk::index::Facts;
use crate::disk::locate;

/// Show what is kept of sessions so that pitree starts at once, or make it anew
///
/// Deleting it loses nothing: it is made of the sessions, and made again. It holds what they hold, for you alone to read.
#[derive(Debug, clap::Args)]
pub(super) struct IndexCommand {
    /// Read all sessions anew
    #[arg(long)]
    rebuild: bool,
    /// Print the files: of all sessions, and what was added since
    #[arg(long, conflicts_with = "stats")]
    path: bool,
    /// Print how much is kept (as without an option)
    #[arg(long)]
    stats: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// The index of a directory as a script sees it.
#[derive(Serialize)]
struct Stats {
    dir: PathFields,
    files: Vec<PathFields>,
    sessions: usize,
    bytes: u64,
}

impl IndexCommand {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        if chosen.cache.is_none() && locate::index_dir().is_none() {
            bail!("there is no home directory to keep an index in; set HOME");
        }
        let Some(cache) = &chosen.cache else { bail!("no index is used with --no-index, and none of the samples") };
        let facts = || chosen.located.dirs.iter().map(|dir| Facts::new(cache, dir, &chosen.home));
        let mut unreadable = Vec::new();
        if self.rebuild {
            for one in facts() {
                one.remove().with_context(|| format!("can't remove {}", one.paths[0].display()))?;
            }
            let mut scan = chosen.sources().scan();
            unreadable = std::mem::take(&mut scan.found.unreadable);
            scan.read(|batch| {
                unreadable.extend(batch.unreadable);
                true
            });
            scan.keep().with_context(|| format!("can't keep an index in {}", cache.display()))?;
        }
        let mut out = output::stdout();
        for one in facts() {
            let there = one.paths.iter().filter(|path| path.exists());
            match () {
                () if self.json => {
                    let files = there.map(|path| (&**path).into()).collect();
                    let Facts { sessions, bytes, .. } = one;
                    output::json(&mut out, &Stats { dir: (&*one.dir).into(), files, sessions, bytes })?;
                }
                () if self.path => {
                    for path in &one.paths {
                        writeln!(out, "{}", clean(&path.to_string_lossy()))?;
                    }
                }
                () => {
                    let dir = one.dir.to_string_lossy();
                    let sessions = count(one.sessions, "file", "files");
                    writeln!(out, "{}: {sessions}, {}", clean(&shorten(&dir, &chosen.home)), bytes(one.bytes))?;
                }
            }
        }
        out.flush()?;
        Ok(output::end(unreadable).into())
    }
}
