//! Brings everything in line after a message: selections into sight, the tree to the selected session, the preview to
//! the selected row.

use std::path::PathBuf;

use crate::app::message::Effect;
use crate::app::model::Model;
use crate::app::preview::Subject;
use crate::app::rows::Item;
use crate::app::sessions::Row;
use crate::app::{card, find, search};
use crate::keymap::Place;

/// Reads a session's tree, instead of the one that was asked for before.
pub(super) fn open(model: &mut Model, path: PathBuf) -> Effect {
    model.requests.open += 1;
    Effect::Open { open: model.requests.open, path }
}

/// Brings everything in line.
pub(super) fn settle(model: &mut Model, effects: &mut Vec<Effect>) {
    search::follow_list(model, effects);
    model.sessions.note_selection();
    if let Some(area) = model.area(Place::Sessions) {
        model.sessions.room = area.body.height.into();
        model.sessions.cursor.fit(model.sessions.rows.len(), area.body.height.into());
    }
    follow_session(model, effects);
    model.tree.note_selection();
    if let Some(area) = model.area(Place::Tree) {
        let height = usize::from(area.body.height);
        if std::mem::take(&mut model.tree.fresh) {
            // What led to the selected entry is seen above it.
            model.tree.cursor.top = model.tree.cursor.at.saturating_sub(height * 2 / 3);
        }
        model.tree.cursor.fit(model.tree.rows.list.len(), height);
    }
    let size = model.size;
    if let Some(palette) = model.palettes.last_mut() {
        palette.fit(size);
    }
    ask_for_forks(model, effects);
    follow_selection(model, effects);
    find::settle(model, effects);
    if let Some(area) = model.area(Place::Preview) {
        model.preview.fit(area.text().width.into(), area.body.height.into());
    }
}

fn follow_session(model: &mut Model, effects: &mut Vec<Effect>) {
    let wanted = model.sessions.selected_session().cloned();
    let path = wanted.as_ref().map(|session| session.path.clone());
    if path != model.tree.path {
        model.tree.turn_to(path.clone());
        // Late replies about the session before must not be taken for this one's.
        model.requests.open += 1;
        model.requests.split += 1;
        effects.extend(path.map(|path| open(model, path)));
    }
    model.tree.session = wanted;
    let hit = model.selected_hit().and_then(|found| found.at);
    model.tree.point_at(hit);
}

fn ask_for_forks(model: &mut Model, effects: &mut Vec<Effect>) {
    let (Some(path), Some(tree)) = (&model.tree.path, &model.tree.tree) else { return };
    if tree.is_partial {
        return; // the whole one comes soon
    }
    let forks = model.sessions.forks_of(path);
    let paths: Vec<PathBuf> = forks.iter().map(|fork| fork.path.clone()).collect();
    if paths != model.asked_forks {
        model.asked_forks = paths;
        model.requests.split += 1;
        effects.push(Effect::Split { split: model.requests.split, tree: tree.clone(), forks });
    }
}

fn follow_selection(model: &mut Model, effects: &mut Vec<Effect>) {
    let entry = || {
        let path = model.tree.path.clone()?;
        match model.tree.selected_item()? {
            Item::Entry(at) => Some(Subject::Entry(path, at)),
            Item::Fork(place) => Some(Subject::Session(model.tree.forks.get(place)?.session.path.clone())),
        }
    };
    let row = || match model.sessions.selected_row()? {
        // A session that was found by what an entry says shows that entry.
        Row::Session { .. } if model.selected_hit().is_some_and(|found| found.at.is_some()) => {
            entry().filter(|_| model.tree.pointed().is_some())
        }
        Row::Session { at, .. } => Some(Subject::Session(model.sessions.all[*at].path.clone())),
        Row::Project(at) => Some(Subject::Project(model.sessions.projects.get(*at)?.cwd.clone())),
    };
    let wanted = match model.focus {
        Place::Sessions => row(),
        Place::Tree => entry(),
        // The preview stays with what it was about, unless that is gone.
        Place::Preview if model.preview.subject != Subject::Nothing => return,
        Place::Preview => entry().or_else(row),
    }
    .unwrap_or_default();
    let is_card = matches!(wanted, Subject::Project(_) | Subject::Session(_));
    if wanted != model.preview.subject {
        model.preview.turn_to(wanted.clone());
        model.requests.read += 1;
        if let (Subject::Entry(path, at), Some(tree)) = (wanted, model.tree.tree.clone()) {
            effects.push(Effect::Read { read: model.requests.read, path, tree, at });
        }
    }
    if is_card {
        // A card is made of what the model knows, which grows while sessions are read.
        let lines = card::of(model);
        model.preview.show(lines);
    }
}
