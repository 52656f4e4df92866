//! Draws the row of a session: the name first, and to the right the facts that leave enough room for it.

use crate::app::model::Model;
use crate::app::title::plain;
use crate::base::numbers::{bytes, count, nonzero_dollars, thousands};
use crate::base::paths::{shorten, split_name};
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::base::time;
use crate::catalog::SessionKey;
use crate::catalog::search::SessionHit;
use crate::config::Sort;
use crate::ui::paint::{Painter, both, cut};
use crate::ui::panes::name::SessionName;
use crate::ui::panes::{hits, project};
use crate::ui::widgets::status_sign;

/// The width from which a session in a flat list always shows its project.
const WIDE: usize = 64;

/// Columns of a project name after a session in a flat list: reserved maximum, and minimum.
const PROJECT: (usize, usize) = (16, 6);

/// The widths from which a list shows costs, and also the number of entries.
const WITH_COST: usize = 34;
const WITH_ENTRIES: usize = 50;

/// A session row and the data to draw it.
#[derive(Clone, Copy)]
pub(super) struct SessionRowView<'a> {
    pub(super) model: &'a Model,
    pub(super) pen: &'a Painter<'a>,
    /// The index in the list.
    pub(super) at: usize,
    pub(super) key: SessionKey,
    pub(super) columns: usize,
    /// The tree lines in front of it.
    pub(super) prefix: &'a str,
    /// The number of forks below it.
    pub(super) below: usize,
    /// `true` if a hit has a line of its own below it.
    pub(super) is_tall: bool,
}

impl SessionRowView<'_> {
    /// Returns the lines of the row.
    pub(super) fn lines(self) -> Vec<Vec<Span>> {
        let found = self.model.sessions.found(self.key);
        match found.filter(|found| found.snippet.is_some() || found.entries > 0) {
            Some(found) => self.hit(found),
            None => vec![self.plain()],
        }
    }

    /// Returns the row of a session without a text hit.
    fn plain(self) -> Vec<Span> {
        let Self { model, key, columns, pen, .. } = self;
        let session = &model.catalog[key];
        let name = match model.sessions.found(key) {
            Some(_) => SessionName::plain(plain(session)), // in which it was looked for
            None => SessionName::of(&model.catalog, key),
        };
        let most = columns * 3 / 5;
        let mut signs = self.signs();
        let folded = self.folded();
        let project = self.project();
        let reserved = project.as_ref().map_or(0, |(project, _)| 2 + width(project).min(PROJECT.0));
        let reserved = if columns < WIDE { 0 } else { reserved };
        let wanted = match model.sessions.show_paths {
            true => columns,
            false => name.wanted(session.name.is_some(), most) + reserved,
        };
        if let Some(label) = self.project_alone(columns.saturating_sub(spans_width(&signs) + wanted)) {
            signs.splice(1..1, label);
        }
        let used = spans_width(&signs) + spans_width(&folded) + 1;
        let right = self.right(columns.saturating_sub(used + wanted));
        let room = columns.saturating_sub(used + spans_width(&right));
        let mut left = signs;
        let (title, words) =
            name.cut(if model.sessions.show_paths { room / 2 } else { room - reserved.min(room) }, pen.glyphs());
        left.extend(hits::marked(model, &title, self.tone(), model.sessions.found(key).is_some()));
        left.extend(words);
        left.extend(folded);
        let room = columns.saturating_sub(spans_width(&left) + spans_width(&right) + 3);
        if model.sessions.show_paths {
            let path = session.path.to_string_lossy();
            let path = clean(&shorten(&path, &model.setting.home)).into_owned();
            left.push(Span::new(Tone::Dim, format!("  {}", pen.glyphs().cut_path(&path, room))));
        } else if let Some((project, dir)) = project {
            left.extend(self.project_after(&project, &dir, room));
        }
        let room = columns.saturating_sub(spans_width(&left) + spans_width(&right) + 1);
        let whole = self.whole().filter(|whole| width(&whole.text) <= room);
        both(&left, &whole.into_iter().chain(right).collect::<Vec<_>>(), columns, pen.glyphs())
    }

    /// Returns the row of a session with a text hit, and the text.
    fn hit(self, found: &SessionHit) -> Vec<Vec<Span>> {
        let Self { model, key, columns, pen, .. } = self;
        let mut left = self.signs();
        if let Some(label) = self.project_alone(columns / 4) {
            left.splice(1..1, label);
        }
        left.extend(hits::marked(model, &plain(&model.catalog[key]), self.tone(), true));
        left.extend(self.folded());
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
            let indent = vec![Span::new(Tone::Dim, " ".repeat(width(self.prefix) + 4))];
            let room = columns.saturating_sub(spans_width(&indent));
            text = Some([indent, hits::snippet(model, found, room, pen.glyphs())].concat());
        } else if found.snippet.is_some() {
            let snippet = hits::snippet(model, found, room(&left), pen.glyphs());
            left.push(Span::new(Tone::Dim, "  "));
            left.extend(snippet);
        }
        if model.sessions.show_paths {
            let path = model.catalog[key].path.to_string_lossy();
            let path = clean(&shorten(&path, &model.setting.home)).into_owned();
            left = cut(&left, columns / 3, pen.glyphs());
            let path = pen.glyphs().cut_path(&path, room(&left)).into_owned();
            left.push(Span::new(Tone::Dim, format!("  {path}")));
        }
        [both(&left, &facts, columns, pen.glyphs())].into_iter().chain(text).collect()
    }

    fn tone(self) -> Tone {
        match &self.model.catalog[self.key].name {
            _ if self.model.sessions.hits.is_some() && self.model.sessions.found(self.key).is_none() => Tone::Dim,
            Some(_) => Tone::Name,
            None => Tone::Text,
        }
    }

    /// Returns the symbols before the name, the mark first.
    fn signs(self) -> Vec<Span> {
        let (model, glyphs) = (self.model, self.pen.glyphs());
        let session = &model.catalog[self.key];
        let mut signs = vec![mark(model, self.pen, self.at), Span::new(Tone::Dim, tail(self.prefix, self.columns / 5))];
        if self.below > 0 {
            let sign = if model.sessions.is_folded(self.at) { &glyphs.closed } else { &glyphs.open };
            signs.push(Span::new(Tone::Dim, format!("{sign} ")));
        }
        if session.owner.is_some() {
            signs.push(Span::new(Tone::Meta, format!("{} ", glyphs.subagent)));
        } else if session.header.is_fork() {
            let missing = if model.catalog.is_parent_missing(self.key) { "?" } else { "" };
            signs.push(Span::new(Tone::Fork, format!("{}{missing} ", glyphs.fork)));
        }
        if !session.problems.is_empty() {
            signs.push(Span::new(Tone::Warning, format!("{} ", glyphs.warning)));
        }
        signs
    }

    /// Returns the number of folded forks.
    fn folded(self) -> Vec<Span> {
        let is_folded = self.below > 0 && self.model.sessions.is_folded(self.at);
        let text = || Span::new(Tone::Dim, format!("  {} {}", self.pen.glyphs().hidden, self.below));
        is_folded.then(text).into_iter().collect()
    }

    /// Returns the project name before the name of its only session, in about `room` columns.
    fn project_alone(self, room: usize) -> Option<Vec<Span>> {
        let Self { model, pen, columns, .. } = self;
        let place = model.sessions.project_alone(self.at)?;
        let projects = &model.sessions.projects;
        let gone = model.catalog.gone_dirs.contains(&*projects[place].cwd);
        let gone = if gone { format!(" {}", pen.glyphs().gone) } else { String::new() };
        // Includes the cost and the age.
        let room = room.saturating_sub(width(&gone) + 18).max(columns / 5).max(8);
        let mut label = project::short(projects, place, &model.setting.home, pen.glyphs(), room);
        label.push(Span::new(Tone::Dim, format!("{gone}  ")));
        Some(label)
    }

    /// Returns the name of the project and its parent directory in a flat list.
    fn project(self) -> Option<(String, String)> {
        let cwd = shorten(&self.model.catalog[self.key].header.cwd, &self.model.setting.home);
        let (dir, name) = split_name(&cwd);
        self.model.sessions.is_flat.then(|| (clean(name).into_owned(), clean(dir).into_owned()))
    }

    fn project_after(self, project: &str, dir: &str, room: usize) -> Option<Span> {
        let glyphs = self.pen.glyphs();
        let name = glyphs.cut(project, room);
        let rest = room.saturating_sub(width(&name) + 2);
        let needed = width(dir).min(width(split_name(dir).1) + 1 + width(&glyphs.ellipsis));
        let dir = if rest >= needed { glyphs.cut_path(dir, rest) } else { "".into() };
        let text = format!("  {name}  {dir}");
        (room >= PROJECT.1.min(width(project))).then(|| Span::new(Tone::Dim, text.trim_end()))
    }

    /// Returns the number of found entries, the number of forks that have the same ones, and the age.
    fn hit_facts(self, found: &SessionHit, room: usize) -> Vec<Span> {
        let mut facts = self.age().to_vec();
        if found.entries > 0 {
            facts.insert(0, Span::new(Tone::Dim, format!("{} ", count(found.entries, "hit", "hits"))));
        }
        if found.forks > 0 {
            let words = format!("also in {} ", count(found.forks, "fork", "forks"));
            let sign = format!("{}{} ", self.pen.glyphs().fork, found.forks);
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
        let (session, glyphs) = (&self.model.catalog[self.key], self.pen.glyphs());
        let forks = self.model.catalog.forks(self.key).count();
        let mut counts = Vec::new();
        // The symbol is that of the most urgent pi, as after the age.
        if let Some(live) = self.model.catalog.live(self.key).filter(|live| live.all().len() > 1) {
            let (tone, sign) = status_sign(live.told().map(|told| told.state), glyphs);
            counts.push(Span::new(tone, format!("{sign}{} ", live.all().len())));
        }
        let labels = session.labels.len();
        counts.extend((labels > 0).then(|| Span::new(Tone::Label, format!("{}{labels} ", glyphs.label))));
        let leaves = session.leaves;
        counts.extend((leaves > 1).then(|| Span::new(Tone::Active, format!("{}{leaves} ", glyphs.tee))));
        counts.extend((forks > 0).then(|| Span::new(Tone::Fork, format!("{}{forks} ", glyphs.fork))));
        counts
    }

    /// Returns the cost of a fork including its inherited entries.
    fn whole(self) -> Option<Span> {
        let sort = self.model.sessions.shows.sort;
        let has_cost = self.columns >= WITH_COST && sort != Sort::Size || sort == Sort::Cost;
        let copies =
            self.model.catalog.copied_entries_text(self.key).filter(|_| has_cost && !self.model.sessions.show_paths)?;
        Some(Span::new(Tone::Dim, format!("{} incl. {copies} ", nonzero_dollars(self.model.catalog[self.key].cost)?)))
    }

    /// Returns the age, and the state of a running pi if there is one.
    fn age(self) -> [Span; 2] {
        let Self { model, key, .. } = self;
        let age = model.catalog[key].modified.map_or("?".into(), |then| time::age(model.now, then));
        let live =
            model.catalog.live(key).map(|live| status_sign(live.told().map(|told| told.state), self.pen.glyphs()));
        let (tone, sign) = live.unwrap_or((Tone::Dim, " "));
        [Span::new(Tone::Dim, format!("{age:>4} ")), Span::new(tone, sign)]
    }
}

/// Returns the last `columns` of the tree lines in front of a fork.
fn tail(prefix: &str, columns: usize) -> String {
    let signs = prefix.chars().count();
    prefix.chars().skip(signs.saturating_sub(columns.max(3))).collect()
}

/// Returns the symbol of a marked session, or an equally wide gap where sessions are grouped by project.
pub(super) fn mark(model: &Model, pen: &Painter<'_>, row: usize) -> Span {
    let pane = &model.sessions;
    match pane.is_marked(&pane.rows[row]) {
        true => Span::new(Tone::Accent, format!("{} ", pen.glyphs().mark)),
        false => Span::new(Tone::Dim, if pane.is_flat { "" } else { "  " }),
    }
}

/// Returns the cost, or the size if the list is sorted by size.
pub(super) fn first_column(sort: Sort, columns: usize, text: &str) -> Vec<Span> {
    match sort {
        Sort::Size | Sort::Cost => vec![Span::new(Tone::Cost, format!("{text:>8} "))],
        _ if columns >= WITH_COST => vec![Span::new(Tone::Cost, format!("{text:>7} "))],
        _ => Vec::new(),
    }
}

/// Returns the number of entries.
pub(super) fn entries_column(columns: usize, text: &str) -> Vec<Span> {
    if columns >= WITH_ENTRIES { vec![Span::new(Tone::Dim, format!("{text:>7} "))] } else { Vec::new() }
}
