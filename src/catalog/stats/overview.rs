//! The content of the screen of statistics: sums by day, a table, and the largest groups of some groupings.

use std::sync::Arc;

use jiff::civil::Date;

use crate::base::sort;
use crate::catalog::stats::request::{GroupKey, TableRequest};
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::table::{NamedRow, StatsTable};
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::period::Period;
use crate::session::stats::{StatsRules, StatsSum};

/// The maximum number of rows of the table, unless they have an order in time.
const MAX_ROWS: usize = 500;

/// The panels beside the table, and their maximum numbers of rows.
pub const PANELS: [(Grouping, usize); 3] = [(Grouping::Prompt, 10), (Grouping::Model, 6), (Grouping::Tool, 8)];

/// A request for the content of the screen.
#[derive(Clone, Debug)]
pub struct OverviewRequest {
    /// The sessions to count.
    pub sessions: Arc<StatsSessions>,
    /// The rules of counting.
    pub rules: Arc<StatsRules>,
    /// The period of the table and the panels.
    pub period: Period,
    /// The grouping of the table.
    pub grouping: Grouping,
    /// The column by which the table is sorted.
    pub column: StatsColumn,
    /// `true` to count each day as well.
    pub has_days: bool,
}

/// A table with named rows.
#[derive(Clone, Debug)]
pub struct NamedTable {
    /// The grouping.
    pub grouping: Grouping,
    /// The rows.
    pub rows: Vec<NamedRow>,
    /// The sum of all rows.
    pub total: StatsSum,
}

/// The sums of days in order; entries without a time come first.
pub type DaySums = Vec<(Option<Date>, StatsSum)>;

/// A part of the content.
#[derive(Clone, Debug)]
pub enum OverviewPart {
    /// The table, and the days if requested.
    Table(Option<DaySums>, Arc<NamedTable>),
    /// The panels, in the order of [`PANELS`], without entries that have no key.
    Panels(Vec<NamedTable>),
}

impl OverviewRequest {
    /// Counts, and passes each part to `reply` until it returns `false`.
    pub fn read(&self, mut reply: impl FnMut(OverviewPart) -> bool) {
        let (since, until) = self.period.range(&self.rules.calendar);
        let in_period = |grouping: Grouping, sort: StatsColumn, limit: Option<usize>| TableRequest {
            since,
            until,
            sort,
            limit,
            ..TableRequest::by(&[grouping])
        };
        let named = |(grouping, table): (Grouping, StatsTable)| {
            let total = table.total.clone();
            let mut rows = table.named(&[grouping], &self.sessions);
            if matches!(grouping, Grouping::Day | Grouping::Week | Grouping::Month) {
                rows.reverse(); // the newest first
            }
            NamedTable { grouping, rows, total }
        };
        let mut requests = vec![match self.grouping.is_time() {
            true => in_period(self.grouping, StatsColumn::Key, None),
            false => in_period(self.grouping, self.column, Some(MAX_ROWS)),
        }];
        requests.extend(self.has_days.then(|| TableRequest::by(&[Grouping::Day])));
        let mut tables = StatsTable::all(&self.sessions, &self.rules, &requests);
        let days = if self.has_days { tables.pop().map(days) } else { None };
        let Some(table) = tables.pop() else { return };
        if !reply(OverviewPart::Table(days, Arc::new(named((self.grouping, table))))) {
            return;
        }
        let requests = PANELS.map(|(grouping, most)| in_period(grouping, self.column, Some(most)));
        let tables = StatsTable::all(&self.sessions, &self.rules, &requests);
        let groupings = PANELS.iter().map(|(grouping, _)| *grouping);
        let panel = |asked: (Grouping, StatsTable)| {
            let mut panel = named(asked);
            panel.rows.retain(|row| row.keys.first().is_some_and(|key| *key != GroupKey::None));
            panel
        };
        reply(OverviewPart::Panels(groupings.zip(tables).map(panel).collect()));
    }
}

/// Returns the sums of days in order.
fn days(table: StatsTable) -> DaySums {
    let day = |key: &GroupKey| if let GroupKey::Text(day) = key { day.parse().ok() } else { None };
    let mut days: DaySums = table.rows.into_iter().map(|(keys, sum)| (keys.first().and_then(day), sum)).collect();
    sort::by_key(&mut days, |(day, _)| *day);
    days
}

/// Returns the sum of the days from the first one to the day before the end; `None` for all, also those without a time.
pub fn sum_of_days(days: &DaySums, period: Option<(Date, Date)>) -> StatsSum {
    let is_in =
        |day: Option<Date>| period.is_none_or(|(first, end)| day.is_some_and(|day| (first..end).contains(&day)));
    let mut sum = StatsSum::default();
    days.iter().filter(|(day, _)| is_in(*day)).for_each(|(_, one)| sum += one);
    sum
}
