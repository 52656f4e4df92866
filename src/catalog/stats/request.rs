//! Tables of statistics: their groupings, period and order, and the keys of their rows.

use std::cmp::Ordering;

use crate::base::javascript::utf16_prefix;
use crate::base::paths::shorten;
use crate::base::sort;
use crate::catalog::key::SessionKey;
use crate::catalog::stats::sessions::StatsSessions;
use crate::disk::load::EntryReader;
use crate::session::digest::Digest;
use crate::session::digest::commits::{DigestCommit, commits_at};
use crate::session::entry::parse;
use crate::session::links::EntryIndex;
use crate::session::stats::StatsSum;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;

/// A table to make.
#[derive(Clone, Debug)]
pub struct TableRequest {
    /// The groupings: none, one or two.
    pub groupings: Vec<Grouping>,
    /// Count only entries since this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Count only entries before this time.
    pub until: Option<i64>,
    /// The column by which the rows are sorted.
    pub sort: StatsColumn,
    /// The maximum number of rows; the rest becomes [`other`](super::table::StatsTable::other).
    pub limit: Option<usize>,
}

impl TableRequest {
    /// Requests all rows of a grouping, sorted by their costs.
    pub fn by(groupings: &[Grouping]) -> Self {
        Self { groupings: groupings.into(), since: None, until: None, sort: StatsColumn::Cost, limit: None }
    }

    /// Returns `true` if entries of a time are counted.
    pub(super) fn has_time(&self, time: Option<i64>) -> bool {
        match time {
            Some(time) => self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until),
            None => self.since.is_none() && self.until.is_none(),
        }
    }
}

/// A group with its sums: a key for each grouping.
pub type StatsRow = (Vec<GroupKey>, StatsSum);

impl TableRequest {
    /// Sorts rows, and adds those after the limit to `other`. Equal rows are sorted by key.
    pub(super) fn sort(&self, sessions: &StatsSessions, rows: &mut Vec<StatsRow>, other: &mut (usize, StatsSum)) {
        // Values are computed once, because quantiles take long.
        let value = |(_, sum): &StatsRow| self.sort.value(sum, 1.0).unwrap_or(f64::NEG_INFINITY);
        let mut valued: Vec<(f64, StatsRow)> = std::mem::take(rows).into_iter().map(|row| (value(&row), row)).collect();
        let by_key = |(one, _): &StatsRow, (other, _): &StatsRow| {
            let orders = one.iter().zip(other).map(|(one, other)| one.compare(other, sessions));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let order = |(one_value, one): &(f64, StatsRow), (other_value, other): &(f64, StatsRow)| match self.sort {
            StatsColumn::Key => by_key(one, other),
            _ => other_value.total_cmp(one_value).then_with(|| by_key(one, other)),
        };
        if let Some(limit) = self.limit.filter(|&limit| limit < valued.len()) {
            valued.select_nth_unstable_by(limit, order);
            other.0 += valued.len() - limit;
            valued.drain(limit..).for_each(|(_, (_, sum))| other.1 += &sum);
        }
        sort::by(&mut valued, order);
        rows.extend(valued.into_iter().map(|(_, row)| row));
    }
}

/// The maximum length of a title, in UTF-16 code units.
const TITLE: usize = 80;

/// The key of a group for one grouping.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// Entries without a key.
    #[default]
    None,
    /// A time, model, provider, project or tool.
    Text(String),
    /// A session, or a family by its oldest session.
    Session(SessionKey),
    /// A prompt, the leaf of a branch, or the entry that printed a commit.
    Entry(SessionKey, EntryIndex),
}

/// A key in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupName {
    /// The key; `None` for entries without one. Of an entry, `SESSION@ENTRY`; of a commit, its hash.
    pub key: Option<String>,
    /// The title of a session or a commit, or the words of a prompt.
    pub title: Option<String>,
}

/// The key of the row that combines the rows after the limit.
pub const OTHER: &str = "other";

impl GroupName {
    /// Returns the words of the key for people, not yet safe for a terminal. `home` is shortened in paths.
    pub fn words(&self, grouping: Grouping, home: &str) -> String {
        let Some(text) = &self.key else {
            return if grouping == Grouping::Commit { "not committed" } else { "none" }.into();
        };
        match (grouping, &self.title) {
            (grouping, None) if grouping.is_path() => shorten(text, home).into_owned(),
            (_, Some(title)) if text == OTHER => format!("{text} ({title})"),
            (Grouping::Branch, Some(title)) => {
                let leaf = text.rsplit_once('@').map_or("", |(_, leaf)| leaf);
                format!("{leaf}  {title}")
            }
            (Grouping::Commit, Some(title)) => format!("{text}  {title}"),
            (Grouping::Session | Grouping::Family | Grouping::Prompt, Some(title)) if !title.is_empty() => {
                let is_cut = utf16_prefix(title, TITLE - 1).len() < title.len();
                format!("{title}{}", if is_cut { "…" } else { "" })
            }
            (_, Some(title)) => format!("{text} ({title})"),
            (_, None) => text.clone(),
        }
    }
}

impl GroupKey {
    /// Compares keys in a fixed order: texts alphabetically, sessions by ID, entries by their place in the file.
    pub fn compare(&self, other: &Self, sessions: &StatsSessions) -> Ordering {
        let id = |key: &SessionKey| sessions.get(*key).map(|session| session.facts().id());
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Session(one), Self::Session(other)) => id(one).cmp(&id(other)).then(one.cmp(other)),
            (Self::Entry(one, at), Self::Entry(other, other_at)) if one == other => at.cmp(other_at),
            (Self::Entry(one, at), Self::Entry(other, other_at)) => {
                id(one).cmp(&id(other)).then(one.cmp(other)).then(at.cmp(other_at))
            }
            _ => matches!(self, Self::None).cmp(&matches!(other, Self::None)),
        }
    }

    /// Returns the key in words. Reads the ID of a leaf from its file.
    pub fn name(&self, grouping: Grouping, sessions: &StatsSessions) -> GroupName {
        match self {
            Self::None => GroupName::default(),
            Self::Text(text) => GroupName { key: Some(text.clone()), title: None },
            Self::Session(key) => sessions.get(*key).map_or_else(GroupName::default, |session| GroupName {
                key: Some(session.facts().id().to_string()),
                title: Some(title(&session.uncached_digest())),
            }),
            Self::Entry(key, at) => {
                let Some(session) = sessions.get(*key) else { return GroupName::default() };
                let digest = session.uncached_digest();
                // Of several commits, the last one contains all of the work.
                let commit = commits_at(&digest.commits, *at).last().filter(|_| grouping == Grouping::Commit);
                if let Some(DigestCommit { sha, title, .. }) = commit {
                    return GroupName { key: Some(sha.to_string()), title: Some(title.to_string()) };
                }
                let (entry, title) = if grouping == Grouping::Prompt {
                    let stats = session.stats();
                    let (id, words) = stats.prompt(*at).unwrap_or_default();
                    (id.to_string(), words.to_string())
                } else {
                    (entry_id(&digest, *at).unwrap_or_default(), title(&digest))
                };
                let entry = if entry.is_empty() { format!("#{at}") } else { entry };
                GroupName { key: Some(format!("{}@{entry}", digest.header.id)), title: Some(title) }
            }
        }
    }
}

/// Returns the beginning of the title of a session.
fn title(digest: &Digest) -> String {
    utf16_prefix(digest.title(), TITLE).to_string()
}

/// Reads the ID of an entry from the session file.
fn entry_id(digest: &Digest, at: EntryIndex) -> Option<String> {
    let line = EntryReader::open(&digest.path).ok()?.line_at(*digest.details_once().offsets.get(at as usize)?).ok()?;
    Some(parse::line(&line).ok()??.id?.text().into_owned())
}
