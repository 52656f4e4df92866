//! Steps of changes, and the states between them.

use serde::{Deserialize, Serialize};

/// A step of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeStep {
    /// Make the change.
    Make,
    /// Undo the change.
    Undo,
    /// Redo the change.
    Redo,
}

impl ChangeStep {
    /// Returns the state from the start of the step until its result is recorded.
    pub(crate) fn begun(self) -> ChangeState {
        match self {
            Self::Make => ChangeState::Begun,
            Self::Undo => ChangeState::Undoing,
            Self::Redo => ChangeState::Redoing,
        }
    }

    /// Returns the state after the step was taken or not taken.
    pub(crate) fn settled(self, is_taken: bool) -> ChangeState {
        match (self, is_taken) {
            (Self::Make | Self::Redo, true) | (Self::Undo, false) => ChangeState::Done,
            (Self::Undo, true) | (Self::Redo, false) => ChangeState::Undone,
            (Self::Make, false) => ChangeState::Dropped,
        }
    }

    /// Orders the values before and after a change: the start and the end of the step.
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
    /// Recorded, and possibly made.
    Begun,
    /// Made.
    Done,
    /// An undo is recorded, and possibly made.
    Undoing,
    /// Made and undone.
    Undone,
    /// A redo is recorded, and possibly made.
    Redoing,
    /// Never made.
    Dropped,
    /// Made, but its target was changed by another program; undo skips it.
    Overtaken,
    /// A state of a newer pitree.
    #[serde(other)]
    Unknown,
}

impl ChangeState {
    /// Returns the step in progress, if its result is not recorded yet.
    pub(crate) fn step(self) -> Option<ChangeStep> {
        match self {
            Self::Begun => Some(ChangeStep::Make),
            Self::Undoing => Some(ChangeStep::Undo),
            Self::Redoing => Some(ChangeStep::Redo),
            Self::Done | Self::Undone | Self::Dropped | Self::Overtaken | Self::Unknown => None,
        }
    }
}
