//! Statistics over the whole screen: totals, a table of groups, a calendar of a year, and the largest groups. The measure
//! is a column of the counted entries, or the size of the session files.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::{Span, ToSpan};
use ratatui::layout::Rect;

use crate::app::layers::screen::{LayerResult, List, Screen, neighbor};
use crate::app::ticket::Claim;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::text::clean_words;
use crate::catalog::SessionKey;
use crate::catalog::space::{SpaceContent, SpaceGrouping, SpaceRow};
use crate::catalog::stats::overview::{DaySums, NamedTable, OverviewPart, OverviewRequest, PANELS, sum_of_days};
use crate::catalog::stats::request::OTHER;
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::table::NamedRow;
use crate::keymap::Action;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::period::{Period, PeriodLength};
use crate::session::stats::{StatsRules, StatsSum};

/// The columns that bars and the calendar can show, in the order of the key.
const COLUMNS: [StatsColumn; 7] = [
    StatsColumn::Cost,
    StatsColumn::Tokens,
    StatsColumn::Prompts,
    StatsColumn::WorkingTime,
    StatsColumn::AbandonedCost,
    StatsColumn::ListedCost,
    StatsColumn::ToolCalls,
];

/// The days of a week.
const WEEK: u16 = 7;

/// Rows of the calendar: the months, the days of a week, and the legend.
const CALENDAR_ROWS: u16 = WEEK + 2;

/// Columns of the names of weekdays beside the calendar.
pub const WEEKDAY_COLUMNS: u16 = 4;

/// The number of weeks in the calendar.
const YEAR: u16 = 53;

/// The minimum number of rows of a panel with its title and a blank row.
const PANEL_ROWS: u16 = 4;

/// Columns from which on the calendar and the panels are beside the table.
const WIDE: u16 = 120;

/// Rows from which on the most expensive prompts are below the table.
const TALL: u16 = 36;

/// The areas of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsLayout {
    /// The totals.
    pub head: Rect,
    /// The heading of the table.
    pub heading: Rect,
    /// The rows of the table.
    pub list: Rect,
    /// The calendar.
    pub calendar: Option<Rect>,
    /// The panels, in the order of [`PANELS`].
    pub panels: [Option<Rect>; PANELS.len()],
}

impl StatsLayout {
    /// Divides the terminal above the footer. `panel_rows` are the numbers of rows of the panels, 0 for one that is not shown; sizes have no calendar, and
    /// only the first panel.
    fn new((columns, rows): (u16, u16), panel_rows: [usize; PANELS.len()], is_size: bool) -> Self {
        let all = Rect { x: 1, y: 0, width: columns.saturating_sub(2), height: rows.saturating_sub(1) };
        let row = |y: u16, height: u16, of: Rect| Rect {
            y: of.y + y.min(of.height),
            height: height.min(of.height.saturating_sub(y)),
            ..of
        };
        let above = if rows < 16 { 2 } else { 4 };
        let head = row(0, above, all);
        let body = row(above, all.height, all);
        let (mut list, mut calendar, mut panels) = (body, None, [None; PANELS.len()]);
        let below = |area: &mut Rect, height: u16| {
            let part = Rect { y: area.bottom().saturating_sub(height), height, ..*area };
            area.height = area.height.saturating_sub(height);
            part
        };
        let is_wide = columns >= WIDE && rows >= 16 && !is_size;
        let mut side = Rect::default();
        if is_wide {
            let width = (YEAR + WEEKDAY_COLUMNS).min(body.width / 2);
            list.width = body.width - width - 2;
            side = Rect { x: list.right() + 2, width, ..body };
            calendar = Some(row(0, CALENDAR_ROWS, side));
            side = row(CALENDAR_ROWS + 1, side.height, side);
        }
        if rows >= TALL && panel_rows[0] > 0 {
            panels[0] = Some(below(&mut list, PANELS[0].1 as u16 + 2));
        }
        if is_wide {
            // Each panel has a title, at least two rows, and a blank row; the first ones get the rest.
            let needed = panel_rows.map(|rows| rows as u16 + 2);
            let beside = usize::from(rows >= TALL)..PANELS.len();
            let shown = usize::from(side.height / PANEL_ROWS).min(beside.len());
            let mut spare = side.height.saturating_sub(shown as u16 * PANEL_ROWS);
            let beside = panels[beside.clone()].iter_mut().zip(&needed[beside]).filter(|(_, needed)| **needed > 2);
            for (place, needed) in beside.take(shown) {
                let more = needed.saturating_sub(PANEL_ROWS).min(spare);
                spare -= more;
                let height = (*needed).min(PANEL_ROWS + more);
                *place = Some(row(0, height, side));
                side = row(height, side.height, side);
            }
        } else if rows >= 22 && !is_size {
            calendar = Some(below(&mut list, CALENDAR_ROWS));
            list.height -= 1; // a row between them
        }
        Self { head, heading: row(0, 1, list), list: row(1, list.height, list), calendar, panels }
    }
}

/// The weeks of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalendarWeeks {
    /// The first day of the first week.
    pub first: Date,
    /// The number of weeks.
    pub weeks: u16,
}

impl CalendarWeeks {
    /// Returns the day in a column and a row of the calendar.
    pub fn day(self, week: u16, weekday: u16) -> Option<Date> {
        let days = i64::from(week) * i64::from(WEEK) + i64::from(weekday);
        self.first.checked_add(Span::new().try_days(days).ok()?).ok()
    }
}

/// The totals of a period.
#[derive(Clone, Debug)]
pub struct PeriodTotals {
    /// The sum.
    pub total: StatsSum,
    /// The number of sessions.
    pub sessions: usize,
    /// The cost of the days before to compare with, and these days.
    pub before: Option<(f64, (Date, Date))>,
}

/// The sizes of session files.
#[derive(Clone, Debug)]
pub struct SizeTable {
    /// The grouping of the rows.
    pub grouping: SpaceGrouping,
    /// The numbers of measured and of all files.
    pub progress: (usize, usize),
    /// The content, once measured.
    pub content: Option<Arc<SpaceContent>>,
}

impl SizeTable {
    /// Returns the rows of a grouping.
    pub fn rows_of(&self, grouping: SpaceGrouping) -> &[SpaceRow] {
        self.content.as_ref().map_or(&[], |content| content.rows(grouping))
    }
}

/// The statistics of some sessions.
#[derive(Clone, Debug)]
pub struct StatsView {
    /// The session, if the screen was opened for one.
    pub(crate) session: Option<SessionKey>,
    /// The sessions in words, cleaned.
    pub scope: String,
    /// The search whose hits are counted, empty for none.
    pub query: String,
    /// The version of the catalog that was counted.
    pub catalog_version: u64,
    /// The sessions.
    pub sessions: Arc<StatsSessions>,
    /// The rules of counting.
    pub rules: Arc<StatsRules>,
    /// The current day.
    pub today: Date,
    /// The period of the table and the panels.
    pub period: Period,
    /// The grouping of the table.
    pub grouping: Grouping,
    /// The column that bars and the calendar show.
    pub column: StatsColumn,
    /// The sizes, if they are the measure.
    pub size: Option<SizeTable>,
    /// The sums of all days, once counted.
    pub days: Option<Arc<DaySums>>,
    /// The totals of the period, once counted.
    pub totals: Option<PeriodTotals>,
    /// The table, once counted.
    pub table: Option<Arc<NamedTable>>,
    /// The panels, once counted.
    pub panels: Arc<[NamedTable]>,
    /// The error.
    pub problem: Option<String>,
    /// The selected row.
    pub cursor: Cursor,
    /// The pending count.
    pub(crate) claim: Option<Claim>,
}

/// The part of the screen that was clicked.
enum Clicked {
    Day(Date),
    /// A row of a panel.
    Group(usize, usize),
}

impl StatsView {
    /// Returns the request for the content.
    pub(crate) fn request(&self) -> OverviewRequest {
        OverviewRequest {
            sessions: self.sessions.clone(),
            rules: self.rules.clone(),
            period: self.period,
            grouping: self.grouping,
            column: self.column,
            has_days: self.days.is_none(),
        }
    }

    /// Takes a part of the content.
    pub(crate) fn on_overview(&mut self, part: OverviewPart) {
        match part {
            OverviewPart::Table(days, table) => {
                let selected = self.selected().filter(|_| self.cursor.at > 0).map(|row| row.keys.clone());
                let same_row = |row: &NamedRow| selected.as_ref() == Some(&row.keys);
                self.cursor.at = table.rows.iter().position(same_row).unwrap_or_default();
                self.days = days.map(Arc::new).or_else(|| self.days.take());
                self.table = Some(table);
                self.sum_period();
            }
            OverviewPart::Panels(panels) => {
                self.panels = panels.into();
                self.claim = None;
            }
        }
        self.problem = None;
    }

    /// Returns the rows of the table.
    pub fn rows(&self) -> &[NamedRow] {
        self.table.as_ref().map_or(&[], |table| &table.rows)
    }

    /// Returns the selected row.
    pub(crate) fn selected(&self) -> Option<&NamedRow> {
        self.rows().get(self.cursor.at)
    }

    /// Sums the days of the period, and those to compare with.
    fn sum_period(&mut self) {
        let Some(days) = self.days.as_deref() else { return };
        let calendar = &self.rules.calendar;
        let total = sum_of_days(days, self.period.days(calendar));
        let before = self.period.days_before(calendar, self.today);
        let before = before.map(|before| (sum_of_days(days, Some(before)).cost, before));
        self.totals = Some(PeriodTotals { sessions: total.session_count(), total, before });
    }

    /// Returns the weeks of a calendar with some columns. It ends with the period, or today.
    pub fn weeks(&self, columns: u16) -> CalendarWeeks {
        let weeks = columns.saturating_sub(WEEKDAY_COLUMNS).clamp(1, YEAR);
        let calendar = &self.rules.calendar;
        let newest = self.days.iter().flat_map(|days| days.iter().rev()).find_map(|(day, _)| *day);
        let end = match self.period.days(calendar) {
            Some((first, _)) if first > self.today => first,
            Some((_, end)) if end <= self.today.saturating_sub(1.year()) => end.yesterday().unwrap_or(end),
            // Sessions may all be old.
            None => newest.map_or(self.today, |newest| newest.min(self.today)),
            Some(_) => self.today,
        };
        let last_week = calendar.week_of(end).unwrap_or(end);
        CalendarWeeks { first: last_week.saturating_sub((i64::from(weeks) - 1).weeks()), weeks }
    }

    /// Returns the sum of a day.
    pub fn day(&self, day: Date) -> Option<&StatsSum> {
        let days = self.days.as_deref()?;
        let at = days.binary_search_by_key(&Some(day), |(day, _)| *day).ok()?;
        Some(&days[at].1)
    }

    /// Returns the areas of the screen.
    pub fn layout(&self, size: (u16, u16)) -> StatsLayout {
        let mut rows = PANELS.map(|(_, rows)| rows);
        rows.iter_mut().zip(&*self.panels).for_each(|(rows, panel)| *rows = panel.rows.len());
        let is_the_table = |grouping| grouping == self.grouping && self.size.is_none();
        rows.iter_mut()
            .zip(PANELS)
            .filter(|(_, (grouping, _))| is_the_table(*grouping))
            .for_each(|(rows, _)| *rows = 0);
        StatsLayout::new(size, rows, self.size.is_some())
    }

    /// Returns the number of rows of the table.
    fn len(&self) -> usize {
        self.size.as_ref().map_or(self.rows().len(), |size| size.rows_of(size.grouping).len())
    }

    /// Switches to the sizes, or back to the counted entries.
    pub(crate) fn show_size(&mut self, is_size: bool) {
        if self.size.is_some() != is_size {
            let size = SizeTable { grouping: SpaceGrouping::Kind, progress: (0, 0), content: None };
            (self.size, self.cursor) = (is_size.then_some(size), Cursor::default());
        }
    }

    /// Returns the selected row of the sizes.
    pub(crate) fn selected_size(&self) -> Option<(SpaceGrouping, &SpaceRow)> {
        let size = self.size.as_ref()?;
        Some((size.grouping, size.rows_of(size.grouping).get(self.cursor.at)?))
    }

    fn clicked(&self, position: (u16, u16), terminal: TerminalSize) -> Option<Clicked> {
        let layout = self.layout(terminal);
        let line = |area: Rect| area.contains(position.into()).then(|| position.1 - area.y);
        if let Some((area, line)) = layout.calendar.and_then(|area| Some((area, line(area)?))) {
            let week = position.0.checked_sub(area.x + WEEKDAY_COLUMNS)?;
            let weeks = self.weeks(area.width);
            let weekday = line.checked_sub(1).filter(|&weekday| weekday < WEEK)?;
            let day = Some(week).filter(|&week| week < weeks.weeks).and_then(|week| weeks.day(week, weekday))?;
            return (day <= self.today).then_some(Clicked::Day(day));
        }
        let mut panels = layout.panels.iter().enumerate();
        let (panel, line) = panels.find_map(|(at, area)| Some((at, line((*area)?)?)))?;
        let at = usize::from(line.checked_sub(1)?);
        let rows = match &self.size {
            Some(size) => size.rows_of(SpaceGrouping::Entry).len(),
            None => self.panels.get(panel)?.rows.len(),
        };
        (at < rows).then_some(Clicked::Group(panel, at))
    }

    /// Returns the table in Markdown. `home` is shortened in paths.
    pub(crate) fn markdown(&self, home: &str) -> String {
        let all = self.table.as_ref().map(|table| table.total.clone()).unwrap_or_default();
        let row = |name: &str, sum: &StatsSum| {
            let cells = SHOWN.map(|column| column.words(sum, all.cost));
            format!("| {} | {} |\n", name.replace('|', "\\|"), cells.join(" | "))
        };
        let headings = SHOWN.map(StatsColumn::heading);
        let mut text = format!("| {} | {} |\n", self.grouping.name(), headings.join(" | "));
        text += &format!("|---|{}\n", "---:|".repeat(SHOWN.len()));
        self.rows().iter().for_each(|one| text += &row(&words(one, self.grouping, home), &one.sum));
        text + &row("total", &all)
    }
}

impl Screen for StatsView {
    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        let (len, area) = (self.len(), self.layout(terminal).list);
        Some(List { cursor: &mut self.cursor, len, area })
    }

    /// Handles an action. Actions that need another content, or something outside, are returned.
    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult {
        match (action, &mut self.size) {
            (Action::Back, _) | (Action::Stats, None) | (Action::Space, Some(_)) => return LayerResult::Close,
            (Action::NextGrouping | Action::PreviousGrouping, size) => {
                self.cursor = Cursor::default();
                if let Some(size) = size {
                    size.grouping = neighbor(SpaceGrouping::ALL, size.grouping, action == Action::NextGrouping);
                    return LayerResult::Stay;
                }
                self.grouping = neighbor(Grouping::ALL, self.grouping, action == Action::NextGrouping);
            }
            (Action::Space, None) => self.show_size(true),
            (Action::Stats, Some(_)) => self.show_size(false),
            // The size follows the last column.
            (Action::NextColumn, None) if Some(&self.column) == COLUMNS.last() => self.show_size(true),
            (Action::NextColumn, _) => {
                self.show_size(false);
                self.column = neighbor(&COLUMNS, self.column, true);
            }
            (Action::NextPeriod | Action::PreviousPeriod | Action::LongerPeriod | Action::ShorterPeriod, Some(_)) => {
                return LayerResult::Stay;
            }
            (Action::NextPeriod | Action::PreviousPeriod, None) => {
                let forward = action == Action::NextPeriod;
                let Some(period) = self.period.step(&self.rules.calendar, forward) else { return LayerResult::Stay };
                if forward && period.days(&self.rules.calendar).is_none_or(|(first, _)| first > self.today) {
                    return LayerResult::Stay;
                }
                self.period = period;
                self.sum_period();
            }
            (Action::LongerPeriod | Action::ShorterPeriod, None) => {
                match self.period.length.next(action == Action::LongerPeriod) {
                    Some(length) => self.period.length = length,
                    None => return LayerResult::Stay,
                }
                self.sum_period();
            }
            _ => {}
        }
        LayerResult::Act(action)
    }

    /// Selects the clicked row, day or group; a click on the selected row opens it.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        if let Some(result) = self.click_row(position, terminal) {
            return result;
        }
        match self.clicked(position, terminal) {
            Some(Clicked::Day(day)) => {
                self.period = Period { length: PeriodLength::Day, day };
                self.sum_period();
                LayerResult::Act(Action::ShorterPeriod)
            }
            Some(Clicked::Group(_, at)) if self.size.is_some() => {
                self.size.iter_mut().for_each(|size| size.grouping = SpaceGrouping::Entry);
                self.cursor = Cursor { at, top: 0 };
                LayerResult::Act(Action::Confirm)
            }
            Some(Clicked::Group(panel, at)) => {
                let table = self.panels[panel].clone();
                (self.grouping, self.cursor) = (table.grouping, Cursor { at, top: 0 });
                self.table = Some(Arc::new(table));
                LayerResult::Act(Action::NextGrouping)
            }
            None => LayerResult::Stay,
        }
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::NextGrouping,
            A::PreviousPeriod,
            A::NextPeriod,
            A::LongerPeriod,
            A::NextColumn,
            A::Confirm,
            A::Copy,
            A::Back,
            A::ShorterPeriod,
            A::Space,
            A::Quit,
        ]
    }

    fn offers(&self, action: Action, _terminal: TerminalSize) -> bool {
        use Action as A;
        let is_of_counts = matches!(
            action,
            A::PreviousPeriod | A::NextPeriod | A::LongerPeriod | A::ShorterPeriod | A::Copy | A::Space
        );
        self.size.is_none() || !is_of_counts
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        (action == Action::Confirm).then_some("open")
    }
}

/// The columns beside the bars, the first ones in narrow terminals too.
pub const SHOWN: [StatsColumn; 7] = [
    StatsColumn::Cost,
    StatsColumn::Share,
    StatsColumn::Tokens,
    StatsColumn::Prompts,
    StatsColumn::CacheHitRate,
    StatsColumn::AbandonedCost,
    StatsColumn::WorkingTime,
];

/// Returns the name of a row on one line, safe for a terminal.
pub fn words(row: &NamedRow, grouping: Grouping, home: &str) -> String {
    let words = row.names.first().map_or_else(|| OTHER.into(), |name| name.words(grouping, home));
    clean_words(&words)
}
