//! Copying to the clipboard.

use std::path::Path;

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{Choice, Flow, NO_SESSION};
use crate::app::layers::screen::ChoiceAction;
use crate::app::message::{Clip, EntryLocation, Work};
use crate::app::model::Model;
use crate::base::machine_paths;
use crate::base::shell::quote;
use crate::base::text::{Glyphs, Tone};
use crate::render::plain;

/// Maximum number of characters of a copied text in the footer.
const SHOWN: usize = 40;
/// Maximum number of characters of a text in a box for manual copying: longer ones slow down drawing.
const BY_HAND: usize = 50_000;

/// Asks what to copy.
///
/// # Errors
/// No session is selected.
pub fn ask(model: &Model) -> Flow {
    let is_project = model.sessions.selected_project().is_some();
    let no_session = if is_project { "cannot copy a project; select a session" } else { NO_SESSION };
    let (_, session) = model.target_session().ok_or(no_session)?;
    let text = |text: String| Command::copy(Clip::Text(text));
    let mut choices = Vec::new();
    if let Some((_, tree, at)) = model.target_entry() {
        let node = &tree.nodes[at as usize];
        let body = EntryLocation { path: session.path.clone(), tree: tree.clone(), at };
        choices.push(Choice::new(
            't',
            "Entry text",
            model.short(&node.text),
            Command::Task(Work::Text(body), NextStep::Nothing),
        ));
        if let Some(id) = &node.id {
            choices.push(Choice::new('i', "Entry ID", &**id, text(id.to_string())));
        }
    }
    choices.push(match machine_paths::place(&session.path) {
        Some(place) => Choice::new('p', "Session path", place.clone(), text(place)),
        None => {
            let copy = exact_path(&session.path, Some(&session.header.id));
            Choice::new('p', "Session path", session.path.to_string_lossy(), copy)
        }
    });
    let id = session.header.id.clone();
    choices.push(Choice::new('s', "Session ID", id.clone(), text(id)));
    let start = ResumePlan::at(session).start;
    let command = match session.facts().is_archived() {
        // It must be brought back first.
        true => text(format!("pitree resume {}", quote(&session.header.id))),
        false => Command::copy(Clip::Command(start)),
    };
    choices.push(Choice::new('c', "Resume command", "resumes the session in pi, from a shell", command));
    Ok(Command::ask("Copy", Vec::new(), choices))
}

/// Copies the path of a palette item: of a trashed session.
pub(crate) fn path_of(model: &Model, leads: Option<&ChoiceAction>) -> Command {
    let path = match leads {
        Some(ChoiceAction::Restore(number)) => {
            let past = model.history().iter().find(|past| past.record.number == *number);
            past.map(|past| past.record.change.path())
        }
        _ => None,
    };
    path.map_or_else(|| Command::warn("this row has no path to copy"), |path| exact_path(path, None))
}

/// Copies a path, of the session with an ID if it is given, unless the clipboard cannot hold it exactly.
pub(crate) fn exact_path(path: &Path, id: Option<&str>) -> Command {
    match (path.to_str().filter(|path| !path.contains(char::is_control)), id) {
        (Some(path), _) => Command::copy(Clip::Text(path.into())),
        (None, None) => Command::warn("this path contains control characters or invalid UTF-8 and cannot be copied"),
        (None, Some(id)) => Command::ShowError(
            "Cannot copy path",
            format!(
                "The path contains control characters or invalid UTF-8 and cannot be copied exactly. To get the exact path, pipe this command:\n\n\
                 pitree path {}",
                quote(id)
            ),
        ),
    }
}

/// Returns the command after the text of an entry was read for copying.
pub(crate) fn take_text(text: Result<String, String>) -> Command {
    match text {
        Err(error) => Command::ShowError("Cannot read entry", error),
        Ok(text) if text.is_empty() => Command::warn("there is no text to copy"),
        Ok(text) => Command::copy(Clip::Text(text)),
    }
}

/// Returns the command after copying. If copying failed, the text is shown for manual copying.
pub(crate) fn take_copied(text: &str, done: bool, then: Option<ResumePlan>, glyphs: &Glyphs) -> Command {
    let start = |most: usize| text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]);
    let shown = start(BY_HAND);
    match (done, then) {
        (true, Some(plan)) => Command::Resume(plan),
        (true, None) => {
            let start = start(SHOWN);
            let more = if start.len() < text.len() { &*glyphs.ellipsis } else { "" };
            Command::Notice(Tone::Active, format!("copied: {start}{more}"))
        }
        (false, Some(plan)) => {
            let go = Choice::new('g', "Resume", "in pi; first copy the text above", Command::Resume(plan));
            Command::ask("Clipboard not available", plain(Tone::Text, shown), vec![go])
        }
        (false, None) => Command::note("Clipboard not available", shown),
    }
}
