//! Draws the files that sessions touched, with their states, and the text of a file.

use ratatui::layout::Rect;

use crate::app::layers::files::{FileTextView, FilesRow, FilesView, SessionScope};
use crate::app::title::title;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Span, Tone, clean, highlight, width};
use crate::base::time;
use crate::catalog::file_states::StateRow;
use crate::keymap::Action;
use crate::render::DocLine;
use crate::session::replay::state::Exactness;
use crate::ui::empty::plain_rows;
use crate::ui::paint::{ListView, Painter, both, list, right_aligned, scroll_bar, text_position};

/// The number of files whose names decide on the columns: there may be 100,000.
const MEASURED: usize = 500;

/// Columns from which on a state has its date instead of its age.
const DATED: usize = 72;

/// Columns of the tool, the exactness and the changed lines of a state.
const STATE_COLUMNS: (usize, usize, usize) = (8, 8, 10);

/// The maximum columns of the title of a session.
const SESSION_TITLE: usize = 24;

pub(super) fn draw(view: &FilesView, painter: &Painter<'_>) {
    let all = painter.clear_screen();
    draw_files_head(view, painter);
    let body = FilesView::body((all.width, all.height));
    if view.rows.is_empty() {
        let is_reading = view.is_listing || !painter.model.catalog.progress.finished;
        let lines = match (is_reading, view.files.is_empty()) {
            (true, _) => vec![DocLine::dim("reading")],
            (false, false) => vec![DocLine::dim("no match")],
            (false, true) => vec![
                DocLine::text("no files read or changed"),
                DocLine::default(),
                DocLine::dim("The list has the files that tool calls and shell commands of pi read or changed."),
            ],
        };
        let inside = Rect { x: 1, width: body.width.saturating_sub(2), ..body };
        return plain_rows(painter, inside, lines);
    }
    draw_preview(view, FilesView::preview_area((all.width, all.height)), painter);
    let rows = ListView { area: body, cursor: view.cursor, len: view.rows.len(), focused: true };
    let longest = view.files.iter().take(MEASURED).map(|file| width(&file.shown)).max().unwrap_or_default();
    list(painter, &rows, |at, columns| match view.rows[at] {
        FilesRow::File(file) => file_row(view, file, (columns, longest), painter),
        FilesRow::State(..) => {
            view.state_at(at).map_or_else(Vec::new, |state| state_row(view, state, columns, painter))
        }
        FilesRow::Note(file) => {
            let unfolded = view.unfolded.get(&view.files[file].path);
            let problem = unfolded.and_then(|unfolded| unfolded.problem.as_deref());
            let (tone, text) = match (problem, unfolded.is_some_and(|unfolded| unfolded.is_reading)) {
                (Some(problem), _) => (Tone::Error, problem),
                (None, true) => (Tone::Dim, "replaying the session"),
                (None, false) => (Tone::Dim, "no state: all calls failed, or the file is named in another way"),
            };
            vec![Span::text("    "), Span::clean(tone, text)]
        }
    });
}

/// Draws the content of the selected state beside the list.
fn draw_preview(view: &FilesView, area: Rect, painter: &Painter<'_>) {
    match &view.preview {
        Some(preview) if preview.claim.is_none() => draw_text_rows(preview, area, painter),
        Some(_) => plain_rows(painter, area, vec![DocLine::dim("replaying the session")]),
        None => {
            let text = format!("{}: the states of this file, and its content here", painter.key(Action::Confirm));
            plain_rows(painter, area, vec![DocLine::dim(&text)]);
        }
    }
}

/// Draws the scope, the number of files and the filter.
fn draw_files_head(view: &FilesView, painter: &Painter<'_>) {
    let columns = painter.area().width;
    let row = |y: u16| Rect { x: 1, y, width: columns.saturating_sub(2), height: 1 };
    let files = match (view.shown(), view.files.len()) {
        (shown, all) if shown == all => count(all, "file", "files"),
        (shown, all) => format!("{} of {}", thousands(shown), count(all, "file", "files")),
    };
    let name = [Span::accent("Files  "), Span::new(Tone::Heading, &*view.title)];
    painter.put_both(row(0), &name, &[Span::dim(files)]);
    if !view.filter.is_empty() {
        let filter = [Span::accent("/ "), Span::clean(Tone::Text, &view.filter)];
        return painter.put(row(1), &filter);
    }
    let rule = painter.glyphs().dash.repeat(columns.into());
    painter.put(Rect { x: 0, width: columns, ..row(1) }, &[Span::dim(rule)]);
}

/// Draws a file with its facts after the longest name.
fn file_row(view: &FilesView, at: usize, (columns, longest): (usize, usize), painter: &Painter<'_>) -> Vec<Span> {
    let file = &view.files[at];
    let sign = if view.unfolded.contains_key(&file.path) { &painter.glyphs().open } else { &painter.glyphs().closed };
    let times = |what: &str, count: usize| if count > 0 { format!("{what} {count}×") } else { String::new() };
    let (changed, read) = (times("changed", file.uses.changes()), times("read", file.uses.reads));
    let age = file.latest.map_or("?".into(), |then| time::age(painter.model.now, then));
    let facts = match columns >= DATED {
        true => format!("  {changed:>12}  {read:>9}  {age:>4}"),
        false if changed.is_empty() => format!("  {read}"),
        false => format!("  {changed}"),
    };
    let room = columns.saturating_sub(width(&facts) + width(sign) + 3);
    let path = painter.glyphs().cut_path(&file.shown, room).into_owned();
    let marks = view.words.marks(&path);
    let mut left = vec![Span::dim(format!(" {sign} "))];
    left.extend(highlight(&[Span::text(path)], &marks));
    let columns = columns.min(longest + width(&facts) + width(sign) + 3);
    both(&left, &[Span::dim(facts)], columns, painter.glyphs())
}

fn state_row(view: &FilesView, state: &StateRow, columns: usize, painter: &Painter<'_>) -> Vec<Span> {
    let is_marked = view.marked.as_ref().is_some_and(|(_, entry)| *entry == state.entry);
    let when = match state.time {
        Some(time) if columns >= DATED => painter.model.settings.date(time).map_or("?".into(), |date| date + " "),
        Some(time) => format!("{:>4}", time::age(painter.model.now, time)),
        None => "?".into(),
    };
    let (mut tool, exact, changed) = STATE_COLUMNS;
    if columns < DATED {
        tool = 6;
    }
    let lines = state.lines.map_or(String::new(), |(added, removed)| format!("+{added} -{removed}"));
    let tone = match state.exactness {
        Exactness::Exact => Tone::Added,
        Exactness::Possible | Exactness::Partial => Tone::Warning,
        Exactness::Unknown => Tone::Dim,
        Exactness::Removed => Tone::Removed,
    };
    let padded = |text: &str, columns: usize| {
        let text = painter.glyphs().cut(text, columns).into_owned();
        format!("{text}{}", " ".repeat(columns - width(&text)))
    };
    let mark = if is_marked { &*painter.glyphs().mark } else { " " };
    let mut left = vec![
        Span::accent(format!("{}{mark} ", if columns >= DATED { "  " } else { " " })),
        Span::dim(format!("{when} ")),
        Span::new(Tone::Tool, padded(&clean(&state.touch), tool)),
        Span::new(tone, padded(state.exactness.words(), exact)),
    ];
    if columns >= DATED {
        let prompt = painter.model.settings.cell(&state.prompt);
        left.push(Span::text(format!("{}  {prompt}", right_aligned(&lines, changed))));
    } else {
        // The branch is more important than the prompt.
        left.push(Span::text(format!(" {lines}")));
    }
    let mut right = Vec::new();
    if view.scope != SessionScope::Session(state.entry.session)
        && let Some(session) = painter.model.catalog.get(state.entry.session)
    {
        let title = title(session, &painter.model.settings);
        right.push(Span::dim(format!("  {}", painter.glyphs().cut(&title, SESSION_TITLE))));
    }
    if state.is_abandoned {
        right.push(Span::dim(" abandoned"));
    }
    both(&left, &right, columns, painter.glyphs())
}

pub(super) fn draw_text(view: &FileTextView, painter: &Painter<'_>) {
    let all = painter.clear_screen();
    let row = |y: u16| Rect { x: 1, y, width: all.width.saturating_sub(2), height: 1 };
    let body = FileTextView::body((all.width, all.height));
    let (rows, len) = (usize::from(body.height), view.wrapped.len());
    let is_whole = view.wrapped.complete(&view.lines);
    let place = text_position(view.top, rows, len, is_whole).unwrap_or_default();
    let path = painter.glyphs().cut_path(&view.title, usize::from(all.width).saturating_sub(width(&place) + 4));
    painter.put_both(row(0), &[Span::accent(path)], &[Span::dim(place)]);
    let facts = if view.claim.is_some() { "replaying the session" } else { &view.facts };
    let dot = if facts.is_empty() { String::new() } else { format!(" {} {facts}", painter.glyphs().dot) };
    painter.put(row(1), &[Span::text(&*view.subject), Span::dim(dot)]);
    draw_text_rows(view, body, painter);
    scroll_bar(Rect { width: body.width + 1, ..body }, painter, view.top, len);
}

fn draw_text_rows(view: &FileTextView, body: Rect, painter: &Painter<'_>) {
    body.rows().zip(view.top..view.wrapped.len()).for_each(|(area, at)| painter.put(area, &view.row(at)));
}
