//! Names of sessions and labels of entries: asking for them in the line editor.

use crate::app::edit::{Edit, Purpose};
use crate::app::message::{After, Effect};
use crate::app::model::Model;
use crate::app::update::say;
use crate::app::{change, delete, find};
use crate::base::text::Tone;
use crate::changes::{Request, Target};
use crate::keymap::Place;

/// Asks for the name of the session that is meant.
pub(super) fn rename(model: &mut Model) {
    let Some(session) = model.meant_session() else {
        return say(model, Tone::Warning, "a project has no name of its own: choose a session".into());
    };
    let name = session.name.clone().unwrap_or_default();
    model.edit(Edit::new(Purpose::Name { path: session.path.clone() }, "name: ", &name));
}

/// Asks for the label of the entry that is meant.
pub(super) fn label(model: &mut Model) {
    let Some((tree, at)) = model.whole_entry() else { return };
    let Some(path) = model.tree.path.clone() else { return };
    let label = tree.labels.get(&at).map_or("", |label| &label.text);
    model.edit(Edit::new(Purpose::Label { path, target: Target::of(&tree, at) }, "label: ", label));
}

/// Forks the session at the entry that is meant.
pub(super) fn fork(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((tree, at)) = model.whole_entry() else { return };
    let Some(path) = model.tree.path.clone() else { return };
    let request = Request::Fork { path, at: Some(Target::of(&tree, at)) };
    model.focus = Place::Tree;
    change::want(model, request, After::Show, effects);
}

/// Does what an accepted line is for.
pub(super) fn accept(model: &mut Model, edit: &Edit, effects: &mut Vec<Effect>) {
    let value = edit.value().to_string();
    let request = match &edit.purpose {
        Purpose::Name { path } => Request::Rename { path: path.clone(), name: value },
        Purpose::Label { path, target } => {
            Request::Label { path: path.clone(), target: target.clone(), label: value, migrate: false }
        }
        Purpose::Word { files } if value.trim() == delete::WORD => Request::Delete { files: files.clone() },
        Purpose::Search => return, // it is asked for as it is typed
        Purpose::Query => return find::keep(model),
        Purpose::Word { .. } => return say(model, Tone::Dim, "nothing was deleted".into()),
    };
    change::want(model, request, After::Rest, effects);
}
