//! Facts about the selected session whose computation takes long: its lost work, and for its card the likely secrets and the
//! largest kinds of content; and the summary of the selected project. Another selection cancels the work.

use crate::app::card;
use crate::app::message::Work;
use crate::app::model::{LostWorkState, Model};
use crate::app::panes::reader::ReaderSubject;
use crate::app::panes::sessions::ProjectSummary;
use crate::catalog::SessionKey;
use crate::catalog::lost_work::compared_paths;
use crate::catalog::space::SessionKinds;
use crate::session::space::SessionSpace;

/// The maximum size in bytes of a file that is measured for its card.
const MAX_MEASURED: u64 = 32 * 1024 * 1024;

/// The maximum size in bytes of a file that is searched for secrets again while a pi writes to it.
const MAX_CHECKED_AGAIN: u64 = 4_000_000;

/// Updates the facts. `is_other` is `true` if the reader shows another item.
pub(super) fn sync(model: &mut Model, is_other: bool) {
    let card = match model.reader.subject {
        ReaderSubject::Session(key) => Some(key),
        _ => None,
    };
    model.sizes.measuring.take_if(|(key, _)| card != Some(*key));
    find_lost_work(model);
    summarize_project(model);
    if let Some(key) = card.filter(|&key| model.catalog.has(key)) {
        count_secrets(model, key, is_other);
        measure(model, key);
    }
}

/// Summarizes the selected project, once in each version of the catalog.
fn summarize_project(model: &mut Model) {
    let project = model.sessions.selected_project().filter(|_| model.catalog.progress.finished);
    let of = project.map(|project| (project.key, model.catalog.version()));
    if model.summary.of == of {
        return;
    }
    let Some(project) = project else { return model.summary = ProjectSummary::default() };
    model.summary = ProjectSummary { of, lines: card::activity(model, project) };
}

/// Searches the selected session for lost work, once in each version of its file.
fn find_lost_work(model: &mut Model) {
    // The directories of demo sessions never exist.
    if model.settings.demo || !model.catalog.progress.finished || model.scan.claim.is_some() {
        return;
    }
    let selected = model.sessions.selected_session().filter(|&key| has_files(model, key));
    let session = selected.map(|key| (key, model.catalog[key].facts().bytes(), model.catalog[key].facts().mtime()));
    if model.lost.session == session {
        return;
    }
    model.lost = LostWorkState { session, ..LostWorkState::default() };
    let compared = selected.and_then(|key| compared_paths(&model.catalog[key].facts()));
    model.lost.searching =
        compared.map(|compared| model.ask_or(Work::FindLostWork(compared), |model, _, _| model.lost.searching = None));
}

/// Returns `true` if the working directory of a session may exist on this machine, and no pi is changing its files.
fn has_files(model: &Model, key: SessionKey) -> bool {
    let Some(session) = model.catalog.get(key) else { return false };
    let facts = session.facts();
    !facts.cwd().is_empty() && !model.catalog.gone_dirs.contains(facts.cwd()) && !model.catalog.is_live(key)
}

/// Counts the likely secrets of a session: once, and again if a small file has grown.
fn count_secrets(model: &mut Model, key: SessionKey, is_other: bool) {
    let digest = &model.catalog[key];
    let (path, bytes) = (digest.path.clone(), digest.bytes);
    let has_grown = model.checked.asked != Some((key, bytes)) && bytes <= MAX_CHECKED_AGAIN;
    if is_other || has_grown {
        model.checked.asked = Some((key, bytes));
        // The card does without the secrets; a search and an export report the reason.
        let claim = model.ask_or(Work::CheckSession(key, path), |model, _, _| model.checked.counting = None);
        model.checked.counting = Some(claim);
    }
}

/// Measures the kinds of content of a session, once its tree is read.
fn measure(model: &mut Model, key: SessionKey) {
    let is_waiting = model.tree.session == Some(key) && model.tree.own().is_none_or(|tree| tree.is_partial);
    let facts = model.catalog[key].facts();
    let (bytes, is_archived) = (facts.bytes(), facts.is_archived());
    // An archived session does not change, and its file is shorter than its content.
    let is_known = model.sizes.kinds.get(&key).is_some_and(|kinds| is_archived || kinds.is_close_to(bytes));
    if is_waiting || is_known || bytes > MAX_MEASURED || model.sizes.measuring.is_some() {
        return;
    }
    let path = model.catalog[key].path.clone();
    // After a failure, the card shows no kinds. The session is not measured again before its file has grown.
    let claim = model.ask_or(Work::MeasureSession(path), |model, _, _| on_kinds(model, &SessionSpace::default()));
    model.sizes.measuring = Some((key, claim));
}

/// Takes the kinds of content of the session of the card.
pub(super) fn on_kinds(model: &mut Model, space: &SessionSpace) {
    if let Some((key, _)) = model.sizes.measuring.take() {
        let listed = model.catalog.get(key).map_or(0, |session| session.facts().bytes());
        model.sizes.kinds.insert(key, SessionKinds::new(space, listed));
    }
}
