//! The screen of statistics, and the cost of the month.

use std::sync::Arc;

use super::search;
use crate::app::flows::stats_view::{self, StatsTarget};
use crate::app::layers::Layer;
use crate::app::layers::stats::StatsView;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::text::Tone;
use crate::catalog::stats::overview::OverviewPart;
use crate::catalog::stats::request::TableRequest;
use crate::catalog::stats::sessions::StatsSessions;
use crate::keymap::Action;
use crate::session::stats::StatsSum;
use crate::session::stats::prices::Prices;

/// Opens the screen over the listed sessions.
pub(super) fn open(model: &mut Model) {
    (model.stats.left, model.stats.was_opened) = (None, true);
    match stats_view::view(model) {
        Ok(view) => show(model, view),
        Err(why) => model.say(Tone::Warning, why),
    }
}

fn show(model: &mut Model, view: StatsView) {
    model.layers.0.push(Layer::Stats(Box::new(view)));
    count(model);
}

/// Counts what the screen shows.
fn count(model: &mut Model) {
    let Some(view) = model.layers.stats_mut() else { return };
    let request = Box::new(view.request());
    model.stats.counting = Some(model.ask(Work::Count(request)));
}

/// Takes a part of the content.
pub(super) fn take(model: &mut Model, part: OverviewPart) {
    let size = model.size;
    if matches!(part, OverviewPart::Panels(_)) {
        model.stats.counting = None;
    }
    if let Some(view) = model.layers.stats_mut() {
        view.take(part, size);
    }
}

/// Does an action of the screen.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(Layer::Stats(view)) = model.layers.top() else { return };
    match action {
        Action::Confirm => match stats_view::target(view) {
            Ok(target) => leave(model, target),
            Err(why) => model.say(Tone::Dim, why),
        },
        Action::Copy => model.execute(stats_view::copy(model, view)),
        Action::NextGrouping
        | Action::PreviousGrouping
        | Action::NextColumn
        | Action::NextPeriod
        | Action::PreviousPeriod
        | Action::LongerPeriod
        | Action::ShorterPeriod => count(model),
        _ => {}
    }
}

/// Leaves the screen for a row; going back from there returns to it.
fn leave(model: &mut Model, target: StatsTarget) {
    let Some(Layer::Stats(view)) = model.layers.0.pop() else { return };
    match target {
        StatsTarget::Command(command) => model.execute(*command),
        StatsTarget::Query(query) => search::open(model, &query),
    }
    model.stats.left = Some(view);
}

/// Returns to the screen, if the user left it for a row. Returns `true` if so.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(mut view) = model.stats.left.take() else { return false };
    if model.search.is_some() {
        search::close(model);
    }
    if !view.query.is_empty() {
        search::open(model, &view.query.clone());
    }
    view.as_of = model.catalog.version();
    show(model, *view);
    true
}

/// Counts again after sessions have changed, once the previous count has ended.
pub(super) fn sync(model: &mut Model) {
    sync_month(model);
    if model.setting.opens_statistics && !model.stats.was_opened && !model.catalog.is_empty() {
        model.stats.was_opened = true;
        open(model);
    }
    let size = model.size;
    let version = model.catalog.version();
    let Some(view) = model.layers.stats_mut() else {
        model.stats.counting = None;
        return;
    };
    view.fit(size);
    if view.as_of == version || model.stats.counting.is_some() {
        return;
    }
    let mut view = view.clone();
    stats_view::take_sessions(model, &mut view);
    view.days = None;
    if let Some(shown) = model.layers.stats_mut() {
        *shown = view;
    }
    count(model);
}

/// Counts the cost of the current month after sessions have changed, if there is a budget.
fn sync_month(model: &mut Model) {
    let is_wanted = model.setting.config.stats.month_budget.is_some() && model.catalog.progress.finished;
    if !is_wanted || model.stats.counting_month.is_some() {
        return;
    }
    let rules = model.setting.config.stats.rules(model.setting.zone.clone(), Prices::default());
    let since = rules.calendar.month_start(model.now);
    let as_of = Some((model.catalog.version(), since));
    if model.stats.month_as_of == as_of {
        return;
    }
    let request = TableRequest { since, ..TableRequest::by(&[]) };
    let sessions = StatsSessions::new(&model.catalog, |_| true);
    model.stats.month_as_of = as_of;
    model.stats.counting_month = Some(model.ask(Work::Sum(Arc::new((sessions, rules, request)))));
}

/// Takes the sum of the current month.
pub(super) fn take_month(model: &mut Model, sum: &StatsSum) {
    model.stats.counting_month = None;
    model.stats.month_cost = Some(sum.cost);
}

/// Handles a failed count. Returns `true` if the ticket was one.
pub(super) fn take_failure(model: &mut Model, ticket: u64, error: &str) -> bool {
    if model.stats.counting.as_ref().is_some_and(|claim| claim.number == ticket) {
        model.stats.counting = None;
        if let Some(view) = model.layers.stats_mut() {
            view.problem = Some(error.into());
        }
        return true;
    }
    model.stats.counting_month.take_if(|claim| claim.number == ticket).is_some()
}
