//! Smaller versions of session files: without old snapshots of extensions, and without the content of large tool results
//! and images. A [`SlimPlanner`] reads the lines and decides; a [`SlimWriter`] changes them. All texts of people and
//! models stay, and so do IDs, order and times of the remaining entries.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;

use thiserror::Error;

use crate::session::contexts::ContextCollector;
use crate::session::digest::details::identity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, RawTime};
use crate::session::json::edit::RawObject;
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::{ById, IdHash, Index, ParentLinks};
use crate::session::problem::Problem;
use crate::session::write::shorten::{Shortening, shorten};

/// The number of entries of a type from which on they count as snapshots.
const SNAPSHOTS: usize = 20;

/// Types whose entries are not snapshots: each has content of its own.
const NO_SNAPSHOTS: [&str; 1] = ["codemode-store"];

/// The prefix of the types of pi itself.
const OF_PI: &str = "pi.";

/// The rules of what to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimRules {
    /// `true` to remove all but the last snapshot of an extension on each path to a branch end.
    pub snapshots: bool,
    /// Types of extension entries that are not removed.
    pub kept_types: Vec<String>,
    /// Remove the content of tool results and images over this number of bytes outside of the model context of every
    /// branch end and every label; `None` to keep them.
    pub outside: Option<u64>,
    /// Shorten those in a model context too, which changes what the model sees; `None` to keep them.
    pub inside: Option<u64>,
}

impl Default for SlimRules {
    fn default() -> Self {
        Self { snapshots: true, kept_types: Vec::new(), outside: Some(8192), inside: None }
    }
}

/// A number of entries, and the bytes that a rule saves there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlimSaving {
    /// The entries.
    pub count: usize,
    /// The saved bytes.
    pub bytes: u64,
}

impl AddAssign for SlimSaving {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

impl SlimSaving {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// The bytes that the rules save in a file, or would save if they were on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlimSavings {
    /// Snapshots by type, the largest saving first, with `true` if they are removed.
    pub snapshots: Vec<(String, SlimSaving, bool)>,
    /// Tool results and images outside of every context.
    pub outside: SlimSaving,
    /// Tool results and images in a context.
    pub inside: SlimSaving,
    /// The bytes saved with the rules.
    pub total: u64,
    /// What stays because forks or other sessions contain it too.
    pub shared: SlimSaving,
}

/// The reason why a file cannot be slimmed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SlimError {
    /// The file is not a session.
    #[error("{0}")]
    NotASession(#[from] NotASession),
    /// The links between entries are not reliable.
    #[error("damaged: {0}; run `pitree doctor --repair` first")]
    Damaged(Problem),
}

/// The change of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineChange {
    is_removed: bool,
    /// The offset of the line of the new parent; `Some(None)` for a root.
    parent: Option<Option<u64>>,
    shortening: Option<Shortening>,
}

/// The changes of a file by the offset of the line, in bytes.
#[derive(Debug, Default)]
pub struct SlimPlan {
    changes: HashMap<u64, LineChange>,
    /// The lines of entries that get other children.
    new_parents: HashSet<u64>,
    /// The savings.
    pub savings: SlimSavings,
}

impl SlimPlan {
    /// Returns `true` if nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Snapshots of a type.
#[derive(Debug, Default)]
struct Snapshots {
    name: String,
    /// The entries and their bytes.
    entries: Vec<(Index, u64)>,
}

/// A large tool result or image.
#[derive(Debug)]
struct LargeContent {
    at: Index,
    /// The bytes saved by removing and by shortening it.
    saved: [u64; 2],
}

/// Reads the lines of a file in order and decides what to remove.
#[derive(Debug)]
pub struct SlimPlanner<'a> {
    rules: &'a SlimRules,
    /// The keys of entries that other sessions contain too: they stay, so that families stay as they are.
    shared: &'a ById<()>,
    lines: LineCollector,
    contexts: ContextCollector,
    types: Vec<Snapshots>,
    by_type: ById<usize>,
    large: Vec<LargeContent>,
    is_shared: Vec<bool>,
    /// The IDs to which labels and branch summaries refer.
    targets: Vec<IdHash>,
}

impl<'a> SlimPlanner<'a> {
    /// Starts a file.
    pub fn new(rules: &'a SlimRules, shared: &'a ById<()>) -> Self {
        Self {
            rules,
            shared,
            lines: LineCollector::default(),
            contexts: ContextCollector::default(),
            types: Vec::new(),
            by_type: ById::default(),
            large: Vec::new(),
            is_shared: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Reads the next line. Returns `false` if the file has too many entries to be a session.
    pub fn line(&mut self, line: &Line<'_>) -> bool {
        let read = line.read();
        if let Some(entry) = self.lines.note(line, &read) {
            self.entry(line, entry);
        }
        !self.lines.is_crowded()
    }

    fn entry(&mut self, line: &Line<'_>, entry: &Entry<'_>) {
        let at = self.is_shared.len() as Index;
        self.contexts.entry(entry);
        let id = self.lines.ids.last().and_then(|ids| ids.id);
        let key = identity(entry, id, at, entry.timestamp.and_then(RawTime::ms), line.bytes);
        self.is_shared.push(self.shared.contains_key(&key));
        self.targets.extend([entry.target_id, entry.from_id].into_iter().flatten().map(IdHash::of));
        // Of a line that is too long, only the beginning is known.
        if entry.is_cut || line.behind > 0 {
            return;
        }
        match entry.kind {
            EntryKind::Custom if id.is_some() => {
                let name = entry.custom_type.unwrap_or_default();
                let types = &mut self.types;
                let number = *self.by_type.entry(IdHash::of(name)).or_insert_with(|| {
                    types.push(Snapshots { name: name.text().into(), entries: Vec::new() });
                    types.len() - 1
                });
                types[number].entries.push((at, line.len + 1));
            }
            _ if entry.message.is_some() => {
                let least = [self.rules.outside, self.rules.inside].into_iter().flatten().min();
                let limit = least.unwrap_or(SlimRules::default().outside.unwrap_or_default());
                if line.len <= limit {
                    return;
                }
                let saved = |how: Shortening| {
                    let new = shorten(line.bytes, how).map(|new| new.len() as u64);
                    new.map_or(0, |new| line.len.saturating_sub(new))
                };
                let limits = [self.rules.outside.unwrap_or(limit), self.rules.inside.unwrap_or(limit)];
                let saved = [Shortening::remove(limits[0]), Shortening::shorten(limits[1])].map(saved);
                if saved != [0, 0] {
                    self.large.push(LargeContent { at, saved });
                }
            }
            _ => {}
        }
    }

    /// Decides after the last line.
    ///
    /// # Errors
    /// The file is not a session, or is damaged.
    pub fn finish(self) -> Result<SlimPlan, SlimError> {
        self.lines.session()?;
        let links = self.lines.parent_links();
        if let Some(problem) = self.lines.problems(&links).into_iter().next() {
            return Err(SlimError::Damaged(problem));
        }
        let mut plan = SlimPlan::default();
        let protected = self.protected(&links);
        let mut is_removed = vec![false; protected.len()];
        self.snapshots(&links, &protected, (&mut is_removed, &mut plan.savings));
        let labeled: Vec<Index> = self.lines.labels(&links).into_keys().collect();
        let in_context = self.contexts.in_context(&self.lines, &links, &labeled);
        let offset = |at: Index| self.lines.offsets[at as usize];
        for LargeContent { at, saved: [removed, shortened] } in &self.large {
            let (saving, bytes, how) = match in_context[*at as usize] {
                false => (&mut plan.savings.outside, *removed, self.rules.outside.map(Shortening::remove)),
                true => (&mut plan.savings.inside, *shortened, self.rules.inside.map(Shortening::shorten)),
            };
            if bytes == 0 {
                continue;
            }
            if self.is_shared[*at as usize] {
                plan.savings.shared.add(bytes);
                continue;
            }
            saving.add(bytes);
            if let Some(how) = how {
                plan.savings.total += bytes;
                plan.changes.entry(offset(*at)).or_default().shortening = Some(how);
            }
        }
        // The nearest kept ancestor of each removed entry. Parents come first: see `snapshots`.
        let mut kept: Vec<Option<Index>> = vec![None; is_removed.len()];
        for (at, parent) in (0..).zip(&links.parents) {
            let parent = *parent;
            let removed_parent = parent.filter(|&parent| is_removed[parent as usize]);
            let nearest = removed_parent.map_or(parent, |parent| kept[parent as usize]);
            kept[at as usize] = nearest;
            if is_removed[at as usize] {
                plan.changes.entry(offset(at)).or_default().is_removed = true;
            } else if removed_parent.is_some() {
                let nearest = nearest.map(offset);
                plan.changes.entry(offset(at)).or_default().parent = Some(nearest);
                plan.new_parents.extend(nearest);
            }
        }
        Ok(plan)
    }

    /// Returns `true` for each entry that must stay: the last one, shared ones with their parents, and those to which
    /// others refer.
    fn protected(&self, links: &ParentLinks) -> Vec<bool> {
        let mut protected = self.is_shared.clone();
        for (at, parent) in links.parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|_| self.is_shared[at]) {
                protected[parent as usize] = true;
            }
        }
        let targets = self.targets.iter().filter_map(|&id| links.find(id));
        for at in targets.chain(self.contexts.referenced(&self.lines, links)) {
            protected[at as usize] = true;
        }
        protected.last_mut().into_iter().for_each(|last| *last = true);
        protected
    }

    /// Finds the snapshots to remove: all except those after which a branch end follows without another one of the type.
    fn snapshots(
        &self,
        links: &ParentLinks,
        protected: &[bool],
        (is_removed, savings): (&mut [bool], &mut SlimSavings),
    ) {
        // pi writes parents before their children. In another order, snapshots stay.
        if links.parents.iter().zip(0..).any(|(parent, at)| parent.is_some_and(|parent| parent >= at)) {
            return;
        }
        let mut is_end = vec![true; protected.len()];
        links.parents.iter().flatten().for_each(|&parent| is_end[parent as usize] = false);
        self.targets.iter().filter_map(|&id| links.find(id)).for_each(|at| is_end[at as usize] = true);
        for Snapshots { name, entries } in &self.types {
            if entries.len() < SNAPSHOTS || name.starts_with(OF_PI) || NO_SNAPSHOTS.contains(&&**name) {
                continue;
            }
            let is_on = self.rules.snapshots && !self.rules.kept_types.contains(name);
            let mut saving = SlimSaving::default();
            let mut is_last = is_end.clone(); // an end is at or below the entry, without a snapshot between them
            let mut left = entries.iter().rev().peekable();
            for at in (0..links.parents.len()).rev() {
                let snapshot = left.next_if(|(entry, _)| *entry as usize == at);
                match snapshot {
                    Some(_) if is_last[at] => {}
                    Some(&(_, bytes)) if !protected[at] => {
                        saving.add(bytes);
                        is_removed[at] |= is_on;
                    }
                    Some(&(_, bytes)) if self.is_shared[at] => savings.shared.add(bytes),
                    Some(_) => {}
                    None => links.parents[at].into_iter().for_each(|parent| is_last[parent as usize] |= is_last[at]),
                }
            }
            if saving.count > 0 {
                savings.total += if is_on { saving.bytes } else { 0 };
                savings.snapshots.push((name.clone(), saving, is_on));
            }
        }
        savings.snapshots.sort_by_key(|(_, saving, _)| std::cmp::Reverse(saving.bytes));
    }
}

/// Applies a plan to the lines of a file in order.
#[derive(Debug)]
pub struct SlimWriter<'a> {
    plan: &'a SlimPlan,
    /// The raw IDs of the entries that get other children.
    ids: HashMap<u64, Vec<u8>>,
}

impl<'a> SlimWriter<'a> {
    /// Starts a file.
    pub fn new(plan: &'a SlimPlan) -> Self {
        Self { plan, ids: HashMap::new() }
    }

    /// Returns the new line for the one at an offset, without its line break. Returns `Ok(None)` if it is removed.
    ///
    /// # Errors
    /// The file is not the one for which the plan was made.
    pub fn line<'l>(&mut self, offset: u64, line: &'l [u8]) -> Result<Option<Cow<'l, [u8]>>, Outdated> {
        if self.plan.new_parents.contains(&offset) {
            let id = RawObject::new(line).and_then(|object| object.get("id").map(<[u8]>::to_vec)).ok_or(Outdated)?;
            self.ids.insert(offset, id);
        }
        let Some(change) = self.plan.changes.get(&offset) else { return Ok(Some(line.into())) };
        if change.is_removed {
            return Ok(None);
        }
        let mut new = Cow::Borrowed(line);
        if let Some(parent) = change.parent {
            let id = match parent {
                Some(parent) => self.ids.get(&parent).ok_or(Outdated)?,
                None => &b"null"[..],
            };
            new = RawObject::new(line).ok_or(Outdated)?.with(&[("parentId", Some(id))]).into();
        }
        if let Some(how) = change.shortening {
            new = shorten(&new, how).ok_or(Outdated)?.into();
        }
        Ok(Some(new))
    }
}

/// The file has changed since its plan was made.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the file has changed")]
pub struct Outdated;
