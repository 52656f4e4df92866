//! The command palette: actions of all panes and saved queries.

use crate::app::layers::answer::ChoiceAction;
use crate::app::layers::palette::PaletteItem;
use crate::app::model::Model;
use crate::base::text::{Span, Tone};
use crate::config::SavedQuery;
use crate::keymap::{Action, Group, Key, Place};

/// Heading for recent actions.
const RECENT: &str = "Recent";
/// Heading for actions that work in every pane.
const EVERYWHERE: &str = "All panes";
/// Heading for saved queries.
const SAVED: &str = "Saved";

/// Returns `true` if the palette lists an action: one of a pane that does more than move or go back.
pub(crate) fn is_listed(action: Action) -> bool {
    let is_of_pane = Place::PANES.iter().any(|place| action.row().places.contains(place));
    is_of_pane && action.row().group != Group::Moving && !matches!(action, Action::Back | Action::Palette)
}

/// Returns recent actions, then those of the focused pane, of all panes and of the other panes, then saved queries.
pub(super) fn rows(model: &Model) -> Vec<PaletteItem> {
    let row = |(group, action): (&'static str, Action)| {
        let keys: Vec<String> = model.setting.config.keymap.keys(action).iter().map(Key::to_string).collect();
        let keys = Span::new(Tone::Accent, keys.join(", "));
        let title = vec![Span::new(Tone::Text, action.row().title)];
        PaletteItem::new(title, Vec::new(), keys, ChoiceAction::Act(action))
            .under(group)
            .called(action.row().name, action.row().help)
    };
    let recent = model.recent.iter().map(|&action| (RECENT, action));
    let others = Action::ALL.iter().filter(|&&action| is_listed(action) && !model.recent.contains(&action));
    let mut others: Vec<_> = others.map(|&action| (group(action, model.focus), action)).collect();
    others.sort_by_key(|&(group, _)| (group != model.focus.name(), group != EVERYWHERE));
    let saved = |saved: &SavedQuery| {
        let left = vec![Span::clean(Tone::Text, &saved.name), Span::clean(Tone::Dim, &format!("  {}", saved.query))];
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        let key = Span::new(Tone::Accent, key);
        PaletteItem::new(left, Vec::new(), key, ChoiceAction::Search(saved.query.clone())).under(SAVED)
    };
    let saved = model.setting.config.queries.iter().map(saved);
    recent.chain(others).map(row).chain(saved).collect()
}

/// Returns the group of an action: the focused pane if it works there, else the first pane in which it works.
fn group(action: Action, focus: Place) -> &'static str {
    let is_in = |place: &Place| action.row().places.contains(place);
    if Place::PANES.iter().all(is_in) {
        return EVERYWHERE;
    }
    let place = Some(focus).filter(is_in).or_else(|| Place::PANES.iter().copied().find(is_in));
    place.map_or(EVERYWHERE, Place::name)
}
