//! State of the tour: a box that asks for one action after the other on the real screen.
//!
//! [`flows::tour`](crate::app::flows::tour) finds the next action, and `update::tour` completes the steps.

use crate::base::named::named;

named! {
    /// A step of the tour.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TourStep {
        /// Fold or unfold a row.
        #[default]
        Fold = "fold",
        /// Change the filter of the tree.
        Filter = "filter",
        /// Open the search line.
        Search = "search",
        /// Go to a hit.
        Hit = "go to a hit",
        /// Show forks where they began.
        Fork = "forks",
        /// Show the model context of an entry.
        Context = "model context",
        /// Open the box that resumes a session.
        Resume = "resume",
        /// Label an entry, and undo that.
        Undo = "undo",
        /// Say where to read on.
        End = "end",
    }
}

impl TourStep {
    /// Returns the number of steps; the end is none.
    pub(crate) fn count() -> usize {
        Self::ALL.len() - 1
    }

    /// Returns the number of the step, from 1 on.
    pub(crate) fn number(self) -> usize {
        self as usize + 1
    }

    /// Returns the next step.
    pub(crate) fn next(self) -> Option<Self> {
        Self::ALL.get(self.number()).copied()
    }
}

/// The running tour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tour {
    /// The current step.
    pub step: TourStep,
    /// A word to search for, which has a hit.
    pub(crate) word: Option<String>,
    /// `true` if the user asked to resume in this step.
    pub(crate) is_resuming: bool,
    /// `true` if the user changed a session in this step.
    pub(crate) has_changed: bool,
}

impl Tour {
    /// Starts a step.
    pub(crate) fn at(step: TourStep, word: Option<String>) -> Self {
        Self { step, word, ..Self::default() }
    }
}
