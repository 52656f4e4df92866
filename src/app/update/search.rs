//! Search over all sessions, from the input line to the hits in the list; and search in the open session or the reader.

use std::collections::HashMap;
use std::sync::Arc;

use super::reader;
use crate::app::layers::dialogs::{FindLine, SearchLine};
use crate::app::message::{SearchRequest, Work};
use crate::app::model::Model;
use crate::app::search::Search;
use crate::app::widgets::LineEdit;
use crate::catalog::search::SessionHit;
use crate::keymap::KeyContext;
use crate::search::matching::Matcher;
use crate::search::qualifier::value::ValueLists;
use crate::search::query::Query;
use crate::search::text_match::Words;

/// Opens the input line of a new or the current search.
pub(super) fn open(model: &mut Model, text: &str) {
    let here = model.jump_position();
    model.focus = KeyContext::Sessions;
    model.layers.close(KeyContext::Search);
    if text.is_empty() {
        model.layers.push(SearchLine);
        if model.search.is_some() {
            return;
        }
    }
    model.jumps.leave(here);
    model.freeing_cache = None;
    add_to_history(model);
    let line = if text.is_empty() { LineEdit::kept(&model.kept.query) } else { LineEdit::new(text) };
    model.search = Some(Search::new(line, model.sessions.selected_key()));
    take_sessions(model);
    ask(model);
}

/// Ends the search and frees the search cache. Without a chosen hit, the previous selection returns.
pub(super) fn close(model: &mut Model) {
    restore_selection(model);
    end(model);
    model.sessions.hits = None;
    model.rebuild_list();
}

/// Restores the search in which a screen was opened; an empty query stands for none.
pub(super) fn restore(model: &mut Model, query: &str) {
    if model.search.is_some() {
        close(model);
    }
    if !query.is_empty() {
        open(model, query);
    }
}

/// Restores the selection from before the search, unless the user has selected a hit.
fn restore_selection(model: &mut Model) {
    if let Some(from) = model.search.as_ref().and_then(|search| search.from) {
        model.sessions.selected = Some(from);
    }
}

/// Adds the query to the history.
pub(super) fn add_to_history(model: &mut Model) {
    if let Some(search) = &model.search {
        model.queries.note(search.line.value());
    }
}

fn end(model: &mut Model) {
    add_to_history(model);
    if let Some(search) = model.search.take() {
        model.kept.query = search.line.value().to_owned();
    }
    model.layers.close(KeyContext::Search);
    model.values = Arc::default();
    model.freeing_cache = Some(model.ask(Work::ForgetTexts));
}

/// Keeps the selected row, whatever hits follow.
pub(super) fn keep_selection(model: &mut Model) {
    if let Some(search) = model.search.as_mut().filter(|_| !model.sessions.rows.is_empty()) {
        search.choose();
        search.from_line &= model.focus != KeyContext::Sessions;
    }
}

/// Replaces the text of the input line.
pub(super) fn set_line(model: &mut Model, text: &str) {
    if let Some(search) = &mut model.search {
        search.line = LineEdit::new(text);
        changed(model);
    }
}

/// Handles a change of the input line.
pub(super) fn changed(model: &mut Model) {
    if let Some(search) = &mut model.search {
        search.chosen = false;
        search.kept.clear();
        search.note_completion(&model.values);
    }
    ask(model);
}

/// Recalls the previous or next query.
pub(super) fn recall(model: &mut Model, forward: bool) {
    let Some(search) = &model.search else { return };
    match model.queries.next(search.line.value(), forward) {
        Some(text) => set_line(model, &text),
        None => model.hint(if forward { "at the newest query" } else { "at the oldest query" }),
    }
}

/// Switches between the conversation and all text.
pub(super) fn toggle_everything(model: &mut Model) {
    let Some(search) = &model.search else { return };
    let value = search.line.value();
    let text = match value.strip_prefix("all:") {
        Some(rest) => rest.trim_start().to_string(),
        None => format!("all: {value}"),
    };
    set_line(model, &text);
}

/// Moves the focus from the input line to the hits, where letters are key bindings.
pub(super) fn go_to_results(model: &mut Model) {
    if model.sessions.rows.is_empty() {
        return;
    }
    add_to_history(model);
    model.layers.close(KeyContext::Search);
    keep_selection(model);
}

/// Moves the focus from the first hit to the input line. Returns `true` if the first hit is selected.
pub(super) fn return_to_line(model: &mut Model) -> bool {
    let is_first = model.search.is_some() && model.focus == KeyContext::Sessions && model.sessions.cursor.at == 0;
    if is_first {
        model.layers.push(SearchLine);
    }
    is_first
}

/// Replaces a query without hits by the nearest one with hits. Returns `false` if there is none.
pub(super) fn adopt_nearest(model: &mut Model) -> bool {
    let has_none = model.sessions.hits.as_ref().is_some_and(HashMap::is_empty);
    let Some(search) = model.search.as_ref().filter(|search| has_none && search.problem.is_none()) else {
        return false;
    };
    let nearest = search.elsewhere.as_ref().and_then(|found| found.nearest.as_ref());
    let Some(query) = nearest.map(|nearest| nearest.query.clone()) else { return false };
    add_to_history(model);
    set_line(model, &query);
    true
}

/// Goes to the selected hit, if there is one, in its session.
pub(super) fn go_to_hit(model: &mut Model) {
    if model.sessions.selected_hit().is_some() {
        model.jumps.leave(model.jump_position());
        model.focus = KeyContext::Tree;
    }
}

/// Goes back to the list of hits, and to the input line if the user came from there.
pub(super) fn go_back(model: &mut Model) {
    model.focus = KeyContext::Sessions;
    if model.search.as_ref().is_some_and(|search| search.from_line) {
        model.layers.push(SearchLine);
    }
}

/// Searches for the query in the line. While the query has an error, the previous hits stay.
fn ask(model: &mut Model) {
    let scope = model.query_scope();
    let Some(search) = &mut model.search else { return };
    let parsed = Query::parse(search.line.value()).map(Arc::new);
    search.problem = parsed.as_ref().err().cloned();
    search.query = parsed.unwrap_or_default();
    if search.problem.is_some() {
        return;
    }
    let query = search.query.clone();
    search.matcher = Some(Arc::new(Matcher::new(&query, &scope)));
    search.searching = None;
    (search.elsewhere, search.suggesting) = (None, None);
    if query.is_empty() {
        search.answered = None;
        restore_selection(model);
        model.sessions.hits = None;
    } else if search.sessions.is_empty() && !model.catalog.progress.finished {
        // Sessions that are still being read are not shown: most of them would disappear again.
        model.sessions.hits = Some(HashMap::new());
    } else {
        let request = SearchRequest { query, sessions: search.sessions.clone(), scope: Box::new(scope) };
        let claim = model.ask(Work::Search(request));
        if let Some(search) = &mut model.search {
            search.searching = Some(claim);
        }
        return;
    }
    model.rebuild_list();
}

/// Takes the current sessions and reads their texts.
fn take_sessions(model: &mut Model) {
    let Some(mut search) = model.search.take() else { return };
    search.take_sessions(&model.catalog, model.now);
    search.reading = Some(model.ask(Work::ReadTexts(search.sessions.clone())));
    model.search = Some(search);
}

/// Returns `true` if a postponed search is due.
pub(super) fn is_due(model: &Model) -> bool {
    model.search.as_ref().and_then(Search::due).is_some_and(|due| due <= model.now)
}

/// Searches again after the list has changed.
pub(super) fn follow_list(model: &mut Model) {
    let is_due = is_due(model);
    let is_outdated =
        |search: &Search| (search.is_outdated(&model.catalog) || is_due) && model.catalog.progress.finished;
    if model.search.as_ref().is_some_and(is_outdated) {
        if let Some(search) = model.search.as_mut().filter(|_| is_due) {
            search.chosen = true; // nobody typed: the selection stays where it is
        }
        take_sessions(model);
        ask(model);
    }
    // The user has gone to a session without a hit.
    if model.sessions.hits.is_none() && model.search.as_ref().is_some_and(|search| search.answered.is_some()) {
        end(model);
    }
}

/// Records the number of texts read.
pub(super) fn on_read(model: &mut Model, done: usize, total: usize) {
    let Some(search) = &mut model.search else { return };
    search.read = (done < total).then_some((done, total));
    // A search of all text reads the files instead and needs the texts only for qualifiers.
    if !search.query.everything || done == total {
        ask(model);
    }
}

/// Takes the values of qualifiers for completion.
pub(super) fn on_values(model: &mut Model, values: Arc<ValueLists>) {
    model.values = values;
    let is_typing = model.layers.has(KeyContext::Search);
    if let Some(search) = model.search.as_mut().filter(|_| is_typing) {
        search.note_completion(&model.values);
    }
}

/// Requests suggestions for a query without hits.
pub(super) fn request_suggestions(model: &mut Model) {
    let is_nothing = model.sessions.hits.as_ref().is_some_and(HashMap::is_empty) && model.catalog.progress.finished;
    let is_done = |search: &&Search| {
        let is_answered = search.answered.as_ref() == Some(&search.query);
        is_answered && search.read.or(search.searched).is_none() && search.suggesting.is_none()
    };
    let Some(search) = model.search.as_ref().filter(|_| is_nothing).filter(is_done) else { return };
    let Some(query) = search.answered.as_ref().filter(|query| !query.is_empty()).cloned() else { return };
    let request = model.search_request(query, search.sessions.clone());
    let claim = model.ask(Work::Suggest(request));
    if let Some(search) = &mut model.search {
        search.suggesting = Some(claim);
    }
}

/// Takes hits: all of them or `more`.
pub(super) fn on_hits(model: &mut Model, found: Vec<SessionHit>, more: bool, progress: Option<(usize, usize)>) {
    let Some(search) = &mut model.search else { return };
    let is_new = search.problem.is_none() && search.answered.as_ref() != Some(&search.query);
    if search.problem.is_none() {
        search.answered = Some(search.query.clone());
        search.searched = progress;
        search.searching.take_if(|_| progress.is_none());
    }
    let is_chosen = search.chosen;
    let focused = if is_chosen && !is_new { model.sessions.focused_hits() } else { Vec::new() };
    let mut hits = model.sessions.hits.take().filter(|_| more && !is_new).unwrap_or_default();
    hits.extend(found.into_iter().map(|found| (found.session, found)));
    search.keep(focused, &mut hits);
    hits.retain(|&key, _| model.catalog.has(key));
    search.entries = hits.values().map(|found| found.entries).sum();
    model.sessions.hits = Some(hits);
    model.rebuild_list();
    if !is_chosen {
        model.sessions.select_first_hit();
    }
}

/// Opens the input line.
pub(super) fn open_find(model: &mut Model) {
    model.reader.begin_search();
    if !model.tree.begin_find() {
        return;
    }
    let kept = model.kept.find.clone();
    model.layers.push(FindLine(LineEdit::kept(&kept)));
    if !kept.is_empty() {
        find_words(model, &kept);
    }
}

/// Takes the typed words.
pub(super) fn find_words(model: &mut Model, text: &str) {
    let words = Words::new(text).map(Arc::new);
    model.tree.search_for(words);
    ask_to_find(model);
}

/// Searches the open session.
fn ask_to_find(model: &mut Model) {
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
pub(super) fn cancel_find(model: &mut Model) {
    model.tree.cancel_find_in_tree();
    if model.focus == KeyContext::Reader {
        model.reader.cancel_search();
    }
}

/// Closes the input line and keeps the hits, unless the search is empty.
pub(super) fn keep_find(model: &mut Model) {
    let words = model.tree.find.as_ref().map(|find| &find.words);
    if words.is_some_and(|words| words.is_empty()) {
        cancel_find(model);
    }
}

/// Ends the search in the focused pane. Returns `true` if there was one.
pub(super) fn end_find(model: &mut Model) -> bool {
    match model.focus {
        KeyContext::Tree | KeyContext::Reader if model.tree.has_own_find() => {
            model.tree.end_find();
            true
        }
        _ => false,
    }
}

/// Goes to the next or previous hit.
pub(super) fn next_hit(model: &mut Model, forward: bool) {
    let found = match model.focus {
        KeyContext::Reader => reader::next_hit(model, forward),
        _ => model.tree.next_hit(forward),
    };
    match found {
        None => model.hint("no match in this session"),
        Some(true) if forward => model.hint("search wrapped to the top"),
        Some(true) => model.hint("search wrapped to the end"),
        Some(false) => {}
    }
}

/// Searches a tree that has been replaced.
pub(super) fn sync_find(model: &mut Model) {
    follow_search(model);
    if model.tree.search_again() {
        ask_to_find(model);
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
