//! A session to match with a query, the places of matches, and compiled qualifiers: tests of sessions and of their
//! entries.

use std::ops::Range;
use std::sync::Arc;

use crate::session::digest::Digest;
use crate::session::entry::Entry;
use crate::session::links::EntryIndex;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::SearchTitles;
use crate::session::tree::EntryFeature;

/// A session to match, with all available data.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The digest of the session.
    pub digest: &'a Digest,
    /// The folded titles.
    pub titles: SearchTitles<'a>,
    /// The texts, or `None` if they are not loaded. Without texts, only the digest is searched.
    pub texts: Option<SearchTexts<'a>>,
    /// `true` if a pi is active in the session.
    pub is_live: bool,
    /// `true` if the session has forks.
    pub has_forks: bool,
    /// The machines of other copies of the session.
    pub copies: &'a [MachineName],
}

/// The name of another machine; `None` is this machine.
pub type MachineName = Option<Box<str>>;

/// The field of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchField {
    /// The session name.
    Name,
    /// A label.
    Label,
    /// User and assistant messages.
    Conversation,
    /// The first message, used for fuzzy matches and until the conversation is loaded.
    FirstMessage,
    /// The summary of a compaction or a branch.
    Summary,
    /// The id of the session.
    Id,
    /// The working directory.
    Cwd,
    /// A file touched by a tool.
    File,
}

/// The place of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPlace {
    /// The field that matched.
    pub field: MatchField,
    /// The entry of the match, if the field belongs to one.
    pub entry: Option<EntryIndex>,
    /// The byte range in the folded text of the label, the passages or the title. Empty for a file.
    pub at: Range<usize>,
}

/// A function that returns matching entries.
pub(crate) type EntryFilter = Arc<dyn Fn(&Candidate<'_>) -> Vec<EntryIndex> + Send + Sync>;

/// The entries for which a term holds.
pub(crate) enum EntryScope {
    /// All entries or none.
    Session,
    /// The entries returned by a filter over the cached data of a session.
    Known(EntryFilter),
    /// The entries with a feature in the tree, if no other term is about entries.
    Tree(EntryFeature),
    /// The entries whose line passes a test.
    Read(Box<dyn Fn(&Entry<'_>) -> bool + Send + Sync>),
}

/// A compiled test of sessions.
pub(crate) type Test = Box<dyn Fn(&Candidate<'_>) -> TestResult + Send + Sync>;

/// A compiled qualifier.
pub(crate) struct Condition {
    /// The test of sessions.
    pub(crate) test: Test,
    /// The entries for which it holds.
    pub(crate) entries: EntryScope,
}

impl Condition {
    /// Creates a condition on sessions as a whole.
    pub(crate) fn of_session(holds: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self { test: Box::new(move |session| holds(session).into()), entries: EntryScope::Session }
    }

    /// Creates a condition on entries in the cached data. The place of a session is the first one, in `field`.
    pub(crate) fn of_entries(
        field: Option<MatchField>,
        entries: impl Fn(&Candidate<'_>) -> Vec<EntryIndex> + Send + Sync + 'static,
    ) -> Self {
        let entries: EntryFilter = Arc::new(entries);
        let found = entries.clone();
        let test = move |session: &Candidate<'_>| match found(session).first() {
            Some(&entry) => TestResult::At(field.map(|field| MatchPlace { field, entry: Some(entry), at: 0..0 })),
            None => TestResult::No,
        };
        Self { test: Box::new(test), entries: EntryScope::Known(entries) }
    }

    /// Returns the condition with other entries.
    pub(crate) fn with_entries(self, entries: EntryScope) -> Self {
        Self { entries, ..self }
    }
}

/// The result of a test.
#[derive(Debug, PartialEq)]
pub(crate) enum TestResult {
    No,
    /// The session matches at this place.
    At(Option<MatchPlace>),
}

impl From<bool> for TestResult {
    fn from(holds: bool) -> Self {
        if holds { Self::At(None) } else { Self::No }
    }
}

impl From<Option<MatchPlace>> for TestResult {
    fn from(place: Option<MatchPlace>) -> Self {
        place.map_or(Self::No, |place| Self::At(Some(place)))
    }
}
