//! The family of the open session in the tree: showing it, hiding sessions, and going to another session.

use crate::app::command::Command;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::palettes;
use crate::base::numbers::count;
use crate::base::text::Tone;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::history::HistoryEntry;
use crate::keymap::Action;
use crate::session::entry::EntryId;

/// Shows the whole family, or only the session.
pub(super) fn toggle(model: &mut Model) {
    let Some(session) = model.tree.session else { return };
    let is_alone = !model.tree.is_whole() && model.catalog.family(session).len() < 2;
    let (is_read, others) = (model.catalog.progress.finished, model.catalog.same_origin(session).len());
    if is_alone && is_read && others == 0 {
        return model.hint("no related sessions: no parent and no forks found");
    }
    let message = match model.tree.toggle_family() {
        false => "showing this session only".into(),
        true if !is_alone => "showing the whole family".into(),
        true if !is_read => "showing the family; sessions are still being read".into(),
        true => {
            let share = count(
                others,
                "session shares entries with this one but is not linked to it",
                "sessions share entries with this one but are not linked to it",
            );
            let (key, dot) = (model.settings.key(Action::FamilyFiles), &model.settings.glyphs.dot);
            format!("{share} {dot} {key}: list family")
        }
    };
    model.hint(message);
}

/// Hides or shows a session of the family; shows the family first if necessary.
pub(super) fn toggle_member(model: &mut Model, session: SessionKey) {
    let is_of_family = model.tree.session.is_some_and(|open| model.catalog.family(open).contains(&session));
    if model.tree.is_whole() {
        model.tree.toggle_member(session, is_of_family);
    } else {
        model.tree.toggle_family();
        if !is_of_family {
            model.tree.toggle_member(session, false);
        }
    }
    fill(model);
}

/// Refills the palettes.
pub(super) fn fill(model: &mut Model) {
    let mut layers = std::mem::take(&mut model.layers);
    layers.all_mut().for_each(|palette| palettes::fill(model, palette));
    model.layers = layers;
}

/// Reads the change history.
pub(super) fn read_history(model: &mut Model) {
    model.history = None;
    let claim = model.ask_or(Work::ReadHistory, |model, _, error| {
        model.show_notice(Tone::Error, error);
        on_history(model, Vec::new());
    });
    model.reading_history = Some(claim);
}

/// Takes the change history.
pub(super) fn on_history(model: &mut Model, history: Vec<HistoryEntry>) {
    (model.reading_history, model.history) = (None, Some(history));
    fill(model);
}

/// Merges the sessions that the tree is to show.
pub(super) fn sync(model: &mut Model) {
    let is_whole = model.tree.own().is_some_and(|tree| !tree.is_partial);
    if is_whole && let Some(to_join) = model.tree.next_to_join(&model.catalog) {
        let claim = model.ask_or(Work::Join(Box::new(to_join)), |model, _, error| {
            model.tree.fail_to_join();
            model.show_notice(Tone::Error, error);
        });
        model.tree.joining = Some(claim);
    }
}

/// Goes to the session of the selected row, or to another session that contains its entry.
pub(super) fn go_over(model: &mut Model) {
    if let Some(fork) = model.tree.selected_fork().map(|fork| fork.key) {
        return model.execute(Command::Select(fork));
    }
    let meant = model.target_entry();
    let Some((session, tree, at)) = meant else { return model.hint("select an entry or a fork") };
    let id = EntryId::of(&tree, at);
    if Some(session) != model.tree.session {
        return model.execute(Command::GoToId(session, id));
    }
    let shown = model.tree.shown(EntryRef { session, at });
    match shown.and_then(|shown| model.tree.others_of(shown).first().copied()) {
        Some(other) => model.execute(Command::GoToId(other, id)),
        None => model.hint("no other session has this entry"),
    }
}
