//! Forks of sessions at an entry.

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Flow, picker};
use crate::app::model::Model;
use crate::app::startup::PickerFormat;
use crate::changes::Request;
use crate::keymap::Place;
use crate::session::entry::EntryId;

/// Forks the session at the selected entry.
///
/// # Errors
/// No entry of a loaded session is selected.
pub(crate) fn fork(model: &Model) -> Flow {
    let (session, tree, at) = model.whole_entry()?;
    let session = &model.catalog[session];
    if model.setting.picker == Some(PickerFormat::Json) {
        return Ok(picker::fork(session, &tree, at));
    }
    let at = Some(EntryId::of(&tree, at));
    Ok(fork_of(Request::Fork { path: session.path.clone(), at, migrate: false }))
}

/// Creates a fork and selects it.
pub(crate) fn fork_of(request: Request) -> Command {
    Command::All(vec![Command::Focus(Place::Tree), Command::Change(request, NextStep::Select)])
}
