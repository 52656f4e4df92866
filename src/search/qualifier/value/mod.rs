//! The values of qualifiers: numbers (`bound`), times (`date`) and free texts, and known values for completion.

pub(crate) mod bound;
pub(crate) mod date;

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::base::javascript::is_js_space;
use crate::base::normalize::fold;
use crate::base::sort;
use crate::search::known_secrets::KnownSecrets;
use crate::search::lost_work::LostSessions;
use crate::session::digest::Digest;
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::worktrees::Worktrees;

/// The context of a query: the meaning of `~`, `today` and `2w`.
#[derive(Clone, Debug)]
pub struct QueryScope {
    /// The current time in milliseconds since 1970.
    pub now_ms: i64,
    /// The home directory, for `~`.
    pub home: String,
    /// The current directory, for `.`; empty if unknown.
    pub dir: String,
    /// The time zone of dates.
    pub zone: TimeZone,
    /// The known secrets, if the query needs them.
    pub secrets: Option<Arc<KnownSecrets>>,
    /// The lost work, if the query needs it.
    pub lost: Option<Arc<LostSessions>>,
    /// The lasting marks; can be empty if the query does not need them.
    pub marks: Arc<Marks>,
    /// The newest shown messages; can be empty if the query does not need them.
    pub last_seen: Arc<LastSeen>,
    /// The worktrees of working directories; can be empty if the query does not need them.
    pub worktrees: Arc<Worktrees>,
}

/// The needs of a query besides the sessions: a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs(u8);

impl Needs {
    /// Only the sessions.
    pub(crate) const NOTHING: Self = Self(0);
    /// The known secrets, in the scope.
    pub(crate) const SECRETS: Self = Self(1);
    /// The lost work, in the scope.
    pub(crate) const LOST_WORK: Self = Self(1 << 1);
    /// The lasting marks, in the scope.
    pub(crate) const MARKS: Self = Self(1 << 2);
    /// The shown messages, in the scope.
    pub(crate) const LAST_SEEN: Self = Self(1 << 3);
    /// The worktrees, in the scope.
    pub(crate) const WORKTREES: Self = Self(1 << 4);
    /// The relations of sessions to each other and to running pis.
    pub(crate) const RELATIONS: Self = Self(1 << 5);

    /// Returns `true` if both sets have a need.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Default for QueryScope {
    /// The beginning of 1970 in UTC, without directories.
    fn default() -> Self {
        Self {
            now_ms: 0,
            home: String::new(),
            dir: String::new(),
            zone: TimeZone::UTC,
            secrets: None,
            lost: None,
            marks: Arc::default(),
            last_seen: Arc::default(),
            worktrees: Arc::default(),
        }
    }
}

/// A free text: a label, a model name, a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text(pub(crate) String);

impl Text {
    /// Returns the folded text for substring comparison.
    pub(crate) fn folded(&self) -> String {
        fold(&self.0)
    }

    /// Returns `true` if every text that contains `piece` also contains this text.
    pub(crate) fn has_piece(&self, piece: &Self) -> bool {
        self.folded().contains(&piece.folded())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_quotes(&self.0))
    }
}

/// Quotes a value for a query if it would otherwise be split or misread.
pub(crate) fn in_quotes(value: &str) -> String {
    let needs_quotes = value.contains(is_js_space) || value.starts_with(':') || value.starts_with("//");
    if needs_quotes { format!("\"{value}\"") } else { value.to_string() }
}

/// Values to suggest, the most frequent first.
#[derive(Clone, Copy, Debug)]
pub struct ValueList<'a> {
    /// The displayed project directories.
    pub dirs: &'a [String],
    /// The tags of sessions.
    pub tags: &'a [String],
    /// The names and branches of worktrees.
    pub worktrees: &'a [String],
    /// The machines with sessions.
    pub machines: &'a [String],
    /// The other values.
    pub lists: &'a ValueLists,
}

/// The values in all sessions, those of most sessions first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueLists {
    /// Files touched by tools.
    pub files: Vec<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Commits, the most recent first.
    pub commits: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Tools.
    pub tools: Vec<String>,
}

impl ValueLists {
    /// The maximum number of sessions whose values are collected; more would take too long.
    const MAX_SESSIONS: usize = 20_000;

    /// The maximum number of values per list.
    const MAX: usize = 2000;

    /// Collects the values of the first digests.
    pub fn new(digests: impl Iterator<Item: Borrow<Digest>>) -> Self {
        let (mut files, mut labels) = (HashMap::new(), HashMap::new());
        let (mut models, mut tools, mut commits) = (HashMap::new(), HashMap::new(), HashMap::new());
        for digest in digests.take(Self::MAX_SESSIONS) {
            let digest: &Digest = digest.borrow();
            let details = digest.details_once();
            count(&mut files, details.touches.paths.iter());
            count(&mut labels, digest.labels.iter().map(|label| &*label.text));
            for commit in &digest.commits {
                commits.entry(commit.sha.to_string()).or_insert(commit.time);
            }
            count(&mut models, details.model_names());
            count(&mut tools, details.tools.keys().map(|tool| &**tool));
        }
        let [files, labels, models, tools] = [files, labels, models, tools].map(most);
        let mut commits: Vec<(String, Option<i64>)> = commits.into_iter().collect();
        sort::by(&mut commits, |(a, time), (b, later)| later.cmp(time).then_with(|| a.cmp(b)));
        let commits = commits.into_iter().take(Self::MAX).map(|(sha, _)| sha).collect();
        Self { files, labels, commits, models, tools }
    }
}

/// Counts each value once per session.
fn count<'a>(counts: &mut HashMap<String, usize>, values: impl Iterator<Item = &'a str>) {
    for value in values.collect::<HashSet<_>>() {
        match counts.get_mut(value) {
            Some(often) => *often += 1,
            None => _ = counts.insert(value.into(), 1),
        }
    }
}

fn most(counts: HashMap<String, usize>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().filter(|(value, _)| !value.is_empty()).collect();
    sort::by(&mut counts, |(a, often), (b, oftener)| oftener.cmp(often).then_with(|| a.cmp(b)));
    counts.into_iter().take(ValueLists::MAX).map(|(value, _)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_values_if_necessary() {
        for (text, printed) in [("a", "a"), ("a b", "\"a b\""), (":a", "\":a\""), ("//a", "\"//a\""), ("a:/", "a:/")] {
            assert_eq!(Text(text.into()).to_string(), printed);
        }
    }

    #[test]
    fn substrings_ignore_case() {
        let has = |text: &str, piece: &str| Text(text.into()).has_piece(&Text(piece.into()));
        assert!(has("Works", "ork") && has("É", "e\u{301}") && !has("ork", "works"));
    }
}
