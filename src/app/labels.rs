//! The palette of every label in every session.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::app::change;
use crate::app::edit::{Edit, Purpose};
use crate::app::message::{After, Effect};
use crate::app::model::Model;
use crate::app::palette;
use crate::app::palette::{Kind, Leads, Palette, Row};
use crate::app::spots::{Spot, Wanted, Why};
use crate::base::js::cut;
use crate::base::text::{Span, Tone, clean, width};
use crate::base::time;
use crate::changes::{Request, Target};
use crate::session::digest::summary::Shared;

/// The columns that a session's title has in a row.
const TITLE: usize = 30;

/// Opens the palette; the labels come as they are read, those of the newest sessions first.
pub(super) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    model.palettes.push(Palette::new(Kind::Labels, "Labels"));
    palette::ask(model, Wanted::Labels, labelled(model), effects);
}

/// The sessions with labels.
fn labelled(model: &Model) -> Vec<usize> {
    (0..model.sessions.all.len()).filter(|&at| model.sessions.all[at].labels > 0).collect()
}

/// The rows, the newest label first.
pub(super) fn rows(model: &Model, spots: &[(PathBuf, Spot)]) -> Vec<Row> {
    let titles = Titles::new(model);
    let row = |(path, spot): &(PathBuf, Spot)| {
        let Why::Label(label) = &spot.why else { return None };
        let left = vec![Span::clean(Tone::Label, &format!("[{label}] ")), Span::new(Tone::Text, &*spot.text)];
        Some(Row::new(left, titles.of(path), age(model, spot), Leads::Entry(path.clone(), spot.entry.clone())))
    };
    newest_first(spots).into_iter().filter_map(row).collect()
}

/// The places by time; those of the same time always in the same order.
pub(super) fn newest_first(spots: &[(PathBuf, Spot)]) -> Vec<&(PathBuf, Spot)> {
    let mut spots: Vec<_> = spots.iter().collect();
    spots.sort_by(|(a, one), (b, other)| other.time.cmp(&one.time).then_with(|| a.cmp(b)));
    spots
}

/// How long ago something was, as the end of a row.
pub(super) fn age(model: &Model, spot: &Spot) -> Span {
    let age = spot.time.map_or("?".into(), |then| time::age(model.now, then));
    Span::new(Tone::Dim, format!("  {age:>4}"))
}

/// The titles of sessions, for rows.
pub(super) struct Titles<'a> {
    model: &'a Model,
    places: HashMap<&'a PathBuf, &'a Shared>,
}

impl<'a> Titles<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        Self { model, places: model.sessions.all.iter().map(|session| (&session.path, session)).collect() }
    }

    pub(super) fn of(&self, path: &PathBuf) -> Vec<Span> {
        let title = self.places.get(path).map_or("", |session| session.title());
        let title = self.model.setting.glyphs.cut(&clean(cut(title, 200)), TITLE).into_owned();
        let gap = " ".repeat(TITLE - width(&title));
        vec![Span::new(Tone::Dim, title + &gap)]
    }
}

/// The selected label: its session, entry and text.
fn selected(model: &Model) -> Option<(PathBuf, Target, String)> {
    let palette = model.palettes.last()?;
    let Leads::Entry(path, entry) = &palette.selected()?.leads else { return None };
    let spot = palette.spots.iter().find(|(of, spot)| of == path && spot.entry == *entry);
    match spot.map(|(_, spot)| &spot.why) {
        Some(Why::Label(label)) => Some((path.clone(), entry.clone(), label.to_string())),
        _ => None,
    }
}

/// Clears the selected label.
pub(super) fn clear(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((path, target, _)) = selected(model) else { return };
    let request = Request::Label { path, target, label: String::new(), migrate: false };
    change::want(model, request, After::Rest, effects);
}

/// Asks for another text of the selected label.
pub(super) fn rename(model: &mut Model) {
    let Some((path, target, label)) = selected(model) else { return };
    model.edit(Edit::new(Purpose::Label { path, target }, "label: ", &label));
}

/// Some sessions changed: their labels are read again, before those that were still to come.
pub(super) fn follow(model: &mut Model, changed: &[PathBuf], effects: &mut Vec<Effect>) {
    let Some(palette) = model.palettes.last().filter(|palette| palette.kind == Kind::Labels) else { return };
    let mut paths = changed.to_vec();
    if palette.reading {
        let others = palette::newest_first(model, labelled(model)).into_iter();
        paths.extend(others.filter(|path| !changed.contains(path)));
    }
    palette::ask_in_order(model, Wanted::Labels, paths, effects);
}

/// All sessions were read: there may be more with labels than when the palette was opened.
pub(super) fn refresh(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.palettes.last().is_some_and(|palette| palette.kind == Kind::Labels) {
        palette::ask(model, Wanted::Labels, labelled(model), effects);
    }
}
