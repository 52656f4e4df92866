//! Draws text boxes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear};

use crate::app::widgets::text_box::{TextBox, middle};
use crate::base::text::{Span, Tone, width};
use crate::ui::paint::Painter;
use crate::ui::widgets::scroll_bar;

/// Draws the rows of a text from `top` on.
pub(in crate::ui) fn rows(frame: &mut Frame<'_>, pen: &Painter<'_>, area: Rect, text_box: &TextBox, top: usize) {
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
    let area = middle((all.width, all.height), size);
    frame.render_widget(Clear, area);
    // The right half of a wide character would hide the frame.
    for position in area.columns().take(1).flat_map(Rect::positions).filter(|position| position.x > 0) {
        let cell = &mut frame.buffer_mut()[(position.x - 1, position.y)];
        if width(cell.symbol()) > 1 {
            cell.set_symbol(" ");
        }
    }
    let mut block = Block::bordered()
        .border_style(pen.style(Tone::Accent))
        .title(format!(" {title} "))
        .title_bottom(format!(" {foot} "));
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
