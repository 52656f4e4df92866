//! Requests of tables, and the order of their rows.

use std::cmp::Ordering;

use crate::base::sort;
use crate::catalog::stats::keys::GroupKey;
use crate::catalog::stats::sessions::StatsSessions;
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
}

impl TableRequest {
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

/// The order of rows.
#[derive(Clone, Copy)]
pub(super) struct RowOrder<'a> {
    pub(super) request: &'a TableRequest,
    pub(super) sessions: &'a StatsSessions,
}

impl RowOrder<'_> {
    /// Sorts rows, and adds those after the limit to `other`. Equal rows are sorted by key.
    pub(super) fn sort(self, rows: &mut Vec<StatsRow>, other: &mut (usize, StatsSum)) {
        // Values are computed once, because quantiles take long.
        let value = |(_, sum): &StatsRow| self.request.sort.value(sum, 1.0).unwrap_or(f64::NEG_INFINITY);
        let mut valued: Vec<(f64, StatsRow)> = std::mem::take(rows).into_iter().map(|row| (value(&row), row)).collect();
        let order = |(one_value, one): &(f64, StatsRow), (other_value, other): &(f64, StatsRow)| match self.request.sort
        {
            StatsColumn::Key => self.by_key(one, other),
            _ => other_value.total_cmp(one_value).then_with(|| self.by_key(one, other)),
        };
        if let Some(limit) = self.request.limit.filter(|&limit| limit < valued.len()) {
            valued.select_nth_unstable_by(limit, order);
            other.0 += valued.len() - limit;
            valued.drain(limit..).for_each(|(_, (_, sum))| other.1 += &sum);
        }
        sort::by(&mut valued, order);
        rows.extend(valued.into_iter().map(|(_, row)| row));
    }

    fn by_key(self, (one, _): &StatsRow, (other, _): &StatsRow) -> Ordering {
        let orders = one.iter().zip(other).map(|(one, other)| one.compare(other, self.sessions));
        orders.fold(Ordering::Equal, Ordering::then)
    }
}
