//! Resuming a session whose working directory is missing, because a project was moved or the session comes from another
//! machine. The user resumes in the current or the new directory, or copies the command.

use std::path::{Path, PathBuf};

use crate::app::command::{Command, ResumePlan};
use crate::app::flows::cancel_by;
use crate::app::layers::answer::PromptPurpose;
use crate::app::layers::dialogs::{Prompt, QuestionChoice};
use crate::app::layers::{Layer, Layers};
use crate::app::message::{Clip, Work};
use crate::app::model::Model;
use crate::app::widgets::line::LineEdit;
use crate::base::paths::shorten;
use crate::base::text::Tone;
use crate::disk::relocations::RelocationCandidate;
use crate::pi::launch::Start;
use crate::render::DocLine;

/// Maximum number of touched files that are searched in candidate directories.
const MOST_FILES: usize = 500;

/// Returns the work that searches for the new location.
pub(crate) fn look(model: &Model, Start { path, cwd, .. }: &Start) -> Work {
    let catalog = &model.catalog;
    let session = catalog.key_of(path).map(|key| &catalog[key]);
    let touched = session.into_iter().flat_map(|session| session.details().touches.paths.iter());
    let touched = touched.take(MOST_FILES).map(String::from).collect();
    let known = catalog.dirs.iter().filter(|dir| !catalog.gone_dirs.contains(&***dir));
    let known = known.map(|dir| PathBuf::from(&**dir)).collect();
    Work::FindRelocations { gone: cwd.into(), touched, known }
}

/// Asks where to resume.
pub(crate) fn ask(model: &Model, go_on: &ResumePlan, candidates: &[RelocationCandidate]) -> Command {
    let home = &model.setting.home;
    let gone = &go_on.start.cwd;
    let lines = vec![
        DocLine::new(Tone::Warning, &shorten(gone, home)),
        DocLine::new(Tone::Text, "pi asks for confirmation before it resumes in another directory."),
    ];
    let moved = |(key, candidate): (char, &RelocationCandidate)| {
        let dir = candidate.dir.to_string_lossy();
        let why = match candidate.of {
            0 => "repository with the same name".into(),
            of => format!("contains {} of {of} touched files", candidate.files),
        };
        let what = format!("{}: {why}; remembered for this project", shorten(&dir, home));
        let elsewhere = Command::remember_directory(go_on.clone(), dir.into_owned());
        QuestionChoice::new(key, "Use directory", what, elsewhere)
    };
    let mut choices: Vec<QuestionChoice<Command>> = ('1'..='9').zip(candidates).map(moved).collect();
    let here = Start { cwd: String::new(), ..go_on.start.clone() };
    let choice = Command::Resume(ResumePlan { start: here.clone(), ..go_on.clone() });
    let started = match shorten(&model.setting.here, home) {
        dir if dir.is_empty() => "in the directory where pitree was started".into(),
        dir => format!("in {dir}, where pitree was started"),
    };
    choices.push(QuestionChoice::new('h', "Resume here", started, choice));
    let purpose = PromptPurpose::Directory(go_on.start.clone());
    let prompt = Command::prompt(purpose, "directory: ", &start(gone));
    let other = "remembered for all sessions of this project";
    choices.push(QuestionChoice::new('d', "Enter directory", other, prompt));
    let copy = Command::copy(Clip::Command(here));
    choices.push(QuestionChoice::new('y', "Copy command", "to run it elsewhere", copy));
    choices.push(cancel_by('c'));
    Command::ask("Working directory not found", lines, choices)
}

/// Returns the initial text of a directory prompt.
fn start(gone: &str) -> String {
    Path::new(gone).parent().map_or(String::new(), |parent| format!("{}/", parent.display()))
}

/// Resumes in the new directory. An invalid directory keeps its prompt open.
pub(crate) fn go(layers: &mut Layers<Command>, go_on: ResumePlan, kept: Result<PathBuf, String>) -> Command {
    if let Some(prompt) = prompt(layers) {
        match kept {
            Ok(_) => drop(layers.0.pop()),
            Err(why) => {
                prompt.problem = Some(why);
                return Command::nothing();
            }
        }
    }
    match kept {
        Ok(dir) => {
            let start = Start { cwd: dir.to_string_lossy().into_owned(), ..go_on.start };
            Command::Resume(ResumePlan { start, ..go_on })
        }
        Err(why) => Command::ShowError("Cannot start pi", why),
    }
}

/// Returns the directory prompt if it is on top.
fn prompt(layers: &mut Layers<Command>) -> Option<&mut Prompt> {
    match layers.0.last_mut() {
        Some(Layer::Prompt(prompt)) if matches!(prompt.purpose, PromptPurpose::Directory(_)) => Some(prompt),
        _ => None,
    }
}

/// Completes the directory prompt on top if its text is still `typed`, and lists the candidates.
pub(crate) fn complete(layers: &mut Layers<Command>, (typed, path): (&str, &str), names: Vec<String>, home: &str) {
    let Some(prompt) = prompt(layers).filter(|prompt| prompt.line.value() == typed) else { return };
    prompt.problem = names.is_empty().then(|| "no matching directory".into());
    if !names.is_empty() {
        // A trailing slash means that the directory is unique.
        let end = if path.ends_with('/') { "/" } else { "" };
        let short = if typed.starts_with('~') { shorten(path, home) + end } else { path.into() };
        prompt.line = LineEdit::new(&short);
    }
    prompt.options = if names.len() > 1 { names } else { Vec::new() };
}
