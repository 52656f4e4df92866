//! Draws the header: session directories, totals, reading progress and running pis; and the footer: an input line, the result
//! of the last action, or key hints.

use ratatui::layout::Rect;

use crate::app::hints::{KeyHint, hints};
use crate::app::layers::Layer;
use crate::app::model::{Model, PendingChange};
use crate::app::search::Search;
use crate::app::widgets::LineEdit;
use crate::base::numbers::{count, dollars, thousands};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::catalog::SessionKey;
use crate::keymap::{Action, KeyContext};
use crate::pi::status::PiState;
use crate::search::query::complete::Completion;
use crate::ui::paint::{Painter, cut, status_sign, typed};

/// The share of the budget from which on the cost is a warning.
const NEARLY: f64 = 0.8;

/// Minimum columns of the directories.
const MIN_DIRS: usize = 8;

pub(super) fn draw_header(area: Rect, model: &Model, painter: &Painter<'_>) {
    let located = model.settings.located.dirs.iter();
    let dirs = located.map(|dir| shorten(&dir.to_string_lossy(), &model.settings.home).into_owned());
    let dirs = dirs.collect::<Vec<_>>().join(", ");
    let totals = model.sessions.totals;
    let dot = format!(" {} ", painter.glyphs().dot);
    let right = header_right(model, painter, usize::from(area.width) / 3);
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
    let least = width(&left[0].text) + spans_width(&right) + MIN_DIRS + 3;
    let is_long = spans_width(&facts(&hidden)) + least > columns && model.stats.month_cost.is_some();
    let facts = facts(if is_long { "" } else { &hidden });
    if model.settings.demo {
        left.push(Span::new(Tone::Warning, " demo: changes are temporary "));
    } else {
        // The totals have priority over the directories.
        let rest = width(&left[0].text) + spans_width(&facts) + spans_width(&right) + 3;
        let room = columns.saturating_sub(rest).max(MIN_DIRS);
        let dirs = clean(&dirs).into_owned();
        left.push(Span::dim(format!(" {} ", painter.glyphs().cut_path(&dirs, room))));
    }
    left.extend(facts);
    painter.put_both(area, &left, &right);
}

/// Returns the cost of the month, if there is a budget.
fn month(model: &Model) -> Option<Span> {
    let (budget, cost) = (model.settings.config.stats.month_budget?, model.stats.month_cost?);
    let tone = match cost / budget {
        used if used > 1.0 => Tone::Error,
        used if used > NEARLY => Tone::Warning,
        _ => Tone::Active,
    };
    Some(Span::new(tone, format!("{} of {} this month", dollars(cost), dollars(budget))))
}

fn header_right(model: &Model, painter: &Painter<'_>, room: usize) -> Vec<Span> {
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
        let text = format!("{} {} unreadable ", painter.glyphs().warning, thousands(catalog.unreadable.len()));
        spans.push(Span::new(Tone::Warning, text));
    }
    let is_hidden = |key: SessionKey| catalog[key].facts().is_subagent() && !model.sessions.shows.subagents;
    for (state, count) in catalog.live_counts(|key| !is_hidden(key)) {
        let (tone, sign) = status_sign(state, painter.glyphs());
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

/// Minimum columns of an input line, and of the text after it.
const MIN_LINE: (usize, usize) = (12, 30);

/// Draws an input line. Its end with the cursor has priority; `aside` is drawn if it fits.
fn line(area: Rect, (prompt, edit): (&str, &LineEdit), aside: Span, painter: &Painter<'_>) {
    let columns = usize::from(area.width);
    let prompt = format!(" {prompt}");
    let prompt = painter.glyphs().cut(&prompt, columns.saturating_sub(MIN_LINE.0));
    let room = columns - width(&prompt);
    let aside =
        if aside.tone == Tone::Error || room >= MIN_LINE.1 + width(&aside.text) { aside } else { Span::default() };
    let free = room.saturating_sub(width(&clean(edit.value())) + 1);
    let right = width(&aside.text).min(free.max(room / 2));
    let mut left = vec![Span::accent(prompt)];
    left.extend(typed(edit, room - right - 1));
    painter.put_both(area, &left, &cut(&[aside], right, painter.glyphs()));
}

/// Returns the current notice, or `aside` if there is none.
fn notice_or(model: &Model, aside: Span) -> Span {
    let notice = model.notice.as_ref();
    notice.map_or(aside, |notice| Span::clean(notice.tone, &format!("  {} ", notice.text)))
}

/// Formats the keys that accept and cancel an input line.
fn ends(model: &Model, painter: &Painter<'_>, accepts: &str, cancels: &str) -> Span {
    let (accept, cancel) = (model.settings.key(Action::Accept), model.settings.key(Action::Cancel));
    Span::dim(format!("  {accept}: {accepts} {} {cancel}: {cancels} ", painter.glyphs().dot))
}

/// Returns the hints for a search in a session, or its error; or for a filter of files.
fn find_hint(model: &Model, painter: &Painter<'_>) -> Span {
    let problem = match model.focus {
        _ if model.layers.has(KeyContext::Files) => return ends(model, painter, "keep", "clear"),
        _ => model.tree.find.as_ref().and_then(|find| find.problem.as_deref()),
    };
    match (problem, model.focus) {
        (Some(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
        (None, KeyContext::Tree) => {
            let keep = format!("keep {} {}: only hits", painter.glyphs().dot, model.settings.key(Action::OnlyHits));
            ends(model, painter, &keep, "cancel")
        }
        (None, _) => ends(model, painter, "keep", "cancel"),
    }
}

/// Returns the hints for a search over sessions, or its error.
fn search_aside(model: &Model, search: &Search, painter: &Painter<'_>, columns: usize) -> Span {
    // Keys that use the results come before keys that end the input.
    let keys: &[(Action, &str)] = &[
        (Action::Accept, "go to hit"),
        (Action::Down, "results"),
        (Action::MarkAll, "mark all"),
        (Action::Cancel, "clear"),
    ];
    let room = columns.saturating_sub(2);
    let room = room.saturating_sub(MIN_LINE.1).min(room / 2);
    let is_typed = |completion: &Completion| match &completion.options[..] {
        [only] => search.line.value().get(completion.at.clone()) == Some(&*only.text),
        _ => false,
    };
    match (&search.problem, &search.completion) {
        (Some(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
        _ if search.cycle.is_some() => {
            let (next, before) = (model.settings.key(Action::Complete), model.settings.key(Action::CompleteBack));
            Span::dim(format!("  {next}: next {} {before}: previous ", painter.glyphs().dot))
        }
        (_, Some(completion)) if !is_typed(completion) => {
            let options = completion.options.iter().take(5).map(|option| &*option.text).collect::<Vec<_>>();
            let offer = format!("  {}: {} ", model.settings.key(Action::Complete), options.join("  "));
            let has_hits = model.sessions.hits.as_ref().is_some_and(|hits| !hits.is_empty());
            let both = format!("{offer}{}", named(model, painter, &keys[1..3]).text);
            Span::clean(Tone::Dim, if has_hits && width(&both) <= room { &both } else { &offer })
        }
        _ => {
            let asides = [keys, &keys[..3], &keys[1..3], &keys[1..2]].map(|keys| named(model, painter, keys));
            asides.into_iter().find(|aside| width(&aside.text) <= room).unwrap_or_default()
        }
    }
}

/// Formats keys that work during text input, with short descriptions.
fn named(model: &Model, painter: &Painter<'_>, keys: &[(Action, &str)]) -> Span {
    let key = |action: Action| {
        let keys = model.settings.config.keymap.keys(action).iter();
        keys.filter(|key| key.typed().is_none()).map(|key| key.symbol(painter.is_ascii())).next()
    };
    let words = keys.iter().filter_map(|&(action, word)| Some(format!("{}: {word}", key(action)?)));
    Span::dim(format!("  {} ", words.collect::<Vec<_>>().join(&format!(" {} ", painter.glyphs().dot))))
}

/// Formats the progress of a change, or the program that it waits for.
fn change_progress(model: &Model, painter: &Painter<'_>, pending: &PendingChange) -> String {
    let back = || model.settings.key(Action::Back);
    let dot = &painter.glyphs().dot;
    match &pending.waits {
        Some(who) if pending.claim.is_stopped() => return format!("canceling; waiting for {who}"),
        Some(who) => return format!("waiting for {who} {dot} {}: cancel", back()),
        None => {}
    }
    let Some((done, total)) = pending.progress else { return "working".into() };
    let how = match pending.claim.is_stopped() {
        _ if done == total => "reloading".into(),
        true => "stopping".into(),
        false => format!("{}: stop", back()),
    };
    format!("{} of {} {dot} {how}", thousands(done), thousands(total))
}

pub(super) fn draw_footer(area: Rect, model: &Model, painter: &Painter<'_>) {
    match model.layers.top() {
        Some(Layer::Prompt(prompt)) => {
            let aside = match (&prompt.problem, prompt.options.len()) {
                (Some(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
                (None, 0) => ends(model, painter, "accept", "cancel"),
                (None, options) => Span::dim(format!("  {} ", count(options, "directory", "directories"))),
            };
            return line(area, (&prompt.question, &prompt.line), notice_or(model, aside), painter);
        }
        Some(Layer::Find(find)) => {
            return line(area, ("/", &find.0), notice_or(model, find_hint(model, painter)), painter);
        }
        Some(Layer::Search(_)) => {
            if let Some(search) = &model.search {
                let aside = notice_or(model, search_aside(model, search, painter, area.width.into()));
                return line(area, ("/", &search.line), aside, painter);
            }
        }
        _ => {}
    }
    let waits = model.changes.front().is_some_and(|pending| pending.waits.is_some());
    if let Some(notice) = model.notice.as_ref().filter(|_| !waits) {
        let undo = model.settings.key(Action::Undo);
        let hint = if notice.can_undo { format!(" {} {undo}: undo ", painter.glyphs().dot) } else { String::new() };
        let hint = Span::dim(hint);
        let room = usize::from(area.width).saturating_sub(width(&hint.text));
        let text = [Span::clean(notice.tone, &format!(" {}", notice.text))];
        let spans = [cut(&text, room, painter.glyphs()), vec![hint]].concat();
        return painter.put(area, &spans);
    }
    if let (Some(pending), true) = (model.changes.front(), model.layers.0.is_empty()) {
        return painter.put(area, &[Span::clean(Tone::Dim, &format!(" {}", change_progress(model, painter, pending)))]);
    }
    let mut spans = Vec::new();
    for KeyHint { column, sign, word, .. } in hints(model) {
        let gap = column.saturating_sub(spans_width(&spans));
        spans.extend([Span::text(" ".repeat(gap)), Span::accent(sign), Span::dim(format!(" {word}"))]);
    }
    painter.put(area, &spans);
}
