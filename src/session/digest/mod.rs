//! What is known of a session without its tree: all that lists, cards, palettes and searches say of it. It is gathered
//! line by line in one pass by the [`builder`].
//!
//! Agrees with pi's `SessionManager.listAll` (0.74.2, 0.87.1), with two differences, on purpose: a session in which some
//! `content` is null, which pi's list leaves out, is shown, and a carriage return alone ends no line, as it doesn't for
//! pi's tree either. Places of entries, labels and the active path are those of [`crate::session::tree::Tree`].

pub mod builder;
pub mod details;
pub mod entries;
pub mod messages;
pub mod touched_files;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::session::digest::details::{Details, LazyDetails};
use crate::session::digest::entries::EntryTotals;
use crate::session::entry::EntryId;
use crate::session::lines::Header;
use crate::session::links::{IdHash, Index};
use crate::session::problem::Problem;
use crate::session::search_text::{SearchTexts, TextBuffers};

/// What is known of a session without its tree. What the file system knows of it, and its details, are not written with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Digest {
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The file with symbolic links resolved, if that differs.
    #[serde(skip)]
    pub real_path: Option<PathBuf>,
    /// Whether the file itself is a symbolic link.
    #[serde(skip)]
    pub is_link: bool,
    /// The file that this one was forked from, symbolic links resolved if it exists.
    #[serde(skip)]
    pub parent_path: Option<PathBuf>,
    /// The session whose sub-agent wrote this file, if the file lies deeper than pi's list looks.
    #[serde(skip)]
    pub owner: Option<SubagentOwner>,
    /// The length of the file in bytes.
    #[serde(skip)]
    pub bytes: u64,
    /// When the file was last written, in milliseconds since 1970.
    #[serde(skip)]
    pub mtime: i64,
    /// The time of the last entry that is neither a label nor a name, in milliseconds since 1970, if it has one. pitree
    /// appends no others.
    pub written: Option<i64>,
    /// Its first line.
    pub header: Header,
    /// The last name given; `None` if there is none or it was cleared.
    pub name: Option<String>,
    /// The first user message with text: its start, see [`Digest::first_message`].
    pub first_message: Option<String>,
    /// The start of the words typed in the first user message, if that starts with a wrapper such as an expanded skill.
    pub typed: Option<String>,
    /// The first user message with text that a fork did not inherit: the start of its typed words.
    pub own_message: Option<String>,
    /// `message` entries.
    pub message_count: usize,
    /// All entries; the header is none.
    pub entry_count: usize,
    /// The newest user or assistant message, else the header's time, else the file's, in milliseconds since 1970.
    /// `None` if the newest is no date (pi shows an invalid one).
    pub modified: Option<i64>,
    /// Entries with more than one child, stubs left out: see [`Tree::is_stub`](crate::session::tree::Tree::is_stub).
    pub branch_points: usize,
    /// Entries without children, stubs left out.
    pub leaves: usize,
    /// The labels that are set, in the order of their entries in the file.
    pub labels: Vec<DigestLabel>,
    /// US dollars, for all lines of the file: those that came from another session included.
    pub cost: f64,
    /// Tokens, in and out, cached ones included; for all lines.
    pub tokens: f64,
    /// All entries together, each counted once.
    pub all: EntryTotals,
    /// What the entries without one above them are known by: see [`Entries`](entries::EntryKeys). Files that share an entry
    /// share one of these.
    pub roots: Box<[IdHash]>,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
    /// The rest.
    #[serde(skip)]
    pub details: LazyDetails,
}

/// A label that is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestLabel {
    /// The entry that has it.
    pub entry: EntryId,
    /// Its place in the file.
    pub at: Index,
    /// The label.
    pub text: Box<str>,
    /// When it was set, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The text of the entry's row.
    pub row: Box<str>,
}

/// Where a sub-agent's session belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentOwner {
    /// The session file beside whose folder it was found, if there is one.
    pub path: Option<PathBuf>,
}

/// A digest as it is shared between the list and what is drawn of it.
pub type SharedDigest = Arc<Digest>;

/// What pi shows where no user message has text.
pub(crate) const NO_MESSAGES: &str = "(no messages)";

impl Digest {
    /// The name, or the first message (of a fork the first one of its own), or pi's words for none; without white space
    /// around.
    pub fn title(&self) -> &str {
        let title = self.name.as_deref().or(self.own_message.as_deref()).or(self.typed_message());
        let title = title.map_or("", str::trim);
        if title.is_empty() { NO_MESSAGES } else { title }
    }

    /// The start of the first user message with text, without wrappers.
    pub(crate) fn typed_message(&self) -> Option<&str> {
        self.typed.as_deref().or(self.first_message.as_deref())
    }

    /// What is known beyond what lists show: it may be read now.
    pub fn details(&self) -> &Arc<Details> {
        self.details.get(&self.path)
    }

    /// The same, for who looks at many sessions and keeps little of each: what is not here is read for this once.
    pub(crate) fn details_once(&self) -> Arc<Details> {
        self.details.once(&self.path)
    }

    /// What is known beyond what lists show, to change.
    #[cfg(test)]
    pub(crate) fn details_mut(&mut self) -> &mut Details {
        self.details.get_mut(&self.path)
    }

    /// Whether its details and texts lie where they were kept when it was read.
    pub(crate) fn is_stored(&self) -> bool {
        self.details.is_stored()
    }

    /// Its texts as they were kept when it was read, looked at in a room that is used again; `None` if they can't be had
    /// there.
    pub fn texts<'a>(&self, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        self.details.texts(buffers)
    }

    /// The first user message with text, however long it is.
    pub fn first_message(&self) -> Option<Cow<'_, str>> {
        let start = self.first_message.as_deref()?;
        let is_cut = start.len() >= builder::FIRST_MESSAGE;
        Some(match is_cut.then(|| self.details().first_message.as_deref()).flatten() {
            Some(whole) => whole.into(),
            None => start.into(),
        })
    }

    /// The path that other files name this one by.
    pub(crate) fn real_path(&self) -> &PathBuf {
        self.real_path.as_ref().unwrap_or(&self.path)
    }

    /// What an entry is known by in whichever file it stands.
    pub(crate) fn known_as(&self, at: Index) -> Option<IdHash> {
        self.details().entries.ids.get(at as usize).copied()
    }

    /// What a label is known by in whichever file it stands: its entry and its text.
    pub(crate) fn known_by<'a>(&self, label: &'a DigestLabel) -> (Option<IdHash>, &'a str) {
        (self.known_as(label.at), &label.text)
    }

    /// What its entries stand with if some of them came from another session, in words.
    pub(crate) fn came_with(&self) -> &'static str {
        if self.header.is_fork() { "with its parent's" } else { "with what it copies" }
    }

    /// Orders sessions by their age, the oldest first.
    pub(crate) fn age(&self) -> (i64, &PathBuf) {
        (self.header.created.unwrap_or(i64::MAX), &self.path)
    }

    /// The time to order by: sessions whose time is no date come last.
    pub fn order_time(&self) -> i64 {
        self.modified.unwrap_or(i64::MIN)
    }

    /// Whether the entry is on the path from the root to the leaf.
    pub fn is_active(&self, at: Index) -> bool {
        self.details().active.has(at)
    }
}
