//! The context of all commands: the configuration, the session directories, the machines, and what commands need of them.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};

use crate::base::paths::{full_path, shorten};
use crate::catalog::Catalog;
use crate::catalog::copies::SessionCopies;
use crate::catalog::search::SearchedSession;
use crate::changes::Changes;
use crate::cli::output;
use crate::cli::output::ColorWhen;
use crate::config::{Config, Filter, ThemeName};
use crate::disk::demo::DemoDir;
use crate::disk::locate::{self, Environment, Located};
use crate::disk::scan::{IndexPlace, Scan, ScanSources, Unreadable};
use crate::disk::trash::Trash;
use crate::disk::worktrees::WorktreeFinder;
use crate::disk::{bug_log, index as index_files, last_seen, load, marks as marks_file};
use crate::machines::registry::{self, Machine};
use crate::machines::state;
use crate::machines::sync::SyncContext;
use crate::pi::running;
use crate::pi::status::PiStatus;
use crate::runtime::jobs::now;
use crate::search::qualifier::value::QueryScope;
use crate::search::query::Query;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::tree::Tree;
use crate::session::worktrees::Worktrees;
use crate::system::signals;

/// Options of all commands.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Read sessions from DIR instead of pi's directory (repeatable)
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) dir: Vec<PathBuf>,
    /// Use a temporary copy of the built-in demo sessions
    #[arg(long, global = true, conflicts_with = "dir")]
    pub(super) demo: bool,
    /// Don't read or write the index
    #[arg(long, global = true)]
    pub(super) no_index: bool,
    /// Read the configuration from this file
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,
    /// Append to a log for bug reports, without texts of sessions
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) log: Option<PathBuf>,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub(super) ascii: bool,
    /// Color the output; `auto` does on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        global = true
    )]
    pub(super) color: ColorWhen,
    /// Set the color theme; `auto` follows the terminal background, `terminal` uses the terminal's palette
    #[arg(long, value_name = "THEME", global = true)]
    pub(super) theme: Option<ThemeName>,
}

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
    /// All existing directories with sessions, as absolute paths: see [`Located::all_existing`].
    pub(super) scanned: Vec<PathBuf>,
    /// The directory of a demo, which is removed at the end.
    pub(super) demo: Option<DemoDir>,
    /// All sessions, once they were needed.
    catalog: OnceLock<Catalog>,
}

impl CommandContext {
    /// Reads the configuration, and locates the sessions.
    ///
    /// # Errors
    /// The configuration is invalid, or the demo sessions cannot be written.
    pub(super) fn read(options: &Options) -> Result<Self> {
        let mut config = read_config(options.config.as_deref())?;
        config.ascii |= options.ascii;
        config.theme = options.theme.unwrap_or(config.theme);
        output::set_colors(options.color, &config);
        let demo = options.demo.then(|| DemoDir::new(now())).transpose();
        let demo = demo.context("cannot write the demo sessions to the directory for temporary files")?;
        if let Some(demo) = &demo {
            demo.enter();
            // A trash command of the user would move files out of the directory.
            config.trash = Vec::new();
        }
        let environment = Environment::current();
        let mut located = match &demo {
            Some(demo) => Located { dirs: vec![demo.sessions()], origin: "--demo".into(), mirrors: None },
            None => locate::sessions(&options.dir, &config.dirs, &environment),
        };
        if demo.is_none() && !located.is_named() {
            located.mirrors = locate::mirrors_dir();
        }
        let home = environment.home.to_string_lossy().into_owned();
        let replaced = located.correct().into_iter().map(|(dir, inside)| {
            let [dir, inside] = [&dir, &inside].map(|dir| shorten(&dir.to_string_lossy(), &home).into_owned());
            format!("{dir} is not a session directory: reading {inside} instead")
        });
        let replaced: Vec<String> = replaced.collect();
        let cache = locate::index_dir().filter(|_| !options.no_index && config.index_megabytes > 0);
        if let Some(cache) = &cache {
            index_files::clean_up(cache);
        }
        let archive = locate::archive_dir(&config.archive_dir, &environment.home);
        let mut scanned = located.all_existing(archive.as_deref());
        if located.is_default() && located.mirrors.as_ref().is_some_and(|mirrors| mirrors.is_dir()) {
            // pi may run on other machines only.
            scanned.retain(|dir| dir.is_dir());
        }
        for dir in &mut scanned {
            *dir = absolute(dir).unwrap_or_else(|_| dir.clone());
        }
        let (index, state) = (&cache, locate::state_dir());
        bug_log::note(format_args!("directories {scanned:?}, archive {archive:?}, index {index:?}, state {state:?}"));
        let corrected = (!replaced.is_empty()).then(|| replaced.join("; "));
        Ok(Self { config, located, corrected, home, cache, archive, scanned, demo, catalog: OnceLock::new() })
    }

    /// Returns the session directories and the parameters for reading them.
    pub(super) fn sources(&self) -> ScanSources<'_> {
        let limit = self.config.index_bytes();
        let cache = self.cache.as_deref().map(|dir| IndexPlace { dir, limit });
        ScanSources { dirs: &self.scanned, home: &self.home, cache }
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

    /// Returns the absolute path of a file relative to the current directory.
    pub(super) fn full_path(&self, file: &str) -> String {
        full_path(file, &Environment::current().cwd.to_string_lossy(), &self.home)
    }

    /// Reads the wanted sessions of a scan, without further copies. Returns the files that could not be read, too.
    pub(super) fn read_sessions(
        &self,
        mut scan: Scan<'_>,
        mut is_wanted: impl FnMut(&SessionFacts<'_>) -> bool,
    ) -> (Vec<SharedLazySession>, Vec<Unreadable>) {
        let mut sessions: Vec<SharedLazySession> = Vec::new();
        let unreadable = read(&mut scan, |batch| {
            sessions.extend(batch.into_iter().filter(|session| is_wanted(&session.facts())));
        });
        self.keep(scan);
        SessionCopies::remove_from(&mut sessions);
        (sessions, unreadable)
    }

    /// Reads all sessions.
    pub(super) fn read_catalog(&self) -> Catalog {
        let mut catalog = Catalog::read(self.sources(), now());
        self.report_index(catalog.index_error.take());
        catalog.set_remote_pis(self.remote_pis(), now());
        catalog
    }

    /// Returns `true` once all sessions were read.
    pub(super) fn has_catalog(&self) -> bool {
        self.catalog.get().is_some()
    }

    /// Returns all sessions, which are read once.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| self.read_catalog())
    }

    /// Returns sessions in the form needed for a query.
    pub(super) fn searched(&self, sessions: Vec<SharedLazySession>, query: &Query) -> Arc<[SearchedSession]> {
        SearchedSession::for_query(sessions, query, (now(), || self.remote_pis()))
    }

    /// Reports that the index could not be written.
    fn report_index(&self, error: Option<String>) {
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
    pub(super) fn query_scope(&self) -> QueryScope {
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

    /// Returns the changes with the journal, the configured trash and archive, and the user's lasting marks. Returns `None`
    /// if there is no home directory.
    pub(super) fn changes(&self) -> Option<Changes> {
        let config = &self.config;
        let trash = Trash { command: config.trash.clone(), limit: Duration::from_secs(config.trash_seconds) };
        let changes = Changes::new(locate::state_dir()?, trash).forks_inherit_tags(config.forks_inherit_tags);
        let changes = changes.with_archive(self.archive.clone());
        Some(match locate::data_dir() {
            Some(data) => changes.with_marks_in(&data),
            None => changes,
        })
    }

    /// Returns all machines.
    ///
    /// # Errors
    /// The list cannot be read.
    pub(super) fn machines(&self) -> Result<Vec<Machine>> {
        registry::machines(&self.config, locate::data_dir().as_deref()).context("cannot read the list of machines")
    }

    /// Calls a function with the context of synchronizations.
    ///
    /// # Errors
    /// There is no home directory, or `work` fails.
    pub(super) fn with_sync<T>(
        &self,
        changes: &Changes,
        work: impl FnOnce(&SyncContext<'_>) -> Result<T>,
    ) -> Result<T> {
        let (data, state) = machine_dirs()?;
        work(&SyncContext {
            config: &self.config.sync,
            data: &data,
            state: &state,
            changes,
            can_ask: output::can_ask(),
            now,
            is_wanted: &|| signals::pending_signal().is_none(),
        })
    }

    /// Returns the running pis of other machines as of the last synchronization.
    pub(super) fn remote_pis(&self) -> Vec<PiStatus> {
        let (Some(state_dir), Some(mirrors)) = (locate::state_dir(), &self.located.mirrors) else { return Vec::new() };
        // Without the list of machines, their sessions are listed without states.
        let machines = self.machines().unwrap_or_default().into_iter();
        let state = |name: &str| state::read(&state_dir, name).unwrap_or_default();
        machines.flat_map(|machine| state(&machine.name).pis_in(&machine.name, mirrors)).collect()
    }

    /// Returns the running pis that report their state, also those of other machines.
    pub(super) fn reported_pis(&self) -> Vec<PiStatus> {
        let mut reported = running::reported(locate::state_dir().as_deref());
        reported.extend(self.remote_pis());
        reported
    }
}

/// Returns the error for commands that cannot be used with `--demo`.
pub(super) fn refuse_demo() -> Result<()> {
    bail!("this command cannot be used with --demo; to try changes, run `pitree demo`")
}

/// Reads sessions in batches, and returns the files that could not be read.
pub(super) fn read(scan: &mut Scan<'_>, mut on_sessions: impl FnMut(Vec<SharedLazySession>)) -> Vec<Unreadable> {
    let mut unreadable = std::mem::take(&mut scan.found.unreadable);
    scan.read(|batch| {
        unreadable.extend(batch.unreadable);
        on_sessions(batch.sessions);
        true
    });
    unreadable
}

/// Returns the machine with a name.
///
/// # Errors
/// There is none.
pub(super) fn machine_named(machines: &[Machine], name: &str) -> Result<Machine> {
    machines.iter().find(|machine| machine.name == name).cloned().with_context(|| {
        let names: Vec<&str> = machines.iter().map(|machine| &*machine.name).collect();
        let known =
            if names.is_empty() { "run `pitree machine add`".into() } else { format!("known: {}", names.join(", ")) };
        format!("no machine {name:?}; {known}")
    })
}

/// The error without a home directory.
pub(super) const NO_MIRRORS: &str = "cannot locate the mirrors: no home directory; set HOME";

/// Returns the data and state directories.
///
/// # Errors
/// There is no home directory.
pub(super) fn machine_dirs() -> Result<(PathBuf, PathBuf)> {
    Ok((locate::data_dir().context(NO_MIRRORS)?, locate::state_dir().context(NO_MIRRORS)?))
}

/// Reads the configuration from `file`, or from its default location if it exists.
pub(super) fn read_config(file: Option<&Path>) -> Result<Config> {
    let Some(path) = file.map(Path::to_path_buf).or_else(locate::config_file) else { return Ok(Config::default()) };
    match locate::read_text(&path) {
        Ok(text) => Config::parse(&text, &path.display().to_string()).map_err(Error::msg),
        Err(error) if error.kind() == ErrorKind::NotFound && file.is_none() => Ok(Config::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read the configuration {}", path.display())),
    }
}

/// Makes a path absolute and removes `..`, without resolving symbolic links otherwise.
///
/// # Errors
/// There is no working directory.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("cannot resolve the path {}", path.display()))?;
    if !path.components().any(|part| part == Component::ParentDir) {
        return Ok(path);
    }
    let real = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => dunce::canonicalize(folder).map(|folder| folder.join(name)),
        _ => dunce::canonicalize(&path),
    };
    Ok(real.unwrap_or(path))
}
