//! Draws the header: session directories, totals, reading progress and running pis.

use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::base::numbers::{count, dollars, thousands};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::catalog::SessionKey;
use crate::pi::status::PiState;
use crate::ui::paint::Painter;
use crate::ui::widgets::status_sign;

/// The share of the budget from which on the cost is a warning.
const NEARLY: f64 = 0.8;

/// Minimum columns of the directories.
const LEAST: usize = 8;

pub(super) fn draw(area: Rect, model: &Model, pen: &Painter<'_>) {
    let located = model.setting.located.dirs.iter();
    let dirs = located.map(|dir| shorten(&dir.to_string_lossy(), &model.setting.home).into_owned());
    let dirs = dirs.collect::<Vec<_>>().join(", ");
    let totals = model.sessions.totals;
    let dot = format!(" {} ", pen.glyphs().dot);
    let right = right(model, pen, usize::from(area.width) / 3);
    let hidden = totals.hidden.in_words().map_or(String::new(), |hidden| format!(" ({hidden})"));
    let facts = |hidden: &str| {
        let facts = [
            count(totals.sessions, "session", "sessions"),
            count(totals.projects, "project", "projects"),
            dollars(totals.cost) + hidden,
        ];
        let mut facts = vec![Span::text(format!("  {}", facts.join(&dot)))];
        if totals.unread > 0 {
            facts.extend([Span::text(&*dot), Span::accent(format!("{} unread", thousands(totals.unread)))]);
        }
        if let Some(month) = month(model) {
            facts.extend([Span::text(&*dot), month]);
        }
        facts
    };
    let mut left = vec![Span::accent(" pitree ")];
    let columns = usize::from(area.width);
    let least = width(&left[0].text) + spans_width(&right) + LEAST + 3;
    let is_long = spans_width(&facts(&hidden)) + least > columns && model.stats.month_cost.is_some();
    let facts = facts(if is_long { "" } else { &hidden });
    if model.setting.demo {
        left.push(Span::new(Tone::Warning, " demo: changes are temporary "));
    } else {
        // The totals have priority over the directories.
        let rest = width(&left[0].text) + spans_width(&facts) + spans_width(&right) + 3;
        let room = columns.saturating_sub(rest).max(LEAST);
        let dirs = clean(&dirs).into_owned();
        left.push(Span::dim(format!(" {} ", pen.glyphs().cut_path(&dirs, room))));
    }
    left.extend(facts);
    pen.put_both(area, &left, &right);
}

/// Returns the cost of the month, if there is a budget.
fn month(model: &Model) -> Option<Span> {
    let (budget, cost) = (model.setting.config.stats.month_budget?, model.stats.month_cost?);
    let tone = match cost / budget {
        used if used > 1.0 => Tone::Error,
        used if used > NEARLY => Tone::Warning,
        _ => Tone::Active,
    };
    Some(Span::new(tone, format!("{} of {} this month", dollars(cost), dollars(budget))))
}

fn right(model: &Model, pen: &Painter<'_>, room: usize) -> Vec<Span> {
    let catalog = &model.catalog;
    let mut spans = Vec::new();
    let progress = &catalog.progress;
    match progress.total {
        _ if progress.finished => {}
        Some(total) => {
            let text = format!("reading {}/{} ", thousands(progress.done), thousands(total));
            spans.push(Span::new(Tone::Active, text));
        }
        None => spans.push(Span::new(Tone::Active, "searching for sessions ")),
    }
    if progress.finished && !catalog.unreadable.is_empty() {
        let text = format!("{} {} unreadable ", pen.glyphs().warning, thousands(catalog.unreadable.len()));
        spans.push(Span::new(Tone::Warning, text));
    }
    let is_hidden = |key: SessionKey| catalog[key].facts().is_subagent() && !model.sessions.shows.subagents;
    for (state, count) in catalog.live_counts(|key| !is_hidden(key)) {
        let (tone, sign) = status_sign(state, pen.glyphs());
        let word = state.map_or("live?", PiState::name);
        spans.push(Span::new(tone, format!("{sign} {count} {word} ")));
    }
    let hidden: usize = catalog.live_counts(is_hidden).into_iter().map(|(_, count)| count).sum();
    if hidden > 0 {
        let text = format!("{} live ", count(hidden, "subagent", "subagents"));
        spans.push(Span::dim(text));
    }
    spans.extend(model.machines.spans(model.now, room));
    spans
}
