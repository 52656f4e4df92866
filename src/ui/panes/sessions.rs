//! Draws the list of projects, families and sessions.

use ratatui::Frame;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::sessions::SessionRow;
use crate::base::numbers::{bytes, dollars, thousands};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, clean, spans_width};
use crate::base::time;
use crate::config::Sort;
use crate::keymap::{Action, Place};
use crate::library::SessionKey;
use crate::ui::panes::hits;
use crate::ui::pen::{Pen, both, cut};
use crate::ui::widgets::{List, key_of, list, title};

pub(super) fn draw(frame: &mut Frame<'_>, area: PaneArea, model: &Model, pen: &Pen<'_>) {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    facts.extend((!pane.marks.is_empty()).then(|| format!("{} marked", thousands(pane.marks.len()))));
    match &model.search {
        Some(search) => facts.extend(hits::facts(model, search)),
        None => facts.push(pane.shows.sort.name().to_string()),
    }
    facts.extend(pane.shows.named_only.then(|| "named only".into()));
    facts.extend(pane.shows.subagents.then(|| "sub-agents".into()));
    let right = facts.join(&format!(" {} ", pen.glyphs().dot)) + " ";
    let focused = model.focus == Place::Sessions;
    title(frame, pen, area, focused, (Span::new(Tone::Text, "Sessions"), right));
    if let (true, Some(found)) = (pane.rows.is_empty(), &pane.hits) {
        let body = ratatui::layout::Rect { height: 1, ..area.body };
        let hidden = found.len();
        let is_reading = model.search.as_ref().is_some_and(|search| search.read.or(search.searched).is_some());
        let text = match hidden {
            0 if is_reading || !model.library.progress.finished => "  nothing found so far".into(),
            0 => "  nothing found".into(),
            hidden => format!("  {} found, all of them hidden", thousands(hidden)),
        };
        pen.put(frame, body, &[Span::new(Tone::Dim, text)]);
    } else if pane.rows.is_empty() && model.library.progress.finished {
        let body = ratatui::layout::Rect { height: 1, ..area.body };
        let text = if pane.shows.named_only {
            format!("  no session has a name: {} shows all", key_of(model, pen, Action::NamedOnly))
        } else {
            format!("  only sub-agents' sessions: {} shows them", key_of(model, pen, Action::ShowSubagents))
        };
        pen.put(frame, body, &[Span::new(Tone::Dim, text)]);
    }
    let rows = List { area: area.body, cursor: pane.cursor, len: pane.rows.len(), focused };
    list(frame, pen, &rows, |at, columns| row(model, pen, at, columns));
}

fn row(model: &Model, pen: &Pen<'_>, at: usize, columns: usize) -> Vec<Span> {
    match &model.sessions.rows[at] {
        SessionRow::Project(place) => project(model, pen, at, *place, columns),
        SessionRow::Session { key: session, prefix, below } => {
            let fold = if *below > 0 { Some(model.sessions.is_folded(at)) } else { None };
            let mut left = session_left(model, pen, (*session, columns), prefix, fold.map(|folded| (folded, *below)));
            left.insert(0, mark(model, pen, at));
            let found = model.sessions.found(*session).filter(|found| found.snippet.is_some());
            let facts = match found {
                Some(_) => age(model, pen, *session).to_vec(),
                None => {
                    let all = costs(model, pen, *session).map(|cost| facts(model, pen, *session, columns, &cost));
                    let left = if model.sessions.show_paths { columns } else { spans_width(&left) };
                    let fits = |facts: &&Vec<Span>| left + 1 + spans_width(facts) <= columns;
                    all.iter().find(fits).unwrap_or(&all[2]).clone()
                }
            };
            if let Some(found) = found {
                let room = columns.saturating_sub(spans_width(&left) + spans_width(&facts) + 3);
                left.extend(hits::snippet(model, found, room, pen.glyphs()));
            }
            if model.sessions.show_paths {
                let room = columns.saturating_sub(spans_width(&facts) + 1);
                add_path(&mut left, model, pen, *session, room);
            }
            both(&left, &facts, columns, pen.glyphs())
        }
    }
}

fn project(model: &Model, pen: &Pen<'_>, row: usize, place: usize, columns: usize) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let project = &model.sessions.projects[place];
    let mark = if model.sessions.is_folded(row) { glyphs.closed } else { glyphs.open };
    let name =
        if project.cwd.is_empty() { "(no directory)".into() } else { shorten(&project.cwd, &model.setting.home) };
    let mut left = vec![Span::new(Tone::Dim, format!("{mark} ")), Span::clean(Tone::Strong, &name)];
    if model.sessions.is_marked(&model.sessions.rows[row]) {
        left.push(Span::new(Tone::Accent, format!(" {}", glyphs.mark)));
    }
    let age = if project.latest > i64::MIN { time::age(model.now, project.latest) } else { "?".into() };
    let mut right = String::new();
    if columns >= 44 && project.sum.cost >= 0.005 {
        right = format!("{}  ", dollars(project.sum.cost));
    }
    right += &format!("{:>5}  {age:>4}  ", thousands(project.sessions.len()));
    let mut right = vec![Span::new(Tone::Dim, right)];
    if model.library.gone_dirs.contains(&*project.cwd) {
        right.insert(0, Span::new(Tone::Warning, "(gone)  "));
    }
    both(&left, &right, columns, glyphs)
}

/// The sign of a marked session, or as much room where sessions stand under their project.
fn mark(model: &Model, pen: &Pen<'_>, row: usize) -> Span {
    let pane = &model.sessions;
    match pane.is_marked(&pane.rows[row]) {
        true => Span::new(Tone::Accent, format!("{} ", pen.glyphs().mark)),
        false => Span::new(Tone::Dim, if pane.is_flat { "" } else { "  " }),
    }
}

fn session_left(
    model: &Model,
    pen: &Pen<'_>,
    (key, columns): (SessionKey, usize),
    prefix: &str,
    fold: Option<(bool, usize)>,
) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let session = &model.library[key];
    let mut left = vec![Span::new(Tone::Dim, prefix)];
    match fold {
        Some((true, _)) => left.push(Span::new(Tone::Dim, format!("{} ", glyphs.closed))),
        Some((false, _)) => left.push(Span::new(Tone::Dim, format!("{} ", glyphs.open))),
        None => {}
    }
    if session.owner.is_some() {
        left.push(Span::new(Tone::Meta, format!("{} ", glyphs.subagent)));
    } else if session.header.is_fork() {
        let missing = if model.library.is_parent_missing(key) { "?" } else { "" };
        left.push(Span::new(Tone::Fork, format!("{}{missing} ", glyphs.fork)));
    }
    if !session.problems.is_empty() {
        left.push(Span::new(Tone::Warning, format!("{} ", glyphs.warning)));
    }
    let found = model.sessions.found(key);
    let tone = match &session.name {
        _ if found.is_none() && model.sessions.hits.is_some() => Tone::Dim,
        Some(_) => Tone::Name,
        None => Tone::Text,
    };
    let mut title = clean(crate::base::js::cut(session.title(), 300)).into_owned();
    let has_snippet = found.is_some_and(|found| found.snippet.is_some());
    if has_snippet {
        title = glyphs.cut(&title, (columns / 3).max(12)).into_owned(); // where it was found matters more
    }
    left.extend(hits::marked(model, &title, tone, found.is_some()));
    if let Some((true, below)) = fold {
        left.push(Span::new(Tone::Dim, format!("  {} {below}", glyphs.hidden)));
    }
    if model.sessions.is_flat && !has_snippet {
        left.push(Span::clean(Tone::Dim, &format!("  {}", shorten(&session.header.cwd, &model.setting.home))));
    }
    left
}

/// The file behind the title, its end rather than its start.
fn add_path(left: &mut Vec<Span>, model: &Model, pen: &Pen<'_>, key: SessionKey, columns: usize) {
    *left = cut(left, columns / 3, pen.glyphs());
    let path = model.library[key].path.to_string_lossy();
    let path = clean(&shorten(&path, &model.setting.home)).into_owned();
    let room = columns.saturating_sub(spans_width(left) + 2);
    left.push(Span::new(Tone::Dim, format!("  {}", pen.glyphs().cut_start(&path, room))));
}

/// Counts, cost and age to the right; what matters least goes first where there is little room.
fn facts(model: &Model, pen: &Pen<'_>, key: SessionKey, columns: usize, cost: &str) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let session = &model.library[key];
    let mut marks = Vec::new();
    let wide_fact = match model.sessions.shows.sort {
        Sort::Size => 9,
        Sort::Cost if model.library.came_with(key).is_some() => 13,
        Sort::Cost => 9,
        Sort::Threaded | Sort::Recent | Sort::Name => 0,
    };
    if columns >= 36 + wide_fact {
        let forks = model.library.forks(key).count();
        if !session.labels.is_empty() {
            marks.push(Span::new(Tone::Label, format!("{}{} ", glyphs.label, session.labels.len())));
        }
        if session.leaves > 1 {
            marks.push(Span::new(Tone::Active, format!("{}{} ", glyphs.tee, session.leaves)));
        }
        if forks > 0 {
            marks.push(Span::new(Tone::Fork, format!("{}{forks} ", glyphs.fork)));
        }
    }
    match model.sessions.shows.sort {
        Sort::Size => marks.push(Span::new(Tone::Cost, format!("{:>8} ", bytes(session.bytes)))),
        Sort::Cost => marks.push(Span::new(Tone::Cost, format!("{cost:>8} "))),
        _ if columns >= 50 && session.cost >= 0.005 => {
            marks.push(Span::new(Tone::Cost, format!("{cost:>6} ")));
        }
        _ => {}
    }
    if columns >= 30 {
        marks.push(Span::new(Tone::Dim, format!("{:>5} ", thousands(session.entry_count))));
    }
    marks.extend(age(model, pen, key));
    marks
}

/// What a session cost; of a fork what is its own, and what that comes to with what came with it, in ever fewer words.
fn costs(model: &Model, pen: &Pen<'_>, key: SessionKey) -> [String; 3] {
    let own = dollars(model.library.own(key).cost);
    let Some(with) = model.library.came_with(key) else { return [own.clone(), own.clone(), own] };
    let own = format!("{own} own");
    let both = format!("{own} {} {}", pen.glyphs().dot, dollars(model.library[key].cost));
    [format!("{both} {with}"), both, own]
}

/// The age, and whether a pi is likely at work.
fn age(model: &Model, pen: &Pen<'_>, key: SessionKey) -> [Span; 2] {
    let age = model.library[key].modified.map_or("?".into(), |then| time::age(model.now, then));
    let live = if model.library.is_live(key) { pen.glyphs().live } else { " " };
    [Span::new(Tone::Dim, format!("{age:>4} ")), Span::new(Tone::Warning, live)]
}
