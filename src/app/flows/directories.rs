//! Working directories: moves of sessions to another one, and resuming a session whose directory is missing, because a
//! project was moved or the session comes from another machine.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{
    Choice, Flow, ListTarget, cancel, hidden_note, list_target, trash_and_archive, without_mirrored,
};
use crate::app::layers::Layers;
use crate::app::layers::dialogs::Prompt;
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::resume_target::{ResumeDir, ResumeTarget};
use crate::app::widgets::LineEdit;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::catalog::moves::{MovePlan, MoveSelection, PlannedMove};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{ExpectedSession, MoveRequest, Request, SessionMove};
use crate::disk::locate::Located;
use crate::disk::relocations::RelocationCandidate;
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

/// Returns the work that checks the working directory of a session, and searches for its new location.
pub(crate) fn find_relocations(model: &Model, session: SessionKey, cwd: &str) -> Work {
    let (touched, known) = relocation_hints(&model.catalog, Some(session));
    Work::FindRelocations { gone: cwd.into(), touched, known }
}

/// Returns files that a session touched, and the working directories of other sessions.
pub(crate) fn relocation_hints(catalog: &Catalog, session: Option<SessionKey>) -> (Vec<String>, Vec<PathBuf>) {
    let session = session.map(|key| &catalog[key]);
    let touched = session.into_iter().flat_map(|session| session.details().touches.paths.iter());
    let known = catalog.dirs.iter().filter(|dir| !catalog.gone_dirs.contains(&***dir));
    (touched.take(MAX_FILES).map(String::from).collect(), known.map(|dir| PathBuf::from(&**dir)).collect())
}

/// Returns the directories in which a session can resume: the candidates, best first, and the one in which pitree was
/// started.
pub(crate) fn to_choose_from(model: &Model, candidates: Vec<RelocationCandidate>) -> Vec<ResumeDir> {
    let candidate = |candidate: RelocationCandidate| {
        let why = match candidate.checked {
            0 => "a repository with the same name".into(),
            of => format!("which contains {} of {of} touched files", candidate.files),
        };
        dir(model, candidate.dir.to_string_lossy().into_owned(), why)
    };
    let mut dirs: Vec<ResumeDir> = candidates.into_iter().map(candidate).collect();
    let why = "where pitree was started".into();
    dirs.push(match &model.settings.current_dir {
        none if none.is_empty() => ResumeDir { path: String::new(), shown: "the current directory".into(), why },
        started => dir(model, started.clone(), why),
    });
    dirs
}

/// Returns a directory to choose.
pub(crate) fn dir(model: &Model, path: String, why: String) -> ResumeDir {
    ResumeDir { shown: shorten(&path, &model.settings.home).into_owned(), path, why }
}

/// Returns the other choices if the working directory is missing: other directories, the chosen one from now on, and a
/// move of the project. `here` resumes in the chosen directory.
pub(crate) fn choices(model: &Model, target: &ResumeTarget, here: ResumePlan) -> Vec<Choice> {
    let Some([chosen, others @ ..]) = target.dirs.as_deref() else { return Vec::new() };
    let gone = &model.catalog[target.session].header.cwd;
    let other = |(at, key): (usize, char)| {
        let mut other = target.clone();
        other.dirs.iter_mut().for_each(|dirs| dirs.swap(0, at + 1));
        let sentence = format!("{}, {}", others[at].shown, others[at].why);
        Choice::new(key, "Directory", sentence, Command::AskToResume(other.into()))
    };
    let mut choices: Vec<Choice> = (0..others.len()).zip('1'..='9').map(other).collect();
    let purpose = PromptPurpose::Directory(target.clone().into());
    let prompt = Command::prompt(purpose, "directory: ", &parent_as_text(gone));
    choices.push(Choice { stays: true, ..Choice::new('d', "Enter directory", "another one", prompt) });
    if !chosen.path.is_empty() {
        let always = format!("resume in {} from now on, for all sessions of this project", chosen.shown);
        let remember = Work::Remember { gone: gone.clone(), dir: chosen.path.clone() };
        choices.push(Choice::new('r', "Remember", always, Command::Task(remember, NextStep::resume(here))));
    }
    let likely = Some(&chosen.path).filter(|path| **path != model.settings.current_dir && !path.is_empty());
    choices.extend(choice(model, gone, likely.map(Path::new)));
    choices
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
