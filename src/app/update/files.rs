//! The files that sessions touched, and the text of a shown file.

use std::sync::Arc;

use crate::app::command::Command;
use crate::app::flows::files::{self, ShownForm};
use crate::app::layers::Layer;
use crate::app::layers::file_text::FileTextView;
use crate::app::layers::files::{FilesView, ListedFile, SessionScope};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::widgets::line::LineEdit;
use crate::base::text::{Tone, without_os_error_codes};
use crate::catalog::SessionKey;
use crate::catalog::file_states::{FileForm, StateRow, StateSource};
use crate::keymap::Action;
use crate::render::DocLine;
use crate::session::tree::Tree;

/// Opens the files of the selected session or project.
pub(super) fn open(model: &mut Model) {
    let Some(scope) = files::selected_scope(model) else { return };
    let mut view = FilesView::new(scope);
    fill(model, &mut view);
    model.files.left = None;
    model.layers.0.push(Layer::Files(Box::new(view)));
}

/// Requests the current files.
fn fill(model: &mut Model, view: &mut FilesView) {
    let work = files::fill(model, view);
    model.files.filling = Some(model.ask(work));
}

/// Takes the files.
pub(super) fn take(model: &mut Model, files: Vec<ListedFile>) {
    model.files.filling = None;
    let Some(view) = model.layers.files_mut() else { return };
    view.list(files);
    if let Some((path, is_unfolded)) = view.wanted.take() {
        view.select(&path);
        if is_unfolded && view.selected_file().is_some_and(|file| file.path == path) {
            unfold(model);
        }
    }
}

/// Does an action of the files.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(Layer::Files(view)) = model.layers.top() else { return };
    match action {
        Action::Confirm if view.selected_state().is_some() => go_to_entry(model),
        Action::Confirm if view.is_unfolded() => {
            if let Some(view) = model.layers.files_mut() {
                view.fold();
            }
        }
        Action::Confirm | Action::Unfold => unfold(model),
        Action::Find => model.layers.0.push(Layer::Find(LineEdit::new(&view.filter.clone()))),
        Action::Mark => {
            if !model.layers.files_mut().is_some_and(FilesView::toggle_mark) {
                model.say(Tone::Dim, files::NO_STATE);
            }
        }
        Action::AllSessions => toggle_scope(model),
        action => act_on_state(model, action),
    }
}

/// Does an action of the text of a file.
pub(super) fn act_on_text(model: &mut Model, action: Action) {
    let Some(Layer::FileText(view)) = model.layers.top() else { return };
    if view.at.is_none() {
        return model.say(Tone::Dim, "this key works in the list of files");
    }
    match action {
        Action::NextEntry | Action::PreviousEntry => {
            let by = if action == Action::NextEntry { 1 } else { -1 };
            let form = match view.request.form {
                FileForm::Content(_) => ShownForm::Content,
                FileForm::Difference([_, StateSource::Disk]) => ShownForm::Disk,
                FileForm::Difference(_) => ShownForm::Difference,
            };
            if model.layers.files_mut().is_some_and(|files| files.step(by)) {
                show(model, form);
            } else {
                let end = if by > 0 { "this is the oldest state in the list" } else { "this is the newest state" };
                model.say(Tone::Dim, end);
            }
        }
        Action::Confirm => go_to_entry(model),
        action => act_on_state(model, action),
    }
}

/// Does an action with the selected state.
fn act_on_state(model: &mut Model, action: Action) {
    let form = match action {
        Action::ShowContent => ShownForm::Content,
        Action::DiffState => ShownForm::Difference,
        Action::DiffDisk => ShownForm::Disk,
        Action::WriteFile | Action::Copy => {
            let command = |view: &FilesView| match action {
                Action::Copy => files::copy_selected(model, view),
                _ => files::ask_where(model, view),
            };
            let command = list(model).map(command);
            return command.into_iter().for_each(|command| model.execute(command));
        }
        _ => return,
    };
    show(model, form);
}

/// Returns the list of files.
fn list(model: &Model) -> Option<&FilesView> {
    model.layers.0.iter().find_map(|layer| if let Layer::Files(view) = layer { Some(&**view) } else { None })
}

/// Shows the selected state.
fn show(model: &mut Model, form: ShownForm) {
    match list(model).map(|view| files::text(model, view, form)) {
        Some(Ok(text)) => show_text(model, text),
        Some(Err(why)) => model.say(Tone::Dim, why),
        None => {}
    }
}

/// Shows a text, in place of one that is shown. The lines of that one stay until the new ones are read.
pub(super) fn show_text(model: &mut Model, mut text: FileTextView) {
    model.files.reading = Some(model.ask(Work::ReadFile(Box::new(text.request.clone()))));
    if let Some(Layer::FileText(shown)) = model.layers.0.pop_if(|layer| matches!(layer, Layer::FileText(_))) {
        (text.lines, text.wrapped) = (shown.lines, shown.wrapped);
    }
    model.layers.0.push(Layer::FileText(Box::new(text)));
}

fn unfold(model: &mut Model) {
    let Some(view) = list(model).filter(|view| !view.is_unfolded()) else { return };
    let Some(path) = view.selected_file().map(|file| file.path.clone()) else { return };
    let work = files::states(model, view, &path);
    list_states(model, path.clone(), work);
    if let Some(view) = model.layers.files_mut() {
        view.unfold(&path);
    }
}

fn list_states(model: &mut Model, path: String, work: Work) {
    let claim = model.ask(work);
    model.files.listing.push((path, claim));
}

/// Lists the files of all sessions, or those of the first scope again.
fn toggle_scope(model: &mut Model) {
    let Some(view) = list(model) else { return };
    let scope = if view.scope == SessionScope::All { view.opened_for } else { SessionScope::All };
    let wanted = view.selected_file().map(|file| (file.path.clone(), view.is_unfolded()));
    let mut new = FilesView { opened_for: view.opened_for, wanted, ..FilesView::new(scope) };
    new.narrow(&view.filter);
    fill(model, &mut new);
    model.files.listing.clear();
    if let Some(view) = model.layers.files_mut() {
        *view = new;
    }
}

/// Goes to the entry of the selected state. Going back later returns to the list.
fn go_to_entry(model: &mut Model) {
    let Some(entry) = list(model).and_then(|view| Some(view.selected_state()?.entry)) else { return };
    while let Some(layer) = model.layers.0.pop() {
        if let Layer::Files(view) = layer {
            model.files.left = Some(view);
            break;
        }
    }
    model.execute(Command::GoTo(entry));
}

/// Returns to the list, if the user left it for an entry. Returns `true` if so.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(mut view) = model.files.left.take() else { return false };
    // The work was canceled when the list was left.
    for path in view.unfinished() {
        let work = files::states(model, &view, &path);
        list_states(model, path.clone(), work);
        view.unfold(&path);
    }
    model.layers.0.push(Layer::Files(view));
    true
}

/// Filters the files by the typed text. Returns `true` if they are shown.
pub(super) fn filter(model: &mut Model, text: &str) -> bool {
    let size = model.size;
    let Some(view) = model.layers.files_mut() else { return false };
    view.narrow(text);
    view.fit(size);
    true
}

/// Takes states of a file in a session.
pub(super) fn take_states(model: &mut Model, file: &str, states: Vec<StateRow>, (key, tree): (SessionKey, Arc<Tree>)) {
    if let Some(view) = model.layers.files_mut() {
        view.trees.insert(key, tree);
        view.update(file, |unfolded| unfolded.states.extend(states));
    }
}

/// Notes that all states of a file were read.
pub(super) fn end_states(model: &mut Model, ticket: u64) {
    end(model, ticket, None);
}

fn end(model: &mut Model, ticket: u64, problem: Option<&str>) -> bool {
    let Some(at) = model.files.listing.iter().position(|(_, claim)| claim.number == ticket) else { return false };
    let (file, _) = model.files.listing.remove(at);
    if let Some(view) = model.layers.files_mut() {
        view.update(&file, |unfolded| (unfolded.is_reading, unfolded.problem) = (false, problem.map(String::from)));
    }
    true
}

/// Takes the text of a file.
pub(super) fn take_text(model: &mut Model, facts: String, lines: Vec<DocLine>) {
    model.files.reading = None;
    let size = model.size;
    if let Some(view) = model.layers.file_text_mut() {
        view.take(facts, lines);
        view.fit(size);
    }
}

/// Handles work that failed. Returns `true` if the ticket was of this screen.
pub(super) fn take_failure(model: &mut Model, ticket: u64, error: &str) -> bool {
    if model.files.filling.take_if(|claim| claim.number == ticket).is_some() {
        take(model, Vec::new());
        model.say(Tone::Error, error);
        return true;
    }
    if model.files.reading.take_if(|claim| claim.number == ticket).is_some() {
        let error = without_os_error_codes(error);
        take_text(model, String::new(), vec![DocLine::new(Tone::Error, &error)]);
        return true;
    }
    end(model, ticket, Some(error))
}

/// Lists the files again after the sessions have changed; cancels the work of closed views.
pub(super) fn sync(model: &mut Model) {
    let size = model.size;
    let version = model.catalog.version();
    match model.layers.file_text_mut() {
        Some(view) => view.fit(size),
        None => model.files.reading = None,
    }
    let mut layers = std::mem::take(&mut model.layers);
    match layers.files_mut() {
        Some(view) => {
            // Files that keep changing do not restart the list.
            if view.as_of != version && model.files.filling.is_none() {
                fill(model, view);
            }
            view.fit(size);
            model.files.listing.retain(|(file, _)| view.unfolded.contains_key(file));
        }
        None => {
            model.files.listing.clear();
            model.files.filling = None;
        }
    }
    model.layers = layers;
}
