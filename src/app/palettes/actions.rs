//! The palette of all that can be done in the pane.

use crate::app::context::Context;
use crate::app::layers::answer::Leads;
use crate::app::layers::palette::{Choice, Palette, PaletteKind};
use crate::base::text::{Span, Tone};
use crate::config::SavedQuery;
use crate::keymap::{Action, Key};

/// Everything that has a key in the pane, and the saved queries.
pub fn palette(context: &Context<'_>) -> Palette {
    let keymap = &context.setting.keymap;
    let row = |action: &Action| {
        let left = vec![Span::new(Tone::Text, action.help()), Span::new(Tone::Dim, format!("  {}", action.name()))];
        let keys: Vec<String> = keymap.keys(*action).iter().map(Key::to_string).collect();
        Choice::new(left, Vec::new(), Span::new(Tone::Accent, keys.join(", ")), Leads::Act(*action))
    };
    let is_here = |action: &&Action| action.places().contains(&context.focus) && **action != Action::Palette;
    let saved = |saved: &SavedQuery| {
        let left = vec![Span::clean(Tone::Text, &saved.name), Span::clean(Tone::Dim, &format!("  {}", saved.query))];
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        Choice::new(left, Vec::new(), Span::new(Tone::Accent, key), Leads::Search(saved.query.clone()))
    };
    let saved = context.setting.queries.iter().map(saved);
    let mut palette = Palette::new(PaletteKind::Actions, "Actions");
    palette.list(Action::ALL.iter().filter(is_here).map(row).chain(saved).collect());
    palette
}
