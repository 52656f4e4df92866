//! A session that a query is held against, and where in it something may match.

use std::ops::Range;

use crate::base::fold::fold;
use crate::search::fuzzy::capped;
use crate::session::digest::Digest;
use crate::session::digest::texts::Texts;
use crate::session::tree::Index;

/// What a list shows of a session, folded once, so that a key finds it fast.
#[derive(Clone, Debug, Default)]
pub struct Titles {
    /// The name; empty if there is none.
    pub name: Box<str>,
    /// The id in the header.
    pub id: Box<str>,
    /// The working directory.
    pub cwd: Box<str>,
    /// The beginning of the first message.
    pub first_message: Box<str>,
    /// The labels, with the entries that have them.
    pub labels: Box<[(Index, Box<str>)]>,
}

impl Titles {
    /// Folds what is known of a session.
    pub fn new(digest: &Digest) -> Self {
        let folded = |text: &str| fold(text).into_boxed_str();
        Self {
            name: folded(digest.name.as_deref().unwrap_or_default()),
            id: folded(&digest.header.id),
            cwd: folded(&digest.header.cwd),
            labels: digest.labels.iter().map(|label| (label.at, folded(&label.text))).collect(),
            first_message: folded(capped(digest.first_message.as_deref().unwrap_or_default())),
        }
    }
}

/// A session to try, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What a list knows of it.
    pub digest: &'a Digest,
    /// What it shows of that, folded.
    pub titles: &'a Titles,
    /// Its texts, if they were read. Until then only the digest is searched.
    pub texts: Option<&'a Texts>,
    /// Whether a pi is at work in it.
    pub is_live: bool,
    /// Whether other sessions were forked from it.
    pub has_forks: bool,
    /// Whether it was forked from another one.
    pub is_fork: bool,
}

/// What can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchField {
    /// The name.
    Name,
    /// A label.
    Label,
    /// What users and assistants said.
    Conversation,
    /// The first message, while the conversation was not read, or fuzzily.
    FirstMessage,
    /// A summary of a compaction or a branch.
    Summary,
    /// The id of the session.
    Id,
    /// The working directory.
    Cwd,
    /// A file that a tool touched.
    File,
}

/// Where something matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPlace {
    /// In what.
    pub field: MatchField,
    /// The entry, if it stands in one.
    pub entry: Option<Index>,
    /// The bytes of the folded text: of the label, of all passages of the session, of the title. Empty for a file.
    pub at: Range<usize>,
}
