//! The preview of a session or a project: its most important facts.

mod lines;

use std::cmp::Reverse;

use ratatui::layout::Size;

use crate::app::model::Model;
use crate::app::panes::reader::ReaderSubject;
use crate::app::panes::sessions::Project;
use crate::app::session_text::symbols;
use crate::app::title::title;
use crate::app::{flows, session_text};
use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{bar, bytes, count, dollars, nonzero_dollars, thousands, tokens};
use crate::base::paths::{relative_to, shorten};
use crate::base::text::{ASCII, Span, Tone, clean, width};
use crate::base::{machine_paths, sort, time};
use crate::catalog::SessionKey;
use crate::catalog::copies::SessionCopy;
use crate::catalog::live::SessionActivity;
use crate::catalog::parents::MissingParent;
use crate::pi::status::PiStatus;
use crate::render::DocLine;
use crate::search::lost_work::LostFile;
use crate::session::digest::messages::LastMessage;
use crate::session::digest::touched_files::FileUses;
use crate::session::digest::{Digest, DigestLabel};
use crate::session::tree::AbandonedBranch;
use crate::session::tree::context::edit_counts;
use lines::{BAR, NAMES, fact, item, related, shortened, space};

/// Maximum number of items in the other lists.
const LONGEST: usize = 12;

/// Returns the card of a session, a project, a run of tool calls or a missing session.
pub fn of(model: &Model, subject: ReaderSubject, room: Size) -> Vec<DocLine> {
    let mut card = Card { model, room, lines: Vec::new() };
    match subject {
        ReaderSubject::Session(key) => card.session(key),
        ReaderSubject::Project(key) => model.sessions.project(key).into_iter().for_each(|one| card.project(one)),
        ReaderSubject::MissingParent(key) => {
            model.catalog.missing_parent(key).into_iter().for_each(|parent| card.missing_parent(parent));
        }
        ReaderSubject::Nothing | ReaderSubject::Entry(_) => {}
    }
    card.lines
}

/// Returns the summary of a project: its cost by month and the last prompts. A session counts in its last month.
pub(crate) fn activity(model: &Model, project: &Project) -> Vec<DocLine> {
    let mut card = Card { model, room: Size::default(), lines: Vec::new() };
    let mut newest: Vec<(Option<i64>, SessionKey)> =
        project.sessions.iter().map(|&key| (model.catalog[key].facts().modified(), key)).collect();
    sort::by_key(&mut newest, |&(time, key)| (Reverse(time), key));
    let mut months: Vec<(String, i64, f64)> = Vec::new();
    for &(time, key) in &newest {
        let cost = model.catalog.own(key).cost;
        match (months.last_mut(), time) {
            (Some((_, start, sum)), Some(time)) if time >= *start => *sum += cost,
            (_, Some(time)) => {
                let Some(month) = model.settings.zoned(time).and_then(|time| time.first_of_month().ok()) else {
                    continue;
                };
                let start = month.start_of_day().map_or(time, |start| start.timestamp().as_millisecond());
                months.push((month.strftime("%b %Y").to_string(), start, cost));
            }
            _ => {}
        }
    }
    let most = months.iter().map(|(.., cost)| *cost).fold(0.0, f64::max);
    let month = |(name, _, cost): &(String, i64, f64)| {
        let bar = bar(cost / most, BAR, model.settings.glyphs == ASCII);
        let name = Span::dim(format!("{name:NAMES$}"));
        item(vec![name, Span::new(Tone::Cost, format!("{bar:BAR$}")), Span::text(format!("{:>10}", dollars(*cost)))])
    };
    card.list("Cost by month", months.iter().map(month));
    newest.truncate(LONGEST);
    let prompt = |(time, key): (Option<i64>, SessionKey)| {
        let (text, _) = model.catalog[key].details().last_prompt.as_ref()?.text();
        Some(fact(&time.map_or(String::new(), |time| time::age(model.now, time)), &model.short(&text)))
    };
    let prompts: Vec<DocLine> = newest.into_iter().filter_map(prompt).collect();
    card.list("Last prompts", prompts.into_iter());
    card.lines
}

/// A card in a pane of a size.
struct Card<'a> {
    model: &'a Model,
    room: Size,
    lines: Vec<DocLine>,
}

impl Card<'_> {
    /// Adds a name and its value.
    fn fact(&mut self, name: &str, value: impl AsRef<str>) {
        self.lines.push(fact(name, value.as_ref()));
    }

    /// Adds several values with one name.
    fn facts_of(&mut self, name: &str, values: impl ExactSizeIterator<Item = String>) {
        let all = values.len();
        values.take(LONGEST).enumerate().for_each(|(at, value)| self.fact(if at == 0 { name } else { "" }, value));
        self.more(all);
    }

    fn heading(&mut self, text: &str) {
        self.lines.extend([DocLine::default(), DocLine::new(Tone::Accent, text)]);
    }

    fn session(&mut self, key: SessionKey) {
        let (model, room) = (self.model, self.room);
        let digest = &model.catalog[key];
        let tone = if digest.name.is_some() { Tone::Name } else { Tone::Strong };
        let title = title(digest, &self.model.settings);
        self.lines.push(DocLine::new(tone, &model.settings.glyphs.cut(&title, room.width.into())));
        self.lines.extend(session_text::note_lines(model.catalog.marks().note(&digest.header.marks_key())));
        self.last_messages(key);
        self.lines.push(DocLine::default());
        let tags: Vec<String> =
            model.catalog.marks().tags(&digest.header.marks_key()).map(|tag| format!("+{tag}")).collect();
        if !tags.is_empty() {
            self.fact("tags", tags.join(" "));
        }
        self.facts(key);
        let lost = model.lost.of(key).map_or(&[][..], |lost| &lost.files);
        let lost = lost.iter().map(|LostFile { name, lines }| {
            item(vec![Span::clean(Tone::Text, name), Span::dim(format!("  {}", count(*lines, "line", "lines")))])
        });
        self.list("Lost work", lost);
        self.abandoned(key);
        self.family(key);
        self.inside(digest);
        if !digest.problems.is_empty() {
            self.heading("Problems");
            let glyph = &model.settings.glyphs.warning;
            self.lines.extend(digest.problems.iter().map(|problem| DocLine::warning(&format!("{glyph} {problem}"))));
        }
        self.lines.push(DocLine::default());
        let columns = usize::from(room.width).saturating_sub(NAMES);
        if let (Some(_), Some(first)) = (&digest.name, digest.typed_message()) {
            let first = clean(utf16_prefix(first.trim(), columns));
            self.fact("started", model.settings.glyphs.cut(&first, columns));
        }
        if let Some((_, found @ 1..)) = model.checked.secrets.filter(|(session, _)| *session == key) {
            self.fact("secrets", count(found, "likely secret", "likely secrets"));
        }
        self.fact("id", &digest.header.id);
        self.fact("file", path_text(model, key));
        self.copies(key);
        if digest.facts().is_archived() {
            self.fact(
                "archived",
                format!("was at {}", shorten(&digest.real_path().to_string_lossy(), &model.settings.home)),
            );
        }
        self.lines.extend(space(model, key, columns));
        self.lines.extend(legend(model, key));
    }

    /// Lists the copies of a session on several machines, and the session from which such a copy differs.
    fn copies(&mut self, key: SessionKey) {
        let model = self.model;
        let copy = |copy: &SessionCopy| {
            format!("{}{}", if copy.is_older { "older, " } else { "" }, path_text(model, copy.key))
        };
        self.facts_of("copies", model.catalog.copies(key).iter().map(copy));
        if let Some(base) = model.catalog.differing_copy(key) {
            self.fact("other copy", path_text(model, base));
        }
    }

    /// Adds the last prompt and the last answer; those of a fork only if it has own ones.
    fn last_messages(&mut self, key: SessionKey) {
        let (model, room) = (self.model, self.room);
        let catalog = &model.catalog;
        let digest = &catalog[key];
        let parent = catalog.families().parent(key).and_then(|parent| catalog.get(parent));
        let is_parents = |message: &&LastMessage| {
            let known = digest.entry_key(message.at);
            parent.is_some_and(|parent| known.is_some_and(|known| parent.details().entries.ids.contains(&known)))
        };
        let both = [("prompt", &digest.details().last_prompt), ("answer", &digest.details().last_answer)];
        let last = both.map(|(name, message)| Some((name, message.as_ref()?)));
        let is_new = |(_, message): &(&str, &LastMessage)| !is_parents(message);
        if digest.header.is_fork() && !last.iter().flatten().any(is_new) && parent.is_some() {
            self.lines.push(DocLine::new(Tone::Fork, "no messages of its own yet; last in the parent:"));
        }
        for (name, message) in last.into_iter().flatten() {
            let (text, is_cut) = message.text();
            let ellipsis = if is_cut { &*model.settings.glyphs.ellipsis } else { "" };
            let line = fact(name, &format!("{text}{ellipsis}"));
            self.lines.push(shortened(line, room, &model.settings.glyphs));
        }
        if digest.details().last_prompt.is_some() && digest.details().last_answer.is_none() {
            self.lines.push(DocLine::of(vec![Span::dim("answer      none yet")]));
        }
    }

    /// Adds cost, size and times; for a fork, first those without inherited entries.
    fn facts(&mut self, key: SessionKey) {
        let model = self.model;
        let digest = &model.catalog[key];
        let header = &digest.header;
        let own = model.catalog.own(key);
        let messages = count(digest.message_count, "message", "messages");
        let size = format!("{messages}, {}", bytes(digest.bytes));
        match model.catalog.copied_entries_text(key) {
            None => {
                self.fact("cost", format!("{}, {} tokens", dollars(digest.cost), tokens(digest.tokens)));
                self.fact("size", format!("{}, {size}", count(digest.entry_count, "entry", "entries")));
            }
            Some(copies) => {
                let with = format!("with {copies} entries");
                let dot = &model.settings.glyphs.dot;
                self.fact("cost", format!("{} unique {dot} {} {with}", dollars(own.cost), dollars(digest.cost)));
                self.fact("tokens", format!("{} unique {dot} {} {with}", tokens(own.tokens), tokens(digest.tokens)));
                let entries = thousands(own.entries);
                self.fact("entries", format!("{entries} unique {dot} {} {with}", thousands(digest.entry_count)));
                self.fact("", &size);
            }
        }
        self.usage(key);
        if digest.branch_points > 0 {
            let points = count(digest.branch_points, "branch point", "branch points");
            self.fact("branches", format!("{} ({points})", digest.leaves));
        }
        if digest.details().newer_message.is_some() {
            self.fact("leaf", "behind the newest message, which is on another branch");
        }
        let edits = model.tree.file(key).and_then(|tree| edit_counts(tree).text("replaced or restored"));
        edits.into_iter().for_each(|edits| self.fact("context", format!("{edits} by edits")));
        self.pis(key);
        self.time("last active", digest.modified);
        self.time("created", header.created);
        self.time("imported", header.imported);
        let gone = if model.catalog.has_gone_dir(key) { " (missing)" } else { "" };
        let dir = format!("{}{gone}", shorten(&header.cwd, &model.settings.home));
        match model.catalog.worktrees().grouped(&header.cwd) {
            Some(worktree) => {
                self.fact("project", shorten(model.catalog.project_dir(key), &model.settings.home));
                self.fact("worktree", format!("{} in {dir}", worktree.words()));
            }
            None => self.fact("project", &dir),
        }
        if header.version < 3.0 {
            self.fact("version", format!("{}; pi migrates the file when it opens it", header.version));
        }
    }

    /// Adds the cost of each model, the share of the input that was cached, and the share of abandoned branches.
    fn usage(&mut self, key: SessionKey) {
        let sums = self.model.catalog[key].sums();
        let (models, total) = sums.by_model();
        let share = |part: f64| match 100.0 * part / total.cost {
            share if share.is_finite() => format!(" ({share:.0} %)"),
            _ => String::new(),
        };
        let used: Vec<_> = models.iter().filter(|(_, sum)| sum.all_tokens() > 0.0).collect();
        match &used[..] {
            [(name, _)] if !name.is_empty() => self.fact("model", name),
            used => self.facts_of(
                "models",
                used.iter().map(|(name, sum)| {
                    let name = if name.is_empty() { "no model" } else { name };
                    format!("{name} {}{}", dollars(sum.cost), share(sum.cost))
                }),
            ),
        }
        if let Some(rate) = total.cache_hit_rate() {
            self.fact("cached", format!("{:.0} % of the input", 100.0 * rate));
        }
        if let Some(cost) = nonzero_dollars(total.abandoned_cost) {
            self.fact("abandoned", format!("{cost}{}", share(total.abandoned_cost)));
        }
    }

    /// Lists the abandoned branches of the open session, most recent first, with last words, size, cost and age.
    fn abandoned(&mut self, key: SessionKey) {
        let (model, room) = (self.model, self.room);
        let tree = model.tree.file(key).filter(|tree| model.catalog[key].leaves > 1 && !tree.is_partial);
        let Some(tree) = tree else { return };
        let branch = |branch: &AbandonedBranch| {
            let dot = &model.settings.glyphs.dot;
            let age = branch.latest.map_or(String::new(), |ms| format!(" {dot} {}", time::age(model.now, ms)));
            let entries = count(branch.entries, "entry", "entries");
            let facts = Span::dim(format!("  {entries} {dot} {}{age}", dollars(branch.cost)));
            let columns = usize::from(room.width).saturating_sub(width(&facts.text));
            let words = model.settings.glyphs.cut(tree.nodes[branch.last as usize].words(), columns);
            item(vec![Span::clean(Tone::Text, &words), facts])
        };
        self.list("Abandoned branches", tree.abandoned().iter().map(branch));
    }

    /// Lists the pi processes of a session, most urgent first.
    fn pis(&mut self, key: SessionKey) {
        let model = self.model;
        let Some(live) = model.catalog.live(key) else { return };
        if *live == SessionActivity::Guessed {
            let guess = match model.catalog.is_pi_in_dir_of(key) {
                true => "probably running here (guess: one in this directory reports no session)",
                false => "may be running (guess: the file was modified a moment ago)",
            };
            self.fact("pi", guess);
        }
        let pi = |pi: &PiStatus| {
            let running = pi.model.as_ref().map_or(String::new(), |name| format!(", {name}"));
            let lasting = time::duration_since(model.now, pi.since);
            format!("{} {lasting}{running} (pid {})", pi.state.in_words(), pi.pid)
        };
        self.facts_of("pi", live.all().iter().map(pi));
    }

    /// Adds a time and the age.
    fn time(&mut self, name: &str, ms: Option<i64>) {
        if let Some((ms, date)) = ms.and_then(|ms| Some((ms, self.model.settings.date(ms)?))) {
            self.fact(name, format!("{date} ({})", time::age(self.model.now, ms)));
        }
    }

    fn family(&mut self, key: SessionKey) {
        let model = self.model;
        let catalog = &model.catalog;
        let digest = &catalog[key];
        let parent = catalog.families().parent(key);
        let forks: Vec<SessionKey> = catalog.forks(key).collect();
        if parent.is_none() && catalog.families().forks(key).is_empty() && !digest.header.is_fork() {
            return;
        }
        self.heading("Family");
        if let Some(parent) = parent {
            let what = if digest.owner.is_some() { "subagent of" } else { "forked from" };
            self.lines.push(related(model, what, parent));
            if let Some(path) = digest.header.parent_session.as_ref().filter(|_| catalog.moved.contains(&key)) {
                let path = shorten(path, &model.settings.home);
                self.fact("", format!("moved from {path}"));
            }
        } else if let Some(path) = &digest.header.parent_session {
            let known = digest.parent_path.as_deref().is_some_and(|path| catalog.key_of_real(path).is_some());
            let what = if known { "parent cycle" } else { "missing" };
            self.fact("forked from", format!("{} ({what})", shorten(path, &model.settings.home)));
        } else if let Some(id) = &digest.header.parent_id {
            self.fact("forked from", format!("{id} (missing)"));
        }
        self.forks(&forks);
        let first = catalog.families().line(key).last().unwrap_or(key);
        let family = catalog.families().family(first);
        if family.len() > 1 {
            let all = count(family.len(), "session", "sessions");
            let sum = catalog.sum(&family).cost;
            let (shown, subagents): (Vec<_>, Vec<_>) =
                family.iter().partition(|&&key| !catalog[key].facts().is_subagent());
            let by_them = nonzero_dollars(sum - catalog.sum(shown).cost).filter(|_| !subagents.is_empty());
            let by_them = by_them.map_or(String::new(), |cost| {
                format!(", {cost} by {}", count(subagents.len(), "subagent", "subagents"))
            });
            self.fact("family", format!("{} in {all}{by_them}", dollars(sum)));
        }
    }

    /// Returns the card of a missing session.
    fn missing_parent(&mut self, gone: &MissingParent) {
        let model = self.model;
        self.lines.extend([
            DocLine::new(Tone::Strong, &flows::trash_and_archive::missing_title(model, gone)),
            DocLine::default(),
        ]);
        let (message, tone) = match flows::trash_and_archive::missing_in_trash(model, gone) {
            Some(_) => ("In the trash. Press Enter to restore it.", Tone::Active),
            None => ("The session file is missing. Only entries inherited by its forks remain.", Tone::Warning),
        };
        self.lines.extend([DocLine::new(tone, message), DocLine::default()]);
        self.fact("file", shorten(&gone.path.to_string_lossy(), &model.settings.home));
        self.forks(&gone.forks);
        let together = model.catalog.sum(&gone.forks);
        let all = count(gone.forks.len(), "fork", "forks");
        self.fact("family", format!("{} in {all}", dollars(together.cost)));
    }

    /// Lists the first items under a heading, if there are any.
    fn list(&mut self, title: &str, items: impl ExactSizeIterator<Item = DocLine>) {
        let all = items.len();
        if all > 0 {
            self.heading(title);
            self.lines.extend(items.take(LONGEST));
            self.more(all);
        }
    }

    /// Lists the forks of a session.
    fn forks(&mut self, forks: &[SessionKey]) {
        self.lines.extend(forks.iter().take(LONGEST).map(|&fork| related(self.model, "fork", fork)));
        self.more(forks.len());
    }

    fn more(&mut self, all: usize) {
        if all > LONGEST {
            self.lines.push(DocLine::dim(&format!("and {} more", all - LONGEST)));
        }
    }

    /// Lists touched files, labels and models.
    fn inside(&mut self, digest: &Digest) {
        let model = self.model;
        let mut files: Vec<_> = digest.details().touches.uses().collect();
        sort::by_key(&mut files, |&(path, uses)| (Reverse((uses.changes(), uses.reads)), path));
        let file = |(path, uses): (&str, FileUses)| {
            let changed = if uses.changes() > 0 { format!("changed {}×  ", uses.changes()) } else { String::new() };
            let read = if uses.reads > 0 { format!("read {}×", uses.reads) } else { String::new() };
            item(vec![
                Span::clean(Tone::Text, &format!("{}  ", relative_to(&digest.header.cwd, path, &model.settings.home))),
                Span::dim(format!("{changed}{read}").trim_end()),
            ])
        };
        self.list("Files", files.into_iter().map(file));
        let label = |label: &DigestLabel| {
            item(vec![Span::clean(Tone::Label, &format!("[{}] ", label.text)), Span::text(&*label.row)])
        };
        self.list("Labels", digest.labels.iter().map(label));
        let models = digest.details().models.iter().map(|(name, uses)| {
            let answers = count(uses.answers, "answer", "answers");
            DocLine::text(&format!("{name}  {answers}, {}", dollars(uses.cost)))
        });
        self.list("Models", models);
        if !digest.details().models.is_empty() {
            let requested = digest.details().requested_models.iter().take(LONGEST);
            self.lines.extend(requested.map(|name| DocLine::dim(&format!("requested {name}"))));
        }
    }

    fn project(&mut self, project: &Project) {
        let model = self.model;
        let home = &model.settings.home;
        let gone = model.catalog.gone_dirs.contains(&*project.cwd);
        let name = if project.cwd.is_empty() { "(no directory)".into() } else { shorten(&project.cwd, home) };
        self.lines.extend([DocLine::new(Tone::Strong, &name), DocLine::default()]);
        if gone {
            self.lines.extend([DocLine::warning("Directory not found."), DocLine::default()]);
        }
        if project.is_unlisted {
            self.lines.extend([DocLine::warning(UNLISTED), DocLine::default()]);
        }
        let sessions = || project.sessions.iter().filter_map(|&key| model.catalog.get(key));
        self.fact("sessions", thousands(project.sessions.len()));
        self.fact("entries", thousands(project.sum.entries));
        self.fact("size", bytes(sessions().map(|session| session.bytes).sum()));
        let hidden = project.hidden.in_words().map_or(String::new(), |hidden| format!(", {hidden}"));
        self.fact("cost", format!("{}{hidden}", dollars(project.sum.cost)));
        self.time("last active", Some(project.latest));
    }
}

/// Returns the path of a session; of a mirrored one, that on its machine.
fn path_text(model: &Model, key: SessionKey) -> String {
    let path = model.catalog[key].file_path();
    match (machine_paths::machine(&path), machine_paths::remote_path(&path)) {
        (Some(machine), Some(remote)) => format!("on {machine}: {}", remote.display()),
        _ => shorten(&path.to_string_lossy(), &model.settings.home).into_owned(),
    }
}

/// Explains the symbols in the row of a session; `None` if there are none.
fn legend(model: &Model, key: SessionKey) -> Option<DocLine> {
    let (catalog, glyphs) = (&model.catalog, &model.settings.glyphs);
    let marked = model.sessions.marks.contains(&key).then(|| (Tone::Accent, glyphs.mark.to_string(), "marked".into()));
    let own = catalog.copied_entries_text(key).and_then(|_| nonzero_dollars(catalog.own(key).cost));
    let own = own.map(|cost| (Tone::Cost, format!("+{cost}"), "cost without inherited entries".into()));
    let gone =
        catalog.has_gone_dir(key).then(|| (Tone::Dim, glyphs.gone.to_string(), "working directory missing".into()));
    let all = marked.into_iter().chain(symbols(model, key).concat()).chain(own).chain(gone);
    let parts: Vec<String> = all.map(|(_, symbol, means)| format!("{symbol} {means}")).collect();
    (!parts.is_empty()).then(|| fact("symbols", &parts.join(&format!(" {} ", glyphs.dot))))
}

/// The card's sentence about files that pi's list omits.
const UNLISTED: &str = "These files are directly in pi's session directory instead of in a folder per working directory. pi does not list them, but opens them by path.";
