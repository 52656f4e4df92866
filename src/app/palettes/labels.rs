//! The palette of all labels.

use std::cmp::Reverse;

use crate::app::command::{AfterChange, Command};
use crate::app::layers::answer::{ChoiceAction, PromptPurpose};
use crate::app::layers::palette::PaletteItem;
use crate::app::model::Model;
use crate::base::text::{Span, Tone, width};
use crate::base::time;
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::{Request, SessionIdentity};
use crate::session::digest::DigestLabel;

/// Columns of a session's title in a row.
const TITLE: usize = 30;

/// Returns the labels, most recent first.
pub(super) fn rows(model: &Model) -> Vec<PaletteItem> {
    let catalog = &model.catalog;
    let mut keys: Vec<SessionKey> = catalog.keys().filter(|&key| !catalog[key].labels.is_empty()).collect();
    catalog.sort_oldest_first(&mut keys);
    let of =
        |&key: &SessionKey| catalog[key].labels.iter().map(move |label| (catalog[key].label_key(label), key, label));
    let mut labels = cost_sharing::once(keys.iter().flat_map(of));
    labels.sort_by_key(|ListedItem { session, what, .. }| (Reverse(what.time), &catalog[*session].path, what.at));
    let row = |listed: ListedItem<SessionKey, &DigestLabel>| {
        let label = listed.what;
        let left = vec![Span::clean(Tone::Label, &format!("[{}] ", label.text)), Span::new(Tone::Text, &*label.row)];
        let leads = ChoiceAction::Entry(EntryRef { session: listed.session, at: label.at });
        PaletteItem::new(left, title(model, &listed), age(model, label.time), leads)
    };
    labels.into_iter().map(row).collect()
}

/// Returns an age for the end of a row.
pub(super) fn age(model: &Model, time: Option<i64>) -> Span {
    let age = time.map_or("?".into(), |then| time::age(model.now, then));
    Span::new(Tone::Dim, format!("  {age:>4}"))
}

/// Returns a session's title and the number of forks with the same item.
pub(super) fn title<T>(model: &Model, listed: &ListedItem<SessionKey, T>) -> Vec<Span> {
    let forks = cost_sharing::in_forks(listed.forks);
    let room = TITLE - width(&forks).min(TITLE);
    let title = crate::app::title::title(&model.catalog[listed.session]);
    let title = model.setting.glyphs.cut(&title, room).into_owned();
    let gap = " ".repeat(room - width(&title));
    vec![Span::new(Tone::Dim, title), Span::new(Tone::Fork, forks), Span::new(Tone::Dim, gap)]
}

/// Clears the selected label, or asks for a new text.
pub fn change(model: &Model, selected: Option<&ChoiceAction>, clear: bool) -> Command {
    let Some(&ChoiceAction::Entry(EntryRef { session, at })) = selected else {
        return Command::warn("no label is selected");
    };
    let digest = &model.catalog[session];
    let Some(label) = digest.labels.iter().find(|label| label.at == at) else {
        return Command::warn("this label no longer exists");
    };
    let (target, identity) = (label.entry.clone(), SessionIdentity::of(digest));
    if clear {
        let request = Request::Label { path: digest.path.clone(), target, label: String::new(), migrate: false };
        return Command::Change(request.if_same(identity), AfterChange::Nothing);
    }
    Command::prompt(PromptPurpose::Label(session, identity, target), "label: ", &label.text)
}
