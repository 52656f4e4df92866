//! The box of an export: it is shown at once, and again when the export is prepared.

use crate::app::command::PreparedExport;
use crate::app::flows::export;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::catalog::export::request::{ExportRequest, ExportResult};

/// Shows the box and prepares the export.
pub(super) fn show(model: &mut Model, request: ExportRequest, selected: char) {
    let claim = model.ask(Work::Export(Box::new(request.clone())));
    // The secrets of the same selection are known already.
    let selection = |request: &ExportRequest| (request.files.clone(), request.end.clone(), request.scope);
    let same = |before: &PreparedExport| selection(&before.request) == selection(&request);
    let result = model.export.take().filter(same).and_then(|before| before.result);
    let prepared = PreparedExport { claim, request, result };
    model.layers.close_question(export::TITLE);
    let question = export::question(model, &prepared, selected);
    model.layers.push(question);
    model.export = Some(prepared);
}

/// Shows the list of secrets over the box.
pub(super) fn list(model: &mut Model, selected: usize) {
    let list = model.export.as_ref().and_then(|prepared| export::secrets(prepared, selected));
    list.into_iter().for_each(|list| model.layers.push(list));
}

/// Takes the result: shows it in the box, or reports the new file.
pub(super) fn take(model: &mut Model, ticket: u64, result: Result<Box<ExportResult>, String>) {
    let is_it = |prepared: &PreparedExport| prepared.claim.number == ticket;
    let Some(mut prepared) = model.export.take_if(|prepared| is_it(prepared)) else {
        return model.finish_errand(ticket, export::made(result));
    };
    prepared.result = Some(result.map(|result| *result));
    let selected = model.layers.question_mut(export::TITLE).and_then(|question| Some(question.selected()?.key));
    let new = export::question(model, &prepared, selected.unwrap_or('w'));
    if let Some(question) = model.layers.question_mut(export::TITLE) {
        *question = new;
    }
    model.export = Some(prepared);
}
