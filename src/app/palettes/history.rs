//! Sessions in the trash, and all changes, most recent first. The journal is read when the list opens.

use crate::app::layers::answer::ChoiceAction;
use crate::app::layers::palette::PaletteItem;
use crate::app::model::Model;
use crate::app::palettes::labels::age;
use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{bytes, count};
use crate::base::paths::{file_name, shorten};
use crate::base::text::{Span, Tone, clean};
use crate::changes::change::Change;
use crate::changes::history::{HistoryEntry, in_words, state};

/// Maximum length of a title in a row, in UTF-16 code units: no box is wider.
const MOST: usize = 200;

/// Returns the sessions in the trash.
pub(super) fn trash(model: &Model) -> Vec<PaletteItem> {
    let row = |past: &HistoryEntry| {
        // Another session may be at its path by now.
        let title =
            past.session.as_ref().map_or_else(|| file_name(past.record.change.path()), |(title, _)| title.clone());
        let cwd = past.session.as_ref().map_or("", |(_, cwd)| cwd);
        let size = match &past.record.change {
            Change::Trash(trashed) if !trashed.link => bytes(trashed.bytes),
            _ => "link".into(),
        };
        let (tone, right, leads) = if past.is_emptied {
            let why = "no longer in the trash; it was emptied, or another program removed the file";
            (Tone::Dim, "no longer in the trash".into(), ChoiceAction::Explain(why))
        } else {
            (Tone::Text, shorten(cwd, &model.setting.home).into_owned(), ChoiceAction::Restore(past.record.number))
        };
        let facts = format!("  {size:>8}{}", age(model, Some(past.record.time)).text);
        let left = vec![Span::clean(tone, utf16_prefix(&title, MOST))];
        PaletteItem::new(left, vec![Span::clean(Tone::Dim, &right)], Span::new(Tone::Dim, facts), leads)
    };
    model.past().iter().filter(|past| past.is_away()).map(row).collect()
}

/// Returns all changes, one row for each group.
pub(super) fn history(model: &Model) -> Vec<PaletteItem> {
    let together = model.past().chunk_by(|a, b| a.record.group == b.record.group);
    let row = |group: &[HistoryEntry]| {
        let last = group.first()?;
        let in_force = group.iter().find(|past| past.record.can_be_undone());
        let state = state(in_force.unwrap_or(last).record.state);
        let leads = match in_force {
            Some(past) => ChoiceAction::Undo(past.record.group),
            None => ChoiceAction::Explain("already reverted; nothing to undo"),
        };
        let what = in_words(group.iter().rev().map(|past| &past.record));
        let tone = if in_force.is_some() { Tone::Text } else { Tone::Dim };
        let mut left = vec![Span::clean(tone, utf16_prefix(&what, MOST))];
        left.push(Span::clean(Tone::Dim, &format!("  {}", sessions(model, group))));
        let right = state.map(|state| Span::new(Tone::Dim, format!("  {state}"))).into_iter().collect();
        Some(PaletteItem::new(left, right, age(model, Some(last.record.time)), leads))
    };
    together.filter_map(row).collect()
}

/// Returns the first changed session and the number of others.
fn sessions(model: &Model, group: &[HistoryEntry]) -> String {
    let Some(first) = group.last() else { return String::new() };
    let title = model.title_of(first.record.change.path(), first.session.as_ref().map(|(title, _)| &**title));
    let title = clean(utf16_prefix(&title, MOST)).into_owned();
    match group.len() - 1 {
        0 => title,
        others => format!("{title} and {}", count(others, "other", "others")),
    }
}
