//! Draws spans: maps tones to styles, cuts text to the width, and replaces symbols by ASCII if configured. Also the elements
//! shared by panes and layers: titles, lists, scroll bars, boxes and input lines.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line as Drawn, Span as DrawnSpan, Text};
use ratatui::widgets::{Block, BorderType, Clear, StatefulWidget, Widget};
use tui_tree_widget::{Tree, TreeItem, TreeState};

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::widgets::{Cursor, LineEdit, TextBox, middle};
use crate::base::numbers::{bar, count, thousands};
pub(super) use crate::base::text::cut_spans as cut;
use crate::base::text::{ASCII, Glyphs, Span, Tone, limit_combining_marks, spans_width, width};
use crate::keymap::Action;
use crate::pi::status::PiState;
use crate::ui::theme;

/// Draws the model with its colors and glyphs.
pub(super) struct Painter<'a> {
    pub(super) model: &'a Model,
    pub(super) buffer: RefCell<&'a mut Buffer>,
    /// The caret of the input line drawn last.
    pub(super) caret: Cell<Option<Position>>,
}

impl<'a> Painter<'a> {
    /// Returns the area of the terminal.
    pub(super) fn area(&self) -> Rect {
        self.buffer.borrow().area
    }

    /// Draws a widget.
    pub(super) fn render(&self, widget: impl Widget, area: Rect) {
        widget.render(area, &mut self.buffer.borrow_mut());
    }

    /// Clears an area.
    pub(super) fn clear(&self, area: Rect) {
        self.render(Clear, area);
    }

    /// Clears the terminal except the footer, and returns the whole area.
    pub(super) fn clear_screen(&self) -> Rect {
        let all = self.area();
        self.clear(Rect { height: all.height.saturating_sub(1), ..all });
        all
    }

    /// Gives an area the background of the selection.
    pub(super) fn select(&self, area: Rect) {
        self.buffer.borrow_mut().set_style(area, self.selection(true));
    }

    pub(super) fn glyphs(&self) -> &'a Glyphs {
        &self.model.settings.glyphs
    }

    pub(super) fn is_ascii(&self) -> bool {
        *self.glyphs() == ASCII
    }

    /// Returns the first key of an action, or the action's name if it is unbound.
    pub(super) fn key(&self, action: Action) -> String {
        let keys = self.model.settings.config.keymap.keys(action);
        keys.first().map_or_else(|| action.row().name.into(), |key| key.symbol(self.is_ascii()))
    }

    pub(super) fn style(&self, tone: Tone) -> Style {
        theme::style_of(tone, self.model.settings.theme, &self.model.settings.config.colors)
    }

    pub(super) fn selection(&self, focused: bool) -> Style {
        theme::selection(focused, self.model.settings.theme)
    }

    /// Returns spans as a line of at most `columns`, with an ellipsis if cut.
    pub(super) fn line<'t>(&'t self, spans: &'t [Span], columns: usize) -> Drawn<'t> {
        let fits = spans_width(spans) <= columns;
        let mut left = if fits { columns } else { columns.saturating_sub(width(&self.glyphs().ellipsis)) };
        let mut drawn = Vec::with_capacity(spans.len() + 1);
        for span in spans {
            let part = crate::base::text::truncate_to_width(&span.text, left);
            left -= width(part);
            drawn.push(DrawnSpan::styled(self.replace_symbols(part), self.style(span.tone)));
            if part.len() < span.text.len() {
                break;
            }
        }
        if !fits {
            drawn.push(DrawnSpan::styled(&*self.glyphs().ellipsis, self.style(Tone::Dim)));
        }
        Drawn::from(drawn)
    }

    /// Replaces pitree's own symbols in texts built without knowledge of the terminal.
    fn replace_symbols<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = limit_combining_marks(text);
        if text.is_ascii() || !self.is_ascii() {
            return text;
        }
        let sign = |c| match c {
            '│' | '├' | '└' => '|',
            '─' | '–' => '-',
            '┼' => '+',
            '⋯' | '…' => '.',
            '·' => '-',
            '▸' => '>',
            '×' => 'x',
            '•' => '*',
            c => c,
        };
        Cow::Owned(text.chars().map(sign).collect())
    }

    pub(super) fn put(&self, area: Rect, spans: &[Span]) {
        if let Some(at) = spans.iter().position(|span| span.tone == Tone::Cursor) {
            let before = u16::try_from(spans_width(&spans[..at])).unwrap_or(u16::MAX);
            let x = area.x.saturating_add(before).min(area.right().saturating_sub(1));
            self.caret.set(Some(Position { x, y: area.y }));
        }
        self.render(self.line(spans, area.width.into()), area);
    }

    /// Draws spans at both ends of a row. The right ones are dropped if less than half of the left ones would fit.
    pub(super) fn put_both(&self, area: Rect, left: &[Span], right: &[Span]) {
        let spans = both(left, right, area.width.into(), self.glyphs());
        self.put(area, &spans);
    }
}

/// Aligns spans to both ends of `columns`.
pub(super) fn both(left: &[Span], right: &[Span], columns: usize, glyphs: &Glyphs) -> Vec<Span> {
    let right_width = spans_width(right);
    let wanted = spans_width(left).min(columns / 3);
    if right_width == 0 || right_width + 1 + wanted > columns {
        return cut(left, columns, glyphs);
    }
    let mut spans = cut(left, columns - right_width - 1, glyphs);
    let gap = columns - right_width - spans_width(&spans);
    spans.push(Span::text(" ".repeat(gap)));
    spans.extend_from_slice(right);
    spans
}

/// Draws the title of a pane: name and facts at the left, other facts at the right.
pub(super) fn title(painter: &Painter<'_>, area: PaneArea, focused: bool, (name, facts, right): (Span, &str, String)) {
    let name = if focused { Span { tone: Tone::Accent, ..name } } else { name };
    let mark = if focused { &*painter.glyphs().focus } else { " " };
    let right = [Span::dim(right)];
    let columns = usize::from(area.title.width);
    if area.is_below {
        // A horizontal line separates stacked panes.
        let dashes = |columns: usize| Span::dim(painter.glyphs().dash.repeat(columns));
        let start = Span { tone: if focused { Tone::Accent } else { Tone::Dim }, ..dashes(2) };
        let spans = [start, Span::text(" "), name, Span::dim(facts)];
        let end = spans_width(&right);
        let mut left = cut(&spans, columns.saturating_sub(end + 1), painter.glyphs());
        left.push(Span::text(" "));
        let gap = columns.saturating_sub(spans_width(&left) + end + usize::from(end > 0));
        left.extend([dashes(gap), Span::text(if end > 0 { " " } else { "" })]);
        left.extend(right);
        painter.put(area.title, &left);
    } else {
        painter.put_both(area.title, &[Span::accent(mark), name, Span::dim(facts)], &right);
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
pub(super) fn list(painter: &Painter<'_>, list: &ListView, row: impl Fn(usize, usize) -> Vec<Span>) {
    tall_list(painter, list, |_| 1, |at, columns| vec![row(at, columns)]);
}

/// Draws a list whose rows have several lines, as leaves of a tree widget. Tree lines are part of the rows, because the
/// widget would walk the whole tree on each frame.
pub(super) fn tall_list(
    painter: &Painter<'_>,
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
    let drawn = rows.iter().map(|lines| Text::from_iter(lines.iter().map(|spans| painter.line(spans, width))));
    let items: Vec<TreeItem<'_, usize>> = seen.zip(drawn).map(|(at, text)| TreeItem::new_leaf(at, text)).collect();
    let Ok(tree) = Tree::new(&items) else { return };
    let tree = tree.node_no_children_symbol("").highlight_style(painter.selection(focused));
    let mut state = TreeState::default();
    state.select(vec![cursor.at]);
    let rows = Rect { width: area.width.saturating_sub(1), ..area };
    StatefulWidget::render(tree, rows, &mut painter.buffer.borrow_mut(), &mut state);
    let seen = if whole < len { whole.max(1) } else { height };
    thumb(area, painter, (cursor.top, seen, len));
}

/// Draws a scroll bar at the right edge of a pane whose rows do not all fit.
pub(super) fn scroll_bar(area: Rect, painter: &Painter<'_>, top: usize, len: usize) {
    thumb(area, painter, (top, area.height.into(), len));
}

/// Draws a scroll bar for `seen` visible rows of `len`.
fn thumb(area: Rect, painter: &Painter<'_>, (top, seen, len): (usize, usize, usize)) {
    let height = usize::from(area.height);
    if len <= seen || height == 0 || area.width == 0 {
        return;
    }
    let thumb = (height * seen / len).max(1);
    let start = top * (height - thumb) / (len - seen).max(1);
    for row in start..(start + thumb).min(height) {
        let cell = Rect { x: area.right() - 1, y: area.y + row as u16, width: 1, height: 1 };
        painter.put(cell, &[Span::dim(&*painter.glyphs().thumb)]);
    }
}

/// Returns the visible part of an input line for `columns`.
pub(super) fn typed(line: &LineEdit, columns: usize) -> [Span; 3] {
    let [before, under, after] = line.visible_parts(columns);
    [Span::text(before), Span::new(Tone::Cursor, under), Span::text(after)]
}

/// Draws the rows of a text from `top` on.
pub(super) fn rows(painter: &Painter<'_>, area: Rect, text_box: &TextBox, top: usize) {
    for (at, row) in area.rows().enumerate().take_while(|(at, _)| top + at < text_box.wrapped.len()) {
        let row_spans = text_box.wrapped.row(&text_box.lines, top + at).into_iter();
        let spans: Vec<Span> = row_spans.map(|(text, tone)| Span::new(tone, text)).collect();
        painter.put(row, &spans);
    }
    scroll_bar(Rect { width: area.width + 1, ..area }, painter, top, text_box.wrapped.len());
}

/// Draws a centered box and returns its inner area. The frame can be smaller than the model's size.
pub(super) fn boxed(painter: &Painter<'_>, size: (u16, u16), title: &str, foot: &str) -> Rect {
    let all = painter.area();
    boxed_at(painter, middle((all.width, all.height), size), title, foot)
}

/// Draws a box and returns its inner area.
pub(super) fn boxed_at(painter: &Painter<'_>, area: Rect, title: &str, foot: &str) -> Rect {
    painter.clear(area);
    // The right half of a wide character would hide the frame.
    for position in area.columns().take(1).flat_map(Rect::positions).filter(|position| position.x > 0) {
        let mut buffer = painter.buffer.borrow_mut();
        let cell = &mut buffer[(position.x - 1, position.y)];
        if width(cell.symbol()) > 1 {
            cell.set_symbol(" ");
        }
    }
    let mut block = Block::bordered().border_style(painter.style(Tone::Accent)).title(format!(" {title} "));
    if !foot.is_empty() {
        block = block.title_bottom(format!(" {foot} "));
    }
    if painter.is_ascii() {
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
    painter.render(block, area);
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
pub(super) fn bar_of(value: Option<f64>, most: f64, columns: usize, painter: &Painter<'_>) -> String {
    bar(value.map_or(0.0, |value| value / most), columns, painter.is_ascii())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::settings::Settings;
    use crate::base::text::UNICODE;
    use crate::config::{ColorOverride, Palette};

    fn text(spans: &[Span]) -> String {
        spans.iter().map(|span| span.text.as_str()).collect()
    }

    proptest::proptest! {
        #[test]
        fn cutting_keeps_to_the_columns(parts in proptest::collection::vec("[a漢é ]{0,9}", 0..5), columns in 0usize..30, right in "[b漢]{0,6}") {
            let spans: Vec<Span> = parts.iter().map(|part| Span::new(Tone::Text, part.as_str())).collect();
            proptest::prop_assert!(spans_width(&cut(&spans, columns, &UNICODE)) <= columns);
            let all = both(&spans, &[Span::new(Tone::Dim, right.as_str())], columns, &UNICODE);
            proptest::prop_assert!(spans_width(&all) <= columns);
        }
    }

    #[test]
    fn a_cell_gets_few_marks() {
        let (model, mut buffer) = (Model::default(), Buffer::default());
        let painter = Painter { model: &model, buffer: RefCell::new(&mut buffer), caret: Cell::default() };
        for (one, columns) in [("a", 1), ("漢", 2)] {
            let letter = format!("{one}{}", "\u{301}".repeat(10_000));
            let spans = [Span::new(Tone::Text, letter.repeat(3) + "b"), Span::new(Tone::Text, "é👩‍👩‍👧‍👦")];
            let drawn: String = painter.line(&spans, 80).spans.iter().map(|span| span.content.as_ref()).collect();
            assert!(drawn.len() < 200 && drawn.ends_with("bé👩‍👩‍👧‍👦"), "{} bytes", drawn.len());
            assert_eq!(width(&drawn), 3 * columns + 4);
        }
    }

    #[test]
    fn a_color_of_ones_own_is_drawn_unless_there_are_to_be_none() {
        let dim = |theme| {
            let mut setting = Settings { theme, ..Settings::default() };
            setting.config.colors.insert(Tone::Dim, ColorOverride::Index(99));
            let (model, mut buffer) = (Model::new(Arc::new(setting), (80, 24), 0), Buffer::default());
            Painter { model: &model, buffer: RefCell::new(&mut buffer), caret: Cell::default() }.style(Tone::Dim)
        };
        assert_eq!((dim(Some(Palette::Light)).fg, dim(None).fg), (Some(ratatui::style::Color::Indexed(99)), None));
    }

    #[test]
    fn cut_marks_what_is_missing() {
        let spans = [Span::new(Tone::Dim, "ab"), Span::new(Tone::Text, "cdef")];
        assert_eq!(text(&cut(&spans, 6, &UNICODE)), "abcdef");
        assert_eq!(text(&cut(&spans, 5, &UNICODE)), "abcd…");
        assert_eq!(text(&cut(&spans, 2, &UNICODE)), "a…");
    }
}
