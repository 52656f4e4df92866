//! Files that a session or the sessions of a project touched, and the entries that touched a file.

use std::cmp::Reverse;

use crate::app::layers::answer::ChoiceAction;
use crate::app::layers::palette::{PaletteItem, SessionScope};
use crate::app::model::Model;
use crate::app::palettes::labels::{age, title};
use crate::app::panes::sessions::{RowKey, SessionRow};
use crate::base::numbers::{count, thousands};
use crate::base::paths::{relative_to, shorten};
use crate::base::text::{Span, Tone, clean};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::catalog::files::{TouchedFile, full_path, outline};
use crate::catalog::{EntryRef, SessionKey};
use crate::session::digest::touched_files::TouchDetails;
use crate::session::entry::tool_call::Touch;

/// Maximum number of listed entries: the most recent ones.
const MOST: usize = 5000;

/// Returns the sessions of the selected row.
pub(crate) fn selected_scope(model: &Model) -> Option<SessionScope> {
    match model.sessions.selected_key()? {
        RowKey::Session(key) => Some(SessionScope::Session(key)),
        RowKey::Project(key) => Some(SessionScope::Project(key)),
        RowKey::MissingParent(_) => None,
    }
}

/// Returns the title of the list of touched files.
pub(super) fn title_of_files(model: &Model, scope: SessionScope) -> String {
    match scope {
        SessionScope::Session(key) => format!("Files of {}", model.short_title(key)),
        SessionScope::Project(key) => {
            let dir =
                model.sessions.project(key).map(|project| model.short(&shorten(&project.cwd, &model.setting.home)));
            format!("Files in {}", dir.unwrap_or_default())
        }
        SessionScope::All => "Files".into(),
    }
}

/// Returns the title of the list of entries that touched a file.
pub(super) fn title_of_touches(model: &Model, file: &str, scope: SessionScope) -> String {
    let suffix = if scope == SessionScope::All { " in all sessions" } else { "" };
    format!("{}{suffix}", clean(&shown(model, file)))
}

fn sessions(model: &Model, scope: SessionScope) -> Vec<SessionKey> {
    match scope {
        SessionScope::All => model.catalog.keys().collect(),
        SessionScope::Session(key) => model.catalog.has(key).then_some(key).into_iter().collect(),
        SessionScope::Project(key) => {
            model.sessions.project(key).map_or(Vec::new(), |project| project.sessions.clone())
        }
    }
}

/// Returns the files, most changed first.
pub(super) fn rows(model: &Model, scope: SessionScope) -> Vec<PaletteItem> {
    let digests = sessions(model, scope).into_iter().map(|key| &*model.catalog[key]);
    let mut files = outline(digests, &model.setting.home);
    files.sort_by(|a, b| {
        let often = |file: &TouchedFile| (file.uses.changes(), file.uses.reads);
        often(b).cmp(&often(a)).then_with(|| a.path.cmp(&b.path))
    });
    let row = |TouchedFile { path: file, uses, .. }: TouchedFile| {
        let left = vec![Span::clean(Tone::Text, &shown(model, &file))];
        let facts = format!("  {:>9}  {:>7}", times("changed", uses.changes()), times("read", uses.reads));
        PaletteItem::new(left, Vec::new(), Span::new(Tone::Dim, facts), ChoiceAction::File(file))
    };
    files.into_iter().map(row).collect()
}

fn times(what: &str, count: usize) -> String {
    if count > 0 { format!("{what} {count}×") } else { String::new() }
}

/// Returns a file relative to the directory of the selected project.
fn shown(model: &Model, file: &str) -> String {
    let cwd = match model.sessions.selected_row() {
        Some(SessionRow::Session { key, .. }) => model.catalog[*key].header.cwd.as_str(),
        Some(SessionRow::Project(at)) => model.sessions.projects.get(*at).map_or("", |project| &*project.cwd),
        Some(SessionRow::MissingParent(..)) | None => "",
    };
    relative_to(cwd, file, &model.setting.home).into_owned()
}

/// Returns the entries that touched a file, most recent first.
pub(super) fn touches(model: &Model, file: &str, scope: SessionScope) -> Vec<PaletteItem> {
    let catalog = &model.catalog;
    let name = file.rsplit('/').next().unwrap_or(file);
    let mut found = Vec::new();
    let mut keys = sessions(model, scope);
    catalog.sort_oldest_first(&mut keys);
    for session in keys {
        let digest = &catalog[session];
        // Compare the end first: most paths differ there.
        let is_it =
            |path: &str| path.ends_with(name) && full_path(path, &digest.header.cwd, &model.setting.home) == file;
        let wanted: Vec<bool> = digest.details().touches.paths.iter().map(is_it).collect();
        if wanted.contains(&true) {
            let touched = digest.details().touches.iter().zip(&digest.details().touches.all);
            let touched = touched.filter(|(_, touch)| wanted[touch.path as usize]).map(|(touched, _)| touched);
            found.extend(touched.map(|touched| ((digest.entry_key(touched.entry), touched.touch), session, touched)));
        }
    }
    let mut found = cost_sharing::once(found.into_iter());
    found.sort_by_key(|ListedItem { session, what, .. }| (Reverse(what.time), &catalog[*session].path, what.entry));
    let all = found.len();
    let row = |listed: ListedItem<SessionKey, TouchDetails<'_>>| {
        let touched = listed.what;
        let tone = if touched.touch == Touch::Read { Tone::Dim } else { Tone::Added };
        let left = vec![Span::new(tone, format!("{:<7}", touched.touch.name())), Span::new(Tone::Text, touched.said)];
        let leads = ChoiceAction::Entry(EntryRef { session: listed.session, at: touched.entry });
        PaletteItem::new(left, title(model, &listed), age(model, touched.time), leads)
    };
    let rows = found.into_iter().take(MOST).map(row);
    let rest = (all > MOST).then(|| {
        let text = format!("showing the newest {} of {}", thousands(MOST), count(all, "entry", "entries"));
        PaletteItem::new(vec![Span::new(Tone::Dim, text)], Vec::new(), Span::default(), ChoiceAction::Nothing)
    });
    let everywhere = format!("search all {}", count(catalog.len(), "session", "sessions"));
    let left = vec![Span::new(Tone::Accent, everywhere)];
    let more = PaletteItem::new(left, Vec::new(), Span::default(), ChoiceAction::FileEverywhere(file.into()));
    (scope != SessionScope::All).then_some(more).into_iter().chain(rows).chain(rest).collect()
}
