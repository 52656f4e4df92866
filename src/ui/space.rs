//! Draws the screen of the space that sessions take. Each bar has its number as text.

use ratatui::layout::Rect;

use crate::app::layers::space::SpaceView;
use crate::base::numbers::{bytes, count, share, thousands};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, clean_words, width};
use crate::catalog::space::{SpaceContent, SpaceGrouping, SpaceRow};
use crate::ui::paint::{Painter, cut};
use crate::ui::widgets::{ListView, TableColumns, bar_of, fitting, list};

/// The minimum columns of names, and of the longest bar.
const LEAST: (usize, usize) = (18, 8);

/// The maximum columns of the longest bar.
const LONGEST: usize = 60;

/// The columns beside the bars, the first ones in narrow terminals too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceColumn {
    Bytes,
    Share,
    Outside,
    Copies,
    Sessions,
}

impl SpaceColumn {
    const ALL: [Self; 5] = [Self::Bytes, Self::Share, Self::Outside, Self::Copies, Self::Sessions];

    fn heading(self, grouping: SpaceGrouping) -> &'static str {
        match self {
            Self::Sessions if grouping == SpaceGrouping::Session => "entries",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Outside => "outside",
            Self::Copies => "copies",
            Self::Sessions => "sessions",
        }
    }

    fn columns(self) -> usize {
        match self {
            Self::Share => 6,
            Self::Bytes | Self::Outside | Self::Copies | Self::Sessions => 9,
        }
    }

    fn text(self, row: &SpaceRow, grouping: SpaceGrouping, total: u64) -> String {
        let some = |size: u64| if size == 0 { String::new() } else { bytes(size) };
        match self {
            Self::Bytes => bytes(row.sum.bytes),
            Self::Share => share(row.sum.bytes, total),
            Self::Outside => some(row.sum.outside),
            Self::Copies => some(row.sum.duplicate),
            Self::Sessions if grouping == SpaceGrouping::Session => thousands(row.sum.count),
            Self::Sessions => thousands(row.sessions),
        }
    }
}

pub(super) fn draw(view: &SpaceView, pen: &Painter<'_>) {
    let all = pen.clear_screen();
    let layout = view.layout((all.width, all.height));
    draw_head(layout.head, view, pen);
    let Some(content) = &view.content else { return };
    let columns = usize::from(layout.list.width).saturating_sub(1);
    let table = SpaceTable::new(content, view.grouping, columns, pen);
    pen.put(layout.heading, &table.heading());
    let rows = ListView { area: layout.list, cursor: view.cursor, len: table.rows.len(), focused: true };
    list(pen, &rows, |at, _| table.row(at));
    if view.rows().is_empty() {
        let text = match view.grouping {
            SpaceGrouping::Type => "no entries of extensions",
            SpaceGrouping::Tool => "no tool calls",
            _ => "no sessions",
        };
        pen.put(Rect { height: 1.min(layout.list.height), ..layout.list }, &[Span::dim(text)]);
    }
    if let Some(area) = layout.largest {
        let line = |at: usize| Rect { y: area.y + at as u16, height: 1, ..area };
        pen.put(line(0), &[Span::accent("largest entries")]);
        let table = SpaceTable::new(content, SpaceGrouping::Entry, columns, pen);
        for at in 0..table.rows.len().min(usize::from(area.height).saturating_sub(1)) {
            pen.put(line(at + 1), &table.row(at));
        }
    }
}

/// Draws the scope and all bytes, then the facts or the state.
fn draw_head(area: Rect, view: &SpaceView, pen: &Painter<'_>) {
    let line = |at: u16| Rect { y: area.y + at, height: 1.min(area.height.saturating_sub(at)), ..area };
    let dot = &pen.glyphs().dot;
    let title = [Span::accent("Space  "), Span::new(Tone::Heading, &*view.scope)];
    let size = view.content.as_ref().map(|content| Span::new(Tone::Cost, bytes(content.report.total.bytes)));
    let right: Vec<Span> = size.into_iter().collect();
    pen.put_both(line(0), &title, &right);
    let state = match (&view.content, &view.problem, view.progress) {
        (Some(content), ..) => Span::text(facts(content, &format!(" {dot} "), area.width.into())),
        (None, Some(problem), _) => Span::clean(Tone::Error, problem),
        (None, None, (_, 0)) => Span::dim("measuring"),
        (None, None, (done, all)) => {
            let text = format!("measuring: {} of {}", thousands(done), count(all, "session", "sessions"));
            Span::dim(text)
        }
    };
    pen.put(line(1), &[state]);
}

/// Returns the facts that fit, most important first.
fn facts(content: &SpaceContent, gap: &str, columns: usize) -> String {
    let total = &content.report.total;
    let part =
        |size: u64, words: &str| (size > 0).then(|| format!("{} {words} ({})", bytes(size), share(size, total.bytes)));
    let unreadable = content.report.unreadable.len();
    let facts = [
        Some(count(content.report.sessions.len(), "session", "sessions")),
        (unreadable > 0).then(|| count(unreadable, "unreadable file", "unreadable files")),
        part(total.outside, "outside of contexts"),
        part(total.duplicate, "copies"),
        Some(count(total.count, "entry", "entries")),
    ];
    fitting(facts.into_iter().flatten(), gap, columns)
}

/// The rows of a grouping, and the columns that fit.
struct SpaceTable<'a, 'b> {
    grouping: SpaceGrouping,
    rows: &'a [SpaceRow],
    /// All bytes.
    total: u64,
    /// The columns beside the bars.
    shown: Vec<SpaceColumn>,
    columns: TableColumns,
    pen: &'a Painter<'b>,
}

impl<'a, 'b> SpaceTable<'a, 'b> {
    fn new(content: &'a SpaceContent, grouping: SpaceGrouping, columns: usize, pen: &'a Painter<'b>) -> Self {
        let (rows, total) = (content.rows(grouping), content.report.total.bytes);
        let mut left = columns.saturating_sub(2);
        let mut shown = Vec::new();
        for column in SpaceColumn::ALL {
            // The other columns are those of sums.
            if grouping == SpaceGrouping::Entry && !matches!(column, SpaceColumn::Bytes | SpaceColumn::Share) {
                break;
            }
            match left.checked_sub(column.columns()) {
                Some(rest) if shown.is_empty() || rest >= LEAST.0 + LEAST.1 => left = rest,
                _ => break,
            }
            shown.push(column);
        }
        let mut table = Self { grouping, rows, total, shown, columns: TableColumns { name: left, bar: 0 }, pen };
        if grouping != SpaceGrouping::Entry {
            // Short names leave more room for the bars.
            let widest = rows.iter().map(|row| width(&table.name(row))).max().unwrap_or_default().max(LEAST.0);
            let bar = left.saturating_sub(widest).max(left / 3).min(LONGEST);
            table.columns = TableColumns { name: widest.min(left - bar), bar };
        }
        table
    }

    /// Returns the name of a row on one line, safe for a terminal.
    fn name(&self, row: &SpaceRow) -> String {
        let name = clean_words(&row.name);
        match self.grouping {
            SpaceGrouping::Project => shorten(&name, &self.pen.model.setting.home).into_owned(),
            _ => name,
        }
    }

    fn heading(&self) -> Vec<Span> {
        let text = match self.grouping {
            SpaceGrouping::Entry => "largest entries".into(),
            SpaceGrouping::Type => "by type of extension entries".into(),
            other => format!("by {}", other.name()),
        };
        let numbers = self.shown.iter().map(|column| (column.heading(self.grouping), column.columns()));
        self.columns.heading(&text, numbers, self.pen.glyphs())
    }

    /// Returns a row: the name, its bar, and its numbers.
    fn row(&self, at: usize) -> Vec<Span> {
        let (row, glyphs) = (&self.rows[at], self.pen.glyphs());
        let name = self.name(row);
        let spans = match self.grouping {
            SpaceGrouping::Project => vec![Span::text(glyphs.cut_path(&name, self.columns.name))],
            _ => {
                let title = clean_words(&row.title);
                let title = if title.is_empty() { title } else { format!("  {title}") };
                cut(&[Span::text(name), Span::dim(title)], self.columns.name, glyphs)
            }
        };
        let most = self.rows.first().map_or(0, |row| row.sum.bytes);
        let bar = bar_of(Some(row.sum.bytes as f64), most as f64, self.columns.bar, self.pen);
        let numbers = self.shown.iter().map(|column| (column.text(row, self.grouping, self.total), column.columns()));
        self.columns.row(spans, &bar, numbers)
    }
}
