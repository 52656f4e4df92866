//! Sharing of entries and costs: forks and copies contain entries of other sessions. Sums count each entry once, and it
//! belongs to the oldest session that contains it. Also finds the other sessions that contain an entry.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use crate::base::numbers::count;
use crate::base::sort;
use crate::catalog::key::SessionKey;
use crate::disk::parallel;
use crate::session::digest::Digest;
use crate::session::digest::details::{Details, EntryTotals};
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::links::{ById, EntryIndex, IdHash};

/// The entries shared by sessions, which are identified by their numbers.
#[derive(Debug, Default)]
pub(crate) struct CostSharing {
    groups: Vec<SharingGroup>,
    /// The groups of sessions, and their indexes there.
    places: Vec<(u32, u32)>,
    /// For each session, the index after that of its place; 0 for most sessions, which share nothing.
    place_of: Vec<u32>,
}

/// A group of sessions that share entries.
#[derive(Debug)]
struct SharingGroup {
    /// The numbers of the sessions, oldest first.
    members: Vec<(usize, Arc<Details>)>,
    /// All entries, grouped by the members that contain them.
    shares: Vec<SharedPart>,
    /// For each member, the entries that no older member has.
    own: Vec<EntryTotals>,
}

/// The entries that exactly these members contain.
#[derive(Debug)]
struct SharedPart {
    /// The indexes of the members.
    members: Vec<u32>,
    sum: EntryTotals,
}

/// A session with a number that the caller chooses.
type NumberedSession<'a> = (usize, &'a SharedLazySession);

/// Loads the details needed for sharing in parallel, so that drawing never waits for them.
pub(crate) fn prepare(sessions: &[SharedLazySession]) {
    load_details(&groups_by_root(sessions.iter().enumerate()));
}

impl CostSharing {
    /// Computes the sharing of sessions. `before` holds earlier results for some of them.
    pub(crate) fn new<'a>(sessions: impl Iterator<Item = NumberedSession<'a>> + Clone, before: Self) -> Self {
        Self::of(groups_by_root(sessions), before)
    }

    /// Computes the sharing in groups of sessions with common roots.
    fn of(groups: Vec<Vec<NumberedSession<'_>>>, before: Self) -> Self {
        let mut known: HashMap<usize, SharingGroup> = HashMap::new();
        known.extend(before.groups.into_iter().filter_map(|group| Some((group.members.first()?.0, group))));
        let mut shares = Self::default();
        load_details(&groups);
        for mut group in groups {
            sort::by(&mut group, |(_, one), (_, other)| one.facts().compare_age(&other.facts()));
            let members = group.into_iter().map(|(number, session)| (number, session.details().clone()));
            let members: Vec<(usize, Arc<Details>)> = members.collect();
            for (place, &(session, _)) in (0..).zip(&members) {
                shares.places.push((shares.groups.len() as u32, place));
                shares.place_of.resize(shares.place_of.len().max(session + 1), 0);
                shares.place_of[session] = shares.places.len() as u32;
            }
            let known = members.first().and_then(|(first, _)| known.remove(first));
            let known = known.filter(|known| is_same(&known.members, &members));
            shares.groups.push(known.unwrap_or_else(|| SharingGroup::new(members)));
        }
        shares
    }

    /// Updates sessions with new entries whose shared entries are unchanged.
    pub(crate) fn grow<'a>(&mut self, sessions: impl Iterator<Item = NumberedSession<'a>>) {
        let mut grown = BTreeSet::new();
        for (session, digest) in sessions {
            let Some((_, group, place)) = self.place(session) else { continue };
            self.groups[group].members[place].1 = digest.details().clone();
            grown.insert(group);
        }
        for group in grown {
            let members = std::mem::take(&mut self.groups[group].members);
            self.groups[group] = SharingGroup::new(members);
        }
    }

    fn place(&self, session: usize) -> Option<(&SharingGroup, usize, usize)> {
        let at = self.place_of.get(session)?.checked_sub(1)?;
        let &(group, place) = self.places.get(at as usize)?;
        Some((self.groups.get(group as usize)?, group as usize, place as usize))
    }

    /// Returns the group of a session.
    pub(crate) fn group_of(&self, session: usize) -> Option<u32> {
        Some(self.place(session)?.1 as u32)
    }

    /// Returns the sessions that share entries with a session, including itself, oldest first.
    pub(crate) fn members(&self, session: usize) -> impl Iterator<Item = usize> {
        let group = self.place(session).map(|(group, ..)| group);
        group.into_iter().flat_map(|group| group.members.iter().map(|(member, _)| *member))
    }

    /// Returns the totals of the entries that no older session has.
    pub(crate) fn own(&self, number: usize, session: &LazySession) -> EntryTotals {
        self.place(number).map_or_else(|| session.facts().all(), |(group, _, place)| group.own[place])
    }

    /// Returns the totals of several sessions, counting shared entries once.
    pub(crate) fn sum<'a>(&self, sessions: impl Iterator<Item = NumberedSession<'a>>) -> EntryTotals {
        let mut sum = EntryTotals::default();
        let mut groups: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
        for (session, digest) in sessions {
            match self.place(session) {
                Some((group, at, place)) => {
                    groups.entry(at).or_insert_with(|| vec![false; group.members.len()])[place] = true;
                }
                None => sum += digest.facts().all(),
            }
        }
        for (at, is_wanted) in groups {
            let is_had = |share: &&SharedPart| share.members.iter().any(|&place| is_wanted[place as usize]);
            self.groups[at].shares.iter().filter(is_had).for_each(|share| sum += share.sum);
        }
        sum
    }
}

fn is_same(some: &[(usize, Arc<Details>)], others: &[(usize, Arc<Details>)]) -> bool {
    let is_same = |((a, one), (b, other)): (&(usize, _), &(usize, _))| a == b && Arc::ptr_eq(one, other);
    some.len() == others.len() && some.iter().zip(others).all(is_same)
}

/// Groups sessions with a common root.
fn groups_by_root<'a>(sessions: impl Iterator<Item = NumberedSession<'a>> + Clone) -> Vec<Vec<NumberedSession<'a>>> {
    // Most sessions share nothing, and need no memory here.
    let mut repeated = RepeatedRoots::default();
    sessions.clone().for_each(|(_, session)| session.facts().roots().iter().for_each(|root| repeated.note(root)));
    let (mut members, mut by_root) = (Vec::new(), Vec::new());
    for one in sessions {
        let before = by_root.len();
        let roots = one.1.facts().roots().iter().filter(|root| repeated.may_have(*root));
        by_root.extend(roots.map(|root| (root.value(), members.len())));
        members.extend((by_root.len() > before).then_some(one));
    }
    joined(&members, by_root)
}

/// Joins sessions with a common root in groups of several; `by_root` are roots with the indexes of their sessions.
fn joined<'a>(members: &[NumberedSession<'a>], mut by_root: Vec<(u64, usize)>) -> Vec<Vec<NumberedSession<'a>>> {
    by_root.sort_unstable();
    // Each index points to an earlier one of its group, and the first index to itself.
    let mut first: Vec<usize> = (0..members.len()).collect();
    fn end(first: &mut [usize], mut at: usize) -> usize {
        while first[at] != at {
            first[at] = first[first[at]];
            at = first[at];
        }
        at
    }
    for same in by_root.chunk_by(|(root, _), (other, _)| root == other) {
        for &(_, other) in &same[1..] {
            let (one, other) = (end(&mut first, same[0].1), end(&mut first, other));
            first[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Vec<NumberedSession<'a>>> = BTreeMap::new();
    for at in 0..members.len() {
        let first = end(&mut first, at);
        if first != at {
            groups.entry(first).or_insert_with(|| vec![members[first]]).push(members[at]);
        }
    }
    groups.into_values().collect()
}

/// The number of bits for roots; several roots can have the same bit.
const ROOT_BITS: usize = 1 << 20;

/// The roots that occur repeatedly, and a few others.
struct RepeatedRoots {
    once: Vec<u64>,
    repeatedly: Vec<u64>,
}

impl Default for RepeatedRoots {
    fn default() -> Self {
        Self { once: vec![0; ROOT_BITS / 64], repeatedly: vec![0; ROOT_BITS / 64] }
    }
}

impl RepeatedRoots {
    fn place(root: IdHash) -> (usize, u64) {
        let bit = root.value() as usize % ROOT_BITS;
        (bit / 64, 1 << (bit % 64))
    }

    fn note(&mut self, root: IdHash) {
        let (word, bit) = Self::place(root);
        self.repeatedly[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    /// Returns `true` for each root that occurred repeatedly.
    fn may_have(&self, root: IdHash) -> bool {
        let (word, bit) = Self::place(root);
        self.repeatedly[word] & bit != 0
    }
}

/// Loads the details of the sessions of groups in parallel.
fn load_details(groups: &[Vec<NumberedSession<'_>>]) {
    parallel::map(&groups.concat(), |(_, session)| {
        session.details();
    });
}

impl SharingGroup {
    fn new(members: Vec<(usize, Arc<Details>)>) -> Self {
        let mut sets = MemberSets::new(members.iter().map(|(_, details)| &details.entries.ids[..]));
        let mut sums = vec![EntryTotals::default(); sets.made.len()];
        let mut own = vec![EntryTotals::default(); members.len()];
        for ((_, details), own) in members.iter().zip(&mut own) {
            let entries = &details.entries;
            let mut used = entries.used.iter().peekable();
            let mut prompts = details.prompts.iter().peekable();
            for (at, id) in (0..).zip(&entries.ids) {
                let used = used.next_if(|used| used.at == at);
                let prompts = usize::from(prompts.next_if(|&&prompt| prompt == at).is_some());
                // The oldest member with the entry removes it from the map.
                if let Some(share) = sets.set_of.remove(id) {
                    let (cost, tokens) = used.map_or((0.0, 0.0), |used| (used.cost, used.tokens));
                    let one = EntryTotals { entries: 1, prompts, cost, tokens };
                    sums[share as usize] += one;
                    *own += one;
                }
            }
        }
        let is_empty = |sum: &EntryTotals| sum.entries == 0;
        let shares = (0..).zip(sums).filter(|(_, sum)| !is_empty(sum));
        let shares = shares.map(|(share, sum)| SharedPart { members: sets.members(share).collect(), sum }).collect();
        Self { members, shares, own }
    }
}

/// The sets, and the set of each item.
#[derive(Debug, Default)]
struct MemberSets {
    /// For each set, its last member and the set of the members before it.
    made: Vec<(u32, Option<u32>)>,
    /// The set of each item.
    set_of: ById<u32>,
}

impl MemberSets {
    /// Computes the sets from the items of each member, in order. Duplicates within a member count once.
    fn new<'a>(members: impl Iterator<Item = &'a [IdHash]>) -> Self {
        let mut sets = Self::default();
        for (member, things) in (0..).zip(members) {
            let mut next: HashMap<Option<u32>, u32> = HashMap::new();
            for thing in things {
                let above = sets.set_of.get(thing).copied();
                if above.is_some_and(|set| sets.made[set as usize].0 == member) {
                    continue;
                }
                let set = *next.entry(above).or_insert_with(|| {
                    sets.made.push((member, above));
                    sets.made.len() as u32 - 1
                });
                sets.set_of.insert(*thing, set);
            }
        }
        sets
    }

    /// Iterates over the members of a set, last one first.
    fn members(&self, set: u32) -> impl Iterator<Item = u32> {
        let above = |&(_, above): &(u32, Option<u32>)| self.made.get(above? as usize).copied();
        std::iter::successors(self.made.get(set as usize).copied(), above).map(|(member, _)| member)
    }
}

/// For each entry of a tree, the other sessions that contain it.
#[derive(Clone, Debug, Default)]
pub struct SharedEntries {
    /// Sets of sessions that contain the same entries; the first set is empty.
    sets: Vec<Vec<SessionKey>>,
    /// The set of each entry.
    set_of: Vec<u32>,
}

impl SharedEntries {
    /// Looks up entries, given by session and index, among sessions that share some.
    pub fn new<'a>(
        sharing: &[(SessionKey, SharedLazySession)],
        entries: impl Iterator<Item = (SessionKey, &'a Digest, EntryIndex)>,
    ) -> Self {
        if sharing.is_empty() {
            return Self::default(); // the common case
        }
        let member_sets = MemberSets::new(sharing.iter().map(|(_, session)| &session.details().entries.ids[..]));
        let (mut sets, mut places) = (vec![Vec::new()], HashMap::new());
        let of = entries.map(|(session, digest, at)| {
            let Some(&set) = digest.details().entries.ids.get(at as usize).and_then(|id| member_sets.set_of.get(id))
            else {
                return 0;
            };
            *places.entry((set, session)).or_insert_with(|| {
                let members = member_sets.members(set).map(|member| sharing[member as usize].0);
                let mut others: Vec<SessionKey> = members.filter(|&member| member != session).collect();
                others.reverse();
                if others.is_empty() {
                    return 0;
                }
                sets.push(others);
                sets.len() as u32 - 1
            })
        });
        let of = of.collect();
        Self { sets, set_of: of }
    }

    /// Returns the other sessions that contain an entry, in the given order.
    pub fn of(&self, at: EntryIndex) -> &[SessionKey] {
        let set = self.set_of.get(at as usize).copied().unwrap_or_default();
        self.sets.get(set as usize).map_or(&[], |set| set)
    }
}

/// An item of several sessions that is listed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedItem<S, T> {
    /// The first session with the item.
    pub(crate) session: S,
    /// The item.
    pub(crate) what: T,
    /// The number of other sessions with the item.
    pub(crate) forks: usize,
}

/// Formats the number of forks with the same item, as a suffix for a session title.
pub(crate) fn in_forks(forks: usize) -> String {
    if forks > 0 { format!("  in {}", count(forks, "fork", "forks")) } else { String::new() }
}

/// Lists items of several sessions once, at the first session. Equal items have equal keys; duplicates within a session
/// are kept. The items of a session are consecutive, and those of the oldest session come first.
pub(crate) fn deduplicate<K: Eq + Hash, S: Copy + Eq, T>(
    all: impl Iterator<Item = (K, S, T)>,
) -> Vec<ListedItem<S, T>> {
    let mut places: HashMap<K, usize> = HashMap::new();
    // For each key: the first session, the last session, and the number of sessions after the first.
    let mut seen: Vec<(S, S, usize)> = Vec::new();
    let mut listed = Vec::new();
    for (key, session, what) in all {
        let place = *places.entry(key).or_insert_with(|| {
            seen.push((session, session, 0));
            seen.len() - 1
        });
        let (first, last, forks) = &mut seen[place];
        if *first == session {
            listed.push((place, what));
        } else if *last != session {
            (*last, *forks) = (session, *forks + 1);
        }
    }
    let listed =
        listed.into_iter().map(|(place, what)| ListedItem { session: seen[place].0, what, forks: seen[place].2 });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::session::digest::builder::DigestBuilder;
    use crate::session::family::tests::{SampleFile, SampleStep, files, fork, header};
    use crate::session::lines::Line;

    fn digest(number: usize, file: &SampleFile) -> Digest {
        let text: String = file.iter().map(|line| format!("{line}\n")).collect();
        let (mut builder, mut offset) = (DigestBuilder::new(""), 0);
        for line in text.lines() {
            builder.line(Line::new(offset, line.as_bytes(), true));
            offset += line.len() as u64 + 1;
        }
        let digest = builder.finish(0, &mut |_| None).unwrap();
        Digest { path: format!("{number:03}").into(), ..digest }
    }

    fn digests(files: &[SampleFile]) -> Vec<SharedLazySession> {
        files.iter().enumerate().map(|(number, file)| digest(number, file).into()).collect()
    }

    fn sharing(digests: &[SharedLazySession], is_there: impl Fn(usize) -> bool, before: CostSharing) -> CostSharing {
        CostSharing::new(digests.iter().enumerate().filter(|(number, _)| is_there(*number)), before)
    }

    /// Computes the usage of files with each entry counted once, in the simplest way.
    fn slow<'a>(files: impl Iterator<Item = &'a SampleFile>) -> EntryTotals {
        let key = |line: &Value| {
            let known = if line["type"] == "label" { [&line["targetId"], &line["label"]] } else { [&line["id"]; 2] };
            (known.map(Value::to_string), line["timestamp"].to_string())
        };
        let lines = files.flat_map(|file| &file[1..]);
        let all: BTreeMap<_, &Value> = lines.map(|line| (key(line), line)).collect();
        let cost = all.values().map(|line| line["usage"]["cost"].as_f64().unwrap_or(0.0)).sum();
        let prompts = all.values().filter(|line| line["message"]["role"] == "user").count();
        EntryTotals { entries: all.len(), prompts, cost, tokens: cost * 10.0 }
    }

    proptest! {
        #[test]
        fn sums_count_each_entry_once(
            steps in proptest::collection::vec(any::<SampleStep>(), 0..60),
            there in any::<u64>(),
            wanted in any::<u64>(),
        ) {
            let files = files(&steps);
            let digests = digests(&files);
            let is_there = |number: usize| (there >> (number % 64)) & 1 == 1;
            let all = sharing(&digests, |_| true, CostSharing::default());
            prop_assert_eq!(all.sum(digests.iter().enumerate()), slow(files.iter()));
            let is_wanted = |number: usize| (wanted >> (number % 64)) & 1 == 1;
            let some = || digests.iter().enumerate().filter(|(number, _)| is_wanted(*number));
            let slow_some = slow(files.iter().enumerate().filter(|(number, _)| is_wanted(*number)).map(|(_, file)| file));
            prop_assert_eq!(all.sum(some()), slow_some);
            // Removing sessions removes exactly the entries that only they had.
            let left = sharing(&digests, is_there, all);
            let those = || digests.iter().enumerate().filter(|(number, _)| is_there(*number));
            let slow_left = slow(files.iter().enumerate().filter(|(number, _)| is_there(*number)).map(|(_, file)| file));
            prop_assert_eq!(left.sum(those()), slow_left);
            let mut own = EntryTotals::default();
            those().for_each(|(number, digest)| own += left.own(number, digest));
            prop_assert_eq!(own, slow_left);
            let again = sharing(&digests, |_| true, left);
            prop_assert_eq!(again.sum(digests.iter().enumerate()), slow(files.iter()));
        }
    }

    fn used(id: &str, parent: Option<&str>, time: usize, cost: f64) -> Value {
        json!({"type": "usage", "id": id, "parentId": parent, "timestamp": time, "usage": {"cost": cost}})
    }

    #[test]
    fn forks_own_new_entries_and_all_entries_without_their_parent() {
        let parent = vec![header(1, 3), used("a", None, 1, 1.0), used("b", Some("a"), 2, 2.0)];
        let mut child = fork(&parent, 1, 5);
        child.push(used("c", Some("a"), 6, 4.0));
        let digests = digests(&[child, parent]);
        let costs = |shares: &CostSharing| [0, 1].map(|number| shares.own(number, &digests[number]).cost);
        let both = sharing(&digests, |_| true, CostSharing::default());
        assert_eq!((costs(&both), both.sum(digests.iter().enumerate()).cost), ([4.0, 3.0], 7.0));
        let orphan = sharing(&digests, |number| number == 0, both);
        assert_eq!((costs(&orphan)[0], orphan.sum(digests.iter().enumerate().take(1)).cost), (5.0, 5.0));
    }

    #[test]
    fn equal_ids_with_different_times_are_different_entries() {
        let session = |time| vec![header(time, 3), used("00000001", None, time, 1.0)];
        let digests = digests(&[session(1), session(2)]);
        let shares = sharing(&digests, |_| true, CostSharing::default());
        assert_eq!(shares.sum(digests.iter().enumerate()).cost, 2.0);
    }

    #[test]
    fn copies_without_ids_or_times_count_once() {
        let line = |text: &str| json!({"type": "usage", "note": text, "usage": {"cost": 1.0}});
        let old = || vec![header(1, 1), line("a"), line("a"), line("b")];
        let no_time = || vec![header(1, 3), json!({"type": "usage", "id": "a", "usage": {"cost": 1.0}})];
        let digests = digests(&[old(), old(), no_time(), no_time()]);
        let shares = sharing(&digests, |_| true, CostSharing::default());
        assert_eq!(shares.sum(digests.iter().enumerate()).cost, 4.0);
        assert_eq!([0, 1, 2, 3].map(|number| shares.own(number, &digests[number]).cost), [3.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn thousands_of_forks_form_one_set() {
        let mut parent = vec![header(0, 3)];
        for at in 1..50 {
            parent.push(used(&at.to_string(), Some(&(at - 1).to_string()), at, 1.0));
        }
        let parent = digest(0, &parent);
        let one = |number: usize| Digest { path: format!("{number:04}").into(), ..parent.clone() }.into();
        let digests: Vec<SharedLazySession> = (0..5000).map(one).collect();
        let shares = sharing(&digests, |_| true, CostSharing::default());
        assert_eq!(shares.groups[0].shares.len(), 1);
        assert_eq!(shares.sum(digests.iter().enumerate()).cost, 49.0);
    }

    #[test]
    fn lists_shared_items_once_at_the_first_session() {
        let all =
            [("x", 1, 'a'), ("y", 1, 'b'), ("y", 1, 'c'), ("y", 2, 'd'), ("z", 2, 'e'), ("y", 3, 'f'), ("y", 3, 'g')];
        let listed: Vec<_> =
            deduplicate(all.into_iter()).into_iter().map(|it| (it.session, it.what, it.forks)).collect();
        assert_eq!(listed, [(1, 'a', 0), (1, 'b', 2), (1, 'c', 2), (2, 'e', 0)]);
    }
}
