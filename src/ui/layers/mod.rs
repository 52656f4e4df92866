//! Draws the layers over the panes, topmost last. Input lines are drawn in the footer.

mod compare;
mod context;
mod palette;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::layers::Layer;
use crate::app::model::Model;
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::keymap::Action;
use crate::ui::paint::Painter;
use crate::ui::widgets::{boxed, rows, typed};

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, pen: &Painter<'_>) {
    for layer in &model.layers.0 {
        match layer {
            // The footer draws their input line.
            Layer::Find(_) => {}
            Layer::Prompt(prompt) => {
                // A prompt completes only directories.
                let room = usize::from(frame.area().width).saturating_sub(3);
                let cut = |option: &String| pen.glyphs().cut_path(&clean(option), room).into_owned();
                let options: Vec<String> = prompt.options.iter().map(cut).collect();
                let options: Vec<(&str, &str)> = options.iter().map(|option| (&**option, "")).collect();
                candidates(frame, pen, &options, None);
            }
            Layer::Search => {
                let Some(cycle) = model.search.as_ref().and_then(|search| search.cycle.as_ref()) else { continue };
                let options: Vec<(&str, &str)> =
                    cycle.options.iter().map(|option| (&*option.text, &*option.means)).collect();
                candidates(frame, pen, &options, Some(cycle.at));
            }
            Layer::Context(view) => context::draw(frame, view, pen),
            Layer::Palette(palette) => palette::draw(frame, palette, model, pen),
            Layer::Question(question) => {
                let text_box = question.text_box(model.size);
                let (take, leave) = (pen.key(Action::Confirm), pen.key(Action::Back));
                let foot = format!("{take}: {} {} {leave}: cancel", question.word(), pen.glyphs().dot);
                let inner = boxed(frame, pen, text_box.size, question.title, &foot);
                rows(frame, pen, inner, &text_box, question.top);
                for (at, row) in inner.rows().enumerate() {
                    if question.is_selected(&text_box, question.top + at) {
                        frame.buffer_mut().set_style(row, pen.selection(true));
                    }
                }
            }
            Layer::Note(note) => {
                let text_box = note.text_box(model.size);
                let foot = match text_box.scrolls() {
                    true => format!("up/down: scroll {} any other key: close", pen.glyphs().dot),
                    false => "any key: close".into(),
                };
                let inner = boxed(frame, pen, text_box.size, &note.title, &foot);
                rows(frame, pen, inner, &text_box, note.top);
            }
            Layer::Compare(compare) => compare::draw(frame, compare, model, pen),
            Layer::Help(help) => {
                let text_box = help.text_box(model.size);
                let (close, dot) = (pen.key(Action::Back), &pen.glyphs().dot);
                let foot = format!("type to filter {dot} {close}: close {dot} rebind in config.toml");
                let inner = boxed(frame, pen, text_box.size, "Help", &foot);
                let mut line = vec![Span::new(Tone::Dim, "filter: ")];
                line.extend(typed(&help.line, usize::from(inner.width).saturating_sub(9)));
                pen.put(frame, Rect { height: 1.min(inner.height), ..inner }, &line);
                let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
                rows(frame, pen, below, &text_box, help.top);
            }
        }
    }
}

/// The maximum number of visible candidates.
const CANDIDATES: usize = 8;

/// Draws completion candidates with descriptions above an input line. Highlights the inserted candidate.
fn candidates(frame: &mut Frame<'_>, pen: &Painter<'_>, options: &[(&str, &str)], at: Option<usize>) {
    if options.is_empty() {
        return;
    }
    let screen = frame.area();
    let height = options.len().min(CANDIDATES).min(usize::from(screen.height.saturating_sub(4)));
    // Center the inserted candidate if there are enough others around it.
    let top = at.unwrap_or(0).saturating_sub(height / 2).min(options.len() - height);
    let columns = usize::from(screen.width);
    let seen = &options[top..top + height];
    let most = |part: fn(&(&str, &str)) -> usize| seen.iter().map(part).max().unwrap_or(0);
    // Descriptions get the width they need, up to half of the line.
    let means = most(|(_, means)| width(means)).min(columns / 2);
    let text = most(|(text, _)| width(&clean(text))).min(columns.saturating_sub(means + 3));
    let rule = Rect { y: screen.bottom() - 2 - height as u16, height: 1, ..screen };
    pen.put(frame, rule, &[Span::new(Tone::Dim, pen.glyphs().dash.repeat(columns))]);
    for (row, (text_of, means)) in (0..).zip(&options[top..top + height]) {
        let area = Rect { y: rule.y + 1 + row, height: 1, ..screen };
        let value = pen.glyphs().cut_middle(&clean(text_of), text, text / 2).into_owned();
        let gap = " ".repeat(text - width(&value) + 2);
        let means = Span::new(Tone::Dim, *means);
        let mut spans = vec![Span::new(Tone::Text, format!(" {value}{gap}")), means];
        spans.push(Span::new(Tone::Text, " ".repeat(columns.saturating_sub(spans_width(&spans)))));
        pen.put(frame, area, &spans);
        if at == Some(top + usize::from(row)) {
            frame.buffer_mut().set_style(area, pen.selection(true));
        }
    }
}
