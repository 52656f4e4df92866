//! Updates of dependent state after a message: scroll positions, the tree of the selected session, the reader, and
//! palettes.

use super::{family, files, prepared_boxes, reader, search, session_facts, stats, titles, unread};
use crate::app::layers::palette::Palette;
use crate::app::message::{Effect, Work};
use crate::app::model::Model;
use crate::app::panes::reader::{EntryForm, ReaderSubject};
use crate::app::panes::sessions::SessionRow;
use crate::app::panes::tree::rows::RowItem;
use crate::app::{card, palettes};
use crate::catalog::SessionKey;
use crate::catalog::search::HitPlace;
use crate::keymap::KeyContext;
use crate::search::qualifier::value::Needs;

/// Updates the dependent state.
pub(super) fn sync(model: &mut Model) {
    let today = model.settings.zoned(model.now).map(|time| (time.date(), model.settings.zone.clone()));
    if model.sessions.today != today {
        model.sessions.today = today;
        model.rebuild_list();
    }
    search::follow_list(model);
    search::request_suggestions(model);
    model.sessions.note_selection();
    if let Some(area) = model.area(KeyContext::Sessions) {
        let room = (area.body.width.into(), area.body.height.into());
        model.sessions.fit(room, &model.catalog);
    }
    follow_session(model);
    if model.tree.is_outdated && model.tree.opening.is_none() {
        model.read_tree(); // its file has grown
    }
    if model.tree.note_leaving() && model.notice.is_none() {
        model.hint("no longer following");
    }
    model.tree.note_selection();
    if let Some(area) = model.area(KeyContext::Tree) {
        let height = usize::from(area.body.height);
        let cursor = &mut model.tree.cursor;
        if std::mem::take(&mut model.tree.jumped) && !(cursor.top..cursor.top + height).contains(&cursor.at) {
            cursor.top = cursor.at.saturating_sub(height / 2);
        }
        if std::mem::take(&mut model.tree.must_scroll_to_selection) {
            // Entries before the selected one are visible above it.
            model.tree.cursor.top = model.tree.cursor.at.saturating_sub(height * 2 / 3);
        }
        model.tree.cursor.fit(model.tree.rows.list.len(), height);
    }
    refill_palettes(model);
    request_forks(model);
    family::sync(model);
    follow_selection(model);
    search::sync_find(model);
    stats::sync(model);
    files::sync(model);
    model.layers.fit(model.size);
    prepared_boxes::forget_slimming(model);
    titles::forget(model);
    welcome(model);
    unread::sync(model);
    if let Some(area) = model.area(KeyContext::Reader) {
        model.reader.fit(area.text().width.into(), area.body.height.into());
    }
}

/// Welcomes the user at the first start, if there are sessions.
fn welcome(model: &mut Model) {
    let is_untouched =
        model.notice.is_none() && model.search.is_none() && model.layers.0.is_empty() && !model.sessions.touched;
    if model.settings.welcomes && !model.is_welcomed && is_untouched && !model.catalog.is_empty() {
        model.is_welcomed = true;
        model.effects.push(Effect::Welcome);
    }
}

/// Refills palettes after the sessions have changed.
fn refill_palettes(model: &mut Model) {
    let mut layers = std::mem::take(&mut model.layers);
    let is_old = |palette: &&mut Palette| palette.catalog_version != model.catalog.version();
    layers.all_mut().filter(is_old).for_each(|palette| palettes::fill(model, palette));
    model.layers = layers;
}

fn follow_session(model: &mut Model) {
    let wanted = model.sessions.selected_session();
    if wanted != model.tree.session {
        model.tree.turn_to(wanted);
        model.read_tree();
    }
    let hit = model.sessions.selected_hit().and_then(|found| found.at);
    model.tree.point_at(hit);
}

fn request_forks(model: &mut Model) {
    let (Some(session), Some(tree)) = (model.tree.session, model.tree.own().cloned()) else { return };
    if tree.is_partial {
        return; // the whole one comes soon
    }
    let forks: Vec<SessionKey> = model.catalog.forks(session).collect();
    if forks != model.tree.requested_forks {
        let sessions = forks.iter().map(|&key| (key, model.catalog[key].clone())).collect();
        model.tree.requested_forks = forks;
        let sharing_sessions = model.catalog.sharing_sessions(session);
        let session = (session, model.catalog[session].clone());
        model.tree.splitting =
            Some(model.ask(Work::FindForkPoints { tree, session, forks: sessions, sharing_sessions }));
    }
}

fn follow_selection(model: &mut Model) {
    let entry = || match model.tree.selected_item()? {
        RowItem::Entry(at) => model.tree.entry(at).map(ReaderSubject::Entry),
        RowItem::Fork(place) => Some(ReaderSubject::Session(model.tree.forks().get(place)?.key)),
        RowItem::Run(run) => model.tree.entry(model.tree.rows.runs[run].first()).map(ReaderSubject::Entry),
        RowItem::Inherited => {
            let session = model.tree.session?;
            Some(ReaderSubject::Session(model.catalog.families().parent(session).unwrap_or(session)))
        }
        RowItem::Start => model.tree.session.map(ReaderSubject::Session),
    };
    let hit = model.sessions.selected_hit().and_then(|found| found.at);
    let is_lost = hit.is_some() && model.search.as_ref().is_some_and(|search| search.query.needs(Needs::LOST_WORK));
    let row = || match model.sessions.selected_row()? {
        // The card of a session lists the labels, the branches or the lost files that matched.
        SessionRow::Session { key, .. } if is_lost || matches!(hit, Some(HitPlace::Newest(_))) => {
            Some(ReaderSubject::Session(*key))
        }
        // A session that was found by an entry shows that entry.
        SessionRow::Session { .. } if model.tree.is_at_hit() => entry(),
        SessionRow::Session { .. } if hit.is_some() => entry().filter(|_| model.tree.search_hit().is_some()),
        SessionRow::Session { key, .. } => Some(ReaderSubject::Session(*key)),
        SessionRow::MissingParent(key, _) => Some(ReaderSubject::MissingParent(*key)),
        SessionRow::Project(at) => Some(ReaderSubject::Project(model.sessions.projects.get(*at)?.key)),
    };
    let wanted = match model.focus {
        KeyContext::Sessions => row(),
        KeyContext::Tree => match model.reader.subject {
            // The reader was scrolled within the row.
            ReaderSubject::Entry(shown) if model.tree.is_row_of(shown) => Some(model.reader.subject),
            _ => entry(),
        },
        _ if model.layers.has(KeyContext::Find) => entry(),
        // The reader keeps its subject while that exists.
        _ if is_there(model, model.reader.subject) => Some(model.reader.subject),
        _ if model.reader.is_of_list => row(),
        _ => entry().or_else(row),
    }
    .unwrap_or_default();
    let is_branch = model.entry_form == EntryForm::Entry && matches!(model.reader.subject, ReaderSubject::Entry(_));
    let is_other = wanted != model.reader.subject;
    match wanted {
        // The reader scrolls to another entry of the branch.
        ReaderSubject::Entry(_) if is_branch && is_other => model.reader.subject = wanted,
        _ if is_other => model.reader.turn_to(wanted, model.now),
        _ => {}
    }
    // A pending reading is not restarted: a file that keeps growing would never be shown.
    let is_stale = model.reader.reading.is_none() && std::mem::take(&mut model.reader.is_stale);
    match wanted {
        ReaderSubject::Entry(entry) if model.entry_form == EntryForm::Entry => {
            let words = model.tree.words_of(entry);
            let is_new = words.as_ref().is_some_and(|words| {
                is_other || model.reader.sought.as_ref().is_none_or(|sought| !std::sync::Arc::ptr_eq(sought, words))
            });
            model.reader.sought = words;
            if is_stale {
                model.reader.forget_texts(model.now);
            }
            reader::show_branch(model, entry, is_other, is_new);
        }
        ReaderSubject::Entry(entry) if is_other || is_stale => reader::read_form(model, entry),
        _ => {}
    }
    if is_other && matches!(wanted, ReaderSubject::MissingParent(_)) && model.reading_history.is_none() {
        // The missing session may be in the trash.
        family::read_history(model);
    }
    session_facts::sync(model, is_other);
    if wanted.has_card() {
        // A card grows while sessions are read.
        let room = model.area(KeyContext::Reader).map_or(model.size.into(), |area| area.text().as_size());
        let lines = card::of(model, wanted, room);
        model.reader.show(lines);
    }
}

/// Returns `true` if the item in the reader still exists.
fn is_there(model: &Model, subject: ReaderSubject) -> bool {
    match subject {
        ReaderSubject::Nothing => false,
        ReaderSubject::Entry(entry) => model.catalog.has(entry.session),
        ReaderSubject::Session(key) => model.catalog.has(key),
        ReaderSubject::MissingParent(key) => model.catalog.missing_parent(key).is_some(),
        ReaderSubject::Project(key) => model.sessions.project(key).is_some(),
    }
}
