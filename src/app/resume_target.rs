//! The session or entry of a box that asks where to resume, and the directories that it offers.

use std::sync::Arc;

use crate::catalog::SessionKey;
use crate::session::tree::resume::{self, ResumePoint};
use crate::session::tree::{EntryIndex, Tree};

/// A session or an entry to resume at.
#[derive(Clone, Debug)]
pub struct ResumeTarget {
    /// The session.
    pub session: SessionKey,
    /// The entry, in the tree of its file; `None` for the leaf.
    pub entry: Option<(Arc<Tree>, EntryIndex)>,
    /// The directories to choose from if the working directory is missing, the chosen one first; `None` until it is
    /// checked.
    pub dirs: Option<Vec<ResumeDir>>,
    /// `true` if the terminal of a pi that has the session open can be reached; `None` until it is checked.
    pub has_terminal: Option<bool>,
}

/// A directory to resume in instead of a missing one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeDir {
    /// The path; empty for the directory in which pitree was started.
    pub path: String,
    /// The path for display.
    pub shown: String,
    /// The reason why it is offered.
    pub why: String,
}

/// Targets are equal at the same session and entry.
impl PartialEq for ResumeTarget {
    fn eq(&self, other: &Self) -> bool {
        let entry = |target: &Self| target.entry.as_ref().map(|(_, at)| *at);
        (self.session, entry(self)) == (other.session, entry(other))
    }
}

impl Eq for ResumeTarget {}

impl ResumeTarget {
    /// Creates a target whose working directory is not checked yet.
    pub(crate) fn new(session: SessionKey, entry: Option<(Arc<Tree>, EntryIndex)>) -> Self {
        Self { session, entry, dirs: None, has_terminal: None }
    }

    /// Returns the entry with its tree and position, unless pi resumes there when it opens the session.
    pub(crate) fn other_entry(&self) -> Option<(&Arc<Tree>, EntryIndex, ResumePoint)> {
        let (tree, at) = self.entry.as_ref()?;
        let to = resume::at(tree, *at);
        (!to.is_here || to.returned_text_entry.is_some()).then_some((tree, *at, to))
    }
}
