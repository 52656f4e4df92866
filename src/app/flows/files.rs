//! The files that sessions touched: their list, the states of one, and what can be done with a state.

use std::path::Path;
use std::sync::Arc;

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, cancel, copy};
use crate::app::layers::files::{FileTextView, FilesView, SessionScope};
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::sessions::RowKey;
use crate::base::paths::shorten;
use crate::base::text::{Tone, clean};
use crate::catalog::SessionKey;
use crate::catalog::file_states::{
    FileAt, FileForm, FileTextRequest, FileWrite, ReplayedSession, StateRow, StateSource, StatesRequest, Written,
};
use crate::catalog::files::FilesRequest;
use crate::keymap::KeyContext;
use crate::render::DocLine;
use crate::session::replay::places::{runs_by_itself, safe_name};
use crate::session::replay::state::Exactness;
use crate::session::worktrees::Worktrees;

/// Returns the sessions of the selected row; in the tree and the preview, the open session.
pub(crate) fn selected_scope(model: &Model) -> Option<SessionScope> {
    if model.focus != KeyContext::Sessions
        && let Some((key, _)) = model.target_session()
    {
        return Some(SessionScope::Session(key));
    }
    match model.sessions.selected_key()? {
        RowKey::Session(key) => Some(SessionScope::Session(key)),
        RowKey::Project(key) => Some(SessionScope::Project(key)),
        RowKey::MissingParent(_) => None,
    }
}

fn sessions(model: &Model, scope: SessionScope) -> Vec<SessionKey> {
    match scope {
        SessionScope::All => model.catalog.keys().collect(),
        SessionScope::Session(key) => model.catalog.has(key).then_some(key).into_iter().collect(),
        SessionScope::Project(key) => {
            model.sessions.project(key).map_or(Vec::new(), |project| project.sessions.clone())
        }
    }
}

/// Sets the title of the view, and returns the work that lists the current files.
pub(crate) fn fill(model: &Model, view: &mut FilesView) -> Work {
    let home = &model.settings.home;
    // Paths are shown relative to the directory of the session or project.
    let (title, cwd) = match view.scope {
        SessionScope::All => ("of all sessions".into(), String::new()),
        SessionScope::Session(key) => match model.catalog.get(key) {
            Some(session) => (model.short_title(key), session.header.cwd.clone()),
            None => ("of a session that no longer exists".into(), String::new()),
        },
        SessionScope::Project(key) => {
            let cwd = model.sessions.project(key).map_or(String::new(), |project| project.cwd.to_string());
            (model.short(&shorten(&cwd, home)), cwd)
        }
    };
    view.title = title;
    view.catalog_version = model.catalog.version();
    let sessions = sessions(model, view.scope).into_iter().map(|key| model.catalog[key].clone()).collect();
    Work::ListFiles(Box::new(FilesRequest { sessions, worktrees: worktrees(model, view.scope), cwd }))
}

/// Returns the worktrees whose files are those of the main working tree. Files of one session are where it touched them.
fn worktrees(model: &Model, scope: SessionScope) -> Arc<Worktrees> {
    match scope {
        SessionScope::Session(_) => Arc::default(),
        SessionScope::All | SessionScope::Project(_) => model.catalog.worktrees().clone(),
    }
}

/// Returns the work that reads the states of a file.
pub(crate) fn states(model: &Model, view: &FilesView, file: &str) -> Work {
    let replayed = |key: SessionKey| {
        let tree = model.tree.file(key).filter(|tree| !tree.is_partial).cloned();
        ReplayedSession { key, session: model.catalog[key].clone(), tree }
    };
    let sessions = sessions(model, view.scope).into_iter().map(replayed).collect();
    let worktrees = worktrees(model, view.scope);
    Work::ListStates(Box::new(StatesRequest { file: file.into(), sessions, worktrees }))
}

/// Returns the selected state with its file and its session.
fn selected<'a>(model: &Model, view: &'a FilesView) -> Option<(&'a StateRow, FileAt)> {
    let state = view.selected_state()?;
    Some((state, at(model, view, state)?))
}

fn at(model: &Model, view: &FilesView, state: &StateRow) -> Option<FileAt> {
    let session = model.catalog.get(state.entry.session)?.file_path();
    let tree = view.trees.get(&state.entry.session)?.clone();
    Some(FileAt { session, tree, entry: state.entry.at, file: state.file.to_string() })
}

/// A form in which the selected state is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownForm {
    Content,
    /// The difference from the marked state, or else from the state before.
    Difference,
    Disk,
}

/// The message if no state is selected.
pub(crate) const NO_STATE: &str = "select a state below a file; unfold the file first";

/// Creates the view of a state of the selected file.
///
/// # Errors
/// There is no state.
pub(crate) fn text(
    model: &Model,
    view: &FilesView,
    state: Option<&StateRow>,
    form: ShownForm,
) -> Result<FileTextView, &'static str> {
    let (state, here) = state.and_then(|state| Some((state, at(model, view, state)?))).ok_or(NO_STATE)?;
    let file = view.selected_file().ok_or(NO_STATE)?;
    let marked = view.marked_state().filter(|marked| marked.entry != state.entry);
    let marked = marked.and_then(|marked| Some((marked, at(model, view, marked)?)));
    let this = describe(model, state);
    let after = StateSource::After(here.clone());
    let (form, subject) = match (form, marked) {
        (ShownForm::Content, _) => (FileForm::Content(here.clone()), this),
        (ShownForm::Disk, _) => (FileForm::Difference([after, StateSource::Disk]), format!("from {this} to the disk")),
        (ShownForm::Difference, Some((marked, before))) => {
            let subject = format!("from {} to {this}", describe(model, marked));
            (FileForm::Difference([StateSource::After(before), after]), subject)
        }
        (ShownForm::Difference, None) => {
            (FileForm::Difference([StateSource::Before(here.clone()), after]), format!("by {this}"))
        }
    };
    let request = FileTextRequest { file: file.path.clone(), form };
    let mut text = FileTextView::new(file.shown.clone(), subject, request, &model.settings.glyphs);
    text.at = Some((state.entry, here));
    Ok(text)
}

/// Describes a state in words, cleaned.
fn describe(model: &Model, state: &StateRow) -> String {
    let date = state.time.and_then(|time| model.settings.date(time));
    format!("{} {}", clean(&state.touch), date.as_deref().unwrap_or("?"))
}

/// Asks for the path of a new file with the content of the selected state.
pub(crate) fn ask_where(model: &Model, view: &FilesView) -> Command {
    let Some((state, here)) = selected(model, view) else { return Command::warn(NO_STATE) };
    let question = match state.exactness {
        Exactness::Exact => "write to: ",
        Exactness::Possible => "write possibly changed content to: ",
        Exactness::Partial => "write the known lines to: ",
        Exactness::Unknown | Exactness::Removed => return Command::warn(no_content(state)),
    };
    // The name is a suggestion in the current directory: the session does not choose the place.
    let name = safe_name(here.file.rsplit('/').next().unwrap_or_default());
    Command::prompt(PromptPurpose::WriteFile(Box::new(here)), question, &name)
}

/// Copies the content of the selected state, or the path of the selected file.
pub(crate) fn copy_selected(model: &Model, view: &FilesView) -> Command {
    match (selected(model, view), view.selected_file()) {
        (Some((state, _)), _) if matches!(state.exactness, Exactness::Unknown | Exactness::Removed) => {
            Command::warn(no_content(state))
        }
        (Some((_, here)), _) => Command::Task(Work::CopyFile(here), NextStep::Nothing),
        (None, Some(file)) => copy::exact_path(Path::new(&file.path), None),
        (None, None) => Command::warn("there is nothing to copy"),
    }
}

fn no_content(state: &StateRow) -> &'static str {
    match state.exactness {
        Exactness::Removed => "the file was removed; select an earlier state",
        _ => "the content of this state is unknown",
    }
}

/// Returns the command that writes the content to the typed path.
pub(crate) fn write(at: FileAt, path: &str) -> Command {
    match path.trim() {
        "" => Command::warn("no path, nothing written"),
        path => {
            let write = FileWrite { at, to: path.into(), replaces: false };
            Command::Task(Work::WriteFile(Box::new(write)), NextStep::Nothing)
        }
    }
}

/// Returns the command after the content was written, or after the path proved to be taken.
pub(crate) fn written(mut write: FileWrite, result: Result<Written, String>) -> Command {
    match result {
        Ok(Written::New(path)) => Command::Notice(Tone::Active, format!("wrote {}", path.display())),
        Ok(Written::Taken(path)) => {
            write.replaces = true;
            let replace = Command::Task(Work::WriteFile(Box::new(write)), NextStep::Nothing);
            let path = path.display().to_string();
            if runs_by_itself([&*path]) {
                let text = format!("Programs run from {path} by themselves. An existing file is replaced.");
                let write = Choice::new('w', "Write anyway", "the session chose its content", replace);
                return Command::ask("Write file?", vec![DocLine::warning(&text)], vec![cancel(), write]);
            }
            let replace = Choice::new('r', "Replace", "its content is lost", replace);
            let text = format!("{path} exists. A symbolic link is replaced itself, its target is kept.");
            Command::ask("Replace file?", vec![DocLine::text(&text)], vec![cancel(), replace])
        }
        Err(error) => Command::ShowError("Cannot write file", error),
    }
}
