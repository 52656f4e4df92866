//! A session that a query is held against, and where in it something may match.

use std::ops::Range;

use crate::base::normalize::fold;
use crate::search::fuzzy::capped;
use crate::session::digest::Digest;
use crate::session::links::Index;
use crate::session::search_text::{Passages, PassagesBuf, SearchTexts};

/// What a list shows of a session, folded, so that a key finds it fast.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchTitles<'a> {
    /// The name; empty if there is none.
    pub name: &'a str,
    /// The id in the header.
    pub id: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The beginning of the first message.
    pub first_message: &'a str,
    /// The labels, with the entries that have them.
    pub labels: Passages<'a>,
}

/// [`SearchTitles`] that stand for themselves.
#[derive(Clone, Debug, Default)]
pub struct TitlesBuf {
    name: String,
    id: String,
    cwd: String,
    first_message: String,
    labels: PassagesBuf,
}

impl TitlesBuf {
    /// Folds what is known of a session.
    pub fn new(digest: &Digest) -> Self {
        let mut labels = PassagesBuf::default();
        digest.labels.iter().for_each(|label| labels.push(label.at, &label.text));
        Self {
            name: fold(digest.name.as_deref().unwrap_or_default()),
            id: fold(&digest.header.id),
            cwd: fold(&digest.header.cwd),
            first_message: fold(capped(digest.first_message.as_deref().unwrap_or_default())),
            labels,
        }
    }

    /// To look at.
    pub fn as_titles(&self) -> SearchTitles<'_> {
        let Self { name, id, cwd, first_message, labels } = self;
        SearchTitles { name, id, cwd, first_message, labels: labels.as_passages() }
    }
}

/// A session to try, with all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// What a list knows of it.
    pub digest: &'a Digest,
    /// What it shows of that, folded.
    pub titles: SearchTitles<'a>,
    /// Its texts, if they were read. Until then only the digest is searched.
    pub texts: Option<SearchTexts<'a>>,
    /// Whether a pi is at work in it.
    pub is_live: bool,
    /// Whether other sessions were forked from it.
    pub has_forks: bool,
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
