//! The files that sessions touched: their list, the states of one, and what can be done with a state.

use std::path::Path;

use crate::app::command::{Command, NextStep};
use crate::app::flows::{cancel, copy};
use crate::app::layers::answer::PromptPurpose;
use crate::app::layers::dialogs::QuestionChoice;
use crate::app::layers::file_text::FileTextView;
use crate::app::layers::files::{FilesView, ListedFile, SessionScope};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::sessions::RowKey;
use crate::base::paths::{relative_to, shorten};
use crate::base::text::{Tone, clean};
use crate::catalog::SessionKey;
use crate::catalog::file_states::{
    FileAt, FileForm, FileTextRequest, FileWrite, ReplayedSession, StateRow, StateSource, Written,
};
use crate::catalog::files::{FilePlaces, TouchedFile, outline};
use crate::keymap::Place;
use crate::render::DocLine;
use crate::session::replay::places::safe_name;
use crate::session::replay::session_path;
use crate::session::replay::state::Exactness;
use crate::session::worktrees::Worktrees;

/// Returns the sessions of the selected row; in the tree and the preview, the open session.
pub(crate) fn selected_scope(model: &Model) -> Option<SessionScope> {
    if model.focus != Place::Sessions
        && let Some((key, _)) = model.meant_session()
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

/// Lists the current files, most changed first.
pub(crate) fn fill(model: &Model, view: &mut FilesView) {
    let home = &model.setting.home;
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
    view.as_of = model.catalog.version();
    let digests = sessions(model, view.scope).into_iter().map(|key| &**model.catalog[key]);
    let separate = Worktrees::default();
    let mut files = outline(digests, places(model, view.scope, &separate));
    files.sort_by(|a, b| {
        let often = |file: &TouchedFile| (file.uses.changes(), file.uses.reads);
        often(b).cmp(&often(a)).then_with(|| a.path.cmp(&b.path))
    });
    let file = |TouchedFile { path, uses, latest, .. }| {
        let shown = clean(&relative_to(&cwd, &path, home)).into_owned();
        ListedFile::new(path, shown, uses, latest)
    };
    view.list(files.into_iter().map(file).collect());
}

/// Returns the places of files. Those of one session are where it touched them; otherwise, files in worktrees of a repository
/// are the same.
fn places<'a>(model: &'a Model, scope: SessionScope, separate: &'a Worktrees) -> FilePlaces<'a> {
    let worktrees = if matches!(scope, SessionScope::Session(_)) { separate } else { model.catalog.worktrees() };
    FilePlaces { home: &model.setting.home, worktrees }
}

/// Returns the path of a listed file in a session that touched it.
fn own_path(model: &Model, scope: SessionScope, (key, file): (SessionKey, &str)) -> Option<String> {
    let (session, separate) = (model.catalog.get(key)?, Worktrees::default());
    let (places, cwd) = (places(model, scope, &separate), &session.header.cwd);
    let details = session.details();
    let path = details.touches.paths.iter().find(|path| places.path(path, cwd) == file)?;
    Some(session_path(path, cwd, places.home))
}

/// Returns the work that reads the states of a file.
pub(crate) fn states(model: &Model, view: &FilesView, file: &str) -> Work {
    let replayed = |key: SessionKey| {
        let session = model.catalog[key].clone();
        let tree = model.tree.file(key).filter(|tree| !tree.is_partial).cloned();
        Some(ReplayedSession { key, session, tree, file: own_path(model, view.scope, (key, file))? })
    };
    let sessions = sessions(model, view.scope).into_iter().filter_map(replayed).collect();
    Work::ListStates(file.into(), sessions)
}

/// Returns the selected state with its file and its session.
fn selected<'a>(model: &Model, view: &'a FilesView) -> Option<(&'a StateRow, FileAt)> {
    let state = view.selected_state()?;
    Some((state, at(model, view, &view.selected_file()?.path, state.entry)?))
}

fn at(model: &Model, view: &FilesView, file: &str, entry: crate::catalog::EntryRef) -> Option<FileAt> {
    let session = model.catalog.get(entry.session)?.path.clone();
    let tree = view.trees.get(&entry.session)?.clone();
    let file = own_path(model, view.scope, (entry.session, file))?;
    Some(FileAt { session, tree, entry: entry.at, file })
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

/// Creates the view of the selected state.
///
/// # Errors
/// No state is selected.
pub(crate) fn text(model: &Model, view: &FilesView, form: ShownForm) -> Result<FileTextView, &'static str> {
    let (state, here) = selected(model, view).ok_or(NO_STATE)?;
    let file = view.selected_file().ok_or(NO_STATE)?;
    let marked = view.marked.as_ref().filter(|(_, entry)| *entry != state.entry);
    let marked = marked.and_then(|(path, entry)| Some((path, *entry, at(model, view, path, *entry)?)));
    let this = describe(model, state);
    let after = StateSource::After(here.clone());
    let (form, subject) = match (form, marked) {
        (ShownForm::Content, _) => (FileForm::Content(here.clone()), this),
        (ShownForm::Disk, _) => (FileForm::Difference([after, StateSource::Disk]), format!("from {this} to the disk")),
        (ShownForm::Difference, Some((path, entry, before))) => {
            let states = view.unfolded.get(path).map_or(&[][..], |unfolded| &unfolded.states);
            let before_text = states.iter().find(|state| state.entry == entry).map(|state| describe(model, state));
            let before_text = before_text.unwrap_or_else(|| "the marked state".into());
            (FileForm::Difference([StateSource::After(before), after]), format!("from {before_text} to {this}"))
        }
        (ShownForm::Difference, None) => {
            (FileForm::Difference([StateSource::Before(here.clone()), after]), format!("by {this}"))
        }
    };
    let request = FileTextRequest { file: file.path.clone(), form };
    let mut text = FileTextView::new(file.shown.clone(), subject, request, &model.setting.glyphs);
    text.at = Some((state.entry, here));
    Ok(text)
}

/// Describes a state in words, cleaned.
fn describe(model: &Model, state: &StateRow) -> String {
    format!("{} {}", clean(&state.touch), date(model, state.time))
}

/// Formats a time.
pub(crate) fn date(model: &Model, time: Option<i64>) -> String {
    let time = time.and_then(|time| model.setting.zoned(time));
    time.map_or_else(|| "?".into(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
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
        (Some((_, here)), _) => Command::Errand(Work::CopyFile(here), NextStep::Report),
        (None, Some(file)) => copy::exact_path(Path::new(&file.path)),
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
            Command::Errand(Work::WriteFile(Box::new(write)), NextStep::Report)
        }
    }
}

/// Returns the command after the content was written, or after the path proved to be taken.
pub(crate) fn written(mut write: FileWrite, result: Result<Written, String>) -> Command {
    match result {
        Ok(Written::New(path)) => Command::Say(Tone::Active, format!("wrote {}", path.display())),
        Ok(Written::Taken(path)) => {
            write.replaces = true;
            let replace = Command::Errand(Work::WriteFile(Box::new(write)), NextStep::Report);
            let replace = QuestionChoice::new('r', "Replace", "its content is lost", replace);
            let text = format!("{} exists. A symbolic link is replaced itself, its target is kept.", path.display());
            Command::ask("Replace file?", vec![DocLine::new(Tone::Text, &text)], vec![cancel(), replace])
        }
        Err(error) => Command::ShowError("Cannot write file", error),
    }
}
