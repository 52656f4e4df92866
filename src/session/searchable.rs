//! What of one session file is searched.

use std::collections::{BTreeMap, BTreeSet};

use super::call::Touch;
use super::shape::Index;

/// Texts joined by one space, folded.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// The folded text.
    pub folded: String,
    /// Where each text begins, and its entry.
    pub starts: Vec<(u32, Index)>,
}

/// A tool call that read, wrote or edited a file.
#[derive(Clone, Debug)]
pub struct FileTouch {
    /// The path as the call has it.
    pub path: Box<str>,
    /// What was done.
    pub touch: Touch,
    /// The entry of the call.
    pub entry: Index,
}

/// What of one session file is searched.
#[derive(Clone, Debug, Default)]
pub struct Searchable {
    /// What users and assistants said.
    pub conversation: Passages,
    /// Summaries of compactions and branches.
    pub summaries: Passages,
    /// Labels that are set.
    pub labels: Vec<(Index, Box<str>)>,
    /// Calls that touched a file.
    pub files: Vec<FileTouch>,
    /// Tool names and calls.
    pub tools: BTreeMap<Box<str>, u32>,
    /// The models that answered.
    pub models: BTreeSet<Box<str>>,
}
