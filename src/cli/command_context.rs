//! The context of all commands: the configuration, the session directories, and what they need of both.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};

use crate::base::paths::shorten;
use crate::catalog::Catalog;
use crate::catalog::copies::NumberedCopies;
use crate::catalog::search::SearchedSession;
use crate::cli::machine_context;
use crate::config::{Config, Filter};
use crate::disk::demo::DemoDir;
use crate::disk::locate::{self, Environment, Located};
use crate::disk::scan::{IndexPlace, Scan, ScanSources, Unreadable};
use crate::disk::worktrees::WorktreeFinder;
use crate::disk::{last_seen, load, marks as marks_file};
use crate::runtime::jobs::now;
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedSession;
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::tree::Tree;
use crate::session::worktrees::Worktrees;

/// The context of all commands.
#[derive(Debug)]
pub(crate) struct CommandContext {
    /// The configuration with the options of the command line.
    pub config: Config,
    /// The session directories.
    pub located: Located,
    /// A message about directories that were replaced: see [`Located::correct`].
    pub corrected: Option<String>,
    /// The home directory, for `~`.
    pub home: String,
    /// The directory of the index; `None` to ignore the index.
    pub cache: Option<PathBuf>,
    /// The directory of archived sessions, if there is a home directory.
    pub archive: Option<PathBuf>,
    /// All existing directories with sessions: see [`Located::all_existing`].
    pub(super) scanned: Vec<PathBuf>,
    /// The directory of a demo, which is removed at the end.
    pub(super) demo: Option<DemoDir>,
    /// The sessions for arguments.
    pub(super) resolved: ResolvedSessions,
}

/// The sessions for arguments, loaded once for all of them.
#[derive(Debug, Default)]
pub(super) struct ResolvedSessions {
    /// The ids in order, with their files.
    pub(super) by_id: OnceLock<Vec<(String, PathBuf)>>,
    pub(super) catalog: OnceLock<Catalog>,
}

impl CommandContext {
    /// Returns the session directories and the parameters for reading them.
    pub(super) fn sources(&self) -> ScanSources<'_> {
        ScanSources { dirs: &self.scanned, home: &self.home, cache: self.index_place() }
    }

    pub(super) fn index_place(&self) -> Option<IndexPlace<'_>> {
        let limit = self.config.index_bytes();
        self.cache.as_deref().map(|dir| IndexPlace { dir, limit })
    }

    /// Adds the sessions of a scan to the index. A failure is reported and only costs time.
    pub(super) fn keep(&self, scan: Scan<'_>) {
        self.report_index(scan.keep().err().map(|error| error.to_string()));
    }

    /// Loads a session.
    ///
    /// # Errors
    /// The file cannot be read or is not a session.
    pub(super) fn tree(&self, path: &Path) -> Result<Tree> {
        load::tree(path, &self.home)
    }

    /// Shortens a path with `~` for the home directory.
    pub(super) fn short(&self, path: &Path) -> String {
        shorten(&path.to_string_lossy(), &self.home).into_owned()
    }

    /// Reads the wanted sessions of a scan, without further copies. Returns the files that could not be read, too.
    pub(super) fn read_sessions(
        &self,
        mut scan: Scan<'_>,
        mut is_wanted: impl FnMut(&SessionFacts<'_>) -> bool,
    ) -> (Vec<SharedSession>, Vec<Unreadable>) {
        let mut sessions: Vec<SharedSession> = Vec::new();
        let unreadable = read(&mut scan, |batch| {
            sessions.extend(batch.into_iter().filter(|session| is_wanted(&session.facts())));
        });
        self.keep(scan);
        NumberedCopies::remove_from(&mut sessions);
        (sessions, unreadable)
    }

    /// Reads all sessions.
    pub(super) fn read_catalog(&self) -> Catalog {
        let mut catalog = self.report(Catalog::read(self.sources(), now()));
        catalog.set_remote_pis(machine_context::remote_pis(&self.config, self.located.mirrors.as_deref()), now());
        catalog
    }

    /// Returns sessions in the form needed for a query.
    pub(super) fn searched(&self, sessions: Vec<SharedSession>, query: &Query) -> Arc<[SearchedSession]> {
        let pis = || machine_context::remote_pis(&self.config, self.located.mirrors.as_deref());
        SearchedSession::for_query(sessions, query, (now(), pis))
    }

    /// Reports that the index could not be written for a catalog.
    pub(super) fn report(&self, mut catalog: Catalog) -> Catalog {
        self.report_index(catalog.index_error.take());
        catalog
    }

    pub(super) fn report_index(&self, error: Option<String>) {
        if let (Some(error), Some(cache)) = (error, &self.cache) {
            let cache = cache.display();
            note!("cannot write the index in {cache}: {error}; searches take longer until this is corrected");
        }
    }

    /// Returns the initial tree filter: from the configuration or pi's settings. Unknown filters of pi are ignored.
    pub(super) fn filter(&self) -> Filter {
        let of_pi = || Environment::current().setting("treeFilterMode")?.parse().ok();
        self.config.filter_of_pi.then(of_pi).flatten().unwrap_or(self.config.filter)
    }

    /// Returns the time and directory of a query.
    pub(super) fn here_and_now(&self) -> QueryScope {
        let dir = Environment::current().cwd.to_string_lossy().into_owned();
        let (home, zone) = (self.home.clone(), jiff::tz::TimeZone::system());
        QueryScope { now_ms: now(), home, dir, zone, ..QueryScope::default() }
    }

    /// Reads the lasting marks of sessions.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub(super) fn marks(&self) -> Result<Marks> {
        locate::data_dir().map_or(Ok(Marks::default()), |data| marks_file::read(&marks_file::file(&data)))
    }

    /// Returns the newest shown messages of sessions.
    pub(super) fn last_seen(&self) -> LastSeen {
        locate::state_dir().map_or_else(LastSeen::default, |state| last_seen::read(&state))
    }

    /// Creates a search for the worktrees of working directories.
    pub(super) fn worktree_finder(&self) -> WorktreeFinder {
        // The directories of demo sessions never exist.
        let state = locate::state_dir().filter(|_| self.demo.is_none());
        WorktreeFinder::new(state.as_deref(), !self.config.group_worktrees)
    }

    /// Finds the worktrees of working directories, and records them for the time after they are removed.
    pub(super) fn worktrees<'a>(&self, cwds: impl Iterator<Item = &'a str>) -> Worktrees {
        let mut finder = self.worktree_finder();
        if self.demo.is_none() {
            finder.find(cwds.collect::<HashSet<_>>().into_iter());
        }
        let _ = finder.keep(now()); // without the record, only removed ones are lost
        finder.found().clone()
    }

    /// Returns an error for commands whose result would be lost with the demo directory.
    ///
    /// # Errors
    /// The sessions are samples.
    pub(super) fn refuse_samples(&self) -> Result<()> {
        if self.demo.is_some() { refuse_demo() } else { Ok(()) }
    }
}

/// Returns the error for commands that cannot be used with `--demo`.
pub(super) fn refuse_demo() -> Result<()> {
    bail!("this command cannot be used with --demo; to try changes, run `pitree demo`")
}

/// Reads sessions in batches, and returns the files that could not be read.
pub(super) fn read(scan: &mut Scan<'_>, mut tell: impl FnMut(Vec<SharedSession>)) -> Vec<Unreadable> {
    let mut unreadable = std::mem::take(&mut scan.found.unreadable);
    scan.read(|batch| {
        unreadable.extend(batch.unreadable);
        tell(batch.sessions);
        true
    });
    unreadable
}
