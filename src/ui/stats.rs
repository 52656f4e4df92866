//! Draws the screen of statistics and sizes. Each chart has its numbers as text.

use jiff::civil::Date;
use ratatui::layout::Rect;
use ratatui::symbols::shade;
use ratatui::widgets::LineGauge;

use crate::app::layers::stats::{PeriodTotals, SHOWN, SizeTable, StatsLayout, StatsView, WEEKDAY_COLUMNS, words};
use crate::app::widgets::Cursor;
use crate::base::numbers::{bytes, count, dollars, share, thousands};
use crate::base::paths::shorten;
use crate::base::sort;
use crate::base::text::{Span, Tone, clean_words, spans_width, width};
use crate::catalog::space::{SpaceContent, SpaceGrouping, SpaceRow};
use crate::catalog::stats::overview::{NamedTable, PANELS};
use crate::session::stats::StatsSum;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::period::{PeriodLength, days_in_words};
use crate::ui::paint::{ListView, Painter, bar_of, both, fitting, list, right_aligned};

/// Columns of a number in a panel.
const NUMBER: usize = 10;

/// Returns the columns of the numbers of a column.
fn number_columns(column: StatsColumn) -> usize {
    match column {
        StatsColumn::Share => 7,
        StatsColumn::Tokens | StatsColumn::CacheHitRate => 8,
        StatsColumn::Prompts | StatsColumn::Cost => 9,
        StatsColumn::WorkingTime | StatsColumn::ListedCost => 13,
        _ => 11,
    }
}

/// The minimum columns of the longest bar in the table.
const BAR: usize = 8;

/// The minimum and the maximum of columns for the longest name, which have priority over other numbers than the first.
const NAMES: (usize, usize) = (22, 44);

/// The levels of a day in the calendar: nothing, and four quarters of the days by their values.
const LEVELS: [&str; 5] = ["·", shade::LIGHT, shade::MEDIUM, shade::DARK, shade::FULL];
const ASCII_LEVELS: [&str; 5] = [".", "-", "+", "*", "#"];

pub(super) fn draw(view: &StatsView, painter: &Painter<'_>) {
    let all = painter.clear_screen();
    let layout = view.layout((all.width, all.height));
    draw_head(layout.head, view, painter);
    let table = match &view.size {
        Some(size) => MeasuredTable::of_sizes(size, size.grouping, painter),
        None => MeasuredTable::of_counts(view.table.as_deref(), view.grouping, view.column, painter),
    };
    draw_table(&layout, view.cursor, &table, painter);
    if let Some(area) = layout.calendar {
        draw_calendar(area, view, painter);
    }
    for (at, (area, (grouping, _))) in layout.panels.iter().zip(PANELS).enumerate() {
        let panel = match &view.size {
            Some(size) => Some(MeasuredTable::of_sizes(size, SpaceGrouping::Entry, painter)),
            None => {
                view.panels.get(at).map(|panel| MeasuredTable::of_counts(Some(panel), grouping, view.column, painter))
            }
        };
        let (Some(area), Some(mut panel)) = (*area, panel) else { continue };
        if grouping == Grouping::Prompt && view.size.is_none() {
            panel.title = match view.column {
                StatsColumn::Cost => "most expensive prompts".into(),
                column => format!("prompts with most {}", column.heading()),
            };
        }
        draw_panel(area, &panel, grouping != Grouping::Prompt, painter);
    }
}

/// Draws the scope, the period and the total; then the facts; then two parts of the total.
fn draw_head(area: Rect, view: &StatsView, painter: &Painter<'_>) {
    let row = |at: u16| Rect { y: area.y + at, height: 1.min(area.height.saturating_sub(at)), ..area };
    let sizes = view.size.as_ref().and_then(|size| size.content.as_deref());
    let totals = view.totals.as_ref().filter(|_| view.size.is_none());
    let period = match view.period.days(&view.rules.calendar).filter(|_| view.size.is_none()) {
        Some(days) => days_in_words(days),
        None => PeriodLength::All.name().into(),
    };
    let title = [Span::accent("Statistics  ")];
    let period = [Span::new(Tone::Heading, period)];
    let scope = [Span::text(format!(" {} {}", painter.glyphs().dot, view.scope))];
    let total = totals.map(|totals| dollars(totals.total.cost));
    let total = total.or_else(|| sizes.map(|sizes| bytes(sizes.report.total.bytes)));
    let total: Vec<Span> = total.map(|total| Span::new(Tone::Cost, total)).into_iter().collect();
    let change =
        totals.and_then(|totals| change(totals, view.period.length)).map(|change| Span::dim(format!("  {change}")));
    let variants = [
        ([&title[..], &period, &scope].concat(), total.iter().cloned().chain(change).collect()),
        ([&title[..], &period, &scope].concat(), total.clone()),
        ([&period[..], &scope].concat(), total.clone()),
        (period.to_vec(), total),
    ];
    let fits =
        |(left, right): &&(Vec<Span>, Vec<Span>)| spans_width(left) + spans_width(right) + 2 <= area.width.into();
    if let Some((left, right)) = variants.iter().find(fits).or(variants.last()) {
        painter.put_both(row(0), left, right);
    }
    let (facts, parts) = match (totals, sizes, &view.problem) {
        (Some(PeriodTotals { total, .. }), _, _) => {
            let part = |name: &str, cost: f64| (format!("{name} {}", dollars(cost)), cost);
            let parts = [part("active", total.cost - total.abandoned_cost), part("abandoned", total.abandoned_cost)];
            (totals.map(facts).unwrap_or_default(), parts)
        }
        (None, Some(sizes), _) => {
            let part = |name: &str, size: u64| (format!("{name} {}", bytes(size)), size as f64);
            let total = sizes.report.total;
            (facts_of_sizes(sizes), [part("in contexts", total.bytes - total.outside), part("outside", total.outside)])
        }
        (None, None, Some(problem)) => return painter.put(row(1), &[Span::clean(Tone::Error, problem)]),
        (None, None, None) => {
            let state = match &view.size {
                None => "counting".into(),
                Some(SizeTable { progress: (_, 0), .. }) => "measuring".into(),
                Some(SizeTable { progress: (done, all), .. }) => {
                    format!("measuring: {} of {}", thousands(*done), count(*all, "session", "sessions"))
                }
            };
            return painter.put(row(1), &[Span::dim(state)]);
        }
    };
    let facts = fitting(facts, &format!(" {} ", painter.glyphs().dot), area.width.into());
    painter.put(row(1), &[Span::text(facts)]);
    if area.height >= 4 {
        draw_parts(row(2), parts, painter);
    }
}

/// Draws two parts of a total with a gauge between them.
fn draw_parts(row: Rect, [(left, first), (right, second)]: [(String, f64); 2], painter: &Painter<'_>) {
    let part = Some(second / (first + second)).filter(|part| part.is_finite()).map(|part| part.clamp(0.0, 1.0));
    let left = left + " ";
    let share = part.map_or(String::new(), |part| format!(" ({:.0} %)", 100.0 * part));
    let right = format!(" {right}{share}");
    let room = usize::from(row.width).saturating_sub(width(&left) + width(&right)) as u16;
    let (filled, unfilled) = if painter.is_ascii() { ("=", "-") } else { ("━", "─") };
    let gauge = LineGauge::default()
        .ratio(part.map_or(0.0, |part| 1.0 - part))
        .label("")
        .filled_symbol(filled)
        .unfilled_symbol(unfilled)
        .filled_style(painter.style(Tone::Active))
        .unfilled_style(painter.style(Tone::Warning));
    let bar = Rect { x: row.x + width(&left) as u16, width: room, ..row };
    painter.render(gauge, bar);
    painter.put(Rect { width: width(&left) as u16, ..row }, &[Span::new(Tone::Active, left)]);
    let right_area = Rect { x: bar.right(), width: row.width.saturating_sub(bar.right() - row.x), ..row };
    painter.put(right_area, &[Span::new(Tone::Warning, right)]);
}

/// Compares the cost with that of the period before.
fn change(totals: &PeriodTotals, length: PeriodLength) -> Option<String> {
    let (before, (first, _)) = totals.before?;
    let period = match length {
        PeriodLength::Day => first.strftime("%-d %B").to_string(),
        PeriodLength::Week => "the week before".into(),
        PeriodLength::Month => first.strftime("%B").to_string(),
        PeriodLength::Year | PeriodLength::All => first.year().to_string(),
    };
    let times = totals.total.cost / before;
    match () {
        () if before == 0.0 => Some(format!("{period}: none")),
        () if times >= 10.0 => Some(format!("{times:.0}× {period}")),
        () => Some(format!("{times:.1}× {period}")).filter(|_| times.is_finite()),
    }
}

/// Returns the facts of a sum, most important first.
fn facts(PeriodTotals { total, sessions, .. }: &PeriodTotals) -> Vec<String> {
    let cell = |column: StatsColumn| column.words(total, total.cost);
    let mut facts = vec![
        count(*sessions, "session", "sessions"),
        count(total.prompts, "prompt", "prompts"),
        format!("{} tokens", cell(StatsColumn::Tokens)),
    ];
    if total.cost == 0.0 && total.listed_cost > 0.0 {
        facts.push(format!("{} by the price table", cell(StatsColumn::ListedCost)));
    }
    facts.extend(total.cache_hit_rate().map(|_| format!("{} cached", cell(StatsColumn::CacheHitRate))));
    facts.push(format!("{} at work", cell(StatsColumn::WorkingTime)));
    facts.push(format!("+{} -{} lines", cell(StatsColumn::LinesAdded), cell(StatsColumn::LinesRemoved)));
    let failures =
        if total.tool_failures > 0 { format!(" ({} failed)", cell(StatsColumn::ToolFailures)) } else { String::new() };
    facts.push(format!("{} tool calls{failures}", cell(StatsColumn::ToolCalls)));
    facts
}

/// Returns the facts of sizes, most important first.
fn facts_of_sizes(SpaceContent { report, .. }: &SpaceContent) -> Vec<String> {
    let mut facts = vec![count(report.sessions.len(), "session", "sessions")];
    let unreadable = report.unreadable.len();
    facts.extend((unreadable > 0).then(|| count(unreadable, "unreadable file", "unreadable files")));
    let copies = report.total.duplicate;
    facts.extend((copies > 0).then(|| format!("{} copies ({})", bytes(copies), share(copies, report.total.bytes))));
    facts.push(count(report.total.count, "entry", "entries"));
    facts
}

/// A row of a table: its name, its value for the bar, and its numbers.
type MeasuredRow = (String, Option<f64>, Vec<String>);

/// The rows of the table or of a panel.
struct MeasuredTable<'a> {
    title: String,
    /// `true` if the names are paths.
    is_path: bool,
    len: usize,
    /// The largest value.
    most: f64,
    /// Headings and columns of the numbers, the first ones in narrow terminals too.
    numbers: Vec<(&'static str, usize)>,
    row: Box<dyn Fn(usize) -> MeasuredRow + 'a>,
    /// The text without rows; empty while they are counted.
    empty: &'static str,
}

impl<'a> MeasuredTable<'a> {
    fn of_counts(
        table: Option<&'a NamedTable>,
        grouping: Grouping,
        column: StatsColumn,
        painter: &'a Painter<'_>,
    ) -> Self {
        let rows = table.map_or(&[][..], |table| &table.rows);
        // While another grouping is counted, the rows are those of the previous one.
        let (total, by) = table.map_or((0.0, grouping), |table| (table.total.cost, table.grouping));
        let values = rows.iter().filter(|row| !row.keys.is_empty()).filter_map(|row| column.value(&row.sum, total));
        let columns: Vec<StatsColumn> =
            [column].into_iter().chain(SHOWN.into_iter().filter(|&other| other != column)).collect();
        Self {
            title: format!("by {}", grouping.name()),
            is_path: by.is_path(),
            len: rows.len(),
            most: values.fold(0.0, f64::max),
            numbers: columns.iter().map(|column| (column.heading(), number_columns(*column))).collect(),
            empty: if table.is_some() { "no entries in this period" } else { "" },
            row: Box::new(move |at| {
                let row = &rows[at];
                let numbers = columns.iter().map(|column| column.words(&row.sum, total)).collect();
                (words(row, by, &painter.model.settings.home), column.value(&row.sum, total), numbers)
            }),
        }
    }

    fn of_sizes(size: &'a SizeTable, grouping: SpaceGrouping, painter: &'a Painter<'_>) -> Self {
        let rows = size.rows_of(grouping);
        let total = size.content.as_ref().map_or(0, |content| content.report.total.bytes);
        let is_session = grouping == SpaceGrouping::Session;
        let count = if is_session { "entries" } else { "sessions" };
        let mut numbers = vec![("bytes", 9), ("share", 6), ("outside", 9), ("copies", 9), (count, 9)];
        if grouping == SpaceGrouping::Entry {
            numbers.truncate(2); // the others are those of sums
        }
        let some = |size: u64| if size == 0 { String::new() } else { bytes(size) };
        Self {
            title: match grouping {
                SpaceGrouping::Entry => "largest entries".into(),
                SpaceGrouping::Type => "by type of extension entries".into(),
                other => format!("by {}", other.name()),
            },
            is_path: grouping == SpaceGrouping::Project,
            len: rows.len(),
            most: rows.first().map_or(0.0, |row| row.sum.bytes as f64),
            numbers,
            empty: match grouping {
                _ if size.content.is_none() => "",
                SpaceGrouping::Type => "no entries of extensions",
                SpaceGrouping::Tool => "no tool calls",
                _ => "no sessions",
            },
            row: Box::new(move |at| {
                let SpaceRow { name, title, sum, sessions, .. } = &rows[at];
                let name = [clean_words(name), clean_words(title)].join("  ").trim_end().to_string();
                let name = match grouping {
                    SpaceGrouping::Project => shorten(&name, &painter.model.settings.home).into_owned(),
                    _ => name,
                };
                let count = thousands(if is_session { sum.count } else { *sessions });
                let numbers =
                    vec![bytes(sum.bytes), share(sum.bytes, total), some(sum.outside), some(sum.duplicate), count];
                (name, Some(sum.bytes as f64), numbers)
            }),
        }
    }
}

/// The number of rows whose names decide on the columns; a table may have 100,000 rows.
const MEASURED: usize = 500;

/// Returns the columns of the longest name.
fn longest(table: &MeasuredTable<'_>) -> usize {
    (0..table.len.min(MEASURED)).map(|at| width(&(table.row)(at).0)).max().unwrap_or_default()
}

fn draw_table(layout: &StatsLayout, cursor: Cursor, table: &MeasuredTable<'_>, painter: &Painter<'_>) {
    let glyphs = painter.glyphs();
    let mut room = usize::from(layout.list.width).saturating_sub(3);
    let (mut shown, longest) = (0, longest(table));
    let needed = BAR + longest.clamp(NAMES.0, NAMES.1);
    for (_, columns) in &table.numbers {
        match room.checked_sub(*columns).filter(|rest| *rest >= needed) {
            Some(rest) => room = rest,
            None if shown == 0 => room = room.saturating_sub(*columns),
            None => break,
        }
        shown += 1;
    }
    let bar_room = room.saturating_sub(longest).clamp(BAR, 30).min(room / 2);
    let room = room - bar_room;
    let title = glyphs.cut(&table.title, room + bar_room + 1);
    let gap = " ".repeat((room + bar_room + 2).saturating_sub(width(&title)));
    let headings = table.numbers[..shown].iter().enumerate().map(|(at, (name, columns))| {
        Span::new(if at == 0 { Tone::Accent } else { Tone::Dim }, right_aligned(name, *columns))
    });
    let heading = [Span::accent(title), Span::text(gap)].into_iter().chain(headings).collect::<Vec<_>>();
    painter.put(layout.heading, &heading);
    let rows = ListView { area: layout.list, cursor, len: table.len, focused: true };
    list(painter, &rows, |at, _| {
        let (name, value, numbers) = (table.row)(at);
        let name = painter.model.settings.cell(&name);
        let name = if table.is_path { glyphs.cut_path(&name, room) } else { glyphs.cut(&name, room) };
        let bar = bar_of(value, table.most, bar_room, painter);
        let gap = " ".repeat(room.saturating_sub(width(&name)) + 1);
        let after = " ".repeat(bar_room + 1 - width(&bar).min(bar_room));
        let mut spans = vec![Span::text(name), Span::text(gap), Span::new(Tone::Cost, bar + &after)];
        spans.extend(numbers.iter().zip(&table.numbers[..shown]).enumerate().map(|(at, (number, (_, columns)))| {
            Span::new(if at == 0 { Tone::Text } else { Tone::Dim }, right_aligned(number, *columns))
        }));
        spans
    });
    if table.len == 0 {
        painter.put(Rect { height: 1.min(layout.list.height), ..layout.list }, &[Span::dim(table.empty)]);
    }
}

/// Draws a year of days, and the value of the selected or the largest day.
fn draw_calendar(area: Rect, view: &StatsView, painter: &Painter<'_>) {
    let Some(days) = view.days.as_deref() else { return };
    let weeks = view.weeks(area.width);
    let value = |sum: &StatsSum| view.column.value(sum, 1.0).unwrap_or_default();
    let end = weeks.day(weeks.weeks, 0).unwrap_or(Date::MAX);
    let shown = days.iter().filter_map(|(day, sum)| Some(((*day)?, sum)));
    let shown: Vec<(Date, &StatsSum)> =
        shown.filter(|(day, sum)| (weeks.first..end).contains(day) && value(sum) > 0.0).collect();
    let mut sorted: Vec<f64> = shown.iter().map(|(_, sum)| value(sum)).collect();
    sort::by(&mut sorted, f64::total_cmp);
    let level = |value: f64| match sorted.len() {
        0 => 0,
        _ if value <= 0.0 => 0,
        len => (sorted.partition_point(|&other| other < value) * 4 / len).min(3) + 1,
    };
    let levels = if painter.is_ascii() { ASCII_LEVELS } else { LEVELS };
    let cell = |week: u16, row: u16| Rect { x: area.x + WEEKDAY_COLUMNS + week, y: area.y + row, width: 1, height: 1 };
    let period = view.period.days(&view.rules.calendar).filter(|_| view.period.length != PeriodLength::Year);
    // The name of a month stands above its first whole week, if there is room.
    let mut free = 0;
    for week in 0..weeks.weeks {
        let first = weeks.day(week, 0);
        if let Some(first) = first.filter(|first| first.day() <= 7 && week >= free && week + 3 <= weeks.weeks) {
            free = week + 4;
            let name = first.strftime("%b").to_string();
            painter.put(Rect { width: 3, ..cell(week, 0) }, &[Span::dim(name)]);
        }
        for weekday in 0..7 {
            let Some(day) = weeks.day(week, weekday).filter(|&day| day <= view.today) else { continue };
            let level = view.day(day).map_or(0, |sum| level(value(sum)));
            let tone = if level == 0 { Tone::Dim } else { Tone::Cost };
            painter.put(cell(week, weekday + 1), &[Span::new(tone, levels[level])]);
            if period.is_some_and(|(first, end)| (first..end).contains(&day)) {
                painter.select(cell(week, weekday + 1));
            }
        }
    }
    for weekday in [0, 2, 4] {
        if let Some(day) = weeks.day(0, weekday) {
            let name = day.strftime("%a").to_string();
            painter.put(Rect { y: area.y + 1 + weekday, width: 3, height: 1, ..area }, &[Span::dim(name)]);
        }
    }
    let named = |day: Date, sum: &StatsSum| format!("{} {}", day.strftime("%a %-d %b %Y"), view.column.words(sum, 1.0));
    let selected = (view.period.length == PeriodLength::Day).then_some(view.period.day);
    let largest = shown.iter().max_by(|one, other| value(one.1).total_cmp(&value(other.1)));
    let legend = match (selected, largest) {
        (Some(day), _) => named(day, view.day(day).unwrap_or(&StatsSum::default())),
        (None, Some((day, sum))) => format!(
            "most on {} {} {}",
            named(*day, sum),
            painter.glyphs().dot,
            count(shown.len(), "active day", "active days")
        ),
        (None, None) => "no active days".into(),
    };
    let scale = [Span::dim("less "), Span::new(Tone::Cost, levels[1..].concat()), Span::dim(" more")];
    let row = Rect { y: area.y + 8, height: 1, ..area };
    let left = vec![Span::dim(format!("{}: ", view.column.heading())), Span::text(legend)];
    painter.put(row, &both(&left, &scale, row.width.into(), painter.glyphs()));
}

/// Draws the largest groups, as many as there is room for.
fn draw_panel(area: Rect, table: &MeasuredTable<'_>, has_bars: bool, painter: &Painter<'_>) {
    let row = |at: usize| Rect { y: area.y + at as u16, height: 1, ..area };
    painter.put(row(0), &[Span::accent(&*table.title)]);
    let columns = usize::from(area.width);
    let bars = if has_bars { columns.saturating_sub(NUMBER + 2 + longest(table)).clamp(4, 30) } else { 0 };
    for at in 0..table.len.min(usize::from(area.height).saturating_sub(2)) {
        let (name, value, numbers) = (table.row)(at);
        let bar = bar_of(value, table.most, bars, painter);
        let bar = format!("{bar}{}", " ".repeat(bars.saturating_sub(width(&bar))));
        let number = right_aligned(numbers.first().map_or("", String::as_str), NUMBER);
        let right = [Span::new(Tone::Cost, bar), Span::text(number)];
        painter.put(row(at + 1), &both(&[Span::text(name)], &right, columns, painter.glyphs()));
    }
}
