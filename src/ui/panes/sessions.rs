//! Draws the list of projects, families and sessions. Each row has its symbols and its title at the left, and its numbers
//! in [`Columns`] that depend on the width of the list alone.

use std::collections::{HashMap, HashSet};

use ratatui::layout::Rect;

use crate::app::flows::trash_and_archive;
use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::sessions::SessionRow;
use crate::app::session_text::symbols;
use crate::app::title::{plain_title, title as session_title};
use crate::base::machine_paths;
use crate::base::numbers::{bytes, count, nonzero_dollars, thousands};
use crate::base::paths::{shorten, split_name};
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::catalog::SessionKey;
use crate::catalog::copies::machine_chips;
use crate::catalog::parents::MissingParentKey;
use crate::catalog::search::SessionHit;
use crate::config::Sort;
use crate::keymap::{Action, KeyContext};
use crate::session::digest::details::EntryTotals;
use crate::ui::paint::{ListView, Painter, both, status_sign, tall_list, title};
use crate::ui::panes::row_parts;
use crate::ui::panes::row_parts::{SessionName, project_name, short_project_name};

pub(in crate::ui) fn draw(area: PaneArea, model: &Model, painter: &Painter<'_>) {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    facts.extend((!pane.marks.is_empty()).then(|| format!("{} marked", thousands(pane.marks.len()))));
    match &model.search {
        Some(search) => facts.extend(row_parts::hit_facts(model, search)),
        None => facts.push(pane.shows.sort.name().to_string()),
    }
    facts.extend(pane.shows.named_only.then(|| "named only".into()));
    facts.extend(pane.shows.unarchived_only.then(|| "without archived".into()));
    facts.extend((pane.shows.marked_only && !pane.marks.is_empty()).then(|| "marked only".into()));
    facts.extend(pane.shows.here_only.then(|| "here".into()));
    facts.extend(pane.shows.subagents.then(|| "subagents".into()));
    let columns = usize::from(area.title.width);
    let dot = format!(" {} ", painter.glyphs().dot);
    let heads = Columns::new(columns.saturating_sub(1), pane.shows.sort).heads();
    let room = |heads: &str| columns.saturating_sub(width(" Sessions") + width(heads) + 1);
    if model.search.is_some() {
        row_parts::add_query(&mut facts, model, room("").saturating_sub(2), painter.glyphs());
    }
    let facts = format!("  {}", facts.join(&dot));
    // The facts of a search have priority over the headings.
    let heads = if model.search.is_some() && width(&facts) > room(&heads) { String::new() } else { heads };
    let facts = painter.glyphs().cut(&facts, room(&heads)).into_owned();
    let focused = model.focus == KeyContext::Sessions;
    title(painter, area, focused, (Span::text("Sessions"), &facts, heads));
    if let (true, Some(found)) = (pane.rows.is_empty(), &pane.hits) {
        for (row, text) in area.body.rows().zip(row_parts::no_hits(model, painter, found.len(), area.body.width.into()))
        {
            painter.put(row, &[Span::clean(Tone::Dim, &text)]);
        }
    } else if pane.rows.is_empty() && model.catalog.progress.finished {
        let body = ratatui::layout::Rect { height: 1, ..area.body };
        let text = if pane.shows.here_only {
            format!("  no sessions in this project{dot}{}: show all", painter.key(Action::HereOnly))
        } else if pane.shows.named_only {
            format!("  no named sessions{dot}{}: show all", painter.key(Action::NamedOnly))
        } else if pane.shows.unarchived_only {
            format!("  only archived sessions{dot}{}: show them", painter.key(Action::ShowArchived))
        } else {
            format!("  only subagent sessions{dot}{}: show them", painter.key(Action::ShowSubagents))
        };
        painter.put(body, &[Span::dim(text)]);
    }
    let rows = ListView { area: area.body, cursor: pane.cursor, len: pane.rows.len(), focused };
    let twins = twins(model, area.body.height.into());
    tall_list(
        painter,
        &rows,
        |at| pane.rows[at].lines(),
        |at, columns| row(model, painter, at, Columns::new(columns, pane.shows.sort), &twins),
    );
    draw_periods(area.body, model, painter);
}

/// The columns of a list. They depend on its width and the sort order alone, so that they stay where they are.
#[derive(Clone, Copy)]
struct Columns {
    /// The width of the list.
    all: usize,
    /// The numbers of labels, branches and forks.
    counts: usize,
    /// The prompts, or the size of the file if the list is sorted by size.
    prompts: usize,
    cost: usize,
    when: usize,
    is_by_size: bool,
}

impl Columns {
    /// The columns of the title that other facts leave, unless it is shorter.
    const TITLE: usize = 20;

    fn new(all: usize, sort: Sort) -> Self {
        let is_by_size = sort == Sort::Size;
        let (counts, prompts, cost) = match all {
            ..34 => (0, 0, 0),
            34..50 => (0, 0, 8),
            50..74 => (0, if is_by_size { 8 } else { 5 }, 8),
            _ => (10, 8, 9),
        };
        Self { all, counts, prompts, cost, when: 10, is_by_size }
    }

    /// Returns the columns at the left of the others.
    fn left(self) -> usize {
        self.all.saturating_sub(self.counts + self.prompts + self.cost + self.when + 2)
    }

    /// Returns the headings.
    fn heads(self) -> String {
        let first = if self.prompts == 0 {
            ""
        } else if self.is_by_size {
            "size"
        } else {
            "prompts"
        };
        let cost = if self.cost == 0 { "" } else { "cost" };
        format!("{first:>0$}{cost:>1$}{2:>3$} ", self.prompts, self.cost, "when", self.when)
    }

    /// Returns the cells of a row; `counts` are dropped from the end if they do not fit.
    fn cells(self, counts: Vec<Span>, [first, cost, when]: [String; 3]) -> Vec<Span> {
        let mut room = self.counts.saturating_sub(1);
        let fits = |span: &Span| {
            let fits = width(&span.text) <= room;
            room = room.saturating_sub(width(&span.text));
            fits
        };
        let mut cells: Vec<Span> = counts.into_iter().take_while(fits).collect();
        let used = spans_width(&cells);
        cells.push(Span::text(" ".repeat(self.counts - used)));
        cells.extend((self.prompts > 0).then(|| Span::dim(format!("{first:>0$}", self.prompts))));
        cells.extend((self.cost > 0).then(|| Span::new(Tone::Cost, format!("{cost:>0$}", self.cost))));
        cells.push(Span::dim(format!("{when:>0$} ", self.when)));
        cells
    }

    /// Returns the first of the cells: the prompts, or the size.
    fn first(self, totals: EntryTotals, size: u64) -> String {
        if self.is_by_size { bytes(size) } else { thousands(totals.prompts) }
    }
}

/// Returns the visible sessions whose title another one has, too.
fn twins(model: &Model, height: usize) -> HashSet<SessionKey> {
    let pane = &model.sessions;
    let mut titles: HashMap<String, Vec<SessionKey>> = HashMap::new();
    let seen = pane.cursor.seen(pane.rows.len(), height, |at| pane.rows[at].lines());
    for key in seen.filter_map(|at| pane.rows[at].session()) {
        titles.entry(session_title(&model.catalog[key], &model.settings)).or_default().push(key);
    }
    titles.into_values().filter(|sessions| sessions.len() > 1).flatten().collect()
}

/// Draws the names of periods over the first lines of the rows that have one.
fn draw_periods(area: Rect, model: &Model, painter: &Painter<'_>) {
    let pane = &model.sessions;
    let lines = |at: usize| pane.rows[at].lines();
    let mut y = area.y;
    for at in pane.cursor.seen(pane.rows.len(), area.height.into(), lines) {
        if let SessionRow::Session { period: Some(period), .. } = &pane.rows[at] {
            let row = Rect { y, height: 1, width: area.width.saturating_sub(1), ..area };
            painter.clear(row);
            painter.put(row, &[Span::new(Tone::Strong, &**period)]);
        }
        y += lines(at) as u16;
    }
}

/// Returns the lines of a row.
fn row(
    model: &Model,
    painter: &Painter<'_>,
    at: usize,
    columns: Columns,
    twins: &HashSet<SessionKey>,
) -> Vec<Vec<Span>> {
    match &model.sessions.rows[at] {
        SessionRow::Project(place) => vec![project_row(model, painter, at, *place, columns)],
        SessionRow::MissingParent(key, forks) => vec![missing_parent_row(painter, at, (*key, *forks), columns.all)],
        SessionRow::Session { key, prefix, below, period, .. } => {
            let view = SessionRowView { model, painter, at, key: *key, columns, prefix, below: *below };
            let is_twin = twins.contains(key);
            let hit = model.sessions.found(*key).and_then(|found| view.hit(found));
            period.iter().map(|_| Vec::new()).chain([view.plain(is_twin)]).chain(hit).collect()
        }
    }
}

fn project_row(model: &Model, painter: &Painter<'_>, row: usize, place: usize, columns: Columns) -> Vec<Span> {
    let glyphs = painter.glyphs();
    let project = &model.sessions.projects[place];
    let is_folded = model.sessions.is_folded(row);
    let mut behind = String::new();
    if model.catalog.gone_dirs.contains(&*project.cwd) {
        behind += &format!(" {}", glyphs.gone);
    }
    if is_folded {
        behind += &format!("  {} {}", glyphs.hidden, thousands(project.sessions.len()));
    }
    let mut behind = vec![Span::dim(behind)];
    if model.sessions.is_marked(&model.sessions.rows[row]) {
        behind.push(Span::accent(format!(" {}", glyphs.mark)));
    }
    let mut left = vec![Span::dim(format!("{} ", if is_folded { &glyphs.closed } else { &glyphs.open }))];
    let room = columns.left().saturating_sub(spans_width(&left) + spans_width(&behind));
    left.extend(project_name(&model.sessions.projects, place, &model.settings.home, glyphs, room));
    left.extend(behind);
    let cost = nonzero_dollars(project.sum.cost).unwrap_or_default();
    let when = model.when(Some(project.latest).filter(|&latest| latest > i64::MIN));
    let cells = columns.cells(Vec::new(), [thousands(project.sum.prompts), cost, when]);
    both(&left, &cells, columns.all, glyphs)
}

/// Returns the row of a missing session, which is above its forks.
fn missing_parent_row(
    painter: &Painter<'_>,
    row: usize,
    (key, forks): (MissingParentKey, usize),
    columns: usize,
) -> Vec<Span> {
    let (model, glyphs) = (painter.model, painter.glyphs());
    let Some(gone) = model.catalog.missing_parent(key) else { return Vec::new() };
    let is_folded = model.sessions.is_folded(row);
    let sign = if is_folded { &glyphs.closed } else { &glyphs.open };
    let mut right = if is_folded { format!("{} {} ", glyphs.hidden, thousands(forks)) } else { String::new() };
    right += &format!("missing {}  ", glyphs.gone);
    let left = [Span::dim(format!("  {sign} ")), Span::dim(trash_and_archive::missing_title(model, gone))];
    both(&left, &[Span::dim(right)], columns, glyphs)
}

/// The maximum columns of a project name after a session in a flat list, and of the symbols and tree lines before it.
const PROJECT: usize = 18;

/// The minimum columns of the name of a worktree, of a project, and of machines.
const MIN_NAME: usize = 5;

/// A session row and the data to draw it.
#[derive(Clone, Copy)]
struct SessionRowView<'a, 'b> {
    model: &'a Model,
    painter: &'a Painter<'b>,
    /// The index in the list.
    at: usize,
    key: SessionKey,
    columns: Columns,
    /// The tree lines in front of it.
    prefix: &'a str,
    /// The number of forks below it.
    below: usize,
}

impl SessionRowView<'_, '_> {
    /// Returns the line with the title and the columns. `is_twin` is `true` if another visible session has this title.
    fn plain(self, is_twin: bool) -> Vec<Span> {
        let Self { model, key, columns, painter, .. } = self;
        let glyphs = painter.glyphs();
        let name = match model.sessions.found(key) {
            // It was searched in this form.
            Some(_) => SessionName::plain(model.settings.cell(&plain_title(&model.catalog[key]))),
            None => SessionName::of(model, key, is_twin),
        };
        let least = name.wanted().min(Columns::TITLE);
        let mut left = self.symbols(least);
        // The title keeps its columns; other facts share those that it does not need.
        let spare = |left: &[Span]| columns.left().saturating_sub(spans_width(left) + least);
        if let Some(label) = self.project_alone(spare(&left)) {
            left.splice(1..1, label);
        }
        let project = self.project(spare(&left));
        let mut facts = Vec::new();
        facts.extend(self.folded());
        facts.extend(self.machines(spare(&left)));
        facts.extend(self.worktree(spare(&left) / 2));
        facts.extend(self.own_gone_dir());
        let used = spans_width(&left) + spans_width(&project);
        let room = columns.left().saturating_sub(used);
        while spans_width(&facts) + least > room && facts.pop().is_some() {}
        let tags = self.tags(room.saturating_sub(spans_width(&facts) + name.wanted()));
        let room = room.saturating_sub(spans_width(&facts) + spans_width(&tags));
        let (title, words) = name.cut(if model.sessions.show_paths { room / 3 } else { room }, glyphs);
        left.extend(row_parts::with_matches(model, &title, self.tone(), model.sessions.found(key).is_some()));
        left.extend(words.filter(|_| !model.sessions.show_paths));
        left.extend(facts);
        left.extend(tags);
        if model.sessions.show_paths {
            let room = columns.left().saturating_sub(spans_width(&left) + 2);
            left.push(Span::dim(format!("  {}", glyphs.cut_path(&self.path(), room))));
        } else if !project.is_empty() {
            let end = columns.left().saturating_sub(spans_width(&project));
            left.push(Span::text(" ".repeat(end.saturating_sub(spans_width(&left)))));
            left.extend(project);
        }
        both(&left, &self.cells(), columns.all, glyphs)
    }

    /// Returns the line below the title of a hit: the number of entries, and the text around the hit.
    fn hit(self, found: &SessionHit) -> Option<Vec<Span>> {
        let SessionRow::Session { is_tall: true, .. } = self.model.sessions.rows[self.at] else { return None };
        let mut line = vec![Span::dim(" ".repeat(width(self.prefix) + 4))];
        if found.entries > 0 {
            line.push(Span::dim(format!("{}  ", count(found.entries, "hit", "hits"))));
        }
        if found.forks > 0 {
            let text = format!("also in {}  ", count(found.forks, "fork", "forks"));
            line.push(Span::new(Tone::Fork, text));
        }
        let room = self.columns.all.saturating_sub(spans_width(&line));
        line.extend(row_parts::snippet(self.model, found, room, self.painter.glyphs()));
        Some(line)
    }

    fn tone(self) -> Tone {
        match &self.model.catalog[self.key].name {
            _ if self.model.sessions.hits.is_some() && self.model.sessions.found(self.key).is_none() => Tone::Dim,
            _ if self.model.catalog[self.key].facts().is_archived() => Tone::Dim,
            Some(_) => Tone::Name,
            None => Tone::Text,
        }
    }

    /// Returns the symbols before the name, the mark first. Tree lines leave `title` columns.
    fn symbols(self, title: usize) -> Vec<Span> {
        let (model, glyphs) = (self.model, self.painter.glyphs());
        let mut signs = Vec::new();
        if self.below > 0 {
            let sign = if model.sessions.is_folded(self.at) { &glyphs.closed } else { &glyphs.open };
            signs.push(Span::dim(format!("{sign} ")));
        }
        if let Some(live) = model.catalog.live(self.key) {
            // The symbol is that of the most urgent pi.
            let (tone, sign) = status_sign(live.reported().map(|pi| pi.state), glyphs);
            let others = if live.all().len() > 1 { live.all().len().to_string() } else { String::new() };
            signs.push(Span::new(tone, format!("{sign}{others} ")));
        }
        let [kinds, _] = symbols(model, self.key);
        signs.extend(kinds.into_iter().map(|(tone, symbol, _)| Span::new(tone, symbol + " ")));
        let mark = mark(model, self.painter, self.at);
        let room = self.columns.left().saturating_sub(title + width(&mark.text) + spans_width(&signs));
        [mark, Span::dim(tail(self.prefix, room))].into_iter().chain(signs).collect()
    }

    /// Returns the tags that fit in some columns.
    fn tags(self, mut room: usize) -> Vec<Span> {
        let marks = self.model.catalog.marks();
        let key = self.model.catalog[self.key].header.marks_key();
        let tags = marks.tags(&key);
        let tags = tags.map(|tag| Span::clean(Tone::Label, &format!(" +{tag}")));
        let fits = |tag: &Span| {
            let columns = width(&tag.text);
            let fits = columns < room;
            room = room.saturating_sub(columns);
            fits
        };
        let tags: Vec<Span> = tags.take_while(fits).collect();
        let gap = (!tags.is_empty()).then(|| Span::dim(" "));
        gap.into_iter().chain(tags).collect()
    }

    /// Returns the path of the file; of a mirrored session, that on its machine.
    fn path(self) -> String {
        let path = &self.model.catalog[self.key].path;
        let here = || shorten(&path.to_string_lossy(), &self.model.settings.home).into_owned();
        clean(&machine_paths::place(path).unwrap_or_else(here)).into_owned()
    }

    /// Returns the names of the other machines with the session.
    fn machines(self, room: usize) -> Option<Span> {
        let chips = machine_chips(self.model.catalog.machines_of(self.key));
        let text = || format!("  {}", self.painter.glyphs().cut(&chips, room.saturating_sub(2).max(MIN_NAME)));
        (!chips.is_empty()).then(|| Span::new(Tone::Meta, text()))
    }

    /// Returns the name of the worktree in at most `room` columns, if the project has others.
    fn worktree(self, room: usize) -> Option<Span> {
        let worktree = self.model.catalog.worktrees().grouped(&self.model.catalog[self.key].header.cwd)?;
        let glyphs = self.painter.glyphs();
        let sign = format!("  {}", glyphs.worktree);
        let name = clean(&worktree.name);
        let name = glyphs.cut(&name, room.saturating_sub(width(&sign)).max(MIN_NAME));
        Some(Span::new(Tone::Meta, sign + &name))
    }

    /// Returns a sign if the working directory of the session is missing, but that of its project is not.
    fn own_gone_dir(self) -> Option<Span> {
        let catalog = &self.model.catalog;
        let is_own = catalog.has_gone_dir(self.key) && !catalog.gone_dirs.contains(&**catalog.project_dir(self.key));
        is_own.then(|| Span::dim(format!(" {}", self.painter.glyphs().gone)))
    }

    /// Returns the number of folded forks.
    fn folded(self) -> Option<Span> {
        let is_folded = self.below > 0 && self.model.sessions.is_folded(self.at);
        is_folded.then(|| Span::dim(format!("  {} {}", self.painter.glyphs().hidden, self.below)))
    }

    /// Returns the project name before the name of its only session, in at most `room` columns.
    fn project_alone(self, room: usize) -> Option<Vec<Span>> {
        let Self { model, painter, .. } = self;
        let place = model.sessions.project_alone(self.at)?;
        let projects = &model.sessions.projects;
        let is_gone = model.catalog.gone_dirs.contains(&*projects[place].cwd);
        let gone = if is_gone { format!(" {}", painter.glyphs().gone) } else { String::new() };
        let room = room.saturating_sub(width(&gone) + 2).max(MIN_NAME);
        let mut label = short_project_name(projects, place, &model.settings.home, painter.glyphs(), room);
        label.push(Span::dim(format!("{gone}  ")));
        Some(label)
    }

    /// Returns the column of the project in a flat list, in at most `room` columns.
    fn project(self, room: usize) -> Vec<Span> {
        let Self { model, painter, .. } = self;
        if !model.sessions.is_flat || model.sessions.show_paths {
            return Vec::new();
        }
        let dir = model.catalog.project_dir(self.key);
        let cwd = shorten(dir, &model.settings.home);
        let gone = if model.catalog.gone_dirs.contains(&**dir) {
            format!(" {}", painter.glyphs().gone)
        } else {
            String::new()
        };
        let columns = (self.columns.left() / 3).min(room.saturating_sub(2)).clamp(MIN_NAME, PROJECT);
        let name = clean(split_name(&cwd).1).into_owned();
        let name = painter.glyphs().cut(&name, columns.saturating_sub(width(&gone))).into_owned() + &gone;
        vec![Span::dim(format!("  {name}{}", " ".repeat(columns.saturating_sub(width(&name)))))]
    }

    /// Returns the cells of the columns. The cost of a fork is that of its unique entries.
    fn cells(self) -> Vec<Span> {
        let Self { model, key, columns, .. } = self;
        let session = &model.catalog[key];
        let own = model.catalog.own(key);
        let cost = nonzero_dollars(own.cost).unwrap_or_default();
        let is_part = !cost.is_empty() && model.catalog.copied_entries_text(key).is_some();
        let [_, numbers] = symbols(model, key);
        let counts = numbers.into_iter().map(|(tone, symbol, _)| Span::new(tone, symbol + " ")).collect();
        let when = model.when(session.facts().modified());
        let cost = if is_part { format!("+{cost}") } else { cost };
        columns.cells(counts, [columns.first(own, session.bytes), cost, when])
    }
}

/// Returns the last levels of the tree lines in front of a fork that fit into some columns.
fn tail(prefix: &str, columns: usize) -> String {
    let signs = prefix.chars().count();
    prefix.chars().skip(signs.saturating_sub((columns / 3 * 3).max(3))).collect()
}

/// Returns the symbol of a marked session, or an equally wide gap where sessions are grouped by project.
fn mark(model: &Model, painter: &Painter<'_>, row: usize) -> Span {
    let pane = &model.sessions;
    match pane.is_marked(&pane.rows[row]) {
        true => Span::accent(format!("{} ", painter.glyphs().mark)),
        false => Span::dim(if pane.is_flat { "" } else { "  " }),
    }
}
