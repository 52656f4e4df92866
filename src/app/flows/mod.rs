//! What takes several steps: each flow reads the browser and says what is wanted next, as a [`Command`].

pub mod change;
pub mod compare;
pub mod context_view;
pub mod copy;
pub mod delete;
pub mod missing_directory;
pub mod missing_parent;
pub mod name;
pub mod picker;
pub mod resume;
pub mod undo;

use crate::app::command::Command;
use crate::app::layers::question::QuestionChoice;
use crate::app::model::Model;

/// Where the list is empty.
const NO_SESSION: &str = "no session is selected";

/// Leaves everything as it is: the answer no.
fn cancel() -> QuestionChoice<Command> {
    cancel_by('n')
}

/// Leaves everything as it is, by a key.
fn cancel_by(key: char) -> QuestionChoice<Command> {
    QuestionChoice::new(key, "cancel", "leave everything as it is", None)
}

/// Why nothing can be changed, where that is so.
pub fn refusal(model: &Model) -> Option<&'static str> {
    model.setting.demo.then_some("these are sample sessions: nothing can be changed")
}
