//! Draws the files that sessions touched with their states, and the text of a file.

use ratatui::layout::Rect;

use crate::app::layers::files::{FileTextView, FilesRow, FilesView, SessionScope};
use crate::app::title::title;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Span, Tone, clean, highlight, width};
use crate::base::time;
use crate::catalog::file_states::StateRow;
use crate::render::DocLine;
use crate::session::replay::state::Exactness;
use crate::ui::empty::plain_rows;
use crate::ui::paint::{ListView, Painter, both, list, right_aligned, scroll_bar, text_position};

/// Columns from which on a state has its date instead of its age.
const DATED: usize = 72;

/// Columns of the tool, the exactness and the changed lines of a state.
const COLUMNS: (usize, usize, usize) = (8, 8, 10);

/// The maximum columns of the title of a session.
const TITLE: usize = 24;

pub(super) fn draw(view: &FilesView, pen: &Painter<'_>) {
    let all = pen.clear_screen();
    draw_head(view, pen);
    let body = FilesView::body((all.width, all.height));
    if view.rows.is_empty() {
        let is_reading = view.is_listing || !pen.model.catalog.progress.finished;
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
        return plain_rows(pen, inside, lines);
    }
    let rows = ListView { area: body, cursor: view.cursor, len: view.rows.len(), focused: true };
    list(pen, &rows, |at, columns| match view.rows[at] {
        FilesRow::File(file) => file_row(view, file, columns, pen),
        FilesRow::State(..) => view.state_at(at).map_or_else(Vec::new, |state| state_row(view, state, columns, pen)),
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

/// Draws the scope, the number of files and the filter.
fn draw_head(view: &FilesView, pen: &Painter<'_>) {
    let columns = pen.area().width;
    let row = |y: u16| Rect { x: 1, y, width: columns.saturating_sub(2), height: 1 };
    let files = match (view.shown(), view.files.len()) {
        (shown, all) if shown == all => count(all, "file", "files"),
        (shown, all) => format!("{} of {}", thousands(shown), count(all, "file", "files")),
    };
    let name = [Span::accent("Files  "), Span::new(Tone::Heading, &*view.title)];
    pen.put_both(row(0), &name, &[Span::dim(files)]);
    if !view.filter.is_empty() {
        let filter = [Span::accent("/ "), Span::clean(Tone::Text, &view.filter)];
        return pen.put(row(1), &filter);
    }
    let rule = pen.glyphs().dash.repeat(columns.into());
    pen.put(Rect { x: 0, width: columns, ..row(1) }, &[Span::dim(rule)]);
}

fn file_row(view: &FilesView, at: usize, columns: usize, pen: &Painter<'_>) -> Vec<Span> {
    let file = &view.files[at];
    let sign = if view.unfolded.contains_key(&file.path) { &pen.glyphs().open } else { &pen.glyphs().closed };
    let times = |what: &str, count: usize| if count > 0 { format!("{what} {count}×") } else { String::new() };
    let (changed, read) = (times("changed", file.uses.changes()), times("read", file.uses.reads));
    let age = file.latest.map_or("?".into(), |then| time::age(pen.model.now, then));
    let facts = match columns >= DATED {
        true => format!("  {changed:>12}  {read:>9}  {age:>4}"),
        false if changed.is_empty() => format!("  {read}"),
        false => format!("  {changed}"),
    };
    let room = columns.saturating_sub(width(&facts) + width(sign) + 3);
    let path = pen.glyphs().cut_path(&file.shown, room).into_owned();
    let marks = view.words.marks(&path);
    let mut left = vec![Span::dim(format!(" {sign} "))];
    left.extend(highlight(&[Span::text(path)], &marks));
    both(&left, &[Span::dim(facts)], columns, pen.glyphs())
}

fn state_row(view: &FilesView, state: &StateRow, columns: usize, pen: &Painter<'_>) -> Vec<Span> {
    let is_marked = view.marked.as_ref().is_some_and(|(_, entry)| *entry == state.entry);
    let when = match state.time {
        Some(time) if columns >= DATED => {
            let time = pen.model.setting.zoned(time);
            time.map_or("?".into(), |time| time.strftime("%Y-%m-%d %H:%M ").to_string())
        }
        Some(time) => format!("{:>4}", time::age(pen.model.now, time)),
        None => "?".into(),
    };
    let (mut tool, exact, changed) = COLUMNS;
    if columns < DATED {
        tool = 6;
    }
    let lines = state.lines.map_or(String::new(), |(added, removed)| format!("+{added} -{removed}"));
    let (exactness, tone) = match state.exactness {
        Exactness::Exact => ("exact", Tone::Added),
        Exactness::Possible => ("possible", Tone::Warning),
        Exactness::Partial => ("partial", Tone::Warning),
        Exactness::Unknown => ("unknown", Tone::Dim),
        Exactness::Removed => ("removed", Tone::Removed),
    };
    let padded = |text: &str, columns: usize| {
        let text = pen.glyphs().cut(text, columns).into_owned();
        format!("{text}{}", " ".repeat(columns - width(&text)))
    };
    let mark = if is_marked { &*pen.glyphs().mark } else { " " };
    let mut left = vec![
        Span::accent(format!("{}{mark} ", if columns >= DATED { "  " } else { " " })),
        Span::dim(format!("{when} ")),
        Span::new(Tone::Tool, padded(&clean(&state.touch), tool)),
        Span::new(tone, padded(exactness, exact)),
    ];
    if columns >= DATED {
        left.push(Span::text(format!("{}  {}", right_aligned(&lines, changed), &*state.prompt)));
    } else {
        // The branch is more important than the prompt.
        left.push(Span::text(format!(" {lines}")));
    }
    let mut right = Vec::new();
    if view.scope != SessionScope::Session(state.entry.session)
        && let Some(session) = pen.model.catalog.get(state.entry.session)
    {
        right.push(Span::dim(format!("  {}", pen.glyphs().cut(&title(session), TITLE))));
    }
    if state.is_abandoned {
        right.push(Span::dim(" abandoned"));
    }
    both(&left, &right, columns, pen.glyphs())
}

pub(super) fn draw_text(view: &FileTextView, pen: &Painter<'_>) {
    let all = pen.clear_screen();
    let row = |y: u16| Rect { x: 1, y, width: all.width.saturating_sub(2), height: 1 };
    let body = FileTextView::body((all.width, all.height));
    let (rows, len) = (usize::from(body.height), view.wrapped.len());
    let is_whole = view.wrapped.complete(&view.lines);
    let place = text_position(view.top, rows, len, is_whole).unwrap_or_default();
    let path = pen.glyphs().cut_path(&view.title, usize::from(all.width).saturating_sub(width(&place) + 4));
    pen.put_both(row(0), &[Span::accent(path)], &[Span::dim(place)]);
    let facts = if view.is_reading { "replaying the session" } else { &view.facts };
    let dot = if facts.is_empty() { String::new() } else { format!(" {} {facts}", pen.glyphs().dot) };
    pen.put(row(1), &[Span::text(&*view.subject), Span::dim(dot)]);
    for (area, at) in body.rows().zip(view.top..len) {
        pen.put(area, &view.row(at));
    }
    scroll_bar(Rect { width: body.width + 1, ..body }, pen, view.top, len);
}
