//! The details of a digest that lists do not show. They are read only when needed. They contain keys that identify the
//! entries of a session in all files, and their usage. A fork contains copies of its parent's entries, which were paid
//! for once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::base::sort;
use crate::session::digest::messages::LastMessage;
use crate::session::digest::touched_files::TouchedFiles;
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::json::Str;
use crate::session::links::{ActivePath, ById, EntryIndex, IdHash};
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;

/// The details of a session that lists do not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The first user message with text, if the digest has only its start.
    pub first_message: Option<String>,
    /// The user messages, in file order.
    pub prompts: Box<[EntryIndex]>,
    /// The last prompt on the active path.
    pub last_prompt: Option<LastMessage>,
    /// The last answer after that prompt.
    pub last_answer: Option<LastMessage>,
    /// The newest message if it is not on the active path, which ends with settings or extension state.
    pub newer_message: Option<EntryIndex>,
    /// The offset of each entry, in bytes.
    pub offsets: Box<[u64]>,
    /// The keys and usage of the entries.
    pub entries: EntryKeys,
    /// The tool calls that read, wrote or edited a file.
    pub touches: TouchedFiles,
    /// The number of calls of each tool.
    pub tools: BTreeMap<Box<str>, u32>,
    /// The models that answered, by number of answers.
    pub models: Vec<(Box<str>, ModelUse)>,
    /// The requested models for which another one answered.
    pub requested_models: BTreeSet<Box<str>>,
    /// The active path as a bit set.
    pub active: ActivePath,
}

impl Details {
    /// Returns the names of the models that answered, and of those that were requested.
    pub(crate) fn model_names(&self) -> impl Iterator<Item = &str> {
        let answered = self.models.iter().map(|(model, _)| &**model);
        answered.chain(self.requested_models.iter().map(|model| &**model))
    }
}

/// A source of stored details of sessions.
pub trait DetailsSource: fmt::Debug + Send + Sync {
    /// Returns the details of the session at the given place, with its file path.
    fn details(&self, at: u64, path: &Path) -> Details;

    /// Returns the statistics of its entries.
    fn stats(&self, at: u64, path: &Path) -> SessionStats;

    /// Returns the sums of its entries.
    fn sums(&self, at: u64, path: &Path) -> SessionSums;

    /// Reads the search texts into reusable buffers. Returns `None` if they are not available.
    fn texts<'a>(&self, at: u64, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>>;
}

impl<T: DetailsSource> DetailsSource for Arc<T> {
    fn details(&self, at: u64, path: &Path) -> Details {
        (**self).details(at, path)
    }

    fn stats(&self, at: u64, path: &Path) -> SessionStats {
        (**self).stats(at, path)
    }

    fn sums(&self, at: u64, path: &Path) -> SessionSums {
        (**self).sums(at, path)
    }

    fn texts<'a>(&self, at: u64, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        (**self).texts(at, buffers)
    }
}

/// Details and statistics that are loaded, or read on demand.
#[derive(Clone, Debug, Default)]
pub struct LazyDetails {
    pub(super) here: OnceLock<Arc<Details>>,
    pub(super) stats: Option<Arc<SessionStats>>,
    pub(super) stored: Option<(Arc<dyn DetailsSource>, u64)>,
}

impl From<Details> for LazyDetails {
    fn from(details: Details) -> Self {
        Self { here: Arc::new(details).into(), ..Self::default() }
    }
}

impl LazyDetails {
    /// Creates details and statistics that were just read.
    pub(crate) fn new(details: Details, stats: SessionStats) -> Self {
        Self { stats: Some(Arc::new(stats)), ..details.into() }
    }

    /// Creates details that are read on demand, by their place in the source.
    pub(crate) fn stored(source: Arc<dyn DetailsSource>, at: u64) -> Self {
        Self { stored: Some((source, at)), ..Self::default() }
    }
}

/// The number of entries and prompts, and their total usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryTotals {
    /// The number of entries.
    pub entries: usize,
    /// The number of messages of the user.
    pub prompts: usize,
    /// US dollars.
    pub cost: f64,
    /// Input and output tokens, including cached ones.
    pub tokens: f64,
}

impl AddAssign for EntryTotals {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.prompts += other.prompts;
        self.cost += other.cost;
        self.tokens += other.tokens;
    }
}

/// The usage of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryUsage {
    /// The entry.
    pub at: EntryIndex,
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
    pub inherited: EntryIndex,
}

/// Returns a key that identifies an entry in all files. Forks and copies keep IDs and times (pi 1.6.0). IDs alone are
/// not enough: they have 8 hex digits and are unique only in their file. Forks contain labels with new IDs, so the key
/// of a label is its target and text. The key of an entry without a time is its line. Without an ID, its index `at` is
/// added. `id` is the ID of the entry.
pub(crate) fn identity(
    entry: &Entry<'_>,
    id: Option<IdHash>,
    at: EntryIndex,
    time: Option<i64>,
    line: &[u8],
) -> IdHash {
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
            self.used.push(EntryUsage { at: self.ids.len() as EntryIndex, cost, tokens });
        }
        self.ids.push(id);
        if inherits {
            self.inherited = self.ids.len() as EntryIndex;
        }
    }

    /// Returns the last entry that a fork inherited.
    pub(crate) fn last_inherited(&self) -> Option<IdHash> {
        self.ids.get((self.inherited as usize).checked_sub(1)?).copied()
    }

    /// Returns the totals, in which each entry counts once, and the entries that repeat earlier ones. `may_repeat` is
    /// `true` if entries may occur twice. `prompts` are the messages of the user.
    pub(crate) fn finish(&mut self, may_repeat: bool, prompts: &[EntryIndex]) -> (EntryTotals, Vec<EntryIndex>) {
        let mut all = EntryTotals { entries: self.ids.len(), prompts: prompts.len(), ..EntryTotals::default() };
        let mut repeated = Vec::new();
        if may_repeat {
            let mut seen = ById::<()>::default();
            let ids = (0..).zip(&self.ids);
            repeated.extend(ids.filter(|(_, id)| seen.insert(**id, ()).is_some()).map(|(at, _)| at));
            self.used.retain(|used| repeated.binary_search(&used.at).is_err());
            all.entries -= repeated.len();
            all.prompts -= prompts.iter().filter(|at| repeated.binary_search(at).is_ok()).count();
        }
        for used in &self.used {
            all.cost += used.cost;
            all.tokens += used.tokens;
        }
        self.ids.shrink_to_fit();
        self.used.shrink_to_fit();
        (all, repeated)
    }
}

/// The use of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelUse {
    /// The number of answers.
    pub answers: usize,
    /// US dollars.
    pub cost: f64,
}

/// Counts the answers of each model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Models(BTreeMap<Box<str>, ModelUse>);

impl Models {
    /// Adds an answer and its cost.
    pub(crate) fn note(&mut self, model: Str<'_>, cost: f64) {
        let name = model.text();
        let uses = match self.0.get_mut(&*name) {
            Some(uses) => uses,
            None => self.0.entry((&*name).into()).or_default(),
        };
        uses.answers += 1;
        uses.cost += cost;
    }

    /// Returns the models by number of answers, highest first.
    pub(crate) fn busiest_first(self) -> Vec<(Box<str>, ModelUse)> {
        let mut models: Vec<_> = self.0.into_iter().collect();
        sort::by_key(&mut models, |(_, uses)| Reverse(uses.answers));
        models
    }
}
