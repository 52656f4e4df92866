//! Actions with several steps. Each flow reads the model and returns the next step as a [`Command`].

pub mod change;
pub(crate) mod cleanup;
pub mod copy;
pub(crate) mod directories;
pub mod export;
pub(crate) mod files;
pub mod names_and_marks;
pub mod resume;
pub mod trash_and_archive;
pub(crate) mod welcome;

use crate::app::command::Command;
use crate::app::layers::dialogs::QuestionChoice;
use crate::app::model::Model;
use crate::app::panes::sessions::{Project, SessionRow};
use crate::base::numbers::count;
use crate::catalog::SessionKey;
use crate::keymap::KeyContext;
use crate::render::DocLine;

/// A choice of a flow.
pub(crate) type Choice = QuestionChoice<Command>;

/// The next step of a flow, or the reason why it cannot start.
pub(crate) type Flow = Result<Command, &'static str>;

/// Message for an empty list.
pub(crate) const NO_SESSION: &str = "no session is selected";

/// Returns the marked sessions if the list has the focus.
pub(crate) fn marked(model: &Model) -> Option<Vec<SessionKey>> {
    let (marked, _) = model.sessions.marked(&model.catalog);
    (model.focus == KeyContext::Sessions && !marked.is_empty()).then_some(marked)
}

/// Returns a note on marked sessions that are hidden from the list, if it has the focus.
pub(crate) fn hidden_note(model: &Model) -> Option<DocLine> {
    marked(model)?;
    let (_, hidden) = model.sessions.marked(&model.catalog);
    let hidden = (hidden > 0).then(|| count(hidden, "marked session is", "marked sessions are"))?;
    Some(DocLine::warning(&format!("{hidden} hidden from the list.")))
}

/// Removes the sessions of other machines, which only pitree there can change in such a way.
///
/// # Errors
/// All sessions are of other machines.
pub(crate) fn without_mirrored(model: &Model, mut sessions: Vec<SessionKey>) -> Result<Vec<SessionKey>, &'static str> {
    let had_some = !sessions.is_empty();
    sessions.retain(|&key| !model.catalog[key].facts().is_mirrored());
    if had_some && sessions.is_empty() {
        return Err("this session is on another machine; run pitree there");
    }
    Ok(sessions)
}

/// Returns the choice that changes nothing.
pub(crate) fn cancel() -> Choice {
    cancel_by('n')
}

/// Returns the choice that changes nothing, with its own key.
pub(crate) fn cancel_by(key: char) -> Choice {
    Choice { key, word: "Cancel", sentence: "change nothing".into(), then: None, stays: false }
}

/// Returns the marked sessions in the list, or else the selected session, without those of other machines.
pub(crate) fn marked_or_selected(model: &Model) -> Result<Vec<SessionKey>, &'static str> {
    let sessions = marked(model).or_else(|| model.target_session().map(|(key, _)| vec![key]));
    without_mirrored(model, sessions.ok_or(NO_SESSION)?)
}

/// The sessions to which an action in the list applies.
pub(crate) enum ListTarget<'a> {
    /// The marked sessions.
    Marked(Vec<SessionKey>),
    /// The sessions of the selected project.
    Project(&'a Project),
    /// The selected session.
    Session(SessionKey),
}

/// Returns the sessions to which an action in the list applies.
///
/// # Errors
/// No such row is selected.
pub(crate) fn list_target(model: &Model) -> Result<ListTarget<'_>, &'static str> {
    if let Some(marked) = marked(model) {
        return Ok(ListTarget::Marked(marked));
    }
    match model.sessions.selected_row().ok_or(NO_SESSION)? {
        SessionRow::Project(at) if model.focus == KeyContext::Sessions => {
            Ok(ListTarget::Project(&model.sessions.projects[*at]))
        }
        SessionRow::Project(_) => Err("select a session"),
        SessionRow::Session { key, .. } => Ok(ListTarget::Session(*key)),
        SessionRow::MissingParent(..) => Err("this session is missing; select one of its forks"),
    }
}
