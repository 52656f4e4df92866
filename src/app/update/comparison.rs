//! Comparison of two branches.

use std::sync::Arc;

use super::files;
use crate::app::command::Command;
use crate::app::flows::compare;
use crate::app::layers::compare::CompareView;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::ticket;
use crate::catalog::EntryRef;
use crate::catalog::compare::ComparedBranches;
use crate::catalog::final_files::FinalFile;
use crate::keymap::{Action, Place};

/// Marks or unmarks the selected row.
pub(super) fn mark(model: &mut Model) {
    if model.focus == Place::Sessions {
        return model.sessions.toggle_mark();
    }
    match model.whole_entry() {
        Err(why) => model.warn(why),
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
            model.hint(message);
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

/// Opens a comparison.
pub(super) fn open(model: &mut Model) {
    match compare::ask(model) {
        Err(why) => model.warn(why),
        Ok((mut view, asked)) => {
            view.claim = Some(model.ask(Work::Compare(asked)));
            model.layers.push(view);
        }
    }
}

/// Does an action on the comparison.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<CompareView>() else { return };
    if action == Action::FileDifference {
        return match compare::difference(model, view) {
            Ok(text) => files::show_text(model, text),
            Err(why) => model.hint(why),
        };
    }
    if action == Action::Confirm
        && let Some(asked) = compare::again(model, view)
    {
        model.with_layer(|model, view: &mut CompareView| view.claim = Some(model.ask(Work::Compare(asked))));
        return model.hint("the session has changed; comparing again");
    }
    let command = compare::act(model, view, action);
    if matches!(command, Command::GoTo(_)) {
        model.layers.close(Place::Compare);
    }
    model.execute(command);
}

/// Takes a comparison.
pub(super) fn take(model: &mut Model, compared: Arc<ComparedBranches>) {
    model.layers.update(|view: &mut CompareView| view.take(compared));
}

/// Takes the files that differ at the ends, or the error.
pub(super) fn take_files(model: &mut Model, files: Result<Arc<Vec<FinalFile>>, String>) {
    model.layers.update(|view: &mut CompareView| view.take_files(files));
}

/// Handles a failed comparison.
pub(super) fn take_failure(model: &mut Model, ticket: u64, error: &str) -> bool {
    let is_it = model.layers.update(|view: &mut CompareView| ticket::end(&mut view.claim, ticket)) == Some(true);
    if is_it {
        model.layers.close(Place::Compare);
        model.execute(Command::ShowError("Cannot compare", error.into()));
    }
    is_it
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
