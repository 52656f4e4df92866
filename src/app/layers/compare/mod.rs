//! Two ways, held against each other, over the whole terminal: sections that fold, and a side that is chosen, to be
//! resumed or labelled.

mod sections;

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::{LayerContext, LayerResult, movement};
use crate::app::widgets::cursor::Cursor;
use crate::base::text::{Glyphs, Span, Tone};
use crate::catalog::compare::{BranchEnd, ComparedBranches};
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Action;
use crate::session::tree::{Index, Tree};
use sections::{Section, sections};

/// The rows above the sections: what is in common, the sides, and a line.
const HEAD: u16 = 4;

/// A row of the view.
#[derive(Clone, Debug)]
pub struct CompareRow {
    /// The section it belongs to.
    section: usize,
    is_heading: bool,
    /// What it says, clean.
    pub spans: Vec<Span>,
}

/// Two ways, held against each other, or being read.
#[derive(Clone, Debug)]
pub struct CompareView {
    /// The session of each.
    pub sessions: [SessionKey; 2],
    /// What it is called.
    pub titles: [String; 2],
    /// What came of it; nothing while it is read.
    pub compared: Option<Arc<ComparedBranches>>,
    /// The side that is chosen: 0 or 1.
    pub chosen: usize,
    /// The selected row.
    pub cursor: Cursor,
    sections: Vec<Section>,
    /// Which of them are folded.
    folded: Vec<bool>,
    /// Those that are not, and the headings, in rows of so many columns.
    rows: Vec<CompareRow>,
    columns: usize,
}

impl CompareView {
    /// One that is being read.
    pub(crate) fn new(sessions: [SessionKey; 2], titles: [String; 2]) -> Self {
        Self {
            sessions,
            titles,
            compared: None,
            chosen: 0,
            cursor: Cursor::default(),
            sections: Vec::new(),
            folded: Vec::new(),
            rows: Vec::new(),
            columns: 0,
        }
    }

    /// Takes what came of it.
    pub(crate) fn take(&mut self, compared: Arc<ComparedBranches>) {
        self.sections = sections(&compared.comparison);
        self.folded = self.sections.iter().map(Section::is_long).collect();
        self.compared = Some(compared);
        self.columns = 0;
    }

    /// The chosen session, its tree, and the last entry of its way there.
    pub(crate) fn end(&self) -> Option<(SessionKey, &Arc<Tree>, Index)> {
        let compared = self.compared.as_ref()?;
        let BranchEnd { tree, .. } = &compared.ends[self.chosen];
        Some((self.sessions[self.chosen], tree, compared.comparison.ends[self.chosen]))
    }

    /// The last entry that both have, in the chosen session.
    pub(crate) fn common(&self) -> Option<EntryRef> {
        let at = self.compared.as_ref()?.comparison.common[self.chosen];
        Some(EntryRef { session: self.sessions[self.chosen], at })
    }

    /// Where it stands: all but the line at the bottom.
    pub fn area((columns, rows): (u16, u16)) -> Rect {
        Rect::new(0, 0, columns, rows.saturating_sub(1))
    }

    /// Where the sections stand.
    pub fn body(terminal: (u16, u16)) -> Rect {
        let area = Self::area(terminal);
        Rect { y: HEAD, height: area.height.saturating_sub(HEAD), ..area }
    }

    /// The rows of the sections.
    pub fn rows(&self) -> &[CompareRow] {
        &self.rows
    }

    /// Makes the rows for the terminal, if they are not, and brings the selected one into sight.
    pub(crate) fn fit(&mut self, LayerContext { setting, size }: LayerContext<'_>) {
        let body = Self::body(size);
        // The scroll bar stands beside them.
        let columns = usize::from(body.width.saturating_sub(1));
        if columns != self.columns {
            self.columns = columns;
            self.make_rows(&setting.glyphs);
        }
        self.cursor.fit(self.rows.len(), body.height.into());
    }

    /// Makes the rows anew. The selection stays in its section, as far below the heading as there are rows.
    fn make_rows(&mut self, glyphs: &Glyphs) {
        let section = self.section().unwrap_or(0);
        let below = self.cursor.at.saturating_sub(self.heading(section));
        self.rows.clear();
        for (section, (one, &folded)) in self.sections.iter().zip(&self.folded).enumerate() {
            let sign = if folded { &glyphs.closed } else { &glyphs.open };
            let heading = vec![
                Span::new(Tone::Dim, format!("{sign} ")),
                Span::new(Tone::Heading, &*one.title),
                Span::new(Tone::Dim, format!("  {}", one.facts)),
            ];
            self.rows.push(CompareRow { section, is_heading: true, spans: heading });
            let rows = if folded { Vec::new() } else { one.rows(self.columns, glyphs) };
            self.rows.extend(rows.into_iter().map(|spans| CompareRow { section, is_heading: false, spans }));
        }
        let rows = self.rows.iter().filter(|row| row.section == section).count();
        self.cursor.follow(self.heading(section) + below.min(rows.saturating_sub(1)));
    }

    /// The section of the selected row.
    fn section(&self) -> Option<usize> {
        self.rows.get(self.cursor.at).map(|row| row.section)
    }

    /// The row of a section's heading.
    fn heading(&self, section: usize) -> usize {
        self.rows.partition_point(|row| row.section < section)
    }

    /// Folds the section of the selected row, or unfolds it; the rows are made when the rest is brought in line.
    fn fold(&mut self, fold: bool) {
        if let Some(section) = self.section().filter(|&section| self.folded[section] != fold) {
            self.folded[section] = fold;
            self.columns = 0;
        }
    }

    fn fold_all(&mut self, fold: bool) {
        self.folded.fill(fold);
        self.columns = 0;
    }

    pub(super) fn press<C>(&mut self, action: Option<Action>, view: LayerContext<'_>) -> LayerResult<C> {
        let page = Self::body(view.size).height.saturating_sub(1).max(1).into();
        match action {
            Some(Action::Fold) => self.fold(true),
            Some(Action::Unfold) => self.fold(false),
            Some(Action::FoldAll) => self.fold_all(true),
            Some(Action::UnfoldAll) => self.fold_all(false),
            Some(Action::SideA) => self.chosen = 0,
            Some(Action::SideB) => self.chosen = 1,
            Some(own @ (Action::Confirm | Action::Label | Action::GoToCommon)) => return LayerResult::Act(own),
            Some(Action::Back | Action::Quit) => return LayerResult::Close,
            action => {
                if let Some(by) = action.and_then(|action| movement(action, page)) {
                    self.cursor.go(by, self.rows.len());
                }
            }
        }
        LayerResult::Stay
    }

    /// On a side chooses it, on a heading folds or unfolds what is below it.
    pub(super) fn click<C>(&mut self, (_, row): (u16, u16), terminal: (u16, u16)) -> LayerResult<C> {
        match row.checked_sub(Self::body(terminal).y) {
            None if (1..=2).contains(&row) => self.chosen = usize::from(row - 1),
            Some(line) if self.cursor.top + usize::from(line) < self.rows.len() => {
                self.cursor.at = self.cursor.top + usize::from(line);
                let row = &self.rows[self.cursor.at];
                if row.is_heading {
                    self.fold(!self.folded[row.section]);
                }
            }
            _ => {}
        }
        LayerResult::Stay
    }

    pub(super) fn wheel(&mut self, by: isize, terminal: (u16, u16)) {
        self.cursor.scroll(by, self.rows.len(), Self::body(terminal).height.into());
    }
}
