//! Draws the model on a frame: `panes`, `layers` over them, header and footer. Drawing never changes the model; all of
//! its text is free of control characters.

mod empty;
mod files;
mod header_and_footer;
mod layers;
mod paint;
mod panes;
mod stats;
pub mod theme;

use std::cell::{Cell, RefCell};

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::base::text::Span;
use header_and_footer::{draw_footer, draw_header};
use paint::Painter;

/// Draws the screen.
pub fn draw(frame: &mut Frame<'_>, model: &Model) {
    let painter = Painter { model, buffer: RefCell::new(frame.buffer_mut()), caret: Cell::default() };
    let Some(layout) = model.layout() else { return empty::too_small(&painter) };
    draw_header(layout.header, model, &painter);
    if model.has_nothing() {
        let body = Rect { y: 1, height: painter.area().height.saturating_sub(2), ..painter.area() };
        empty::nothing(body, model, &painter);
    } else {
        for bar in layout.bars.into_iter().flatten() {
            for row in bar.rows() {
                painter.put(row, &[Span::dim(&*model.settings.glyphs.bar)]);
            }
        }
        layout.sessions.into_iter().for_each(|area| panes::sessions::draw(area, model, &painter));
        layout.tree.into_iter().for_each(|area| panes::tree::draw(area, model, &painter));
        layout.reader.into_iter().for_each(|area| panes::reader::draw(area, model, &painter));
    }
    draw_footer(layout.footer, model, &painter);
    layers::draw(model, &painter);
    // Input methods open at the cursor of the terminal.
    if let Some(caret) = painter.caret.take().filter(|_| model.key_context().takes_text()) {
        frame.set_cursor_position(caret);
    }
}
