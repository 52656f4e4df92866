//! Parents of forks: found by path, found elsewhere, or missing. Missing parents group their forks.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::catalog::key::SessionKey;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::links::{ById, IdHash};

/// The parents of forks.
#[derive(Debug, Default)]
pub(super) struct ParentIndex {
    /// The parents found.
    pub(super) found: HashMap<SessionKey, SessionKey>,
    /// The forks whose parents have other paths than the forks name.
    pub(super) moved: BTreeSet<SessionKey>,
    /// The forks whose parents are missing.
    pub(super) orphans: BTreeSet<SessionKey>,
}

/// The parent of a fork, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForkParent {
    /// The session has the path that the fork names.
    Present(usize),
    /// The session has another path.
    Moved(usize),
    /// No session is the parent.
    Missing,
}

/// Finds the parents of all forks among some sessions, by the index of the fork.
pub(crate) fn parents(sessions: &[&SharedLazySession]) -> HashMap<usize, ForkParent> {
    let keys: Vec<SessionKey> = (0..sessions.len()).map(SessionKey::new).collect();
    let forks: Vec<SessionKey> = keys.iter().copied().filter(|key| sessions[key.index()].facts().is_fork()).collect();
    if forks.is_empty() {
        return HashMap::new();
    }
    let real_path = |key: SessionKey| {
        let facts = sessions[key.index()].facts();
        facts.real_path().unwrap_or(facts.path())
    };
    let mut by_path: ById<SessionKey> = ById::default();
    for &key in &keys {
        let known = by_path.entry(real_path(key).hash()).or_insert(key);
        // A file itself precedes a link to it.
        if sessions[key.index()].facts().real_path().is_none() {
            *known = key;
        }
    }
    let known = |path: &Path| {
        let key = *by_path.get(&IdHash::new(path.as_os_str().as_encoded_bytes()))?;
        real_path(key).is(path.as_os_str()).then_some(key)
    };
    let parents = ParentIndex::new(&keys, |key| sessions[key.index()], known);
    let parent = |key| match parents.found.get(key) {
        Some(parent) if parents.moved.contains(key) => ForkParent::Moved(parent.index()),
        Some(parent) => ForkParent::Present(parent.index()),
        None => ForkParent::Missing,
    };
    forks.iter().map(|key| (key.index(), parent(key))).collect()
}

impl ParentIndex {
    /// Finds parents by path, by the id in the header, and by inherited entries. `known` returns the session with a
    /// real path.
    pub(super) fn new<'a>(
        keys: &[SessionKey],
        listed: impl Fn(SessionKey) -> &'a LazySession,
        known: impl Fn(&Path) -> Option<SessionKey>,
    ) -> Self {
        let by_id = || keys.iter().map(|&key| (listed(key).facts().id(), key)).collect::<HashMap<_, _>>();
        let by_id = LazyCell::new(by_id);
        let (mut parents, mut lost_forks) = (Self::default(), Vec::new());
        for &key in keys {
            let session = listed(key);
            let facts = session.facts();
            if !facts.is_fork() && !session.is_loaded() {
                continue;
            }
            // The usual case needs no digest: a parent on this machine that is not reached through a link.
            let direct = facts.parent_session().filter(|_| !facts.is_mirrored()).map(Path::new).and_then(&known);
            let is_direct = |&parent: &SessionKey| {
                let parent = listed(parent).facts();
                !parent.is_link() && parent.real_path().is_none()
            };
            if let Some(parent) = direct.filter(|_| !session.is_loaded()).filter(is_direct) {
                parents.found.insert(key, parent);
                continue;
            }
            let id = session.header.parent_id.as_deref();
            let named = session.parent_path.as_deref();
            if named.is_none() && id.is_none() {
                continue;
            }
            // Version 4 refers to a session by id, and a moved file has the id in its name.
            let parent = named.and_then(&known).or_else(|| by_id.get(id?).copied());
            if let Some(parent) = parent {
                parents.found.insert(key, parent);
                continue;
            }
            let other = named.and_then(id_in_name).and_then(|id| by_id.get(id).copied());
            match other.filter(|&other| other != key && listed(other).facts().roots().meets(session.facts().roots())) {
                Some(other) => parents.add_moved(key, other),
                None => {
                    lost_forks.extend(named.map(|_| key));
                    parents.orphans.insert(key);
                }
            }
        }
        for (fork, parent) in by_entries(lost_forks, keys, listed) {
            parents.orphans.remove(&fork);
            parents.add_moved(fork, parent);
        }
        parents
    }

    fn add_moved(&mut self, fork: SessionKey, parent: SessionKey) {
        self.found.insert(fork, parent);
        self.moved.insert(fork);
    }
}

/// Finds parents by the last inherited entry of each fork. Of the sessions with that entry, the parent is the youngest
/// one older than the fork. A fork of the same file is a sibling. Only loads details of sessions with common roots.
fn by_entries<'a>(
    mut forks: Vec<SessionKey>,
    keys: &[SessionKey],
    listed: impl Fn(SessionKey) -> &'a LazySession,
) -> Vec<(SessionKey, SessionKey)> {
    let roots_of = |key: SessionKey| listed(key).facts().roots().iter();
    let mut roots: ById<u32> = forks.iter().flat_map(|&fork| roots_of(fork)).map(|root| (root, 0)).collect();
    for root in keys.iter().filter(|_| !forks.is_empty()).flat_map(|&key| roots_of(key)) {
        roots.entry(root).and_modify(|sessions| *sessions += 1);
    }
    let has_relative = |key: &SessionKey| roots_of(*key).any(|root| roots.get(&root).is_some_and(|&n| n > 1));
    forks.retain(has_relative);
    let last = |fork: SessionKey| listed(fork).details().entries.last_inherited();
    let mut holders: ById<Vec<SessionKey>> = forks.iter().filter_map(|&fork| Some((last(fork)?, Vec::new()))).collect();
    let relatives = keys.iter().filter(|key| !forks.is_empty() && has_relative(key));
    for &key in relatives {
        for id in &listed(key).details().entries.ids {
            holders.entry(*id).and_modify(|holders| holders.push(key));
        }
    }
    let parent = |fork: SessionKey| {
        let session = listed(fork);
        let may_be = |other: &SessionKey| {
            let other = listed(*other);
            other.parent_path != session.parent_path && other.header.created < session.header.created
        };
        let holders = holders.get(&last(fork)?)?.iter().copied().filter(may_be);
        // A moved file usually keeps its name.
        let has_name =
            |other: &LazySession| other.path.file_name() == session.parent_path.as_deref().and_then(Path::file_name);
        // The youngest; of its copies, the one that counts as the oldest.
        let compare = |a: &LazySession, b: &LazySession| {
            let by_name = has_name(a).cmp(&has_name(b));
            let by_time = || a.header.created.cmp(&b.header.created);
            by_name.then_with(by_time).then_with(|| b.facts().compare_age(&a.facts()))
        };
        Some((fork, holders.max_by(|&a, &b| compare(listed(a), listed(b)))?))
    };
    forks.into_iter().filter_map(parent).collect()
}

/// The minimum number of forks for a group. A single fork shows by itself that its parent is missing.
const MIN_FORKS: usize = 2;

/// A missing session, identified by its former path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MissingParentKey(pub(super) IdHash);

/// A missing session.
#[derive(Clone, Debug)]
pub struct MissingParent {
    /// The former path of its file.
    pub path: PathBuf,
    /// The sessions forked from it, oldest first.
    pub forks: Vec<SessionKey>,
}

impl MissingParentKey {
    /// Creates the key of a path.
    pub(super) fn new(path: &Path) -> Self {
        Self(IdHash::new(path.as_os_str().as_encoded_bytes()))
    }
}

/// Groups forks by their missing parents. `orphans` are sorted, oldest first.
pub(super) fn group_orphans<'a>(orphans: impl Iterator<Item = (SessionKey, &'a Path)>) -> ById<MissingParent> {
    let mut parents: ById<MissingParent> = ById::default();
    for (key, path) in orphans {
        let parent = parents.entry(MissingParentKey::new(path).0);
        parent.or_insert_with(|| MissingParent { path: path.into(), forks: Vec::new() }).forks.push(key);
    }
    parents.retain(|_, parent| parent.forks.len() >= MIN_FORKS);
    parents
}

/// Returns the id in the name of a session file of pi: `<time>_<id>.jsonl` (1.6.0).
pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    Some(path.file_stem()?.to_str()?.split_once('_')?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::Digest;
    use crate::session::links::IdHash;

    /// Creates a session with some entries, of which it inherited the first `inherited` from its parent at the given
    /// time.
    fn session(path: &str, parent: Option<&str>, created: i64, (entries, inherited): (&[u64], u32)) -> Digest {
        let mut digest = Digest { path: path.into(), parent_path: parent.map(Into::into), ..Digest::default() };
        (digest.header.created, digest.header.parent_session) = (Some(created), parent.map(Into::into));
        let ids = entries.iter().map(|&entry| IdHash::number(entry)).collect::<Vec<_>>();
        digest.roots = ids[..1].into();
        (digest.details_mut().entries.ids, digest.details_mut().entries.inherited) = (ids, inherited);
        digest
    }

    #[test]
    fn finds_renamed_parents_by_inherited_entries() {
        let sessions: Vec<SharedLazySession> = [
            session("/grandparent", None, 1, (&[1, 2, 9], 0)),
            session("/renamed", Some("/grandparent"), 2, (&[1, 2, 3, 4], 2)),
            session("/fork", Some("/custom"), 3, (&[1, 2, 3, 5], 3)),
            session("/sibling", Some("/custom"), 4, (&[1, 2, 3, 6], 3)),
            session("/lost", Some("/gone"), 5, (&[1, 2, 8, 7], 3)),
            session("/unrelated", Some("/gone too"), 6, (&[11, 12], 1)),
            session("/data/machine-mirrors/box/%2F/renamed", Some("/grandparent"), 2, (&[1, 2, 3, 4], 2)),
        ]
        .map(Into::into)
        .into();
        let parents = parents(&sessions.iter().collect::<Vec<_>>());
        let at = |path: &str| sessions.iter().position(|one| one.path == Path::new(path)).unwrap();
        let parent = |path: &str| parents.get(&at(path)).copied();
        assert_eq!(parent("/grandparent"), None);
        assert_eq!(parent("/renamed"), Some(ForkParent::Present(at("/grandparent"))));
        assert_eq!(parent("/fork"), Some(ForkParent::Moved(at("/renamed"))));
        assert_eq!(parent("/sibling"), Some(ForkParent::Moved(at("/renamed"))));
        assert_eq!(parent("/lost"), Some(ForkParent::Missing), "the grandparent lacks an inherited entry");
        assert_eq!(parent("/unrelated"), Some(ForkParent::Missing));
    }
}
