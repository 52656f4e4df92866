//! Comparison of two branches.

use std::sync::Arc;

use super::files;

use crate::app::command::Command;
use crate::app::flows::{NO_SESSION, cancel, names_and_marks, resume};
use crate::app::layers::compare::{CompareView, FINAL_FILES};
use crate::app::layers::files::FileTextView;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::base::text::clean;
use crate::catalog::compare::{BranchEnd, CompareRequest, ComparedBranches, FinalFile};
use crate::catalog::file_states::{FileForm, FileTextRequest, StateSource};
use crate::catalog::pick::plan_pick;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::{Request, SessionIdentity};
use crate::keymap::{Action, KeyContext};
use crate::render::DocLine;
use crate::session::compare::BranchPath;
use crate::session::compare::description::SIDES;
use crate::session::entry::EntryId;

/// Marks or unmarks the selected row.
pub(super) fn mark(model: &mut Model) {
    if model.focus == KeyContext::Sessions {
        return model.sessions.toggle_mark();
    }
    match model.whole_entry() {
        Err(why) => model.warn(why),
        Ok((session, _, at)) => {
            toggle(&mut model.marks, EntryRef { session, at });
            let (compare, mark) = (model.settings.key(Action::Compare), model.settings.key(Action::Mark));
            let dot = &model.settings.glyphs.dot;
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

/// Opens a comparison; with `picks`, to copy messages of one branch to the other one.
pub(super) fn open(model: &mut Model, picks: bool) {
    match ask(model) {
        Err(why) => model.warn(why),
        Ok((mut view, asked)) => {
            view.picks = picks;
            view.claim = Some(model.ask_or(Work::Compare(asked), fail));
            model.layers.push(view);
        }
    }
}

/// Does an action on the comparison.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<CompareView>() else { return };
    if action == Action::FileDifference {
        return match difference(model, view) {
            Ok(text) => files::show_text(model, text),
            Err(why) => model.hint(why),
        };
    }
    if matches!(action, Action::Confirm | Action::Pick)
        && let Some(asked) = again(model, view)
    {
        model.with_layer(|model, view: &mut CompareView| {
            view.picks = action == Action::Pick;
            view.claim = Some(model.ask_or(Work::Compare(asked), fail));
        });
        return model.hint("the session has changed; comparing again");
    }
    if action == Action::Pick {
        return match ask_to_pick(model, view) {
            Ok(question) => model.execute(question),
            Err(why) => model.hint(why),
        };
    }
    let command = side_command(model, view, action);
    if matches!(command, Command::GoTo(_)) {
        model.layers.close(KeyContext::Compare);
    }
    model.execute(command);
}

/// Takes a comparison.
pub(super) fn on_compared(model: &mut Model, compared: Arc<ComparedBranches>) {
    let mut picks = false;
    model.layers.update(|view: &mut CompareView| {
        view.on_compared(compared);
        picks = std::mem::take(&mut view.picks);
    });
    if picks {
        act(model, Action::Pick);
    }
}

/// Takes the files that differ at the ends, or the error.
pub(super) fn on_final_files(model: &mut Model, files: Result<Arc<Vec<FinalFile>>, String>) {
    model.layers.update(|view: &mut CompareView| view.on_final_files(files));
}

/// Handles a failed comparison.
fn fail(model: &mut Model, _ticket: u64, error: &str) {
    model.layers.close(KeyContext::Compare);
    model.execute(Command::ShowError("Cannot compare", error.into()));
}

/// A chosen branch: its session and what to read of it.
type Branch = (SessionKey, CompareRequest);

/// Chooses the branch to the leaf of a session.
fn leaf(model: &Model, session: SessionKey) -> Result<Branch, String> {
    let digest = model.catalog.get(session).ok_or("a marked session no longer exists")?;
    Ok((session, CompareRequest { path: digest.path.clone(), tree: None, at: None }))
}

/// Chooses an entry of any session.
fn entry(model: &Model, EntryRef { session, at }: EntryRef) -> Result<Branch, String> {
    let tree = model.tree.file(session).filter(|tree| !tree.is_partial).cloned();
    let (_, leaf) = leaf(model, session)?;
    Ok((session, CompareRequest { tree, at: Some(at), ..leaf }))
}

/// Chooses the selected entry or fork.
fn selected(model: &Model) -> Result<Branch, String> {
    if let (KeyContext::Tree, Some(fork)) = (model.focus, model.tree.selected_fork()) {
        return leaf(model, fork.key);
    }
    let (session, _, at) = model.whole_entry()?;
    entry(model, EntryRef { session, at })
}

/// Returns the view and the two branches to compare.
///
/// # Errors
/// There are not exactly two branches; the message says what to do.
fn ask(model: &Model) -> Result<(CompareView, [CompareRequest; 2]), String> {
    let [a, b] = if model.focus == KeyContext::Sessions { sessions(model)? } else { entries(model)? };
    let sessions = [a.0, b.0];
    let titles = sessions.map(|session| model.short_title(session));
    Ok((CompareView::new(sessions, titles, model.settings.glyphs.clone()), [a.1, b.1]))
}

/// Returns the marked sessions, oldest first; with one mark, the marked and the selected session.
fn sessions(model: &Model) -> Result<[Branch; 2], String> {
    let (mut marked, _) = model.sessions.marked(&model.catalog);
    model.catalog.sort_oldest_first(&mut marked);
    match (&marked[..], &model.marks[..]) {
        (&[a, b], _) => Ok([leaf(model, a)?, leaf(model, b)?]),
        (&[a], _) => match model.sessions.selected_session() {
            Some(b) if a != b => Ok([leaf(model, a)?, leaf(model, b)?]),
            Some(_) => Err("this session is already marked; select or mark another one of its family".into()),
            None => Err(NO_SESSION.into()),
        },
        (&[], &[a, b]) => Ok([entry(model, a)?, entry(model, b)?]),
        (&[], _) => {
            let mark = model.settings.key(Action::Mark);
            Err(format!("no sessions marked; press {mark} to mark two of one family"))
        }
        (several, _) => Err(format!("cannot compare {} sessions; mark exactly two", several.len())),
    }
}

/// Returns two marked entries, the marked and the selected one, or the selected one and the leaf.
fn entries(model: &Model) -> Result<[Branch; 2], String> {
    match model.marks[..] {
        [a, b] => Ok([entry(model, a)?, entry(model, b)?]),
        [a, ..] => {
            let here = selected(model)?;
            if here.0 == a.session && here.1.at == Some(a.at) {
                return Err("this entry is already marked; select or mark another one".into());
            }
            Ok([entry(model, a)?, here])
        }
        [] => {
            let here = selected(model)?;
            let session = model.tree.session.ok_or(NO_SESSION)?;
            let is_tip = here.1.tree.as_ref().zip(here.1.at).is_some_and(|(tree, at)| tree.is_tip(at));
            if is_tip && here.0 == session {
                let mark = model.settings.key(Action::Mark);
                return Err(format!("cannot compare the leaf with itself; select another entry or mark two ({mark})"));
            }
            // The tree of the open session is loaded.
            let end = match model.tree.own().and_then(|tree| tree.leaf) {
                Some(at) => entry(model, EntryRef { session, at })?,
                None => leaf(model, session)?,
            };
            Ok([here, end])
        }
    }
}

/// Asks whether to copy the messages of the other branch to a fork of the chosen one.
fn ask_to_pick(model: &Model, compare: &CompareView) -> Result<Command, String> {
    let (Some((session, tree, at)), Some(compared)) = (compare.end(), &compare.compared) else {
        return Err("the sessions are still being read".into());
    };
    let digest = model.catalog.get(session).ok_or("this session no longer exists")?;
    if digest.facts().is_mirrored() {
        return Err("the session is on another machine; use pitree there".into());
    }
    let other = 1 - compare.chosen;
    let source = &compared.ends[other];
    let range = [None, Some(compared.comparison.ends[other])];
    let plan = plan_pick(BranchPath { tree, end: at }, &source.tree, range).map_err(|error| error.to_string())?;
    let request = Request::Pick {
        path: compared.ends[compare.chosen].path.clone(),
        at: EntryId::of(tree, at),
        from: source.path.clone(),
        entries: plan.entries.iter().map(|&at| EntryId::of(&source.tree, at)).collect(),
    };
    let request = request.if_same(SessionIdentity::of(digest));
    let [onto, from] = [SIDES[compare.chosen], SIDES[other]];
    let messages = count(plan.messages, "message", "messages");
    let mut lines = vec![DocLine::text(&format!(
        "Copies {messages} of branch {from} to the end of a fork of branch {onto}. No model is asked, and both sessions stay as they are."
    ))];
    if !plan.skipped.is_empty() {
        let skipped = count(plan.skipped.len(), "entry", "entries");
        lines.push(DocLine::warning(&format!(
            "Not copied: {skipped} (summaries of compactions, results of calls of both)"
        )));
    }
    let close = Command::Close(KeyContext::Compare);
    let mut choices = resume::fork_choices(digest, &request, "with the copies", &close);
    choices.push(cancel());
    Ok(Command::ask("Copy messages", lines, choices))
}

/// Returns the branches for a new comparison if one of the files has grown, because its leaf may have moved.
fn again(model: &Model, compare: &CompareView) -> Option<[CompareRequest; 2]> {
    let ends = &compare.compared.as_ref()?.ends;
    let has_grown = |(key, end): (&SessionKey, &BranchEnd)| {
        model.catalog.get(*key).is_some_and(|session| session.entry_count > end.tree.nodes.len())
    };
    let asked = |end: &BranchEnd| CompareRequest { path: end.path.clone(), tree: None, at: Some(end.at) };
    compare.sessions.iter().zip(ends).any(has_grown).then(|| ends.each_ref().map(asked))
}

/// Creates the view of the difference of the selected file at the two ends.
///
/// # Errors
/// No file is selected.
fn difference(model: &Model, compare: &CompareView) -> Result<FileTextView, String> {
    let file = compare.selected_file().ok_or_else(|| format!("select a file below \"{FINAL_FILES}\""))?;
    let form = FileForm::Difference(file.states.clone().map(StateSource::Known));
    let request = FileTextRequest { file: file.name.clone(), form };
    let title = clean(&file.name).into_owned();
    Ok(FileTextView::new(title, "from the end of A to the end of B".into(), request, &model.settings.glyphs))
}

/// Returns the command for an action on the chosen side: resume, label or go to the common entry.
fn side_command(model: &Model, compare: &CompareView, action: Action) -> Command {
    let (Some((session, tree, at)), Some(common)) = (compare.end(), compare.common()) else {
        return Command::warn("the sessions are still being read");
    };
    match action {
        _ if !model.catalog.has(session) => Command::warn("this session no longer exists"),
        Action::Label => names_and_marks::label_at(model, session, tree, at),
        Action::GoToCommon => Command::GoTo(common),
        _ => resume::at_entry(model, session, tree, at),
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
