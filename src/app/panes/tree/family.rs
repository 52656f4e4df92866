//! The family of the open session in its tree: forks that are opened in place, or all of it as one tree. The entries that such
//! a tree shows are those of several files: each is looked at, labelled, forked and resumed in its own.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::app::panes::tree::spot::Selected;
use crate::app::panes::tree::{Fork, Pane};
use crate::base::text::{Span, Tone};
use crate::library::others::Others;
use crate::library::{EntryRef, Library, SessionKey};
use crate::session::digest::Shared;
use crate::session::family::joined::Joined;
use crate::session::tree::{Index, Tree};

/// Several sessions that are shown as one tree.
#[derive(Debug)]
pub struct Family {
    /// Their tree.
    pub joined: Joined,
    /// Which ones, parents before forks.
    pub members: Vec<(SessionKey, Shared)>,
    /// The rows of forks: of those that are open where their own entries begin, of the others where they left.
    pub forks: Vec<Fork>,
    /// In which other sessions each entry stands.
    pub others: Others,
    /// Whether it is the whole family.
    pub is_whole: bool,
    /// Why one of the sessions is left out.
    pub lost: Option<String>,
    places: HashMap<SessionKey, usize>,
    numbers: HashMap<SessionKey, usize>,
}

/// What is to be joined.
#[derive(Clone, Debug)]
pub struct ToJoin {
    /// The session that is looked at, among the members.
    pub base: usize,
    /// The sessions, parents before forks.
    pub members: Vec<(SessionKey, Shared)>,
    /// The number of each session of the family, whichever of them are shown.
    pub numbers: HashMap<SessionKey, usize>,
    /// Other forks of theirs, each with the place of its parent among the members.
    pub forks: Vec<(usize, SessionKey, Shared)>,
    /// All that share entries with the session that is looked at.
    pub kin: Vec<(SessionKey, Shared)>,
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

impl ToJoin {
    /// Whether the same sessions are meant, as they were.
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |((a, one), (b, other)): (&(SessionKey, Shared), &(SessionKey, Shared))| {
            a == b && (one.bytes, one.mtime) == (other.bytes, other.mtime)
        };
        let are_same = |some: &[(SessionKey, Shared)], others: &[(SessionKey, Shared)]| {
            some.len() == others.len() && some.iter().zip(others).all(is_same)
        };
        let keys = |forks: &[(usize, SessionKey, Shared)]| forks.iter().map(|(_, key, _)| *key).collect::<Vec<_>>();
        self.is_whole == other.is_whole
            && are_same(&self.members, &other.members)
            && keys(&self.forks) == keys(&other.forks)
    }
}

/// Which sessions are wanted in the tree beside the open one.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Forks that are opened in place.
    opened: BTreeSet<SessionKey>,
    /// Whether the whole family is wanted,
    whole: bool,
    /// but for these,
    hidden: BTreeSet<SessionKey>,
    /// and with these that share entries, and are none of it as far as they say.
    added: BTreeSet<SessionKey>,
}

impl Family {
    /// Several sessions with what is known of them.
    pub fn new(to_join: ToJoin, joined: Joined, (forks, others): (Vec<Fork>, Others), lost: Option<String>) -> Self {
        let places = to_join.members.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let ToJoin { members, numbers, is_whole, .. } = to_join;
        Self { joined, members, forks, others, is_whole, lost, places, numbers }
    }

    /// How an entry is named in its own file.
    fn entry(&self, at: Index) -> Option<EntryRef> {
        let (file, at) = self.joined.of(at);
        self.members.get(file).map(|(session, _)| EntryRef { session: *session, at })
    }

    /// Where an entry of a file is shown.
    fn shown(&self, entry: EntryRef) -> Option<Index> {
        self.joined.place(*self.places.get(&entry.session)?, entry.at)
    }

    /// Whether pi goes on at an entry in its own file.
    pub fn is_leaf(&self, at: Index) -> bool {
        let (file, own) = self.joined.of(at);
        let tree = self.joined.file(file);
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

impl Pane {
    /// How an entry of the tree is named: by its own file.
    pub fn entry(&self, at: Index) -> Option<EntryRef> {
        match &self.family {
            Some(family) => family.entry(at),
            None => self.session.map(|session| EntryRef { session, at }),
        }
    }

    /// Where an entry of a file is in the tree.
    pub fn shown(&self, entry: EntryRef) -> Option<Index> {
        match &self.family {
            Some(family) => family.shown(entry),
            None => {
                let is_there = self.session == Some(entry.session)
                    && self.tree.as_ref().is_some_and(|tree| (entry.at as usize) < tree.nodes.len());
                is_there.then_some(entry.at)
            }
        }
    }

    /// The tree of a file of which entries are shown.
    pub fn file(&self, session: SessionKey) -> Option<&Arc<Tree>> {
        match &self.family {
            Some(family) => family.joined.file(*family.places.get(&session)?),
            None => self.tree.as_ref().filter(|_| self.session == Some(session)),
        }
    }

    /// The tree of the open session alone.
    pub fn own(&self) -> Option<&Arc<Tree>> {
        self.file(self.session?)
    }

    /// Whether the whole family is wanted.
    pub fn is_whole(&self) -> bool {
        self.wanted.whole
    }

    /// Whether a session of the family is hidden.
    pub(crate) fn is_hidden(&self, session: SessionKey) -> bool {
        self.wanted.hidden.contains(&session)
    }

    /// Whether a session is wanted that says nothing of the family.
    pub(crate) fn is_added(&self, session: SessionKey) -> bool {
        self.wanted.added.contains(&session)
    }

    /// Shows the whole family as one tree, or the session alone. Returns whether it is the family.
    pub(crate) fn toggle_family(&mut self) -> bool {
        let whole = !self.wanted.whole;
        self.wanted = Wanted { whole, ..Wanted::default() };
        whole
    }

    /// Hides a session of the family, or shows it again; adds one that says nothing of it, or takes it away.
    pub(crate) fn toggle_member(&mut self, session: SessionKey, is_of_family: bool) {
        let set = if is_of_family { &mut self.wanted.hidden } else { &mut self.wanted.added };
        if !set.remove(&session) {
            set.insert(session);
        }
    }

    /// Opens a fork in place, or closes it with what is opened in it.
    pub(super) fn open_fork(&mut self, session: SessionKey, open: bool) -> bool {
        let wanted = &mut self.wanted;
        match (wanted.whole, open) {
            (true, true) => wanted.hidden.remove(&session) | wanted.added.contains(&session),
            (true, false) if wanted.added.contains(&session) => wanted.added.remove(&session),
            (true, false) => wanted.hidden.insert(session),
            (false, true) => wanted.opened.insert(session),
            (false, false) => wanted.opened.remove(&session),
        }
    }

    /// What is to be joined and was not asked for yet.
    pub(crate) fn next_to_join(&mut self, library: &Library) -> Option<ToJoin> {
        let to_join = self.session.filter(|&key| library.has(key)).and_then(|key| self.wanted.members(key, library));
        let Some(to_join) = to_join else {
            (self.asked, self.joining) = (None, None);
            self.leave_family();
            return None;
        };
        let asked = self.asked.as_ref();
        // A file that grows all the time would never be joined if each growth began anew.
        let is_grown = |asked: &ToJoin| {
            asked.is_whole == to_join.is_whole
                && asked.members.iter().map(|(key, _)| key).eq(to_join.members.iter().map(|(key, _)| key))
        };
        if asked.is_some_and(|asked| asked.is_same(&to_join) || (self.joining.is_some() && is_grown(asked))) {
            return None;
        }
        self.asked = Some(to_join.clone());
        Some(to_join)
    }

    /// Joining failed: what was shown before stays.
    pub(crate) fn fail_to_join(&mut self) {
        self.joining = None;
        if self.family.is_none() {
            (self.wanted, self.asked) = (Wanted::default(), None);
        }
    }

    /// Shows the tree of several sessions.
    pub(crate) fn show_family(&mut self, family: Arc<Family>) {
        self.joining = None;
        self.note_selection();
        self.tree = Some(family.joined.tree.clone());
        self.forks.clone_from(&family.forks);
        self.family = Some(family);
        self.show_other();
    }

    /// Shows the open session alone again.
    pub(super) fn leave_family(&mut self) {
        let Some(own) = self.family.as_ref().and_then(|_| self.own().cloned()) else { return };
        self.note_selection();
        let to = self.selected_ref().filter(|entry| Some(entry.session) != self.session);
        // What stands in another file alone is left for the place where that left this one.
        let at = to.and_then(|entry| self.shown(entry)).and_then(|at| self.nearest_own(at));
        self.family = None;
        self.forks.clone_from(&self.own_forks);
        self.tree = Some(own);
        if let Some(at) = at {
            self.selected = self.entry_of_own(at).map(Selected::Entry);
        }
        self.show_other();
    }

    /// The nearest entry of the open session at or above an entry, by its place in that.
    fn nearest_own(&self, at: Index) -> Option<Index> {
        let (family, tree) = (self.family.as_ref()?, self.tree.as_ref()?);
        let own = |at: Index| family.entry(at).filter(|entry| Some(entry.session) == self.session);
        std::iter::successors(Some(at), |&at| tree.parent(at)).find_map(own).map(|entry| entry.at)
    }
}

impl Wanted {
    /// Whether other sessions are wanted at all.
    pub(super) fn is_any(&self) -> bool {
        self.whole || !self.opened.is_empty()
    }

    /// The sessions that are wanted with one; `None` if it is to be shown alone.
    fn members(&self, key: SessionKey, library: &Library) -> Option<ToJoin> {
        let family = library.family(key);
        let numbers = family.iter().copied().chain(library.same_origin(key)).zip(0..).collect();
        let keys: Vec<SessionKey> = if self.whole {
            let is_shown = |member: &SessionKey| *member == key || !self.hidden.contains(member);
            let added = self.added.iter().filter(|&&added| library.has(added)).copied();
            family.into_iter().filter(is_shown).chain(added).collect()
        } else {
            let is_open = |member: &SessionKey| {
                let parents = library.families().line(*member).take_while(|&parent| parent != key);
                *member == key
                    || (self.opened.contains(member) && parents.into_iter().all(|it| self.opened.contains(&it)))
            };
            // Those above it are not below it.
            let below: BTreeSet<SessionKey> = library.families().below_all(&[key]).into_iter().collect();
            family.into_iter().filter(|member| below.contains(member) && is_open(member)).collect()
        };
        if keys.len() < 2 && !self.whole {
            return None;
        }
        let base = keys.iter().position(|&member| member == key)?;
        let places: HashMap<SessionKey, usize> = keys.iter().enumerate().map(|(place, key)| (*key, place)).collect();
        let forks = keys.iter().enumerate().flat_map(|(place, &member)| {
            let closed = library.forks(member).filter(|fork| !places.contains_key(fork));
            closed.map(move |fork| (place, fork, library[fork].clone()))
        });
        let forks = forks.collect();
        let members = keys.iter().map(|&member| (member, library[member].clone())).collect();
        Some(ToJoin { base, members, numbers, forks, kin: library.kindred(key), is_whole: self.whole })
    }
}
