//! A box with a line to type in and a list that follows it. What is listed comes from [`palettes`](crate::app::palettes);
//! here is how one chooses.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{ChoiceAction, LayerResult, movement};
use crate::app::widgets::cursor::Cursor;
use crate::app::widgets::line::LineEdit;
use crate::app::widgets::text_box::{largest, middle};
use crate::base::normalize::fold;
use crate::base::text::{Glyphs, Span, Tone, highlight, width};
use crate::catalog::{ProjectKey, SessionKey};
use crate::keymap::{Action, Key, Place};
use crate::search::text_match::Words;

/// The largest that the box becomes, in columns and rows.
const LARGEST: (u16, u16) = (116, 32);
/// The widest that the box of commands becomes, so that each key is near its command.
const COMMANDS: u16 = 66;
/// The fewest columns that have room for the names of groups.
const GROUPED: usize = 48;

/// What a palette is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteKind {
    /// What can be done here.
    Actions,
    /// The labels of all sessions.
    Labels,
    /// The sessions of a family, to be shown in its tree or not.
    Family,
    /// The sessions in the trash.
    Trash,
    /// All that was changed.
    History,
    /// The files that some sessions touched.
    Files(SessionScope),
    /// The entries that touched a file.
    Touches {
        /// The file.
        file: String,
        /// In which sessions.
        scope: SessionScope,
    },
}

/// Which sessions a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionScope {
    /// All.
    All,
    /// One.
    Session(SessionKey),
    /// Those of a project.
    Project(ProjectKey),
}

/// Something that can be chosen.
#[derive(Clone, Debug)]
pub struct PaletteItem {
    /// What it says.
    pub left: Vec<Span>,
    /// What it says to the right.
    pub right: Vec<Span>,
    /// What stands behind that and is not looked through.
    pub facts: Span,
    /// What it leads to.
    pub leads: ChoiceAction,
    /// The group that it belongs to; empty if the rows have no groups.
    group: &'static str,
    /// The name by which it can be called; empty if it has none.
    name: &'static str,
    folded: String,
    /// The text and its description, which is not drawn.
    described: String,
}

impl PaletteItem {
    /// Something that can be chosen.
    pub fn new(left: Vec<Span>, right: Vec<Span>, facts: Span, leads: ChoiceAction) -> Self {
        let folded = fold(&text(&left, &right));
        Self { left, right, facts, leads, group: "", name: "", folded, described: String::new() }
    }

    /// The same, that can be called by a name, and found by a description that is not drawn.
    pub(crate) fn called(self, name: &'static str, description: &str) -> Self {
        let described = format!("{} {name} {}", self.folded, fold(description));
        Self { name, described, ..self }
    }

    /// The same in a group.
    pub(crate) fn under(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    /// Scores the match with the words, higher is better. The description must have all of them literally, and ranks
    /// below the text.
    fn score(&self, words: &Words) -> Option<i64> {
        let described = words.score(&self.described).filter(|&score| score == 0).map(|_| -1);
        words.score(&self.folded).max(described)
    }
}

fn text(left: &[Span], right: &[Span]) -> String {
    left.iter().chain(right).map(|span| span.text.as_str()).collect()
}

/// A palette.
#[derive(Clone, Debug)]
pub struct Palette {
    /// What it is for.
    pub kind: PaletteKind,
    /// The first line; may hold text from files.
    pub title: String,
    /// What is typed.
    pub line: LineEdit,
    /// The selected row, of those that match.
    pub cursor: Cursor,
    /// The version of the catalog that is listed.
    pub as_of: u64,
    rows: Vec<PaletteItem>,
    /// What is looked for in them.
    words: Arc<Words>,
    /// The rows that match, the best first.
    shown: Vec<usize>,
}

impl Palette {
    /// A palette without rows.
    pub fn new(kind: PaletteKind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            line: LineEdit::default(),
            cursor: Cursor::default(),
            as_of: 0,
            rows: Vec::new(),
            words: Arc::default(),
            shown: Vec::new(),
        }
    }

    /// Lists these rows. The selection stays on what it leads to, unless it stands at the top.
    pub fn list(&mut self, rows: Vec<PaletteItem>) {
        let selected = self.selected().filter(|_| self.cursor.at > 0).map(|row| row.leads.clone());
        self.rows = rows;
        self.narrow();
        let Some(selected) = selected else { return };
        // What is gone leaves its place to what follows.
        if let Some(at) = self.shown.iter().position(|&at| self.rows[at].leads == selected) {
            self.cursor.follow(at);
        }
    }

    /// Finds the rows that match what is typed.
    fn narrow(&mut self) {
        self.words = Arc::new(Words::plain(self.line.value()));
        let typed = fold(self.line.value().trim());
        // Who types a name means what is called so, before all that only speaks of it.
        let begins = |row: &PaletteItem| !typed.is_empty() && row.name.starts_with(&typed);
        let called = |row: &PaletteItem| begins(row).then_some(std::cmp::Reverse(row.name.len()));
        let rank = |(at, row): (usize, &PaletteItem)| Some((called(row), row.score(&self.words)?, at));
        let mut found: Vec<_> = self.rows.iter().enumerate().filter_map(rank).collect();
        found.sort_by_key(|&(called, score, _)| std::cmp::Reverse((called, score)));
        self.shown = found.into_iter().map(|(.., at)| at).collect();
    }

    /// How many rows match, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.rows.len())
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&PaletteItem> {
        self.row(self.cursor.at)
    }

    /// A row of those that match, as it is drawn in so many columns: what it says to the left and to the right, matches
    /// marked.
    pub fn drawn(&self, at: usize, columns: usize, glyphs: &Glyphs) -> (Vec<Span>, Vec<Span>) {
        let Some(row) = self.row(at) else { return Default::default() };
        let mut left = row.left.clone();
        if let PaletteKind::Files(_) = self.kind {
            // Of a path the name is seen.
            let room = columns.saturating_sub(width(&row.facts.text) + 1);
            left.iter_mut().for_each(|path| path.text = glyphs.cut_path(&path.text, room).into_owned());
        }
        let marks = self.words.marks(&text(&left, &row.right));
        let len: usize = left.iter().map(|span| span.text.len()).sum();
        let behind: Vec<_> = marks.iter().filter(|mark| mark.end > len).collect();
        let behind: Vec<_> = behind.into_iter().map(|mark| mark.start.saturating_sub(len)..mark.end - len).collect();
        let mut right = highlight(&row.right, &behind);
        right.push(row.facts.clone());
        (self.group(at, columns).into_iter().chain(highlight(&left, &marks)).collect(), right)
    }

    /// The column of groups, if there is room for it: the first row that is seen of a group names it.
    fn group(&self, at: usize, columns: usize) -> Option<Span> {
        let name = |at: usize| self.row(at).map_or("", |row| row.group);
        let widest = self.rows.iter().map(|row| width(row.group)).max().filter(|&widest| widest > 0)?;
        let is_first = at == self.cursor.top || name(at) != name(at - 1);
        let text = format!("{:<1$}  ", if is_first { name(at) } else { "" }, widest);
        (columns >= GROUPED).then(|| Span::new(Tone::Heading, text))
    }

    /// A row of those that match.
    fn row(&self, at: usize) -> Option<&PaletteItem> {
        self.shown.get(at).map(|&at| &self.rows[at])
    }

    /// Where the box stands.
    pub fn area(&self, terminal: (u16, u16)) -> Rect {
        let widest = if self.kind == PaletteKind::Actions { COMMANDS } else { LARGEST.0 };
        let (columns, rows) = largest(terminal, widest);
        middle(terminal, (columns, rows.min(LARGEST.1)))
    }

    /// Where its list stands: below the line, inside the frame.
    pub fn list_area(&self, terminal: (u16, u16)) -> Rect {
        let Rect { x, y, width, height } = self.area(terminal);
        Rect::new(x + 2, y + 2, width.saturating_sub(4), height.saturating_sub(3))
    }

    /// Brings the selection into sight.
    pub fn fit(&mut self, terminal: (u16, u16)) {
        self.cursor.fit(self.shown.len(), self.list_area(terminal).height.into());
    }

    fn typed(&mut self) {
        self.cursor = Cursor::default();
        self.narrow();
    }

    /// Where its keys are looked up.
    pub fn place(&self) -> Place {
        if self.kind == PaletteKind::Labels { Place::Labels } else { Place::Palette }
    }

    pub(super) fn press<C>(&mut self, key: Key, action: Option<Action>, terminal: (u16, u16)) -> LayerResult<C> {
        let page = self.list_area(terminal).height.saturating_sub(1).max(1).into();
        if let Some(by) = action.and_then(|action| movement(action, page)) {
            self.cursor.go(by, self.shown.len());
            return LayerResult::Stay;
        }
        match action {
            Some(Action::Accept) => return self.take(),
            Some(Action::Cancel) if !self.line.value().is_empty() => {
                self.line = LineEdit::default();
                self.typed();
            }
            Some(Action::Cancel) => return LayerResult::Close,
            Some(Action::Close) => return LayerResult::CloseLists,
            Some(own @ (Action::RenameLabel | Action::ClearLabel | Action::CopyPath)) => return LayerResult::Act(own),
            action => {
                if self.line.press(key, action) {
                    self.typed();
                }
            }
        }
        LayerResult::Stay
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.line.paste(text);
        self.typed();
    }

    /// On a row is Enter there, beside the box closes it.
    pub(super) fn click<C>(&mut self, (column, row): (u16, u16), terminal: (u16, u16)) -> LayerResult<C> {
        let list = self.list_area(terminal);
        if !self.area(terminal).contains((column, row).into()) {
            return LayerResult::Close;
        }
        let at = self.cursor.top + usize::from(row.saturating_sub(list.y));
        if list.contains((column, row).into()) && at < self.shown.len() {
            self.cursor.at = at;
            return self.take();
        }
        LayerResult::Stay
    }

    pub(super) fn wheel(&mut self, by: isize, terminal: (u16, u16)) {
        self.cursor.scroll(by, self.shown.len(), self.list_area(terminal).height.into());
    }

    fn take<C>(&self) -> LayerResult<C> {
        self.selected().map_or(LayerResult::Stay, |row| LayerResult::Leads(row.leads.clone()))
    }
}
