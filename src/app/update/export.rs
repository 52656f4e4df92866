//! The box of an export: it is shown at once, and again when the export is prepared.

use crate::app::flows::export;
use crate::app::layers::Layer;
use crate::app::message::Work;
use crate::app::model::{Model, PreparedExport};
use crate::catalog::export::request::{ExportRequest, ExportResult};

/// Shows the box and prepares the export.
pub(super) fn show(model: &mut Model, request: ExportRequest, selected: char) {
    let claim = model.ask(Work::Export(Box::new(request.clone())));
    // Until the new one is ready, the list of secrets stays.
    let selection = |request: &ExportRequest| (request.files.clone(), request.end.clone(), request.scope);
    let same = |before: &PreparedExport| selection(&before.request) == selection(&request);
    let result = model.export.take().filter(same).and_then(|before| before.result);
    let prepared = PreparedExport { claim, request, result };
    close(model);
    let question = export::question(model, &prepared, selected);
    model.layers.0.push(Layer::Question(question));
    model.export = Some(prepared);
}

/// Shows the list of secrets over the box.
pub(super) fn list(model: &mut Model, selected: usize) {
    let list = model.export.as_ref().and_then(|prepared| export::secrets(prepared, selected));
    if let Some(list) = list {
        if !is_open(model) {
            reopen(model, 's');
        }
        model.layers.0.push(Layer::Question(list));
    }
}

/// Takes the result: shows it in the box, or reports the new file.
pub(super) fn take(model: &mut Model, ticket: u64, result: Result<Box<ExportResult>, String>) {
    let is_it = |prepared: &PreparedExport| prepared.claim.number == ticket;
    let Some(mut prepared) = model.export.take_if(|prepared| is_it(prepared)) else {
        model.end_errand(ticket);
        model.execute(export::made(result));
        return model.hold_notice();
    };
    prepared.result = Some(result.map(|result| *result));
    model.export = Some(prepared);
    if let Some(selected) = box_mut(model) {
        refresh(model, selected);
    }
}

/// Returns the key of the selected choice of the box, if it is open.
fn box_mut(model: &Model) -> Option<char> {
    model.layers.0.iter().find_map(|layer| match layer {
        Layer::Question(question) if question.title == export::TITLE => Some(question.selected()?.key),
        _ => None,
    })
}

fn is_open(model: &Model) -> bool {
    box_mut(model).is_some()
}

/// Replaces the open box by its new content.
fn refresh(model: &mut Model, selected: char) {
    let Some(prepared) = &model.export else { return };
    let fresh = export::question(model, prepared, selected);
    for layer in &mut model.layers.0 {
        if let Layer::Question(question) = layer
            && question.title == export::TITLE
        {
            *question = fresh.clone();
        }
    }
}

fn reopen(model: &mut Model, selected: char) {
    let Some(prepared) = &model.export else { return };
    let question = export::question(model, prepared, selected);
    model.layers.0.push(Layer::Question(question));
}

fn close(model: &mut Model) {
    model.layers.0.retain(|layer| !matches!(layer, Layer::Question(question) if question.title == export::TITLE));
}
