//! Resuming a session whose working directory is missing, because a project was moved or the session comes from another
//! machine. The user resumes in the current or the new directory, or copies the command.

use std::path::{Path, PathBuf};

use crate::app::command::{Command, ResumePlan};
use crate::app::flows::{Choice, cancel_by, move_sessions};
use crate::app::layers::Layers;
use crate::app::layers::answer::PromptPurpose;
use crate::app::layers::dialogs::Prompt;
use crate::app::message::{Clip, Work};
use crate::app::model::Model;
use crate::app::widgets::line::LineEdit;
use crate::base::paths::shorten;
use crate::catalog::{Catalog, SessionKey};
use crate::disk::relocations::RelocationCandidate;
use crate::pi::launch::Start;
use crate::render::DocLine;

/// Maximum number of touched files that are searched in candidate directories.
const MOST_FILES: usize = 500;

/// Returns the work that searches for the new location.
pub(crate) fn look(model: &Model, Start { path, cwd, .. }: &Start) -> Work {
    let (touched, known) = hints(&model.catalog, model.catalog.key_of(path));
    Work::FindRelocations { gone: cwd.into(), touched, known }
}

/// Returns files that a session touched, and the working directories of other sessions.
pub(crate) fn hints(catalog: &Catalog, session: Option<SessionKey>) -> (Vec<String>, Vec<PathBuf>) {
    let session = session.map(|key| &catalog[key]);
    let touched = session.into_iter().flat_map(|session| session.details().touches.paths.iter());
    let known = catalog.dirs.iter().filter(|dir| !catalog.gone_dirs.contains(&***dir));
    (touched.take(MOST_FILES).map(String::from).collect(), known.map(|dir| PathBuf::from(&**dir)).collect())
}

/// Asks where to resume.
pub(crate) fn ask(model: &Model, plan: &ResumePlan, candidates: &[RelocationCandidate]) -> Command {
    let home = &model.setting.home;
    let gone = &plan.start.cwd;
    let lines = vec![
        DocLine::warning(&shorten(gone, home)),
        DocLine::text("pi asks for confirmation before it resumes in another directory."),
    ];
    let moved = |(key, candidate): (char, &RelocationCandidate)| {
        let dir = candidate.dir.to_string_lossy();
        let why = match candidate.of {
            0 => "repository with the same name".into(),
            of => format!("contains {} of {of} touched files", candidate.files),
        };
        let what = format!("{}: {why}; remembered for this project", shorten(&dir, home));
        let elsewhere = Command::remember_directory(plan.clone(), dir.into_owned());
        Choice::new(key, "Use directory", what, elsewhere)
    };
    let mut choices: Vec<Choice> = ('1'..='9').zip(candidates).map(moved).collect();
    choices.extend(move_sessions::choice(model, gone, candidates.first().map(|candidate| &*candidate.dir)));
    let here = Start { cwd: String::new(), ..plan.start.clone() };
    let resume = |start| Command::Resume(ResumePlan { start, ..plan.clone() });
    let started = match shorten(&model.setting.here, home) {
        dir if dir.is_empty() => "in the directory where pitree was started".into(),
        dir => format!("in {dir}, where pitree was started"),
    };
    let fork = Start { forks: true, ..here.clone() };
    choices.push(Choice::new('h', "Resume here", started.clone(), resume(here.clone())));
    choices.push(Choice::new('f', "Fork here", format!("pi copies the session; {started}"), resume(fork)));
    let purpose = PromptPurpose::Directory(plan.start.clone());
    let prompt = Command::prompt(purpose, "directory: ", &move_sessions::beside(gone));
    let other = "remembered for all sessions of this project";
    choices.push(Choice::new('d', "Enter directory", other, prompt));
    let copy = Command::copy(Clip::Command(here));
    choices.push(Choice::new('y', "Copy command", "to run it elsewhere", copy));
    choices.push(cancel_by('c'));
    Command::ask("Working directory not found", lines, choices)
}

/// Resumes in a directory.
pub(crate) fn go(plan: ResumePlan, dir: &Path) -> Command {
    let start = Start { cwd: dir.to_string_lossy().into_owned(), ..plan.start };
    Command::Resume(ResumePlan { start, ..plan })
}

/// Completes the directory prompt on top if its text is still `typed`, and lists the candidates.
pub(crate) fn complete(layers: &mut Layers<Command>, (typed, path): (&str, &str), names: Vec<String>, home: &str) {
    let is_it = |prompt: &&mut Prompt| prompt.purpose.is_directory() && prompt.line.value() == typed;
    let Some(prompt) = layers.top_as_mut().filter(is_it) else { return };
    prompt.problem = names.is_empty().then(|| "no matching directory".into());
    if !names.is_empty() {
        // A trailing slash means that the directory is unique.
        let end = if path.ends_with('/') { "/" } else { "" };
        let short = if typed.starts_with('~') { shorten(path, home) + end } else { path.into() };
        prompt.line = LineEdit::new(&short);
    }
    prompt.options = if names.len() > 1 { names } else { Vec::new() };
}
