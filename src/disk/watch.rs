//! Watches session directories for changes: with the file watcher of the system, or by polling. Idle while nothing
//! happens.
//!
//! Without a watcher, for example at the limit of the system, the directories that changed last are checked every few
//! seconds, and everything every few minutes. On network file systems, a watcher reports only changes made on this
//! machine, so everything is checked every few minutes too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::disk::files;
use crate::system::os;

/// The time for which changes are collected before they are reported.
const BATCH: Duration = Duration::from_millis(100);

/// The interval without a file watcher between checks of the directories that changed last.
const POLL: Duration = Duration::from_secs(3);

/// The interval between checks of everything, without a file watcher or on a network file system.
const REVIEW: Duration = Duration::from_secs(180);

/// Too many open files in the system.
const ENFILE: i32 = 23;

/// Too many open files in the process, or too many watchers.
const EMFILE: i32 = 24;

/// No space for another watch.
const ENOSPC: i32 = 28;

/// Paths that may have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchEvents {
    /// Changed files and directories.
    pub paths: BTreeSet<PathBuf>,
    /// `true` if the directories that changed last may have changed again.
    pub is_recent: bool,
    /// `true` if any other path may have changed too.
    pub is_all: bool,
}

/// A message of a file watcher.
type WatcherMessage = notify::Result<Event>;

/// Creates a watcher that sends messages.
pub type MakeWatcher = fn(Sender<WatcherMessage>) -> notify::Result<Box<dyn Watcher>>;

/// Creates the file watcher of the system.
///
/// # Errors
/// The system has no file watcher, or its limit is reached.
pub fn of_system(sender: Sender<WatcherMessage>) -> notify::Result<Box<dyn Watcher>> {
    let on_message = move |message: WatcherMessage| {
        // Ignores open events, because pitree itself opens files.
        if !matches!(&message, Ok(event) if event.kind.is_access()) {
            let _ = sender.send(message); // the receiver is gone
        }
    };
    // Follows symbolic links where sessions can be behind them, but not in cycles.
    let config = Config::default().with_follow_symlinks(false);
    Ok(Box::new(RecommendedWatcher::new(on_message, config)?))
}

/// A watch on directories, including those that do not exist yet.
pub struct Watch {
    dirs: Vec<WatchedDir>,
    /// Symbolic links in them to directories elsewhere.
    links: Vec<WatchedDir>,
    /// The mode for the directories; only recursive watches follow links.
    mode: RecursiveMode,
    make: MakeWatcher,
    watcher: Option<Box<dyn Watcher>>,
    messages: Receiver<WatcherMessage>,
    /// The reason why changes may be found late.
    problem: Option<String>,
    /// The time of the next check of everything; `None` if the watcher reports all changes.
    review: Option<Instant>,
    is_remote: fn(&Path) -> bool,
}

/// A watched directory: its path as named, as an absolute path, and with symbolic links resolved as in events.
struct WatchedDir {
    named: PathBuf,
    absolute: PathBuf,
    canonical: PathBuf,
}

impl WatchedDir {
    fn new(named: &Path) -> Self {
        let absolute = std::path::absolute(named).unwrap_or_else(|_| named.into());
        let real = dunce::canonicalize(named).unwrap_or_else(|_| absolute.clone());
        Self { named: named.into(), absolute, canonical: real }
    }

    /// Converts a path of an event to a path below the directory as named.
    fn own(&self, path: &Path) -> Option<PathBuf> {
        Some(self.named.join(path.strip_prefix(&self.canonical).ok()?))
    }
}

impl Watch {
    /// Watches directories and all below, with watchers created by `make`.
    pub fn new(dirs: &[PathBuf], make: MakeWatcher) -> Self {
        Self::with((dirs, RecursiveMode::Recursive), make, os::is_remote)
    }

    /// Watches the files in a directory.
    pub(crate) fn files_in(dir: &Path) -> Self {
        Self::with((&[dir.to_path_buf()], RecursiveMode::NonRecursive), of_system, os::is_remote)
    }

    fn with((dirs, mode): (&[PathBuf], RecursiveMode), make: MakeWatcher, is_remote: fn(&Path) -> bool) -> Self {
        let mut watch = Self {
            dirs: dirs.iter().map(|dir| WatchedDir::new(dir)).collect(),
            links: Vec::new(),
            mode,
            make,
            watcher: None,
            messages: mpsc::channel().1,
            problem: None,
            review: None,
            is_remote,
        };
        watch.begin();
        watch
    }

    /// Returns the reason why changes may be found late, for the user.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Recreates all watches.
    fn begin(&mut self) {
        let (sender, messages) = mpsc::channel();
        (self.watcher, self.messages) = (None, messages);
        self.dirs = self.dirs.iter().map(|dir| WatchedDir::new(&dir.named)).collect();
        // Two watches on one directory would report events twice.
        let is_inside = |link: &WatchedDir| self.dirs.iter().any(|dir| link.canonical.starts_with(&dir.canonical));
        let is_recursive = self.mode == RecursiveMode::Recursive;
        let links = self.dirs.iter().filter(|_| is_recursive).flat_map(|dir| links_in(&dir.named));
        let links = links.map(|link| WatchedDir::new(&link));
        self.links = links.filter(|link| !is_inside(link)).collect();
        match (self.make)(sender).and_then(|watcher| self.arm(watcher)) {
            Ok(watcher) => {
                self.watcher = Some(watcher);
                if self.dirs.iter().any(|dir| (self.is_remote)(&dir.absolute)) {
                    self.problem =
                        Some("network file system: changes on other machines appear within 3 minutes".into());
                    self.review = self.review.or_else(|| Some(Instant::now() + REVIEW));
                }
            }
            Err(error) => self.give_up(&error),
        }
    }

    fn arm(&self, mut watcher: Box<dyn Watcher>) -> notify::Result<Box<dyn Watcher>> {
        for dir in &self.dirs {
            // The directory can be created while its parent is being watched.
            while !dir.absolute.is_dir() {
                let Some(above) = dir.absolute.ancestors().find(|above| above.is_dir()) else { break };
                watcher.watch(above, RecursiveMode::NonRecursive)?;
                if dir.absolute.ancestors().find(|above| above.is_dir()) == Some(above) {
                    break;
                }
            }
            if dir.absolute.is_dir() {
                watcher.watch(&dir.canonical, self.mode)?;
            }
        }
        for link in &self.links {
            watcher.watch(&link.canonical, RecursiveMode::Recursive)?;
        }
        Ok(watcher)
    }

    /// Starts polling. Dropping the watcher frees its watches for other programs.
    fn give_up(&mut self, error: &notify::Error) {
        self.watcher = None;
        self.review = Some(Instant::now() + REVIEW);
        let code = match &error.kind {
            ErrorKind::MaxFilesWatch => Some(ENOSPC),
            ErrorKind::Io(error) => error.raw_os_error(),
            _ => None,
        };
        let reason = match code {
            Some(ENOSPC) => format!("no file watches left{}", os::RAISE_WATCHES),
            Some(ENFILE | EMFILE) => format!("no file watcher left{}", os::RAISE_WATCHERS),
            _ => format!("cannot watch for changes ({error})"),
        };
        self.problem = Some(format!("{reason}; polling instead"));
    }

    /// Returns `true` if everything is due to be checked, and plans the next check.
    fn is_review_due(&mut self) -> bool {
        let is_due = self.review.is_some_and(|at| at <= Instant::now());
        if is_due {
            self.review = Some(Instant::now() + REVIEW);
        }
        is_due
    }

    /// Waits until something may have changed, or `limit` has elapsed.
    pub fn wait(&mut self, limit: Option<Duration>) -> WatchEvents {
        let mut seen = WatchEvents::default();
        if self.watcher.is_none() {
            let wait = limit.unwrap_or(POLL).min(POLL);
            std::thread::sleep(wait);
            (seen.is_recent, seen.is_all) = (true, self.is_review_due());
            return seen;
        }
        let mut end = limit.map(|limit| Instant::now() + limit).into_iter().chain(self.review).min();
        let mut is_first = true;
        loop {
            let message = match end {
                None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => self.messages.recv_timeout(end.saturating_duration_since(Instant::now())),
            };
            match message {
                Ok(message) => {
                    if !self.take(message, &mut seen) {
                        return seen;
                    }
                    if seen != WatchEvents::default() && std::mem::take(&mut is_first) {
                        end = Some(Instant::now() + BATCH);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    seen.is_all |= self.is_review_due();
                    return seen;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.give_up(&notify::Error::generic("the file watcher stopped"));
                    return WatchEvents { is_all: true, ..seen };
                }
            }
        }
    }

    /// Records an event. Returns `false` if the watches must be recreated.
    fn take(&mut self, message: WatcherMessage, seen: &mut WatchEvents) -> bool {
        let event = match message {
            Ok(event) => event,
            Err(error) => {
                seen.is_all = true;
                self.give_up(&error);
                return false;
            }
        };
        seen.is_all |= event.need_rescan();
        let is_move = matches!(
            event.kind,
            EventKind::Any | EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
        );
        for path in &event.paths {
            // A watched directory, or the target of a link, was created or removed.
            let is_dir = |dir: &WatchedDir| dir.absolute.starts_with(path) || dir.canonical.starts_with(path);
            let is_link = || path.is_symlink() && path.is_dir();
            if is_move && (self.dirs.iter().any(is_dir) || is_link()) {
                self.begin();
                seen.is_all = true;
                return false;
            }
            seen.paths.extend(self.dirs.iter().chain(&self.links).find_map(|dir| dir.own(path)));
        }
        true
    }
}

/// Returns the symbolic links to directories in a directory.
fn links_in(dir: &Path) -> Vec<PathBuf> {
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    files::entries(dir).filter(is_link).map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use notify::NullWatcher;

    use super::*;

    /// Far longer than anything takes.
    const EVENT_TIMEOUT: Duration = Duration::from_secs(20);

    /// Waits for an event on a path.
    fn tells(watch: &mut Watch, path: &Path) {
        let end = Instant::now() + EVENT_TIMEOUT;
        loop {
            let seen = watch.wait(Some(EVENT_TIMEOUT));
            if seen.paths.contains(path) || seen.is_all {
                return;
            }
            assert!(Instant::now() < end, "no event for {}: {seen:?}", path.display());
        }
    }

    #[test]
    fn tells_what_changes_below_by_the_names_that_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("--p--")).unwrap();
        let file = root.join("--p--/s.jsonl");
        let mut watch = Watch::new(std::slice::from_ref(&root), of_system);
        assert_eq!(watch.problem(), None);
        fs::write(&file, "a").unwrap();
        tells(&mut watch, &file);
        let folder = root.join("--q--");
        fs::rename(root.join("--p--"), &folder).unwrap();
        tells(&mut watch, &folder);
        fs::create_dir_all(folder.join("s/h/run-0")).unwrap();
        tells(&mut watch, &folder.join("s"));
        fs::remove_file(folder.join("s.jsonl")).unwrap();
        tells(&mut watch, &folder.join("s.jsonl"));
        // Reading is not a change.
        fs::read_dir(&folder).unwrap().for_each(drop);
        while watch.wait(Some(BATCH)) != WatchEvents::default() {}
        fs::read_dir(&folder).unwrap().for_each(drop);
        assert_eq!(watch.wait(Some(BATCH)), WatchEvents::default());
    }

    #[test]
    fn a_watch_on_files_ignores_subdirectories() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("below")).unwrap();
        let mut watch = Watch::files_in(dir.path());
        fs::write(dir.path().join("below/file"), "a").unwrap();
        fs::write(dir.path().join("file"), "a").unwrap();
        let seen = watch.wait(Some(EVENT_TIMEOUT));
        assert_eq!(seen.paths, BTreeSet::from([dir.path().join("file")]));
    }

    #[cfg(unix)]
    #[test]
    fn tells_what_changes_behind_links() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        let elsewhere = dir.path().join("elsewhere");
        for made in [&real, &elsewhere] {
            fs::create_dir(made).unwrap();
        }
        symlink(&real, dir.path().join("root")).unwrap();
        let root = dir.path().join("root");
        let mut watch = Watch::new(std::slice::from_ref(&root), of_system);
        symlink(&elsewhere, root.join("link")).unwrap();
        tells(&mut watch, &root.join("link"));
        fs::write(elsewhere.join("s.jsonl"), "a").unwrap();
        tells(&mut watch, &root.join("link/s.jsonl"));
        fs::write(real.join("t.jsonl"), "a").unwrap();
        tells(&mut watch, &root.join("t.jsonl"));
    }

    #[test]
    fn a_directory_that_is_not_there_yet_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a/b/root");
        let mut watch = Watch::new(std::slice::from_ref(&root), of_system);
        fs::write(dir.path().join("other"), "").unwrap();
        assert_eq!(watch.wait(Some(BATCH)), WatchEvents::default(), "no watched path changed");
        for _ in 0..2 {
            fs::create_dir_all(&root).unwrap();
            tells(&mut watch, &root);
            let file = root.join("s.jsonl");
            // More events follow when parent directories are created.
            while watch.wait(Some(BATCH)) != WatchEvents::default() {}
            fs::write(&file, "a").unwrap();
            tells(&mut watch, &file);
            fs::remove_dir_all(dir.path().join("a")).unwrap();
            tells(&mut watch, &root);
            while watch.wait(Some(BATCH)) != WatchEvents::default() {}
        }
    }

    /// A watcher without a watch left, a system without a watcher left, and a watcher that reaches its limit later.
    const AT_LIMITS: [MakeWatcher; 3] = [
        |_| Err(notify::Error::new(ErrorKind::MaxFilesWatch)),
        |_| Err(notify::Error::io(std::io::Error::from_raw_os_error(EMFILE))),
        |sender| {
            sender.send(Err(notify::Error::new(ErrorKind::MaxFilesWatch))).unwrap();
            Ok(Box::new(NullWatcher))
        },
    ];

    #[test]
    fn a_limit_is_named_and_recent_directories_are_polled() {
        let dir = tempfile::tempdir().unwrap();
        for (make, limit) in AT_LIMITS.into_iter().zip(["watches", "watcher", "watches"]) {
            let mut watch = Watch::with((&[dir.path().into()], RecursiveMode::Recursive), make, |_| false);
            if watch.problem().is_none() {
                assert!(watch.wait(Some(Duration::ZERO)).is_all, "changes may have been missed");
            }
            let problem = watch.problem().unwrap();
            assert!(problem.starts_with(&format!("no file {limit} left")), "{problem}");
            assert!(problem.ends_with("; polling instead"), "{problem}");
            let recent = WatchEvents { is_recent: true, ..WatchEvents::default() };
            assert_eq!(watch.wait(Some(Duration::ZERO)), recent);
            watch.review = Some(Instant::now());
            let all = WatchEvents { is_all: true, ..recent.clone() };
            assert_eq!(watch.wait(Some(Duration::ZERO)), all);
            assert_eq!(watch.wait(Some(Duration::ZERO)), recent, "all are checked again after a few minutes");
        }
    }

    #[test]
    fn network_file_systems_are_watched_and_reviewed() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = Watch::with((&[dir.path().into()], RecursiveMode::Recursive), of_system, |_| true);
        assert!(watch.problem().unwrap().starts_with("network file system"));
        let file = dir.path().join("s.jsonl");
        fs::write(&file, "a").unwrap();
        tells(&mut watch, &file);
        while watch.wait(Some(BATCH)) != WatchEvents::default() {}
        watch.review = Some(Instant::now() + BATCH);
        assert_eq!(watch.wait(None), WatchEvents { is_all: true, ..WatchEvents::default() });
        assert!(watch.review.is_some_and(|at| at > Instant::now() + REVIEW / 2));
        let local = Watch::with((&[dir.path().into()], RecursiveMode::Recursive), of_system, |_| false);
        assert_eq!((local.problem(), local.review), (None, None), "an idle watch never wakes up");
    }
}
