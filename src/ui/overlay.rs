//! What lies over the panes, or stands in their place: help, messages, questions, and the screens for nothing and too little.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear};

use crate::app::layout::SMALLEST;
use crate::app::model::{Asking, Model};
use crate::app::sheet::{Sheet, middle};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone};
use crate::keymap::Action;
use crate::render::DocLine;
use crate::render::wrap::Wrapped;
use crate::ui::line::Pen;

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, pen: &Pen<'_>) {
    if let Some(palette) = model.palettes.last() {
        crate::ui::palette::draw(frame, palette, model, pen);
    }
    if let Some(Asking::Question(question)) = &model.asking {
        let sheet = question.sheet(model.size);
        let enter = if pen.is_ascii() { "enter" } else { "↵" };
        let foot = format!("{enter} {}, esc cancels", question.word());
        let inner = boxed(frame, pen, sheet.size, question.title, &foot);
        rows(frame, pen, inner, &sheet, question.top);
        for (at, row) in inner.rows().enumerate() {
            if question.is_selected(&sheet, question.top + at) {
                frame.buffer_mut().set_style(row, pen.selection(true));
            }
        }
    }
    if let Some(message) = &model.message {
        let sheet = message.sheet(model.size);
        let foot = if sheet.scrolls() { "up and down scroll, any other key closes" } else { "any key closes" };
        let inner = boxed(frame, pen, sheet.size, &message.title, foot);
        rows(frame, pen, inner, &sheet, message.top);
    }
    if let Some(help) = &model.help {
        let sheet = help.sheet(&model.setting, model.size);
        let inner = boxed(frame, pen, sheet.size, "Keys", "type to filter, esc closes; rebind in config.toml");
        let query = [
            Span::new(Tone::Dim, "filter: "),
            Span::clean(Tone::Text, &help.query),
            Span::new(Tone::Accent, if pen.is_ascii() { "_" } else { "▏" }),
        ];
        pen.put(frame, Rect { height: 1.min(inner.height), ..inner }, &query);
        let below = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        rows(frame, pen, below, &sheet, help.top);
    }
}

/// The rows of a text from `top` on.
fn rows(frame: &mut Frame<'_>, pen: &Pen<'_>, area: Rect, sheet: &Sheet, top: usize) {
    for (at, row) in area.rows().enumerate().take_while(|(at, _)| top + at < sheet.wrapped.len()) {
        let row_spans = sheet.wrapped.row(&sheet.lines, top + at).into_iter();
        let spans: Vec<Span> = row_spans.map(|(text, tone)| Span::new(tone, text)).collect();
        pen.put(frame, row, &spans);
    }
    crate::ui::scroll_bar(frame, Rect { width: area.width + 1, ..area }, pen, top, sheet.wrapped.len());
}

/// A box in the middle; returns its inside.
pub(super) fn boxed(frame: &mut Frame<'_>, pen: &Pen<'_>, size: (u16, u16), title: &str, foot: &str) -> Rect {
    let all = frame.area();
    let area = middle((all.width, all.height), size);
    frame.render_widget(Clear, area);
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

pub(super) fn too_small(frame: &mut Frame<'_>, pen: &Pen<'_>) {
    let (columns, rows) = SMALLEST;
    let area = frame.area();
    let text = format!("pitree needs {columns}x{rows}, this is {}x{}", area.width, area.height);
    plain_rows(frame, pen, area, vec![DocLine::new(Tone::Warning, &text)]);
}

/// Lines without a frame.
fn plain_rows(frame: &mut Frame<'_>, pen: &Pen<'_>, area: Rect, lines: Vec<DocLine>) {
    let mut wrapped = Wrapped::new(area.width.into());
    wrapped.all(&lines);
    let sheet = Sheet { size: (area.width, area.height), height: area.height.into(), lines, wrapped };
    rows(frame, pen, area, &sheet, 0);
}

/// Whether all was read and there is no session.
pub(super) fn nothing_to_show(model: &Model) -> bool {
    model.sessions.progress.finished && model.sessions.all.is_empty()
}

/// The screen for no sessions: where pitree looked, and what to do.
pub(super) fn nothing(frame: &mut Frame<'_>, area: Rect, model: &Model, pen: &Pen<'_>) {
    let located = &model.setting.located;
    let mut lines = vec![DocLine::new(Tone::Strong, "No sessions here."), DocLine::default()];
    lines.push(DocLine::new(Tone::Text, &format!("pitree looked in (from {}):", located.origin)));
    for dir in &located.dirs {
        let problem = model.sessions.unreadable.iter().find(|one| &one.path == dir);
        let reason = problem.map_or("no session files".into(), |one| one.reason.clone());
        let path = shorten(&dir.to_string_lossy(), &model.setting.home).into_owned();
        lines.push(DocLine::new(Tone::Warning, &format!("  {path}: {reason}")));
    }
    lines.push(DocLine::default());
    for text in [
        "pitree --dir DIR       reads another directory",
        "pitree --demo          shows sample sessions",
        "pitree config          says where dirs = [...] can be set for good",
    ] {
        lines.push(DocLine::new(Tone::Text, text));
    }
    lines.push(DocLine::default());
    let key = |action| crate::ui::key_of(model, pen, action);
    let (reload, quit) = (key(Action::Reload), key(Action::Quit));
    let last = format!("pi writes a session as soon as a model has answered. {reload} looks again, {quit} leaves.");
    lines.push(DocLine::new(Tone::Dim, &last));
    let inside = Rect { x: area.x + 2, y: area.y + 1, width: area.width.saturating_sub(4), height: area.height - 1 };
    plain_rows(frame, pen, inside, lines);
}
