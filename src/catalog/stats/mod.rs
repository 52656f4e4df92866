//! Statistics of sessions. Each entry is counted once, in the oldest session that contains it, and belongs to one group.

pub mod keys;
pub mod overview;
mod sums;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::base::numbers::count;
use crate::catalog::Catalog;
use crate::catalog::key::SessionKey;
use crate::disk::parallel;
use crate::session::digest::listed::SharedSession;
use crate::session::stats::StatsSum;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::{Calendar, Grouping};
use crate::session::stats::prices::Prices;
use keys::{GroupKey, GroupName, OTHER};
use sums::GroupSums;

/// The number of groups of sessions per task.
const AT_ONCE: usize = 64;

/// The sessions of a statistic, as they were in the catalog; another thread can count them.
#[derive(Clone, Debug, Default)]
pub struct StatsSessions {
    /// All sessions by the number of their key.
    sessions: Vec<Option<SharedSession>>,
    /// The oldest ancestor of each session.
    oldest: Vec<SessionKey>,
    /// `true` for each session that is counted.
    is_wanted: Vec<bool>,
    /// Sessions that share entries stand together, oldest first.
    members: Vec<SessionKey>,
    /// The groups among them.
    groups: Vec<Range<usize>>,
}

impl StatsSessions {
    /// Takes the sessions of a catalog; those for which `is_wanted` returns `true` are counted.
    pub fn new(catalog: &Catalog, is_wanted: impl Fn(SessionKey) -> bool) -> Self {
        let mut all = Self::default();
        for key in catalog.keys() {
            let place = key.place();
            all.sessions.resize(place, None);
            all.oldest.resize(place, key);
            all.is_wanted.resize(place, false);
            all.sessions.push(catalog.get(key).cloned());
            all.oldest.push(catalog.families().line(key).last().unwrap_or(key));
            all.is_wanted.push(is_wanted(key));
        }
        let mut grouped: HashSet<SessionKey> = HashSet::new();
        for key in catalog.keys().filter(|key| all.is_wanted[key.place()]) {
            if !grouped.contains(&key) {
                let start = all.members.len();
                all.members.extend(catalog.sharing(key));
                let group = &all.members[start..];
                grouped.extend(group.iter().filter(|_| group.len() > 1));
                all.groups.push(start..all.members.len());
            }
        }
        all
    }

    /// Returns a session.
    pub fn get(&self, key: SessionKey) -> Option<&SharedSession> {
        self.sessions.get(key.place())?.as_ref()
    }

    fn is_wanted(&self, key: SessionKey) -> bool {
        self.is_wanted.get(key.place()).is_some_and(|is_wanted| *is_wanted)
    }

    fn oldest(&self, key: SessionKey) -> SessionKey {
        self.oldest.get(key.place()).copied().unwrap_or(key)
    }
}

/// How entries are counted.
#[derive(Clone, Debug)]
pub struct StatsRules {
    /// The calendar.
    pub calendar: Calendar,
    /// The price table.
    pub prices: Prices,
    /// Longer times between entries are pauses, in milliseconds.
    pub pause: i64,
}

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
    /// The maximum number of rows; the rest becomes [`StatsTable::other`].
    pub limit: Option<usize>,
}

impl TableRequest {
    /// Requests all rows of a grouping, sorted by their costs.
    pub fn by(groupings: &[Grouping]) -> Self {
        Self { groupings: groupings.into(), since: None, until: None, sort: StatsColumn::Cost, limit: None }
    }
}

/// A group with its sums: a key for each grouping.
pub type StatsRow = (Vec<GroupKey>, StatsSum);

/// The sums of all groups, and of all entries.
#[derive(Clone, Debug, Default)]
pub struct StatsTable {
    /// The groups.
    pub rows: Vec<StatsRow>,
    /// The number of groups after the limit, and their sum.
    pub other: (usize, StatsSum),
    /// The sum over all entries.
    pub total: StatsSum,
}

impl StatsTable {
    /// Makes a table.
    pub fn new(sessions: &StatsSessions, rules: &StatsRules, request: &TableRequest) -> Self {
        Self::all(sessions, rules, std::slice::from_ref(request)).pop().unwrap_or_default()
    }

    /// Makes several tables, for which each session is read once.
    pub fn all(sessions: &StatsSessions, rules: &StatsRules, requests: &[TableRequest]) -> Vec<Self> {
        let chunks: Vec<&[Range<usize>]> = sessions.groups.chunks(AT_ONCE).collect();
        let parts = parallel::map(&chunks, |chunk| {
            let mut sums = GroupSums::new(sessions, rules, requests);
            chunk.iter().for_each(|group| sums.add(&sessions.members[group.clone()]));
            sums.finish()
        });
        let mut tables = vec![Self::default(); requests.len()];
        let mut shared: Vec<HashMap<Vec<GroupKey>, StatsSum>> = vec![HashMap::new(); requests.len()];
        for part in parts {
            for ((table, shared), part) in tables.iter_mut().zip(&mut shared).zip(part) {
                table.total += &part.total;
                table.rows.extend(part.own_rows);
                table.other.0 += part.other.0;
                table.other.1 += &part.other.1;
                for (key, sum) in part.rows {
                    *shared.entry(key).or_default() += &sum;
                }
            }
        }
        let orders = requests.iter().map(|request| RowOrder { request, calendar: &rules.calendar, sessions });
        for ((table, shared), order) in tables.iter_mut().zip(shared).zip(orders) {
            table.rows.extend(shared);
            order.sort(&mut table.rows, &mut table.other);
        }
        tables
    }
}

/// A row with the names of its keys.
#[derive(Clone, Debug, Default)]
pub struct NamedRow {
    /// The keys; empty for the row that combines those after the limit.
    pub keys: Vec<GroupKey>,
    /// Their names.
    pub names: Vec<GroupName>,
    /// The sum.
    pub sum: StatsSum,
}

impl StatsTable {
    /// Names the rows; the last one combines those after the limit.
    pub fn named(self, groupings: &[Grouping], sessions: &StatsSessions) -> Vec<NamedRow> {
        let mut named = parallel::map(self.rows, |(keys, sum)| {
            let names = keys.iter().zip(groupings).map(|(key, &grouping)| key.name(grouping, sessions)).collect();
            NamedRow { keys, names, sum }
        });
        let (others, sum) = self.other;
        if others > 0 {
            let name = GroupName { key: Some(OTHER.into()), title: Some(count(others, "row", "rows")) };
            named.push(NamedRow { keys: Vec::new(), names: vec![name; groupings.len()], sum });
        }
        named
    }
}

/// The order of rows.
#[derive(Clone, Copy)]
struct RowOrder<'a> {
    request: &'a TableRequest,
    calendar: &'a Calendar,
    sessions: &'a StatsSessions,
}

impl RowOrder<'_> {
    /// Sorts rows, and adds those after the limit to `other`. Equal rows are sorted by key.
    fn sort(self, rows: &mut Vec<StatsRow>, other: &mut (usize, StatsSum)) {
        // Values are computed once, because quantiles take long.
        let value = |(_, sum): &StatsRow| self.request.sort.value(sum, 1.0).unwrap_or(f64::NEG_INFINITY);
        let mut valued: Vec<(f64, StatsRow)> = std::mem::take(rows).into_iter().map(|row| (value(&row), row)).collect();
        valued.sort_unstable_by(|(one_value, one), (other_value, other)| match self.request.sort {
            StatsColumn::Key => self.by_key(one, other),
            _ => other_value.total_cmp(one_value).then_with(|| self.by_key(one, other)),
        });
        rows.extend(valued.into_iter().map(|(_, row)| row));
        if let Some(limit) = self.request.limit.filter(|&limit| limit < rows.len()) {
            other.0 += rows.len() - limit;
            rows.drain(limit..).for_each(|(_, sum)| other.1 += &sum);
        }
    }

    fn by_key(self, (one, _): &StatsRow, (other, _): &StatsRow) -> Ordering {
        let order = |grouping: Grouping, one: &GroupKey, other: &GroupKey| {
            let rank = |key: &GroupKey| match key {
                GroupKey::Text(key) => self.calendar.rank(grouping, key),
                _ => 0,
            };
            rank(one).cmp(&rank(other)).then_with(|| one.compare(other, self.sessions))
        };
        let pairs = one.iter().zip(other).zip(&self.request.groupings);
        pairs
            .fold(Ordering::Equal, |so_far, ((one, other), &grouping)| so_far.then_with(|| order(grouping, one, other)))
    }
}
