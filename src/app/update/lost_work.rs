//! The search for lost work of the selected session, which another selection cancels.

use crate::app::lost_work::{LostWorkState, version};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::catalog::SessionKey;
use crate::catalog::lost_work::compared_paths;
use crate::search::lost_work::LostWork;

/// Searches the selected session once in each version of its file.
pub(super) fn sync(model: &mut Model) {
    // The directories of demo sessions never exist.
    if model.setting.demo || !model.catalog.progress.finished || model.scan.claim.is_some() {
        return;
    }
    let selected = model.sessions.selected_session().filter(|&key| has_files(model, key));
    let session = selected.map(|key| (key, version(&model.catalog[key])));
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

/// Takes the result.
pub(super) fn take(model: &mut Model, work: LostWork) {
    (model.lost.searching, model.lost.work) = (None, work);
}
