//! Undoing a change of an earlier run.

use std::path::PathBuf;

use crate::app::command::{AfterChange, Command};
use crate::app::flows::cancel;
use crate::app::layers::question::QuestionChoice;
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::base::text::Tone;
use crate::changes::{EarlierChange, Request};
use crate::render::DocLine;

/// Asks whether to undo a change of an earlier run.
pub(crate) fn ask(model: &Model, earlier: EarlierChange) -> Command {
    let EarlierChange { group, time, said, sessions, more } = earlier;
    let mut lines = vec![DocLine::new(Tone::Strong, &format!("{said}, {}", when(model, time)))];
    let name = |(path, title): &(PathBuf, Option<String>)| model.short(&model.title_of(path, title.as_deref()));
    lines.extend(sessions.iter().map(|session| DocLine::new(Tone::Text, &format!("  {}", name(session)))));
    lines.extend((more > 0).then(|| DocLine::new(Tone::Text, &format!("  and {}", count(more, "more", "more")))));
    lines.push(DocLine::new(Tone::Dim, "This change was made by an earlier run or another pitree."));
    let undo = Command::Change(Request::UndoLast { sure: Some(group) }, AfterChange::Select);
    let choices = vec![QuestionChoice::new('u', "Undo", "revert this change", undo), cancel()];
    Command::ask("Undo this change?", lines, choices)
}

/// Formats a recent time.
fn when(model: &Model, ms: i64) -> String {
    let (Some(then), Some(now)) = (model.setting.zoned(ms), model.setting.zoned(model.now)) else {
        return "at an unknown time".into();
    };
    let day = match now.date() {
        today if today == then.date() => "today".into(),
        today if today.yesterday().ok() == Some(then.date()) => "yesterday".into(),
        _ => then.strftime("%Y-%m-%d").to_string(),
    };
    format!("{day} {}", then.strftime("%H:%M"))
}
