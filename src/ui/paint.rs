//! Draws spans: maps tones to styles, cuts text to the width, and replaces symbols by ASCII if configured.

use std::borrow::Cow;
use std::cell::RefCell;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line as Drawn, Span as DrawnSpan};
use ratatui::widgets::{Clear, Widget};

use crate::app::model::Model;
use crate::base::text::{ASCII, Glyphs, Span, Tone, limit_combining_marks, spans_width, width};
use crate::keymap::Action;
use crate::ui::theme;

/// Draws the model with its colors and glyphs.
pub(super) struct Painter<'a> {
    pub(super) model: &'a Model,
    pub(super) buffer: RefCell<&'a mut Buffer>,
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
        &self.model.setting.glyphs
    }

    pub(super) fn is_ascii(&self) -> bool {
        *self.glyphs() == ASCII
    }

    /// Returns the first key of an action, or the action's name if it is unbound.
    pub(super) fn key(&self, action: Action) -> String {
        let keys = self.model.setting.config.keymap.keys(action);
        keys.first().map_or_else(|| action.row().name.into(), |key| key.symbol(self.is_ascii()))
    }

    pub(super) fn style(&self, tone: Tone) -> Style {
        let setting = &self.model.setting;
        let style = theme::style(tone, setting.theme);
        let own = setting.config.colors.get(&tone).filter(|_| setting.theme.is_some());
        own.map_or(style, |&color| style.fg(theme::own(color)))
    }

    pub(super) fn selection(&self, focused: bool) -> Style {
        theme::selection(focused, self.model.setting.theme)
    }

    /// Returns spans as a line of at most `columns`, with an ellipsis if cut.
    pub(super) fn line<'t>(&'t self, spans: &'t [Span], columns: usize) -> Drawn<'t> {
        let fits = spans_width(spans) <= columns;
        let mut left = if fits { columns } else { columns.saturating_sub(width(&self.glyphs().ellipsis)) };
        let mut drawn = Vec::with_capacity(spans.len() + 1);
        for span in spans {
            let part = crate::base::text::truncate_to_width(&span.text, left);
            left -= width(part);
            drawn.push(DrawnSpan::styled(self.signs(part), self.style(span.tone)));
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
    fn signs<'t>(&self, text: &'t str) -> Cow<'t, str> {
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
            '×' => 'x',
            '•' => '*',
            c => c,
        };
        Cow::Owned(text.chars().map(sign).collect())
    }

    pub(super) fn put(&self, area: Rect, spans: &[Span]) {
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

/// Cuts spans to `columns` and adds an ellipsis.
pub(super) fn cut(spans: &[Span], columns: usize, glyphs: &Glyphs) -> Vec<Span> {
    if spans_width(spans) <= columns {
        return spans.to_vec();
    }
    let mut left = columns;
    let mut out = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let rest: usize = spans[at..].iter().map(|span| width(&span.text)).sum();
        if rest <= left || width(&span.text) + width(&glyphs.ellipsis) <= left {
            left -= width(&span.text);
            out.push(span.clone());
            continue;
        }
        out.push(Span::new(span.tone, glyphs.cut(&format!("{}  ", span.text), left)));
        break;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::startup::Startup;
    use crate::base::text::UNICODE;
    use crate::config::{ColorOverride, Palette};
    use std::sync::Arc;

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
        let pen = Painter { model: &model, buffer: RefCell::new(&mut buffer) };
        for (one, columns) in [("a", 1), ("漢", 2)] {
            let letter = format!("{one}{}", "\u{301}".repeat(10_000));
            let spans = [Span::new(Tone::Text, letter.repeat(3) + "b"), Span::new(Tone::Text, "é👩‍👩‍👧‍👦")];
            let drawn: String = pen.line(&spans, 80).spans.iter().map(|span| span.content.as_ref()).collect();
            assert!(drawn.len() < 200 && drawn.ends_with("bé👩‍👩‍👧‍👦"), "{} bytes", drawn.len());
            assert_eq!(width(&drawn), 3 * columns + 4);
        }
    }

    #[test]
    fn a_color_of_ones_own_is_drawn_unless_there_are_to_be_none() {
        let dim = |theme| {
            let mut setting = Startup { theme, ..Startup::default() };
            setting.config.colors.insert(Tone::Dim, ColorOverride::Index(99));
            let (model, mut buffer) = (Model::new(Arc::new(setting), (80, 24), 0), Buffer::default());
            Painter { model: &model, buffer: RefCell::new(&mut buffer) }.style(Tone::Dim)
        };
        assert_eq!((dim(Some(Palette::Light)).fg, dim(None).fg), (Some(theme::own(ColorOverride::Index(99))), None));
    }

    #[test]
    fn cut_marks_what_is_missing() {
        let spans = [Span::new(Tone::Dim, "ab"), Span::new(Tone::Text, "cdef")];
        assert_eq!(text(&cut(&spans, 6, &UNICODE)), "abcdef");
        assert_eq!(text(&cut(&spans, 5, &UNICODE)), "abcd…");
        assert_eq!(text(&cut(&spans, 2, &UNICODE)), "a…");
    }
}
