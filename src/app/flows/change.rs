//! Messages about changes, and questions about changes that were refused.

use crate::base::numbers::count;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, cancel, trash_and_archive};
use crate::app::model::Model;
use crate::base::text::Tone;
use crate::catalog::SessionKey;
use crate::changes::{Change, ChangeResult, EarlierChange, Refusal, Request};
use crate::render::DocLine;

/// Returns the command that follows a change or its error. `new` is a session that is new in the list.
pub fn take(
    model: &Model,
    (request, result): (Request, Result<ChangeResult>),
    new: Option<SessionKey>,
    after: NextStep,
) -> Command {
    let done = match result {
        Ok(done) => done,
        Err(error) => {
            return match error.downcast() {
                Ok(refusal) => take_refusal(model, refusal, request, after),
                Err(error) => Command::ShowError("Change failed", format!("{error:#}")),
            };
        }
    };
    let text = describe(model, &done);
    let is_undoable = !request.is_step() && !done.changes.is_empty();
    let message = if is_undoable { Command::UndoableNotice(text) } else { Command::Notice(Tone::Active, text) };
    let then = match after {
        NextStep::Select => {
            let made = || model.catalog.key_of(done.made.as_deref()?);
            new.or_else(made).map_or_else(Command::nothing, Command::Select)
        }
        NextStep::Resume(mut plan) => {
            plan.start.path = done.made.unwrap_or(plan.start.path);
            Command::Resume(*plan)
        }
        _ => return message,
    };
    Command::All(vec![message, then])
}

/// Describes a change; adds the title of a session that is not selected.
fn describe(model: &Model, done: &ChangeResult) -> String {
    let mut paths: Vec<_> = done.changes.iter().map(Change::path).collect();
    paths.dedup();
    let [path] = paths[..] else { return done.summary.clone() };
    let key = model.catalog.key_of(path).filter(|&key| model.catalog.has(key));
    match key.filter(|&key| model.sessions.selected_session() != Some(key)) {
        Some(key) => {
            let title = model.short_title(key);
            format!("{} {} {title}", done.summary, model.settings.glyphs.dot)
        }
        None => done.summary.clone(),
    }
}

/// Asks about a refused change, if the user can decide.
fn take_refusal(model: &Model, refusal: Refusal, request: Request, after: NextStep) -> Command {
    match (refusal, request) {
        (Refusal::Old { version, path }, request) => {
            let Some(request) = migrating(request) else {
                return Command::ShowError("Change failed", Refusal::Old { version, path }.to_string());
            };
            let text = format!(
                "This session uses format version {version}; this change requires version 3. pitree can migrate it first, as pi does on opening. The original goes to the trash; undo restores it."
            );
            let what = "convert to version 3, then apply the change";
            let choice = Choice::new('b', "Migrate and continue", what, Command::Change(request, after));
            let session = model.catalog.key_of(&path);
            let mut lines = vec![DocLine::text(&text)];
            lines.extend(trash_and_archive::running_pi_warnings(model, session.as_slice(), None));
            Command::ask("Old session format", lines, vec![choice, cancel()])
        }
        (Refusal::Replaced { path }, Request::IfSame { then, .. }) => ask_again(model, &path, *then, after),
        (Refusal::Changed { paths }, Request::Trash { files } | Request::Delete { files }) => {
            trash_and_archive::ask_to_trash_again(model, &files, &paths)
        }
        (Refusal::Changed { .. }, Request::Archive { files }) => trash_and_archive::ask_to_archive_again(model, &files),
        (Refusal::Archived { paths }, request) => trash_and_archive::ask_to_bring_back(model, &paths, request, after),
        (Refusal::Earlier(earlier), _) => ask_to_undo(model, earlier),
        (Refusal::NoTrash { reason, left }, _) => trash_and_archive::ask_to_delete_permanently(&reason, left),
        (refusal, _) => Command::ShowError("Change failed", refusal.to_string()),
    }
}

/// Asks again because the session file was replaced.
fn ask_again(model: &Model, path: &Path, then: Request, after: NextStep) -> Command {
    let path_text = path.display();
    let text =
        format!("{path_text} was replaced since it was read; nothing was written. It now contains this session:");
    let title = model.short(&model.title_of(path, None));
    let lines = vec![DocLine::text(&text), DocLine::text(&title)];
    let what = match &then {
        Request::Rename { name, .. } if name.is_empty() => "clear the name of this session".into(),
        Request::Rename { name, .. } => format!("name this session {:?}", model.short(name)),
        Request::Label { label, .. } => format!("label its entry {:?}", model.short(label)),
        _ => "apply the change to this session".into(),
    };
    let anyway = Choice::new('a', "Change anyway", what, Command::Change(then, after));
    Command::ask("File was replaced", lines, vec![anyway, cancel()])
}

/// Returns the request with permission to migrate the session.
fn migrating(request: Request) -> Option<Request> {
    match request {
        Request::IfSame { session, then } => migrating(*then).map(|then| then.if_same(session)),
        Request::Label { path, target, label, .. } => Some(Request::Label { path, target, label, migrate: true }),
        Request::MoveLeaf { path, to, .. } => Some(Request::MoveLeaf { path, to, migrate: true }),
        Request::Fork { path, at, .. } => Some(Request::Fork { path, at, migrate: true }),
        _ => None,
    }
}

/// Asks whether to undo a change of an earlier run.
fn ask_to_undo(model: &Model, earlier: EarlierChange) -> Command {
    let EarlierChange { group, time, summary, sessions, more } = earlier;
    let mut lines = vec![DocLine::new(Tone::Strong, &format!("{summary}, {}", when(model, time)))];
    let name = |(path, title): &(PathBuf, Option<String>)| model.short(&model.title_of(path, title.as_deref()));
    lines.extend(sessions.iter().map(|session| DocLine::text(&format!("  {}", name(session)))));
    lines.extend((more > 0).then(|| DocLine::text(&format!("  and {}", count(more, "more", "more")))));
    lines.push(DocLine::dim("This change was made by an earlier run or another pitree."));
    let undo = Command::Change(Request::UndoLast { confirmed_group: Some(group) }, NextStep::Select);
    let choices = vec![Choice::new('u', "Undo", "revert this change", undo), cancel()];
    Command::ask("Undo this change?", lines, choices)
}

/// Formats a recent time.
fn when(model: &Model, ms: i64) -> String {
    let (Some(then), Some(now)) = (model.settings.zoned(ms), model.settings.zoned(model.now)) else {
        return "at an unknown time".into();
    };
    let day = match now.date() {
        today if today == then.date() => "today".into(),
        today if today.yesterday().ok() == Some(then.date()) => "yesterday".into(),
        _ => then.strftime("%Y-%m-%d").to_string(),
    };
    format!("{day} {}", then.strftime("%H:%M"))
}
