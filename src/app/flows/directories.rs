//! Working directories: moves of sessions to another one, and resuming a session whose directory is missing, because a
//! project was moved or the session comes from another machine. The user resumes in the current or the new directory, or
//! copies the command.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{
    Choice, Flow, ListTarget, cancel, cancel_by, hidden_note, list_target, trash_and_archive, without_mirrored,
};
use crate::app::layers::Layers;
use crate::app::layers::dialogs::Prompt;
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::{Clip, Work};
use crate::app::model::Model;
use crate::app::widgets::LineEdit;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::catalog::moves::{MovePlan, MoveSelection, PlannedMove};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{ExpectedSession, MoveRequest, Request, SessionMove};
use crate::disk::locate::Located;
use crate::disk::relocations::RelocationCandidate;
use crate::pi::launch::Start;
use crate::render::DocLine;

/// Selects the sessions of a directory and of missing directories below it, except archived ones.
fn of_project(model: &Model, dir: &str) -> MoveSelection {
    let (sessions, _) = model.catalog.sessions_of_dir(dir, |dir| model.catalog.gone_dirs.contains(dir));
    MoveSelection { sessions, from: Some(dir.into()) }
}

/// Asks for the new directory of the marked sessions, the selected one or those of a project.
///
/// # Errors
/// No session is selected, or only archived ones.
pub(crate) fn ask_to_move(model: &Model) -> Flow {
    let catalog = &model.catalog;
    let selection = match list_target(model)? {
        ListTarget::Marked(sessions) => MoveSelection { sessions, from: None },
        ListTarget::Project(project) if !catalog.is_unlisted(project.key) => of_project(model, &project.cwd),
        ListTarget::Project(_) => return Err("select a session"),
        ListTarget::Session(key) => MoveSelection { sessions: vec![key], from: None },
    };
    let selection = MoveSelection { sessions: without_mirrored(model, selection.sessions)?, ..selection };
    let first = *selection.sessions.first().ok_or("all sessions are archived; bring them back first")?;
    let cwd = catalog[first].facts().cwd().to_owned();
    Ok(prompt(selection, &cwd))
}

/// Asks for the new directory. The line starts in the parent of the current one.
fn prompt(selection: MoveSelection, cwd: &str) -> Command {
    let sessions = count(selection.sessions.len(), "session", "sessions");
    let start = parent_as_text(cwd);
    Command::prompt(PromptPurpose::Move(selection), format!("move {sessions} to: "), &start)
}

/// Returns the initial text of a line for a directory: the parent of another one.
pub(super) fn parent_as_text(dir: &str) -> String {
    Path::new(dir).parent().map_or(String::new(), |parent| parent.join("").to_string_lossy().into_owned())
}

/// Returns the choice to move the sessions of a missing directory: to a candidate, or to a directory that is entered.
pub(super) fn choice(model: &Model, gone: &str, candidate: Option<&Path>) -> Option<Choice> {
    let selection = of_project(model, gone);
    let sessions = count(selection.sessions.len(), "session", "sessions");
    selection.sessions.first()?;
    let (what, then) = match candidate.map(Path::to_string_lossy) {
        Some(dir) => (format!("{sessions} to {}", shorten(&dir, &model.settings.home)), check(selection, &dir)),
        None => (format!("{sessions} to a directory that you enter"), prompt(selection, gone)),
    };
    Some(Choice::new('m', "Move project", what, then))
}

/// Checks the directory that was entered, then asks.
pub(crate) fn check(selection: MoveSelection, dir: &str) -> Command {
    Command::Task(Work::CheckDir(dir.into()), NextStep::Move(Box::new(selection)))
}

/// Asks whether to move sessions to a directory.
pub(crate) fn question(model: &Model, MoveSelection { sessions, from }: &MoveSelection, to: &str) -> Command {
    let catalog = &model.catalog;
    let plan = plan(catalog, &model.settings.located, (sessions, from.as_deref(), to));
    let keys: Vec<SessionKey> = plan.sessions.iter().map(|one| one.key).collect();
    let to_text = format!("to {}", shorten(to, &model.settings.home));
    let mut lines = trash_and_archive::titles(model, sessions);
    let hidden = if from.is_none() { hidden_note(model) } else { None };
    lines.extend(hidden);
    lines.push(DocLine::text(&to_text));
    lines.push(DocLine::dim("pi lists them there. The originals go to the trash; undo moves all back."));
    lines.extend(trash_and_archive::running_pi_warnings(model, &keys, None));
    let size = trash_and_archive::size(model, &keys);
    let request = |plan: &MovePlan| Command::ChangeFiles(request(catalog, &model.settings.located, plan));
    let alone = MovePlan { forks: Vec::new(), ..plan.clone() };
    let mut choices = vec![Choice::new('m', "Move", size, request(&alone))];
    if !plan.forks.is_empty() {
        let forks = count(plan.forks.len(), "fork elsewhere", "forks elsewhere");
        let what = format!("also set the new path in {forks}; pitree finds the parent without it, pi does not");
        choices.push(Choice::new('r', "Move and relink", what, request(&plan)));
    }
    choices.push(cancel());
    Command::ask_about_files("Move to another directory?", lines, choices)
}

/// Plans a move of sessions from a directory, if a project moves, to another one. Forks of sessions whose path stays the
/// same need no other path of their parent.
pub(crate) fn plan(
    catalog: &Catalog,
    located: &Located,
    (sessions, from, to): (&[SessionKey], Option<&str>, &str),
) -> MovePlan {
    let mut plan = catalog.plan_move(sessions, from, to);
    let moves = |one: &PlannedMove| {
        let path = catalog[one.key].file_path();
        (located.moved(&path, &one.cwd) != path).then_some(one.key)
    };
    let moving: HashSet<SessionKey> = plan.sessions.iter().filter_map(moves).collect();
    plan.forks.retain(|(_, parent)| moving.contains(parent));
    plan
}

/// Returns the request of a plan.
pub(crate) fn request(catalog: &Catalog, located: &Located, plan: &MovePlan) -> Request {
    let expected = |key: SessionKey| ExpectedSession::of(&catalog[key].facts());
    let path = |key: SessionKey| catalog[key].file_path();
    let sessions = plan.sessions.iter().map(|one| SessionMove {
        session: expected(one.key),
        cwd: one.cwd.clone(),
        parent: one.parent.map(path),
    });
    let relinked = plan.forks.iter().map(|&(fork, parent)| (expected(fork), path(parent))).collect();
    Request::Move(MoveRequest { located: located.clone(), sessions: sessions.collect(), relinked })
}

/// Maximum number of touched files that are searched in candidate directories.
const MAX_FILES: usize = 500;

/// Returns the work that searches for the new location.
pub(crate) fn find_relocations(model: &Model, Start { path, cwd, .. }: &Start) -> Work {
    let (touched, known) = relocation_hints(&model.catalog, model.catalog.key_of(path));
    Work::FindRelocations { gone: cwd.into(), touched, known }
}

/// Returns files that a session touched, and the working directories of other sessions.
pub(crate) fn relocation_hints(catalog: &Catalog, session: Option<SessionKey>) -> (Vec<String>, Vec<PathBuf>) {
    let session = session.map(|key| &catalog[key]);
    let touched = session.into_iter().flat_map(|session| session.details().touches.paths.iter());
    let known = catalog.dirs.iter().filter(|dir| !catalog.gone_dirs.contains(&***dir));
    (touched.take(MAX_FILES).map(String::from).collect(), known.map(|dir| PathBuf::from(&**dir)).collect())
}

/// Asks where to resume.
pub(crate) fn ask_where_to_resume(model: &Model, plan: &ResumePlan, candidates: &[RelocationCandidate]) -> Command {
    let home = &model.settings.home;
    let gone = &plan.start.cwd;
    let lines = vec![
        DocLine::warning(&shorten(gone, home)),
        DocLine::text("pi asks for confirmation before it resumes in another directory."),
    ];
    let moved = |(key, candidate): (char, &RelocationCandidate)| {
        let dir = candidate.dir.to_string_lossy();
        let why = match candidate.checked {
            0 => "repository with the same name".into(),
            of => format!("contains {} of {of} touched files", candidate.files),
        };
        let what = format!("{}: {why}; remembered for this project", shorten(&dir, home));
        let elsewhere = Command::remember_directory(plan.clone(), dir.into_owned());
        Choice::new(key, "Use directory", what, elsewhere)
    };
    let mut choices: Vec<Choice> = ('1'..='9').zip(candidates).map(moved).collect();
    choices.extend(choice(model, gone, candidates.first().map(|candidate| &*candidate.dir)));
    let here = Start { cwd: String::new(), ..plan.start.clone() };
    let resume = |start| Command::Resume(ResumePlan { start, ..plan.clone() });
    let started = match shorten(&model.settings.current_dir, home) {
        dir if dir.is_empty() => "in the directory where pitree was started".into(),
        dir => format!("in {dir}, where pitree was started"),
    };
    let fork = Start { forks: true, ..here.clone() };
    choices.push(Choice::new('h', "Resume here", started.clone(), resume(here.clone())));
    choices.push(Choice::new('f', "Fork here", format!("pi copies the session; {started}"), resume(fork)));
    let purpose = PromptPurpose::Directory(plan.start.clone());
    let prompt = Command::prompt(purpose, "directory: ", &parent_as_text(gone));
    let other = "remembered for all sessions of this project";
    choices.push(Choice::new('d', "Enter directory", other, prompt));
    let copy = Command::copy(Clip::Command(here));
    choices.push(Choice::new('y', "Copy command", "to run it elsewhere", copy));
    choices.push(cancel_by('c'));
    Command::ask("Working directory not found", lines, choices)
}

/// Resumes in a directory.
pub(crate) fn resume_in(plan: ResumePlan, dir: &Path) -> Command {
    let start = Start { cwd: dir.to_string_lossy().into_owned(), ..plan.start };
    Command::Resume(ResumePlan { start, ..plan })
}

/// Completes the directory prompt on top if its text is still `typed`, and lists the candidates.
pub(crate) fn complete_directory(
    layers: &mut Layers<Command>,
    (typed, path): (&str, &str),
    names: Vec<String>,
    home: &str,
) {
    let has_typed = |prompt: &&mut Prompt| prompt.purpose.is_directory() && prompt.line.value() == typed;
    let Some(prompt) = layers.top_as_mut().filter(has_typed) else { return };
    prompt.problem = names.is_empty().then(|| "no matching directory".into());
    if !names.is_empty() {
        // A trailing slash means that the directory is unique.
        let end = if path.ends_with('/') { "/" } else { "" };
        let short = if typed.starts_with('~') { shorten(path, home) + end } else { path.into() };
        prompt.line = LineEdit::new(&short);
    }
    prompt.options = if names.len() > 1 { names } else { Vec::new() };
}
