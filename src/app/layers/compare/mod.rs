//! A comparison of two branches over the whole screen: sections that can be folded, and a chosen side to resume or
//! label.

mod sections;

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::answer::LayerResult;
use crate::app::layers::screen::{List, Screen};
use crate::app::ticket::Claim;
use crate::app::widgets::TerminalSize;
use crate::app::widgets::cursor::Cursor;
use crate::base::text::{Glyphs, Span, Tone};
use crate::catalog::compare::{BranchEnd, ComparedBranches};
use crate::catalog::final_files::FinalFile;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Action;
use crate::session::tree::{Index, Tree};
use sections::{Section, sections};

pub(crate) use sections::FINAL_FILES;

/// Rows above the sections: common entries, the two sides, a rule.
const HEAD: u16 = 4;

/// A row of a comparison.
#[derive(Clone, Debug)]
pub struct CompareRow {
    /// Index of its section.
    section: usize,
    is_heading: bool,
    /// Index of the file that differs at the ends.
    file: Option<usize>,
    /// The text, cleaned.
    pub spans: Vec<Span>,
}

/// A comparison of two branches, or one that is being read.
#[derive(Clone, Debug)]
pub struct CompareView {
    /// The session of each side.
    pub sessions: [SessionKey; 2],
    /// The title of each session.
    pub titles: [String; 2],
    /// The comparison; `None` while it is being read.
    pub compared: Option<Arc<ComparedBranches>>,
    /// The chosen side: 0 or 1.
    pub chosen: usize,
    /// The selected row.
    pub cursor: Cursor,
    /// The files that differ at the ends, once both branches are replayed.
    files: Option<Arc<Vec<FinalFile>>>,
    sections: Vec<Section>,
    /// Rows of headings and unfolded sections, for the current width.
    pub rows: Vec<CompareRow>,
    columns: usize,
    glyphs: Glyphs,
    /// The pending comparison.
    pub(crate) claim: Option<Claim>,
}

impl CompareView {
    /// Creates a view whose comparison is being read.
    pub(crate) fn new(sessions: [SessionKey; 2], titles: [String; 2], glyphs: Glyphs) -> Self {
        Self {
            sessions,
            titles,
            compared: None,
            chosen: 0,
            cursor: Cursor::default(),
            files: None,
            sections: Vec::new(),
            rows: Vec::new(),
            columns: 0,
            glyphs,
            claim: None,
        }
    }

    /// Takes the comparison.
    pub(crate) fn take(&mut self, compared: Arc<ComparedBranches>) {
        self.sections = sections(&compared.comparison);
        self.files = None;
        self.compared = Some(compared);
        self.columns = 0;
    }

    /// Takes the files that differ at the ends with their differences, or the error.
    pub(crate) fn take_files(&mut self, files: Result<Arc<Vec<FinalFile>>, String>) {
        for section in self.sections.iter_mut().filter(|section| section.is_of_final_files()) {
            *section = Section::of_final_files(files.as_ref().map(|files| &***files).map_err(|error| &**error));
        }
        let files_of_ends = files.iter().flat_map(|files| files.iter());
        self.sections.extend(files_of_ends.filter_map(Section::of_difference));
        (self.files, self.claim) = (files.ok(), None);
        self.columns = 0;
    }

    /// Returns the selected file among those that differ at the ends.
    pub(crate) fn selected_file(&self) -> Option<&FinalFile> {
        self.files.as_ref()?.get(self.rows.get(self.cursor.at)?.file?)
    }

    /// Returns the chosen session, its tree, and the last entry of the branch.
    pub(crate) fn end(&self) -> Option<(SessionKey, &Arc<Tree>, Index)> {
        let compared = self.compared.as_ref()?;
        let BranchEnd { tree, .. } = &compared.ends[self.chosen];
        Some((self.sessions[self.chosen], tree, compared.comparison.ends[self.chosen]))
    }

    /// Returns the last common entry, in the chosen session.
    pub(crate) fn common(&self) -> Option<EntryRef> {
        let at = self.compared.as_ref()?.comparison.common[self.chosen];
        Some(EntryRef { session: self.sessions[self.chosen], at })
    }

    /// Returns the area: all rows but the footer.
    pub fn area((columns, rows): (u16, u16)) -> Rect {
        Rect::new(0, 0, columns, rows.saturating_sub(1))
    }

    /// Returns the area of the sections.
    pub fn body(terminal: (u16, u16)) -> Rect {
        let area = Self::area(terminal);
        Rect { y: HEAD, height: area.height.saturating_sub(HEAD), ..area }
    }

    /// Builds the rows. The selection stays in its section, at the same distance from the heading if possible.
    fn make_rows(&mut self) {
        let glyphs = &self.glyphs;
        let section = self.section().unwrap_or(0);
        let below = self.cursor.at.saturating_sub(self.heading(section));
        self.rows.clear();
        for (section, one) in self.sections.iter().enumerate() {
            let sign = if one.is_folded { &glyphs.closed } else { &glyphs.open };
            let heading = vec![
                Span::dim(format!("{sign} ")),
                Span::new(Tone::Heading, &*one.title),
                Span::dim(format!("  {}", one.facts)),
            ];
            self.rows.push(CompareRow { section, is_heading: true, file: None, spans: heading });
            let rows = if one.is_folded { Vec::new() } else { one.rows(self.columns, glyphs) };
            let is_file = one.is_of_final_files();
            let row = |(at, spans)| CompareRow { section, is_heading: false, file: is_file.then_some(at), spans };
            self.rows.extend(rows.into_iter().enumerate().map(row));
        }
        let rows = self.rows.iter().filter(|row| row.section == section).count();
        self.cursor.follow(self.heading(section) + below.min(rows.saturating_sub(1)));
    }

    /// Returns the section of the selected row.
    fn section(&self) -> Option<usize> {
        self.rows.get(self.cursor.at).map(|row| row.section)
    }

    /// Returns the row of a section's heading.
    fn heading(&self, section: usize) -> usize {
        self.rows.partition_point(|row| row.section < section)
    }

    /// Folds or unfolds the section of the selected row. The next [`fit`](Self::fit) builds the rows.
    fn fold(&mut self, fold: bool) {
        if let Some(section) = self.section() {
            self.sections[section].is_folded = fold;
            self.columns = 0;
        }
    }

    fn fold_all(&mut self, fold: bool) {
        self.sections.iter_mut().for_each(|section| section.is_folded = fold);
        self.columns = 0;
    }
}

impl<C> Screen<C> for CompareView {
    fn list(&mut self, terminal: TerminalSize) -> Option<List<'_>> {
        Some(List { cursor: &mut self.cursor, len: self.rows.len(), area: Self::body(terminal) })
    }

    fn fit(&mut self, terminal: TerminalSize) {
        let body = Self::body(terminal);
        // The scroll bar takes one column.
        let columns = usize::from(body.width.saturating_sub(1));
        if columns != self.columns {
            self.columns = columns;
            self.make_rows();
        }
        self.cursor.fit(self.rows.len(), body.height.into());
    }

    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult<C> {
        match action {
            Action::Fold => self.fold(true),
            Action::Unfold => self.fold(false),
            Action::FoldAll => self.fold_all(true),
            Action::UnfoldAll => self.fold_all(false),
            Action::SideA => self.chosen = 0,
            Action::SideB => self.chosen = 1,
            Action::Back | Action::Quit => return LayerResult::Close,
            own @ (Action::Confirm | Action::Label | Action::GoToCommon | Action::FileDifference) => {
                return LayerResult::Act(own);
            }
            _ => {}
        }
        LayerResult::Stay
    }

    /// Chooses the clicked side; folds or unfolds the clicked section.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult<C> {
        let list = List { cursor: &mut self.cursor, len: self.rows.len(), area: Self::body(terminal) };
        match (position.1, list.row_at(position)) {
            (row @ 1..=2, _) => self.chosen = usize::from(row - 1),
            (_, Some(at)) => {
                self.cursor.at = at;
                let row = &self.rows[at];
                if row.is_heading {
                    self.fold(!self.sections[row.section].is_folded);
                }
            }
            _ => {}
        }
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::SideA,
            A::SideB,
            A::Confirm,
            A::FileDifference,
            A::Label,
            A::GoToCommon,
            A::Back,
            A::Unfold,
            A::Fold,
            A::UnfoldAll,
            A::FoldAll,
        ]
    }
}
