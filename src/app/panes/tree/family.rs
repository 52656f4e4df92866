//! Forks and families in the tree of the open session. Forks are expanded in place, or the whole family is shown as one
//! tree. Each entry keeps its own file: it is previewed, labeled, forked and resumed there.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::base::text::{Span, Tone};
use crate::catalog::cost_sharing::SharedEntries;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::session::digest::listed::SharedLazySession;
use crate::session::family::MergedFamily;
use crate::session::tree::EntryIndex;

/// A file forked from the open session.
#[derive(Clone, Copy, Debug)]
pub struct ForkedFile {
    /// The key of the session.
    pub key: SessionKey,
    /// The entry after which it diverges; `None` if it shares no visible entry.
    pub split: Option<EntryIndex>,
    /// The first entry unique to it, if that is shown.
    pub start: Option<EntryIndex>,
    /// The number of this starting point; a fork may continue from several entries of its parent.
    pub part: usize,
    /// `true` if its entries are merged into the tree.
    pub is_open: bool,
}

/// Several sessions merged into one tree.
#[derive(Debug)]
pub struct FamilyTree {
    /// The merged tree.
    pub joined: MergedFamily,
    /// The merged sessions.
    pub request: MergeRequest,
    /// The fork rows: of expanded forks where their unique entries begin, of others where they diverge.
    pub forks: Vec<ForkedFile>,
    /// The other sessions that contain each entry.
    pub others: SharedEntries,
    /// The reason why a session is left out.
    pub lost: Option<String>,
    pub(crate) places: HashMap<SessionKey, usize>,
}

/// The sessions to merge into one tree.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// The index of the open session among the members.
    pub base: usize,
    /// The sessions, parents before forks.
    pub members: Vec<(SessionKey, SharedLazySession)>,
    /// The number of each session of the family, shown or not.
    pub numbers: HashMap<SessionKey, usize>,
    /// Forks of the members that are not expanded, each with the index of its parent among the members.
    pub forks: Vec<(usize, SessionKey, SharedLazySession)>,
    /// All sessions that share entries with the open one.
    pub sharing_sessions: Vec<(SessionKey, SharedLazySession)>,
    /// `true` for the whole family.
    pub is_whole: bool,
}

/// Returns the symbol of a family file: a letter in a color, both from its number.
pub fn letter(number: usize) -> Span {
    const TONES: [Tone; 6] = [Tone::File1, Tone::File2, Tone::File3, Tone::File4, Tone::File5, Tone::File6];
    let letters = ('a'..='z').chain('A'..='Z');
    // After 52 files, letters repeat; colors and fork rows still distinguish the files.
    let letter = letters.cycle().nth(number % 52).unwrap_or('a');
    Span::new(TONES[number % TONES.len()], letter.to_string())
}

impl MergeRequest {
    /// Returns `true` if both requests have the same sessions with unchanged files.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let stamp = |(key, session): &(SessionKey, SharedLazySession)| (*key, session.bytes, session.mtime);
        let stamps = |request: &Self| request.members.iter().map(stamp).collect::<Vec<_>>();
        let forks = |request: &Self| request.forks.iter().map(|(_, key, _)| *key).collect::<Vec<_>>();
        (self.is_whole, stamps(self), forks(self)) == (other.is_whole, stamps(other), forks(other))
    }
}

/// The sessions that the user chose to show with the open one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FamilySelection {
    /// Forks expanded in place.
    pub(super) opened: BTreeSet<SessionKey>,
    /// `true` to show the whole family.
    pub(super) whole: bool,
    /// Family members to leave out.
    pub(crate) hidden: BTreeSet<SessionKey>,
    /// Sessions to add that share entries but are not linked to the family.
    pub(crate) added: BTreeSet<SessionKey>,
}

impl FamilyTree {
    /// Combines a merge request and its result.
    pub fn new(request: MergeRequest, joined: MergedFamily, forks: Vec<ForkedFile>, others: SharedEntries) -> Self {
        let places = request.members.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        Self { joined, request, forks, others, lost: None, places }
    }

    /// Returns the entry in its own file.
    pub(super) fn entry(&self, at: EntryIndex) -> Option<EntryRef> {
        let (file, at) = self.joined.of(at);
        self.request.members.get(file).map(|(session, _)| EntryRef { session: *session, at })
    }

    /// Returns the index of a file's entry in the merged tree.
    pub(super) fn shown(&self, entry: EntryRef) -> Option<EntryIndex> {
        self.joined.place(*self.places.get(&entry.session)?, entry.at)
    }

    /// Returns `true` if an entry is the leaf or a branch end of its own file, unless that is the open session.
    pub fn is_leaf(&self, at: EntryIndex) -> bool {
        let (file, own) = self.joined.of(at);
        let tree = self.joined.file(file).filter(|_| file != self.request.base);
        tree.is_some_and(|tree| {
            tree.leaf == Some(own) || (tree.is_tip(own) && !tree.nodes[own as usize].kind.is_bookkeeping())
        })
    }

    /// Returns the family number of the session whose branch contains an entry.
    pub fn number(&self, at: EntryIndex) -> usize {
        let session = self.request.members.get(self.joined.first(at));
        session.and_then(|(session, _)| self.request.numbers.get(session)).copied().unwrap_or_default()
    }

    /// Returns the family number of a session that is shown.
    pub fn number_of(&self, session: SessionKey) -> Option<usize> {
        self.places.contains_key(&session).then(|| self.request.numbers.get(&session).copied().unwrap_or_default())
    }
}

impl FamilySelection {
    /// Returns `true` if other sessions are to be shown.
    pub(super) fn is_any(&self) -> bool {
        self.whole || !self.opened.is_empty()
    }

    /// Returns the sessions to merge with one; `None` if it is shown alone.
    pub(super) fn members(&self, key: SessionKey, catalog: &Catalog) -> Option<MergeRequest> {
        if !self.is_any() {
            return None;
        }
        let family = catalog.family(key);
        let numbers = family.iter().copied().chain(catalog.same_origin(key)).zip(0..).collect();
        let keys: Vec<SessionKey> = if self.whole {
            let is_shown = |member: &SessionKey| *member == key || !self.hidden.contains(member);
            let known: BTreeSet<SessionKey> = family.iter().copied().collect();
            let added = self.added.iter().filter(|&added| catalog.has(*added) && !known.contains(added));
            family.into_iter().filter(is_shown).chain(added.copied()).collect()
        } else {
            let is_open = |member: &SessionKey| {
                let parents = catalog.families().line(*member).take_while(|&parent| parent != key);
                *member == key
                    || (self.opened.contains(member) && parents.into_iter().all(|it| self.opened.contains(&it)))
            };
            // The family also contains ancestors, which are not expanded.
            let below: BTreeSet<SessionKey> = catalog.families().below_all(&[key]).into_iter().collect();
            family.into_iter().filter(|member| below.contains(member) && is_open(member)).collect()
        };
        if keys.len() < 2 && !self.whole {
            return None;
        }
        let base = keys.iter().position(|&member| member == key)?;
        let places: HashMap<SessionKey, usize> = keys.iter().enumerate().map(|(place, key)| (*key, place)).collect();
        let forks = keys.iter().enumerate().flat_map(|(place, &member)| {
            let closed = catalog.forks(member).filter(|fork| !places.contains_key(fork));
            closed.map(move |fork| (place, fork, catalog[fork].clone()))
        });
        let forks = forks.collect();
        let members = keys.iter().map(|&member| (member, catalog[member].clone())).collect();
        let (sharing_sessions, is_whole) = (catalog.sharing_sessions(key), self.whole);
        Some(MergeRequest { base, members, numbers, forks, sharing_sessions, is_whole })
    }
}

/// The selection, independent of its row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeSelection {
    Entry(EntryRef),
    /// A fork row, with its number if the fork has several.
    Fork(SessionKey, usize),
    /// The row of a run, by its first entry.
    Run(EntryRef),
    Inherited,
    Start,
}

/// The position in an open tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreePosition {
    pub(super) selected: Option<TreeSelection>,
    pub(super) folds: HashSet<EntryRef>,
    /// Expanded runs, by first entry.
    pub(super) open_runs: HashSet<EntryRef>,
    /// `true` if inherited entries are expanded.
    pub(super) shows_inherited: bool,
    /// The first visible row.
    pub(super) top: usize,
    /// The other sessions that are shown.
    pub(crate) wanted: FamilySelection,
}
