//! `pitree stats`: what sessions cost and did, as sums by time, model, project and others. `pitree entries`: a stream of all
//! entries for databases.

use std::borrow::Cow;

use anyhow::{Context, Result, anyhow, bail};
use jiff::tz::TimeZone;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::base::numbers::{dollars, tokens};
use crate::base::text::{clean, width};
use crate::base::time;
use crate::catalog::entries::EntriesRequest;
use crate::catalog::key::SessionKey;
use crate::catalog::stats::request::{GroupName, TableRequest};
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::stats::table::{NamedRow, StatsTable};
use crate::cli::selection::SelectionArgs;
use crate::cli::table::{self, BAR, Column, LAST, TITLE};
use crate::cli::{CommandContext, Exit, now, output};
use crate::config::stats::price_table;
use crate::pi::prices;
use crate::runtime::secret_rules::ChosenRules;
use crate::search::qualifier::value::QueryScope;
use crate::search::qualifier::value::date::DateValue;
use crate::session::stats::StatsSum;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;

/// Which sessions of subagents are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SubagentChoice {
    /// All sessions
    With,
    /// No sessions of subagents
    Without,
    /// Only sessions of subagents
    Only,
}

/// Returns a parser of a name.
pub(super) fn named_value<T: Copy>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl Fn(&str) -> Result<T> + Clone {
    move |text: &str| {
        let names = || all.iter().map(|&one| name(one)).collect::<Vec<_>>().join(", ");
        all.iter()
            .copied()
            .find(|&one| name(one) == text)
            .ok_or_else(|| anyhow!("unknown name; use one of {}", names()))
    }
}

/// Returns the help of `--by`.
fn grouping_help() -> String {
    let names: Vec<&str> = Grouping::ALL.iter().map(|grouping| grouping.name()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("Group by {} or {last}; twice for two groupings [default: month]", others.join(", "))
}

/// Show what sessions cost and did, by day, model or project
///
/// Each entry is counted once, in the session in which it was made, and belongs to one row of a grouping. So the rows of
/// every grouping add up to the same total.
#[derive(Debug, clap::Args)]
pub(super) struct StatsCommand {
    #[arg(long, value_name = "GROUPING", help = grouping_help(), value_parser = named_value(Grouping::ALL, Grouping::name))]
    by: Vec<Grouping>,
    /// Count only entries since this date or age (2026-05-01, today, 2w)
    #[arg(long, value_name = "DATE", value_parser = DateValue::read)]
    since: Option<DateValue>,
    /// Count only entries before this date or age
    #[arg(long, value_name = "DATE", value_parser = DateValue::read)]
    until: Option<DateValue>,
    /// Sort by key or by a column of the JSON output [default: key for times, cost for others]
    #[arg(long, value_name = "COLUMN", value_parser = named_value(StatsColumn::ALL, StatsColumn::name))]
    sort: Option<StatsColumn>,
    /// Print at most N rows; the rest becomes one row
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
    /// Count sessions of subagents
    #[arg(long, value_name = "WHICH", default_value = "with")]
    subagents: SubagentChoice,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Use days in UTC instead of the local time zone
    #[arg(long)]
    utc: bool,
    /// Print JSON Lines; the last line is the total
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values with a header
    #[arg(long)]
    csv: bool,
    /// Compare this month with the budget stats.budget.month; the exit code is 3 if the cost is higher
    #[arg(long, conflicts_with_all = ["by", "since", "until", "sort", "limit", "json", "csv"])]
    check: bool,
}

impl StatsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let zone = if self.utc { TimeZone::UTC } else { TimeZone::system() };
        let scope = QueryScope { zone: zone.clone(), ..context.query_scope() };
        let settings = &context.config.stats;
        let mut groupings = if self.by.is_empty() { vec![Grouping::Month] } else { self.by.clone() };
        groupings.dedup();
        if groupings.len() > 2 {
            bail!("too many groupings: use --by once or twice");
        }
        let catalog = context.catalog();
        let is_selected = self.selection.matcher(scope.clone(), context)?;
        let is_wanted = |key: SessionKey| {
            let is_of_kind = match self.subagents {
                SubagentChoice::With => true,
                SubagentChoice::Without => !catalog[key].facts().is_subagent(),
                SubagentChoice::Only => catalog[key].facts().is_subagent(),
            };
            is_of_kind && is_selected(key)
        };
        let mut sessions = StatsSessions::new(catalog, is_wanted);
        if groupings.iter().any(|grouping| grouping.needs_marks()) {
            sessions = sessions.with_marks(context.marks()?);
        }
        if groupings.iter().any(|grouping| grouping.needs_worktrees()) {
            sessions = sessions.with_worktrees(context.worktrees(catalog.cwds()));
        }
        let rules = settings.rules(zone, prices::all(price_table(), &settings.prices));
        let is_time = groupings.first().is_some_and(|grouping| grouping.is_time());
        let request = if self.check {
            TableRequest { since: rules.calendar.month_start(now()), ..TableRequest::by(&[]) }
        } else {
            TableRequest {
                since: self.since.map(|date| date.ms(&scope)),
                until: self.until.map(|date| date.ms(&scope)),
                sort: self.sort.unwrap_or(if is_time { StatsColumn::Key } else { StatsColumn::Cost }),
                limit: self.limit,
                ..TableRequest::by(&groupings)
            }
        };
        let by_model = [Grouping::Provider, Grouping::Model];
        let unpriced = TableRequest {
            since: request.since,
            until: request.until,
            sort: StatsColumn::UnpricedTokens,
            ..TableRequest::by(&by_model)
        };
        let mut tables = StatsTable::all(&sessions, &rules, &[request, unpriced]).into_iter();
        let [table, unpriced] = std::array::from_fn(|_| tables.next().unwrap_or_default());
        if self.check {
            let budget = settings.month_budget;
            let budget = budget.context("no budget is set; add `stats.budget.month = 200` to config.toml")?;
            let cost = table.total.cost;
            outln!("{} of {} this month", dollars(cost), dollars(budget))?;
            return Ok(if cost > budget { Exit::Over } else { Exit::Done });
        }
        let total = table.total.clone();
        let rows = table.named(&groupings, &sessions);
        let report = Report { groupings: &groupings, rows: &rows, total: &total };
        match () {
            () if self.json => report.json()?,
            () if self.csv => report.csv()?,
            () => {
                report.table(context)?;
                if total.unpriced_tokens > 0.0 {
                    let rows = unpriced.named(&by_model, &sessions);
                    output::note(&unpriced_note(&rows, total.unpriced_tokens));
                }
            }
        }
        self.selection.end(catalog.unreadable.clone(), !rows.is_empty())
    }
}

/// The rows to print.
struct Report<'a> {
    groupings: &'a [Grouping],
    rows: &'a [NamedRow],
    total: &'a StatsSum,
}

impl Report<'_> {
    fn columns() -> impl Iterator<Item = StatsColumn> {
        StatsColumn::ALL.iter().copied().filter(|column| *column != StatsColumn::Key)
    }

    /// Prints a line for each row, and one for the total.
    fn json(&self) -> Result<()> {
        for NamedRow { names, sum, .. } in self.rows {
            output::json(&StatsLine { report: self, kind: "row", keys: names, sum })?;
        }
        output::json(&StatsLine { report: self, kind: "total", keys: &[], sum: self.total })
    }

    /// Prints a header and a line for each row.
    fn csv(&self) -> Result<()> {
        let names = self.groupings.iter().map(|grouping| grouping.name());
        let header: Vec<&str> = names.chain(Self::columns().map(StatsColumn::name)).collect();
        output::line(header.join(","))?;
        for NamedRow { names, sum, .. } in self.rows {
            let keys = names.iter().map(|key| csv_field(key.key.as_deref().unwrap_or_default()));
            let values = Self::columns().map(|column| {
                let value = column.value(sum, self.total.cost).and_then(output::number);
                Cow::Owned(value.map_or_else(String::new, |value| value.to_string()))
            });
            let fields: Vec<Cow<'_, str>> = keys.chain(values).collect();
            output::line(fields.join(","))?;
        }
        Ok(())
    }

    /// Prints a table with bars of the cost. The keys come last, because that column is dropped last.
    fn table(&self, context: &CommandContext) -> Result<()> {
        const NUMBER: Column = Column::Number;
        let is_paths = matches!(self.groupings, [grouping] if grouping.is_path());
        let most_words = if self.groupings.len() == 1 { LAST } else { TITLE };
        let last = if is_paths { Column::Path } else { Column::Words(LAST) };
        let columns = [NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, Column::Words(BAR), last];
        let most = self.rows.iter().map(|row| row.sum.cost).fold(0.0, f64::max);
        // A narrow terminal shows fewer columns, so that there is room for the keys.
        let room = output::columns().unwrap_or(usize::MAX);
        let fitted = |mut cells: [String; 9]| {
            let dropped: &[usize] = if room < 72 { &[3, 4, 5, 6, 7] } else { &[3, 5, 7] };
            dropped.iter().filter(|_| room < 100).for_each(|&at| cells[at].clear());
            cells
        };
        let cells = |sum: &StatsSum, bar: String, keys: String| {
            let words = |column: StatsColumn| column.words(sum, self.total.cost);
            let some = |column: StatsColumn| {
                if column.value(sum, 1.0) == Some(0.0) { String::new() } else { words(column) }
            };
            use StatsColumn as C;
            let [abandoned, time] = [C::AbandonedCost, C::WorkingTime].map(some);
            let [cost, tokens, rate, sessions, prompts] =
                [C::Cost, C::Tokens, C::CacheHitRate, C::Sessions, C::Prompts].map(words);
            fitted([cost, abandoned, tokens, rate, time, sessions, prompts, bar, keys])
        };
        let names = self.groupings.iter().map(|grouping| grouping.name().to_string()).collect();
        let glyphs = context.config.glyphs();
        // Of a path, the end is kept.
        let key_words = |(key, &grouping): (&GroupName, &Grouping)| match (grouping, key.words(grouping, &context.home))
        {
            (grouping, words) if grouping.is_path() => glyphs.cut_start(&clean(&words), most_words).into_owned(),
            (_, words) => table::words(&words, most_words, glyphs),
        };
        let words = |row: &NamedRow| row.names.iter().zip(self.groupings).map(key_words).collect();
        let keys: Vec<Vec<String>> = std::iter::once(names).chain(self.rows.iter().map(words)).collect();
        let widest = keys.iter().filter_map(|keys| keys.first()).map(|key| width(key)).max().unwrap_or_default();
        let joined = |keys: &Vec<String>| match &keys[..] {
            [first, second] => format!("{first}{}  {second}", " ".repeat(widest - width(first))),
            keys => keys.concat(),
        };
        let mut keys = keys.iter().map(joined);
        let names = keys.next().unwrap_or_default();
        let header = ["cost", "abandoned", "tokens", "cached", "time", "sessions", "prompts", "", &names];
        let mut rows = vec![fitted(header.map(String::from))];
        for (NamedRow { sum, .. }, keys) in self.rows.iter().zip(keys) {
            rows.push(cells(sum, context.bar(sum.cost, most), keys));
        }
        if self.rows.len() != 1 {
            rows.push(cells(self.total, String::new(), "total".into()));
        }
        context.styled_table(columns, &rows, (true, self.rows.len() != 1))
    }
}

/// Names the models without a price, those with the most tokens first.
fn unpriced_note(rows: &[NamedRow], total: f64) -> String {
    let rows = rows.iter().filter(|row| row.sum.unpriced_tokens > 0.0).map(|row| {
        let names: Vec<&str> = row.names.iter().filter_map(|name| name.key.as_deref()).collect();
        let name = if names.is_empty() { "tools and summaries".into() } else { names.join("/") };
        format!("{} of {}", tokens(row.sum.unpriced_tokens), clean(&name))
    });
    format!(
        "the listed cost omits {} tokens without a price: {}; add prices to [stats.prices] in config.toml",
        tokens(total),
        rows.collect::<Vec<_>>().join(", ")
    )
}

/// A row or the total in JSON.
struct StatsLine<'a> {
    report: &'a Report<'a>,
    kind: &'a str,
    keys: &'a [GroupName],
    sum: &'a StatsSum,
}

impl Serialize for StatsLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { report, kind, keys, sum } = self;
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("type", kind)?;
        for (name, key) in ["key", "secondKey"].iter().zip(*keys) {
            line.serialize_entry(name, &key.key)?;
        }
        for (grouping, key) in report.groupings.iter().zip(*keys) {
            line.serialize_entry(grouping.name(), &key.key)?;
        }
        if let Some(title) = keys.iter().find_map(|key| key.title.as_ref()) {
            line.serialize_entry("title", title)?;
        }
        for column in Report::columns() {
            let value = column.value(sum, report.total.cost).and_then(output::number);
            line.serialize_entry(column.name(), &value)?;
        }
        line.end()
    }
}

/// Returns a field of a CSV file, quoted if needed and safe for a terminal.
fn csv_field(text: &str) -> Cow<'_, str> {
    let text = clean(text);
    if text.contains([',', '"', '\n', '\r']) { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) } else { text }
}

/// Print entries as JSON Lines for a database, without secrets
///
/// Each line is an entry with its session, project, text, tools, files, tokens and cost. With --since TIME, sessions whose
/// files are unchanged since then are left out. Likely secrets are replaced by marks such as [github-token 1]; rules cannot
/// find every secret. DuckDB and ClickHouse can load the lines.
#[derive(Debug, clap::Args)]
pub(super) struct EntriesCommand {
    /// Print the entries of sessions whose files changed since this time (2026-05-01T12:00:00Z, 2026-05-01, today, 2w)
    #[arg(long, value_name = "TIME", value_parser = Since::read)]
    since: Option<Since>,
    /// Keep secrets
    #[arg(long)]
    no_redact: bool,
    #[command(flatten)]
    selection: SelectionArgs,
}

/// A value of `--since`.
#[derive(Clone, Copy, Debug)]
enum Since {
    Date(DateValue),
    /// Milliseconds since 1970.
    Time(i64),
}

impl Since {
    fn read(text: &str) -> Result<Self, String> {
        let time = || time::parse(text).filter(|_| text.contains(':')).map(Self::Time);
        DateValue::read(text).map(Self::Date).or_else(|error| time().ok_or(error))
    }
}

impl EntriesCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let run = time::iso(now()).unwrap_or_default();
        let rules = (!self.no_redact).then(|| ChosenRules::new(&context.config.redact)).transpose()?;
        let catalog = context.catalog();
        let scope = context.query_scope();
        let since = self.since.map(|since| match since {
            Since::Date(date) => date.ms(&scope),
            Since::Time(ms) => ms,
        });
        let is_wanted = self.selection.matcher(scope, context)?;
        let has_sessions = catalog.keys().any(&is_wanted);
        let sessions = StatsSessions::new(catalog, is_wanted).with_worktrees(context.worktrees(catalog.cwds()));
        let request =
            EntriesRequest { sessions: &sessions, rules: rules.as_deref(), home: &context.home, since, run: &run };
        let mut written = Ok(());
        let unreadable = request.run(|lines| {
            written = output::write(lines);
            written.is_ok()
        });
        written?;
        self.selection.end(catalog.unreadable.iter().cloned().chain(unreadable).collect(), has_sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted() {
        let fields = ["a", "a,b", "say \"x\"", "\u{1b}[31m", ""].map(|text| csv_field(text).into_owned());
        assert_eq!(fields[..3], ["a", "\"a,b\"", "\"say \"\"x\"\"\""]);
        assert!(!fields[3].contains('\u{1b}') && fields[4].is_empty());
    }
}
