//! All sessions by keys that outlive their paths: their digests, families, and active pis (`live`). The data is pure.
//! Reading goes through `disk` and runs on workers: [`search`] matches queries with sessions, [`find`] searches one
//! session, [`grep`] searches all bytes, and [`search_cache`] loads searched texts. [`files`] lists touched files,
//! `cost_sharing` counts shared entries once, [`compare`] compares two branches, [`secrets`] finds secrets, [`space`] sums
//! bytes by kind, and `doctor` finds damage.

pub mod cleanup;
pub mod compare;
pub mod context_edits;
pub mod context_suggestions;
pub mod copies;
pub(crate) mod cost_sharing;
pub mod current_dir;
pub(crate) mod doctor;
pub(crate) mod entries;
pub mod export;
pub mod families;
pub(crate) mod file_history;
pub mod file_states;
pub mod files;
pub mod find;
pub mod grep;
pub(crate) mod hits;
pub mod key;
pub mod live;
pub(crate) mod lost_lines;
pub mod lost_work;
pub mod moves;
pub(crate) mod naming;
pub(crate) mod parents;
pub mod pick;
pub(crate) mod relations;
pub(crate) mod scrub;
pub mod search;
pub mod search_cache;
mod searched_session;
pub mod secrets;
mod session_results;
pub mod space;
pub mod stats;
pub mod suggestions;
pub(crate) mod user_data;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::scan::{ScanSources, Unreadable};
use crate::disk::{locate, parallel};
use crate::pi::running::{self, RunningPis};
use crate::pi::status::PiStatus;
use crate::session::digest::Digest;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::SharedLazySession;
use crate::session::last_seen::LastSeen;
use crate::session::links::{ById, IdHash};
use crate::session::marks::Marks;
use crate::session::worktrees::Worktrees;
use copies::SessionCopies;
use cost_sharing::CostSharing;
use families::{Families, cut_cycles};
pub use key::{EntryRef, ProjectKey, SessionKey};
use parents::{MissingParent, ParentIndex, group_orphans};

/// The progress of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanProgress {
    /// The number of files read.
    pub done: usize,
    /// The number of files to read; `None` while they are being listed.
    pub total: Option<usize>,
    /// `true` after the scan.
    pub finished: bool,
}

/// The last known state of a session.
#[derive(Debug)]
struct CatalogSlot {
    session: SharedLazySession,
    project: ProjectKey,
    /// `true` if its file exists.
    is_there: bool,
    /// `true` if it was read in the current scan.
    is_read: bool,
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Catalog {
    slots: Vec<CatalogSlot>,
    /// Sessions by a hash of their path: see [`Catalog::place_of`].
    by_path: ById<SessionKey>,
    /// The directories of all projects, including former ones.
    pub(crate) dirs: Vec<Arc<str>>,
    by_dir: HashMap<Arc<str>, ProjectKey>,
    families: Arc<Families>,
    /// `true` once there were mirrored sessions.
    has_mirrored: bool,
    /// `true` once there were sessions whose paths have symbolic links.
    has_linked: bool,
    /// `true` once there were subagent sessions.
    has_subagents: bool,
    /// The copies of sessions on other machines.
    copies: SessionCopies,
    shares: CostSharing,
    /// Sessions whose parent is unknown.
    orphans: BTreeSet<SessionKey>,
    /// Missing parents with several forks.
    missing_parents: ById<MissingParent>,
    /// Sessions whose parent has moved; it was found by id or by entries.
    pub(crate) moved: BTreeSet<SessionKey>,
    /// Files that pi's list omits.
    unlisted: relations::UnlistedFiles,
    /// Sessions by their paths with symbolic links resolved, where these differ.
    by_real_path: HashMap<OsString, SessionKey>,
    /// The running pis.
    pis: RunningPis,
    /// The running pis of other machines.
    remote_pis: Vec<PiStatus>,
    live: HashMap<SessionKey, live::SessionActivity>,
    /// Missing working directories.
    pub gone_dirs: HashSet<String>,
    /// Unreadable files and directories.
    pub unreadable: Vec<Unreadable>,
    /// The reason why the index could not be written.
    pub index_error: Option<String>,
    /// The progress of the scan.
    pub progress: ScanProgress,
    version: u64,
    marks: Arc<Marks>,
    worktrees: Arc<Worktrees>,
    last_seen: Arc<LastSeen>,
}

impl Catalog {
    /// Reads all sessions, and detects active pis. `now` is in milliseconds since 1970.
    pub fn read(sources: ScanSources<'_>, now: i64) -> Self {
        let mut scan = sources.scan();
        let mut unreadable = std::mem::take(&mut scan.found.unreadable);
        let mut all = Vec::new();
        scan.read(|batch| {
            unreadable.extend(batch.unreadable);
            all.extend(batch.sessions);
            true
        });
        let index_error = scan.keep().err().map(|error| error.to_string());
        Self { unreadable, index_error, ..Self::of(all, now) }
    }

    /// Creates a catalog of digests, and detects active pis. `now` is in milliseconds since 1970.
    pub(crate) fn of(sessions: Vec<SharedLazySession>, now: i64) -> Self {
        let mut catalog = Self::default();
        catalog.add(sessions);
        catalog.progress.finished = true;
        catalog.set_pis(running::running(locate::state_dir().as_deref()), now);
        catalog
    }

    /// Returns the session with the given path after resolving symbolic links.
    pub(crate) fn key_of_file(&self, real_path: &Path) -> Option<SessionKey> {
        let is_at_path = |key: &SessionKey| {
            let facts = self[*key].facts();
            facts.real_path().unwrap_or(facts.path()).is(real_path.as_os_str()) && !facts.is_link()
        };
        self.with_copies().find(is_at_path)
    }

    /// Returns a number that changes with every change of the sessions.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Starts a new scan. Known sessions stay until their files are found to be missing.
    pub(crate) fn begin_reading(&mut self) {
        self.gone_dirs.clear();
        self.unreadable.clear();
        self.slots.iter_mut().for_each(|slot| slot.is_read = false);
        self.progress = ScanProgress::default();
    }

    /// Adds or replaces sessions.
    pub fn add<S: Into<SharedLazySession>>(&mut self, sessions: Vec<S>) {
        if self.slots.is_empty() {
            self.slots.reserve_exact(sessions.len());
            self.by_path.reserve(sessions.len());
        }
        for session in sessions {
            self.put(session.into());
        }
        self.relink();
    }

    /// Updates single sessions, and removes those whose files are missing. A session without a new subagent owner keeps
    /// its owner. Returns the first new session. If sessions only grew, the cost depends on the number of changes.
    pub fn update(&mut self, read: Vec<Digest>, missing: &[PathBuf]) -> Option<SessionKey> {
        let (mut first_new, mut keeps_relations) = (None, true);
        for path in missing {
            if let Some(key) = self.key_of(path) {
                keeps_relations &= !std::mem::take(&mut self.slots[key.index()].is_there);
            }
        }
        if !self.unreadable.is_empty() {
            let is_read: HashSet<&PathBuf> = read.iter().map(|session| &session.path).collect();
            self.unreadable.retain(|one| !is_read.contains(&one.path));
        }
        let mut keys = Vec::with_capacity(read.len());
        for mut session in read {
            let known = self.key_of(&session.path).map(|key| &self.slots[key.index()]);
            session.owner = session.owner.or_else(|| known.and_then(|known| known.session.owner.clone()));
            let known = known.filter(|known| known.is_there);
            keeps_relations &= known.is_some_and(|known| has_same_relations(&known.session, &session));
            let is_new = known.is_none();
            let key = self.put(session.into());
            keeps_relations &= !self.copies.has(key);
            first_new = first_new.or(is_new.then_some(key));
            keys.push(key);
        }
        if keeps_relations {
            self.reorder(&keys);
        } else {
            self.relink();
        }
        first_new
    }

    /// Moves sessions that grew to their new positions in unchanged families.
    fn reorder(&mut self, keys: &[SessionKey]) {
        self.version += 1;
        let families = Arc::make_mut(&mut self.families);
        for &key in keys {
            families.reorder(key, |key| &self.slots[key.index()].session);
        }
        self.shares.grow(keys.iter().map(|key| (key.index(), &self.slots[key.index()].session)));
    }

    /// Marks sessions as uncertain. They are removed at the end of a scan unless it reads them again.
    pub(crate) fn mark_uncertain(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if let Some(key) = self.key_of(path) {
                self.slots[key.index()].is_read = false;
            }
        }
    }

    /// Ends a scan: removes the sessions whose files it did not find.
    pub(crate) fn end_reading(&mut self) {
        self.progress.finished = true;
        let is_gone = |slot: &&mut CatalogSlot| slot.is_there && !slot.is_read;
        let missing = self.slots.iter_mut().filter(is_gone).map(|slot| slot.is_there = false).count();
        if missing > 0 {
            self.relink();
        }
    }

    fn put(&mut self, session: SharedLazySession) -> SessionKey {
        let facts = session.facts();
        let project = self.project_in(facts.cwd());
        let place = self.place_of(facts.path());
        self.has_mirrored |= facts.is_mirrored();
        self.has_linked |= facts.real_path().is_some();
        self.has_subagents |= facts.is_subagent();
        let slot = CatalogSlot { session, project, is_there: true, is_read: true };
        match place {
            (_, Some(key)) => {
                self.slots[key.index()] = slot;
                key
            }
            (hash, None) => {
                let key = SessionKey::new(self.slots.len());
                self.by_path.insert(hash, key);
                self.slots.push(slot);
                key
            }
        }
    }

    /// Recomputes families and shared entries.
    fn relink(&mut self) {
        self.version += 1;
        let all: Vec<SessionKey> = self.with_copies().collect();
        self.copies = match self.has_mirrored {
            true => SessionCopies::new(&all, |key| &self.slots[key.index()].session),
            false => SessionCopies::default(),
        };
        let keys: Vec<SessionKey> = self.keys().collect();
        self.by_real_path.clear();
        if self.has_linked {
            let linked = all.iter().filter_map(|&key| Some((self[key].facts().real_path()?.join().into(), key)));
            self.by_real_path = linked.collect();
        }
        let mut parents = vec![None; self.slots.len()];
        let before = std::mem::take(&mut self.shares);
        let known = |path: Option<&Path>| path.and_then(|path| self.key_of_real(path));
        let listed = keys.iter().map(|&key| (key.index(), &self.slots[key.index()].session));
        let (shares, ParentIndex { found, moved, mut orphans }) = parallel::both(
            keys.len(),
            || CostSharing::new(listed, before),
            || ParentIndex::new(&all, |key| &self[key], |path| self.key_of_real(path)),
        );
        orphans.retain(|&key| !self.copies.is_hidden(key) && self.copies.base(key).is_none());
        for &key in &keys {
            let session = Some(&self[key]).filter(|session| self.has_subagents && session.facts().is_subagent());
            let owner = session.and_then(|session| session.owner.as_ref());
            let owner = owner.and_then(|owner| owner.path.as_deref());
            let parent = self.copies.base(key).or_else(|| found.get(&key).copied()).or_else(|| known(owner));
            parents[key.index()] = parent.map(|parent| self.copies.shown(parent)).filter(|&parent| parent != key);
        }
        let is_lost = |key: &&SessionKey| orphans.contains(key) && !self[**key].facts().is_subagent();
        let mut lost: Vec<SessionKey> = keys.iter().filter(is_lost).copied().collect();
        self.sort_oldest_first(&mut lost);
        let named = lost.into_iter().filter_map(|key| Some((key, self[key].parent_path.as_deref()?)));
        self.missing_parents = group_orphans(named);
        (self.orphans, self.moved) = (orphans, moved);
        cut_cycles(&mut parents);
        self.find_unlisted(&keys);
        self.families = Families::new(&keys, |key| parents[key.index()], |key| &self[key]).into();
        self.shares = shares;
    }

    /// Returns the key of a current or former session file.
    pub fn key_of(&self, path: &Path) -> Option<SessionKey> {
        self.place_of(JoinedPath::whole(path)).1
    }

    /// Returns the hash of a path, and the session with that path. Each path is stored once, in its session, because
    /// paths are long. Comparing their components would be slow.
    fn place_of(&self, path: JoinedPath<'_>) -> (IdHash, Option<SessionKey>) {
        let first = path.hash();
        let (mut hash, mut tries) = (first, 0);
        while let Some(&key) = self.by_path.get(&hash) {
            if self.slots[key.index()].session.facts().path().compare(path).is_eq() {
                return (hash, Some(key));
            }
            tries += 1;
            hash = first.with(IdHash::number(tries));
        }
        (hash, None)
    }

    /// Returns a session whose file exists.
    pub fn get(&self, key: SessionKey) -> Option<&SharedLazySession> {
        self.slots.get(key.index()).filter(|slot| slot.is_there).map(|slot| &slot.session)
    }

    /// Returns `true` if the file of a session exists.
    pub fn has(&self, key: SessionKey) -> bool {
        self.get(key).is_some()
    }

    /// Iterates over the listed sessions in the order in which they were first read. Only one copy of a session on several
    /// machines is listed.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = SessionKey> {
        self.with_copies().filter(|&key| !self.copies.is_hidden(key))
    }

    /// Iterates over the existing sessions and all their copies.
    pub(crate) fn with_copies(&self) -> impl DoubleEndedIterator<Item = SessionKey> {
        (0..self.slots.len()).filter(|&at| self.slots[at].is_there).map(SessionKey::new)
    }

    /// Returns the existing sessions, newest first.
    pub(crate) fn newest_first(&self) -> Vec<SessionKey> {
        let mut keys: Vec<SessionKey> = self.keys().collect();
        self.sort_newest_first(&mut keys);
        keys
    }

    /// Sorts sessions, newest first.
    pub(crate) fn sort_newest_first(&self, keys: &mut [SessionKey]) {
        families::sort_newest_first(keys, |key| self[key].facts().order_time(), |key| &self[key]);
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.families.len()
    }

    /// Returns `true` if there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the project of a session.
    pub fn project(&self, key: SessionKey) -> ProjectKey {
        self.slots[key.index()].project
    }

    /// Returns the directory of a project.
    pub fn dir(&self, project: ProjectKey) -> &Arc<str> {
        &self.dirs[project.index()]
    }

    /// Returns the families of all sessions.
    pub fn families(&self) -> &Arc<Families> {
        &self.families
    }

    /// Returns the totals of the entries that no older session has; zero for a missing session.
    pub fn own(&self, key: SessionKey) -> EntryTotals {
        self.get(key).map_or(EntryTotals::default(), |session| self.shares.own(key.index(), session))
    }

    /// Returns the sessions that share entries with a session, including itself, oldest first.
    pub(crate) fn sharing(&self, key: SessionKey) -> Vec<SessionKey> {
        let members: Vec<SessionKey> = self.shares.members(key.index()).map(SessionKey::new).collect();
        if members.is_empty() { vec![key] } else { members }
    }

    /// Describes the origin of the entries of a session if older sessions have some of them. Returns `None` if all are
    /// its own.
    pub fn copied_entries_text(&self, key: SessionKey) -> Option<&'static str> {
        let session = self.get(key)?;
        (self.own(key).entries < session.facts().all().entries).then(|| session.copied_entries_text())
    }

    /// Returns the totals of several sessions, counting shared entries once.
    pub fn sum<'a>(&self, sessions: impl IntoIterator<Item = &'a SessionKey>) -> EntryTotals {
        self.shares.sum(sessions.into_iter().filter_map(|&key| Some((key.index(), self.get(key)?))))
    }

    /// Sorts sessions, oldest first.
    pub(crate) fn sort_oldest_first(&self, keys: &mut [SessionKey]) {
        keys.sort_by(|&a, &b| self[a].facts().compare_age(&self[b].facts()));
    }

    /// Iterates over the forks of a session without subagent sessions.
    pub fn forks(&self, key: SessionKey) -> impl Iterator<Item = SessionKey> {
        self.families.forks(key).iter().copied().filter(|&fork| !self[fork].facts().is_subagent())
    }

    /// Returns `true` if the parent file of a session is missing, as far as the scan has progressed.
    pub(crate) fn is_parent_missing(&self, key: SessionKey) -> bool {
        self.progress.finished && self.orphans.contains(&key)
    }

    /// Returns the existing session with the given path after resolving symbolic links.
    pub(crate) fn key_of_real(&self, real_path: &Path) -> Option<SessionKey> {
        let direct =
            self.key_of(real_path).filter(|&key| self.get(key).is_some_and(|one| one.facts().real_path().is_none()));
        direct.or_else(|| self.by_real_path.get(real_path.as_os_str()).copied())
    }
}

/// Returns `true` if a session that was read again has the same relations to others.
fn has_same_relations(before: &Digest, now: &Digest) -> bool {
    before.real_path == now.real_path
        && before.parent_path == now.parent_path
        && before.owner == now.owner
        && (&before.header.id, &before.header.parent_id) == (&now.header.id, &now.header.parent_id)
        && before.header.created == now.header.created
        && before.roots == now.roots
}

/// Returns the last known state of a session, also if its file is missing.
impl std::ops::Index<SessionKey> for Catalog {
    type Output = SharedLazySession;

    fn index(&self, key: SessionKey) -> &SharedLazySession {
        &self.slots[key.index()].session
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a catalog of sessions with these names, parents and times.
    pub(crate) fn catalog(sessions: &[(&str, Option<&str>, i64)]) -> Catalog {
        let session = |&(name, parent, modified): &(&str, Option<&str>, i64)| Digest {
            path: name.into(),
            parent_path: parent.map(Into::into),
            modified: Some(modified),
            mtime: modified,
            ..Digest::default()
        };
        let mut catalog = Catalog::default();
        catalog.add(sessions.iter().map(session).collect());
        catalog
    }

    /// Describes all relations, for comparison.
    fn relations(catalog: &Catalog) -> String {
        let keys: Vec<SessionKey> = catalog.keys().collect();
        let families = catalog.families();
        let of = |key: &SessionKey| {
            let (parent, forks) = (families.parent(*key), families.forks(*key));
            (parent, forks.to_vec(), families.below(*key), families.latest(*key), catalog.own(*key))
        };
        let each: Vec<_> = keys.iter().map(of).collect();
        format!("{:?} {each:?} {:?} {:?}", families.roots(), catalog.orphans, catalog.sum(&keys))
    }

    /// Creates a session with some entries of a family; odd numbers belong to one fork only.
    fn member(name: usize, parent: Option<usize>, modified: i64, entries: usize) -> Digest {
        let root = parent.unwrap_or(name);
        let id = |at: usize| if at == 0 { root } else { 1000 * if at.is_multiple_of(2) { root } else { name } + at };
        let mut digest = Digest {
            path: name.to_string().into(),
            parent_path: parent.map(|parent| parent.to_string().into()),
            modified: Some(modified),
            ..Digest::default()
        };
        digest.header.created = Some(name as i64);
        let mut all = crate::session::digest::details::EntryKeys::default();
        (0..entries).for_each(|at| all.push(crate::session::links::IdHash::number(id(at) as u64), 1.0, 1.0, false));
        digest.all = all.finish(false, &[]).0;
        digest.roots = all.ids.first().copied().into_iter().collect();
        digest.details_mut().entries = all;
        digest
    }

    proptest::proptest! {
        #[test]
        fn updates_equal_a_complete_rebuild(
            parents in proptest::collection::vec(proptest::option::of(0usize..8), 1..8),
            steps in proptest::collection::vec((0usize..8, -20i64..20, 0usize..6, 0..9), 0..30),
        ) {
            let parents: Vec<Option<usize>> =
                parents.iter().enumerate().map(|(at, parent)| parent.filter(|parent| *parent < at)).collect();
            let read = |at: usize, modified, entries| member(at, parents[at], modified, entries);
            let mut catalog = Catalog::default();
            catalog.add((0..parents.len()).map(|at| read(at, 0, 1)).collect());
            for (at, modified, entries, what) in steps {
                let at = at % parents.len();
                match what {
                    0 => drop(catalog.update(Vec::new(), &[at.to_string().into()])),
                    _ => drop(catalog.update(vec![read(at, modified, entries), read(0, 3, entries)], &[])),
                }
                let now = relations(&catalog);
                catalog.relink();
                proptest::prop_assert_eq!(now, relations(&catalog));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_with_equal_hashes_are_different_sessions() {
        use std::os::unix::ffi::OsStrExt;
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const BACK: u64 = 0xf1de_83e1_9937_733d;
        let with = |hash: u64, word: u64| {
            let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(STEP);
            mixed ^ (mixed >> 32)
        };
        // Two strings with the same hash.
        let [one, other, rest] = [b"/a/one-s", b"/b/other", b".jsonl.."].map(|&word| u64::from_le_bytes(word));
        let hash = with(with(0, one), rest);
        let odd = (hash ^ (hash >> 32)).wrapping_mul(BACK) ^ with(0, other).rotate_left(23);
        let paths = [[one, rest], [other, odd]].map(|words| words.map(u64::to_le_bytes).concat());
        assert_eq!(IdHash::new(&paths[0]), IdHash::new(&paths[1]));
        let paths = paths.map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)));
        let read = || paths.clone().map(|path| Digest { path, ..Digest::default() });
        let mut catalog = Catalog::default();
        catalog.add(read().into());
        catalog.add(read().into());
        assert_eq!(catalog.len(), 2);
        assert_eq!(paths.map(|path| catalog.key_of(&path)), [0, 1].map(|place| Some(SessionKey::new(place))));
        assert_eq!(catalog.key_of(Path::new("/c")), None);
    }

    #[test]
    fn restored_sessions_keep_their_key() {
        let mut catalog = catalog(&[("a", None, 1), ("b", Some("a"), 2), ("c", None, 3)]);
        let key = |catalog: &Catalog, name: &str| catalog.key_of(Path::new(name)).unwrap();
        let b = key(&catalog, "b");
        assert_eq!(catalog.families().parent(b), Some(key(&catalog, "a")));
        assert_eq!(catalog.update(Vec::new(), &["b".into(), "a".into()]), None);
        assert_eq!((catalog.len(), catalog.has(b), catalog.keys().count()), (1, false, 1));
        let again = Digest { path: "b".into(), parent_path: Some("a".into()), ..Digest::default() };
        catalog.progress.finished = true;
        assert_eq!(catalog.update(vec![again], &[]), Some(b));
        assert!(catalog.has(b) && catalog.is_parent_missing(b));
        assert_eq!(catalog.keys().collect::<Vec<_>>(), [b, key(&catalog, "c")]);
        catalog.begin_reading();
        catalog.add(["b", "c"].map(|path| Digest { path: path.into(), modified: Some(3), ..Digest::default() }).into());
        catalog.mark_uncertain(&["b".into(), "missing".into()]);
        catalog.end_reading();
        assert_eq!(catalog.newest_first(), [key(&catalog, "c")]);
    }
}
