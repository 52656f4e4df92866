//! Results of input to a layer.

use crate::catalog::export::request::ExportRequest;
use crate::catalog::file_states::FileAt;
use crate::catalog::moves::MoveSelection;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::changes::{ExpectedSession, FileSnapshot, SessionIdentity};
use crate::keymap::Action;
use crate::pi::launch::Start;
use crate::session::entry::EntryId;
use crate::session::marks::Mark;

/// Result of input to the layer on top.
#[derive(Debug)]
pub enum LayerResult<C> {
    /// The layer stays.
    Stay,
    /// The layer closes.
    Close,
    /// All palettes close.
    CloseLists,
    /// The layer closes and the command of a choice runs.
    CloseAndRun(C),
    /// The layer stays and the command of a choice runs.
    Run(C),
    /// The search text changed.
    SearchText(String),
    /// The search stays and its line closes.
    KeepSearch,
    /// Complete the typed directory path.
    CompleteDir(String),
    /// The search is canceled and its line closes.
    CancelSearch,
    /// The line is submitted. The layer closes; with a directory, once the line proves valid.
    Submit(PromptPurpose, String),
    /// A palette item was chosen.
    Choose(ChoiceAction),
    /// An action that the layer does not handle.
    Act(Action),
    /// The input is for the pane below.
    Pass,
}

/// Purpose of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPurpose {
    /// The name of a session.
    Name(SessionKey, SessionIdentity),
    /// The label of an entry.
    Label(SessionKey, SessionIdentity, EntryId),
    /// The name of several sessions.
    Names(Vec<ExpectedSession>),
    /// The label of the last message of each session.
    Labels(Vec<ExpectedSession>),
    /// The tags of sessions, and those that the line showed.
    Tags(Vec<ExpectedSession>, Vec<String>),
    /// The note of a session or an entry, and the text that the line showed.
    SessionNote(ExpectedSession, Mark, String),
    /// Confirmation of a permanent deletion, and the files.
    Word(Vec<FileSnapshot>),
    /// File or directory of an export.
    Export(Box<ExportRequest>),
    /// Path of a new file with the content of a state.
    WriteFile(Box<FileAt>),
    /// New location of a session's missing working directory.
    Directory(Start),
    /// New working directory of sessions.
    Move(MoveSelection),
}

impl PromptPurpose {
    /// Returns `true` for the path of a directory, which can be completed and must exist.
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self, Self::Directory(_) | Self::Move(_))
    }
}

/// Action of a palette item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceAction {
    /// Do an action.
    Act(Action),
    /// Search all sessions.
    Search(String),
    /// Go to an entry.
    Entry(EntryRef),
    /// Go to a project.
    Project(ProjectKey),
    /// Restore a session from the trash: undo the change of this number.
    Restore(u64),
    /// Undo the changes of a group.
    Undo(u64),
    /// Show why the item has no action.
    Explain(&'static str),
    /// Show or hide a session of the family in the tree.
    ToggleMember(SessionKey),
}

/// Returns the number of rows by which an action moves, down or (negative) up; `None` for other actions.
pub(crate) fn movement(action: Action, page: usize) -> Option<isize> {
    let page = isize::try_from(page).unwrap_or(isize::MAX);
    match action {
        Action::Up | Action::ListUp => Some(-1),
        Action::Down | Action::ListDown => Some(1),
        Action::PageUp | Action::ListPageUp => Some(-page),
        Action::PageDown | Action::ListPageDown => Some(page),
        Action::HalfPageUp => Some(-(page / 2).max(1)),
        Action::HalfPageDown => Some((page / 2).max(1)),
        Action::First => Some(isize::MIN),
        Action::Last => Some(isize::MAX),
        _ => None,
    }
}

/// Returns the next or the previous of all values, in a circle.
pub(crate) fn neighbor<T: Copy + PartialEq>(all: &[T], one: T, forward: bool) -> T {
    let at = all.iter().position(|&other| other == one).unwrap_or_default();
    all[(at + if forward { 1 } else { all.len() - 1 }) % all.len()]
}
