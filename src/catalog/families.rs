//! Families of forks, threaded as in pi's session list (0.87.1).

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Range;

use crate::base::sort;
use crate::catalog::key::SessionKey;
use crate::session::digest::listed::LazySession;

/// The forests of families among sessions.
#[derive(Clone, Debug, Default)]
pub struct Families {
    /// Sessions without a parent among them. The family with the newest member comes first.
    roots: Vec<SessionKey>,
    /// The forks of all sessions, one session after another. Of each, the fork with the newest member comes first.
    forks: Vec<SessionKey>,
    /// Data of each session, indexed by key; empty for other sessions.
    members: Vec<FamilyMember>,
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct FamilyMember {
    parent: Option<SessionKey>,
    /// The latest time of the session and its forks, in milliseconds since 1970.
    latest: i64,
    /// The index of its first fork, and the one after its last.
    forks: (u32, u32),
    /// The number of descendants.
    below: u32,
}

impl FamilyMember {
    fn forks(&self) -> Range<usize> {
        self.forks.0 as usize..self.forks.1 as usize
    }
}

impl Families {
    /// Links sessions to their parents, which form no cycles. A session whose parent is not among them is a root.
    pub(super) fn new<'a>(
        sessions: &[SessionKey],
        parent: impl Fn(SessionKey) -> Option<SessionKey>,
        listed: impl Fn(SessionKey) -> &'a LazySession,
    ) -> Self {
        let size = sessions.iter().map(|key| key.index() + 1).max().unwrap_or_default();
        let mut is_member = vec![false; size];
        for key in sessions {
            is_member[key.index()] = true;
        }
        let mut families =
            Self { members: vec![FamilyMember::default(); size], len: sessions.len(), ..Self::default() };
        for &key in sessions {
            let parent = parent(key).filter(|parent| is_member.get(parent.index()).is_some_and(|is| *is));
            let member = &mut families.members[key.index()];
            (member.parent, member.latest) = (parent, listed(key).facts().order_time());
            match parent {
                Some(parent) => families.members[parent.index()].forks.1 += 1,
                None => families.roots.push(key),
            }
        }
        families.place_forks(sessions);
        for key in families.preorder().into_iter().rev() {
            let FamilyMember { parent: Some(parent), latest, below, .. } = families.members[key.index()] else {
                continue;
            };
            let parent = &mut families.members[parent.index()];
            parent.latest = parent.latest.max(latest);
            parent.below += 1 + below;
        }
        let Self { roots, forks, members, .. } = &mut families;
        let newest_first = |keys: &mut [SessionKey]| {
            if keys.len() > 1 {
                sort_newest_first(keys, |key| members[key.index()].latest, &listed);
            }
        };
        newest_first(roots);
        members.iter().for_each(|member| newest_first(&mut forks[member.forks()]));
        families
    }

    /// Puts the forks of each session one after another, given their numbers as ends.
    fn place_forks(&mut self, sessions: &[SessionKey]) {
        let mut next = 0;
        for member in &mut self.members {
            (member.forks, next) = ((next, next), next + member.forks.1);
        }
        self.forks = vec![SessionKey::new(0); next as usize];
        for &key in sessions {
            if let Some(parent) = self.members[key.index()].parent {
                let end = &mut self.members[parent.index()].forks.1;
                self.forks[*end as usize] = key;
                *end += 1;
            }
        }
    }

    /// Moves a session whose time changed, and its ancestors, to their new positions.
    pub(super) fn reorder<'a>(&mut self, key: SessionKey, listed: impl Fn(SessionKey) -> &'a LazySession) {
        let mut next = Some(key);
        while let Some(key) = next {
            let newest_fork = self.forks(key).first().map_or(i64::MIN, |&fork| self.latest(fork));
            let latest = listed(key).facts().order_time().max(newest_fork);
            if latest == self.latest(key) {
                return;
            }
            next = self.parent(key);
            let Self { roots, forks, members, .. } = self;
            let siblings = match next {
                Some(parent) => &mut forks[members[parent.index()].forks()],
                None => &mut roots[..],
            };
            let place = |members: &[FamilyMember], siblings: &[SessionKey]| {
                let timed = |key: SessionKey| (members[key.index()].latest, listed(key));
                siblings.partition_point(|&one| order([timed(one), timed(key)]).is_lt())
            };
            let from = place(members, siblings);
            members[key.index()].latest = latest;
            if siblings.get(from) == Some(&key) {
                siblings[from..].rotate_left(1);
                let end = siblings.len() - 1;
                let to = place(members, &siblings[..end]);
                siblings[to..].rotate_right(1);
            }
        }
    }

    /// Returns the families among a subset of the sessions.
    pub fn of<'a>(&self, sessions: &[SessionKey], listed: impl Fn(SessionKey) -> &'a LazySession) -> Self {
        Self::new(sessions, |key| self.parent(key), listed)
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the sessions without a parent among them. The family with the newest member comes first.
    pub fn roots(&self) -> &[SessionKey] {
        &self.roots
    }

    /// Returns the parent of a session.
    pub fn parent(&self, key: SessionKey) -> Option<SessionKey> {
        self.members.get(key.index())?.parent
    }

    /// Iterates over a session and its ancestors.
    pub fn line(&self, key: SessionKey) -> impl Iterator<Item = SessionKey> {
        std::iter::successors(Some(key), |&key| self.parent(key))
    }

    /// Returns the direct forks of a session; the one with the newest member comes first.
    pub fn forks(&self, key: SessionKey) -> &[SessionKey] {
        self.members.get(key.index()).map_or(&[], |member| &self.forks[member.forks()])
    }

    /// Returns the number of descendants of a session.
    pub fn below(&self, key: SessionKey) -> usize {
        self.members.get(key.index()).map_or(0, |member| member.below as usize)
    }

    /// Returns the latest time of a session and its forks, in milliseconds since 1970.
    pub(crate) fn latest(&self, key: SessionKey) -> i64 {
        self.members.get(key.index()).map_or(i64::MIN, |member| member.latest)
    }

    /// Returns a session and all its descendants.
    pub fn family(&self, key: SessionKey) -> Vec<SessionKey> {
        let mut family = vec![key];
        let mut next = 0;
        while let Some(&key) = family.get(next) {
            family.extend(self.forks(key));
            next += 1;
        }
        family
    }

    /// Returns all sessions, parents before forks.
    pub(crate) fn preorder(&self) -> Vec<SessionKey> {
        self.below_all(&self.roots)
    }

    /// Returns the members of all families that contain one of some sessions.
    pub(crate) fn whole(&self, sessions: &[SessionKey]) -> Vec<SessionKey> {
        let wanted: HashSet<SessionKey> = sessions.iter().filter_map(|&key| self.line(key).last()).collect();
        let roots = self.roots().iter().filter(|root| wanted.contains(root));
        roots.flat_map(|&root| self.family(root)).collect()
    }

    /// Returns these sessions and all their descendants, parents before forks.
    pub(crate) fn below_all(&self, roots: &[SessionKey]) -> Vec<SessionKey> {
        let mut order = Vec::new();
        let mut stack: Vec<SessionKey> = roots.iter().rev().copied().collect();
        while let Some(key) = stack.pop() {
            order.push(key);
            stack.extend(self.forks(key).iter().rev());
        }
        order
    }
}

/// Compares two sessions with their latest times: newest first. Copies have equal times, so the path breaks the tie and
/// their order is the same at each start.
pub(super) fn order([(latest_a, a), (latest_b, b)]: [(i64, &LazySession); 2]) -> Ordering {
    latest_b.cmp(&latest_a).then_with(|| a.facts().path().compare(b.facts().path()))
}

/// Sorts sessions by their latest times, newest first: see [`order`].
pub(super) fn sort_newest_first<'a>(
    keys: &mut [SessionKey],
    latest: impl Fn(SessionKey) -> i64,
    listed: impl Fn(SessionKey) -> &'a LazySession,
) {
    // The times are looked up once, because there can be 100,000 sessions.
    let timed = keys.iter().map(|&key| (latest(key), key.index() as u32)).collect();
    let sorted = newest_first(timed, |place| listed(SessionKey::new(place)));
    keys.iter_mut().zip(sorted).for_each(|(key, place)| *key = SessionKey::new(place));
}

/// Sorts sessions, given by their times and numbers, newest first: see [`order`].
pub(crate) fn newest_first<'a>(
    mut timed: Vec<(i64, u32)>,
    listed: impl Fn(usize) -> &'a LazySession,
) -> impl Iterator<Item = usize> {
    let path = |number: u32| listed(number as usize).facts().path();
    sort::newest_first(&mut timed, &|a, b| path(a).compare(path(b)));
    timed.into_iter().map(|(_, number)| number as usize)
}

/// Cuts each cycle of parents at its first session. pi's list drops such sessions.
pub(super) fn cut_cycles(parents: &mut [Option<SessionKey>]) {
    let mut seen = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        loop {
            if seen[at] == start {
                parents[at] = None;
                break;
            }
            if seen[at] != usize::MAX {
                break;
            }
            seen[at] = start;
            let Some(parent) = parents[at] else { break };
            at = parent.index();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::catalog::tests::catalog;
    use crate::session::digest::Digest;

    fn names(catalog: &Catalog) -> String {
        let order = catalog.families().preorder();
        order.iter().map(|&key| catalog[key].path.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_families_by_their_newest_member() {
        let catalog = catalog(&[
            ("old", None, 1),
            ("new", None, 5),
            ("fork", Some("old"), 3),
            ("newest", Some("fork"), 9),
            ("sister", Some("old"), 4),
            ("lost", Some("gone"), 2),
        ]);
        assert_eq!(names(&catalog), "old fork newest sister new lost");
        let old = catalog.families().roots()[0];
        assert_eq!((catalog.families().below(old), catalog.families().latest(old)), (3, 9));
        let without_fork: Vec<_> = catalog.keys().filter(|key| catalog[*key].path.to_str() != Some("fork")).collect();
        let some = catalog.families().of(&without_fork, |key| &catalog[key]);
        assert_eq!(some.roots().len(), 4, "what hangs at a hidden one stands for itself");
    }

    #[test]
    fn sessions_with_equal_times_are_sorted_by_path() {
        for read in [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]] {
            let mut catalog = catalog(&read.map(|name| (name, None, 1)));
            assert_eq!(names(&catalog), "a b c");
            catalog.add(vec![Digest { path: "ab".into(), modified: Some(1), ..Digest::default() }]);
            assert_eq!(names(&catalog), "a ab b c");
            let newest: Vec<_> = catalog.newest_first().iter().map(|&key| catalog[key].path.clone()).collect();
            assert_eq!(newest, ["a", "ab", "b", "c"].map(std::path::PathBuf::from));
        }
    }

    #[test]
    fn keeps_sessions_with_cyclic_parents() {
        let catalog = catalog(&[("a", Some("b"), 1), ("b", Some("a"), 2), ("c", Some("c"), 3)]);
        assert_eq!(names(&catalog), "c a b");
    }
}
