//! The trait of all layers, the list that most of them show, and the results of input to them.

use ratatui::layout::Rect;

use crate::app::resume_target::ResumeTarget;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::catalog::export::ExportRequest;
use crate::catalog::file_states::FileAt;
use crate::catalog::moves::MoveSelection;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::changes::{ExpectedSession, FileSnapshot, SessionIdentity};
use crate::keymap::{Action, Key};
use crate::session::entry::EntryId;
use crate::session::marks::Mark;

/// The list of a layer.
#[derive(Debug)]
pub struct List<'a> {
    /// The selection and the scroll position.
    pub(super) cursor: &'a mut Cursor,
    /// Number of rows.
    pub(super) len: usize,
    /// Area of the rows.
    pub(super) area: Rect,
}

impl List<'_> {
    fn height(&self) -> usize {
        self.area.height.max(1).into()
    }

    /// Moves the selection. Returns `false` if the action is not a movement.
    pub(super) fn go(self, action: Action) -> bool {
        let by = movement(action, self.height().saturating_sub(1).max(1));
        by.into_iter().for_each(|by| self.cursor.go(by, self.len));
        by.is_some()
    }

    /// Scrolls to the selection.
    pub(super) fn fit(self) {
        let height = self.height();
        self.cursor.fit(self.len, height);
    }

    /// Returns the row at a position of the terminal.
    pub(super) fn row_at(&self, (column, row): (u16, u16)) -> Option<usize> {
        let line = self.area.contains((column, row).into()).then(|| usize::from(row - self.area.y))?;
        Some(self.cursor.top + line).filter(|&at| at < self.len)
    }
}

/// A layer: its input, and its keys in the footer. Most layers show a [`List`]; the others handle more input themselves.
pub trait Screen {
    /// Returns the list in a terminal of a size.
    fn list(&mut self, _terminal: TerminalSize) -> Option<List<'_>> {
        None
    }

    /// Updates what depends on the size of the terminal, such as the scroll position. Called after each message.
    fn fit(&mut self, terminal: TerminalSize) {
        self.list(terminal).into_iter().for_each(List::fit);
    }

    /// Handles a key.
    fn press(&mut self, _key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        action.map_or(LayerResult::Stay, |action| self.run(action, terminal))
    }

    /// Moves the selection, or handles another action.
    fn run(&mut self, action: Action, terminal: TerminalSize) -> LayerResult {
        match self.list(terminal).is_some_and(|list| list.go(action)) {
            true => LayerResult::Stay,
            false => self.act(action, terminal),
        }
    }

    /// Handles an action that does not move the selection. Actions that need the model are returned.
    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult {
        if action == Action::Back { LayerResult::Close } else { LayerResult::Act(action) }
    }

    /// Handles pasted text.
    fn paste(&mut self, _text: &str) -> LayerResult {
        LayerResult::Stay
    }

    /// Selects the row at a position, or confirms it if it is selected. Returns `None` if there is no row.
    fn click_row(&mut self, position: (u16, u16), terminal: TerminalSize) -> Option<LayerResult> {
        let list = self.list(terminal)?;
        let at = list.row_at(position)?;
        let is_same = std::mem::replace(&mut list.cursor.at, at) == at;
        Some(if is_same { LayerResult::Act(Action::Confirm) } else { LayerResult::Stay })
    }

    /// Handles a click.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        self.click_row(position, terminal).unwrap_or(LayerResult::Stay)
    }

    /// Scrolls by some rows, down or (negative) up.
    fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult {
        if let Some(list) = self.list(terminal) {
            let height = list.height();
            list.cursor.scroll(by, list.len, height);
        }
        LayerResult::Stay
    }

    /// Returns the actions that the footer shows, the most important first.
    fn hints(&self) -> &'static [Action] {
        &[]
    }

    /// Returns `true` if the footer shows an action of [`hints`](Self::hints) now.
    fn offers(&self, _action: Action, _terminal: TerminalSize) -> bool {
        true
    }

    /// Returns the word for an action in the footer, if it differs from that of the table.
    fn word(&self, _action: Action) -> Option<&'static str> {
        None
    }
}

/// Result of input to the layer on top.
#[derive(Debug)]
pub enum LayerResult {
    /// The layer stays.
    Stay,
    /// The layer closes.
    Close,
    /// All palettes close.
    CloseLists,
    /// The choice of a question at an index was taken.
    Choice(usize),
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
    /// Directory to resume in, instead of a missing one.
    Directory(Box<ResumeTarget>),
    /// New working directory of sessions.
    Move(MoveSelection),
    /// The lines that stay at each end of shortened messages of the model context.
    KeptLines,
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
