//! The outline of files: what the selected session, or the sessions of a project, read and changed; and for a file the
//! entries that did it, there or in all sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::app::labels;
use crate::app::labels::{Titles, age};
use crate::app::message::Effect;
use crate::app::model::Model;
use crate::app::palette;
use crate::app::palette::{Kind, Leads, Palette, Row};
use crate::app::sessions::Row as SessionRow;
use crate::app::spots::{Spot, Wanted, Why};
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, clean};
use crate::session::entry::call::Touch;
use crate::session::tree::FileUse;

/// Opens the outline of what is selected.
pub(super) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    let sessions = match model.sessions.selected_row() {
        Some(SessionRow::Session { at, .. }) => vec![*at],
        Some(SessionRow::Project(at)) => model.sessions.projects[*at].sessions.clone(),
        None => return,
    };
    let title = match (model.sessions.selected_session(), model.sessions.selected_project()) {
        (Some(session), _) => format!("Files of {}", model.short(session.title())),
        (None, Some(project)) => format!("Files in {}", model.short(&shorten(&project.cwd, &model.setting.home))),
        (None, None) => return,
    };
    model.palettes.push(Palette::new(Kind::Files, title));
    palette::ask(model, Wanted::Files, sessions, effects);
}

/// The files, the most changed first.
pub(super) fn files(model: &Model, spots: &[(PathBuf, Spot)]) -> Vec<Row> {
    let mut uses: BTreeMap<&str, FileUse> = BTreeMap::new();
    for (_, spot) in spots {
        let Why::Touch(file, touch) = &spot.why else { continue };
        uses.entry(file).or_default().add(*touch);
    }
    let mut uses: Vec<(&str, FileUse)> = uses.into_iter().collect();
    uses.sort_by_key(|(_, uses)| std::cmp::Reverse((uses.changes, uses.reads)));
    let row = |(file, uses): (&str, FileUse)| {
        let left = vec![Span::clean(Tone::Text, &shown(model, file))];
        let facts = format!("  {:>9}  {:>7}", times("changed", uses.changes), times("read", uses.reads));
        Row::new(left, Vec::new(), Span::new(Tone::Dim, facts), Leads::File(file.into()))
    };
    uses.into_iter().map(row).collect()
}

fn times(what: &str, count: usize) -> String {
    if count > 0 { format!("{what} {count}×") } else { String::new() }
}

/// A file as it is shown: from the selected project's directory on.
fn shown(model: &Model, file: &str) -> String {
    let cwd = match (model.sessions.selected_session(), model.sessions.selected_project()) {
        (Some(session), _) => &session.header.cwd,
        (None, Some(project)) => &project.cwd,
        (None, None) => return file.into(),
    };
    let inside = file.strip_prefix(cwd.as_str()).and_then(|rest| rest.strip_prefix('/'));
    match inside.filter(|_| !cwd.is_empty()) {
        Some(inside) => inside.into(),
        None => shorten(file, &model.setting.home).into_owned(),
    }
}

/// Lists the entries that touched a file, in the sessions of the outline.
pub(super) fn open_file(model: &mut Model, file: &str) {
    let Some(outline) = model.palettes.last() else { return };
    let is_of = |(_, spot): &&(PathBuf, Spot)| matches!(&spot.why, Why::Touch(touched, _) if **touched == *file);
    let spots: Vec<_> = outline.spots.iter().filter(is_of).cloned().collect();
    let mut palette = Palette::new(Kind::Touches { file: file.into(), everywhere: false }, title(model, file));
    palette.spots = spots;
    // The first row is for who finds none of the others to be the one.
    palette.cursor.at = 1;
    model.palettes.push(palette);
    palette::relist(model, model.palettes.len() - 1);
}

fn title(model: &Model, file: &str) -> String {
    clean(&shown(model, file)).into_owned()
}

/// Lists the entries that touched the file of the palette on top, in all sessions.
pub(super) fn open_everywhere(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Kind::Touches { file, .. }) = model.palettes.last().map(|palette| palette.kind.clone()) else { return };
    let all = (0..model.sessions.all.len()).collect();
    let title = format!("{} in all sessions", title(model, &file));
    model.palettes.push(Palette::new(Kind::Touches { file: file.clone(), everywhere: true }, title));
    palette::ask(model, Wanted::File(file), all, effects);
}

/// The entries that touched a file, the newest first.
pub(super) fn touches(model: &Model, spots: &[(PathBuf, Spot)], everywhere: bool) -> Vec<Row> {
    let titles = Titles::new(model);
    let row = |(path, spot): &(PathBuf, Spot)| {
        let Why::Touch(_, touch) = &spot.why else { return None };
        let tone = if *touch == Touch::Read { Tone::Dim } else { Tone::Added };
        let left = vec![Span::new(tone, format!("{:<7}", touch.name())), Span::new(Tone::Text, &*spot.text)];
        Some(Row::new(left, titles.of(path), age(model, spot), Leads::Entry(path.clone(), spot.entry.clone())))
    };
    let all = format!("look in all {}", count(model.sessions.all.len(), "session", "sessions"));
    let more = Row::new(vec![Span::new(Tone::Accent, all)], Vec::new(), Span::default(), Leads::Everywhere);
    (!everywhere).then_some(more).into_iter().chain(labels::newest_first(spots).into_iter().filter_map(row)).collect()
}
