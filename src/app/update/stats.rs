//! The screen of statistics and sizes, and the cost of the month.

use std::sync::Arc;

use super::search;
use crate::app::command::Command;
use crate::app::layers::Layer;
use crate::app::layers::stats::StatsView;
use crate::app::message::{Clip, Work};
use crate::app::model::Model;
use crate::app::widgets::Cursor;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::catalog::space::{SpaceContent, SpaceGrouping, SpaceKey, SpaceRow};
use crate::catalog::stats::overview::OverviewPart;
use crate::catalog::stats::request::{GroupKey, TableRequest};
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::{Action, KeyContext};
use crate::search::qualifier::value::in_quotes;
use crate::session::stats::columns::StatsColumn;
use crate::session::stats::grouping::Grouping;
use crate::session::stats::period::{Period, PeriodLength};
use crate::session::stats::prices::Prices;

/// Opens the screen over the listed sessions. Of sizes, in the other panes over the open session.
pub(super) fn open(model: &mut Model, is_size: bool) {
    (model.stats.left, model.stats.was_opened) = (None, true);
    let open = model.target_session().filter(|_| is_size && model.focus != KeyContext::Sessions).map(|(key, _)| key);
    match view(model, open) {
        Ok(mut view) => {
            view.show_size(is_size);
            show(model, view);
        }
        Err(why) => model.warn(why),
    }
}

/// Opens a view and counts its content.
fn show(model: &mut Model, view: StatsView) {
    model.layers.push(view);
    start_count(model);
}

/// Counts the content of the view, or measures the sizes, once.
fn start_count(model: &mut Model) {
    model.with_layer(|model, view: &mut StatsView| {
        let work = match &view.size {
            Some(size) if size.content.is_some() => return,
            Some(_) => Work::Measure(view.sessions.clone()),
            None => Work::Count(Box::new(view.request())),
        };
        view.claim = Some(model.ask_or(work, |model, _, error| {
            model.layers.update(|view: &mut StatsView| (view.claim, view.problem) = (None, Some(error.into())));
        }));
    });
}

/// Takes a part of the content.
pub(super) fn on_overview(model: &mut Model, part: OverviewPart) {
    model.layers.update(|view: &mut StatsView| view.on_overview(part));
}

/// Takes the progress of measuring.
pub(super) fn on_progress(model: &mut Model, progress: (usize, usize)) {
    model.layers.update(|view: &mut StatsView| view.size.iter_mut().for_each(|size| size.progress = progress));
}

/// Takes the sizes, also for the cards.
pub(super) fn on_sizes(model: &mut Model, content: &Arc<SpaceContent>) {
    model.sizes.kinds.extend(content.kinds.iter().map(|(key, kinds)| (*key, kinds.clone())));
    model.layers.update(|view: &mut StatsView| {
        view.claim = None;
        view.size.iter_mut().for_each(|size| size.content = Some(content.clone()));
    });
}

/// Does an action on the view.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<StatsView>() else { return };
    match action {
        Action::Confirm => match target(view) {
            Ok(target) => leave(model, target),
            Err(why) => model.hint(why),
        },
        Action::Copy => model.execute(copy(model, view)),
        Action::Stats
        | Action::Space
        | Action::NextGrouping
        | Action::PreviousGrouping
        | Action::NextColumn
        | Action::NextPeriod
        | Action::PreviousPeriod
        | Action::LongerPeriod
        | Action::ShorterPeriod => start_count(model),
        _ => {}
    }
}

/// Leaves the screen for a row; going back from there returns to it.
fn leave(model: &mut Model, target: StatsTarget) {
    let Some(Layer::Stats(mut view)) = model.layers.0.pop() else { return };
    match target {
        StatsTarget::Session(key) => {
            model.execute(Command::All(vec![Command::Select(key), Command::Focus(KeyContext::Sessions)]));
        }
        StatsTarget::Entry(entry) => model.execute(Command::GoTo(entry)),
        StatsTarget::Query(query) => search::open(model, &query),
    }
    view.claim = None;
    model.stats.left = Some(view);
}

/// Returns to the screen from one of its rows. Returns `false` if the user did not leave it.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(mut view) = model.stats.left.take() else { return false };
    search::restore(model, &view.query);
    view.catalog_version = model.catalog.version();
    show(model, *view);
    true
}

/// Opens the screen at the start if requested, and counts again after sessions have changed.
pub(super) fn sync(model: &mut Model) {
    sync_month(model);
    if model.settings.opens_statistics && !model.stats.was_opened && !model.catalog.is_empty() {
        open(model, false);
    }
    let is_outdated = model.with_layer(|model, view: &mut StatsView| {
        let is_outdated =
            view.catalog_version != model.catalog.version() && view.claim.is_none() && view.size.is_none();
        if is_outdated {
            take_sessions(model, view);
            view.days = None;
        }
        is_outdated
    });
    if is_outdated == Some(true) {
        start_count(model);
    }
}

/// Counts the cost of the current month after sessions have changed, if there is a budget.
fn sync_month(model: &mut Model) {
    let is_wanted = model.settings.config.stats.month_budget.is_some() && model.catalog.progress.finished;
    if !is_wanted || model.stats.counting_month.is_some() {
        return;
    }
    let rules = model.settings.config.stats.rules(model.settings.zone.clone(), Prices::default());
    let since = rules.calendar.month_start(model.now);
    let counted_month = Some((model.catalog.version(), since));
    if model.stats.counted_month == counted_month {
        return;
    }
    let request = TableRequest { since, ..TableRequest::by(&[]) };
    let sessions = StatsSessions::new(&model.catalog, |_| true);
    model.stats.counted_month = counted_month;
    let work = Work::Sum(Arc::new((sessions, rules, request)));
    model.stats.counting_month = Some(model.ask_or(work, |model, _, _| model.stats.counting_month = None));
}

/// Creates the view of one session or the listed ones before they are counted.
///
/// # Errors
/// The current time is unknown.
fn view(model: &Model, session: Option<SessionKey>) -> Result<StatsView, &'static str> {
    let today = model.settings.zoned(model.now).ok_or("the current time is out of range")?.date();
    let settings = &model.settings.config.stats;
    let rules = settings.rules(model.settings.zone.clone(), Prices::default());
    let mut view = StatsView {
        session,
        size: None,
        scope: String::new(),
        query: String::new(),
        catalog_version: 0,
        sessions: Arc::default(),
        period: Period { length: PeriodLength::Month, day: today },
        today,
        rules: Arc::new(rules),
        grouping: Grouping::Project,
        column: StatsColumn::Cost,
        days: None,
        totals: None,
        table: None,
        panels: Arc::default(),
        problem: None,
        cursor: Cursor::default(),
        claim: None,
    };
    take_sessions(model, &mut view);
    // The shortest period in which something happened.
    let newest = model.catalog.keys().filter(|&key| is_listed(model, key));
    let newest = newest.filter_map(|key| model.catalog[key].facts().modified()).max();
    view.period.length = [PeriodLength::Month, PeriodLength::Year]
        .into_iter()
        .find(|&length| {
            let since = Period { length, ..view.period }.range(&view.rules.calendar).0;
            newest.zip(since).is_some_and(|(newest, since)| newest >= since)
        })
        .unwrap_or(PeriodLength::All);
    Ok(view)
}

/// Takes the sessions that are listed now.
fn take_sessions(model: &Model, view: &mut StatsView) {
    (view.query, view.scope) = match view.session.filter(|&key| model.catalog.has(key)) {
        Some(key) => (String::new(), model.short_title(key)),
        None => scope(model),
    };
    let is_wanted = |key| view.session.map_or_else(|| is_listed(model, key), |session| session == key);
    view.sessions = Arc::new(StatsSessions::new(&model.catalog, is_wanted));
    view.catalog_version = model.catalog.version();
}

/// Returns the query whose hits are listed, empty for none, and the listed sessions in words.
fn scope(model: &Model) -> (String, String) {
    let shows = &model.sessions.shows;
    let search = model.search.as_ref().filter(|_| model.sessions.hits.is_some());
    let query = search.map_or_else(String::new, |search| search.line.value().trim().into());
    let words = match () {
        () if !model.sessions.marks.is_empty() => {
            count(model.sessions.marks.len(), "marked session", "marked sessions")
        }
        () if search.is_some() => format!("search: {}", clean(&query)),
        () if shows.here_only => clean(&shorten(&model.settings.current_dir, &model.settings.home)).into_owned(),
        () if shows.named_only => "named sessions".into(),
        () => "all sessions".into(),
    };
    (query, words)
}

/// Returns `true` if a session is marked, or else listed. Hidden subagents count.
fn is_listed(model: &Model, key: SessionKey) -> bool {
    let pane = &model.sessions;
    if !pane.marks.is_empty() {
        return pane.marks.contains(&key);
    }
    if let Some(hits) = &pane.hits {
        return hits.contains_key(&key);
    }
    pane.passes(&model.catalog, key)
}

/// The target of a row.
enum StatsTarget {
    Session(SessionKey),
    Entry(EntryRef),
    Query(String),
}

/// Returns where the selected row leads.
///
/// # Errors
/// It leads nowhere; the message says why.
fn target(view: &StatsView) -> Result<StatsTarget, &'static str> {
    if let Some((grouping, row)) = view.selected_size() {
        return target_of_size(view, grouping, row);
    }
    let row = view.selected().ok_or("there is nothing to open")?;
    let key = row.keys.first().ok_or("this row stands for several groups")?;
    let name = match (view.grouping, key) {
        (_, GroupKey::None) => return Err("entries without such a property have no search"),
        (_, &GroupKey::Session(session)) => return Ok(StatsTarget::Session(session)),
        (_, &GroupKey::Entry(session, at)) => return Ok(StatsTarget::Entry(EntryRef { session, at })),
        (Grouping::Hour, _) => return Err("there is no search for hours"),
        (grouping, GroupKey::Text(_)) => grouping.qualifier().ok_or("this row leads nowhere")?,
    };
    let GroupKey::Text(text) = key else { return Err("this row leads nowhere") };
    let mut parts = Vec::new();
    if view.grouping == Grouping::Week {
        let week = text.parse().ok().map(|day| Period { length: PeriodLength::Week, day });
        parts.extend(week.and_then(|week| active(week, view)));
    } else {
        // A group of several tags is found by all of them; a tag has no spaces.
        let values = if name == "tag" { text.split(' ').collect() } else { vec![text.as_str()] };
        parts.extend(values.into_iter().map(|value| format!("{name}:{}", in_quotes(value))));
        if name != "active" {
            parts.extend(active(view.period, view));
        }
    }
    parts.extend(Some(view.query.clone()).filter(|query| !query.is_empty()));
    Ok(StatsTarget::Query(parts.join(" ")))
}

/// Returns where a row of the sizes leads.
fn target_of_size(view: &StatsView, grouping: SpaceGrouping, row: &SpaceRow) -> Result<StatsTarget, &'static str> {
    let (name, text) = match (&row.key, grouping) {
        (&SpaceKey::Session(key), _) => return Ok(StatsTarget::Session(key)),
        (&SpaceKey::Entry(session, at), _) => return Ok(StatsTarget::Entry(EntryRef { session, at })),
        (SpaceKey::Kind(_), _) => return Err("there is no search for kinds"),
        (SpaceKey::Text(text), _) if text.is_empty() => return Err("there is no search for a missing name"),
        (SpaceKey::Text(text), SpaceGrouping::Project) => ("in", text),
        (SpaceKey::Text(text), SpaceGrouping::Tool) => ("tool", text),
        (SpaceKey::Text(_), _) => return Err("there is no search for types of extension entries"),
    };
    let query = format!("{name}:{} {}", in_quotes(text), view.query);
    Ok(StatsTarget::Query(query.trim_end().into()))
}

/// Returns the query for sessions with entries in a period; `None` for all time.
fn active(period: Period, view: &StatsView) -> Option<String> {
    let (first, end) = period.days(&view.rules.calendar)?;
    let last = end.yesterday().ok()?;
    let text = if first == last { first.to_string() } else { format!("{first}..{last}") };
    Some(format!("active:{text}"))
}

/// Copies the table as Markdown.
fn copy(model: &Model, view: &StatsView) -> Command {
    if view.size.is_some() {
        return Command::warn("to print the sizes, run: pitree space");
    }
    if view.table.is_none() {
        return Command::warn("the sessions are still being counted");
    }
    Command::copy(Clip::Text(view.markdown(&model.settings.home)))
}
