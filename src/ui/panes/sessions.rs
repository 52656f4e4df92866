//! Draws the list of projects, families and sessions.

use ratatui::Frame;

use crate::app::flows::missing_parent;
use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::sessions::SessionRow;
use crate::base::numbers::{nonzero_dollars, thousands};
use crate::base::text::{Span, Tone, spans_text, spans_width, width};
use crate::base::time;
use crate::catalog::parents::MissingParentKey;
use crate::config::Sort;
use crate::keymap::{Action, Place};
use crate::ui::paint::{Painter, both};
use crate::ui::panes::session::{SessionRowView, entries_column, first_column};
use crate::ui::panes::{hits, project};
use crate::ui::widgets::{ListView, tall_list, title};

pub(in crate::ui) fn draw(frame: &mut Frame<'_>, area: PaneArea, model: &Model, pen: &Painter<'_>) {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    facts.extend((!pane.marks.is_empty()).then(|| format!("{} marked", thousands(pane.marks.len()))));
    match &model.search {
        Some(search) => facts.extend(hits::facts(model, search)),
        None => facts.push(pane.shows.sort.name().to_string()),
    }
    facts.extend(pane.shows.named_only.then(|| "named only".into()));
    facts.extend(pane.shows.here_only.then(|| "here".into()));
    facts.extend(pane.shows.subagents.then(|| "subagents".into()));
    let columns = usize::from(area.title.width);
    let dot = format!(" {} ", pen.glyphs().dot);
    hits::add_query(&mut facts, model, columns.saturating_sub(width("  Sessions  ")), pen.glyphs());
    let facts = format!("  {}", facts.join(&dot));
    let focused = model.focus == Place::Sessions;
    let heads = match pane.hits {
        Some(_) => hits::keys(model, pen),
        None => heads(model, columns.saturating_sub(1)),
    };
    let is_room = width("  Sessions") + width(&facts) + width(&heads) <= columns;
    let heads = if is_room { heads } else { String::new() };
    title(frame, pen, area, focused, (Span::new(Tone::Text, "Sessions"), &facts, heads));
    if let (true, Some(found)) = (pane.rows.is_empty(), &pane.hits) {
        for (row, text) in area.body.rows().zip(hits::nothing(model, pen, found.len(), area.body.width.into())) {
            pen.put(frame, row, &[Span::clean(Tone::Dim, &text)]);
        }
    } else if pane.rows.is_empty() && model.catalog.progress.finished {
        let body = ratatui::layout::Rect { height: 1, ..area.body };
        let text = if pane.shows.here_only {
            format!("  no sessions in this project{dot}{}: show all", pen.key(Action::HereOnly))
        } else if pane.shows.named_only {
            format!("  no named sessions{dot}{}: show all", pen.key(Action::NamedOnly))
        } else {
            format!("  only subagent sessions{dot}{}: show them", pen.key(Action::ShowSubagents))
        };
        pen.put(frame, body, &[Span::new(Tone::Dim, text)]);
    }
    let rows = ListView { area: area.body, cursor: pane.cursor, len: pane.rows.len(), focused };
    tall_list(frame, pen, &rows, |at| pane.rows[at].lines(), |at, columns| row(model, pen, at, columns));
}

/// Returns the lines of a row.
fn row(model: &Model, pen: &Painter<'_>, at: usize, columns: usize) -> Vec<Vec<Span>> {
    match &model.sessions.rows[at] {
        SessionRow::Project(place) => vec![project_row(model, pen, at, *place, columns)],
        SessionRow::MissingParent(key, forks) => vec![missing_parent_row(pen, at, (*key, *forks), columns)],
        &SessionRow::Session { key, ref prefix, below, is_tall } => {
            SessionRowView { model, pen, at, key, columns, prefix, below, is_tall }.lines()
        }
    }
}

fn project_row(model: &Model, pen: &Painter<'_>, row: usize, place: usize, columns: usize) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let project = &model.sessions.projects[place];
    let is_folded = model.sessions.is_folded(row);
    let mut behind = String::new();
    if model.catalog.gone_dirs.contains(&*project.cwd) {
        behind += &format!(" {}", glyphs.gone);
    }
    if is_folded {
        behind += &format!("  {} {}", glyphs.hidden, thousands(project.sessions.len()));
    }
    let mut behind = vec![Span::new(Tone::Dim, behind)];
    if model.sessions.is_marked(&model.sessions.rows[row]) {
        behind.push(Span::new(Tone::Accent, format!(" {}", glyphs.mark)));
    }
    let age = if project.latest > i64::MIN { time::age(model.now, project.latest) } else { "?".into() };
    let mut left = vec![Span::new(Tone::Dim, format!("{} ", if is_folded { &glyphs.closed } else { &glyphs.open }))];
    let cost = nonzero_dollars(project.sum.cost).unwrap_or_default();
    let cost = first_column(model.sessions.shows.sort, columns, &cost);
    let age = vec![Span::new(Tone::Dim, format!("{age:>4}  "))];
    let room =
        |right: &[Span]| columns.saturating_sub([&left[..], &behind, right].map(spans_width).iter().sum::<usize>() + 1);
    let label = |room| project::label(&model.sessions.projects, place, &model.setting.home, glyphs, room);
    let entries = entries_column(columns, &thousands(project.sum.entries));
    let (whole, named) = ([entries, cost.clone(), age.clone()].concat(), [cost, age.clone()].concat());
    let full = label(columns);
    let right = match () {
        () if spans_width(&full) <= room(&whole) => whole,
        () if spans_width(&full[..1]) <= room(&named) => named,
        () => age,
    };
    let room = room(&right);
    left.extend(label(room));
    left.extend(behind);
    both(&left, &right, columns, glyphs)
}

/// Returns the row of a missing session, which is above its forks.
fn missing_parent_row(
    pen: &Painter<'_>,
    row: usize,
    (key, forks): (MissingParentKey, usize),
    columns: usize,
) -> Vec<Span> {
    let (model, glyphs) = (pen.model, pen.glyphs());
    let Some(gone) = model.catalog.missing_parent(key) else { return Vec::new() };
    let is_folded = model.sessions.is_folded(row);
    let sign = if is_folded { &glyphs.closed } else { &glyphs.open };
    let mut right = if is_folded { format!("{} {} ", glyphs.hidden, thousands(forks)) } else { String::new() };
    right += &format!("missing {}  ", glyphs.gone);
    let left = [Span::new(Tone::Dim, format!("  {sign} ")), Span::new(Tone::Dim, missing_parent::title(model, gone))];
    both(&left, &[Span::new(Tone::Dim, right)], columns, glyphs)
}

/// Returns the column headings at the right.
fn heads(model: &Model, columns: usize) -> String {
    let sort = model.sessions.shows.sort;
    let first = if sort == Sort::Size { "size" } else { "cost" };
    let age = [Span::new(Tone::Dim, " age   ")];
    spans_text(&[entries_column(columns, "entries"), first_column(sort, columns, first), age.to_vec()].concat())
}
