//! Sections of a comparison: both sides next to each other on a wide terminal, else one below the other.

use crate::base::numbers::{count, thousands};
use crate::base::text::{Glyphs, Span, Tone, clean, clean_lines, spans_width, width};
use crate::catalog::final_files::FinalFile;
use crate::render::wrap::Wrapped;
use crate::render::{DocLine, diff};
use crate::session::compare::description::{self, SIDES};
use crate::session::compare::{Comparison, SideSummary};

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
pub(super) struct Section {
    /// The heading, cleaned.
    pub(super) title: String,
    /// Facts after the heading, cleaned.
    pub(super) facts: String,
    /// `true` if only the heading is shown; initially that of a long section.
    pub(super) is_folded: bool,
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
pub(super) fn sections(comparison: &Comparison) -> Vec<Section> {
    let sides = [&comparison.sides[0], &comparison.sides[1]];
    let numbers = |of: &dyn Fn(&SideSummary) -> usize| sides.map(|side| thousands(of(side)));
    let mut sections = vec![Section::new("Summary", String::new(), SectionBody::Facts(description::facts(comparison)))];
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
    let answers = sides.map(|side| side.answer.iter().flat_map(|answer| text(Tone::Text, answer)).collect());
    sections.push(Section::sides("Last answers", Default::default(), answers));
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
    pub(super) fn of_final_files(files: Result<&[FinalFile], &str>) -> Self {
        let (facts, lines) = match files {
            Err(error) => (String::new(), vec![DocLine::new(Tone::Error, error)]),
            Ok([]) => (String::new(), vec![DocLine::dim("no known difference")]),
            Ok(files) => (count(files.len(), "file", "files"), files.iter().map(final_file).collect()),
        };
        Self::new(FINAL_FILES, facts, SectionBody::Files(lines))
    }

    /// Creates the section of the difference of a file, if it is known.
    pub(super) fn of_difference(file: &FinalFile) -> Option<Self> {
        let lines = diff::styled(file.diff.as_deref()?);
        Some(Self::new(&clean(&file.name), file.facts(), SectionBody::Both(lines)))
    }

    /// Returns `true` if the rows are the files that differ at the ends.
    pub(super) fn is_of_final_files(&self) -> bool {
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
    pub(super) fn rows(&self, columns: usize, glyphs: &Glyphs) -> Vec<Vec<Span>> {
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
