//! What layers answer when something happens to them, and what they see of the world.

use crate::app::startup::Startup;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::{FileSnapshot, SessionIdentity};
use crate::keymap::Action;
use crate::pi::launch::Start;
use crate::session::entry::EntryId;

/// What layers need to know of the world.
#[derive(Clone, Copy, Debug)]
pub struct LayerContext<'a> {
    /// What does not change.
    pub setting: &'a Startup,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

/// What comes of something that the layer on top got.
#[derive(Debug)]
pub enum LayerResult<C> {
    /// Nothing more.
    Stay,
    /// The layer closes.
    Close,
    /// All lists close.
    CloseLists,
    /// The layer closes, and a choice is made.
    Chosen(C),
    /// A choice is made over which something else is shown: the layer stays below it.
    Over(C),
    /// What is looked for is something else now.
    Typed(String),
    /// What is looked for stays.
    Keep,
    /// The path of a directory that is typed is to be completed.
    Complete(String),
    /// What was looked for is given up.
    GiveUp,
    /// The layer closes; a line was typed.
    Accepted(PromptPurpose, String),
    /// A line was typed; the layer closes when it is known that it will do.
    Tried(PromptPurpose, String),
    /// A row of a list was chosen.
    Leads(ChoiceAction),
    /// An action is to be done that is not the layer's own.
    Act(Action),
    /// It is for what lies below.
    Pass,
}

/// What the line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPurpose {
    /// The name of a session.
    Name(SessionKey, SessionIdentity),
    /// The label of an entry.
    Label(SessionKey, SessionIdentity, EntryId),
    /// The word without which nothing is deleted for good, and what goes then.
    Word(Vec<FileSnapshot>),
    /// What the gone directory of a session is now.
    Directory(Start),
}

/// What a row leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceAction {
    /// An action is done.
    Act(Action),
    /// Sessions are searched.
    Search(String),
    /// An entry of a session is gone to.
    Entry(EntryRef),
    /// The entries that touched a file are listed.
    File(String),
    /// The same of all sessions.
    Everywhere(String),
    /// A session comes back from the trash: the number of the change.
    Restore(u64),
    /// What was made together is taken back.
    Undo(u64),
    /// It is said why nothing can be done.
    Told(&'static str),
    /// A session of the family is hidden in its tree, or shown again.
    Member(SessionKey),
    /// Nothing: it only tells something.
    Nothing,
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
