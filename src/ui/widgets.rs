//! Elements shared by panes and layers: titles, lists, scroll bars and input lines.

use crate::app::widgets::text_box::{TextBox, middle};
use crate::pi::status::PiState;
use ratatui::layout::Rect;
use ratatui::text::Text;
use ratatui::widgets::{Block, BorderType, StatefulWidget};
use tui_tree_widget::{Tree, TreeItem, TreeState};

use crate::app::panes::layout::PaneArea;
use crate::app::widgets::cursor::Cursor;
use crate::app::widgets::line::LineEdit;
use crate::base::numbers::{bar, count, thousands};
use crate::base::text::{Glyphs, Span, Tone, spans_width, width};
use crate::ui::paint::{Painter, cut};

/// Draws the title of a pane: name and facts at the left, other facts at the right.
pub(super) fn title(pen: &Painter<'_>, area: PaneArea, focused: bool, (name, facts, right): (Span, &str, String)) {
    let name = if focused { Span { tone: Tone::Accent, ..name } } else { name };
    let mark = if focused { &*pen.glyphs().focus } else { " " };
    let spans = [Span::accent(mark), name, Span::dim(facts)];
    let right = [Span::dim(right)];
    let columns = usize::from(area.title.width);
    if area.is_below {
        // A horizontal line separates stacked panes.
        let dashes = |columns: usize| Span::dim(pen.glyphs().dash.repeat(columns));
        let end = spans_width(&right);
        let mut left = cut(&spans, columns.saturating_sub(end + 1), pen.glyphs());
        left.push(Span::text(" "));
        let gap = columns.saturating_sub(spans_width(&left) + end + usize::from(end > 0));
        left.extend([dashes(gap), Span::text(if end > 0 { " " } else { "" })]);
        left.extend(right);
        pen.put(area.title, &left);
    } else {
        pen.put_both(area.title, &spans, &right);
    }
}

/// Formats the position among the hits: `3/17`.
pub(super) fn hits(at: Option<usize>, hits: usize) -> String {
    match at {
        _ if hits == 0 => "no hits".into(),
        Some(at) => format!("{}/{}", thousands(at + 1), thousands(hits)),
        None => count(hits, "hit", "hits"),
    }
}

/// A list in a pane.
pub(super) struct ListView {
    pub(super) area: Rect,
    pub(super) cursor: Cursor,
    pub(super) len: usize,
    pub(super) focused: bool,
}

/// Draws the visible rows of a list. `row` returns the row at an index for a number of columns.
pub(super) fn list(pen: &Painter<'_>, list: &ListView, row: impl Fn(usize, usize) -> Vec<Span>) {
    tall_list(pen, list, |_| 1, |at, columns| vec![row(at, columns)]);
}

/// Draws a list whose rows have several lines, as leaves of a tree widget. Tree lines are part of the rows, because the
/// widget would walk the whole tree on each frame.
pub(super) fn tall_list(
    pen: &Painter<'_>,
    &ListView { area, cursor, len, focused }: &ListView,
    lines: impl Fn(usize) -> usize,
    row: impl Fn(usize, usize) -> Vec<Vec<Span>>,
) {
    let (width, height) = (usize::from(area.width.saturating_sub(1)), usize::from(area.height));
    let seen = cursor.seen(len, height, &lines);
    let whole = seen.len();
    // A row that does not fit completely shows its first lines.
    let left = height - seen.clone().map(&lines).sum::<usize>();
    let seen = seen.start..(seen.end + usize::from(left > 0)).min(len);
    let rows: Vec<Vec<Vec<Span>>> = seen
        .clone()
        .enumerate()
        .map(|(place, at)| {
            let mut row = row(at, width);
            row.truncate(if place < whole { usize::MAX } else { left });
            for spans in &mut row {
                // Extend the row to the full width, so that the selection covers it.
                let gap = width.saturating_sub(spans_width(spans));
                spans.push(Span::text(" ".repeat(gap)));
            }
            row
        })
        .collect();
    let drawn = rows.iter().map(|lines| Text::from_iter(lines.iter().map(|spans| pen.line(spans, width))));
    let items: Vec<TreeItem<'_, usize>> = seen.zip(drawn).map(|(at, text)| TreeItem::new_leaf(at, text)).collect();
    let Ok(tree) = Tree::new(&items) else { return };
    let tree = tree.node_no_children_symbol("").highlight_style(pen.selection(focused));
    let mut state = TreeState::default();
    state.select(vec![cursor.at]);
    let rows = Rect { width: area.width.saturating_sub(1), ..area };
    tree.render(rows, &mut pen.buffer.borrow_mut(), &mut state);
    let seen = if whole < len { whole.max(1) } else { height };
    thumb(area, pen, (cursor.top, seen, len));
}

/// Draws a scroll bar at the right edge of a pane whose rows do not all fit.
pub(super) fn scroll_bar(area: Rect, pen: &Painter<'_>, top: usize, len: usize) {
    thumb(area, pen, (top, area.height.into(), len));
}

/// Draws a scroll bar for `seen` visible rows of `len`.
fn thumb(area: Rect, pen: &Painter<'_>, (top, seen, len): (usize, usize, usize)) {
    let height = usize::from(area.height);
    if len <= seen || height == 0 || area.width == 0 {
        return;
    }
    let thumb = (height * seen / len).max(1);
    let start = top * (height - thumb) / (len - seen).max(1);
    for row in start..(start + thumb).min(height) {
        let cell = Rect { x: area.right() - 1, y: area.y + row as u16, width: 1, height: 1 };
        pen.put(cell, &[Span::dim(&*pen.glyphs().thumb)]);
    }
}

/// Returns the visible part of an input line for `columns`.
pub(super) fn typed(line: &LineEdit, columns: usize) -> [Span; 3] {
    let [before, under, after] = line.visible_parts(columns);
    [Span::text(before), Span::new(Tone::Cursor, under), Span::text(after)]
}

/// Draws the rows of a text from `top` on.
pub(super) fn rows(pen: &Painter<'_>, area: Rect, text_box: &TextBox, top: usize) {
    for (at, row) in area.rows().enumerate().take_while(|(at, _)| top + at < text_box.wrapped.len()) {
        let row_spans = text_box.wrapped.row(&text_box.lines, top + at).into_iter();
        let spans: Vec<Span> = row_spans.map(|(text, tone)| Span::new(tone, text)).collect();
        pen.put(row, &spans);
    }
    scroll_bar(Rect { width: area.width + 1, ..area }, pen, top, text_box.wrapped.len());
}

/// Draws a centered box and returns its inner area.
pub(super) fn boxed(pen: &Painter<'_>, size: (u16, u16), title: &str, foot: &str) -> Rect {
    let all = pen.area();
    framed(pen, middle((all.width, all.height), size), title, foot)
}

/// Draws the part of a box inside of the frame, which can be smaller than the model's size, and returns its inner area.
pub(super) fn framed(pen: &Painter<'_>, area: Rect, title: &str, foot: &str) -> Rect {
    let area = area.intersection(pen.area());
    pen.clear(area);
    // The right half of a wide character would hide the frame.
    for position in area.columns().take(1).flat_map(Rect::positions).filter(|position| position.x > 0) {
        let mut buffer = pen.buffer.borrow_mut();
        let cell = &mut buffer[(position.x - 1, position.y)];
        if width(cell.symbol()) > 1 {
            cell.set_symbol(" ");
        }
    }
    let mut block = Block::bordered().border_style(pen.style(Tone::Accent)).title(format!(" {title} "));
    if !foot.is_empty() {
        block = block.title_bottom(format!(" {foot} "));
    }
    if pen.is_ascii() {
        block = block.border_set(ratatui::symbols::border::Set {
            top_left: "+",
            top_right: "+",
            bottom_left: "+",
            bottom_right: "+",
            vertical_left: "|",
            vertical_right: "|",
            horizontal_top: "-",
            horizontal_bottom: "-",
        });
    } else {
        block = block.border_type(BorderType::Rounded);
    }
    let inner = block.inner(area);
    pen.render(block, area);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

/// Returns tone and symbol of a pi's state; `None` means a guess that a pi is running.
pub(super) fn status_sign(state: Option<PiState>, glyphs: &Glyphs) -> (Tone, &str) {
    match state {
        Some(PiState::Blocked) => (Tone::Error, &glyphs.blocked),
        Some(PiState::Error) => (Tone::Error, &glyphs.failed),
        Some(PiState::Waiting) => (Tone::Warning, &glyphs.waiting),
        Some(PiState::Working) => (Tone::Active, &glyphs.working),
        Some(PiState::Idle) => (Tone::Dim, &glyphs.idle),
        None => (Tone::Dim, &glyphs.live),
    }
}

/// The columns of a table: names, bars beside them, and numbers.
pub(super) struct TableColumns {
    /// Columns of the names.
    pub(super) name: usize,
    /// Columns of the longest bar.
    pub(super) bar: usize,
}

impl TableColumns {
    /// Returns the heading. The first number is the one that the bars show.
    pub(super) fn heading(
        &self,
        text: &str,
        numbers: impl Iterator<Item = (&'static str, usize)>,
        glyphs: &Glyphs,
    ) -> Vec<Span> {
        let text = glyphs.cut(text, self.name + self.bar + 1);
        let gap = " ".repeat((self.name + self.bar + 2).saturating_sub(width(&text)));
        let number = |(at, (name, columns)): (usize, (&str, usize))| {
            Span::new(if at == 0 { Tone::Accent } else { Tone::Dim }, right_aligned(name, columns))
        };
        [Span::accent(text), Span::text(gap)].into_iter().chain(numbers.enumerate().map(number)).collect()
    }

    /// Returns a row.
    pub(super) fn row(
        &self,
        mut spans: Vec<Span>,
        bar: &str,
        numbers: impl Iterator<Item = (String, usize)>,
    ) -> Vec<Span> {
        let gap = " ".repeat(self.name.saturating_sub(spans_width(&spans)) + 1);
        let after = " ".repeat(self.bar + 1 - width(bar).min(self.bar));
        spans.extend([Span::text(gap), Span::new(Tone::Cost, format!("{bar}{after}"))]);
        spans.extend(numbers.enumerate().map(|(at, (number, columns))| {
            Span::new(if at == 0 { Tone::Text } else { Tone::Dim }, right_aligned(&number, columns))
        }));
        spans
    }
}

/// Returns the position in a text as a percentage, or as a line while its end is unknown. Returns `None` if all is visible.
pub(super) fn text_position(top: usize, height: usize, len: usize, is_whole: bool) -> Option<String> {
    match is_whole {
        true if len <= height => None,
        true => Some(format!("{}%", 100 * (top + height).min(len) / len)),
        false => Some(format!("line {}+", top + 1)),
    }
}

/// Joins the first facts that fit.
pub(super) fn fitting(facts: impl IntoIterator<Item = String>, gap: &str, columns: usize) -> String {
    let mut text = String::new();
    for fact in facts {
        let next = if text.is_empty() { fact } else { format!("{text}{gap}{fact}") };
        if width(&next) > columns {
            break;
        }
        text = next;
    }
    text
}

/// Aligns a text to the right of some columns.
pub(super) fn right_aligned(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns a bar of at most `columns` for a value of at most `most`.
pub(super) fn bar_of(value: Option<f64>, most: f64, columns: usize, pen: &Painter<'_>) -> String {
    bar(value.map_or(0.0, |value| value / most), columns, pen.is_ascii())
}
