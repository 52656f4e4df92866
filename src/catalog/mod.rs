//! All sessions together, by a key that outlives their paths: what a list shows of each, who was forked from whom, and in
//! which a pi is likely at work (`live`). The data is pure; what reads goes through `disk` and runs on a lane: [`search`] holds
//! sessions against a query, [`find`] looks through one session, [`grep`] through all bytes, [`search_text`] reads what is
//! searched. [`files`] sums what tools did to files, `shares` what sessions used: each entry once. [`compare`] holds two ways
//! against each other.

pub mod compare;
pub(crate) mod cost_sharing;
pub mod current_dir;
pub mod families;
pub mod files;
pub mod find;
pub mod grep;
mod hits;
pub mod key;
pub mod live;
mod load;
mod membership;
pub mod missing_parents;
pub(crate) mod parents;
mod relations;
pub mod search;
mod search_cache;
pub mod search_text;
pub mod shared_entries;
pub mod suggestions;
mod text_arena;
mod unlisted;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::scan::Unreadable;
use crate::pi::running::RunningPis;
use crate::session::digest::entries::EntryTotals;
use crate::session::digest::{Digest, SharedDigest};
use crate::session::links::{ById, IdHash};
use cost_sharing::CostSharing;
use families::{Families, cut_cycles};
pub use key::{EntryRef, ProjectKey, SessionKey};
use missing_parents::MissingParents;
use parents::ParentIndex;

/// How far the reading of all sessions is.
#[derive(Clone, Debug, Default)]
pub struct ScanProgress {
    /// Files read.
    pub done: usize,
    /// Files to read; unknown while they are looked for.
    pub total: Option<usize>,
    /// Whether all is read.
    pub finished: bool,
}

/// A session as it was read last.
#[derive(Debug)]
struct CatalogSlot {
    session: SharedDigest,
    project: ProjectKey,
    /// Whether its file is there.
    is_there: bool,
    /// Whether it was read since the last reading of all began.
    is_read: bool,
}

/// What is known of all sessions.
#[derive(Debug, Default)]
pub struct Catalog {
    slots: Vec<CatalogSlot>,
    /// By a hash of the path, the first one that no other path had: see [`Catalog::place_of`].
    by_path: ById<SessionKey>,
    dirs: Vec<Arc<str>>,
    by_dir: HashMap<Arc<str>, ProjectKey>,
    families: Families,
    shares: CostSharing,
    /// Sessions whose parent is not among all.
    orphans: BTreeSet<SessionKey>,
    /// The parents of those that keep forks together.
    ghosts: MissingParents,
    /// Sessions whose parent is at another path than they say, found by its id or entries.
    moved: BTreeSet<SessionKey>,
    /// Files that pi's list omits.
    unlisted: unlisted::UnlistedFiles,
    /// By their paths with symbolic links resolved, where these differ.
    by_real_path: HashMap<OsString, SessionKey>,
    /// The pis that run.
    pis: RunningPis,
    live: HashMap<SessionKey, live::SessionActivity>,
    /// Working directories that are gone.
    pub gone_dirs: HashSet<String>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
    /// How far reading is.
    pub progress: ScanProgress,
    version: u64,
}

impl Catalog {
    /// Counts the changes of what is known of sessions: the same number, the same sessions.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Begins to read all sessions anew; those that are known stay until it is known that they are gone.
    pub(crate) fn begin_reading(&mut self) {
        self.gone_dirs.clear();
        self.unreadable.clear();
        self.slots.iter_mut().for_each(|slot| slot.is_read = false);
        self.progress = ScanProgress::default();
    }

    /// Takes sessions that were read. A file that is there already is replaced.
    pub fn add<S: Into<SharedDigest>>(&mut self, sessions: Vec<S>) {
        for session in sessions {
            self.put(session.into());
        }
        self.tie();
    }

    /// Takes sessions that were read again one by one, and forgets those whose files are gone. Whose sub-agent's they
    /// are is known from before, where it is not said. Gives the first one that was not there. What only grew costs
    /// about what changed.
    pub fn update(&mut self, read: Vec<Digest>, gone: &[PathBuf]) -> Option<SessionKey> {
        let (mut first_new, mut is_tied) = (None, true);
        for path in gone {
            if let Some(key) = self.key_of(path) {
                is_tied &= !std::mem::take(&mut self.slots[key.place()].is_there);
            }
        }
        if !self.unreadable.is_empty() {
            let is_read: HashSet<&PathBuf> = read.iter().map(|session| &session.path).collect();
            self.unreadable.retain(|one| !is_read.contains(&one.path));
        }
        let mut keys = Vec::with_capacity(read.len());
        for mut session in read {
            let known = self.key_of(&session.path).map(|key| &self.slots[key.place()]);
            session.owner = session.owner.or_else(|| known.and_then(|known| known.session.owner.clone()));
            let known = known.filter(|known| known.is_there);
            is_tied &= known.is_some_and(|known| hangs_as(&known.session, &session));
            let is_new = known.is_none();
            let key = self.put(session.into());
            first_new = first_new.or(is_new.then_some(key));
            keys.push(key);
        }
        if is_tied {
            self.reorder(&keys);
        } else {
            self.tie();
        }
        first_new
    }

    /// Puts sessions that grew where they belong now, among families that stay as they are.
    fn reorder(&mut self, keys: &[SessionKey]) {
        self.version += 1;
        for &key in keys {
            self.families.reorder(key, |key| &self.slots[key.place()].session);
        }
        self.shares.grow(keys.iter().map(|key| (key.place(), &*self.slots[key.place()].session)));
    }

    /// Some sessions are not as they were known: when all files are read, those that were not read again are forgotten.
    pub(crate) fn doubt(&mut self, paths: &[PathBuf]) {
        for path in paths {
            if let Some(key) = self.key_of(path) {
                self.slots[key.place()].is_read = false;
            }
        }
    }

    /// All files were read: forgets the sessions whose file was not among them.
    pub(crate) fn end_reading(&mut self) {
        self.progress.finished = true;
        let is_gone = |slot: &&mut CatalogSlot| slot.is_there && !slot.is_read;
        let gone = self.slots.iter_mut().filter(is_gone).map(|slot| slot.is_there = false).count();
        if gone > 0 {
            self.tie();
        }
    }

    fn put(&mut self, session: SharedDigest) -> SessionKey {
        let project = match self.by_dir.get(session.header.cwd.as_str()) {
            Some(known) => *known,
            None => {
                let (key, dir) = (ProjectKey::new(self.dirs.len()), Arc::<str>::from(session.header.cwd.as_str()));
                self.dirs.push(dir.clone());
                self.by_dir.insert(dir, key);
                key
            }
        };
        let slot = CatalogSlot { session, project, is_there: true, is_read: true };
        match self.place_of(&slot.session.path) {
            (_, Some(key)) => {
                self.slots[key.place()] = slot;
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

    /// Finds out anew who was forked from whom, and what they share.
    fn tie(&mut self) {
        self.version += 1;
        let keys: Vec<SessionKey> = self.keys().collect();
        let linked = keys.iter().filter_map(|&key| Some((self[key].real_path.clone()?.into(), key)));
        self.by_real_path = linked.collect();
        let mut parents = vec![None; self.slots.len()];
        let known = |path: Option<&Path>| path.and_then(|path| self.key_of_real(path));
        let ParentIndex { found, moved, orphans } =
            ParentIndex::new(&keys, |key| &self[key], |path| self.key_of_real(path));
        for &key in &keys {
            let owner = self[key].owner.as_ref().and_then(|owner| owner.path.as_deref());
            let parent = found.get(&key).copied().or_else(|| known(owner));
            parents[key.place()] = parent.filter(|&parent| parent != key);
        }
        let is_lost = |key: &&SessionKey| orphans.contains(key) && self[**key].owner.is_none();
        let mut lost: Vec<SessionKey> = keys.iter().filter(is_lost).copied().collect();
        self.sort_oldest_first(&mut lost);
        let named = lost.into_iter().filter_map(|key| Some((key, self[key].parent_path.as_deref()?)));
        self.ghosts = MissingParents::new(named);
        (self.orphans, self.moved) = (orphans, moved);
        cut_cycles(&mut parents);
        self.find_unlisted(&keys);
        self.families = Families::new(&keys, |key| parents[key.place()], |key| &self[key]);
        let before = std::mem::take(&mut self.shares);
        self.shares =
            CostSharing::new(keys.iter().map(|&key| (key.place(), &*self.slots[key.place()].session)), before);
    }

    /// The key of a file that is, or was, among the sessions.
    pub fn key_of(&self, path: &Path) -> Option<SessionKey> {
        self.place_of(path).1
    }

    /// What a path is found by, and the session that is found: paths are long, and each is kept once, by its session. To
    /// compare them by their parts would take long as well.
    fn place_of(&self, path: &Path) -> (IdHash, Option<SessionKey>) {
        let path = path.as_os_str();
        let first = IdHash::new(path.as_encoded_bytes());
        let (mut hash, mut tries) = (first, 0);
        while let Some(&key) = self.by_path.get(&hash) {
            if self.slots[key.place()].session.path.as_os_str() == path {
                return (hash, Some(key));
            }
            tries += 1;
            hash = first.with(IdHash::number(tries));
        }
        (hash, None)
    }

    /// A session whose file is there.
    pub fn get(&self, key: SessionKey) -> Option<&SharedDigest> {
        self.slots.get(key.place()).filter(|slot| slot.is_there).map(|slot| &slot.session)
    }

    /// Whether a session's file is there.
    pub fn has(&self, key: SessionKey) -> bool {
        self.get(key).is_some()
    }

    /// The sessions whose files are there, in the order in which they were read first.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = SessionKey> {
        (0..self.slots.len()).filter(|&at| self.slots[at].is_there).map(SessionKey::new)
    }

    /// The sessions whose files are there, the newest first.
    pub(crate) fn newest_first(&self) -> Vec<SessionKey> {
        let mut keys: Vec<SessionKey> = self.keys().collect();
        self.sort_newest_first(&mut keys);
        keys
    }

    /// Puts the newest sessions first.
    pub(crate) fn sort_newest_first(&self, keys: &mut [SessionKey]) {
        keys.sort_by(|&a, &b| {
            let (a, b) = (&self[a], &self[b]);
            b.order_time().cmp(&a.order_time()).then_with(|| a.path.as_os_str().cmp(b.path.as_os_str()))
        });
    }

    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.families.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The project of a session.
    pub fn project(&self, key: SessionKey) -> ProjectKey {
        self.slots[key.place()].project
    }

    /// The working directories of all projects, those that had sessions before included.
    pub(crate) fn project_dirs(&self) -> impl Iterator<Item = &Arc<str>> {
        self.dirs.iter()
    }

    /// The working directory of a project.
    pub fn dir(&self, project: ProjectKey) -> &Arc<str> {
        &self.dirs[project.place()]
    }

    /// What the sessions have in common that share entries with this one.
    pub(crate) fn kin(&self, key: SessionKey) -> Option<u32> {
        self.shares.kin(key.place())
    }

    /// Who was forked from whom, among all.
    pub fn families(&self) -> &Families {
        &self.families
    }

    /// What a session has that no older one has. What is gone has nothing.
    pub fn own(&self, key: SessionKey) -> EntryTotals {
        self.get(key).map_or(EntryTotals::default(), |session| self.shares.own(key.place(), session))
    }

    /// What a session's entries stand with if older sessions have some of them, in words; `None` if all are its own.
    pub fn came_with(&self, key: SessionKey) -> Option<&'static str> {
        let session = self.get(key)?;
        (self.own(key).entries < session.all.entries).then(|| session.came_with())
    }

    /// What sessions have together: what is in several of them counts once.
    pub fn sum<'a>(&self, sessions: impl IntoIterator<Item = &'a SessionKey>) -> EntryTotals {
        self.shares.sum(sessions.into_iter().filter_map(|&key| Some((key.place(), &**self.get(key)?))))
    }

    /// Puts the oldest sessions first.
    pub(crate) fn sort_oldest_first(&self, keys: &mut [SessionKey]) {
        keys.sort_by_key(|&key| self[key].age());
    }

    /// The forks of a session, without the sessions of its sub-agents.
    pub fn forks(&self, key: SessionKey) -> impl Iterator<Item = SessionKey> {
        self.families.forks(key).iter().copied().filter(|&fork| self[fork].owner.is_none())
    }

    /// Whether the file that a session was forked from is not there, as far as that is known by now.
    pub(crate) fn is_parent_missing(&self, key: SessionKey) -> bool {
        self.progress.finished && self.orphans.contains(&key)
    }

    /// Whether the file that a session was forked from is somewhere else than it says.
    pub(crate) fn is_parent_moved(&self, key: SessionKey) -> bool {
        self.moved.contains(&key)
    }

    /// Whether a file is among the sessions, by its path with symbolic links resolved.
    pub(crate) fn has_file(&self, real_path: &Path) -> bool {
        self.key_of_real(real_path).is_some()
    }

    /// The session whose file is there at a path with symbolic links resolved.
    fn key_of_real(&self, real_path: &Path) -> Option<SessionKey> {
        let direct = self.key_of(real_path).filter(|&key| self.get(key).is_some_and(|one| one.real_path.is_none()));
        direct.or_else(|| self.by_real_path.get(real_path.as_os_str()).copied())
    }
}

/// Whether a session that was read again hangs together with others as it did.
fn hangs_as(before: &Digest, now: &Digest) -> bool {
    before.real_path == now.real_path
        && before.parent_path == now.parent_path
        && before.owner == now.owner
        && (&before.header.id, &before.header.parent_id) == (&now.header.id, &now.header.parent_id)
        && before.age() == now.age()
        && before.roots == now.roots
}

/// A session as it was read last, be its file there or not.
impl std::ops::Index<SessionKey> for Catalog {
    type Output = SharedDigest;

    fn index(&self, key: SessionKey) -> &SharedDigest {
        &self.slots[key.place()].session
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A catalog of sessions of these names, parents and times.
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

    /// All that is tied, to be compared.
    fn tied(catalog: &Catalog) -> String {
        let keys: Vec<SessionKey> = catalog.keys().collect();
        let families = catalog.families();
        let of = |key: &SessionKey| {
            let (parent, forks) = (families.parent(*key), families.forks(*key));
            (parent, forks.to_vec(), families.below(*key), families.latest(*key), catalog.own(*key))
        };
        let each: Vec<_> = keys.iter().map(of).collect();
        format!("{:?} {each:?} {:?} {:?}", families.roots(), catalog.orphans, catalog.sum(&keys))
    }

    /// A session that has some entries of a family's; those with odd numbers are of one fork alone.
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
        let mut all = crate::session::digest::entries::EntryKeys::default();
        (0..entries).for_each(|at| all.push(crate::session::links::IdHash::number(id(at) as u64), 1.0, 1.0, false));
        digest.all = all.finish(false);
        digest.roots = all.ids.first().copied().into_iter().collect();
        digest.details_mut().entries = all;
        digest
    }

    proptest::proptest! {
        #[test]
        fn what_is_brought_up_to_date_is_as_if_it_were_read_anew(
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
                let now = tied(&catalog);
                catalog.tie();
                proptest::prop_assert_eq!(now, tied(&catalog));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_of_one_hash_are_two_sessions() {
        use std::os::unix::ffi::OsStrExt;
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        const BACK: u64 = 0xf1de_83e1_9937_733d;
        let with = |hash: u64, word: u64| {
            let mixed = (hash.rotate_left(23) ^ word).wrapping_mul(STEP);
            mixed ^ (mixed >> 32)
        };
        // What follows another first word so that both have the same hash.
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
    fn a_session_that_is_gone_and_comes_back_has_the_key_that_it_had() {
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
        catalog.doubt(&["b".into(), "gone".into()]);
        catalog.end_reading();
        assert_eq!(catalog.newest_first(), [key(&catalog, "c")]);
    }
}
