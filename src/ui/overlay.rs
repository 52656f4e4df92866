//! What lies over the panes, or stands in their place: help, messages, and the screens for nothing and too little.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, BorderType, Clear};

use super::line::Pen;
use crate::app::layout::SMALLEST;
use crate::app::model::Model;
use crate::doc::wrap::Wrapped;
use crate::doc::{DocLine, plain};
use crate::session::call::shorten;
use crate::text::{Span, Tone, width};

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, pen: &Pen<'_>) {
    if let Some(message) = &model.message {
        let mut lines = plain(Tone::Text, &message.text);
        lines.iter_mut().for_each(|line| line.verbatim = false);
        let columns = usize::from(frame.area().width.saturating_sub(6)).min(88);
        let mut wrapped = Wrapped::new(columns.saturating_sub(4));
        wrapped.all(&lines);
        let rows = wrapped.len() as u16;
        let inner = boxed(frame, pen, (columns as u16, rows + 2), &message.title, "any key closes");
        for (at, row) in inner.rows().enumerate().take(wrapped.len()) {
            let spans: Vec<Span> =
                wrapped.row(&lines, at).into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
            pen.put(frame, row, &spans);
        }
    }
    if model.help.is_some() {
        help(frame, model, pen);
    }
}

/// A box in the middle; returns its inside.
fn boxed(frame: &mut Frame<'_>, pen: &Pen<'_>, (columns, rows): (u16, u16), title: &str, foot: &str) -> Rect {
    let all = frame.area();
    let (width, height) = (columns.min(all.width), rows.min(all.height));
    let area = Rect::new((all.width - width) / 2, (all.height - height) / 2, width, height);
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

fn help(frame: &mut Frame<'_>, model: &Model, pen: &Pen<'_>) {
    let Some(help) = &model.help else { return };
    let rows = help.rows(&model.setting.keymap);
    let size = (frame.area().width.saturating_sub(4).min(110), frame.area().height.saturating_sub(2));
    let inner = boxed(frame, pen, size, "Keys", "type to filter, esc closes; rebind in config.toml");
    let query = [
        Span::new(Tone::Dim, "filter: "),
        Span::clean(Tone::Text, &help.query),
        Span::new(Tone::Accent, if pen.is_ascii() { "_" } else { "▏" }),
    ];
    pen.put(frame, Rect { height: 1.min(inner.height), ..inner }, &query);
    let keys = rows.iter().map(|row| width(&row.keys)).max().unwrap_or(0);
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let mut group = None;
    for row in rows.iter().skip(help.top) {
        if group != Some(row.group) {
            if group.is_some() {
                lines.push(Vec::new());
            }
            lines.push(vec![Span::new(Tone::Heading, row.group.title())]);
            group = Some(row.group);
        }
        let gap = " ".repeat(keys - width(&row.keys));
        lines.push(vec![
            Span::new(Tone::Accent, format!("  {}{gap}  ", row.keys)),
            Span::new(Tone::Text, row.help),
            Span::new(Tone::Dim, format!("  {}", row.name)),
        ]);
    }
    if lines.is_empty() {
        lines.push(vec![Span::new(Tone::Dim, "nothing matches")]);
    }
    let body = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    for (row, line) in body.rows().zip(&lines) {
        pen.put(frame, row, line);
    }
}

pub(super) fn too_small(frame: &mut Frame<'_>, pen: &Pen<'_>) {
    let (columns, rows) = SMALLEST;
    let area = frame.area();
    let text = format!("pitree needs {columns}x{rows}, this is {}x{}", area.width, area.height);
    let lines = [DocLine::new(Tone::Warning, &text)];
    let mut wrapped = Wrapped::new(area.width.into());
    wrapped.all(&lines);
    for (at, row) in area.rows().enumerate().take(wrapped.len()) {
        let spans: Vec<Span> = wrapped.row(&lines, at).into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
        pen.put(frame, row, &spans);
    }
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
    lines.push(DocLine::new(
        Tone::Dim,
        "pi writes a session as soon as a model has answered. F5 looks again, q leaves.",
    ));
    let mut wrapped = Wrapped::new(area.width.saturating_sub(4).into());
    wrapped.all(&lines);
    let rows = area.rows().skip(1).enumerate().take(wrapped.len());
    for (at, row) in rows {
        let spans: Vec<Span> = wrapped.row(&lines, at).into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
        pen.put(frame, Rect { x: row.x + 2, width: row.width.saturating_sub(2), ..row }, &spans);
    }
}
