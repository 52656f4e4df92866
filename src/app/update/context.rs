//! The model context of an entry, its edits, and actions from there.

use std::sync::Arc;

use crate::app::command::{Command, NextStep};
use crate::app::external::Opener;
use crate::app::flows::trash_and_archive::running_pi_warnings;
use crate::app::flows::{Choice, Flow, cancel, resume};
use crate::app::layers::Layer;
use crate::app::layers::context::{ContextTarget, ContextView, EditRequest, PlannedEdits};
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::{EntryLocation, Work};
use crate::app::model::Model;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Tone, clean};
use crate::catalog::context_edits::{EditWish, WantedEdit};
use crate::catalog::context_suggestions::KEPT_LINES;
use crate::changes::{Request, SessionIdentity};
use crate::keymap::{Action, KeyContext};
use crate::pi::requests::PiRequest;
use crate::pi::status::{PiState, PiStatus};
use crate::render::DocLine;
use crate::session::entry::EntryId;
use crate::session::prompt::listing::Listing;
use crate::session::tree::Tree;

/// Shows the model context of the selected entry.
///
/// # Errors
/// No entry of a loaded session is selected.
pub(super) fn open(model: &Model) -> Flow {
    let (session, tree, at) = model.whole_entry()?;
    let path = model.catalog[session].path.clone();
    Ok(Command::ShowContext(ContextTarget { session, path, tree, chosen: at, at: Some(at) }))
}

/// Creates the view before the context is read.
pub(super) fn context_view(model: &Model, target: ContextTarget) -> ContextView {
    let session = model.catalog.get(target.session).map(|_| model.short_title(target.session)).unwrap_or_default();
    let at = match target.at {
        Some(at) => model.short(target.tree.nodes[at as usize].words()),
        None => "before the first entry".into(),
    };
    ContextView::new(target, clean(&format!("{session} {} {at}", model.settings.glyphs.dot)).into_owned())
}

/// Explains how pi counts the sum of a context.
fn explain_sum(model: &Model, tree: &Tree, listing: &Listing) -> String {
    let number = |tokens: u64| thousands(tokens as usize);
    let Some((at, used, since)) = listing.counted else {
        return format!("{}, estimated: no provider count since the last compaction or edit", listing.total());
    };
    let date = tree.nodes.get(at as usize).and_then(|node| model.settings.date(node.time?));
    let when = date.map_or(String::new(), |date| format!(" on {date}"));
    match since {
        0 => format!("{}, counted by the provider{when}", listing.total()),
        _ => format!(
            "{}: {} counted by the provider{when} + {} estimated since",
            listing.total(),
            number(used as u64),
            number(since)
        ),
    }
}

/// Returns the command for an action: go to the selected entry, resume or fork.
fn context_command(model: &Model, view: &ContextView, action: Action) -> Command {
    let ContextTarget { session, path, tree, chosen, at } = &view.target;
    if !model.catalog.has(*session) {
        return Command::warn("this session no longer exists");
    }
    match action {
        Action::Confirm => view.selected().map_or_else(Command::nothing, Command::GoTo),
        Action::ResumeHere => resume::at_entry(model, *session, tree, *chosen),
        Action::Fork => {
            let at = at.map(|at| EntryId::of(tree, at));
            resume::fork_of(Request::Fork { path: path.clone(), at, migrate: false })
        }
        _ => Command::nothing(),
    }
}

/// Does an action of the model context.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(view) = model.layers.top_as::<ContextView>() else { return };
    let targets = view.targets();
    let wishes =
        |wish: &EditWish| targets.iter().map(|&at| WantedEdit { at, wish: wish.clone() }).collect::<Vec<WantedEdit>>();
    match action {
        Action::OmitMessage => plan(model, wishes(&EditWish::Omit), false),
        Action::RestoreMessage => plan(model, wishes(&EditWish::Restore), false),
        Action::SuggestEdits => plan(model, Vec::new(), true),
        Action::ShortenMessage => {
            let lines = KEPT_LINES.to_string();
            model.execute(Command::prompt(PromptPurpose::KeptLines, "lines to keep at each end: ", &lines));
        }
        Action::ReplaceMessage => {
            let Some(&at) = targets.first() else { return };
            let ContextTarget { path, tree, .. } = view.target.clone();
            model.layers.update(|view: &mut ContextView| view.replaced = Some(at));
            model.start_task(Work::Text(EntryLocation { path, tree, at }), NextStep::Open(Opener::MessageEditor));
        }
        Action::Back => {
            let discard =
                Choice::new('d', "Discard", "close the context; nothing was written", Command::CloseContext(false));
            let keep = Choice::new('k', "Keep", "go on", Command::nothing());
            let text = "The planned edits of the context are not written.";
            model.execute(Command::ask("Discard the edits?", vec![DocLine::text(text)], vec![discard, keep]));
        }
        Action::Confirm if view.planned.is_some() => match ask_to_write(model, view) {
            Ok(command) => model.execute(command),
            Err(why) => model.hint(why),
        },
        _ => leave(model, action),
    }
}

/// Leaves the model context for an action. Going elsewhere also closes the dialog below.
fn leave(model: &mut Model, action: Action) {
    let Some(view) = close(model, action != Action::ResumeHere) else { return };
    if model.layers.key_context() == Some(KeyContext::Question) {
        return; // it asks where to resume
    }
    model.execute(context_command(model, &view, action));
}

/// Closes the model context; `with_question`, also the question from which it was opened.
pub(super) fn close(model: &mut Model, with_question: bool) -> Option<ContextView> {
    let Some(Layer::Context(view)) = model.layers.0.pop() else { return None };
    if with_question && model.layers.key_context() == Some(KeyContext::Question) {
        model.layers.0.pop();
    }
    Some(*view)
}

/// Shortens the chosen messages to their first and last lines.
pub(super) fn shorten(model: &mut Model, lines: &str) {
    let Ok(lines) = lines.trim().parse() else { return model.warn("enter a number of lines") };
    let Some(view) = model.layers.top_as::<ContextView>() else { return };
    let wish = |at| WantedEdit { at, wish: EditWish::Shorten(lines) };
    let wanted = view.targets().into_iter().map(wish).collect();
    plan(model, wanted, false);
}

/// Takes the new text of the message that was opened in the editor.
pub(super) fn on_edited(model: &mut Model, text: &str) {
    let at = model.layers.update(|view: &mut ContextView| view.replaced.take()).flatten();
    if let Some(at) = at {
        plan(model, vec![WantedEdit { at, wish: EditWish::Text(text.trim_end().to_owned()) }], false);
    }
}

/// Plans more edits.
fn plan(model: &mut Model, more: Vec<WantedEdit>, suggests: bool) {
    model.with_layer(|model, view: &mut ContextView| {
        let Some(at) = view.target.at else { return };
        view.wanted.extend(more);
        view.suggests |= suggests;
        let ContextTarget { path, tree, .. } = view.target.clone();
        let request = EditRequest { path, tree, at, wanted: view.wanted.clone(), suggests: view.suggests };
        view.edit_claim = Some(model.ask_or(Work::PlanEdits(Box::new(request)), fail_plan));
    });
}

fn fail_plan(model: &mut Model, _ticket: u64, error: &str) {
    model.layers.update(ContextView::on_refused);
    model.show_notice(Tone::Warning, error.to_owned());
}

/// Takes planned edits.
pub(super) fn on_planned(model: &mut Model, planned: PlannedEdits) {
    let text = match (planned.plan.edits.len(), &planned.problem) {
        (0, _) => "nothing to edit".to_owned(),
        (_, Some(problem)) => format!("{problem}: it may ignore the edits"),
        (edits, None) => {
            let confirm = model.settings.key(Action::Confirm);
            format!("{} {} {confirm}: write", count(edits, "edit", "edits"), model.settings.glyphs.dot)
        }
    };
    model.layers.update(|view: &mut ContextView| view.on_planned(planned));
    model.hint(text);
}

/// Asks where to write the planned edits.
///
/// # Errors
/// The session cannot be changed.
fn ask_to_write(model: &Model, view: &ContextView) -> Flow {
    let ContextTarget { session, path, tree, at, .. } = &view.target;
    let (Some(planned), Some(at)) = (&view.planned, *at) else { return Err("nothing to edit") };
    let digest = model.catalog.get(*session).ok_or("this session no longer exists")?;
    if digest.facts().is_mirrored() {
        return Err("the session is on another machine; edit its context with pitree there");
    }
    let edits = planned.plan.new_edits(tree);
    let request = |in_fork| {
        let request =
            Request::EditContext { path: path.clone(), at: EntryId::of(tree, at), edits: edits.clone(), in_fork };
        request.if_same(SessionIdentity::of(digest))
    };
    let close = Command::CloseContext(true);
    let then = |command| Command::All(vec![close.clone(), command]);
    let mut lines: Vec<DocLine> = planned.facts(tree).iter().map(|line| DocLine::text(line)).collect();
    let sentence = "write to a new session; this one stays as it is";
    let mut choices = resume::fork_choices(digest, &request(true), sentence, &close);
    let signs = running_pi_warnings(model, &[*session], None);
    let is_end = tree.is_current_position(Some(at));
    if !signs.is_empty() {
        lines.extend(signs);
        lines.push(DocLine::warning("That pi would not see edits in the file, so they go to a fork."));
        // While it works, it may add results of omitted calls.
        let can_append = |pi: &&PiStatus| is_end && pi.state != PiState::Working;
        if let Some(pi) = model.catalog.pi_here(*session).filter(can_append) {
            let request = Command::Task(Work::SendToPi(pi.clone(), PiRequest::Edits(edits.clone())), NextStep::Nothing);
            let sentence = "it appends them at the end of its next turn; no undo";
            choices.push(Choice::new('p', "Let pi write", sentence, then(request)));
        }
    } else if is_end {
        let here = then(Command::Change(request(false), NextStep::Select));
        choices.push(Choice::new('h', "Here", "append to this session; undo restores the contents", here));
    }
    choices.push(cancel());
    Ok(Command::ask("Edit the context", lines, choices))
}

/// Passes a model context to its view.
pub(super) fn on_listing(model: &mut Model, listing: Result<Arc<Listing>, String>) {
    model.with_layer(|model, view: &mut ContextView| {
        let explain = |listing: &Arc<Listing>| explain_sum(model, &view.target.tree, listing);
        let sum = listing.as_ref().map(explain).unwrap_or_default();
        view.on_listing(listing, sum);
        view.claim = None;
    });
}

pub(super) fn fail(model: &mut Model, _ticket: u64, error: &str) {
    on_listing(model, Err(error.into()));
}
