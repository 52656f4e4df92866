//! Keys that identify the entries of a session in all files, and their usage. A fork contains copies of its parent's
//! entries, which were paid for once.

use std::collections::HashSet;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::links::{ById, IdHash, Index};

/// The number of entries and their total usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryTotals {
    /// The number of entries.
    pub entries: usize,
    /// US dollars.
    pub cost: f64,
    /// Input and output tokens, including cached ones.
    pub tokens: f64,
}

impl AddAssign for EntryTotals {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.cost += other.cost;
        self.tokens += other.tokens;
    }
}

/// The usage of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryUsage {
    /// The entry.
    pub at: Index,
    /// US dollars.
    pub cost: f64,
    /// The number of tokens.
    pub tokens: f64,
}

/// The keys and usage of the entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryKeys {
    /// The key of each entry, in file order: a hash of its ID and time.
    pub ids: Vec<IdHash>,
    /// The usage, in file order. Repeated entries are counted once.
    pub used: Vec<EntryUsage>,
    /// The number of entries up to the last one that a fork inherited.
    pub inherited: Index,
}

/// Returns a key that identifies an entry in all files. Forks and copies keep IDs and times (pi 1.5.2). IDs alone are
/// not enough: they have 8 hex digits and are unique only in their file. Forks contain labels with new IDs, so the key
/// of a label is its target and text. The key of an entry without a time is its line. Without an ID, its index `at` is
/// added. `id` is the ID of the entry.
pub(crate) fn identity(entry: &Entry<'_>, id: Option<IdHash>, at: Index, time: Option<i64>, line: &[u8]) -> IdHash {
    let known = match entry.target_id.filter(|_| entry.kind == EntryKind::Label) {
        Some(target) => Some(IdHash::of(target).with(IdHash::of(entry.label.unwrap_or_default()))),
        None => id,
    };
    match (known, time) {
        (Some(id), Some(time)) => id.with(IdHash::number(time as u64)),
        (Some(_), None) => IdHash::new(line),
        (None, _) => IdHash::new(line).with(IdHash::number(u64::from(at))),
    }
}

impl EntryKeys {
    /// Adds the next entry. `inherits` is `true` if the fork inherited it.
    pub(crate) fn push(&mut self, id: IdHash, cost: f64, tokens: f64, inherits: bool) {
        if cost != 0.0 || tokens != 0.0 {
            self.used.push(EntryUsage { at: self.ids.len() as Index, cost, tokens });
        }
        self.ids.push(id);
        if inherits {
            self.inherited = self.ids.len() as Index;
        }
    }

    /// Returns the last entry that a fork inherited.
    pub(crate) fn last_inherited(&self) -> Option<IdHash> {
        self.ids.get((self.inherited as usize).checked_sub(1)?).copied()
    }

    /// Returns the totals and counts each entry once. `may_repeat` is `true` if entries may occur twice.
    pub(crate) fn finish(&mut self, may_repeat: bool) -> EntryTotals {
        let mut all = EntryTotals { entries: self.ids.len(), ..EntryTotals::default() };
        if may_repeat {
            let mut seen = ById::<()>::default();
            let ids = (0..).zip(&self.ids);
            let repeated: HashSet<Index> =
                ids.filter(|(_, id)| seen.insert(**id, ()).is_some()).map(|(at, _)| at).collect();
            self.used.retain(|used| !repeated.contains(&used.at));
            all.entries -= repeated.len();
        }
        for used in &self.used {
            all.cost += used.cost;
            all.tokens += used.tokens;
        }
        self.ids.shrink_to_fit();
        self.used.shrink_to_fit();
        all
    }
}
