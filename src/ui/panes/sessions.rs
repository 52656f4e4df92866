//! Draws the list of projects, families and sessions.

use ratatui::Frame;

use crate::app::flows::ghost;
use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::sessions::SessionRow;
use crate::app::title::{plain, title as title_of};
use crate::base::numbers::{bytes, count, some_dollars, thousands};
use crate::base::paths::{shorten, split_name};
use crate::base::text::{Span, Tone, clean, spans_text, spans_width, width};
use crate::base::time;
use crate::config::Sort;
use crate::keymap::{Action, Place};
use crate::library::SessionKey;
use crate::library::ghosts::GhostKey;
use crate::library::search::SessionHit;
use crate::ui::live;
use crate::ui::panes::{hits, project};
use crate::ui::pen::{Pen, both, cut};
use crate::ui::widgets::{List, key_of, tall_list, title};

/// The columns that the title of a hit keeps, if it has so many.
const LEAST_TITLE: usize = 24;

/// The columns from which on a session that stands alone always shows its project.
const WIDE: usize = 64;

pub(super) fn draw(frame: &mut Frame<'_>, area: PaneArea, model: &Model, pen: &Pen<'_>) {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    facts.extend((!pane.marks.is_empty()).then(|| format!("{} marked", thousands(pane.marks.len()))));
    match &model.search {
        Some(search) => facts.extend(hits::facts(model, search)),
        None => facts.push(pane.shows.sort.name().to_string()),
    }
    facts.extend(pane.shows.named_only.then(|| "named only".into()));
    facts.extend(pane.shows.here_only.then(|| "here".into()));
    facts.extend(pane.shows.subagents.then(|| "sub-agents".into()));
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
    } else if pane.rows.is_empty() && model.library.progress.finished {
        let body = ratatui::layout::Rect { height: 1, ..area.body };
        let text = if pane.shows.here_only {
            format!("  no session worked here: {} shows all", key_of(model, pen, Action::HereOnly))
        } else if pane.shows.named_only {
            format!("  no session has a name: {} shows all", key_of(model, pen, Action::NamedOnly))
        } else {
            format!("  only sub-agents' sessions: {} shows them", key_of(model, pen, Action::ShowSubagents))
        };
        pen.put(frame, body, &[Span::new(Tone::Dim, text)]);
    }
    let rows = List { area: area.body, cursor: pane.cursor, len: pane.rows.len(), focused };
    tall_list(frame, pen, &rows, |at| pane.lines(at), |at, columns| row(model, pen, at, columns));
}

/// The lines of a row.
fn row(model: &Model, pen: &Pen<'_>, at: usize, columns: usize) -> Vec<Vec<Span>> {
    match &model.sessions.rows[at] {
        SessionRow::Project(place) => vec![project_row(model, pen, at, *place, columns)],
        SessionRow::Ghost(key, forks) => vec![ghost_row(model, pen, (at, *key, *forks), columns)],
        SessionRow::Session { key: session, prefix, below, is_tall } => {
            let fold = if *below > 0 { Some(model.sessions.is_folded(at)) } else { None };
            let mut left =
                session_left(model, pen, (*session, columns, *is_tall), prefix, fold.map(|folded| (folded, *below)));
            if let Some(place) = model.sessions.project_alone(at) {
                let projects = &model.sessions.projects;
                let room = (columns / 4).max(12);
                let mut label = project::short(projects, place, &model.setting.home, pen.glyphs(), room);
                let gone = model.library.gone_dirs.contains(&*projects[place].cwd);
                let gone = if gone { format!(" {}", pen.glyphs().gone) } else { String::new() };
                label.push(Span::new(Tone::Dim, format!("{gone}  ")));
                left.splice(0..0, label);
            }
            left.insert(0, mark(model, pen, at));
            let found = model.sessions.found(*session).filter(|found| found.snippet.is_some() || found.entries > 0);
            let facts = match found {
                Some(found) => {
                    let room = columns.saturating_sub(spans_width(&left).min(LEAST_TITLE) + 1);
                    hit_facts(model, pen, *session, found, room)
                }
                None => {
                    let left = if model.sessions.show_paths { columns } else { spans_width(&left) };
                    facts(model, pen, *session, columns, columns.saturating_sub(left + 1))
                }
            };
            let mut text = None;
            if let Some(found) = found.filter(|found| found.snippet.is_some()) {
                if *is_tall {
                    let indent = vec![Span::new(Tone::Dim, " ".repeat(width(prefix) + 4))];
                    let room = columns.saturating_sub(spans_width(&indent));
                    text = Some([indent, hits::snippet(model, found, room, pen.glyphs())].concat());
                } else {
                    let room = columns.saturating_sub(spans_width(&left) + spans_width(&facts) + 3);
                    left.push(Span::new(Tone::Dim, "  "));
                    left.extend(hits::snippet(model, found, room, pen.glyphs()));
                }
            }
            if model.sessions.show_paths {
                let room = columns.saturating_sub(spans_width(&facts) + 1);
                add_path(&mut left, model, pen, *session, room);
            }
            let title = both(&left, &facts, columns, pen.glyphs());
            [title].into_iter().chain(text).collect()
        }
    }
}

/// How many entries of a session were found, in how many forks the same ones, and the age.
fn hit_facts(model: &Model, pen: &Pen<'_>, key: SessionKey, found: &SessionHit, room: usize) -> Vec<Span> {
    let mut facts = age(model, pen, key).to_vec();
    if found.entries > 0 {
        facts.insert(0, Span::new(Tone::Dim, format!("{:>9} ", count(found.entries, "hit", "hits"))));
    }
    if found.forks > 0 {
        let words = format!("same in {} ", count(found.forks, "fork", "forks"));
        let sign = format!("{}{} ", pen.glyphs().fork, found.forks);
        let is_room = spans_width(&facts) + width(&words) <= room;
        facts.insert(0, Span::new(Tone::Fork, if is_room { words } else { sign }));
    }
    facts
}

fn project_row(model: &Model, pen: &Pen<'_>, row: usize, place: usize, columns: usize) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let project = &model.sessions.projects[place];
    let is_folded = model.sessions.is_folded(row);
    let mut behind = String::new();
    if model.library.gone_dirs.contains(&*project.cwd) {
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
    let right = numbers(
        model,
        columns,
        (&some_dollars(project.sum.cost).unwrap_or_default(), &thousands(project.sum.entries)),
        &[Span::new(Tone::Dim, format!("{age:>4}  "))],
    );
    let mut left = vec![Span::new(Tone::Dim, format!("{} ", if is_folded { &glyphs.closed } else { &glyphs.open }))];
    let room =
        columns.saturating_sub([&left, &behind, &right].map(|spans| spans_width(spans)).iter().sum::<usize>() + 1);
    left.extend(project::label(&model.sessions.projects, place, &model.setting.home, glyphs, room));
    left.extend(behind);
    both(&left, &right, columns, glyphs)
}

/// A session that is gone, above its forks.
fn ghost_row(model: &Model, pen: &Pen<'_>, (row, key, forks): (usize, GhostKey, usize), columns: usize) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let Some(gone) = model.library.ghost(key) else { return Vec::new() };
    let is_folded = model.sessions.is_folded(row);
    let sign = if is_folded { &glyphs.closed } else { &glyphs.open };
    let mut right = if is_folded { format!("{} {} ", glyphs.hidden, thousands(forks)) } else { String::new() };
    right += &format!("gone {}  ", glyphs.gone);
    let left = [Span::new(Tone::Dim, format!("  {sign} ")), Span::new(Tone::Dim, ghost::title(&model.context(), gone))];
    both(&left, &[Span::new(Tone::Dim, right)], columns, glyphs)
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
    (key, columns, is_tall): (SessionKey, usize, bool),
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
    let mut title = match found {
        Some(_) => plain(session), // in which it was looked for
        None => title_of(session),
    };
    let project = shorten(&session.header.cwd, &model.setting.home);
    let has_room = is_tall || found.is_none_or(|found| found.snippet.is_none());
    let project = Some(split_name(&project)).filter(|_| model.sessions.is_flat && has_room);
    if let Some((_, name)) = project.filter(|_| columns >= WIDE && found.is_none()) {
        // What a title has beside the numbers and the name of its project.
        let room = columns - 28 - width(name).min(12) - 2;
        title = glyphs.cut(&title, room).into_owned();
    }
    left.extend(hits::marked(model, &title, tone, found.is_some()));
    if let Some((true, below)) = fold {
        left.push(Span::new(Tone::Dim, format!("  {} {below}", glyphs.hidden)));
    }
    if let Some((dir, name)) = project {
        left.push(Span::clean(Tone::Dim, &format!("  {name}  {dir}")));
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

/// Counts, cost and age to the right; what matters least goes first where there is little room. Of a fork what it comes to
/// with its parent's stands before the cost, if all of it fits into `room`.
fn facts(model: &Model, pen: &Pen<'_>, key: SessionKey, columns: usize, room: usize) -> Vec<Span> {
    let glyphs = pen.glyphs();
    let session = &model.library[key];
    let first = if model.sessions.shows.sort == Sort::Size {
        bytes(session.bytes)
    } else {
        // What is a fork's own comes on top of what came with it.
        let own = some_dollars(model.library.own(key).cost).unwrap_or_default();
        if own.is_empty() || model.library.came_with(key).is_none() { own } else { format!("+{own}") }
    };
    let numbers = numbers(model, columns, (&first, &thousands(session.entry_count)), &age(model, pen, key));
    let mut facts = Vec::new();
    let forks = model.library.forks(key).count();
    if !session.labels.is_empty() {
        facts.push(Span::new(Tone::Label, format!("{}{} ", glyphs.label, session.labels.len())));
    }
    if session.leaves > 1 {
        facts.push(Span::new(Tone::Active, format!("{}{} ", glyphs.tee, session.leaves)));
    }
    if forks > 0 {
        facts.push(Span::new(Tone::Fork, format!("{}{forks} ", glyphs.fork)));
    }
    let is_wide = |facts: &[Span]| spans_width(facts) + spans_width(&numbers) + columns / 3 >= columns;
    if columns < 36 || is_wide(&facts) {
        facts.clear();
    }
    // The counts matter more.
    let whole = whole(model, key, columns).map(|whole| Span::new(Tone::Dim, whole));
    facts.extend(whole.filter(|whole| {
        let all = spans_width(&facts) + width(&whole.text) + spans_width(&numbers);
        all + columns / 3 < columns && all <= room
    }));
    facts.extend(numbers);
    facts
}

/// What stands in the columns on the right, of which there are fewer where there is little room: the cost, or the size where
/// it is the order; entries; the age.
fn numbers(model: &Model, columns: usize, (first, entries): (&str, &str), age: &[Span]) -> Vec<Span> {
    let mut spans = Vec::new();
    match model.sessions.shows.sort {
        Sort::Size | Sort::Cost => spans.push(Span::new(Tone::Cost, format!("{first:>8} "))),
        _ if columns >= 50 => spans.push(Span::new(Tone::Cost, format!("{first:>7} "))),
        _ => {}
    }
    if columns >= 34 {
        spans.push(Span::new(Tone::Dim, format!("{entries:>7} ")));
    }
    spans.extend_from_slice(age);
    spans
}

/// What the columns on the right are.
fn heads(model: &Model, columns: usize) -> String {
    let first = if model.sessions.shows.sort == Sort::Size { "size" } else { "cost" };
    spans_text(&numbers(model, columns, (first, "entries"), &[Span::new(Tone::Dim, " age   ")]))
}

/// What stands before the cost of a fork, which is its own: what that comes to with what came with it.
fn whole(model: &Model, key: SessionKey, columns: usize) -> Option<String> {
    let has_cost = columns >= 50 && model.sessions.shows.sort != Sort::Size || model.sessions.shows.sort == Sort::Cost;
    let with = model.library.came_with(key).filter(|_| has_cost)?;
    Some(format!("{} {with} ", some_dollars(model.library[key].cost)?))
}

/// The age, and what the pi there is doing, if one seems to be there.
fn age(model: &Model, pen: &Pen<'_>, key: SessionKey) -> [Span; 2] {
    let age = model.library[key].modified.map_or("?".into(), |then| time::age(model.now, then));
    let live = model.library.live(key).map(|live| live::sign(live.told().map(|told| told.state), pen.glyphs()));
    let (tone, sign) = live.unwrap_or((Tone::Dim, " "));
    [Span::new(Tone::Dim, format!("{age:>4} ")), Span::new(tone, sign)]
}
