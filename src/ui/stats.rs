//! Draws the screen of statistics. Each chart has its numbers as text.

use jiff::civil::Date;
use ratatui::layout::Rect;
use ratatui::symbols::shade;
use ratatui::widgets::LineGauge;

use crate::app::layers::stats::{PeriodTotals, SHOWN, StatsLayout, StatsView, WEEKDAY_COLUMNS, words};
use crate::base::numbers::{count, dollars};
use crate::base::sort;
use crate::base::text::{Span, Tone, spans_width, width};
use crate::catalog::stats::overview::{NamedTable, PANELS};
use crate::catalog::stats::table::NamedRow;
use crate::session::stats::StatsSum;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::period::{PeriodLength, days_in_words};
use crate::ui::paint::{Painter, both};
use crate::ui::widgets::{ListView, TableColumns, bar_of, fitting, list, right_aligned};

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

/// The minimum columns of the longest bar and of names in the table, from which on other numbers are shown.
const LEAST: (usize, usize) = (8, 22);

/// The levels of a day in the calendar: nothing, and four quarters of the days by their values.
const LEVELS: [&str; 5] = ["·", shade::LIGHT, shade::MEDIUM, shade::DARK, shade::FULL];
const ASCII_LEVELS: [&str; 5] = [".", "-", "+", "*", "#"];

pub(super) fn draw(view: &StatsView, pen: &Painter<'_>) {
    let all = pen.clear_screen();
    let layout = view.layout((all.width, all.height));
    draw_head(layout.head, view, pen);
    draw_table(&layout, view, pen);
    if let Some(area) = layout.calendar {
        draw_calendar(area, view, pen);
    }
    for ((area, panel), (grouping, _)) in layout.panels.iter().zip(&*view.panels).zip(PANELS) {
        area.iter().for_each(|area| draw_panel(*area, (grouping, panel), view, pen));
    }
}

/// Draws the scope, the period and its cost; then the facts; then the costs of active and abandoned entries.
fn draw_head(area: Rect, view: &StatsView, pen: &Painter<'_>) {
    let totals = view.totals.as_ref();
    let row = |at: u16| Rect { y: area.y + at, height: 1.min(area.height.saturating_sub(at)), ..area };
    let dot = &pen.glyphs().dot;
    let period = match view.period.days(&view.rules.calendar) {
        Some(days) => days_in_words(days),
        None => PeriodLength::All.name().into(),
    };
    let title = [Span::accent("Statistics  ")];
    let period = [Span::new(Tone::Heading, period)];
    let scope = [Span::text(format!(" {dot} {}", view.scope))];
    let cost = totals.map(|totals| Span::new(Tone::Cost, dollars(totals.total.cost)));
    let change = totals.and_then(change).map(|change| Span::dim(format!("  {change}")));
    let right = [cost.clone(), change].into_iter().flatten().collect();
    let cost: Vec<Span> = cost.into_iter().collect();
    let variants = [
        ([&title[..], &period, &scope].concat(), right),
        ([&title[..], &period, &scope].concat(), cost.clone()),
        ([&period[..], &scope].concat(), cost.clone()),
        (period.to_vec(), cost),
    ];
    let fits =
        |(left, right): &&(Vec<Span>, Vec<Span>)| spans_width(left) + spans_width(right) + 2 <= area.width.into();
    if let Some((left, right)) = variants.iter().find(fits).or(variants.last()) {
        pen.put_both(row(0), left, right);
    }
    let Some(totals) = totals else {
        let state = match &view.problem {
            Some(problem) => Span::clean(Tone::Error, problem),
            None => Span::dim("counting"),
        };
        return pen.put(row(1), &[state]);
    };
    pen.put(row(1), &[Span::text(facts(totals, pen, area.width.into()))]);
    if area.height < 4 {
        return;
    }
    let total = &totals.total;
    let abandoned = (total.abandoned_cost / total.cost).clamp(0.0, 1.0);
    let active = dollars(total.cost - total.abandoned_cost);
    let share = if abandoned.is_finite() { format!(" ({:.0} %)", 100.0 * abandoned) } else { String::new() };
    let left = format!("active {active} ");
    let right = format!(" abandoned {}{share}", dollars(total.abandoned_cost));
    let room = usize::from(area.width).saturating_sub(width(&left) + width(&right)) as u16;
    let (filled, unfilled) = if pen.is_ascii() { ("=", "-") } else { ("━", "─") };
    let gauge = LineGauge::default()
        .ratio(if abandoned.is_finite() { 1.0 - abandoned } else { 0.0 })
        .label("")
        .filled_symbol(filled)
        .unfilled_symbol(unfilled)
        .filled_style(pen.style(Tone::Active))
        .unfilled_style(pen.style(Tone::Warning));
    let bar = Rect { x: area.x + width(&left) as u16, width: room, ..row(2) };
    pen.render(gauge, bar);
    pen.put(Rect { width: width(&left) as u16, ..row(2) }, &[Span::new(Tone::Active, left)]);
    let right_area = Rect { x: bar.right(), width: area.width.saturating_sub(bar.right() - area.x), ..row(2) };
    pen.put(right_area, &[Span::new(Tone::Warning, right)]);
}

/// Returns the change of the cost against the days before.
fn change(totals: &PeriodTotals) -> Option<String> {
    let (before, days) = totals.before?;
    let days = days_in_words(days);
    let times = totals.total.cost / before;
    match () {
        () if before == 0.0 => Some(format!("none on {days}")),
        () if times > 10.0 => Some(format!("{times:.0} times {days}")),
        () => Some(format!("{:+.0} % on {days}", 100.0 * (times - 1.0))).filter(|_| times.is_finite()),
    }
}

/// Returns the facts of a sum that fit, most important first.
fn facts(PeriodTotals { total, sessions, .. }: &PeriodTotals, pen: &Painter<'_>, columns: usize) -> String {
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
    fitting(facts, &format!(" {} ", pen.glyphs().dot), columns)
}

/// Divides columns among the names, the bars, and the numbers, the shown one first.
fn table_columns(columns: usize, shown: StatsColumn) -> (TableColumns, Vec<StatsColumn>) {
    let mut left = columns.saturating_sub(number_columns(shown) + 2);
    let mut numbers = vec![shown];
    for column in SHOWN.into_iter().filter(|&column| column != shown) {
        match left.checked_sub(number_columns(column)) {
            Some(rest) if rest >= LEAST.0 + LEAST.1 => left = rest,
            _ => break,
        }
        numbers.push(column);
    }
    let bar = (left / 3).clamp(LEAST.0, 30).min(left / 2);
    (TableColumns { name: left - bar, bar }, numbers)
}

fn draw_table(layout: &StatsLayout, view: &StatsView, pen: &Painter<'_>) {
    let (columns, numbers) = table_columns(usize::from(layout.list.width).saturating_sub(1), view.column);
    let headings = numbers.iter().map(|column| (column.heading(), number_columns(*column)));
    let heading = pen.glyphs().cut(&format!("by {}", view.grouping.name()), columns.name).into_owned();
    pen.put(layout.heading, &columns.heading(&heading, headings, pen.glyphs()));
    let Some(table) = &view.table else { return };
    let most = most(&table.rows, view.column);
    let home = &pen.model.setting.home;
    let rows = ListView { area: layout.list, cursor: view.cursor, len: table.rows.len(), focused: true };
    list(pen, &rows, |at, _| {
        let NamedRow { sum, .. } = &table.rows[at];
        let name = words(&table.rows[at], table.grouping, home);
        let name = match table.grouping {
            Grouping::Project => pen.glyphs().cut_path(&name, columns.name),
            _ => pen.glyphs().cut(&name, columns.name),
        };
        let bar = bar_of(view.column.value(sum, table.total.cost), most, columns.bar, pen);
        let numbers = numbers.iter().map(|column| (column.words(sum, table.total.cost), number_columns(*column)));
        columns.row(vec![Span::text(name)], &bar, numbers)
    });
    if table.rows.is_empty() {
        let text = "no entries in this period";
        pen.put(Rect { height: 1.min(layout.list.height), ..layout.list }, &[Span::dim(text)]);
    }
}

fn most(rows: &[NamedRow], column: StatsColumn) -> f64 {
    let values = rows.iter().filter(|row| !row.keys.is_empty()).filter_map(|row| column.value(&row.sum, 1.0));
    values.fold(0.0, f64::max)
}

/// Draws a year of days, and the value of the selected or the largest day.
fn draw_calendar(area: Rect, view: &StatsView, pen: &Painter<'_>) {
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
    let levels = if pen.is_ascii() { ASCII_LEVELS } else { LEVELS };
    let cell = |week: u16, row: u16| Rect { x: area.x + WEEKDAY_COLUMNS + week, y: area.y + row, width: 1, height: 1 };
    let period = view.period.days(&view.rules.calendar).filter(|_| view.period.length != PeriodLength::Year);
    // The name of a month stands above its first whole week, if there is room.
    let mut free = 0;
    for week in 0..weeks.weeks {
        let first = weeks.day(week, 0);
        if let Some(first) = first.filter(|first| first.day() <= 7 && week >= free && week + 3 <= weeks.weeks) {
            free = week + 4;
            let name = first.strftime("%b").to_string();
            pen.put(Rect { width: 3, ..cell(week, 0) }, &[Span::dim(name)]);
        }
        for weekday in 0..7 {
            let Some(day) = weeks.day(week, weekday).filter(|&day| day <= view.today) else { continue };
            let level = view.day(day).map_or(0, |sum| level(value(sum)));
            let tone = if level == 0 { Tone::Dim } else { Tone::Cost };
            pen.put(cell(week, weekday + 1), &[Span::new(tone, levels[level])]);
            if period.is_some_and(|(first, end)| (first..end).contains(&day)) {
                pen.select(cell(week, weekday + 1));
            }
        }
    }
    for weekday in [0, 2, 4] {
        if let Some(day) = weeks.day(0, weekday) {
            let name = day.strftime("%a").to_string();
            pen.put(Rect { y: area.y + 1 + weekday, width: 3, height: 1, ..area }, &[Span::dim(name)]);
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
            pen.glyphs().dot,
            count(shown.len(), "active day", "active days")
        ),
        (None, None) => "no active days".into(),
    };
    let scale = [Span::dim("less "), Span::new(Tone::Cost, levels[1..].concat()), Span::dim(" more")];
    let row = Rect { y: area.y + 8, height: 1, ..area };
    let left = vec![Span::dim(format!("{}: ", view.column.heading())), Span::text(legend)];
    pen.put(row, &both(&left, &scale, row.width.into(), pen.glyphs()));
}

/// Draws the largest groups of a grouping, as many as there is room for.
fn draw_panel(area: Rect, (grouping, table): (Grouping, &NamedTable), view: &StatsView, pen: &Painter<'_>) {
    let row = |at: usize| Rect { y: area.y + at as u16, height: 1, ..area };
    let heading = match grouping {
        Grouping::Prompt if view.column == StatsColumn::Cost => "most expensive prompts".into(),
        Grouping::Prompt => format!("prompts with most {}", view.column.heading()),
        other => format!("by {}", other.name()),
    };
    pen.put(row(0), &[Span::accent(heading)]);
    let rows: Vec<&NamedRow> = table.rows.iter().take(usize::from(area.height).saturating_sub(2)).collect();
    let most = most(&table.rows, view.column);
    let columns = usize::from(area.width);
    let bars = if grouping == Grouping::Prompt { 0 } else { columns / 4 };
    for (at, one) in rows.iter().enumerate() {
        let name = words(one, grouping, &pen.model.setting.home);
        let bar = bar_of(view.column.value(&one.sum, 1.0), most, bars, pen);
        let bar = format!("{bar}{}", " ".repeat(bars.saturating_sub(width(&bar))));
        let number = right_aligned(&view.column.words(&one.sum, table.total.cost), NUMBER);
        let right = [Span::new(Tone::Cost, bar), Span::text(number)];
        let left = [Span::text(name)];
        pen.put(row(at + 1), &both(&left, &right, columns, pen.glyphs()));
    }
}
