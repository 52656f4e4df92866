//! Comparison of two branches.

use super::files;
use crate::app::command::Command;
use crate::app::flows::compare;
use crate::app::layers::Layer;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::text::Tone;
use crate::catalog::EntryRef;
use crate::keymap::{Action, Place};

/// Marks or unmarks the selected row.
pub(super) fn mark(model: &mut Model) {
    if model.focus == Place::Sessions {
        return model.sessions.toggle_mark();
    }
    match model.whole_entry() {
        Err(why) => model.say(Tone::Warning, why),
        Ok((session, _, at)) => {
            toggle(&mut model.marks, EntryRef { session, at });
            let (compare, mark) = (model.setting.key(Action::Compare), model.setting.key(Action::Mark));
            let dot = &model.setting.glyphs.dot;
            let message = match model.marks.len() {
                0 => "no entries marked".into(),
                1 => format!(
                    "1 entry marked {dot} {compare}: compare with the selected entry {dot} {mark}: mark another"
                ),
                marked => format!("{marked} entries marked {dot} {compare}: compare"),
            };
            model.say(Tone::Dim, message);
        }
    }
}

/// Marks or unmarks an entry. A third mark replaces the oldest one.
fn toggle(marks: &mut Vec<EntryRef>, entry: EntryRef) {
    let before = marks.len();
    marks.retain(|&marked| marked != entry);
    if marks.len() == before {
        marks.drain(..before.saturating_sub(1));
        marks.push(entry);
    }
}

/// Starts a comparison.
pub(super) fn open(model: &mut Model) {
    match compare::ask(model) {
        Err(why) => model.say(Tone::Warning, why),
        Ok((layer, asked)) => {
            model.comparing = Some(model.ask(Work::Compare(asked)));
            model.layers.0.push(Layer::Compare(Box::new(layer)));
        }
    }
}

/// Does an action on the chosen side.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(Layer::Compare(layer)) = model.layers.top() else { return };
    if action == Action::FileDifference {
        return match compare::difference(model, layer) {
            Ok(text) => files::show_text(model, text),
            Err(why) => model.say(Tone::Dim, why),
        };
    }
    if action == Action::Confirm
        && let Some(asked) = compare::again(model, layer)
    {
        model.comparing = Some(model.ask(Work::Compare(asked)));
        return model.say(Tone::Dim, "the session has changed; comparing again");
    }
    let command = compare::act(model, layer, action);
    if matches!(command, Command::GoTo(_)) {
        model.layers.close(Place::Compare);
    }
    model.execute(command);
}

/// Fits comparisons to the terminal; cancels the reading of a closed one.
pub(super) fn sync(model: &mut Model) {
    let mut is_there = false;
    for compare in model.layers.comparisons_mut() {
        compare.fit(&model.setting.glyphs, model.size);
        is_there = true;
    }
    if !is_there {
        model.comparing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::catalog;

    #[test]
    fn two_entries_are_marked_at_most() {
        let catalog = catalog(&[("a", None, 1)]);
        let session = catalog.keys().next().unwrap();
        let entry = |at| EntryRef { session, at };
        let mut marks = Vec::new();
        (0..3).for_each(|at| toggle(&mut marks, entry(at)));
        assert_eq!(marks, [entry(1), entry(2)], "the first one gave way");
        toggle(&mut marks, entry(1));
        assert_eq!(marks, [entry(2)]);
    }
}
