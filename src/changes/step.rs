//! Steps that are taken with a change, and the states between them.

use serde::{Deserialize, Serialize};

/// A step that is taken with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeStep {
    /// It is made.
    Make,
    /// It is taken back.
    Undo,
    /// It is made again.
    Redo,
}

impl ChangeStep {
    /// Returns the state from the beginning of the step until its outcome is recorded.
    pub(crate) fn begun(self) -> ChangeState {
        match self {
            Self::Make => ChangeState::Begun,
            Self::Undo => ChangeState::Undoing,
            Self::Redo => ChangeState::Redoing,
        }
    }

    /// The state when the step was taken, or was not.
    pub(crate) fn settled(self, is_taken: bool) -> ChangeState {
        match (self, is_taken) {
            (Self::Make | Self::Redo, true) | (Self::Undo, false) => ChangeState::Done,
            (Self::Undo, true) | (Self::Redo, false) => ChangeState::Undone,
            (Self::Make, false) => ChangeState::Dropped,
        }
    }

    /// Of what is before and after a change: what the step begins with, and what it leads to.
    pub(crate) fn ends<T>(self, before: T, after: T) -> (T, T) {
        match self {
            Self::Undo => (after, before),
            Self::Make | Self::Redo => (before, after),
        }
    }
}

/// The state of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// Written down, and perhaps made.
    Begun,
    /// Made.
    Done,
    /// About to be undone, and perhaps undone.
    Undoing,
    /// Made and undone.
    Undone,
    /// About to be made again, and perhaps made.
    Redoing,
    /// Never made.
    Dropped,
    /// Made, and changed by somebody else since: undo passes it over.
    Overtaken,
    /// A state of a newer pitree.
    #[serde(other)]
    Unknown,
}

impl ChangeState {
    /// Returns the step that was begun, if its outcome is not recorded.
    pub(crate) fn step(self) -> Option<ChangeStep> {
        match self {
            Self::Begun => Some(ChangeStep::Make),
            Self::Undoing => Some(ChangeStep::Undo),
            Self::Redoing => Some(ChangeStep::Redo),
            Self::Done | Self::Undone | Self::Dropped | Self::Overtaken | Self::Unknown => None,
        }
    }
}
