//! Moves to the archive and back, with their questions.

use std::path::PathBuf;

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{Choice, Flow, ListTarget, cancel, delete, hidden_note, list_target, without_mirrored};
use crate::app::model::Model;
use crate::base::paths::shorten;
use crate::catalog::SessionKey;
use crate::changes::{FileSnapshot, Request};
use crate::render::DocLine;

/// The consequence of a move to the archive.
const UNLISTED: &str = "pi's /resume will not list them. pitree still lists, searches and shows them.";

/// Asks whether to archive the marked sessions, the selected one or those of a project, or to bring archived ones back.
///
/// # Errors
/// No session is selected.
pub fn ask(model: &Model) -> Flow {
    let catalog = &model.catalog;
    let hidden = hidden_note(model);
    let (chosen, family) = match list_target(model)? {
        ListTarget::Marked(marked) => (marked, Vec::new()),
        ListTarget::Project(project) => (project.sessions.clone(), Vec::new()),
        ListTarget::Session(key) => (vec![key], catalog.families().family(key)),
    };
    let is_archived = |key: &SessionKey| catalog[*key].facts().is_archived();
    let is_link = |key: &SessionKey| catalog[*key].facts().is_link();
    let mut all = without_mirrored(model, catalog.with_subagents(&chosen))?;
    let family: Vec<SessionKey> = family.into_iter().filter(|&key| !catalog[key].facts().is_mirrored()).collect();
    all.retain(|key| !is_link(key));
    if all.is_empty() {
        return Err("this is a symbolic link; archive its target instead");
    }
    let (archived, others): (Vec<SessionKey>, Vec<SessionKey>) = all.iter().partition(|key| is_archived(key));
    let (of_family, rest): (Vec<SessionKey>, Vec<SessionKey>) =
        family.iter().filter(|key| !is_link(key)).partition(|key| is_archived(key));
    let mut choices = Vec::new();
    if !others.is_empty() {
        choices.push(to_archive(model, 'a', "Move to archive", &others));
    }
    if !others.is_empty() && rest.len() > others.len() {
        choices.push(to_archive(model, 'f', "Archive whole family", &rest));
    }
    if !archived.is_empty() {
        choices.push(back(model, 'b', "Bring back", &archived));
    }
    if !archived.is_empty() && of_family.len() > archived.len() {
        choices.push(back(model, 'w', "Bring whole family back", &of_family));
    }
    choices.push(cancel());
    let mut lines = delete::titles(model, &chosen);
    lines.extend(hidden.map(|hidden| DocLine::warning(&hidden)));
    if !others.is_empty() {
        lines.push(DocLine::text(UNLISTED));
        lines.extend(delete::running_pi_signs(model, &others, None));
    }
    let title = if others.is_empty() { "Bring back from the archive?" } else { "Move to the archive?" };
    Ok(Command::ask_about_files(title, lines, choices))
}

/// Asks again because some files changed.
pub(crate) fn ask_again(model: &Model, files: &[FileSnapshot]) -> Command {
    let known = files.iter().filter_map(|file| model.catalog.key_of(&file.path));
    let sessions: Vec<SessionKey> = known.filter(|&key| model.catalog.has(key)).collect();
    if sessions.is_empty() {
        return Command::warn("these sessions no longer exist");
    }
    let mut lines = delete::titles(model, &sessions);
    lines.push(DocLine::warning("Sessions changed since they were read; no files were moved."));
    lines.extend(delete::running_pi_signs(model, &sessions, None));
    let choices = vec![to_archive(model, 'a', "Move to archive", &sessions), cancel()];
    Command::ask("Move to the archive?", lines, choices)
}

fn to_archive(model: &Model, key: char, word: &'static str, sessions: &[SessionKey]) -> Choice {
    let files = sessions.iter().map(|&key| FileSnapshot::listed(&model.catalog[key].facts())).collect();
    Choice::new(key, word, delete::size(model, sessions), Command::ChangeFiles(Request::Archive { files }))
}

fn back(model: &Model, key: char, word: &'static str, sessions: &[SessionKey]) -> Choice {
    let files = sessions.iter().map(|&key| model.catalog[key].file_path()).collect();
    let change = Command::Change(Request::Unarchive { files }, NextStep::Select);
    Choice::new(key, word, delete::size(model, sessions), change)
}

/// Asks whether to bring archived sessions back before a change of them.
pub(crate) fn ask_first(model: &Model, paths: &[PathBuf], request: Request, after: NextStep) -> Command {
    let change = Command::Change(request.after_unarchive(), after);
    question(model, paths, "bring back from the archive, then apply the change", change)
}

/// Asks whether to bring an archived session back before pi resumes it.
pub(crate) fn ask_to_resume(model: &Model, plan: ResumePlan) -> Command {
    let files = vec![plan.start.path.clone()];
    let change = Command::Change(Request::Unarchive { files: files.clone() }, NextStep::resume(plan));
    question(model, &files, "bring back from the archive, then resume in pi", change)
}

fn question(model: &Model, paths: &[PathBuf], what: &'static str, change: Command) -> Command {
    let sessions: Vec<SessionKey> = paths.iter().filter_map(|path| model.catalog.key_of(path)).collect();
    let mut lines = delete::titles(model, &sessions);
    if let [session] = sessions[..] {
        let original = model.catalog[session].real_path().to_string_lossy();
        let text = format!("The file returns to {}.", shorten(&original, &model.setting.home));
        lines.push(DocLine::text(&text));
    }
    let title = if paths.len() == 1 { "This session is archived" } else { "These sessions are archived" };
    Command::ask(title, lines, vec![Choice::new('b', "Bring back and continue", what, change), cancel()])
}
