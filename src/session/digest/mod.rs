//! Summaries of sessions without their trees, for lists, cards, palettes and searches. The [`builder`] collects them in
//! one pass.
//!
//! Digests match pi's `SessionManager.listAll` (0.74.2, 0.87.1) with two intended differences. Sessions in which some
//! `content` is null are shown; pi's list omits them. A single carriage return does not end a line, as in pi's tree.
//! Indexes of entries, labels and the active path match [`crate::session::tree::Tree`].

pub mod builder;
pub mod commits;
pub mod details;
pub mod facts;
pub mod joined_path;
pub mod listed;
pub mod messages;
pub mod touched_files;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::digest::commits::DigestCommit;
use crate::session::digest::details::{Details, EntryTotals, LazyDetails};
use crate::session::entry::EntryId;
use crate::session::lines::Header;
use crate::session::links::{EntryIndex, IdHash};
use crate::session::problem::Problem;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;

/// The summary of a session without its tree. File system data and details are not serialized with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Digest {
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The path by which other files refer to this one, if it differs: with symbolic links resolved, or the original path
    /// of an archived session.
    #[serde(skip)]
    pub real_path: Option<PathBuf>,
    /// `true` if the file itself is a symbolic link.
    #[serde(skip)]
    pub is_link: bool,
    /// The parent of a fork, with symbolic links resolved if the file exists.
    #[serde(skip)]
    pub parent_path: Option<PathBuf>,
    /// The parent session of a subagent, if the file is deeper than pi's list looks.
    #[serde(skip)]
    pub owner: Option<SubagentOwner>,
    /// The length of the file in bytes.
    #[serde(skip)]
    pub bytes: u64,
    /// The modification time of the file, in milliseconds since 1970.
    #[serde(skip)]
    pub mtime: i64,
    /// The time of the last entry that is no label, name or context edit, in milliseconds since 1970, if it has one. pitree
    /// appends only these.
    pub written: Option<i64>,
    /// The header.
    pub header: Header,
    /// The last name; `None` if it is missing or cleared.
    pub name: Option<String>,
    /// The start of the first user message with text: see [`Digest::first_message`].
    pub first_message: Option<String>,
    /// The start of the typed words of the first user message, if it starts with a wrapper such as an expanded skill.
    pub typed: Option<String>,
    /// The start of the typed words of the first user message that a fork did not inherit.
    pub own_message: Option<String>,
    /// The number of `message` entries.
    pub message_count: usize,
    /// The number of entries without the header.
    pub entry_count: usize,
    /// The time of the newest user or assistant message, or else of the header, or else of the file, in milliseconds
    /// since 1970. `None` if the newest time is invalid (pi shows an invalid date).
    pub modified: Option<i64>,
    /// The number of entries with more than one child, without stubs: see
    /// [`Tree::is_stub`](crate::session::tree::Tree::is_stub).
    pub branch_points: usize,
    /// The number of entries without children, without stubs.
    pub leaves: usize,
    /// The current labels, in file order of their entries.
    pub labels: Vec<DigestLabel>,
    /// The commits that shell commands printed, in file order.
    pub commits: Vec<DigestCommit>,
    /// US dollars for all lines of the file, including copied ones.
    pub cost: f64,
    /// Input and output tokens for all lines, including cached ones.
    pub tokens: f64,
    /// The totals of all entries, each counted once.
    pub all: EntryTotals,
    /// The keys of the root entries: see [`EntryKeys`](details::EntryKeys). Files that share an entry share one of
    /// these keys.
    pub roots: Box<[IdHash]>,
    /// The problems of the file.
    pub problems: Vec<Problem>,
    /// The details.
    #[serde(skip)]
    pub details: LazyDetails,
}

/// A current label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestLabel {
    /// The labeled entry.
    pub entry: EntryId,
    /// The index of the entry in the file.
    pub at: EntryIndex,
    /// The label.
    pub text: Box<str>,
    /// The time when it was set, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The text of the entry's row.
    pub row: Box<str>,
}

/// The owner of a subagent session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentOwner {
    /// The session file next to the directory of the subagent, if there is one.
    pub path: Option<PathBuf>,
}

/// pi's title for a session without user text.
pub(crate) const NO_MESSAGES: &str = "(no messages)";

impl Digest {
    /// Returns the trimmed name, or else the first message (the first own one of a fork), or else pi's placeholder.
    pub fn title(&self) -> &str {
        let title = self.name.as_deref().or(self.own_message.as_deref()).or(self.typed_message());
        let title = title.map_or("", str::trim);
        if title.is_empty() { NO_MESSAGES } else { title }
    }

    /// Returns the start of the first user message with text, without wrappers.
    pub(crate) fn typed_message(&self) -> Option<&str> {
        self.typed.as_deref().or(self.first_message.as_deref())
    }

    /// Returns the details and reads them if needed.
    pub fn details(&self) -> &Arc<Details> {
        self.details.here.get_or_init(|| self.read_details())
    }

    /// Returns the details without caching them, for callers that read many sessions and keep little of each.
    pub(crate) fn details_once(&self) -> Arc<Details> {
        self.details.here.get().cloned().unwrap_or_else(|| self.read_details())
    }

    /// Returns the statistics of the entries, without caching them if they are read.
    pub fn stats(&self) -> Arc<SessionStats> {
        let LazyDetails { stats, stored, .. } = &self.details;
        let read = || stored.as_ref().map(|(source, at)| source.stats(*at, &self.path)).unwrap_or_default().into();
        stats.clone().unwrap_or_else(read)
    }

    /// Returns the sums of the entries.
    pub fn sums(&self) -> SessionSums {
        let LazyDetails { stats, stored, .. } = &self.details;
        match (stats, stored) {
            (Some(stats), _) => SessionSums::new(stats),
            (None, Some((source, at))) => source.sums(*at, &self.path),
            (None, None) => SessionSums::default(),
        }
    }

    fn read_details(&self) -> Arc<Details> {
        self.details.stored.as_ref().map(|(source, at)| source.details(*at, &self.path)).unwrap_or_default().into()
    }

    /// Returns the details for modification.
    #[cfg(test)]
    pub(crate) fn details_mut(&mut self) -> &mut Details {
        self.details();
        Arc::make_mut(self.details.here.get_mut().unwrap())
    }

    /// Returns `true` if the details and texts are in the index.
    pub(crate) fn is_stored(&self) -> bool {
        self.details.stored.is_some()
    }

    /// Returns the search texts from the index in reusable buffers, or `None` if they are not available.
    pub fn texts<'a>(&self, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let (source, at) = self.details.stored.as_ref()?;
        source.texts(*at, buffers)
    }

    /// Returns the complete first user message with text.
    pub fn first_message(&self) -> Option<Cow<'_, str>> {
        let start = self.first_message.as_deref()?;
        let is_cut = start.len() >= builder::FIRST_MESSAGE;
        Some(match is_cut.then(|| self.details().first_message.as_deref()).flatten() {
            Some(whole) => whole.into(),
            None => start.into(),
        })
    }

    /// Returns the path by which other files refer to this one.
    pub(crate) fn real_path(&self) -> &PathBuf {
        self.real_path.as_ref().unwrap_or(&self.path)
    }

    /// Returns the key that identifies an entry in all files.
    pub(crate) fn entry_key(&self, at: EntryIndex) -> Option<IdHash> {
        self.details().entries.ids.get(at as usize).copied()
    }

    /// Returns the key that identifies a label in all files: its entry and its text.
    pub(crate) fn label_key<'a>(&self, label: &'a DigestLabel) -> (Option<IdHash>, &'a str) {
        (self.entry_key(label.at), &label.text)
    }

    /// Returns the key that identifies a commit in all files: its entry and its hash.
    pub(crate) fn commit_key<'a>(&self, commit: &'a DigestCommit) -> (Option<IdHash>, &'a str) {
        (self.entry_key(commit.at), &commit.sha)
    }

    /// Returns the word for entries that are copies of other entries.
    pub(crate) fn copied_entries_text(&self) -> &'static str {
        if self.header.is_fork() { "inherited" } else { "copied" }
    }

    /// Returns the sort key for times: sessions with an invalid time are last.
    pub fn order_time(&self) -> i64 {
        self.modified.unwrap_or(i64::MIN)
    }

    /// Returns `true` if the entry is on the active path.
    pub fn is_active(&self, at: EntryIndex) -> bool {
        self.details().active.has(at)
    }
}
