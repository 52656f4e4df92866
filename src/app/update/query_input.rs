//! Keys in the input line of a search over all sessions. Keys that insert no text act on the list, as in pi's session
//! picker.

use crossterm::event::KeyCode;

use super::{actions, search};
use crate::app::flows::picker;
use crate::app::model::Model;
use crate::keymap::{Action, Key, Place};

/// Handles a key and its action.
pub(super) fn press(model: &mut Model, (key, action): (Key, Option<Action>)) {
    let Some(search) = &mut model.search else { return };
    let is_empty = search.line.value().is_empty();
    // At the end of the line, Delete acts on the list.
    let deletes = key.code() == KeyCode::Delete && !search.line.is_at_end();
    match action.map(|action| if deletes { Action::DeleteForward } else { action }) {
        Some(action @ (Action::Complete | Action::CompleteBack)) => {
            if search.complete(action == Action::Complete) {
                search::changed(model);
            }
        }
        Some(action @ (Action::PreviousQuery | Action::NextQuery)) => {
            search::recall(model, action == Action::NextQuery);
        }
        Some(Action::Accept) => enter(model),
        Some(Action::Down) => search::go_to_results(model),
        Some(Action::Cancel) if is_empty => search::close(model),
        Some(Action::Cancel) => {
            search::add_to_history(model);
            search::set_line(model, "");
        }
        Some(action) if action.row().places.contains(&Place::Sessions) => {
            search.choose();
            actions::act(model, action);
        }
        action if search.line.press(key, action) => search::changed(model),
        _ => search.note_completion(&model.values),
    }
}

/// Inserts pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(search) = model.search.as_mut().filter(|_| model.layers.has(Place::Search)) {
        search.line.paste(text);
        search::changed(model);
    }
}

/// Runs the saved query of a key, unless the key has another meaning. Returns `true` if it did.
pub(super) fn press_saved(model: &mut Model, key: Key) -> bool {
    let is_free = match model.layers.place() {
        None => true,
        Some(Place::Search) => matches!(key.code(), KeyCode::F(_)),
        Some(_) => false,
    };
    let saved = model.setting.config.queries.iter().find(|saved| is_free && saved.key == Some(key));
    let Some(query) = saved.map(|saved| saved.query.clone()) else { return false };
    search::open(model, &query);
    true
}

/// Closes the input line and goes to the selected hit.
fn enter(model: &mut Model) {
    let Some(search) = &mut model.search else { return };
    search.choose();
    if search.line.value().trim().is_empty() {
        return search::close(model);
    }
    search.from_line = true;
    search::add_to_history(model);
    model.layers.close(Place::Search);
    if picker::wants_session(model) {
        if let Some(command) = picker::confirm(model) {
            model.execute(command);
        }
    } else {
        search::go_to_hit(model);
    }
}
