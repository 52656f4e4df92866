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
use std::sync::Arc;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::app::panes::reader::sections::ImageBox;
use crate::base::text::Span;
use crate::keymap::KeyContext;
use header_and_footer::{draw_footer, draw_header};
use paint::Painter;

/// Returns the images of the reader with their places on the screen.
pub fn images(model: &Model) -> Vec<(Rect, Arc<str>)> {
    let Some(area) = model.area(KeyContext::Reader).filter(|_| model.layers.0.is_empty()) else { return Vec::new() };
    let text = area.text();
    let place = |(row, image): (usize, &ImageBox)| {
        let (y, width) = (text.y + row as u16 + 1, image.columns.min(text.width));
        (Rect { x: text.x, y, width, height: image.rows }, image.png.clone())
    };
    model.reader.images(model.now).into_iter().map(place).collect()
}

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
