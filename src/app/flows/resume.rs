//! Resuming in pi at a session or at any entry. pi goes to the entry by itself; if it cannot, pitree first moves the
//! leaf. A dialog explains the choices. The chosen [`ResumePlan`] then runs step by step.
//!
//! Also forks at an entry, and the choice in a picker (`--print`), in which Enter prints instead of starting pi.

use std::sync::Arc;

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{Choice, Flow, NO_SESSION, cancel, directories, trash_and_archive};
use crate::app::layers::context::ContextTarget;
use crate::app::layers::dialogs::Question;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::tree::rows::RowItem;
use crate::app::resume_target::ResumeTarget;
use crate::app::settings::{PickedEntry, PickerFormat, PickerOutput};
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::Span;
use crate::base::{archive_paths, machine_paths};
use crate::catalog::SessionKey;
use crate::changes::{Request, SessionIdentity};
use crate::keymap::KeyContext;
use crate::pi::launch::Start;
use crate::render::DocLine;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
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
    let Some((key, _)) = model.target_session() else { return Command::nothing() };
    match model.target_entry() {
        None if model.focus == KeyContext::Tree && !is_start => Command::nothing(),
        entry => ask(model, ResumeTarget::new(key, entry.map(|(_, tree, at)| (tree, at)))),
    }
}

/// Returns the command for Enter on an entry of any session.
pub(crate) fn at_entry(model: &Model, key: SessionKey, tree: &Arc<Tree>, at: EntryIndex) -> Command {
    let Some(session) = model.catalog.get(key) else { return Command::warn(NO_SESSION) };
    let picked = picked_entry(model, session, Some((tree, Some(at))));
    picked.unwrap_or_else(|| ask(model, ResumeTarget::new(key, Some((tree.clone(), at)))))
}

/// The note about a [newer message](Tree::newer_message).
const NEWER_MESSAGE: &str =
    "The newest message is on another branch: settings or extension state were appended elsewhere.";

/// Resumes at a target. All questions are in one box, which is skipped if there is nothing to ask: pi opens the session
/// at its leaf in its working directory. What the box depends on is found out first.
pub(crate) fn ask(model: &Model, target: ResumeTarget) -> Command {
    let Some(session) = model.catalog.get(target.session) else { return Command::warn(NO_SESSION) };
    let is_mirrored = session.facts().is_mirrored();
    if let Some((tree, ..)) = target.other_entry().filter(|_| !is_mirrored) {
        if model.pi_can_navigate.is_none() {
            return Command::Task(Work::CheckPi, NextStep::AskToResume(target.into()));
        }
        if tree.is_partial {
            return Command::warn("the session is still being read");
        }
    }
    let settings = &model.settings;
    if let (Some(pi), None, None) = (model.catalog.pi_here(target.session), settings.picker, target.has_terminal) {
        return Command::Task(Work::GoToTerminal(pi.clone(), false), NextStep::AskToResume(target.into()));
    }
    let cwd = &session.header.cwd;
    let needs_dir = !(is_mirrored || settings.demo || settings.picker.is_some() || cwd.is_empty());
    if needs_dir && target.dirs.is_none() {
        let work = directories::find_relocations(model, target.session, cwd);
        return Command::Task(work, NextStep::AskToResume(target.into()));
    }
    let can_start = target.dirs.as_ref().is_none_or(Vec::is_empty) && !archive_paths::is_archived(&session.path);
    let is_quiet = !model.catalog.is_live(target.session) && session.details().newer_message.is_none();
    match target.other_entry() {
        None if can_start && is_quiet => Command::Resume(ResumePlan::at(session)),
        Some((tree, chosen, _)) if is_mirrored && can_start && is_quiet => {
            Command::Resume(ResumePlan::of(remote_start(session, tree, chosen)))
        }
        _ => Command::show(question(model, &target, session)),
    }
}

/// Goes to the terminal of the pi that has the selected session open.
///
/// # Errors
/// No session is selected, or no pi reports that it has it open.
pub(crate) fn go_to_terminal(model: &Model) -> Flow {
    let (key, session) = model.target_session().ok_or(NO_SESSION)?;
    match (model.catalog.pi_here(key), machine_paths::machine(&session.path)) {
        (Some(pi), _) => Ok(Command::Task(Work::GoToTerminal(pi.clone(), true), NextStep::Nothing)),
        (None, Some(machine)) if model.catalog.is_live(key) => {
            Ok(Command::warn(format!("the terminal of this pi is on {machine}")))
        }
        _ => Err("no pi reports that it has this session open"),
    }
}

/// Returns the start at an entry of a session of another machine.
fn remote_start(session: &Digest, tree: &Tree, chosen: EntryIndex) -> Start {
    let entry = tree.nodes[chosen as usize].id.as_deref().map(String::from);
    Start { entry, ..ResumePlan::at(session).start }
}

/// Returns the box that asks where to resume, which names all that the choice changes.
fn question(model: &Model, target: &ResumeTarget, session: &SharedLazySession) -> Question<Command> {
    let (key, home) = (target.session, &model.settings.home);
    let is_live = model.catalog.is_live(key);
    let unknown = Err("pi was not asked".to_owned());
    let pi_can_navigate = model.pi_can_navigate.as_ref().unwrap_or(&unknown);
    let entry = target.other_entry();
    let is_readable = !session.header.is_newer() || pi_can_navigate.is_ok();
    let mut lines = Vec::new();
    let mut ways = match entry {
        Some((tree, chosen, _)) if session.facts().is_mirrored() => {
            vec![Way::here("on its machine", ResumePlan::of(remote_start(session, tree, chosen)))]
        }
        Some((tree, chosen, to)) if is_readable => {
            lines.extend(facts(model, tree, to, pi_can_navigate));
            at_other_entry((tree, chosen, to), session, pi_can_navigate)
        }
        _ => {
            if entry.is_some() {
                lines.push(DocLine::text(&unsupported_format(session)));
            } else if session.details().newer_message.is_some() {
                lines.push(DocLine::warning(NEWER_MESSAGE));
                lines.push(DocLine::text("To resume after it, select it in the tree."));
            }
            at_leaf(model, target, session)
        }
    };
    if ways.iter().any(|way| way.plan.request.as_ref().is_some_and(Request::migrates)) {
        let text = "pitree first migrates the session to format version 3; the original goes to the trash.";
        lines.push(DocLine::text(text));
    }
    if archive_paths::is_archived(&session.path) {
        let original = session.real_path().to_string_lossy();
        let text = format!("This session is archived; its file first returns to {}.", shorten(&original, home));
        lines.push(DocLine::text(&text));
        ways.iter_mut().for_each(|way| way.plan.bring_back_first());
    }
    let dir = target.dirs.iter().flatten().next();
    if let Some(dir) = dir {
        lines.push(DocLine::warning(&format!("Working directory not found: {}", shorten(&session.header.cwd, home))));
        lines.push(DocLine::text("pi asks for confirmation before it resumes in another directory."));
        lines.push(DocLine::text(&format!("Chosen: {}, {}.", dir.shown, dir.why)));
        for way in &mut ways {
            way.plan.start.cwd.clone_from(&dir.path);
            way.sentence = format!("in {}, this time; {}", dir.shown, way.sentence);
        }
        ways.iter_mut().filter(|way| way.key == HERE).for_each(|way| way.word = "Resume");
    }
    if is_live {
        let text = "Two running pi processes do not see each other's entries. Each continues on its own branch.";
        lines.extend(trash_and_archive::running_pi_warnings(model, &[key], Some(text)));
        ways.iter_mut().filter(|way| way.key == HERE).for_each(|way| way.word = "Resume anyway");
        // Beside a running pi, a fork is the harmless choice.
        ways.sort_by_key(|way| way.key != FORK);
    }
    let always = ways.iter().find(|way| way.key == HERE).map(|way| way.plan.clone());
    let resume = |way: Way| Choice::new(way.key, way.word, way.sentence, Command::Resume(way.plan));
    let mut choices: Vec<Choice> = ways.into_iter().map(resume).collect();
    choices.extend(always.into_iter().flat_map(|plan| directories::choices(model, target, plan)));
    if let Some((tree, chosen, to)) = entry {
        let path = session.path.clone();
        let sees = ContextTarget { session: key, path, tree: tree.clone(), chosen, at: to.at };
        let what = "show each message the model will see, with token counts";
        let context = Choice::new('c', "Context", what, Command::ShowContext(sees));
        choices.push(Choice { stays: true, ..context });
    }
    if let (Some(pi), Some(true)) = (model.catalog.pi_here(key), target.has_terminal) {
        let go = Command::Task(Work::GoToTerminal(pi.clone(), true), NextStep::Nothing);
        choices.insert(0, Choice::new('t', "Go to its terminal", format!("where pi (pid {}) runs", pi.pid), go));
    }
    choices.push(cancel());
    let title = match (is_live, entry) {
        (true, _) => trash_and_archive::at_work(model, &[key]),
        (false, Some(_)) => "Resume from this entry",
        (false, None) => "Resume in pi",
    };
    Question::new(title, lines, choices)
}

/// The key of the choice that resumes in the session.
const HERE: char = 'h';
/// The key of the choice that resumes in a fork.
const FORK: char = 'f';

/// A way to resume: a choice of the box, and its plan.
struct Way {
    key: char,
    word: &'static str,
    sentence: String,
    plan: ResumePlan,
}

impl Way {
    fn new(key: char, word: &'static str, sentence: &str, plan: ResumePlan) -> Self {
        Self { key, word, sentence: sentence.into(), plan }
    }

    fn here(sentence: &str, plan: ResumePlan) -> Self {
        Self::new(HERE, "Resume here", sentence, plan)
    }

    fn fork(plan: ResumePlan) -> Self {
        Self::new(FORK, "Fork", "a new session with a copy of the path; this one is unchanged", plan)
    }
}

/// Returns the ways to resume at an entry other than the leaf.
fn at_other_entry(
    (tree, chosen, to): (&Arc<Tree>, EntryIndex, ResumePoint),
    session: &Digest,
    pi_can_navigate: &Result<(), String>,
) -> Vec<Way> {
    let leaf = ResumePlan::at(session);
    let path = leaf.start.path.clone();
    let at = to.at.map(|at| EntryId::of(tree, at));
    let migrate = session.header.is_old();
    let same = |request: Request| Some(request.if_same(SessionIdentity::of(session)));
    let returned_text_entry = to.returned_text_entry.map(|at| (tree.clone(), at));
    let mut ways = Vec::new();
    if pi_can_navigate.is_ok() {
        let goto = |summarize| leaf.with_message(resume::goto(tree, chosen, summarize));
        ways.push(Way::here("pi writes nothing until you send a message", goto(false)));
        if left(tree, to.at).is_some() {
            let with = "the model summarizes the current branch first, as in pi's /tree";
            ways.push(Way::new('s', "Summarize, then resume", with, goto(true)));
        }
    } else {
        let request = Request::MoveLeaf { path: path.clone(), to: at.clone(), migrate };
        let (here, request) = match to.is_here {
            true => ("pitree writes nothing", None),
            false => ("pitree appends one line that moves the leaf", same(request)),
        };
        let plan = ResumePlan { request, returned_text_entry: returned_text_entry.clone(), ..leaf.clone() };
        ways.push(Way::here(here, plan));
    }
    if !session.header.is_newer() {
        let given = to.returned_text_entry.filter(|_| pi_can_navigate.is_ok()).and_then(|text_of| {
            resume::text_command(tree, text_of, &archive_paths::original(&path).unwrap_or_else(|| path.clone()))
        });
        let request = same(Request::Fork { path, at, migrate });
        ways.push(Way::fork(match given {
            Some(first) => ResumePlan { request, ..leaf.with_message(first) },
            // pitree copies text that pi cannot give back itself.
            None => ResumePlan { request, returned_text_entry, ..leaf },
        }));
    }
    ways
}

/// Returns the ways to resume at the leaf. pi makes the fork if the tree was not read, or if the working directory is
/// missing: it writes the new one to the fork.
fn at_leaf(model: &Model, target: &ResumeTarget, session: &Digest) -> Vec<Way> {
    let leaf = ResumePlan::at(session);
    let mut ways = vec![Way::here("pi opens the session at its leaf", leaf.clone())];
    if !session.facts().is_mirrored() && !session.header.is_newer() {
        let tree = model.tree.file(target.session).filter(|tree| !tree.is_partial);
        let tree = tree.filter(|_| target.dirs.as_ref().is_none_or(Vec::is_empty));
        let at = tree.and_then(|tree| Some(EntryId::of(tree, tree.leaf?)));
        let request = at.map(|at| {
            let (path, migrate) = (leaf.start.path.clone(), session.header.is_old());
            Request::Fork { path, at: Some(at), migrate }.if_same(SessionIdentity::of(session))
        });
        let start = Start { forks: request.is_none(), ..leaf.start };
        ways.push(Way::fork(ResumePlan { request, ..ResumePlan::of(start) }));
    }
    ways
}

/// Explains why pitree cannot resume at another entry.
fn unsupported_format(session: &Digest) -> String {
    format!(
        "This session uses format version {}, which pitree {} does not support. pitree does not write to it, so pi opens it at its current leaf.",
        session.header.version,
        env!("CARGO_PKG_VERSION"),
    )
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

/// Returns the choices of a new session that a request creates: only create it, or also resume it. `close` closes the view
/// first.
pub(crate) fn fork_choices(session: &Digest, request: &Request, sentence: &str, close: &Command) -> Vec<Choice> {
    let then = |command| Command::All(vec![close.clone(), command]);
    let resume = ResumePlan { request: Some(request.clone()), ..ResumePlan::at(session) };
    vec![
        Choice::new('f', "Fork", sentence, then(Command::Change(request.clone(), NextStep::Select))),
        Choice::new('r', "Fork and resume", "then start pi there", then(Command::Resume(resume))),
    ]
}

/// Creates a fork and selects it.
pub(crate) fn fork_of(request: Request) -> Command {
    Command::All(vec![Command::Focus(KeyContext::Tree), Command::Change(request, NextStep::Select)])
}
