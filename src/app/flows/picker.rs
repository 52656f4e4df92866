//! pitree as a picker (`--print`): Enter prints the choice instead of starting pi.

use std::sync::Arc;

use crate::app::command::{Command, ResumePlan};
use crate::app::model::Model;
use crate::app::picker_output::{PickedEntry, PickerOutput};
use crate::app::startup::PickerFormat;
use crate::base::machine_paths;
use crate::changes::Request;
use crate::keymap::Place;
use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree, resume};

/// Returns the command for Enter in a picker. `None` means the same as in the browser: to print a resume command, the
/// session may have to be changed first.
pub(crate) fn confirm(model: &Model) -> Option<Command> {
    let (key, session) = model.meant_session()?;
    let tree = model.tree.file(key);
    let meant = || model.meant_entry().map(|(.., at)| at);
    let at = |tree: &Arc<Tree>| if model.focus == Place::Sessions { tree.leaf } else { meant() };
    answer(model, session, tree.map(|tree| (tree, at(tree))))
}

/// Returns the command that prints a session and, if its tree is open, an entry.
pub(crate) fn answer(model: &Model, session: &Digest, entry: Option<(&Arc<Tree>, Option<Index>)>) -> Option<Command> {
    let answer = match model.setting.picker? {
        // pi must not open the mirror of another machine.
        PickerFormat::Path => {
            PickerOutput::Path(machine_paths::place(&session.path).map_or_else(|| session.path.clone(), Into::into))
        }
        PickerFormat::Id => PickerOutput::Id(session.header.id.clone()),
        PickerFormat::Entry => {
            let Some((tree, at)) = entry else {
                return Some(Command::warn("the session is still being read"));
            };
            match at.and_then(|at| tree.nodes[at as usize].id.as_ref()) {
                Some(id) => PickerOutput::Id(id.to_string()),
                None => return Some(Command::warn("no entry here has an id")),
            }
        }
        PickerFormat::Command => return None,
        PickerFormat::Json => PickerOutput::Json(Box::new(PickedEntry {
            path: session.path.clone(),
            id: session.header.id.clone(),
            cwd: session.header.cwd.clone(),
            name: session.name.as_deref().map(String::from),
            entry: entry.and_then(|(tree, at)| Some((tree.clone(), at?))),
            draft: None,
        })),
    };
    Some(Command::Print(answer))
}

/// Returns `true` if Enter chooses a session, even on a hit.
pub(crate) fn wants_session(model: &Model) -> bool {
    matches!(model.setting.picker, Some(PickerFormat::Path | PickerFormat::Id))
}

/// Forks at an entry for the picker's output. Like pi (1.6.0), at a user message it forks before the message and
/// returns its text for editing.
pub(crate) fn fork(session: &Digest, tree: &Arc<Tree>, at: Index) -> Command {
    let to = resume::at(tree, at);
    let leaf = ResumePlan::at(session);
    let at = to.at.map(|at| EntryId::of(tree, at));
    let request = Some(Request::Fork { path: session.path.clone(), at, migrate: false });
    Command::Resume(ResumePlan { request, text_of: to.text_of.map(|at| (tree.clone(), at)), ..leaf })
}
