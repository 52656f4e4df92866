//! Names of sessions, labels of entries, and lasting marks: pins and tags of sessions, notes of sessions and entries.

use crate::app::command::{Command, NextStep};
use crate::app::external::{Opener, TextCopy};
use crate::app::flows::{Choice, Flow, NO_SESSION, cancel, directories, export, files, trash_and_archive};
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Tone, clean};
use crate::catalog::SessionKey;
use crate::changes::{ExpectedSession, NamedSessions, NewMark, Request, SessionIdentity, edited_names, names_to_edit};
use crate::keymap::KeyContext;
use crate::pi::requests::PiRequest;
use crate::session::entry::EntryId;
use crate::session::marks::{Mark, clean_note, clean_tag};
use crate::session::tree::{EntryIndex, Tree};

/// Opens the names of the marked sessions in an editor, or asks for the name of the selected one.
///
/// # Errors
/// No session is selected.
pub fn rename(model: &Model) -> Flow {
    if let Some((sessions, _)) = selected(model, expected) {
        let text = names_to_edit(&with_names(model, sessions));
        return Ok(Command::Open(TextCopy { with: Opener::NameEditor, name: "names.txt".into(), text }));
    }
    let no_session = || match (model.sessions.selected_project(), model.sessions.selected_missing_parent()) {
        (Some(_), _) => "cannot rename a project; select a session",
        (None, Some(_)) => "cannot rename a missing session; select one of its forks",
        (None, None) => NO_SESSION,
    };
    let (key, session) = model.target_session().ok_or_else(no_session)?;
    let name = session.name.as_deref().unwrap_or_default();
    let purpose = PromptPurpose::Name(key, SessionIdentity::of(session));
    Ok(Command::prompt(purpose, "name: ", name))
}

/// Adds the names of sessions, on one line; empty without one.
fn with_names(model: &Model, sessions: Vec<ExpectedSession>) -> NamedSessions {
    let name = |session: &ExpectedSession| {
        let session = model.catalog.key_of(&session.path).and_then(|key| model.catalog.get(key));
        clean(session.and_then(|session| session.name.as_deref()).unwrap_or_default()).into_owned()
    };
    sessions.into_iter().map(|session| (session.clone(), name(&session))).collect()
}

/// Renames the marked sessions as edited, or without an editor, asks for a pattern of their names.
pub(crate) fn take_names(model: &Model, text: Option<&str>) -> Command {
    let Some((sessions, what)) = selected(model, expected) else { return Command::warn(NO_SESSION) };
    let Some(text) = text else {
        let question = format!("name of {what}, with {{n}}, {{title}}, {{date}}: ");
        return Command::prompt(PromptPurpose::Names(sessions), question, "");
    };
    match edited_names(text, &with_names(model, sessions)) {
        Ok(sessions) => Command::Change(Request::RenameAll { sessions, keeps_names: false }, NextStep::Nothing),
        Err(why) => Command::ShowError("Cannot rename", why),
    }
}

/// Returns a session with its name by a pattern; `number` is its place among the marked ones.
fn by_pattern(model: &Model, pattern: &str, number: usize, session: ExpectedSession) -> (ExpectedSession, String) {
    let key = model.catalog.key_of(&session.path);
    let created = key.and_then(|key| model.settings.zoned(model.catalog.get(key)?.header.created?));
    let date = created.map_or(String::new(), |time| time.date().to_string());
    let title = model.short(&model.title_of(&session.path, None));
    let name = pattern.replace("{n}", &number.to_string()).replace("{date}", &date).replace("{title}", &title);
    (session, name)
}

/// Asks for a label of the selected entry. In the session list, it is for the last message of each marked session, or of
/// the selected one.
///
/// # Errors
/// No entry of a loaded session, and no session in the list, is selected.
pub fn label(model: &Model) -> Flow {
    if let Some((sessions, what)) = selected(model, expected) {
        let question = format!("label of the last message of {what}: ");
        return Ok(Command::prompt(PromptPurpose::Labels(sessions), question, ""));
    }
    if model.focus == KeyContext::Sessions {
        let (_, session) = model.target_session().ok_or(NO_SESSION)?;
        let purpose = PromptPurpose::Labels(vec![ExpectedSession::of(&session.facts())]);
        return Ok(Command::prompt(purpose, "label of the last message: ", ""));
    }
    let (session, tree, at) = model.whole_entry()?;
    Ok(label_at(model, session, &tree, at))
}

/// Asks for a label of an entry.
pub(crate) fn label_at(model: &Model, session: SessionKey, tree: &Tree, at: EntryIndex) -> Command {
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
        PromptPurpose::Names(sessions) => {
            let named = (1..).zip(sessions).map(|(number, session)| by_pattern(model, &text, number, session));
            change(Request::RenameAll { sessions: named.collect(), keeps_names: false })
        }
        PromptPurpose::Labels(sessions) => change(Request::LabelAll { sessions, label: text }),
        PromptPurpose::Tags(sessions, before) => accept_tags(&sessions, &before, &text),
        PromptPurpose::SessionNote(session, mark, before) => accept_note(session, mark, &before, &text),
        PromptPurpose::Word(files) if text.trim() == trash_and_archive::WORD => change(Request::Delete { files }),
        PromptPurpose::Word(_) => Command::Notice(Tone::Dim, "nothing was deleted".into()),
        PromptPurpose::KeptLines => Command::ShortenMessages(text),
        PromptPurpose::Export(request) => export::write(*request, &text),
        PromptPurpose::Move(selection) => directories::check(selection, &text),
        PromptPurpose::WriteFile(at) => files::write(*at, &text),
        PromptPurpose::Directory(target) => Command::Task(Work::CheckDir(text), NextStep::AskToResume(target)),
    }
}

/// Asks who writes the line if a running pi has the session open: that pi shows only what it writes itself, until it
/// reopens the session.
fn by_pi(model: &Model, session: SessionKey, what: Option<PiRequest>, here: Command) -> Command {
    // Requests reach only pis of this machine.
    let (Some(what), Some(pi)) = (what, model.catalog.pi_here(session)) else { return here };
    let text = "The running pi does not see changes to the file until it reopens the session.";
    let lines = trash_and_archive::running_pi_warnings(model, &[session], Some(text));
    let request = Command::Task(Work::SendToPi(pi.clone(), what), NextStep::Nothing);
    let by_pi = Choice::new('p', "Let pi write it", "pi shows the change at once", request);
    let here = Choice::new('w', "Write it here", "append a line to the file; can be undone", here);
    Command::ask("This session is open in a running pi", lines, vec![by_pi, here, cancel()])
}

/// Returns the command after a request to a running pi.
pub(crate) fn after_request(request: &PiRequest, result: Result<(), String>) -> Command {
    let message = match request {
        PiRequest::Name(_) => "pi wrote the name",
        PiRequest::Label { .. } => "pi wrote the label",
        PiRequest::Edits(_) => "pi appends the edits at the end of its next turn",
    };
    match result {
        Ok(()) => Command::Notice(Tone::Active, message.into()),
        Err(why) => Command::ShowError("Change failed", why),
    }
}

/// Returns the marked sessions and their number in words, if the session list has the focus.
pub(super) fn selected(
    model: &Model,
    session: fn(&Model, SessionKey) -> ExpectedSession,
) -> Option<(Vec<ExpectedSession>, String)> {
    let (marked, hidden) = model.sessions.marked(&model.catalog);
    if model.focus != KeyContext::Sessions || marked.is_empty() {
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
        None => vec![with_marks(model, model.target_session().ok_or(NO_SESSION)?.0)],
    };
    let is_pinned = sessions.iter().all(|session| model.catalog.marks().is_pinned(&session.id));
    let pin = |session| NewMark { session, mark: Mark::Pin, value: (!is_pinned).then(|| true.into()) };
    Ok(change_marks(sessions.into_iter().map(pin).collect()))
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
    let (key, _) = model.target_session().ok_or(NO_SESSION)?;
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
    let (session, mark, question) = if model.focus == KeyContext::Sessions || model.target_entry().is_none() {
        (model.target_session().ok_or(NO_SESSION)?.0, Mark::Note, "note on the session: ")
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
    change_marks(tags.flat_map(new).collect())
}

/// Returns the command for an accepted note. A note with several lines stays if its line is unchanged.
pub(super) fn accept_note(session: ExpectedSession, mark: Mark, before: &str, text: &str) -> Command {
    if text == before {
        return Command::nothing();
    }
    match clean_note(text) {
        Ok(note) => {
            let value = (!note.is_empty()).then(|| note.into());
            change_marks(vec![NewMark { session, mark, value }])
        }
        Err(why) => Command::ShowError("Invalid note", why),
    }
}

fn change_marks(marks: Vec<NewMark>) -> Command {
    Command::Change(Request::Mark { marks }, NextStep::Nothing)
}
