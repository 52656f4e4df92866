//! A missing session that has forks: its title, and restoring it from the trash.

use std::path::Path;

use crate::app::command::{Command, NextStep};
use crate::app::model::Model;
use crate::app::title::of_message;
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::catalog::parents::{MissingParent, MissingParentKey, id_in_name};
use crate::changes::Request;
use crate::changes::history::HistoryEntry;

/// Restores it from the trash if possible.
pub(crate) fn confirm(model: &Model, key: MissingParentKey) -> Command {
    let Some(parent) = model.catalog.missing_parent(key) else { return Command::nothing() };
    match in_trash(model, parent) {
        Some(past) => Command::Change(Request::Undo { number: Some(past.record.number) }, NextStep::Select),
        None => {
            let path = shorten(&parent.path.to_string_lossy(), &model.setting.home).into_owned();
            Command::warn(format!("not in pitree's trash: {}", clean(&path)))
        }
    }
}

/// Returns the change that moved it to the trash.
pub(crate) fn in_trash<'a>(model: &'a Model, parent: &MissingParent) -> Option<&'a HistoryEntry> {
    let is_it = |past: &&HistoryEntry| {
        past.record.is_away() && !past.is_emptied && is_same(past.record.change.path(), &parent.path)
    };
    model.past().iter().find(is_it)
}

/// Returns `true` if two paths are of the same session file: equal paths, or equal names in pi's format if a path
/// contains a symbolic link.
fn is_same(one: &Path, other: &Path) -> bool {
    one == other || (id_in_name(one).is_some() && one.file_name() == other.file_name())
}

/// Returns the title: the first message, which its forks inherited.
pub fn title(model: &Model, parent: &MissingParent) -> String {
    let first = parent.forks.first().and_then(|&fork| model.catalog.get(fork)?.typed_message().map(str::to_owned));
    of_message(first.as_deref().unwrap_or("(no messages)").trim())
}
