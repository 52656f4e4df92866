//! A box with an input line that filters a list. Module [`palettes`](crate::app::palettes) provides the items.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::screen::{ChoiceAction, LayerResult, List, Screen};
use crate::app::panes::sessions::ProjectName;
use crate::app::widgets::{Cursor, LineEdit, TerminalSize, largest, middle};
use crate::base::named::named;
use crate::base::normalize::fold;
use crate::base::sort;
use crate::base::text::{Glyphs, Span, Tone, highlight, spans_width, width};
use crate::keymap::{Action, Key, KeyContext};
use crate::search::text_match::Words;

/// Maximum columns and rows of the box.
const LARGEST: (u16, u16) = (116, 32);
/// Maximum columns of the command palette, so that each key is near its command.
const COMMANDS: u16 = 66;
/// The rows of the description of the selected item, with a line above.
pub(crate) const ABOUT: u16 = 3;
/// Columns from which on the groups are shown.
const GROUPED: usize = 48;

/// Columns from which on a project has totals.
const WITH_TOTALS: usize = 56;

named! {
    /// Content of a palette, by its title.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum PaletteKind {
        /// Actions.
        #[default]
        Actions = "Commands",
        /// Labels of all sessions.
        Labels = "Labels and commits",
        /// Sessions of a family, to show or hide in the tree.
        Family = "Family",
        /// Sessions in the trash.
        Trash = "Trash",
        /// All changes.
        History = "History",
        /// All projects.
        Projects = "Projects",
        /// The keys of a place, all keys, the query syntax and the symbols.
        Help = "Help",
    }
}

/// An item of a palette.
#[derive(Clone, Debug)]
pub struct PaletteItem {
    /// Left text.
    pub left: Vec<Span>,
    /// Right text.
    pub right: Vec<Span>,
    /// Facts after the right text; not searched.
    pub facts: Span,
    /// The action of the item.
    pub action: ChoiceAction,
    /// The group; empty without groups.
    group: &'static str,
    /// The project, whose name and facts depend on the width.
    project: Option<ProjectItem>,
    /// The name that ranks first when typed; empty without a name.
    name: &'static str,
    folded: String,
    /// The text with its description, which is not drawn.
    described: String,
    /// The description, drawn for the selected item.
    pub about: String,
}

/// The parts of an item of a project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectItem {
    /// The name, which is cut to the width.
    pub(crate) name: ProjectName,
    /// A symbol after the name; empty without one.
    pub(crate) symbol: Span,
    /// The number of sessions and their cost.
    pub(crate) totals: Span,
}

impl PaletteItem {
    /// Creates an item.
    pub fn new(left: Vec<Span>, right: Vec<Span>, facts: Span, action: ChoiceAction) -> Self {
        let folded = fold(&text(&left, &right));
        let (described, about) = (String::new(), String::new());
        Self { left, right, facts, action, group: "", project: None, name: "", folded, described, about }
    }

    /// Creates an item of a project with an age. The working directory is searched but not drawn.
    pub(crate) fn project(project: ProjectItem, cwd: &str, age: Span, action: ChoiceAction) -> Self {
        let name = Span::new(Tone::Strong, format!("{}  {}", project.name.name, project.name.dir));
        let item = Self::new(vec![name], Vec::new(), age, action).called("", cwd);
        Self { project: Some(project), ..item }
    }

    /// Adds a name, and a description that is searched but not drawn.
    pub(crate) fn called(self, name: &'static str, description: &str) -> Self {
        let described = format!("{} {name} {}", self.folded, fold(description));
        Self { name, described, ..self }
    }

    /// Sets the description that is drawn for the selected item.
    pub(crate) fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Sets the group.
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

/// A list with a filter.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// Content of the list.
    pub kind: PaletteKind,
    /// The input line.
    pub line: LineEdit,
    /// The selected row among the matches.
    pub cursor: Cursor,
    /// Version of the listed catalog.
    pub catalog_version: u64,
    /// The place whose keys the help shows first.
    pub over: KeyContext,
    rows: Vec<PaletteItem>,
    /// The filter.
    words: Arc<Words>,
    /// Indexes of the matching rows, best first.
    shown: Vec<usize>,
}

impl Palette {
    /// Creates an empty palette.
    pub fn new(kind: PaletteKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Replaces the items. Keeps the selected item selected unless it is the first one.
    pub fn fill(&mut self, rows: Vec<PaletteItem>) {
        let selected = self.selected().filter(|_| self.cursor.at > 0).map(|row| row.action.clone());
        self.rows = rows;
        self.narrow();
        let Some(selected) = selected else { return };
        // If the item no longer exists, its row stays selected.
        if let Some(at) = self.shown.iter().position(|&at| self.rows[at].action == selected) {
            self.cursor.follow(at);
        }
    }

    /// Finds the rows that match the input.
    fn narrow(&mut self) {
        self.words = Arc::new(Words::plain(self.line.value()));
        let typed = fold(self.line.value().trim());
        // The start of a name outranks other matches.
        let begins = |row: &PaletteItem| !typed.is_empty() && row.name.starts_with(&typed);
        let called = |row: &PaletteItem| begins(row).then_some(std::cmp::Reverse(row.name.len()));
        let rank = |(at, row): (usize, &PaletteItem)| Some((called(row), row.score(&self.words)?, at));
        let mut found: Vec<_> = self.rows.iter().enumerate().filter_map(rank).collect();
        sort::by_key(&mut found, |&(called, score, _)| std::cmp::Reverse((called, score)));
        self.shown = found.into_iter().map(|(.., at)| at).collect();
    }

    /// Returns the number of matches and the number of items.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.rows.len())
    }

    /// Returns the selected item.
    pub fn selected(&self) -> Option<&PaletteItem> {
        self.row(self.cursor.at)
    }

    /// Returns a match as drawn in some columns, left and right, with highlighted words.
    pub fn drawn(&self, at: usize, columns: usize, glyphs: &Glyphs) -> (Vec<Span>, Vec<Span>) {
        let Some(row) = self.row(at) else { return Default::default() };
        let mut left = row.left.clone();
        let mut facts = vec![row.facts.clone()];
        let room = |facts: &[Span]| columns.saturating_sub(spans_width(facts) + 1);
        if let Some(project) = &row.project {
            facts.splice(..0, (columns >= WITH_TOTALS).then(|| project.totals.clone()));
            left = project.name.cut(room(&facts).saturating_sub(width(&project.symbol.text)), glyphs);
            left.push(project.symbol.clone());
        }
        let marks = self.words.marks(&text(&left, &row.right));
        let len: usize = left.iter().map(|span| span.text.len()).sum();
        let behind: Vec<_> = marks.iter().filter(|mark| mark.end > len).collect();
        let behind: Vec<_> = behind.into_iter().map(|mark| mark.start.saturating_sub(len)..mark.end - len).collect();
        let mut right = highlight(&row.right, &behind);
        right.extend(facts);
        (self.group(at, columns).into_iter().chain(highlight(&left, &marks)).collect(), right)
    }

    /// Returns the column of groups if it fits; the first visible row of a group names it.
    fn group(&self, at: usize, columns: usize) -> Option<Span> {
        let name = |at: usize| self.row(at).map_or("", |row| row.group);
        let widest = self.rows.iter().map(|row| width(row.group)).max().filter(|&widest| widest > 0)?;
        let is_first = at == self.cursor.top || name(at) != name(at - 1);
        let text = format!("{:<1$}  ", if is_first { name(at) } else { "" }, widest);
        (columns >= GROUPED).then(|| Span::new(Tone::Heading, text))
    }

    /// Returns an item among the matches.
    fn row(&self, at: usize) -> Option<&PaletteItem> {
        self.shown.get(at).map(|&at| &self.rows[at])
    }

    /// Returns the area of the box.
    pub fn area(&self, terminal: TerminalSize) -> Rect {
        let widest = if self.kind == PaletteKind::Actions { COMMANDS } else { LARGEST.0 };
        let (columns, rows) = largest(terminal, widest);
        middle(terminal, (columns, rows.min(LARGEST.1)))
    }

    /// Returns the area of the list.
    pub fn list_area(&self, terminal: TerminalSize) -> Rect {
        let Rect { x, y, width, height } = self.area(terminal);
        let about = if self.has_descriptions() { ABOUT } else { 0 };
        Rect::new(x + 2, y + 2, width.saturating_sub(4), height.saturating_sub(3 + about))
    }

    /// Returns `true` if the box shows the description of the selected item.
    pub fn has_descriptions(&self) -> bool {
        matches!(self.kind, PaletteKind::Actions | PaletteKind::Help)
    }

    fn typed(&mut self) {
        self.cursor = Cursor::default();
        self.narrow();
    }

    fn choose_selected(&self) -> LayerResult {
        self.selected().map_or(LayerResult::Stay, |row| LayerResult::Choose(row.action.clone()))
    }
}

impl Screen for Palette {
    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        let area = self.list_area(terminal);
        Some(List { cursor: &mut self.cursor, len: self.shown.len(), area })
    }

    fn press(&mut self, key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        if let (Some(action), Some(list)) = (action, self.list(terminal))
            && list.go(action)
        {
            return LayerResult::Stay;
        }
        match action {
            Some(Action::Accept) => return self.choose_selected(),
            Some(Action::Cancel) => return LayerResult::Close,
            Some(Action::Close) => return LayerResult::CloseLists,
            Some(own @ (Action::RenameLabel | Action::CopyPath)) => return LayerResult::Act(own),
            action => {
                if self.line.press(key, action) {
                    self.typed();
                }
            }
        }
        LayerResult::Stay
    }

    fn paste(&mut self, text: &str) -> LayerResult {
        self.line.paste(text);
        self.typed();
        LayerResult::Stay
    }

    /// Takes the clicked item; a click outside the box closes it.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        if !self.area(terminal).contains(position.into()) {
            return LayerResult::Close;
        }
        match self.list(terminal).and_then(|list| list.row_at(position)) {
            Some(at) => {
                self.cursor.at = at;
                self.choose_selected()
            }
            None => LayerResult::Stay,
        }
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        match self.kind {
            PaletteKind::Labels => &[A::Accept, A::RenameLabel, A::ListDown, A::ListUp, A::Cancel, A::Help],
            _ => &[A::Accept, A::CopyPath, A::ListDown, A::ListUp, A::ListPageDown, A::Cancel, A::Help],
        }
    }

    fn offers(&self, action: Action, _terminal: TerminalSize) -> bool {
        let is_restored = || self.selected().is_some_and(|row| matches!(row.action, ChoiceAction::Restore(_)));
        action != Action::CopyPath || is_restored()
    }
}
