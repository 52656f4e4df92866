//! Boxes that are shown at once, and again when their content is prepared: those of slimming and of an export.

use std::collections::HashMap;

use crate::app::command::{Command, PreparedExport, PreparedSlimming, SlimRequest};
use crate::app::flows::{Choice, Flow, cancel_by, export, hidden_note, marked_or_selected, trash_and_archive};
use crate::app::layers::dialogs::Question;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::{bytes, count};
use crate::base::text::Tone;
use crate::catalog::export::{ExportRequest, ExportResult};
use crate::render::DocLine;
use crate::session::write::slim::{SlimRules, SlimSaving};

/// Shows the box and measures the sessions. The previous result stays until then.
pub(super) fn show_slimming(model: &mut Model, request: SlimRequest, selected: char) {
    let mut groups = HashMap::new();
    let target = |&key: &_| Some((model.catalog.get(key)?.clone(), model.catalog.sharing_group(key, &mut groups)));
    let targets = request.sessions.iter().filter_map(target).collect();
    let claim = model.ask_or(Work::PlanSlimming(targets, request.rules.clone()), |model, ticket, error| {
        update_slimming(model, ticket, |prepared| prepared.overview = Some(Err(error.into())));
    });
    let same = |before: &PreparedSlimming| before.request.sessions == request.sessions;
    let overview = model.slimming.take().filter(same).and_then(|before| before.overview);
    let prepared = PreparedSlimming { claim, request, selected, overview, done: None };
    let question = slimming_question(model, &prepared, selected);
    model.layers.show_question(question);
    model.slimming = Some(prepared);
}

/// Updates the box of slimming with progress or the result.
pub(super) fn update_slimming(model: &mut Model, ticket: u64, change: impl FnOnce(&mut PreparedSlimming)) {
    let Some(mut prepared) = model.slimming.take_if(|prepared| prepared.claim.number == ticket) else { return };
    let is_first = prepared.overview.is_none();
    change(&mut prepared);
    // Before the result, there is nothing to choose.
    let shown = model.layers.question_mut(TITLE).filter(|_| !is_first);
    let selected = shown.and_then(|question| Some(question.selected()?.key)).unwrap_or(prepared.selected);
    let question = slimming_question(model, &prepared, selected);
    model.layers.update_question(question);
    model.slimming = Some(prepared);
}

/// Cancels the measurement once the box is closed.
pub(super) fn forget_slimming(model: &mut Model) {
    if model.slimming.is_some() && model.layers.question_mut(TITLE).is_none() {
        model.slimming = None;
    }
}

/// The title of the box.
const TITLE: &str = "Shrink";

/// The maximum number of listed types of snapshots.
const TYPES: usize = 6;

/// The size in bytes over which results in a context are shortened, once that is switched on.
const INSIDE: u64 = 64 * 1024;

/// Shows the box for the marked sessions, or else for the selected one.
///
/// # Errors
/// No session is selected.
pub(super) fn open_slimming(model: &Model) -> Flow {
    let sessions = marked_or_selected(model)?;
    Ok(Command::All(vec![
        Command::ListPis,
        Command::Slim(Box::new(SlimRequest { sessions, rules: SlimRules::default() }), 's'),
    ]))
}

/// Creates the box. `selected` is the key of the selected choice.
fn slimming_question(model: &Model, prepared: &PreparedSlimming, selected: char) -> Question<Command> {
    let PreparedSlimming { request, overview, .. } = prepared;
    let mut choices = Vec::new();
    let rules = &request.rules;
    let switch = |key: char, word: &'static str, sentence: String, change: &dyn Fn(&mut SlimRules)| {
        let mut request = request.clone();
        change(&mut request.rules);
        Choice::new(key, word, sentence, Command::Slim(Box::new(request), key))
    };
    if let Some(Ok(overview)) = overview {
        let total = overview.total();
        if total > 0 {
            let sentence = format!("save {}; the originals go to the trash", bytes(total));
            choices.push(Choice::new('s', "Shrink ", sentence, Command::ChangeFiles(overview.request())));
        }
        for (number, (name, saving, is_removed)) in ('1'..).zip(overview.types().into_iter().take(TYPES)) {
            let word = if is_removed { "Remove " } else { "Keep   " };
            let sentence = format!("snapshots of {}: {}", model.short(&name), in_words(saving));
            choices.push(switch(number, word, sentence, &|rules| match rules
                .kept_types
                .iter()
                .position(|kept| *kept == name)
            {
                Some(at) => drop(rules.kept_types.remove(at)),
                None => rules.kept_types.push(name.clone()),
            }));
        }
        let [outside, inside, _] = overview.sums();
        let word = if rules.outside.is_some() { "Remove " } else { "Keep   " };
        let sentence = format!("results and images that no model receives: {}", in_words(outside));
        let default = SlimRules::default().outside;
        choices.push(switch('o', word, sentence, &|rules| {
            rules.outside = if rules.outside.is_some() { None } else { default };
        }));
        let word = if rules.inside.is_some() { "Shorten" } else { "Keep   " };
        let sentence = format!("results and images that a model receives: {}", in_words(inside));
        choices.push(switch('i', word, sentence, &|rules| {
            rules.inside = if rules.inside.is_some() { None } else { Some(INSIDE) };
        }));
    }
    choices.push(Choice { word: "Cancel ", ..cancel_by('n') });
    Question::new(TITLE, slimming_lines(model, prepared), choices).select_key(selected)
}

fn in_words(saving: SlimSaving) -> String {
    match saving.count {
        0 => "none".into(),
        entries => format!("{} in {}", bytes(saving.bytes), count(entries, "entry", "entries")),
    }
}

fn slimming_lines(model: &Model, prepared: &PreparedSlimming) -> Vec<DocLine> {
    let sessions = &prepared.request.sessions;
    let what = match &sessions[..] {
        [key] => model.catalog.get(*key).map_or(String::new(), |session| session.title().to_string()),
        several => count(several.len(), "marked session", "marked sessions"),
    };
    let size: u64 = sessions.iter().filter_map(|&key| Some(model.catalog.get(key)?.facts().bytes())).sum();
    let mut lines = vec![DocLine::new(Tone::Strong, &format!("{}, {}", model.short(&what), bytes(size)))];
    lines.extend(hidden_note(model));
    match &prepared.overview {
        None => {
            let done = prepared.done.map_or(String::new(), |done| format!(" {done} of {}", sessions.len()));
            lines.push(DocLine::dim(&format!("measuring{done}")));
        }
        Some(Err(error)) => lines.push(DocLine::new(Tone::Error, error)),
        Some(Ok(overview)) => {
            let [.., shared] = overview.sums();
            if overview.total() == 0 {
                lines.push(DocLine::text("Nothing to save with these rules."));
            }
            let note = "Prompts, answers, thinking and tool calls stay. Nothing is free before the trash is emptied.";
            lines.push(DocLine::dim(note));
            if shared.count > 0 {
                let text = format!("Kept because other sessions contain it too: {}.", in_words(shared));
                lines.push(DocLine::dim(&text));
            }
            if prepared.request.rules.inside.is_some() {
                let text = "Shortening what a model receives changes its context.";
                lines.push(DocLine::warning(text));
            }
            if let Some((_, reason)) = overview.failed.first() {
                let more = overview.failed.len() - 1;
                let more = if more > 0 { format!("; {more} more not read") } else { String::new() };
                lines.push(DocLine::warning(&format!("{reason}{more}")));
            }
        }
    }
    lines.extend(trash_and_archive::running_pi_warnings(model, sessions, None));
    lines
}

/// Shows the box and prepares the export.
pub(super) fn show_export(model: &mut Model, request: ExportRequest, selected: char) {
    let claim = model.ask(Work::Export(Box::new(request.clone())));
    // The secrets of the same selection are known already.
    let selection = |request: &ExportRequest| (request.files.clone(), request.end.clone(), request.scope);
    let same = |before: &PreparedExport| selection(&before.request) == selection(&request);
    let result = model.export.take().filter(same).and_then(|before| before.result);
    let prepared = PreparedExport { claim, request, result };
    let question = export::question(model, &prepared, selected);
    model.layers.show_question(question);
    model.export = Some(prepared);
}

/// Shows the list of secrets over the box.
pub(super) fn list_secrets(model: &mut Model, selected: usize) {
    let list = model.export.as_ref().and_then(|prepared| export::secrets(prepared, selected));
    list.into_iter().for_each(|list| model.layers.push(list));
}

/// Takes the result: shows it in the box, or reports the new file.
pub(super) fn on_export(model: &mut Model, ticket: u64, result: Result<Box<ExportResult>, String>) {
    let Some(mut prepared) = model.export.take_if(|prepared| prepared.claim.number == ticket) else {
        return model.finish_task(ticket, export::made(result));
    };
    prepared.result = Some(result.map(|result| *result));
    let selected = model.layers.question_mut(export::TITLE).and_then(|question| Some(question.selected()?.key));
    let question = export::question(model, &prepared, selected.unwrap_or('w'));
    model.layers.update_question(question);
    model.export = Some(prepared);
}
