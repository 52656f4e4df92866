//! Moves of sessions to another working directory: the line for the directory, the question, and the request.

use std::collections::HashSet;
use std::path::Path;

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, Flow, ListTarget, cancel, delete, hidden_note, list_target, without_mirrored};
use crate::app::layers::answer::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::catalog::moves::{MovePlan, MoveSelection, PlannedMove};
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{ExpectedSession, MoveRequest, Request, SessionMove};
use crate::disk::locate::Located;
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
pub(crate) fn ask(model: &Model) -> Flow {
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
    let start = beside(cwd);
    Command::prompt(PromptPurpose::Move(selection), format!("move {sessions} to: "), &start)
}

/// Returns the initial text of a line for a directory: the parent of another one.
pub(super) fn beside(dir: &str) -> String {
    Path::new(dir).parent().map_or(String::new(), |parent| parent.join("").to_string_lossy().into_owned())
}

/// Returns the choice to move the sessions of a missing directory: to a candidate, or to a directory that is entered.
pub(super) fn choice(model: &Model, gone: &str, candidate: Option<&Path>) -> Option<Choice> {
    let selection = of_project(model, gone);
    let sessions = count(selection.sessions.len(), "session", "sessions");
    selection.sessions.first()?;
    let (what, then) = match candidate.map(Path::to_string_lossy) {
        Some(dir) => (format!("{sessions} to {}", shorten(&dir, &model.setting.home)), check(selection, &dir)),
        None => (format!("{sessions} to a directory that you enter"), prompt(selection, gone)),
    };
    Some(Choice::new('m', "Move project", what, then))
}

/// Checks the directory that was entered, then asks.
pub(crate) fn check(selection: MoveSelection, dir: &str) -> Command {
    Command::Errand(Work::CheckDir(dir.into()), NextStep::Move(Box::new(selection)))
}

/// Asks whether to move sessions to a directory.
pub(crate) fn question(model: &Model, MoveSelection { sessions, from }: &MoveSelection, to: &str) -> Command {
    let catalog = &model.catalog;
    let plan = plan(catalog, &model.setting.located, (sessions, from.as_deref(), to));
    let keys: Vec<SessionKey> = plan.sessions.iter().map(|one| one.key).collect();
    let to_text = format!("to {}", shorten(to, &model.setting.home));
    let mut lines = delete::titles(model, sessions);
    let hidden = if from.is_none() { hidden_note(model) } else { None };
    lines.extend(hidden.map(|hidden| DocLine::warning(&hidden)));
    lines.push(DocLine::text(&to_text));
    lines.push(DocLine::dim("pi lists them there. The originals go to the trash; undo moves all back."));
    lines.extend(delete::running_pi_signs(model, &keys, None));
    let size = delete::size(model, &keys);
    let request = |plan: &MovePlan| Command::ChangeFiles(request(catalog, &model.setting.located, plan));
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
