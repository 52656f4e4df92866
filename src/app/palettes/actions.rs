//! The palette of all that can be done: in this pane, and in others, to which it leads.

use std::cmp::Reverse;

use crate::app::context::Context;
use crate::app::layers::answer::Leads;
use crate::app::layers::palette::{Choice, Palette, PaletteKind};
use crate::base::text::{Span, Tone};
use crate::config::SavedQuery;
use crate::keymap::{Action, Group, Key, Place};

/// Everything that can be done in a pane: what was done most often first, then what can be done here; and the saved queries.
pub fn palette(context: &Context<'_>) -> Palette {
    let keymap = &context.setting.keymap;
    let row = |action: &Action| {
        let left = vec![Span::new(Tone::Text, action.help()), Span::new(Tone::Dim, format!("  {}", action.name()))];
        let keys: Vec<String> = keymap.keys(*action).iter().map(Key::to_string).collect();
        let keys = Span::new(Tone::Accent, keys.join(", "));
        Choice::new(left, Vec::new(), keys, Leads::Act(*action)).called(action.name())
    };
    let is_of = |action: &Action, place: &Place| action.places().contains(place);
    let is_listed =
        |action: &&Action| **action != Action::Palette && Place::PANES.iter().any(|place| is_of(action, place));
    let mut actions: Vec<&Action> = Action::ALL.iter().filter(is_listed).collect();
    // One moves all the time, and not by this list.
    let moves = |action: &Action| action.group() == Group::Moving;
    let uses = |action: &Action| context.uses.get(action).filter(|_| !moves(action)).copied();
    actions.sort_by_key(|action| (Reverse(uses(action)), moves(action), !is_of(action, &context.focus)));
    let saved = |saved: &SavedQuery| {
        let left = vec![Span::clean(Tone::Text, &saved.name), Span::clean(Tone::Dim, &format!("  {}", saved.query))];
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        Choice::new(left, Vec::new(), Span::new(Tone::Accent, key), Leads::Search(saved.query.clone()))
    };
    let saved = context.setting.queries.iter().map(saved);
    let mut palette = Palette::new(PaletteKind::Actions, "Actions");
    palette.list(actions.into_iter().map(row).chain(saved).collect());
    palette
}
