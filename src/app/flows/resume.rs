//! Resuming in pi at a session or at any entry. pi goes to the entry by itself; if it cannot, pitree first moves the
//! leaf. A dialog explains the choices. The chosen [`ResumePlan`] then runs step by step.
//!
//! Also forks at an entry, and the choice in a picker (`--print`), in which Enter prints instead of starting pi.

use std::sync::Arc;

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{Choice, Flow, NO_SESSION, cancel, cancel_by, trash_and_archive};
use crate::app::layers::context::ContextTarget;
use crate::app::layers::dialogs::Question;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::tree::rows::RowItem;
use crate::app::settings::{PickedEntry, PickerFormat, PickerOutput};
use crate::base::numbers::count;
use crate::base::text::Span;
use crate::base::{archive_paths, machine_paths};
use crate::catalog::SessionKey;
use crate::changes::{Request, SessionIdentity};
use crate::keymap::KeyContext;
use crate::pi::launch::Start;
use crate::render::DocLine;
use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::tree::context::context as model_context;
use crate::session::tree::resume::{self, ResumePoint};
use crate::session::tree::{EntryIndex, Tree};

/// Returns the command for Enter in any pane.
pub(crate) fn confirm(model: &Model) -> Command {
    let in_sessions = model.focus == KeyContext::Sessions;
    if in_sessions && model.sessions.selected_project().is_some() {
        return Command::ToggleFold;
    }
    if let Some(gone) = model.sessions.selected_missing_parent().filter(|_| in_sessions) {
        return trash_and_archive::restore_missing(model, gone);
    }
    if let Some(fork) = model.tree.selected_fork().filter(|_| !in_sessions) {
        return Command::Select(fork.key);
    }
    if !in_sessions && model.tree.selected_item() == Some(RowItem::Inherited) {
        return Command::ToggleFold;
    }
    let is_start = model.focus == KeyContext::Tree && model.tree.selected_item() == Some(RowItem::Start);
    let is_hit = model.sessions.selected_hit().is_some();
    if in_sessions && is_hit && !wants_session(model) {
        return Command::GoToHit;
    }
    if let Some(answer) = picked(model) {
        return answer;
    }
    let Some((key, session)) = model.target_session() else { return Command::nothing() };
    match model.target_entry() {
        Some((_, tree, at)) => entry(model, key, &tree, at),
        _ if model.focus == KeyContext::Tree && !is_start => Command::nothing(),
        _ => at_leaf(model, key, ResumePlan::at(session)),
    }
}

/// Returns the command for Enter on an entry of any session.
pub(crate) fn at_entry(model: &Model, key: SessionKey, tree: &Arc<Tree>, at: EntryIndex) -> Command {
    let Some(session) = model.catalog.get(key) else { return Command::warn(NO_SESSION) };
    match picked_entry(model, session, Some((tree, Some(at)))) {
        Some(answer) => answer,
        None => entry(model, key, tree, at),
    }
}

/// Resumes at an entry. Asks first unless opening the session is enough.
pub(crate) fn entry(model: &Model, key: SessionKey, tree: &Arc<Tree>, at: EntryIndex) -> Command {
    let Some(session) = model.catalog.get(key) else { return Command::warn(NO_SESSION) };
    let leaf = ResumePlan::at(session);
    let to = resume::at(tree, at);
    if session.facts().is_mirrored() {
        let is_leaf = to.is_here && to.returned_text_entry.is_none();
        let entry = tree.nodes[at as usize].id.as_deref().map(String::from).filter(|_| !is_leaf);
        let start = Start { entry, ..leaf.start };
        return at_leaf(model, key, ResumePlan::of(start));
    }
    if to.is_here && to.returned_text_entry.is_none() {
        return at_leaf(model, key, leaf);
    }
    let Some(pi_can_navigate) = &model.pi_can_navigate else {
        return Command::Task(Work::CheckPi, NextStep::AskToResume(key, tree.clone(), at));
    };
    if tree.header.is_newer() && pi_can_navigate.is_err() {
        Command::show(unsupported_format(tree, leaf))
    } else if tree.is_partial {
        Command::warn("the session is still being read")
    } else {
        Command::show(question(model, (key, tree), at, &leaf, pi_can_navigate))
    }
}

/// The note about a [newer message](Tree::newer_message).
const NEWER_MESSAGE: &str =
    "The newest message is on another branch: settings or extension state were appended elsewhere.";

/// Resumes at the leaf. Asks first if a pi may be using the session, or if the newest message is on another branch.
fn at_leaf(model: &Model, key: SessionKey, leaf: ResumePlan) -> Command {
    let is_elsewhere = model.catalog[key].facts().is_mirrored();
    let newer = model.catalog[key].details().newer_message.map(|_| DocLine::warning(NEWER_MESSAGE));
    if !model.catalog.is_live(key) {
        let Some(newer) = newer else { return Command::Resume(leaf) };
        let note = "To resume after it, select it in the tree.";
        let open = Choice::new('o', "Resume", "at the leaf", Command::Resume(leaf));
        return Command::ask("Resume at the leaf?", vec![newer, DocLine::text(note)], vec![open, cancel()]);
    }
    let text = "Two running pi processes do not see each other's entries. Each continues on its own branch.";
    let mut lines = trash_and_archive::running_pi_warnings(model, &[key], Some(text));
    lines.extend(newer);
    let tree = model.tree.file(key).filter(|tree| !tree.is_partial && !is_elsewhere);
    let fork = tree.filter(|tree| !tree.header.is_newer()).and_then(|tree| {
        let at = Some(EntryId::of(tree, tree.leaf?));
        let request = Request::Fork { path: leaf.start.path.clone(), at, migrate: false };
        let request = Some(request.if_same(SessionIdentity::of(model.catalog.get(key)?)));
        let there = Command::Resume(ResumePlan { request, ..leaf.clone() });
        let what = "copy the path to the leaf into a fork; the running pi keeps this session";
        Some(Choice::new('n', "New session", what, there))
    });
    let open = Choice::new('o', "Resume anyway", "open this session in a second pi", Command::Resume(leaf));
    let choices = fork.into_iter().chain([open, cancel_by('c')]).collect();
    Command::ask(trash_and_archive::at_work(model, &[key]), lines, choices)
}

/// Asks how to resume.
fn question(
    model: &Model,
    (key, tree): (SessionKey, &Arc<Tree>),
    chosen: EntryIndex,
    leaf: &ResumePlan,
    pi_can_navigate: &Result<(), String>,
) -> Question<Command> {
    let to = resume::at(tree, chosen);
    let path = leaf.start.path.clone();
    let at = to.at.map(|at| EntryId::of(tree, at));
    let session = SessionIdentity::of(&model.catalog[key]);
    let text_of = to.returned_text_entry.map(|at| (tree.clone(), at));
    let mut choices = match pi_can_navigate {
        Ok(()) => choices_of_pi(tree, chosen, to, leaf),
        Err(_) => {
            let request = Request::MoveLeaf { path: path.clone(), to: at.clone(), migrate: false };
            let (here, request) = match to.is_here {
                true => ("in this session; pitree writes nothing", None),
                false => ("in this session; pitree appends one line that moves the leaf", Some(request)),
            };
            let request = request.map(|request| request.if_same(session.clone()));
            let plan = ResumePlan { request, returned_text_entry: text_of.clone(), ..leaf.clone() };
            vec![Choice::new('h', "Resume here", here, Command::Resume(plan))]
        }
    };
    let request = Some(Request::Fork { path: path.clone(), at, migrate: false }.if_same(session));
    let given = to.returned_text_entry.filter(|_| pi_can_navigate.is_ok()).and_then(|text_of| {
        resume::text_command(tree, text_of, &archive_paths::original(&path).unwrap_or_else(|| path.clone()))
    });
    let fork = match given {
        Some(first) => ResumePlan { request, ..leaf.with_message(first) },
        // pitree copies text that pi cannot give back itself.
        None => ResumePlan { request, returned_text_entry: text_of, ..leaf.clone() },
    };
    let new = "copy the path to this entry into a fork; this session is unchanged";
    let sees = ContextTarget { session: key, path, tree: tree.clone(), chosen, at: to.at };
    let what = "show each message the model will see, with token counts";
    if !tree.header.is_newer() {
        choices.push(Choice::new('n', "New session", new, Command::Resume(fork)));
    }
    let context = Choice::new('c', "Context", what, Command::ShowContext(sees));
    choices.push(Choice { stays: true, ..context });
    let mut lines = facts(model, tree, to, pi_can_navigate);
    if model.catalog.is_live(key) {
        let text = "A running pi does not see the new entries and continues from its own last entry.";
        lines.extend(trash_and_archive::running_pi_warnings(model, &[key], Some(text)));
    }
    Question::new("Resume from this entry", lines, choices)
}

/// Returns the choices if pi goes to the entry by itself, with or without a summary of the current branch.
fn choices_of_pi(tree: &Tree, chosen: EntryIndex, to: ResumePoint, leaf: &ResumePlan) -> Vec<Choice> {
    let goto = |summarize| leaf.with_message(resume::goto(tree, chosen, summarize));
    let here = "in this session; pi writes nothing until you send a message";
    let mut choices = vec![Choice::new('h', "Resume here", here, Command::Resume(goto(false)))];
    if left(tree, to.at).is_some() {
        let with = "the model summarizes the current branch first, as in pi's /tree";
        choices.push(Choice::new('s', "Summarize, then resume", with, Command::Resume(goto(true))));
    }
    choices
}

/// Asks whether to open a session that pitree cannot write to.
fn unsupported_format(tree: &Tree, leaf: ResumePlan) -> Question<Command> {
    let text = format!(
        "This session uses format version {}, which pitree {} does not support. pitree does not write to it, so pi opens it at its current leaf.",
        tree.header.version,
        env!("CARGO_PKG_VERSION"),
    );
    let open = Choice::new('o', "Open in pi", "at the current leaf", Command::Resume(leaf));
    Question::new("Unsupported session format", vec![DocLine::text(&text)], vec![open, cancel()])
}

/// Describes the state after resuming.
fn facts(model: &Model, tree: &Tree, to: ResumePoint, pi_can_navigate: &Result<(), String>) -> Vec<DocLine> {
    let seen = model_context(tree, to.at);
    let messages = match seen.sent.len() {
        0 => "The model will see an empty conversation.".into(),
        messages => {
            let from = if seen.compaction.is_some() { ", starting with a compaction summary" } else { "" };
            let last = seen.model.map(|(_, last)| last).filter(|last| !last.is_empty());
            let last = last.map(|last| format!(" Last model: {}.", model.short(&last))).unwrap_or_default();
            format!("The model will see {}{from}.{last}", count(messages, "message", "messages"))
        }
    };
    let mut lines = vec![DocLine::text(&messages)];
    if to.is_here && tree.newer_message.is_some() {
        lines.push(DocLine::warning(NEWER_MESSAGE));
    }
    if to.returned_text_entry.is_some() {
        let goes =
            if pi_can_navigate.is_ok() { "puts its text in the editor" } else { "copies its text to the clipboard" };
        let text = format!("pi resumes before this message and {goes} so that you can edit and resend it.");
        lines.push(DocLine::text(&text));
    }
    if let Err(reason) = pi_can_navigate
        && !to.is_here
    {
        lines.push(DocLine::text(&format!("pi cannot go to this entry by itself: {reason}.")));
    }
    if let Some((end, entries)) = left(tree, to.at) {
        let entries = count(entries, "entry", "entries");
        lines.push(DocLine::of(vec![
            Span::text(format!("The current branch ({entries}) stays in the tree. It ends with: ")),
            Span::dim(model.short(tree.nodes[end as usize].words())),
        ]));
    }
    lines
}

/// Returns the last entry with text on the current branch, and the number of entries only on that branch.
fn left(tree: &Tree, at: Option<EntryIndex>) -> Option<(EntryIndex, usize)> {
    let common = at.and_then(|at| tree.to_root(at).find(|&at| tree.is_active(at)));
    let branch = || tree.to_root(tree.leaf).take_while(move |&at| Some(at) != common);
    let says = |at: &EntryIndex| !tree.nodes[*at as usize].kind.is_bookkeeping();
    Some((branch().find(says)?, branch().count()))
}

/// Returns the command for Enter in a picker. `None` means the same as in the browser: to print a resume command, the
/// session may have to be changed first.
pub(crate) fn picked(model: &Model) -> Option<Command> {
    let (key, session) = model.target_session()?;
    let tree = model.tree.file(key);
    let meant = || model.target_entry().map(|(.., at)| at);
    let at = |tree: &Arc<Tree>| if model.focus == KeyContext::Sessions { tree.leaf } else { meant() };
    picked_entry(model, session, tree.map(|tree| (tree, at(tree))))
}

/// Returns the command that prints a session and, if its tree is open, an entry.
pub(crate) fn picked_entry(
    model: &Model,
    session: &Digest,
    entry: Option<(&Arc<Tree>, Option<EntryIndex>)>,
) -> Option<Command> {
    let answer = match model.settings.picker? {
        // pi must not open the mirror of another machine.
        PickerFormat::Path => {
            PickerOutput::Path(machine_paths::place(&session.path).map_or_else(|| session.path.clone(), Into::into))
        }
        PickerFormat::Id => PickerOutput::Id(session.header.id.clone()),
        PickerFormat::Entry => {
            let Some((tree, at)) = entry else {
                return Some(Command::warn("the session is still being read"));
            };
            match at.and_then(|at| tree.nodes[at as usize].id.as_ref()) {
                Some(id) => PickerOutput::Id(id.to_string()),
                None => return Some(Command::warn("no entry here has an id")),
            }
        }
        PickerFormat::Command => return None,
        PickerFormat::Json => PickerOutput::Json(Box::new(PickedEntry {
            path: session.path.clone(),
            id: session.header.id.clone(),
            cwd: session.header.cwd.clone(),
            name: session.name.as_deref().map(String::from),
            entry: entry.and_then(|(tree, at)| Some((tree.clone(), at?))),
            draft: None,
        })),
    };
    Some(Command::Print(answer))
}

/// Returns `true` if Enter chooses a session, even on a hit.
pub(crate) fn wants_session(model: &Model) -> bool {
    matches!(model.settings.picker, Some(PickerFormat::Path | PickerFormat::Id))
}

/// Forks at an entry for the picker's output. Like pi (1.6.0), at a user message it forks before the message and
/// returns its text for editing.
pub(crate) fn fork_for_picker(session: &Digest, tree: &Arc<Tree>, at: EntryIndex) -> Command {
    let to = resume::at(tree, at);
    let leaf = ResumePlan::at(session);
    let at = to.at.map(|at| EntryId::of(tree, at));
    let request = Some(Request::Fork { path: session.path.clone(), at, migrate: false });
    Command::Resume(ResumePlan {
        request,
        returned_text_entry: to.returned_text_entry.map(|at| (tree.clone(), at)),
        ..leaf
    })
}

/// Forks the session at the selected entry.
///
/// # Errors
/// No entry of a loaded session is selected.
pub(crate) fn fork(model: &Model) -> Flow {
    let (session, tree, at) = model.whole_entry()?;
    let session = &model.catalog[session];
    if model.settings.picker == Some(PickerFormat::Json) {
        return Ok(fork_for_picker(session, &tree, at));
    }
    let at = Some(EntryId::of(&tree, at));
    Ok(fork_of(Request::Fork { path: session.path.clone(), at, migrate: false }))
}

/// Creates a fork and selects it.
pub(crate) fn fork_of(request: Request) -> Command {
    Command::All(vec![Command::Focus(KeyContext::Tree), Command::Change(request, NextStep::Select)])
}
