//! Elements shared by panes and layers: titles, lists, scroll bars and input lines.

use crate::app::widgets::text_box::{TextBox, middle};
use crate::pi::status::PiState;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Text;
use ratatui::widgets::{Block, BorderType, Clear};
use tui_tree_widget::{Tree, TreeItem, TreeState};

use crate::app::panes::layout::PaneArea;
use crate::app::widgets::cursor::Cursor;
use crate::app::widgets::line::LineEdit;
use crate::base::numbers::{bar, count, thousands};
use crate::base::text::{Glyphs, Span, Tone, spans_width, width};
use crate::ui::paint::{Painter, cut};

/// Draws the title of a pane: name and facts at the left, other facts at the right.
pub(super) fn title(
    frame: &mut Frame<'_>,
    pen: &Painter<'_>,
    area: PaneArea,
    focused: bool,
    (name, facts, right): (Span, &str, String),
) {
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
        pen.put(frame, area.title, &left);
    } else {
        pen.put_both(frame, area.title, &spans, &right);
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
pub(super) fn list(frame: &mut Frame<'_>, pen: &Painter<'_>, list: &ListView, row: impl Fn(usize, usize) -> Vec<Span>) {
    tall_list(frame, pen, list, |_| 1, |at, columns| vec![row(at, columns)]);
}

/// Draws a list whose rows have several lines, as leaves of a tree widget. Tree lines are part of the rows, because the
/// widget would walk the whole tree on each frame.
pub(super) fn tall_list(
    frame: &mut Frame<'_>,
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
    frame.render_stateful_widget(tree, Rect { width: area.width.saturating_sub(1), ..area }, &mut state);
    let seen = if whole < len { whole.max(1) } else { height };
    thumb(frame, area, pen, (cursor.top, seen, len));
}

/// Draws a scroll bar at the right edge of a pane whose rows do not all fit.
pub(super) fn scroll_bar(frame: &mut Frame<'_>, area: Rect, pen: &Painter<'_>, top: usize, len: usize) {
    thumb(frame, area, pen, (top, area.height.into(), len));
}

/// Draws a scroll bar for `seen` visible rows of `len`.
fn thumb(frame: &mut Frame<'_>, area: Rect, pen: &Painter<'_>, (top, seen, len): (usize, usize, usize)) {
    let height = usize::from(area.height);
    if len <= seen || height == 0 || area.width == 0 {
        return;
    }
    let thumb = (height * seen / len).max(1);
    let start = top * (height - thumb) / (len - seen).max(1);
    for row in start..(start + thumb).min(height) {
        let cell = Rect { x: area.right() - 1, y: area.y + row as u16, width: 1, height: 1 };
        pen.put(frame, cell, &[Span::dim(&*pen.glyphs().thumb)]);
    }
}

/// Returns the visible part of an input line for `columns`.
pub(super) fn typed(line: &LineEdit, columns: usize) -> [Span; 3] {
    let [before, under, after] = line.visible_parts(columns);
    [Span::text(before), Span::new(Tone::Cursor, under), Span::text(after)]
}

/// Draws the rows of a text from `top` on.
pub(super) fn rows(frame: &mut Frame<'_>, pen: &Painter<'_>, area: Rect, text_box: &TextBox, top: usize) {
    for (at, row) in area.rows().enumerate().take_while(|(at, _)| top + at < text_box.wrapped.len()) {
        let row_spans = text_box.wrapped.row(&text_box.lines, top + at).into_iter();
        let spans: Vec<Span> = row_spans.map(|(text, tone)| Span::new(tone, text)).collect();
        pen.put(frame, row, &spans);
    }
    scroll_bar(frame, Rect { width: area.width + 1, ..area }, pen, top, text_box.wrapped.len());
}

/// Draws a centered box and returns its inner area.
pub(super) fn boxed(frame: &mut Frame<'_>, pen: &Painter<'_>, size: (u16, u16), title: &str, foot: &str) -> Rect {
    let all = frame.area();
    framed(frame, pen, middle((all.width, all.height), size), title, foot)
}

/// Draws the part of a box inside of the frame, which can be smaller than the model's size, and returns its inner area.
pub(super) fn framed(frame: &mut Frame<'_>, pen: &Painter<'_>, area: Rect, title: &str, foot: &str) -> Rect {
    let area = area.intersection(frame.area());
    frame.render_widget(Clear, area);
    // The right half of a wide character would hide the frame.
    for position in area.columns().take(1).flat_map(Rect::positions).filter(|position| position.x > 0) {
        let cell = &mut frame.buffer_mut()[(position.x - 1, position.y)];
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
    frame.render_widget(block, area);
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

/// Aligns a text to the right of some columns.
pub(super) fn right_aligned(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns a bar of at most `columns` for a value of at most `most`.
pub(super) fn bar_of(value: Option<f64>, most: f64, columns: usize, pen: &Painter<'_>) -> String {
    bar(value.map_or(0.0, |value| value / most), columns, pen.is_ascii())
}
