//! Copies of sessions on several machines: sessions with the same ID and a common root, at least one of them in a mirror.
//! Lists, sums and searches contain one of them; the others are reachable from it. A copy with entries of its own is
//! listed too, as a fork.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::base::sort;
use crate::catalog::key::SessionKey;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::links::{ById, IdHash};

/// A copy of a listed session, which is not listed itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCopy {
    /// The session.
    pub key: SessionKey,
    /// `true` if the listed session has more entries.
    pub is_older: bool,
}

/// The copies of sessions; empty without mirrored sessions.
#[derive(Debug, Default)]
pub(crate) struct SessionCopies {
    /// The copies of listed sessions.
    copies: HashMap<SessionKey, Vec<SessionCopy>>,
    /// The listed session of each copy.
    shown: HashMap<SessionKey, SessionKey>,
    /// Copies with entries of their own, and the sessions of which they become forks.
    bases: HashMap<SessionKey, SessionKey>,
    /// All sessions whose ID another one has, too, at least one of them mirrored.
    members: HashSet<SessionKey>,
    /// The machines with mirrored sessions.
    machines: BTreeSet<String>,
}

impl SessionCopies {
    /// Finds the copies among some sessions. Loads details only of copies that differ.
    pub(super) fn new<'a>(keys: &[SessionKey], listed: impl Fn(SessionKey) -> &'a LazySession) -> Self {
        let mut copies = Self::default();
        for machine in keys.iter().filter_map(|&key| listed(key).facts().machine()) {
            if !copies.machines.contains(machine) {
                copies.machines.insert(machine.into());
            }
        }
        if copies.machines.is_empty() {
            return copies;
        }
        let with_id = keys.iter().map(|&key| (listed(key).facts().id(), key)).filter(|(id, _)| !id.is_empty());
        // Sorting takes less memory than a map.
        let mut by_id: Vec<(u64, SessionKey)> =
            with_id.map(|(id, key)| (IdHash::new(id.as_bytes()).value(), key)).collect();
        by_id.sort_unstable();
        for group in by_id.chunk_by(|(one, _), (other, _)| one == other).filter(|group| group.len() > 1) {
            let mut group: Vec<SessionKey> = group.iter().map(|(_, key)| *key).collect();
            if group.iter().any(|&key| listed(key).facts().is_mirrored()) {
                copies.add(&mut group, &listed);
            }
        }
        copies
    }

    /// Finds the copies among sessions whose keys are their indexes.
    pub(crate) fn among(sessions: &[SharedLazySession]) -> Self {
        let keys: Vec<SessionKey> = (0..sessions.len()).map(SessionKey::new).collect();
        Self::new(&keys, |key| &sessions[key.index()])
    }

    /// Removes the copies that are not listed from some sessions.
    pub(crate) fn remove_from(sessions: &mut Vec<SharedLazySession>) {
        let copies = Self::among(sessions);
        let mut keys = (0..).map(SessionKey::new);
        sessions.retain(|_| keys.next().is_none_or(|key| !copies.is_hidden(key)));
    }

    /// Returns the number of sessions that are not listed.
    pub(crate) fn hidden(&self) -> usize {
        self.shown.len()
    }

    /// Adds sessions with the same ID. The longest copy is listed; of equal ones, that of this machine.
    fn add<'a>(&mut self, group: &mut [SessionKey], listed: &impl Fn(SessionKey) -> &'a LazySession) {
        let rank = |key: &SessionKey| {
            let facts = listed(*key).facts();
            let time = Reverse(facts.order_time());
            (Reverse(facts.all().entries), facts.is_mirrored(), facts.is_link(), time, facts.machine(), *key)
        };
        self.members.extend(group.iter());
        sort::by_key(group, rank);
        let mut shown: Vec<ShownCopy<'a>> = Vec::new();
        for &mut key in group {
            let session = listed(key);
            let replaces = |one: &mut ShownCopy<'a>| one.can_replace(session) && one.contains(session);
            match shown.iter_mut().find_map(|one| replaces(one).then_some(one)) {
                Some(one) => {
                    let is_older = session.facts().all().entries < one.session.facts().all().entries;
                    self.copies.entry(one.key).or_default().push(SessionCopy { key, is_older });
                    self.shown.insert(key, one.key);
                }
                None => shown.push(ShownCopy { key, session, entries: None }),
            }
        }
        sort::by(&mut shown, |one, other| one.session.facts().compare_age(&other.session.facts()));
        for (at, one) in shown.iter().enumerate() {
            let base = shown[..at].iter().find(|base| base.can_replace(one.session) && base.is_related(one.session));
            self.bases.extend(base.map(|base| (one.key, base.key)));
        }
    }

    /// Returns `true` for a copy that is not listed.
    pub(crate) fn is_hidden(&self, key: SessionKey) -> bool {
        self.shown.contains_key(&key)
    }

    /// Returns the machines with mirrored sessions in alphabetical order.
    pub(super) fn all_machines(&self) -> impl Iterator<Item = &str> {
        self.machines.iter().map(String::as_str)
    }

    /// Returns the other machines with a listed session, that of its file first.
    pub(crate) fn machines<'a>(
        &self,
        key: SessionKey,
        listed: impl Fn(SessionKey) -> &'a LazySession,
    ) -> impl Iterator<Item = &'a str> {
        let keys = std::iter::once(key).chain(self.of(key).iter().map(|copy| copy.key));
        keys.filter_map(move |key| listed(key).facts().machine())
    }

    /// Returns the listed session of a copy; other sessions are returned themselves.
    pub(super) fn shown(&self, key: SessionKey) -> SessionKey {
        self.shown.get(&key).copied().unwrap_or(key)
    }

    /// Returns the copies of a listed session that are not listed.
    pub(crate) fn of(&self, key: SessionKey) -> &[SessionCopy] {
        self.copies.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Returns the session of which a copy with entries of its own becomes a fork.
    pub(crate) fn base(&self, key: SessionKey) -> Option<SessionKey> {
        self.bases.get(&key).copied()
    }

    /// Returns `true` for a session whose ID another one has, too, at least one of them mirrored.
    pub(super) fn has(&self, key: SessionKey) -> bool {
        self.members.contains(&key)
    }
}

/// A listed session of several with the same ID.
struct ShownCopy<'a> {
    key: SessionKey,
    session: &'a LazySession,
    /// The keys of its entries, once they are needed.
    entries: Option<ById<()>>,
}

impl ShownCopy<'_> {
    /// Returns `true` if one of both is mirrored. Sessions of this machine never replace each other.
    fn can_replace(&self, other: &LazySession) -> bool {
        self.session.facts().is_mirrored() || other.facts().is_mirrored()
    }

    fn is_related(&self, other: &LazySession) -> bool {
        self.session.facts().roots().meets(other.facts().roots())
    }

    /// Returns `true` if this session has all entries of another one.
    fn contains(&mut self, other: &LazySession) -> bool {
        let (facts, others) = (self.session.facts(), other.facts());
        if has_same_content(&facts, &others) {
            return true;
        }
        // Sessions without entries have no roots.
        if others.all().entries > 0 && !self.is_related(other) {
            return false;
        }
        let session = self.session;
        let ids = || session.details().entries.ids.iter().map(|&id| (id, ())).collect();
        let entries = self.entries.get_or_insert_with(ids);
        other.details().entries.ids.iter().all(|id| entries.contains_key(id))
    }
}

/// Returns `true` if two sessions with the same ID have the same content, as far as lists show.
fn has_same_content(one: &SessionFacts<'_>, other: &SessionFacts<'_>) -> bool {
    let has_same_roots = one.roots().iter().eq(other.roots().iter());
    (one.bytes(), one.modified()) == (other.bytes(), other.modified()) && one.all() == other.all() && has_same_roots
}

/// Returns the chips of machines, as in `@box @gpu`.
pub fn machine_chips<'a>(machines: impl Iterator<Item = &'a str>) -> String {
    machines.map(|machine| format!("@{machine}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalog::Catalog;
    use crate::session::digest::Digest;

    /// Creates a session with this ID and these entries, on a machine or here.
    fn session(machine: &str, id: &str, entries: &[u64], modified: i64) -> Digest {
        let dir = if machine.is_empty() { "/s".into() } else { format!("/data/machine-mirrors/{machine}/%2Fs") };
        let mut digest = Digest { path: format!("{dir}/--a--/{id}.jsonl").into(), ..Digest::default() };
        digest.header.id = id.into();
        digest.modified = Some(modified);
        digest.bytes = 100 * entries.len() as u64;
        digest.all.entries = entries.len();
        let ids: Vec<IdHash> = entries.iter().map(|&entry| IdHash::number(entry)).collect();
        digest.roots = ids.iter().take(1).copied().collect();
        digest.details_mut().entries.ids = ids;
        digest
    }

    fn catalog(sessions: Vec<Digest>) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.add(sessions);
        catalog
    }

    /// Describes each listed session: its machine, its copies, and the machine of its parent.
    fn shown(catalog: &Catalog) -> Vec<String> {
        let name = |key: SessionKey| catalog[key].facts().machine().unwrap_or("here").to_owned();
        let one = |key: SessionKey| {
            let copies = catalog.copies(key).iter();
            let copies = copies.map(|copy| format!(" +{}{}", name(copy.key), if copy.is_older { "<" } else { "" }));
            let parent = catalog.families().parent(key).map(|parent| format!(" of {}", name(parent)));
            format!("{}{}{}", name(key), copies.collect::<String>(), parent.unwrap_or_default())
        };
        catalog.families().preorder().into_iter().map(one).collect()
    }

    #[test]
    fn equal_copies_are_listed_once() {
        let all = ["gpu", "", "box"].map(|machine| session(machine, "a", &[1, 2], 5));
        let catalog = catalog(all.into());
        assert_eq!(shown(&catalog), ["here +box +gpu"]);
        let key = catalog.keys().next().unwrap();
        assert_eq!(catalog.machines_of(key).collect::<Vec<_>>(), ["box", "gpu"]);
        assert_eq!(catalog.machine_names(), ["here", "box", "gpu"]);
        assert_eq!((catalog.len(), catalog.sum(&[key]).entries, catalog.searched_sessions().len()), (1, 2, 1));
        let hidden = catalog.key_of(Path::new("/data/machine-mirrors/gpu/%2Fs/--a--/a.jsonl")).unwrap();
        assert!(catalog.has(hidden) && !catalog.keys().any(|key| key == hidden));
    }

    #[test]
    fn a_longer_copy_replaces_an_older_one() {
        let here = session("", "a", &[1, 2], 5);
        let mut catalog = catalog(vec![here, session("box", "a", &[1, 2, 3], 6), session("gpu", "a", &[1], 4)]);
        assert_eq!(shown(&catalog), ["box +here< +gpu<"]);
        // The session grows here, too.
        catalog.update(vec![session("", "a", &[1, 2, 3], 6)], &[]);
        assert_eq!(shown(&catalog), ["here +box +gpu<"]);
        catalog.update(vec![session("", "a", &[1, 2, 3, 4], 7)], &[]);
        assert_eq!(shown(&catalog), ["here +box< +gpu<"]);
        catalog.update(Vec::new(), &["/s/--a--/a.jsonl".into()]);
        assert_eq!(shown(&catalog), ["box +gpu<"]);
    }

    #[test]
    fn differing_copies_become_forks() {
        let here = session("", "a", &[1, 2, 3], 5);
        let catalog = catalog(vec![session("box", "a", &[1, 2, 4, 5], 6), here, session("gpu", "a", &[1, 2], 4)]);
        assert_eq!(shown(&catalog), ["here", "box +gpu< of here"]);
        let keys: Vec<SessionKey> = catalog.keys().collect();
        assert_eq!(catalog.sum(&keys).entries, 5, "shared entries are counted once");
        assert_eq!(keys.iter().map(|&key| catalog.own(key).entries).sum::<usize>(), 5);
    }

    #[test]
    fn other_sessions_are_no_copies() {
        let all = vec![
            session("", "a", &[1, 2], 5),
            session("box", "a", &[8, 9], 5),
            session("box", "b", &[1, 2], 5),
            session("", "", &[1], 5),
            session("box", "", &[1], 5),
        ];
        assert_eq!(catalog(all).len(), 5);
        let [mut one, other] = [session("", "a", &[1, 2], 5), session("", "a", &[1, 2], 5)];
        one.path = "/s/--b--/a.jsonl".into();
        let catalog = catalog(vec![one, other, session("box", "a", &[1, 2], 5)]);
        assert_eq!((catalog.len(), catalog.keys().filter(|&key| catalog.copies(key).is_empty()).count()), (2, 1));
    }

    #[test]
    fn parents_are_listed_copies() {
        let fork = |machine: &str| {
            let mut fork = session(machine, "f", &[1, 2, 7], 9);
            let dir = session(machine, "a", &[], 0).path;
            fork.header.parent_session = Some("/s/--a--/a.jsonl".into());
            fork.parent_path = Some(dir);
            fork
        };
        let parents = ["", "box"].map(|machine| session(machine, "a", &[1, 2], 5));
        let catalog = catalog([parents.to_vec(), vec![fork("box")]].concat());
        assert_eq!(shown(&catalog), ["here +box", "box of here"]);
    }
}
