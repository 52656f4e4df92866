//! pitree as a picker (`--print`): Enter gives an answer instead of starting pi.

use std::path::PathBuf;

use crate::app::message::Effect;
use crate::app::model::Model;
use crate::app::resume::GoOn;
use crate::app::update::say;
use crate::base::text::Tone;
use crate::keymap::Place;

/// What is printed of the chosen session or entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// The path of the session's file.
    Path,
    /// The id of the session.
    Id,
    /// The id of the entry; in the list, of the leaf.
    Entry,
    /// The command that goes on there, for a shell.
    Command,
}

impl Print {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Path, Self::Id, Self::Entry, Self::Command];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Id => "id",
            Self::Entry => "entry",
            Self::Command => "command",
        }
    }
}

/// What is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A path.
    Path(PathBuf),
    /// An id.
    Id(String),
    /// The command that resumes a session.
    Command {
        /// The file.
        path: PathBuf,
        /// The working directory; empty if the file names none.
        cwd: String,
    },
}

/// What Enter does in the picker. Returns false where it does what it does elsewhere: for a command the session may
/// have to be changed first.
pub(super) fn confirm(model: &mut Model, effects: &mut Vec<Effect>) -> bool {
    let Some(print) = model.setting.picker else { return false };
    let Some(session) = model.meant_session() else { return false };
    let answer = match print {
        Print::Path => Answer::Path(session.path.clone()),
        Print::Id => Answer::Id(session.header.id.clone()),
        Print::Entry => {
            let tree = model.tree.tree.as_deref();
            let Some(tree) = tree.filter(|_| model.tree.path.as_ref() == Some(&session.path)) else {
                say(model, Tone::Warning, "the session is still being read".into());
                return true;
            };
            let at = if model.focus == Place::Sessions { tree.leaf } else { model.meant_entry() };
            let Some(id) = at.and_then(|at| tree.nodes[at as usize].id.as_ref()) else {
                say(model, Tone::Warning, "there is no entry with an id".into());
                return true;
            };
            Answer::Id(id.to_string())
        }
        Print::Command => return false,
    };
    effects.push(Effect::Answer(answer));
    true
}

/// Whether a session is chosen as such, wherever in it something was found.
pub(super) fn wants_session(model: &Model) -> bool {
    matches!(model.setting.picker, Some(Print::Path | Print::Id))
}

/// What comes at the end of going on: pi, or in the picker the command for it.
pub(super) fn leave(model: &Model, go_on: GoOn) -> Effect {
    let GoOn { path, cwd, .. } = go_on;
    match model.setting.picker {
        Some(_) => Effect::Answer(Answer::Command { path, cwd }),
        None => Effect::Resume { path, cwd },
    }
}
