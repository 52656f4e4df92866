//! Tables of statistics.

use std::collections::HashMap;
use std::ops::Range;

use crate::base::numbers::count;
use crate::catalog::stats::request::{GroupKey, GroupName, OTHER, StatsRow, TableRequest};
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::sums::GroupSums;
use crate::disk::parallel;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::{StatsRules, StatsSum};

/// The number of groups of sessions per task.
const BATCH_SIZE: usize = 64;

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
        let chunks: Vec<&[Range<usize>]> = sessions.groups.chunks(BATCH_SIZE).collect();
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
        for ((table, shared), request) in tables.iter_mut().zip(shared).zip(requests) {
            table.rows.extend(shared);
            request.sort(sessions, &mut table.rows, &mut table.other);
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
