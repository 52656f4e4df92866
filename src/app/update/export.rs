//! The box of an export: it is shown at once, and again when the export is prepared.

use crate::app::flows::export;
use crate::app::layers::Layer;
use crate::app::message::Work;
use crate::app::model::{Model, PreparedExport};
use crate::catalog::export::request::{ExportRequest, ExportResult};

/// Shows the box and prepares the export.
pub(super) fn show(model: &mut Model, request: ExportRequest, selected: char) {
    let claim = model.ask(Work::Export(Box::new(request.clone())));
    // The secrets of the same selection are known already.
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
    model.layers.0.extend(list.map(Layer::Question));
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
    let mut layers = std::mem::take(&mut model.layers);
    for layer in &mut layers.0 {
        if let Layer::Question(question) = layer
            && question.title == export::TITLE
        {
            let selected = question.selected().map_or('w', |choice| choice.key);
            *question = export::question(model, &prepared, selected);
        }
    }
    model.layers = layers;
    model.export = Some(prepared);
}

fn close(model: &mut Model) {
    model.layers.0.retain(|layer| !matches!(layer, Layer::Question(question) if question.title == export::TITLE));
}
