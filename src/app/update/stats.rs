//! The screen of statistics, and the cost of the month.

use std::sync::Arc;

use super::search;
use crate::app::flows::stats_view::{self, StatsTarget};
use crate::app::layers::Layer;
use crate::app::layers::stats::StatsView;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::ticket;
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
        Err(why) => model.warn(why),
    }
}

/// Opens a view and counts its content.
fn show(model: &mut Model, view: StatsView) {
    model.layers.push(view);
    count(model);
}

/// Counts the content of the view.
fn count(model: &mut Model) {
    model.with_layer(|model, view: &mut StatsView| view.claim = Some(model.ask(Work::Count(Box::new(view.request())))));
}

/// Takes a part of the content.
pub(super) fn take(model: &mut Model, part: OverviewPart) {
    model.layers.update(|view: &mut StatsView| view.take(part));
}

/// Does an action on the view.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<StatsView>() else { return };
    match action {
        Action::Confirm => match stats_view::target(view) {
            Ok(target) => leave(model, target),
            Err(why) => model.hint(why),
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
    let Some(Layer::Stats(mut view)) = model.layers.0.pop() else { return };
    match target {
        StatsTarget::Command(command) => model.execute(*command),
        StatsTarget::Query(query) => search::open(model, &query),
    }
    view.claim = None;
    model.stats.left = Some(view);
}

/// Returns to the screen that was left for one of its rows. Returns `false` if there is none.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(mut view) = model.stats.left.take() else { return false };
    search::restore(model, &view.query);
    view.as_of = model.catalog.version();
    show(model, *view);
    true
}

/// Opens the screen at the start if requested, and counts again after sessions have changed.
pub(super) fn sync(model: &mut Model) {
    sync_month(model);
    if model.setting.opens_statistics && !model.stats.was_opened && !model.catalog.is_empty() {
        model.stats.was_opened = true;
        open(model);
    }
    let is_outdated = model.with_layer(|model, view: &mut StatsView| {
        let is_outdated = view.as_of != model.catalog.version() && view.claim.is_none();
        if is_outdated {
            stats_view::take_sessions(model, view);
            view.days = None;
        }
        is_outdated
    });
    if is_outdated == Some(true) {
        count(model);
    }
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
    if let Some(view) = model.layers.get_mut::<StatsView>()
        && ticket::end(&mut view.claim, ticket)
    {
        view.problem = Some(error.into());
        return true;
    }
    ticket::end(&mut model.stats.counting_month, ticket)
}
