//! The family of the open session in its tree: forks that are opened in place, or all of it as one tree. The entries that such
//! a tree shows are those of several files: each is looked at, labelled, forked and resumed in its own.

use std::collections::{BTreeSet, HashMap};

use crate::base::text::{Span, Tone};
use crate::catalog::shared_entries::SharedEntries;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::session::digest::SharedDigest;
use crate::session::family::merged::MergedFamily;
use crate::session::tree::Index;

/// A file that was forked off the open session.
#[derive(Clone, Debug)]
pub struct ForkedFile {
    /// Which one.
    pub key: SessionKey,
    /// What the list knows of it.
    pub session: SharedDigest,
    /// Where it left; nowhere if it shares nothing with what is shown.
    pub split: Option<Index>,
    /// Where what is its own begins, if that is shown.
    pub start: Option<Index>,
    /// Which of several such places: it may go on from more than one of its parent's entries.
    pub part: usize,
    /// Whether it is joined to the tree.
    pub is_open: bool,
}

impl ForkedFile {
    /// One that is not opened.
    pub fn new(key: SessionKey, session: SharedDigest, split: Index) -> Self {
        Self { key, session, split: Some(split), start: None, part: 0, is_open: false }
    }
}

/// Several sessions that are shown as one tree.
#[derive(Debug)]
pub struct FamilyTree {
    /// Their tree.
    pub joined: MergedFamily,
    /// Which ones, parents before forks.
    pub members: Vec<(SessionKey, SharedDigest)>,
    /// The rows of forks: of those that are open where their own entries begin, of the others where they left.
    pub forks: Vec<ForkedFile>,
    /// In which other sessions each entry stands.
    pub others: SharedEntries,
    /// Why one of the sessions is left out.
    pub lost: Option<String>,
    base: usize,
    pub(super) places: HashMap<SessionKey, usize>,
    numbers: HashMap<SessionKey, usize>,
}

/// What is to be joined.
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// The session that is looked at, among the members.
    pub base: usize,
    /// The sessions, parents before forks.
    pub members: Vec<(SessionKey, SharedDigest)>,
    /// The number of each session of the family, whichever of them are shown.
    pub numbers: HashMap<SessionKey, usize>,
    /// Other forks of theirs, each with the place of its parent among the members.
    pub forks: Vec<(usize, SessionKey, SharedDigest)>,
    /// All that share entries with the session that is looked at.
    pub kin: Vec<(SessionKey, SharedDigest)>,
    /// Whether it is the whole family.
    pub is_whole: bool,
}

/// The sign of a file of a family, by its number: a letter in a colour.
pub fn letter(number: usize) -> Span {
    const TONES: [Tone; 6] = [Tone::File1, Tone::File2, Tone::File3, Tone::File4, Tone::File5, Tone::File6];
    let letters = ('a'..='z').chain('A'..='Z');
    // Of so many, colours and rows of forks tell them apart.
    let letter = letters.cycle().nth(number % 52).unwrap_or('a');
    Span::new(TONES[number % TONES.len()], letter.to_string())
}

impl MergeRequest {
    /// Whether the same sessions are meant, as they were.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same = |((a, one), (b, other)): (&(SessionKey, SharedDigest), &(SessionKey, SharedDigest))| {
            a == b && (one.bytes, one.mtime) == (other.bytes, other.mtime)
        };
        let are_same = |some: &[(SessionKey, SharedDigest)], others: &[(SessionKey, SharedDigest)]| {
            some.len() == others.len() && some.iter().zip(others).all(is_same)
        };
        let keys =
            |forks: &[(usize, SessionKey, SharedDigest)]| forks.iter().map(|(_, key, _)| *key).collect::<Vec<_>>();
        self.is_whole == other.is_whole
            && are_same(&self.members, &other.members)
            && keys(&self.forks) == keys(&other.forks)
    }
}

/// Which sessions are wanted in the tree beside the open one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FamilySelection {
    /// Forks that are opened in place.
    pub(super) opened: BTreeSet<SessionKey>,
    /// Whether the whole family is wanted,
    pub(super) whole: bool,
    /// but for these,
    pub(super) hidden: BTreeSet<SessionKey>,
    /// and with these that share entries, and are none of it as far as they say.
    pub(super) added: BTreeSet<SessionKey>,
}

impl FamilyTree {
    /// Several sessions with what is known of them.
    pub fn new(
        to_join: MergeRequest,
        joined: MergedFamily,
        (forks, others): (Vec<ForkedFile>, SharedEntries),
        lost: Option<String>,
    ) -> Self {
        let places = to_join.members.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let MergeRequest { base, members, numbers, .. } = to_join;
        Self { joined, members, forks, others, lost, base, places, numbers }
    }

    /// How an entry is named in its own file.
    pub(super) fn entry(&self, at: Index) -> Option<EntryRef> {
        let (file, at) = self.joined.of(at);
        self.members.get(file).map(|(session, _)| EntryRef { session: *session, at })
    }

    /// Where an entry of a file is shown.
    pub(super) fn shown(&self, entry: EntryRef) -> Option<Index> {
        self.joined.place(*self.places.get(&entry.session)?, entry.at)
    }

    /// Whether pi goes on at an entry in its own file, which is not the one that is open.
    pub fn is_leaf(&self, at: Index) -> bool {
        let (file, own) = self.joined.of(at);
        let tree = self.joined.file(file).filter(|_| file != self.base);
        tree.is_some_and(|tree| {
            tree.leaf == Some(own) || (tree.is_tip(own) && !tree.nodes[own as usize].kind.is_bookkeeping())
        })
    }

    /// The number of the session whose branch an entry is on, among its family.
    pub fn number(&self, at: Index) -> usize {
        let session = self.members.get(self.joined.first(at));
        session.and_then(|(session, _)| self.numbers.get(session)).copied().unwrap_or_default()
    }

    /// The number of a session that is shown, among its family.
    pub fn number_of(&self, session: SessionKey) -> Option<usize> {
        self.places.contains_key(&session).then(|| self.numbers.get(&session).copied().unwrap_or_default())
    }
}

impl FamilySelection {
    /// Whether other sessions are wanted at all.
    pub(super) fn is_any(&self) -> bool {
        self.whole || !self.opened.is_empty()
    }

    /// The sessions that are wanted with one; `None` if it is to be shown alone.
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
            // Those above it are not below it.
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
        Some(MergeRequest { base, members, numbers, forks, kin: catalog.sharing_sessions(key), is_whole: self.whole })
    }
}
