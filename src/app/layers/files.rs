//! The files that sessions touched, over the whole screen, with the states of unfolded files as rows below them; and the
//! content of a file, or the difference between two states.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::screen::{LayerResult, List, Screen, movement};
use crate::app::ticket::Claim;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::normalize::fold;
use crate::base::sort;
use crate::base::text::{Glyphs, Span};
use crate::catalog::file_states::{FileAt, FileTextRequest, StateRow};
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::keymap::{Action, Key};
use crate::render::DocLine;
use crate::render::wrap::{VerbatimStyle, Wrapped};
use crate::search::text_match::Words;
use crate::session::digest::touched_files::FileUses;
use crate::session::tree::Tree;

/// Rows above the list.
const HEAD: u16 = 2;

/// The columns from which on a preview is beside the list.
const WIDE: u16 = 120;

/// The minimum columns of the list beside it.
const LIST: u16 = 76;

/// Sessions of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionScope {
    /// All sessions.
    #[default]
    All,
    /// One session.
    Session(SessionKey),
    /// The sessions of a project.
    Project(ProjectKey),
}

/// A file that sessions touched.
#[derive(Clone, Debug)]
pub struct ListedFile {
    /// The absolute path.
    pub path: String,
    /// The path as shown, cleaned.
    pub shown: String,
    /// The number of uses.
    pub uses: FileUses,
    /// The time of the last use, in milliseconds since 1970.
    pub latest: Option<i64>,
    folded: String,
}

impl ListedFile {
    /// Creates a file with its path as shown.
    pub(crate) fn new(path: String, shown: String, uses: FileUses, latest: Option<i64>) -> Self {
        let folded = fold(&shown);
        Self { path, shown, uses, latest, folded }
    }
}

/// The states of an unfolded file.
#[derive(Clone, Debug, Default)]
pub struct UnfoldedFile {
    /// The states, most recent first.
    pub states: Vec<StateRow>,
    /// `true` until all sessions are read.
    pub is_reading: bool,
    /// The error.
    pub problem: Option<String>,
    /// The pending reading.
    pub(crate) claim: Option<Claim>,
}

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesRow {
    /// A file, by its index.
    File(usize),
    /// A state of a file, by both indexes.
    State(usize, usize),
    /// A row that tells why an unfolded file has no states, by its index.
    Note(usize),
}

/// The files of sessions.
#[derive(Clone, Debug, Default)]
pub struct FilesView {
    /// The sessions.
    pub scope: SessionScope,
    /// The sessions for which the view was opened.
    pub opened_for: SessionScope,
    /// The sessions in words, cleaned.
    pub title: String,
    /// The filter as typed.
    pub filter: String,
    /// The filter.
    pub words: Arc<Words>,
    /// The version of the listed catalog.
    pub catalog_version: u64,
    /// The files, most changed first.
    pub files: Vec<ListedFile>,
    /// The unfolded files, by path.
    pub unfolded: BTreeMap<String, UnfoldedFile>,
    /// The trees of the sessions with states.
    pub trees: HashMap<SessionKey, Arc<Tree>>,
    /// The marked state: the path of its file, and its entry.
    pub marked: Option<(String, EntryRef)>,
    /// `true` until the files were listed once.
    pub is_listing: bool,
    /// The file whose newest state is shown once its states are read.
    pub(crate) shows_newest: Option<String>,
    /// The file to select once it is listed, and `true` to unfold it.
    pub(crate) wanted: Option<(String, bool)>,
    /// The content beside the list.
    pub preview: Option<Box<FileTextView>>,
    /// The rows.
    pub rows: Vec<FilesRow>,
    /// The selected row.
    pub cursor: Cursor,
    /// The pending listing.
    pub(crate) claim: Option<Claim>,
}

impl FilesView {
    /// Creates a view without files.
    pub(crate) fn new(scope: SessionScope) -> Self {
        Self { scope, opened_for: scope, is_listing: true, ..Self::default() }
    }

    /// Replaces the files. The selected row stays selected.
    pub(crate) fn on_files(&mut self, files: Vec<ListedFile>) {
        let selected = self.selection();
        self.files = files;
        self.is_listing = false;
        self.make_rows(selected);
    }

    /// Returns the marked state.
    pub(crate) fn marked_state(&self) -> Option<&StateRow> {
        let (path, entry) = self.marked.as_ref()?;
        self.unfolded.get(path)?.states.iter().find(|state| state.entry == *entry)
    }

    /// Filters the files.
    pub(crate) fn narrow(&mut self, text: &str) {
        self.filter = text.into();
        self.words = Arc::new(Words::plain(text));
        self.make_rows(None);
        self.cursor = Cursor::default();
    }

    /// Returns the path of the selected row's file, and the entry of a state.
    fn selection(&self) -> Option<(String, Option<EntryRef>)> {
        let (file, state) = (self.selected_file()?, self.selected_state());
        Some((file.path.clone(), state.map(|state| state.entry)))
    }

    /// Builds the rows and selects a row again.
    fn make_rows(&mut self, selected: Option<(String, Option<EntryRef>)>) {
        let score = |(at, file): (usize, &ListedFile)| Some((self.words.score(&file.folded)?, at));
        let mut shown: Vec<_> = self.files.iter().enumerate().filter_map(score).collect();
        sort::by_key(&mut shown, |&(score, at)| (std::cmp::Reverse(score), at));
        let mut rows = Vec::new();
        for (_, file) in shown {
            rows.push(FilesRow::File(file));
            let Some(unfolded) = self.unfolded.get(&self.files[file].path) else { continue };
            rows.extend((0..unfolded.states.len()).map(|state| FilesRow::State(file, state)));
            let has_note = unfolded.is_reading || unfolded.problem.is_some() || unfolded.states.is_empty();
            rows.extend(has_note.then_some(FilesRow::Note(file)));
        }
        self.rows = rows;
        let Some((path, entry)) = selected else { return };
        let is_same_row = |row: &FilesRow| match *row {
            FilesRow::File(file) => entry.is_none() && self.files[file].path == path,
            FilesRow::State(file, _) if self.files[file].path != path => false,
            row => self.state(row).map(|state| state.entry) == entry && entry.is_some(),
        };
        let file = |row: &FilesRow| matches!(*row, FilesRow::File(file) if self.files[file].path == path);
        if let Some(at) = self.rows.iter().position(is_same_row).or_else(|| self.rows.iter().position(file)) {
            self.cursor.follow(at);
        }
    }

    /// Selects a file.
    pub(crate) fn select(&mut self, file: &str) {
        self.make_rows(Some((file.into(), None)));
    }

    /// Unfolds a file whose states are read.
    pub(crate) fn unfold(&mut self, file: &str, claim: Claim) {
        let selected = self.selection();
        self.unfolded
            .insert(file.into(), UnfoldedFile { is_reading: true, claim: Some(claim), ..UnfoldedFile::default() });
        self.make_rows(selected);
    }

    /// Returns the unfolded files whose states were not all read.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        let is_reading = |(path, unfolded): (&String, &UnfoldedFile)| unfolded.is_reading.then(|| path.clone());
        self.unfolded.iter().filter_map(is_reading).collect()
    }

    /// Folds the file of the selected row and selects it.
    pub(crate) fn fold(&mut self) {
        let Some(path) = self.selected_file().map(|file| file.path.clone()) else { return };
        self.unfolded.remove(&path);
        self.make_rows(Some((path, None)));
    }

    /// Changes the states of an unfolded file.
    pub(crate) fn update(&mut self, file: &str, change: impl FnOnce(&mut UnfoldedFile)) {
        let selected = self.selection();
        let Some(unfolded) = self.unfolded.get_mut(file) else { return };
        change(unfolded);
        sort::by_key(&mut unfolded.states, |state| std::cmp::Reverse((state.time, state.entry.at)));
        self.make_rows(selected);
    }

    fn state(&self, row: FilesRow) -> Option<&StateRow> {
        let FilesRow::State(file, state) = row else { return None };
        self.unfolded.get(&self.files[file].path)?.states.get(state)
    }

    /// Returns the state of a row.
    pub fn state_at(&self, row: usize) -> Option<&StateRow> {
        self.state(*self.rows.get(row)?)
    }

    /// Returns the selected state.
    pub(crate) fn selected_state(&self) -> Option<&StateRow> {
        self.state_at(self.cursor.at)
    }

    /// Returns the selected state, or the newest one of an unfolded file.
    pub(crate) fn shown_state(&self) -> Option<&StateRow> {
        self.selected_state().or_else(|| self.unfolded.get(&self.selected_file()?.path)?.states.first())
    }

    /// Returns the file of the selected row.
    pub(crate) fn selected_file(&self) -> Option<&ListedFile> {
        let (FilesRow::File(file) | FilesRow::State(file, _) | FilesRow::Note(file)) =
            *self.rows.get(self.cursor.at)?;
        self.files.get(file)
    }

    /// Returns `true` if the file of the selected row is unfolded.
    pub(crate) fn is_unfolded(&self) -> bool {
        self.selected_file().is_some_and(|file| self.unfolded.contains_key(&file.path))
    }

    /// Selects the newest state of the selected file.
    pub(crate) fn step_into(&mut self) {
        if matches!(self.rows.get(self.cursor.at), Some(FilesRow::File(_)))
            && self.state_at(self.cursor.at + 1).is_some()
        {
            self.cursor.at += 1;
        }
    }

    /// Selects the next or previous state of the same file. Returns `true` if there is one.
    pub(crate) fn step(&mut self, by: isize) -> bool {
        let next = self.cursor.at.saturating_add_signed(by);
        let is_state = self.selected_state().is_some() && next != self.cursor.at && self.state_at(next).is_some();
        if is_state {
            self.cursor.at = next;
        }
        is_state
    }

    /// Marks the selected state, or unmarks it.
    pub(crate) fn toggle_mark(&mut self) -> bool {
        let Some((path, Some(entry))) = self.selection() else { return false };
        let mark = Some((path, entry));
        self.marked = if self.marked == mark { None } else { mark };
        true
    }

    /// Returns the number of shown files.
    pub fn shown(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, FilesRow::File(_))).count()
    }

    /// Returns the area of the list.
    pub fn body((columns, rows): (u16, u16)) -> Rect {
        let width = if columns < WIDE { columns } else { (columns / 2).max(LIST) };
        Rect { x: 0, y: HEAD.min(rows), width, height: rows.saturating_sub(HEAD + 1) }
    }

    /// Returns the area of the preview beside the list, empty in narrow terminals.
    pub fn preview_area(terminal: TerminalSize) -> Rect {
        let list = Self::body(terminal);
        let width = terminal.0.saturating_sub(list.width + 2);
        Rect { x: list.right() + 1, width, ..list }
    }
}

impl Screen for FilesView {
    fn fit(&mut self, terminal: TerminalSize) {
        self.list(terminal).into_iter().for_each(List::fit);
        self.preview.iter_mut().for_each(|preview| preview.fit_to(Self::preview_area(terminal)));
    }

    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        Some(List { cursor: &mut self.cursor, len: self.rows.len(), area: Self::body(terminal) })
    }

    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult {
        match action {
            Action::Files => return LayerResult::Close,
            Action::Back if self.filter.is_empty() => return LayerResult::Close,
            Action::Back => self.narrow(""),
            Action::Fold => self.fold(),
            action => return LayerResult::Act(action),
        }
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::Confirm,
            A::ShowContent,
            A::DiffState,
            A::DiffDisk,
            A::WriteFile,
            A::Copy,
            A::Find,
            A::Mark,
            A::AllSessions,
            A::Back,
            A::Down,
            A::Up,
            A::Quit,
        ]
    }

    fn offers(&self, action: Action, _terminal: TerminalSize) -> bool {
        match action {
            Action::DiffState | Action::DiffDisk | Action::WriteFile | Action::Mark => self.selected_state().is_some(),
            Action::AllSessions => self.opened_for != SessionScope::All,
            Action::Confirm | Action::Copy | Action::ShowContent => !self.rows.is_empty(),
            _ => true,
        }
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        let is_state = self.selected_state().is_some();
        match action {
            Action::Back if !self.filter.is_empty() => Some("clear filter"),
            Action::Confirm if is_state => Some("go to entry"),
            Action::Confirm if self.is_unfolded() => Some("fold"),
            Action::Confirm => Some("unfold"),
            Action::Copy if !is_state => Some("copy path"),
            Action::Find => Some("filter"),
            Action::AllSessions if self.scope == SessionScope::All => Some("fewer sessions"),
            _ => None,
        }
    }
}

/// Rows to wrap beyond the first visible one.
const AHEAD: usize = 1000;

/// A text over the whole screen.
#[derive(Clone, Debug)]
pub struct FileTextView {
    /// The file as shown, cleaned.
    pub title: String,
    /// The compared states, cleaned.
    pub subject: String,
    /// The file and the form.
    pub request: FileTextRequest,
    /// The file at the selected entry; `None` in a comparison of branches.
    pub at: Option<(EntryRef, FileAt)>,
    /// Facts about the states, cleaned; empty while they are read.
    pub facts: String,
    /// The lines.
    pub lines: Arc<Vec<DocLine>>,
    /// The wrapped lines.
    pub wrapped: Wrapped,
    /// The first visible row.
    pub top: usize,
    /// The pending reading.
    pub(crate) claim: Option<Claim>,
}

impl FileTextView {
    /// Creates a view whose text is read.
    pub(crate) fn new(title: String, subject: String, request: FileTextRequest, glyphs: &Glyphs) -> Self {
        let style = VerbatimStyle {
            continuation: glyphs.wrapped.clone(),
            more: glyphs.ellipsis.clone(),
            ..VerbatimStyle::default()
        };
        Self {
            title,
            subject,
            request,
            at: None,
            facts: String::new(),
            lines: Arc::default(),
            wrapped: Wrapped::with_style(1, style),
            top: 0,
            claim: None,
        }
    }

    /// Takes the text.
    pub(crate) fn on_text(&mut self, facts: String, lines: Vec<DocLine>) {
        (self.facts, self.lines, self.claim) = (facts, Arc::new(lines), None);
        self.wrapped = Wrapped::with_style(self.wrapped.width, self.wrapped.style.clone());
    }

    /// Returns the area of the text.
    pub fn body((columns, rows): (u16, u16)) -> Rect {
        let width = columns.saturating_sub(2);
        Rect { x: 1.min(columns), y: HEAD.min(rows), width, height: rows.saturating_sub(HEAD + 1) }
    }

    /// Returns a visible row.
    pub fn row(&self, at: usize) -> Vec<Span> {
        let shown = self.wrapped.shown(&self.lines, at);
        shown
            .map_or_else(Vec::new, |shown| shown.pieces.into_iter().map(|(text, tone)| Span::new(tone, text)).collect())
    }
}

impl FileTextView {
    /// Wraps the lines for an area.
    fn fit_to(&mut self, body: Rect) {
        let (columns, rows) = (usize::from(body.width).max(1), usize::from(body.height));
        if self.wrapped.width != columns {
            self.wrapped = Wrapped::with_style(columns, self.wrapped.style.clone());
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(rows.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(rows));
        }
    }
}

impl Screen for FileTextView {
    fn fit(&mut self, terminal: TerminalSize) {
        self.fit_to(Self::body(terminal));
    }

    fn press(&mut self, _key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        let page = usize::from(Self::body(terminal).height).saturating_sub(1).max(1);
        match action.and_then(|action| movement(action, page)) {
            Some(by) => self.wheel(by, terminal),
            None => action.map_or(LayerResult::Stay, |action| self.act(action, terminal)),
        }
    }

    fn wheel(&mut self, by: isize, _terminal: TerminalSize) -> LayerResult {
        self.top = self.top.saturating_add_signed(by);
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::Down,
            A::ShowContent,
            A::DiffState,
            A::DiffDisk,
            A::WriteFile,
            A::Copy,
            A::NextEntry,
            A::PreviousEntry,
            A::Confirm,
            A::Back,
            A::PageDown,
            A::Quit,
        ]
    }

    fn offers(&self, action: Action, _terminal: TerminalSize) -> bool {
        use Action as A;
        self.at.is_some() || matches!(action, A::Help | A::Down | A::Back | A::PageDown | A::Quit)
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::NextEntry => Some("next"),
            Action::PreviousEntry => Some("previous"),
            Action::Confirm => Some("go to entry"),
            _ => None,
        }
    }
}
