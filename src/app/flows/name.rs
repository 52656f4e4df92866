//! Names of sessions and labels of entries.

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{Choice, Flow, NO_SESSION, cancel, delete, export, files, marks, move_sessions};
use crate::app::layers::answer::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::text::Tone;
use crate::catalog::SessionKey;
use crate::catalog::live::SessionActivity;
use crate::changes::{ExpectedSession, Request, SessionIdentity};
use crate::keymap::Place;
use crate::pi::requests::PiRequest;
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};

/// Asks for the name of the marked sessions, or else of the selected one.
///
/// # Errors
/// No session is selected.
pub fn rename(model: &Model) -> Flow {
    if let Some((sessions, what)) = marks::selected(model, marks::expected) {
        return Ok(Command::prompt(PromptPurpose::Names(sessions), format!("name of {what}: "), ""));
    }
    let no_session = || match (model.sessions.selected_project(), model.sessions.selected_missing_parent()) {
        (Some(_), _) => "cannot rename a project; select a session",
        (None, Some(_)) => "cannot rename a missing session; select one of its forks",
        (None, None) => NO_SESSION,
    };
    let (key, session) = model.meant_session().ok_or_else(no_session)?;
    let name = session.name.as_deref().unwrap_or_default();
    let purpose = PromptPurpose::Name(key, SessionIdentity::of(session));
    Ok(Command::prompt(purpose, "name: ", name))
}

/// Asks for a label of the selected entry. In the session list, it is for the last message of each marked session, or of
/// the selected one.
///
/// # Errors
/// No entry of a loaded session, and no session in the list, is selected.
pub fn label(model: &Model) -> Flow {
    if let Some((sessions, what)) = marks::selected(model, marks::expected) {
        let question = format!("label of the last message of {what}: ");
        return Ok(Command::prompt(PromptPurpose::Labels(sessions), question, ""));
    }
    if model.focus == Place::Sessions {
        let (_, session) = model.meant_session().ok_or(NO_SESSION)?;
        let purpose = PromptPurpose::Labels(vec![ExpectedSession::of(&session.facts())]);
        return Ok(Command::prompt(purpose, "label of the last message: ", ""));
    }
    let (session, tree, at) = model.whole_entry()?;
    Ok(label_at(model, session, &tree, at))
}

/// Asks for a label of an entry.
pub(crate) fn label_at(model: &Model, session: SessionKey, tree: &Tree, at: Index) -> Command {
    let label = tree.labels.get(&at).map_or("", |label| &label.text);
    let identity = SessionIdentity::of(&model.catalog[session]);
    let purpose = PromptPurpose::Label(session, identity, EntryId::of(tree, at));
    Command::prompt(purpose, "label: ", label)
}

/// Returns the command for an accepted line.
pub fn accept(model: &Model, purpose: PromptPurpose, text: String) -> Command {
    let path = |key| model.catalog[key].path.clone();
    let change = |request| Command::Change(request, NextStep::Nothing);
    match purpose {
        PromptPurpose::Name(session, identity) => {
            let here = change(Request::Rename { path: path(session), name: text.clone() }.if_same(identity));
            by_pi(model, session, Some(PiRequest::Name(text)), here)
        }
        PromptPurpose::Label(session, identity, target) => {
            let what = match &target {
                EntryId::Id(entry) => Some(PiRequest::Label { entry: entry.clone(), text: text.clone() }),
                EntryId::Place(_) => None,
            };
            let request = Request::Label { path: path(session), target, label: text, migrate: false };
            let here = change(request.if_same(identity));
            by_pi(model, session, what, here)
        }
        PromptPurpose::Names(sessions) => change(Request::RenameAll { sessions, name: text }),
        PromptPurpose::Labels(sessions) => change(Request::LabelAll { sessions, label: text }),
        PromptPurpose::Tags(sessions, before) => marks::accept_tags(&sessions, &before, &text),
        PromptPurpose::SessionNote(session, mark, before) => marks::accept_note(session, mark, &before, &text),
        PromptPurpose::Word(files) if text.trim() == delete::WORD => change(Request::Delete { files }),
        PromptPurpose::Word(_) => Command::Say(Tone::Dim, "nothing was deleted".into()),
        PromptPurpose::Export(request) => export::write(*request, &text),
        PromptPurpose::Move(selection) => move_sessions::check(selection, &text),
        PromptPurpose::WriteFile(at) => files::write(*at, &text),
        PromptPurpose::Directory(start) => Command::remember_directory(ResumePlan::of(start), text),
    }
}

/// Asks who writes the line if a running pi has the session open: that pi shows only what it writes itself, until it
/// reopens the session.
fn by_pi(model: &Model, session: SessionKey, what: Option<PiRequest>, here: Command) -> Command {
    let status = model.catalog.live(session).and_then(SessionActivity::reported);
    // Requests reach only pis of this machine.
    let status = status.filter(|_| !model.catalog[session].facts().is_mirrored());
    let (Some(what), Some(pi)) = (what, status) else { return here };
    let text = "The running pi does not see changes to the file until it reopens the session.";
    let lines = delete::running_pi_signs(model, &[session], Some(text));
    let request = Command::Errand(Work::SendToPi(pi.clone(), what), NextStep::Nothing);
    let by_pi = Choice::new('p', "Let pi write it", "pi shows the change at once", request);
    let here = Choice::new('w', "Write it here", "append a line to the file; can be undone", here);
    Command::ask("This session is open in a running pi", lines, vec![by_pi, here, cancel()])
}

/// Returns the command after a request to a running pi.
pub(crate) fn after_request(request: &PiRequest, result: Result<(), String>) -> Command {
    let message = match request {
        PiRequest::Name(_) => "pi wrote the name",
        PiRequest::Label { .. } => "pi wrote the label",
    };
    match result {
        Ok(()) => Command::Say(Tone::Active, message.into()),
        Err(why) => Command::ShowError("Change failed", why),
    }
}
