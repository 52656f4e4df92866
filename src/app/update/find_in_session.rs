//! Search in the open session or in the preview.

use std::sync::Arc;

use crate::app::layers::dialogs::FindLine;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::preview::PreviewSubject;
use crate::keymap::Place;
use crate::search::text_match::Words;

/// Opens the input line.
pub(super) fn open(model: &mut Model) {
    if model.focus != Place::Tree {
        model.preview.begin_search();
    } else if !model.tree.begin_find() {
        return;
    }
    model.layers.push(FindLine::default());
}

/// Takes the typed words.
pub(super) fn set_words(model: &mut Model, text: &str) {
    let words = Words::new(text).map(Arc::new);
    if model.focus == Place::Preview {
        return model.preview.look_for(words);
    }
    model.tree.look_for(words);
    ask(model);
}

/// Searches the open session.
fn ask(model: &mut Model) {
    let words = model.tree.find.as_ref().map(|find| find.words.clone());
    let (Some((files, start)), Some(words)) = (model.tree.to_search(), words) else { return };
    let with_path = |(key, tree)| Some((key, model.catalog.get(key)?.path.clone(), tree));
    let files = files.into_iter().filter_map(with_path).collect();
    let claim = model.ask(Work::Find { files, start, words });
    if let Some(find) = &mut model.tree.find {
        find.claim = Some(claim);
    }
}

/// Cancels the search and restores the previous state.
pub(super) fn cancel(model: &mut Model) {
    match model.focus {
        Place::Preview => model.preview.give_up(),
        _ => model.tree.give_up_find(),
    }
}

/// Closes the input line and keeps the hits, unless the search is empty.
pub(super) fn keep(model: &mut Model) {
    let words = match model.focus {
        Place::Preview => model.preview.find.as_ref().map(|find| &find.words),
        _ => model.tree.find.as_ref().map(|find| &find.words),
    };
    if words.is_some_and(|words| words.is_empty()) {
        cancel(model);
    }
}

/// Ends the search in the focused pane. Returns `true` if there was one.
pub(super) fn end(model: &mut Model) -> bool {
    match model.focus {
        Place::Preview => model.preview.end_search(),
        Place::Tree if model.tree.has_own_find() => {
            model.tree.end_find();
            true
        }
        _ => false,
    }
}

/// Goes to the next or previous hit.
pub(super) fn next(model: &mut Model, forward: bool) {
    let found = match model.focus {
        Place::Preview => model.preview.next_hit(forward),
        _ => model.tree.next_hit(forward),
    };
    match found {
        None if model.focus == Place::Preview && model.preview.is_awaited() => {}
        None => model.hint("no match in this session"),
        Some(true) if forward => model.hint("search wrapped to the top"),
        Some(true) => model.hint("search wrapped to the end"),
        Some(false) => {}
    }
}

/// Searches a tree that has been replaced, and marks hits in the preview.
pub(super) fn sync(model: &mut Model) {
    follow_search(model);
    if model.tree.look_again() {
        ask(model);
    }
    let entry = match model.preview.subject {
        PreviewSubject::Entry(entry) => Some(entry),
        _ => None,
    };
    let words = entry.and_then(|entry| model.tree.words_of(entry));
    let hit = entry.filter(|_| words.is_some());
    model.preview.show_words(words);
    if let Some((lines, words)) = model.preview.take_due() {
        let hit = hit.filter(|_| !model.preview.is_searched());
        let found = hit.and_then(|entry| model.entry_body(entry));
        let claim = model.ask(Work::FindInPreview { lines, words, found });
        if let Some(find) = &mut model.preview.find {
            find.claim = Some(claim);
        }
    }
}

/// Searches the open session for the query of the search over all sessions.
fn follow_search(model: &mut Model) {
    let key = model.tree.session.filter(|&key| model.sessions.found(key).is_some());
    let query = key.and(model.search.as_ref()).and_then(|search| search.answered.clone());
    if !model.tree.follow_query(query.as_ref()) {
        return;
    }
    let (Some(key), Some(query), Some(tree)) = (key, query, model.tree.own().cloned()) else { return };
    let request = model.search_request(query, [model.catalog.searched_session(key)].into());
    let claim = model.ask(Work::MatchEntries(request, tree));
    if let Some(find) = &mut model.tree.find {
        find.claim = Some(claim);
    }
}
