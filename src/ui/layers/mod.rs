//! Draws what lies over the panes: boxes in their order, the one on top last. Lines that are typed stand in the footer.

mod palette;
pub(super) mod sheet;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::layers::Layer;
use crate::app::model::Model;
use crate::base::text::{Span, Tone};
use crate::keymap::Action;
use crate::ui::pen::Pen;
use crate::ui::widgets::{key_of, typed};
use sheet::{boxed, rows};

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, pen: &Pen<'_>) {
    for layer in model.layers.all() {
        match layer {
            // They have a line in the footer.
            Layer::Search | Layer::Find(_) | Layer::Prompt(_) => {}
            Layer::Palette(palette) => palette::draw(frame, palette, model, pen),
            Layer::Question(question) => {
                let sheet = question.sheet(model.size);
                let (take, leave) = (key_of(model, pen, Action::Confirm), key_of(model, pen, Action::Back));
                let foot = format!("{take} {}, {leave} cancels", question.word());
                let inner = boxed(frame, pen, sheet.size, question.title, &foot);
                rows(frame, pen, inner, &sheet, question.top);
                for (at, row) in inner.rows().enumerate() {
                    if question.is_selected(&sheet, question.top + at) {
                        frame.buffer_mut().set_style(row, pen.selection(true));
                    }
                }
            }
            Layer::Note(note) => {
                let sheet = note.sheet(model.size);
                let foot = if sheet.scrolls() { "up and down scroll, any other key closes" } else { "any key closes" };
                let inner = boxed(frame, pen, sheet.size, &note.title, foot);
                rows(frame, pen, inner, &sheet, note.top);
            }
            Layer::Help(help) => {
                let sheet = help.sheet(&model.setting, model.size);
                let foot =
                    format!("type to filter, {} closes; rebind in config.toml", key_of(model, pen, Action::Back));
                let inner = boxed(frame, pen, sheet.size, "Keys", &foot);
                let mut line = vec![Span::new(Tone::Dim, "filter: ")];
                line.extend(typed(&help.line, usize::from(inner.width).saturating_sub(9)));
                pen.put(frame, Rect { height: 1.min(inner.height), ..inner }, &line);
                let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
                rows(frame, pen, below, &sheet, help.top);
            }
        }
    }
}
