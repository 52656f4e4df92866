//! Draws the list of projects, families and sessions. The row of a session has the name first, and to the right the facts
//! that leave enough room for it.

use crate::app::flows::trash_and_archive;
use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::sessions::SessionRow;
use crate::app::session_text::symbols;
use crate::app::title::plain_title;
use crate::base::numbers::{bytes, count, nonzero_dollars, thousands};
use crate::base::paths::{shorten, split_name};
use crate::base::text::{Span, Tone, clean, spans_text, spans_width, width};
use crate::base::{machine_paths, time};
use crate::catalog::SessionKey;
use crate::catalog::copies::machine_chips;
use crate::catalog::parents::MissingParentKey;
use crate::catalog::search::SessionHit;
use crate::config::Sort;
use crate::keymap::{Action, KeyContext};
use crate::ui::paint::{ListView, Painter, both, cut, status_sign, tall_list, title};
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
    row_parts::add_query(&mut facts, model, columns.saturating_sub(width("  Sessions  ")), painter.glyphs());
    let facts = format!("  {}", facts.join(&dot));
    let focused = model.focus == KeyContext::Sessions;
    let heads = match pane.hits {
        Some(_) => row_parts::hit_keys(model, painter),
        None => heads(model, columns.saturating_sub(1)),
    };
    let is_room = width("  Sessions") + width(&facts) + width(&heads) <= columns;
    let heads = if is_room { heads } else { String::new() };
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
    tall_list(painter, &rows, |at| pane.rows[at].lines(), |at, columns| row(model, painter, at, columns));
}

/// Returns the lines of a row.
fn row(model: &Model, painter: &Painter<'_>, at: usize, columns: usize) -> Vec<Vec<Span>> {
    match &model.sessions.rows[at] {
        SessionRow::Project(place) => vec![project_row(model, painter, at, *place, columns)],
        SessionRow::MissingParent(key, forks) => vec![missing_parent_row(painter, at, (*key, *forks), columns)],
        &SessionRow::Session { key, ref prefix, below, is_tall } => {
            SessionRowView { model, painter, at, key, columns, prefix, below, is_tall }.lines()
        }
    }
}

fn project_row(model: &Model, painter: &Painter<'_>, row: usize, place: usize, columns: usize) -> Vec<Span> {
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
    let age = if project.latest > i64::MIN { time::age(model.now, project.latest) } else { "?".into() };
    let mut left = vec![Span::dim(format!("{} ", if is_folded { &glyphs.closed } else { &glyphs.open }))];
    let cost = nonzero_dollars(project.sum.cost).unwrap_or_default();
    let cost = first_column(model.sessions.shows.sort, columns, &cost);
    let age = vec![Span::dim(format!("{age:>4}  "))];
    let room =
        |right: &[Span]| columns.saturating_sub([&left[..], &behind, right].map(spans_width).iter().sum::<usize>() + 1);
    let label = |room| project_name(&model.sessions.projects, place, &model.settings.home, glyphs, room);
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

/// Returns the column headings at the right.
fn heads(model: &Model, columns: usize) -> String {
    let sort = model.sessions.shows.sort;
    let first = if sort == Sort::Size { "size" } else { "cost" };
    let age = [Span::dim(" age   ")];
    spans_text(&[entries_column(columns, "entries"), first_column(sort, columns, first), age.to_vec()].concat())
}

/// The width from which a session in a flat list always shows its project.
const WIDE: usize = 64;

/// Columns of a project name after a session in a flat list: reserved maximum, and minimum.
const PROJECT: (usize, usize) = (16, 6);

/// The minimum columns of the name of a worktree.
const MIN_WORKTREE: usize = 8;

/// The columns of the age, with gaps.
const AGE: usize = 9;

/// The minimum columns of the names of machines.
const MIN_MACHINE: usize = 5;

/// The width from which a list shows the machines of sessions.
const WITH_MACHINES: usize = 24;

/// The widths from which a list shows costs, and also the number of entries.
const WITH_COST: usize = 34;
const WITH_ENTRIES: usize = 50;

/// A session row and the data to draw it.
#[derive(Clone, Copy)]
struct SessionRowView<'a, 'b> {
    model: &'a Model,
    painter: &'a Painter<'b>,
    /// The index in the list.
    at: usize,
    key: SessionKey,
    columns: usize,
    /// The tree lines in front of it.
    prefix: &'a str,
    /// The number of forks below it.
    below: usize,
    /// `true` if a hit has a line of its own below it.
    is_tall: bool,
}

impl SessionRowView<'_, '_> {
    /// Returns the lines of the row.
    fn lines(self) -> Vec<Vec<Span>> {
        let found = self.model.sessions.found(self.key);
        match found.filter(|found| found.snippet.is_some() || found.entries > 0) {
            Some(found) => self.hit(found),
            None => vec![self.plain()],
        }
    }

    /// Returns the row of a session without a text hit.
    fn plain(self) -> Vec<Span> {
        let Self { model, key, columns, painter, .. } = self;
        let session = &model.catalog[key];
        let name = match model.sessions.found(key) {
            Some(_) => SessionName::plain(plain_title(session)), // in which it was looked for
            None => SessionName::of(&model.catalog, key),
        };
        let most = columns * 3 / 5;
        let mut signs = self.symbols();
        let folded = self.folded();
        let project = self.project();
        let rest = columns.saturating_sub(spans_width(&signs) + spans_width(&folded) + width(&name.title) + AGE);
        let chips = self.chips(columns / 5, rest);
        let reserved = project.as_ref().map_or(0, |(project, _)| 2 + width(project).min(PROJECT.0));
        let reserved = if columns < WIDE { 0 } else { reserved };
        let wanted = match model.sessions.show_paths {
            true => columns,
            false => name.wanted(session.name.is_some(), most) + reserved,
        };
        if let Some(label) = self.project_alone(columns.saturating_sub(spans_width(&signs) + wanted)) {
            signs.splice(1..1, label);
        }
        let used = spans_width(&signs) + spans_width(&folded) + spans_width(&chips) + 1;
        let right = self.right(columns.saturating_sub(used + wanted));
        let room = columns.saturating_sub(used + spans_width(&right));
        let mut left = signs;
        let (title, words) =
            name.cut(if model.sessions.show_paths { room / 2 } else { room - reserved.min(room) }, painter.glyphs());
        left.extend(row_parts::with_matches(model, &title, self.tone(), model.sessions.found(key).is_some()));
        left.extend(words);
        left.extend(folded);
        left.extend(chips);
        let used = spans_width(&left) + spans_width(&right) + reserved + 2;
        left.extend(self.tags(columns.saturating_sub(used)));
        let room = columns.saturating_sub(spans_width(&left) + spans_width(&right) + 3);
        if model.sessions.show_paths {
            let path = self.path();
            left.push(Span::dim(format!("  {}", painter.glyphs().cut_path(&path, room))));
        } else if let Some((project, dir)) = project {
            left.extend(self.project_after(&project, &dir, room));
        }
        let room = columns.saturating_sub(spans_width(&left) + spans_width(&right) + 1);
        let whole = self.whole().filter(|whole| width(&whole.text) <= room);
        both(&left, &whole.into_iter().chain(right).collect::<Vec<_>>(), columns, painter.glyphs())
    }

    /// Returns the row of a session with a text hit, and the text.
    fn hit(self, found: &SessionHit) -> Vec<Vec<Span>> {
        let Self { model, key, columns, painter, .. } = self;
        let mut left = self.symbols();
        if let Some(label) = self.project_alone(columns / 4) {
            left.splice(1..1, label);
        }
        left.extend(row_parts::with_matches(model, &plain_title(&model.catalog[key]), self.tone(), true));
        left.extend(self.folded());
        left.extend(self.chips(columns / 5, 0));
        let room = columns.saturating_sub(spans_width(&left).min(columns * 3 / 5) + 1);
        let facts = self.hit_facts(found, room);
        let room = |left: &[Span]| columns.saturating_sub(spans_width(left) + spans_width(&facts) + 3);
        if (self.is_tall || found.snippet.is_none())
            && let Some((project, dir)) = self.project()
        {
            left.extend(self.project_after(&project, &dir, room(&left).max(width(&project))));
        }
        let mut text = None;
        if found.snippet.is_some() && self.is_tall {
            let indent = vec![Span::dim(" ".repeat(width(self.prefix) + 4))];
            let room = columns.saturating_sub(spans_width(&indent));
            text = Some([indent, row_parts::snippet(model, found, room, painter.glyphs())].concat());
        } else if found.snippet.is_some() {
            let snippet = row_parts::snippet(model, found, room(&left), painter.glyphs());
            left.push(Span::dim("  "));
            left.extend(snippet);
        }
        if model.sessions.show_paths {
            let path = self.path();
            left = cut(&left, columns / 3, painter.glyphs());
            let path = painter.glyphs().cut_path(&path, room(&left)).into_owned();
            left.push(Span::dim(format!("  {path}")));
        }
        [both(&left, &facts, columns, painter.glyphs())].into_iter().chain(text).collect()
    }

    fn tone(self) -> Tone {
        match &self.model.catalog[self.key].name {
            _ if self.model.sessions.hits.is_some() && self.model.sessions.found(self.key).is_none() => Tone::Dim,
            _ if self.model.catalog[self.key].facts().is_archived() => Tone::Dim,
            Some(_) => Tone::Name,
            None => Tone::Text,
        }
    }

    /// Returns the symbols before the name, the mark first.
    fn symbols(self) -> Vec<Span> {
        let (model, glyphs) = (self.model, self.painter.glyphs());
        let mut signs = vec![mark(model, self.painter, self.at), Span::dim(tail(self.prefix, self.columns / 5))];
        if self.below > 0 {
            let sign = if model.sessions.is_folded(self.at) { &glyphs.closed } else { &glyphs.open };
            signs.push(Span::dim(format!("{sign} ")));
        }
        let [kinds, _] = symbols(model, self.key);
        signs.extend(kinds.into_iter().map(|(tone, symbol, _)| Span::new(tone, symbol + " ")));
        signs
    }

    /// Returns the tags that fit in some columns.
    fn tags(self, mut room: usize) -> Vec<Span> {
        let marks = self.model.catalog.marks();
        let key = self.model.catalog[self.key].header.marks_key();
        let tags = marks.tags(&key);
        let tags = tags.map(|tag| Span::clean(Tone::Label, &format!(" +{tag}")));
        let fits = |tag: &Span| {
            let columns = width(&tag.text);
            let fits = columns <= room;
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

    /// Returns the other machines with the session, and its worktree, each in about `room` columns. The machines can also
    /// take the columns that the title leaves.
    fn chips(self, room: usize, rest: usize) -> Vec<Span> {
        self.machines(room.max(rest)).into_iter().chain(self.worktree(room)).collect()
    }

    /// Returns the names of the other machines with the session. A narrow list has no room for them.
    fn machines(self, room: usize) -> Option<Span> {
        let chips = machine_chips(self.model.catalog.machines_of(self.key));
        let room = room.saturating_sub(2).max(MIN_MACHINE);
        let text = || format!("  {}", self.painter.glyphs().cut(&chips, room));
        (!chips.is_empty() && self.columns >= WITH_MACHINES).then(|| Span::new(Tone::Meta, text()))
    }

    /// Returns the name of the worktree in at most `room` columns, if the project has others.
    fn worktree(self, room: usize) -> Option<Span> {
        let worktree = self.model.catalog.worktrees().grouped(&self.model.catalog[self.key].header.cwd)?;
        let glyphs = self.painter.glyphs();
        let sign = format!("  {}", glyphs.worktree);
        let name = clean(&worktree.name);
        let name = glyphs.cut(&name, room.saturating_sub(width(&sign)).max(MIN_WORKTREE));
        Some(Span::new(Tone::Meta, sign + &name))
    }

    /// Returns the number of folded forks.
    fn folded(self) -> Vec<Span> {
        let is_folded = self.below > 0 && self.model.sessions.is_folded(self.at);
        let text = || Span::dim(format!("  {} {}", self.painter.glyphs().hidden, self.below));
        is_folded.then(text).into_iter().collect()
    }

    /// Returns the project name before the name of its only session, in about `room` columns.
    fn project_alone(self, room: usize) -> Option<Vec<Span>> {
        let Self { model, painter, columns, .. } = self;
        let place = model.sessions.project_alone(self.at)?;
        let projects = &model.sessions.projects;
        let gone =
            if model.catalog.has_gone_dir(self.key) { format!(" {}", painter.glyphs().gone) } else { String::new() };
        // Includes the cost and the age.
        let room = room.saturating_sub(width(&gone) + 18).max(columns / 5).max(8);
        let mut label = short_project_name(projects, place, &model.settings.home, painter.glyphs(), room);
        label.push(Span::dim(format!("{gone}  ")));
        Some(label)
    }

    /// Returns the name of the project and its parent directory in a flat list.
    fn project(self) -> Option<(String, String)> {
        let cwd = shorten(self.model.catalog.project_dir(self.key), &self.model.settings.home);
        let (dir, name) = split_name(&cwd);
        self.model.sessions.is_flat.then(|| (clean(name).into_owned(), clean(dir).into_owned()))
    }

    fn project_after(self, project: &str, dir: &str, room: usize) -> Option<Span> {
        let glyphs = self.painter.glyphs();
        let name = glyphs.cut(project, room);
        let rest = room.saturating_sub(width(&name) + 2);
        let needed = width(dir).min(width(split_name(dir).1) + 1 + width(&glyphs.ellipsis));
        let dir = if rest >= needed { glyphs.cut_path(dir, rest) } else { "".into() };
        let text = format!("  {name}  {dir}");
        (room >= PROJECT.1.min(width(project))).then(|| Span::dim(text.trim_end()))
    }

    /// Returns the number of found entries, the number of forks that have the same ones, and the age.
    fn hit_facts(self, found: &SessionHit, room: usize) -> Vec<Span> {
        let mut facts = self.age().to_vec();
        if found.entries > 0 {
            facts.insert(0, Span::dim(format!("{} ", count(found.entries, "hit", "hits"))));
        }
        if found.forks > 0 {
            let words = format!("also in {} ", count(found.forks, "fork", "forks"));
            let sign = format!("{}{} ", self.painter.glyphs().fork, found.forks);
            let room = room.saturating_sub(spans_width(&facts));
            let fitting = [words, sign].into_iter().find(|text| width(text) <= room);
            facts.splice(0..0, fitting.map(|text| Span::new(Tone::Fork, text)));
        }
        facts
    }

    /// Returns the facts at the right in at most `room` columns. The age always stays. The number of entries is dropped
    /// first, then the counts, then the cost, unless the sort order needs them.
    fn right(self, room: usize) -> Vec<Span> {
        let Self { model, key, columns, .. } = self;
        let session = &model.catalog[key];
        let sort = model.sessions.shows.sort;
        let first = if sort == Sort::Size {
            bytes(session.bytes)
        } else {
            // The cost of unique entries precedes the total with inherited ones.
            let own = nonzero_dollars(model.catalog.own(key).cost).unwrap_or_default();
            if own.is_empty() || model.catalog.copied_entries_text(key).is_none() { own } else { format!("+{own}") }
        };
        let age = self.age().to_vec();
        let mut room = room.saturating_sub(spans_width(&age));
        let mut fitting = |group: Vec<Span>, is_needed: bool| {
            let fits = is_needed || spans_width(&group) <= room;
            room = if fits { room.saturating_sub(spans_width(&group)) } else { 0 };
            if fits { group } else { Vec::new() }
        };
        let cost = fitting(first_column(sort, columns, &first), matches!(sort, Sort::Size | Sort::Cost));
        let counts = fitting(self.counts(), false);
        let entries = fitting(entries_column(columns, &thousands(session.entry_count)), false);
        [counts, entries, cost, age].concat()
    }

    /// Returns the number of pis if several, and the numbers of labels, branches and forks.
    fn counts(self) -> Vec<Span> {
        let mut counts = Vec::new();
        // The symbol is that of the most urgent pi, as after the age.
        if let Some(live) = self.model.catalog.live(self.key).filter(|live| live.all().len() > 1) {
            let (tone, sign) = status_sign(live.reported().map(|pi| pi.state), self.painter.glyphs());
            counts.push(Span::new(tone, format!("{sign}{} ", live.all().len())));
        }
        let [_, numbers] = symbols(self.model, self.key);
        counts.extend(numbers.into_iter().map(|(tone, symbol, _)| Span::new(tone, symbol + " ")));
        counts
    }

    /// Returns the cost of a fork including its inherited entries.
    fn whole(self) -> Option<Span> {
        let sort = self.model.sessions.shows.sort;
        let has_cost = self.columns >= WITH_COST && sort != Sort::Size || sort == Sort::Cost;
        let copies =
            self.model.catalog.copied_entries_text(self.key).filter(|_| has_cost && !self.model.sessions.show_paths)?;
        Some(Span::dim(format!("{} incl. {copies} ", nonzero_dollars(self.model.catalog[self.key].cost)?)))
    }

    /// Returns the age, and the state of a running pi if there is one.
    fn age(self) -> [Span; 2] {
        let Self { model, key, .. } = self;
        let age = model.catalog[key].facts().modified().map_or("?".into(), |then| time::age(model.now, then));
        let live =
            model.catalog.live(key).map(|live| status_sign(live.reported().map(|pi| pi.state), self.painter.glyphs()));
        let (tone, sign) = live.unwrap_or((Tone::Dim, " "));
        [Span::dim(format!("{age:>4} ")), Span::new(tone, sign)]
    }
}

/// Returns the last `columns` of the tree lines in front of a fork.
fn tail(prefix: &str, columns: usize) -> String {
    let signs = prefix.chars().count();
    prefix.chars().skip(signs.saturating_sub(columns.max(3))).collect()
}

/// Returns the symbol of a marked session, or an equally wide gap where sessions are grouped by project.
fn mark(model: &Model, painter: &Painter<'_>, row: usize) -> Span {
    let pane = &model.sessions;
    match pane.is_marked(&pane.rows[row]) {
        true => Span::accent(format!("{} ", painter.glyphs().mark)),
        false => Span::dim(if pane.is_flat { "" } else { "  " }),
    }
}

/// Returns the cost, or the size if the list is sorted by size.
fn first_column(sort: Sort, columns: usize, text: &str) -> Vec<Span> {
    match sort {
        Sort::Size | Sort::Cost => vec![Span::new(Tone::Cost, format!("{text:>8} "))],
        _ if columns >= WITH_COST => vec![Span::new(Tone::Cost, format!("{text:>7} "))],
        _ => Vec::new(),
    }
}

/// Returns the number of entries.
fn entries_column(columns: usize, text: &str) -> Vec<Span> {
    if columns >= WITH_ENTRIES { vec![Span::dim(format!("{text:>7} "))] } else { Vec::new() }
}
