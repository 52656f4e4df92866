//! Unread sessions: notes the messages that were shown in the tree or the reader, and has them written after a pause. A
//! session counts as shown only after input, because an idle screen may be unattended.

use std::mem;

use crate::app::flows::{self, NO_SESSION};
use crate::app::message::{Effect, Work};
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::catalog::SessionKey;
use crate::keymap::KeyContext;
use crate::session::last_seen::LastSeen;

/// Milliseconds for which a session must be shown beside the list.
const SHOWN_FOR: i64 = 1000;

/// Milliseconds before the shown messages are written.
const WRITE_DELAY: i64 = 2000;

/// Notes the session that was shown before an input.
pub(super) fn note_before_input(model: &mut Model) {
    if let Some((key, since)) = model.unread.shown
        && model.now - since >= SHOWN_FOR
    {
        note(model, &[key]);
    }
}

/// Notes the session that an input opened.
pub(super) fn note_after_input(model: &mut Model) {
    if matches!(model.key_context(), KeyContext::Tree | KeyContext::Reader)
        && let Some(key) = model.tree.session
    {
        note(model, &[key]);
    }
}

/// Notes a session that pi resumes, and updates the shown session.
pub(super) fn sync(model: &mut Model) {
    let resumed = model.effects.iter().find_map(|effect| match effect {
        Effect::Resume(start) => model.catalog.key_of(&start.path),
        _ => None,
    });
    if let Some(key) = resumed {
        note(model, &[key]);
    }
    let is_uncovered = matches!(
        model.key_context(),
        KeyContext::Sessions | KeyContext::Tree | KeyContext::Reader | KeyContext::Search
    );
    let is_drawn = || model.area(KeyContext::Tree).or(model.area(KeyContext::Reader)).is_some();
    let key = model.tree.session.filter(|_| is_uncovered && model.tree.tree.is_some() && is_drawn());
    if key != model.unread.shown.map(|(key, _)| key) {
        model.unread.shown = key.map(|key| (key, model.now));
    }
}

/// Marks the marked sessions, the selected one or those of the selected project as read.
pub(super) fn mark_read(model: &mut Model) {
    let selected = || match model.sessions.selected_project().filter(|_| model.focus == KeyContext::Sessions) {
        Some(project) => project.sessions.clone(),
        None => model.target_session().map(|(key, _)| key).into_iter().collect(),
    };
    let keys = flows::marked(model).unwrap_or_else(selected);
    let text = match (keys.is_empty(), note(model, &keys)) {
        (true, _) => NO_SESSION.into(),
        (_, 0) => "already read".into(),
        (_, read) => format!("marked {} as read", count(read, "session", "sessions")),
    };
    model.hint(text);
}

/// Notes that sessions were shown. Returns the number of those that were unread.
fn note(model: &mut Model, keys: &[SessionKey]) -> usize {
    let mut unread = 0;
    for &key in keys {
        if !model.catalog.has(key) || !model.catalog.is_unread(key) {
            continue;
        }
        let facts = model.catalog[key].facts();
        let (id, modified) = (facts.marks_key().into_owned(), facts.modified().unwrap_or_default());
        model.catalog.note_seen(&id, modified);
        model.unread.pending.insert(id, modified);
        unread += 1;
    }
    if unread > 0 {
        model.unread.due = Some(model.now + WRITE_DELAY);
        model.sessions.count_unread(&model.catalog);
    }
    unread
}

/// Has the shown messages written after a pause.
pub(super) fn write_if_due(model: &mut Model) {
    if model.unread.due.is_none_or(|due| model.now < due) || model.unread.writing.is_some() {
        return;
    }
    model.unread.due = None;
    let shown = mem::take(&mut model.unread.pending);
    let claim = model.ask(Work::WriteLastSeen(shown.clone()));
    model.unread.writing = Some((claim, shown));
}

/// Takes the content of the file; `None` if it could not be written. The messages are then written with the next ones.
pub(super) fn on_last_seen(model: &mut Model, seen: Option<LastSeen>) {
    let written = model.unread.writing.take().map(|(_, shown)| shown).unwrap_or_default();
    let Some(mut seen) = seen else {
        for (id, modified) in written {
            model.unread.pending.entry(id).or_insert(modified);
        }
        return;
    };
    model.unread.pending.iter().for_each(|(id, &modified)| seen.note(id, modified));
    model.catalog.set_last_seen(seen);
    model.sessions.count_unread(&model.catalog);
}
