//! `pitree index`: shows or rebuilds the session index.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::base::numbers::{bytes, count};
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::cli::command_context::read;
use crate::cli::output::{PathFields, object};
use crate::cli::{CommandContext, Exit, output};
use crate::disk::index::{self, IndexFacts};
use crate::disk::locate;

/// Show or rebuild the session index
///
/// The index is a cache of session contents and can be deleted at any time; pitree rebuilds it. Its files are readable
/// only by you.
#[derive(Debug, clap::Args)]
pub(super) struct IndexCommand {
    /// Rebuild the index from all sessions
    #[arg(long)]
    rebuild: bool,
    /// Delete the index files of all directories, or of those named with --dir
    #[arg(long, conflicts_with_all = ["rebuild", "path", "stats", "json"])]
    clear: bool,
    /// Print the paths of the index files
    #[arg(long, conflicts_with = "stats")]
    path: bool,
    /// Print the size of the index (default)
    #[arg(long)]
    stats: bool,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

impl IndexCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        if context.cache.is_none() && locate::index_dir().is_none() {
            bail!("cannot locate the index: no home directory; set HOME");
        }
        let Some(cache) = &context.cache else { bail!("`pitree index` cannot be used with --no-index") };
        if self.clear {
            return clear(context, cache);
        }
        let mut unreadable = Vec::new();
        if self.rebuild {
            let mut scan = context.sources().rebuild();
            unreadable = read(&mut scan, drop);
            scan.keep().with_context(|| {
                let what = format!("cannot write the index in {}", cache.display());
                format!("{what}; the previous index is unchanged; free disk space or check permissions")
            })?;
        } else {
            context.keep(context.sources().scan()); // removes text that no session contains any more
        }
        for dir in &context.scanned {
            let one = IndexFacts::new(cache, dir, &context.home);
            match () {
                () if self.json => {
                    let files: Vec<PathFields> = one.paths.iter().map(|path| (&**path).into()).collect();
                    let IndexFacts { sessions, bytes, .. } = one;
                    output::json(&object! { dir: PathFields::from(&*one.dir), files, sessions, bytes })?;
                }
                () if self.path => {
                    for path in &one.paths {
                        output::line(clean(&path.to_string_lossy()))?;
                    }
                }
                () => {
                    let dir = one.dir.to_string_lossy();
                    let sessions = count(one.sessions, "file", "files");
                    outln!("{}: {sessions}, {}", clean(&shorten(&dir, &context.home)), bytes(one.bytes))?;
                }
            }
        }
        output::end(unreadable)
    }
}

/// Deletes the index files of the named directories, or of all.
fn clear(context: &CommandContext, cache: &Path) -> Result<Exit> {
    let one = |dir: &PathBuf| IndexFacts::new(cache, dir, &context.home).remove();
    let removed = match context.located.is_named() {
        true => context.scanned.iter().map(one).collect::<io::Result<Vec<_>>>(),
        false => index::clear(cache).map(|removed| vec![removed]),
    };
    let removed = removed.context("cannot delete the index; check the permissions of its directory")?;
    let (files, length) = removed.iter().fold((0, 0), |(files, all), (more, length)| (files + more, all + length));
    outln!("Deleted {}, {}", count(files, "index file", "index files"), bytes(length))?;
    Ok(Exit::Done.found(files > 0))
}
