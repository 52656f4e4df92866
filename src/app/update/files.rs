//! The files that sessions touched, and the text of a shown file.

use std::sync::Arc;

use crate::app::command::Command;
use crate::app::flows::files::{self, ShownForm};
use crate::app::layers::Layer;
use crate::app::layers::dialogs::FindLine;
use crate::app::layers::files::{FileTextView, FilesView, ListedFile, SessionScope, UnfoldedFile};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::ticket::Claim;
use crate::app::widgets::LineEdit;
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
    model.files_left = None;
    model.layers.push(view);
}

/// Requests the current files.
fn fill(model: &mut Model, view: &mut FilesView) {
    let work = files::fill(model, view);
    view.claim = Some(model.ask_or(work, |model, _, error| {
        on_files(model, Vec::new());
        model.show_notice(Tone::Error, error);
    }));
}

/// Takes the files.
pub(super) fn on_files(model: &mut Model, files: Vec<ListedFile>) {
    let Some(view) = model.layers.get_mut::<FilesView>() else { return };
    view.claim = None;
    view.on_files(files);
    if let Some((path, is_unfolded)) = view.wanted.take() {
        view.select(&path);
        if is_unfolded && view.selected_file().is_some_and(|file| file.path == path) {
            unfold(model);
        }
    }
}

/// Does an action of the files.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<FilesView>() else { return };
    match action {
        Action::Confirm if view.selected_state().is_some() => go_to_entry(model),
        Action::Confirm if view.is_unfolded() => drop(model.layers.update(FilesView::fold)),
        Action::Confirm | Action::Unfold => unfold(model),
        Action::Find => model.layers.push(FindLine(LineEdit::new(&view.filter.clone()))),
        Action::Mark => {
            if model.layers.update(FilesView::toggle_mark) != Some(true) {
                model.hint(files::NO_STATE);
            }
        }
        Action::AllSessions => toggle_scope(model),
        Action::ShowContent if view.selected_state().is_none() => {
            unfold(model);
            model.layers.update(|view: &mut FilesView| {
                view.shows_newest = view.selected_file().map(|file| file.path.clone());
            });
            show_newest(model);
        }
        action => act_on_state(model, action),
    }
}

/// Does an action of the text of a file.
pub(super) fn act_on_text(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<FileTextView>() else { return };
    if view.at.is_none() {
        return model.hint("this key works in the list of files");
    }
    match action {
        Action::NextEntry | Action::PreviousEntry => {
            let by = if action == Action::NextEntry { 1 } else { -1 };
            let form = match view.request.form {
                FileForm::Content(_) => ShownForm::Content,
                FileForm::Difference([_, StateSource::Disk]) => ShownForm::Disk,
                FileForm::Difference(_) => ShownForm::Difference,
            };
            if model.layers.update(|files: &mut FilesView| files.step(by)) == Some(true) {
                show(model, form);
            } else {
                let end = if by > 0 { "this is the oldest state in the list" } else { "this is the newest state" };
                model.hint(end);
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
            let command = model.layers.get::<FilesView>().map(command);
            return command.into_iter().for_each(|command| model.execute(command));
        }
        _ => return,
    };
    show(model, form);
}

/// Shows the selected state.
fn show(model: &mut Model, form: ShownForm) {
    match model.layers.get::<FilesView>().map(|view| files::text(model, view, view.selected_state(), form)) {
        Some(Ok(text)) => show_text(model, text),
        Some(Err(why)) => model.hint(why),
        None => {}
    }
}

/// Shows a text, in place of one that is shown. The lines of that one stay until the new ones are read.
pub(super) fn show_text(model: &mut Model, mut text: FileTextView) {
    model.layers.update(|view: &mut FilesView| view.preview = None);
    text.claim = Some(read_text(model, &text));
    if let Some(Layer::FileText(shown)) = model.layers.0.pop_if(|layer| matches!(layer, Layer::FileText(_))) {
        (text.lines, text.wrapped) = (shown.lines, shown.wrapped);
    }
    model.layers.push(text);
}

fn read_text(model: &mut Model, text: &FileTextView) -> Claim {
    model.ask_or(Work::ReadFile(Box::new(text.request.clone())), |model, _, error| {
        on_text(model, String::new(), vec![DocLine::new(Tone::Error, &without_os_error_codes(error))]);
    })
}

fn unfold(model: &mut Model) {
    model.with_layer(|model, view: &mut FilesView| {
        let path = view.selected_file().filter(|_| !view.is_unfolded()).map(|file| file.path.clone());
        path.into_iter().for_each(|path| list_states(model, view, &path));
    });
}

fn list_states(model: &mut Model, view: &mut FilesView, path: &str) {
    let work = files::states(model, view, path);
    view.unfold(path, model.ask_or(work, |model, ticket, error| end_states(model, ticket, Some(error))));
}

/// Lists the files of all sessions, or those of the first scope again.
fn toggle_scope(model: &mut Model) {
    model.with_layer(|model, view: &mut FilesView| {
        let scope = if view.scope == SessionScope::All { view.opened_for } else { SessionScope::All };
        let wanted = view.selected_file().map(|file| (file.path.clone(), view.is_unfolded()));
        let mut new = FilesView { opened_for: view.opened_for, wanted, ..FilesView::new(scope) };
        new.narrow(&view.filter);
        fill(model, &mut new);
        *view = new;
    });
}

/// Goes to the entry of the selected state. Going back later returns to the list.
fn go_to_entry(model: &mut Model) {
    let Some(entry) = model.layers.get::<FilesView>().and_then(|view| Some(view.selected_state()?.entry)) else {
        return;
    };
    while let Some(layer) = model.layers.0.pop() {
        if let Layer::Files(mut view) = layer {
            // The work is canceled.
            view.claim = None;
            view.unfolded.values_mut().for_each(|unfolded| unfolded.claim = None);
            model.files_left = Some(view);
            break;
        }
    }
    model.execute(Command::GoTo(entry));
}

/// Returns to the list, if the user left it for an entry. Returns `true` if so.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(mut view) = model.files_left.take() else { return false };
    // The work was canceled when the list was left.
    view.unfinished().iter().for_each(|path| list_states(model, &mut view, path));
    model.layers.0.push(Layer::Files(view));
    true
}

/// Filters the files by the typed text. Returns `true` if they are shown.
pub(super) fn filter(model: &mut Model, text: &str) -> bool {
    model.layers.update(|view: &mut FilesView| view.narrow(text)).is_some()
}

/// Takes states of a file in a session.
pub(super) fn on_states(model: &mut Model, file: &str, states: Vec<StateRow>, (key, tree): (SessionKey, Arc<Tree>)) {
    model.layers.update(|view: &mut FilesView| {
        view.trees.insert(key, tree);
        view.update(file, |unfolded| unfolded.states.extend(states));
    });
}

/// Notes that all states of a file were read, or that this failed.
pub(super) fn end_states(model: &mut Model, ticket: u64, problem: Option<&str>) {
    let has_ticket = |unfolded: &UnfoldedFile| unfolded.claim.as_ref().is_some_and(|claim| claim.number == ticket);
    let Some(view) = model.layers.get_mut::<FilesView>() else { return };
    let file = view.unfolded.iter().find_map(|(file, unfolded)| has_ticket(unfolded).then(|| file.clone()));
    view.update(&file.unwrap_or_default(), |unfolded| {
        (unfolded.is_reading, unfolded.claim, unfolded.problem) = (false, None, problem.map(String::from));
    });
    show_newest(model);
}

/// Shows the newest state of a file for which that was requested, once its states are read.
fn show_newest(model: &mut Model) {
    let is_ready = model.layers.update(|view: &mut FilesView| {
        let unfolded = &view.unfolded;
        let file = view.shows_newest.take_if(|file| unfolded.get(file).is_none_or(|file| !file.is_reading));
        let is_selected = file.is_some_and(|file| view.selected_file().is_some_and(|selected| selected.path == file));
        if is_selected {
            view.step_into();
        }
        is_selected
    });
    if is_ready == Some(true) {
        show(model, ShownForm::Content);
    }
}

/// Takes the text of a file, for the whole screen or the preview.
pub(super) fn on_text(model: &mut Model, facts: String, lines: Vec<DocLine>) {
    if let Some(view) = model.layers.get_mut::<FileTextView>() {
        view.on_text(facts, lines);
    } else if let Some(preview) = model.layers.get_mut().and_then(|view: &mut FilesView| view.preview.as_mut()) {
        preview.on_text(facts, lines);
    }
}

/// Requests the content of the selected state for the preview.
fn preview(model: &mut Model, view: &mut FilesView) {
    let (shown, state) = (view.preview.as_ref().and_then(|preview| preview.at.as_ref()), view.shown_state());
    let is_same = shown.zip(state).is_some_and(|((entry, at), state)| *entry == state.entry && *at.file == *state.file);
    if is_same || FilesView::preview_area(model.size).is_empty() || model.layers.get::<FileTextView>().is_some() {
        return;
    }
    view.preview = files::text(model, view, state, ShownForm::Content).ok().map(Box::new);
    if let Some(preview) = &mut view.preview {
        preview.claim = Some(read_text(model, preview));
    }
}

/// Lists the files again after the sessions have changed.
pub(super) fn sync(model: &mut Model) {
    model.with_layer(|model, view: &mut FilesView| {
        // Files that keep changing do not restart the list.
        if view.catalog_version != model.catalog.version() && view.claim.is_none() {
            fill(model, view);
        }
        preview(model, view);
    });
}
