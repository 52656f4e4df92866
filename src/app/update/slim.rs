//! The box of slimming: it is shown at once, and again when the sessions are measured.

use std::collections::HashMap;

use crate::app::command::SlimRequest;
use crate::app::flows::slim;
use crate::app::message::Work;
use crate::app::model::{Model, PreparedSlimming};
use crate::changes::slim::SlimOverview;

/// Shows the box and measures the sessions. The previous result stays until then.
pub(super) fn show(model: &mut Model, request: SlimRequest, selected: char) {
    let mut groups = HashMap::new();
    let target = |&key: &_| Some((model.catalog.get(key)?.clone(), model.catalog.sharing_group(key, &mut groups)));
    let targets = request.sessions.iter().filter_map(target).collect();
    let claim = model.ask(Work::PlanSlimming(targets, request.rules.clone()));
    let same = |before: &PreparedSlimming| before.request.sessions == request.sessions;
    let overview = model.slimming.take().filter(same).and_then(|before| before.overview);
    let prepared = PreparedSlimming { claim, request, selected, overview, done: None };
    model.layers.close_question(slim::TITLE);
    let question = slim::question(model, &prepared, selected);
    model.layers.push(question);
    model.slimming = Some(prepared);
}

/// Shows the progress.
pub(super) fn take_progress(model: &mut Model, ticket: u64, done: usize) {
    update(model, ticket, |prepared| prepared.done = Some(done));
}

/// Shows the result.
pub(super) fn take(model: &mut Model, ticket: u64, overview: SlimOverview) {
    update(model, ticket, |prepared| prepared.overview = Some(Ok(overview)));
}

/// Shows an error. Returns `true` if it belongs to the box.
pub(super) fn take_failure(model: &mut Model, ticket: u64, error: &str) -> bool {
    update(model, ticket, |prepared| prepared.overview = Some(Err(error.into())))
}

fn update(model: &mut Model, ticket: u64, change: impl FnOnce(&mut PreparedSlimming)) -> bool {
    let Some(mut prepared) = model.slimming.take_if(|prepared| prepared.claim.number == ticket) else { return false };
    let is_first = prepared.overview.is_none();
    change(&mut prepared);
    // Before the result, there is nothing to choose.
    let shown = model.layers.question_mut(slim::TITLE).filter(|_| !is_first);
    let selected = shown.and_then(|question| Some(question.selected()?.key)).unwrap_or(prepared.selected);
    let new = slim::question(model, &prepared, selected);
    if let Some(question) = model.layers.question_mut(slim::TITLE) {
        *question = new;
    }
    model.slimming = Some(prepared);
    true
}

/// Cancels the measurement once the box is closed.
pub(super) fn forget_closed(model: &mut Model) {
    if model.slimming.is_some() && model.layers.question_mut(slim::TITLE).is_none() {
        model.slimming = None;
    }
}
