//! What tells the entries of a session from all others, wherever they are copied to, and what they used: a fork holds its
//! parent's entries, and what they cost was paid once.

use std::collections::HashSet;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::links::{ById, IdHash, Index};

/// How many entries, and what they used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryTotals {
    /// Entries.
    pub entries: usize,
    /// US dollars.
    pub cost: f64,
    /// Tokens, in and out, cached ones included.
    pub tokens: f64,
}

impl AddAssign for EntryTotals {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.cost += other.cost;
        self.tokens += other.tokens;
    }
}

/// What an entry used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryUsage {
    /// The entry.
    pub at: Index,
    /// US dollars.
    pub cost: f64,
    /// Tokens.
    pub tokens: f64,
}

/// The entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryKeys {
    /// What each is known by in whichever file it stands, in file order: a hash of its id and time.
    pub ids: Vec<IdHash>,
    /// What they used, in file order. What stands twice in the file is here once.
    pub used: Vec<EntryUsage>,
    /// The number of entries up to the last one that a fork inherited.
    pub inherited: Index,
}

/// What an entry is known by in whichever file it stands. Forks and copies keep its id and its time (pi 1.5.2). Ids alone
/// are not enough: they are 8 hex digits, unique in their file. A label is written anew into a fork, with another id: it
/// is known by what it says. An entry without a time is known by its line, one without an id by that and its place. `id`
/// is its own, `at` its place.
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
    /// Takes the next entry; `inherits` if the fork inherited it.
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

    /// All together when all are there, each counted once; whether some may stand twice.
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
