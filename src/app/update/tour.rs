//! The tour and its offer at the first start. A step is complete when its action was done, however the user did it.

use crate::app::flows::tour as flow;
use crate::app::layers::Layer;
use crate::app::message::Effect;
use crate::app::model::{Model, Notice};
use crate::app::tour::{Tour, TourStep};
use crate::base::text::{Tone, width};
use crate::changes::Request;
use crate::keymap::{Action, Place};

/// Milliseconds for which keys do not remove the offer.
const OFFERED: i64 = 5000;

/// Starts the tour, or skips a step of the running one.
pub(super) fn start_or_skip(model: &mut Model) {
    if model.setting.picker.is_some() {
        return model.say(Tone::Dim, "no tour while you choose a session");
    }
    if model.catalog.is_empty() {
        return model.say(Tone::Dim, "the tour needs sessions; run pitree --demo");
    }
    model.notice = None;
    match &model.tour {
        None => model.tour = Some(Tour::default()),
        Some(tour) => go_to(model, tour.step.next()),
    }
}

/// Ends the tour.
pub(super) fn end(model: &mut Model) {
    let is_complete = model.tour.take().is_none_or(|tour| tour.step == TourStep::End);
    if !is_complete {
        let (key, dot) = (flow::key(model, Action::Tour), &model.setting.glyphs.dot);
        model.say(Tone::Dim, format!("tour ended {dot} {key}: start it again"));
    }
}

fn go_to(model: &mut Model, step: Option<TourStep>) {
    let word = || flow::word(model);
    model.tour = step.map(|step| Tour::at(step, (step == TourStep::Hit).then(word).flatten()));
}

/// Returns the focused pane and its number of rows, by which a fold is noticed.
pub(super) fn rows(model: &Model) -> (Place, usize) {
    let rows = match model.focus {
        Place::Sessions => model.sessions.rows.len(),
        _ => model.tree.rows.list.len(),
    };
    (model.focus, rows)
}

/// Notes an action that was done. `before` are the pane and its rows before it.
pub(super) fn note(model: &mut Model, action: Action, before: (Place, usize)) {
    use Action as A;
    let after = rows(model);
    let is_folding = after.0 == before.0 && after.1 != before.1;
    let Some(tour) = &mut model.tour else { return };
    let is_done = match tour.step {
        TourStep::Fold => {
            let folds = [A::Fold, A::Unfold, A::FoldAll, A::UnfoldAll, A::SegmentUp, A::SegmentDown, A::Confirm];
            is_folding && folds.contains(&action)
        }
        TourStep::Filter => {
            let filters = [A::NextFilter, A::PreviousFilter, A::FilterDefault, A::FilterNoTools, A::FilterUserOnly];
            let others = [A::FilterLabeledOnly, A::FilterAll, A::FilterOutline, A::FilterTurns];
            filters.contains(&action) || others.contains(&action)
        }
        TourStep::Resume => {
            tour.is_resuming |= matches!(action, A::Confirm | A::ResumeHere);
            false
        }
        _ => false,
    };
    if is_done {
        let next = tour.step.next();
        go_to(model, next);
    }
}

/// Notes a change that was made or undone.
pub(super) fn note_change(model: &mut Model, request: &Request) {
    let Some(tour) = model.tour.as_mut().filter(|tour| tour.step == TourStep::Undo) else { return };
    if !request.is_step() {
        tour.has_changed = true;
    } else if tour.has_changed {
        go_to(model, Some(TourStep::End));
    }
}

/// Completes steps whose result is visible, and offers the tour at the first start.
pub(super) fn sync(model: &mut Model) {
    while let Some(tour) = model.tour.as_ref().filter(|tour| is_reached(model, tour)) {
        let next = tour.step.next();
        go_to(model, next);
    }
    let is_untouched = model.notice.is_none() && model.search.is_none() && !model.sessions.touched;
    if model.setting.offers_tour && !model.tour_offered && is_untouched && !model.catalog.is_empty() {
        model.tour_offered = true;
        model.effects.push(Effect::OfferTour);
    }
}

/// Returns `true` if the screen shows the result of the step.
fn is_reached(model: &Model, tour: &Tour) -> bool {
    match tour.step {
        TourStep::Fold | TourStep::Filter | TourStep::Undo => false,
        TourStep::Search => model.search.is_some(),
        TourStep::Hit => model.focus == Place::Tree && model.sessions.selected_hit().is_some(),
        TourStep::Fork => model.tree.is_whole() || model.tree.family.is_some(),
        TourStep::Context => model.layers.has(Place::Context),
        TourStep::Resume => tour.is_resuming && matches!(model.layers.top(), Some(Layer::Question(_) | Layer::Note(_))),
        TourStep::End => model.layers.has(Place::Help),
    }
}

/// Offers the tour in one line, which names the command that checks the installation.
pub(super) fn offer(model: &mut Model) {
    let (key, dot) = (flow::key(model, Action::Tour), &model.setting.glyphs.dot);
    let texts = [
        format!("New here? Press {key} for a one-minute tour {dot} pitree setup checks the installation"),
        format!("New here? Press {key} for a tour {dot} check: pitree setup"),
        format!("{key}: tour {dot} check: pitree setup"),
    ];
    let room = usize::from(model.size.0).saturating_sub(1);
    let text = texts.iter().find(|text| width(text) <= room).unwrap_or(&texts[2]).clone();
    model.notice = Some(Notice { tone: Tone::Accent, text, can_undo: false, until: Some(model.now + OFFERED) });
}
