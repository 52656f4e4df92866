//! The box of titles: a program gives names to sessions, and the user accepts or edits them.

use crate::app::command::{Command, NextStep};
use crate::app::external::{Opener, TextCopy, TitleRequest, TitlesReply};
use crate::app::flows::{Choice, Flow, cancel, marked_or_selected};
use crate::app::layers::dialogs::Question;
use crate::app::layers::screen::PromptPurpose;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::{count, thousands};
use crate::catalog::SessionKey;
use crate::changes::{ExpectedSession, Request, SessionIdentity, names_to_edit};
use crate::render::DocLine;

const TITLE: &str = "Names";

/// Asks for titles of the marked sessions, or of the selected one.
///
/// # Errors
/// No session is selected that can be named.
pub(super) fn open(model: &Model) -> Flow {
    let mut sessions = marked_or_selected(model)?;
    let is_free = |key: &SessionKey| {
        let session = &model.catalog[*key];
        let is_usable = session.message_count > 0 && !session.facts().is_archived();
        is_usable && session.name.is_none() && model.catalog.live(*key).is_none()
    };
    sessions.retain(is_free);
    if sessions.is_empty() {
        return Err("the session has a name already, no message, or a pi has it open");
    }
    let sessions = sessions.into_iter().map(|key| model.catalog[key].clone()).collect();
    Ok(Command::FindTitles(TitleRequest { sessions, is_confirmed: false }))
}

/// Shows the box and starts to ask.
pub(super) fn find(model: &mut Model, request: TitleRequest) {
    let of = count(request.sessions.len(), "session", "sessions");
    let fail = |model: &mut Model, _ticket: u64, error: &str| model.layers.update_question(waiting(error));
    model.titles = Some(model.ask_or(Work::FindTitles(request), fail));
    model.layers.show_question(waiting(&format!("Names of {of} are being found.")));
}

/// Stops asking once the box is closed.
pub(super) fn forget(model: &mut Model) {
    if model.titles.is_some() && model.layers.question_mut(TITLE).is_none() {
        model.titles = None;
    }
}

/// Updates the box.
pub(super) fn on_reply(model: &mut Model, reply: TitlesReply) {
    let question = match reply {
        TitlesReply::Progress(done, all) => {
            waiting(&format!("{} of {} found; nothing is written yet.", thousands(done), count(all, "name", "names")))
        }
        TitlesReply::Cost(request, cost) => {
            let of = count(request.sessions.len(), "session", "sessions");
            let lines = vec![
                DocLine::text(&format!("For names of {of}, {cost}.")),
                DocLine::text(
                    "It gets a digest of each conversation, without likely secrets: prompts, answers in brief, files and commits.",
                ),
            ];
            let ask = Command::FindTitles(TitleRequest { is_confirmed: true, ..request });
            Question::new(
                TITLE,
                lines,
                vec![Choice::new('a', "Ask pi", "then accept or edit the names", ask), cancel()],
            )
        }
        TitlesReply::Done(titles) => {
            model.titles = None;
            found(model, titles)
        }
    };
    model.layers.update_question(question);
}

/// Returns the box before the titles are known.
fn waiting(text: &str) -> Question<Command> {
    Question::new(TITLE, vec![DocLine::text(text)], vec![cancel()])
}

/// Returns the box with the titles.
fn found(model: &Model, titles: Vec<(ExpectedSession, Result<String, String>)>) -> Question<Command> {
    let (mut lines, mut named) = (Vec::new(), Vec::new());
    for (session, title) in titles {
        let before = model.short(&model.title_of(&session.path, None));
        match title {
            Ok(title) => {
                lines.push(DocLine::text(&title));
                lines.push(DocLine::dim(&format!("  {before}")));
                named.push((session, title));
            }
            Err(why) => lines.push(DocLine::warning(&format!("{before}: {why}"))),
        }
    }
    let mut choices = Vec::new();
    if !named.is_empty() {
        let edit = edit(model, &named);
        let write = Command::Change(Request::RenameAll { sessions: named, keeps_names: true }, NextStep::Nothing);
        choices.push(Choice::new('w', "Write", "one change, one undo", write));
        choices.extend(edit.map(|edit| Choice::new('e', "Edit", "before they are written", edit)));
    }
    choices.push(cancel());
    Question::new(TITLE, lines, choices)
}

/// Returns the command that edits the names: in the footer, or in the editor.
fn edit(model: &Model, named: &[(ExpectedSession, String)]) -> Option<Command> {
    if let [(session, title)] = named {
        let key = model.catalog.key_of(&session.path)?;
        let purpose = PromptPurpose::Name(key, SessionIdentity::of(model.catalog.get(key)?));
        return Some(Command::prompt(purpose, "name: ", title));
    }
    let copy = TextCopy { with: Opener::TitleEditor, name: "names.txt".into(), text: names_to_edit(named) };
    Some(Command::Open(copy))
}
