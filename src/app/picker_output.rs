//! The output of a picker, which prints the chosen session or entry.

use std::path::PathBuf;
use std::sync::Arc;

use crate::pi::launch::Start;
use crate::session::tree::{Index, Tree};

/// A session and one of its entries, chosen in a picker.
#[derive(Clone, Debug)]
pub struct PickedEntry {
    /// The session file.
    pub path: PathBuf,
    /// ID of the session.
    pub id: String,
    /// Its working directory; empty if unknown.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The entry, in its tree; `None` for an empty session.
    pub entry: Option<(Arc<Tree>, Index)>,
    /// Text for pi's editor, if different from the text of the entry.
    pub draft: Option<String>,
}

/// Output of a picker.
#[derive(Clone, Debug)]
pub enum PickerOutput {
    /// Path of a session file.
    Path(PathBuf),
    /// ID of a session or an entry.
    Id(String),
    /// A session and one of its entries as JSON.
    Json(Box<PickedEntry>),
    /// The shell command that resumes a session.
    Command(Start),
}
