//! Lasting marks: pins and tags of sessions, and notes of sessions and entries.

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Flow, NO_SESSION};
use crate::app::layers::answer::PromptPurpose;
use crate::app::model::Model;
use crate::base::numbers::{count, thousands};
use crate::catalog::SessionKey;
use crate::changes::{ExpectedSession, NewMark, Request};
use crate::keymap::Place;
use crate::session::entry::EntryId;
use crate::session::marks::{Mark, clean_note, clean_tag};

/// Returns the marked sessions and their number in words, if the session list has the focus.
pub(super) fn selected(
    model: &Model,
    session: fn(&Model, SessionKey) -> ExpectedSession,
) -> Option<(Vec<ExpectedSession>, String)> {
    let (marked, hidden) = model.sessions.marked(&model.catalog);
    if model.focus != Place::Sessions || marked.is_empty() {
        return None;
    }
    let hidden = if hidden > 0 { format!(" ({} hidden)", thousands(hidden)) } else { String::new() };
    let what = format!("{}{hidden}", count(marked.len(), "marked session", "marked sessions"));
    Some((marked.iter().map(|&key| session(model, key)).collect(), what))
}

/// Returns a session to change.
pub(super) fn expected(model: &Model, key: SessionKey) -> ExpectedSession {
    ExpectedSession::of(&model.catalog[key].facts())
}

/// Returns a session whose marks change.
fn with_marks(model: &Model, key: SessionKey) -> ExpectedSession {
    let facts = model.catalog[key].facts();
    ExpectedSession { path: facts.path().join(), id: facts.marks_key().into_owned() }
}

/// Pins the marked sessions or the selected one, or unpins them if all are pinned.
///
/// # Errors
/// No session is selected.
pub(crate) fn pin(model: &Model) -> Flow {
    let sessions = match selected(model, with_marks) {
        Some((sessions, _)) => sessions,
        None => vec![with_marks(model, model.meant_session().ok_or(NO_SESSION)?.0)],
    };
    let is_pinned = sessions.iter().all(|session| model.catalog.marks().is_pinned(&session.id));
    let pin = |session| NewMark { session, mark: Mark::Pin, value: (!is_pinned).then(|| true.into()) };
    Ok(change(sessions.into_iter().map(pin).collect()))
}

/// Asks for the tags of the marked sessions or the selected one.
///
/// # Errors
/// No session is selected.
pub(crate) fn tags(model: &Model) -> Flow {
    if let Some((sessions, what)) = selected(model, with_marks) {
        let question = format!("tags of {what}, such as +release -draft: ");
        return Ok(Command::prompt(PromptPurpose::Tags(sessions, Vec::new()), question, ""));
    }
    let (key, _) = model.meant_session().ok_or(NO_SESSION)?;
    let session = with_marks(model, key);
    let tags: Vec<String> = model.catalog.marks().tags(&session.id).map(String::from).collect();
    let line: String = tags.iter().map(|tag| format!("+{tag} ")).collect();
    Ok(Command::prompt(PromptPurpose::Tags(vec![session], tags), "tags: ", &line))
}

/// Asks for the note of the selected entry, or of the selected session in the list.
///
/// # Errors
/// No session, or no entry with an ID, is selected.
pub(crate) fn note(model: &Model) -> Flow {
    let (session, mark, question) = if model.focus == Place::Sessions || model.meant_entry().is_none() {
        (model.meant_session().ok_or(NO_SESSION)?.0, Mark::Note, "note on the session: ")
    } else {
        let (session, tree, at) = model.whole_entry()?;
        let EntryId::Id(entry) = EntryId::of(&tree, at) else { return Err("this entry has no ID for a note") };
        (session, Mark::EntryNote(entry), "note on the entry: ")
    };
    let session = with_marks(model, session);
    let note = model.catalog.marks().get(&session.id, &mark.key()).and_then(|note| note.as_str());
    let line = note.unwrap_or_default().replace('\n', " ");
    Ok(Command::prompt(PromptPurpose::SessionNote(session, mark, line.clone()), question, &line))
}

/// Returns the command for an accepted line of tags. `before` are the tags that the line showed; those that it lacks now
/// are removed.
pub(super) fn accept_tags(sessions: &[ExpectedSession], before: &[String], text: &str) -> Command {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let (tags, word) = match word.strip_prefix('-') {
            Some(word) => (&mut removed, word),
            None => (&mut added, word),
        };
        match clean_tag(word) {
            Ok(tag) => tags.push(tag),
            Err(why) => return Command::ShowError("Invalid tag", why),
        }
    }
    removed.extend(before.iter().filter(|tag| !added.contains(tag)).cloned());
    let tags = added.into_iter().map(|tag| (tag, true)).chain(removed.into_iter().map(|tag| (tag, false)));
    let new = |(tag, is_set): (String, bool)| {
        let mark = move |session: &ExpectedSession| NewMark {
            session: session.clone(),
            mark: Mark::Tag(tag.clone()),
            value: is_set.then(|| true.into()),
        };
        sessions.iter().map(mark).collect::<Vec<_>>()
    };
    change(tags.flat_map(new).collect())
}

/// Returns the command for an accepted note. A note with several lines stays if its line is unchanged.
pub(super) fn accept_note(session: ExpectedSession, mark: Mark, before: &str, text: &str) -> Command {
    if text == before {
        return Command::nothing();
    }
    match clean_note(text) {
        Ok(note) => {
            let value = (!note.is_empty()).then(|| note.into());
            change(vec![NewMark { session, mark, value }])
        }
        Err(why) => Command::ShowError("Invalid note", why),
    }
}

fn change(marks: Vec<NewMark>) -> Command {
    Command::Change(Request::Mark { marks }, NextStep::Nothing)
}
