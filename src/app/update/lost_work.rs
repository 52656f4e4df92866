//! The background search for lost work: in small batches, first the selected and the visible sessions, then the others, newest
//! first. Without unsearched sessions, it does nothing until one changes.

use std::collections::HashSet;
use std::iter::successors;

use crate::app::lost_work::version;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::sessions::SessionRow;
use crate::app::panes::tree::rows::RowIndex;
use crate::base::sort;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Place;
use crate::search::lost_work::LostWork;
use crate::session::links::Index;

/// The maximum number of sessions in a batch. The work ends earlier if they take long.
const MOST: usize = 64;

/// The maximum size in bytes of a file that is searched again after it has changed.
const MOST_AGAIN: u64 = 4_000_000;

/// Starts the next batch, and marks rows of the tree.
pub(super) fn sync(model: &mut Model) {
    search(model);
    model.lost.rows = ends(model);
}

/// Returns the rows of the tree at which branches with lost work end.
fn ends(model: &Model) -> HashSet<RowIndex> {
    let pane = &model.tree;
    let Some(tree) = pane.tree.as_ref().filter(|tree| !tree.is_partial) else { return HashSet::new() };
    let row = |at: Index| successors(Some(at), |&at| tree.parent(at)).find_map(|at| pane.rows.row_of(at));
    let of_session = |session: SessionKey| {
        let ends = model.lost.of(&model.catalog, session).into_iter().flat_map(|work| &work.ends);
        ends.filter_map(move |&at| pane.shown(EntryRef { session, at }))
    };
    let family = pane.family.iter().flat_map(|family| family.request.members.iter().map(|(key, _)| *key));
    let sessions = family.chain(pane.session.filter(|_| pane.family.is_none()));
    sessions.flat_map(of_session).filter_map(row).collect()
}

/// Starts the next batch if no batch is running.
fn search(model: &mut Model) {
    // The directories of demo sessions never exist.
    if model.setting.demo || !model.catalog.progress.finished || model.scan.claim.is_some() {
        return;
    }
    // A query searches all sessions itself.
    if model.search.as_ref().is_some_and(|search| search.searching.is_some() && search.query.needs_lost_work()) {
        if model.lost.searching.take().is_some() {
            (model.lost.as_of, model.lost.selected) = (None, None);
        }
        return;
    }
    let selected = model.sessions.selected_session();
    if model.lost.selected.map(|(key, _)| key) != selected {
        model.lost.selected = selected.map(|key| (key, true));
    }
    if model.lost.searching.is_some() {
        return;
    }
    let batch = next(model);
    if !batch.is_empty() {
        let asked = batch.iter().map(|&key| (key, version(&model.catalog[key]))).collect();
        let sessions = batch.into_iter().map(|key| (key, model.catalog[key].clone())).collect();
        let is_last = model.lost.waiting.is_empty();
        let claim = model.ask(Work::FindLostWork { sessions, is_last });
        model.lost.searching = Some((claim, asked));
    }
}

/// Returns the sessions of the next batch.
fn next(model: &mut Model) -> Vec<SessionKey> {
    let mut batch = Vec::new();
    // The files of the selected session may have changed since.
    if let Some((key, true)) = model.lost.selected {
        model.lost.selected = Some((key, false));
        batch.extend(has_files(model, key).then_some(key));
    }
    choose(model);
    batch.extend(visible(model).filter(|&key| !batch.contains(&key) && is_unsearched(model, key)).collect::<Vec<_>>());
    while batch.len() < MOST
        && let Some(key) = model.lost.waiting.pop()
    {
        // A session of a running pi is searched after pi has ended.
        if is_unsearched(model, key) && !batch.contains(&key) {
            batch.push(key);
        }
    }
    batch
}

/// Chooses the sessions to search, if the sessions have changed or pis have ended.
fn choose(model: &mut Model) {
    let version = Some((model.catalog.version(), model.catalog.live_ends()));
    if model.lost.as_of == version {
        return;
    }
    let mut waiting: Vec<SessionKey> = model.catalog.keys().filter(|&key| is_unsearched(model, key)).collect();
    sort::by_cached_key(&mut waiting, |&key| model.catalog[key].facts().order_time());
    model.lost.retain(&model.catalog);
    (model.lost.waiting, model.lost.as_of) = (waiting, version);
}

/// Returns the sessions on the screen.
fn visible(model: &Model) -> impl Iterator<Item = SessionKey> {
    let pane = &model.sessions;
    let rows = pane.rows.iter().skip(pane.cursor.top).take(model.height(Place::Sessions));
    rows.filter_map(|row| if let SessionRow::Session { key, .. } = row { Some(*key) } else { None })
}

/// Returns `true` if a session can have lost work, and this version of its file was not searched.
fn is_unsearched(model: &Model, key: SessionKey) -> bool {
    let is_current = model.lost.is_current(&model.catalog, key);
    let is_large = || model.lost.is_known(key) && model.catalog[key].facts().bytes() > MOST_AGAIN;
    !is_current && has_files(model, key) && !model.catalog.is_live(key) && !is_large()
}

/// Returns `true` if the working directory of a session may exist on this machine.
fn has_files(model: &Model, key: SessionKey) -> bool {
    let Some(session) = model.catalog.get(key) else { return false };
    let facts = session.facts();
    !facts.cwd().is_empty() && !facts.is_mirrored() && !model.catalog.gone_dirs.contains(facts.cwd())
}

/// Takes the results of a batch: those of the first sessions, if they took long.
pub(super) fn take(model: &mut Model, found: Vec<(SessionKey, LostWork)>) {
    let Some((_, asked)) = model.lost.searching.take() else { return };
    let mut left = asked.into_iter();
    for ((key, work), (_, version)) in found.into_iter().zip(left.by_ref()) {
        model.lost.take(key, version, work);
    }
    let left: Vec<SessionKey> = left.map(|(key, _)| key).collect();
    model.lost.waiting.extend(left.into_iter().rev());
}

/// Handles a failed batch: its sessions are not searched again. Returns `true` if the ticket was of this search.
pub(super) fn take_failure(model: &mut Model, ticket: u64) -> bool {
    let Some((_, asked)) = model.lost.searching.take_if(|(claim, _)| claim.number == ticket) else { return false };
    asked.into_iter().for_each(|(key, version)| model.lost.take(key, version, LostWork::default()));
    true
}
