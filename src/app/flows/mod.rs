//! Actions with several steps. Each flow reads the model and returns the next step as a [`Command`].

pub mod archive;
pub mod change;
pub mod compare;
pub mod context_view;
pub mod copy;
pub mod delete;
pub mod export;
pub(crate) mod marks;
pub mod missing_directory;
pub mod missing_parent;
pub mod name;
pub mod picker;
pub mod repair;
pub mod resume;
pub mod slim;
pub(crate) mod stats_view;
pub mod tour;

use crate::app::command::Command;
use crate::app::layers::dialogs::QuestionChoice;

/// Message for an empty list.
const NO_SESSION: &str = "no session is selected";

/// Returns the choice that changes nothing.
fn cancel() -> QuestionChoice<Command> {
    cancel_by('n')
}

/// Returns the choice that changes nothing, with its own key.
fn cancel_by(key: char) -> QuestionChoice<Command> {
    QuestionChoice { key, word: "Cancel", sentence: "change nothing".into(), then: None, stays: false }
}
