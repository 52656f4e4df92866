//! A comparison of two branches over the whole screen: sections that can be folded, and a chosen side to resume or label.
//! Both sides are next to each other on a wide terminal, else one below the other.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::screen::{LayerResult, List, Screen};
use crate::app::ticket::Claim;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::numbers::{count, thousands};
use crate::base::text::{Glyphs, Span, Tone, clean, clean_lines, spans_width, width};
use crate::catalog::compare::{BranchEnd, ComparedBranches, FinalFile};
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Action;
use crate::render::wrap::Wrapped;
use crate::render::{DocLine, diff};
use crate::session::compare::description::{self, SIDES};
use crate::session::compare::{Comparison, SideSummary};
use crate::session::tree::{EntryIndex, Tree};

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
    /// `true` to ask to copy messages once the branches are compared.
    pub(crate) picks: bool,
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
            picks: false,
            claim: None,
        }
    }

    /// Takes the comparison.
    pub(crate) fn on_compared(&mut self, compared: Arc<ComparedBranches>) {
        self.sections = sections(&compared.comparison);
        self.files = None;
        self.compared = Some(compared);
        self.columns = 0;
    }

    /// Takes the files that differ at the ends with their differences, or the error.
    pub(crate) fn on_final_files(&mut self, files: Result<Arc<Vec<FinalFile>>, String>) {
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
    pub(crate) fn end(&self) -> Option<(SessionKey, &Arc<Tree>, EntryIndex)> {
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

impl Screen for CompareView {
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

    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult {
        match action {
            Action::Fold => self.fold(true),
            Action::Unfold => self.fold(false),
            Action::FoldAll => self.fold_all(true),
            Action::UnfoldAll => self.fold_all(false),
            Action::SideA => self.chosen = 0,
            Action::SideB => self.chosen = 1,
            Action::Back | Action::Quit => return LayerResult::Close,
            own @ (Action::Confirm | Action::Pick | Action::Label | Action::GoToCommon | Action::FileDifference) => {
                return LayerResult::Act(own);
            }
            _ => {}
        }
        LayerResult::Stay
    }

    /// Chooses the clicked side; folds or unfolds the clicked section.
    fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
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
            A::Pick,
            A::GoToCommon,
            A::Back,
            A::Unfold,
            A::Fold,
            A::UnfoldAll,
            A::FoldAll,
        ]
    }
}

/// Columns from which on the sides are next to each other: a terminal of 100 columns without the scroll bar.
const WIDE: usize = 99;

/// Lines from which on a section is initially folded.
const LONG: usize = 16;

/// Width of the names of facts.
const NAME: usize = 10;

/// Indentation below a heading.
const INDENT: usize = 2;

/// The heading of the files that differ at the ends.
pub(crate) const FINAL_FILES: &str = "Files at the ends";

/// Lines below a heading.
#[derive(Clone, Debug)]
struct Section {
    /// The heading, cleaned.
    title: String,
    /// Facts after the heading, cleaned.
    facts: String,
    /// `true` if only the heading is shown; initially that of a long section.
    is_folded: bool,
    body: SectionBody,
}

#[derive(Clone, Debug)]
enum SectionBody {
    /// Names, with one value for each side.
    Facts(Vec<(&'static str, [String; 2])>),
    /// Lines of each side.
    Sides([Vec<DocLine>; 2]),
    /// Lines about both sides.
    Both(Vec<DocLine>),
    /// A line for each file that differs at the ends.
    Files(Vec<DocLine>),
}

/// Returns the sections of a comparison without empty ones.
fn sections(comparison: &Comparison) -> Vec<Section> {
    let sides = [&comparison.sides[0], &comparison.sides[1]];
    let numbers = |of: &dyn Fn(&SideSummary) -> usize| sides.map(|side| thousands(of(side)));
    let answers = sides.map(|side| side.answer.iter().flat_map(|answer| text(Tone::Text, answer)).collect());
    let facts = SectionBody::Facts(description::facts(comparison));
    let mut sections = vec![
        Section::sides("Last answers", Default::default(), answers),
        Section::new("Summary", String::new(), facts),
    ];
    let replaying = DocLine::dim("replaying both branches");
    sections.push(Section::new(FINAL_FILES, String::new(), SectionBody::Files(vec![replaying])));
    sections.push(Section::sides("Prompts", numbers(&|side| side.prompt_count), sides.map(prompts)));
    sections.push(Section::sides(
        "Tools",
        numbers(&|side| side.tools.iter().map(|tool| tool.calls).sum()),
        sides.map(|side| side.tools.iter().flat_map(|tool| text(Tone::Tool, &description::tool(tool))).collect()),
    ));
    sections.push(Section::sides(
        "Errors",
        numbers(&|side| side.failures.count()),
        sides.map(|side| side.failures.texts.iter().flat_map(|error| text(Tone::Error, error)).collect()),
    ));
    let only = [0, 1]
        .map(|side| comparison.only(side).map(|(path, uses)| file(path, &description::uses(uses))).collect::<Vec<_>>());
    let counts = only.each_ref().map(|files| thousands(files.len()));
    sections.push(Section::sides("Files of one side", counts, only));
    let both: Vec<DocLine> =
        comparison.both().map(|(path, uses)| file(path, &description::uses_of_both(uses))).collect();
    sections.push(Section::new("Files of both", count(both.len(), "file", "files"), SectionBody::Both(both)));
    sections.retain(|section| section.lines() > 0);
    sections
}

fn prompts(side: &SideSummary) -> Vec<DocLine> {
    let more = side.prompt_count - side.prompts.len();
    let more = (more > 0).then(|| DocLine::dim(&format!("and {} more", thousands(more))));
    side.prompts.iter().flat_map(|prompt| text(Tone::User, prompt)).chain(more).collect()
}

/// Wraps a text that may come from a file; all lines but the first are indented.
fn text(tone: Tone, text: &str) -> Vec<DocLine> {
    let line = |(at, line): (usize, std::borrow::Cow<'_, str>)| {
        let lead = if at == 0 { "" } else { "  " };
        DocLine { spans: vec![Span::text(lead), Span::new(tone, line)], indent: 2, verbatim: false }
    };
    clean_lines(text).enumerate().map(line).collect()
}

fn file(path: &str, uses: &str) -> DocLine {
    let spans = vec![Span::clean(Tone::Text, path), Span::dim(format!("  {uses}"))];
    DocLine { spans, indent: 2, verbatim: false }
}

/// Describes the states of a file at both ends.
fn final_file(file: &FinalFile) -> DocLine {
    let facts = format!("  {}", file.facts());
    DocLine::of(vec![Span::clean(Tone::Text, &file.name), Span::dim(facts)])
}

impl Section {
    fn new(title: &str, facts: String, body: SectionBody) -> Self {
        let mut section = Self { title: title.into(), facts, is_folded: false, body };
        section.is_folded = section.lines() > LONG;
        section
    }

    /// Creates the section of the files that differ at the ends, one line each, or of the error.
    fn of_final_files(files: Result<&[FinalFile], &str>) -> Self {
        let (facts, lines) = match files {
            Err(error) => (String::new(), vec![DocLine::new(Tone::Error, error)]),
            Ok([]) => (String::new(), vec![DocLine::dim("no known difference")]),
            Ok(files) => (count(files.len(), "file", "files"), files.iter().map(final_file).collect()),
        };
        Self::new(FINAL_FILES, facts, SectionBody::Files(lines))
    }

    /// Creates the section of the difference of a file, if it is known.
    fn of_difference(file: &FinalFile) -> Option<Self> {
        let lines = diff::styled(file.diff.as_deref()?);
        Some(Self::new(&clean(&file.name), file.facts(), SectionBody::Both(lines)))
    }

    /// Returns `true` if the rows are the files that differ at the ends.
    fn is_of_final_files(&self) -> bool {
        matches!(self.body, SectionBody::Files(_))
    }

    fn sides(title: &str, [a, b]: [String; 2], lines: [Vec<DocLine>; 2]) -> Self {
        let facts = if a.is_empty() { a } else { format!("A: {a}; B: {b}") };
        Self::new(title, facts, SectionBody::Sides(lines))
    }

    fn lines(&self) -> usize {
        match &self.body {
            SectionBody::Facts(facts) => facts.len(),
            SectionBody::Sides([a, b]) => a.len() + b.len(),
            SectionBody::Both(lines) | SectionBody::Files(lines) => lines.len(),
        }
    }

    /// Returns the rows below the heading.
    fn rows(&self, columns: usize, glyphs: &Glyphs) -> Vec<Vec<Span>> {
        let room = columns.saturating_sub(INDENT);
        let lead = || Span::text(" ".repeat(INDENT));
        let indented = |row: Vec<Span>| [vec![lead()], row].concat();
        match &self.body {
            SectionBody::Facts(facts) => {
                let half = room.saturating_sub(NAME) / 2;
                let heads = ("", SIDES.map(String::from));
                let row = |(name, sides): &(&str, [String; 2])| {
                    let tone = if name.is_empty() { Tone::Accent } else { Tone::Text };
                    let [a, b] = sides.each_ref().map(|side| clean(side).into_owned());
                    let a = glyphs.cut(&a, half.saturating_sub(2)).into_owned();
                    indented(vec![
                        Span::dim(padded(name, NAME)),
                        Span::new(tone, padded(&a, half)),
                        Span::new(tone, glyphs.cut(&b, half)),
                    ])
                };
                [heads].iter().chain(facts).map(row).collect()
            }
            SectionBody::Files(lines) => lines.iter().map(|line| indented(line.spans.clone())).collect(),
            SectionBody::Both(lines) => wrapped(lines, room).into_iter().map(indented).collect(),
            SectionBody::Sides(sides) if columns >= WIDE => {
                let half = room.saturating_sub(3) / 2;
                let [a, b] = sides.each_ref().map(|lines| wrapped(lines, half));
                let row = |at: usize| {
                    let mut row = a.get(at).cloned().unwrap_or_default();
                    let gap = half.saturating_sub(spans_width(&row));
                    row.push(Span::dim(format!("{} {} ", " ".repeat(gap), glyphs.bar)));
                    row.extend(b.get(at).cloned().unwrap_or_default());
                    indented(row)
                };
                (0..a.len().max(b.len())).map(row).collect()
            }
            SectionBody::Sides(sides) => {
                let side = |(name, lines): (&&str, &Vec<DocLine>)| -> Vec<Vec<Span>> {
                    let mut rows = wrapped(lines, room.saturating_sub(INDENT));
                    for (at, row) in rows.iter_mut().enumerate() {
                        let name = if at == 0 { name } else { "" };
                        row.insert(0, Span::accent(padded(name, INDENT)));
                    }
                    rows.into_iter().map(indented).collect()
                };
                SIDES.iter().zip(sides).flat_map(side).collect()
            }
        }
    }
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wraps lines into rows.
fn wrapped(lines: &[DocLine], columns: usize) -> Vec<Vec<Span>> {
    let mut wrapped = Wrapped::new(columns);
    wrapped.all(lines);
    let row = |at| wrapped.row(lines, at).into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
    (0..wrapped.len()).map(row).collect()
}
