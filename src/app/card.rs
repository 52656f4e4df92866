//! The preview of a session or a project: its most important facts.

use std::cmp::Reverse;

use ratatui::layout::Size;

use crate::app::flows;
use crate::app::model::Model;
use crate::app::note;
use crate::app::panes::preview::PreviewSubject;
use crate::app::panes::sessions::Project;
use crate::app::panes::tree::row_text;
use crate::app::session_symbols::symbols;
use crate::app::title::{title, words as words_after};
use crate::base::javascript::utf16_prefix;
use crate::base::machine_paths;
use crate::base::numbers::{bar, bytes, count, dollars, nonzero_dollars, thousands, tokens};
use crate::base::paths::{relative_to, shorten};
use crate::base::sort;
use crate::base::text::{ASCII, Glyphs, Span, Tone, clean, truncate_to_width, width};
use crate::base::time;
use crate::catalog::SessionKey;
use crate::catalog::live::SessionActivity;
use crate::catalog::parents::MissingParent;
use crate::render::DocLine;
use crate::render::wrap::Wrapped;
use crate::session::digest::Digest;
use crate::session::digest::DigestLabel;
use crate::session::digest::messages::LastMessage;
use crate::session::digest::touched_files::FileUses;
use crate::session::space::kind::SpaceKind;
use crate::session::tree::{AbandonedBranch, Index};

/// Maximum number of listed calls of a run.
const MOST_CALLS: usize = 500;

/// Maximum number of items in the other lists.
const LONGEST: usize = 12;

/// Maximum number of kinds of content, and width of the longest bar.
const KINDS: usize = 4;
const BAR: usize = 24;

/// Width of the names of facts.
const NAMES: usize = 12;

/// Returns the card of a session, a project, a run of tool calls or a missing session.
pub fn of(model: &Model, subject: PreviewSubject, room: Size) -> Vec<DocLine> {
    match subject {
        PreviewSubject::Session(key) => session(model, key, room),
        PreviewSubject::Project(key) => model.sessions.project(key).map_or(Vec::new(), |shown| project(model, shown)),
        PreviewSubject::Run(last) => model.tree.shown(last).map_or(Vec::new(), |last| run(model, last)),
        PreviewSubject::MissingParent(key) => {
            model.catalog.missing_parent(key).map_or(Vec::new(), |parent| missing_parent(model, parent))
        }
        PreviewSubject::Nothing | PreviewSubject::Entry(_) => Vec::new(),
    }
}

/// Returns the calls of a run of tools.
fn run(model: &Model, last: Index) -> Vec<DocLine> {
    let run = model.tree.rows.runs.iter().find(|run| run.last() == last);
    let (Some(tree), Some(run)) = (&model.tree.tree, run) else { return Vec::new() };
    let setting = &model.setting;
    let mut spans = row_text::run(&run.activity, &setting.glyphs);
    spans.push(Span::dim(format!(" {} {}", setting.glyphs.dot, dollars(run.activity.cost))));
    let mut lines = vec![DocLine { spans, indent: 2, ..DocLine::default() }, DocLine::default()];
    let call = |&at: &Index| {
        let spans = row_text::entry(tree, at, &setting.home, usize::MAX, &setting.glyphs);
        DocLine { spans, indent: 4, ..DocLine::default() }
    };
    lines.extend(run.entries.iter().take(MOST_CALLS).map(call));
    if run.entries.len() > MOST_CALLS {
        let more = format!("and {} more", thousands(run.entries.len() - MOST_CALLS));
        lines.push(DocLine::dim(&more));
    }
    lines
}

/// Returns a line with a name and its value.
fn fact(name: &str, value: &str) -> DocLine {
    let gap = " ".repeat(NAMES.saturating_sub(width(name)));
    let spans = vec![Span::dim(format!("{name}{gap}")), Span::clean(Tone::Text, value)];
    DocLine { spans, indent: NAMES as u16, ..DocLine::default() }
}

fn heading(lines: &mut Vec<DocLine>, text: &str) {
    lines.push(DocLine::default());
    lines.push(DocLine::new(Tone::Accent, text));
}

fn session(model: &Model, key: SessionKey, room: Size) -> Vec<DocLine> {
    let digest = &model.catalog[key];
    let tone = if digest.name.is_some() { Tone::Name } else { Tone::Strong };
    let title = title(digest);
    let mut lines = vec![DocLine::new(tone, &model.setting.glyphs.cut(&title, room.width.into()))];
    lines.extend(note::lines(model.catalog.marks().note(&digest.header.marks_key())));
    last_messages(&mut lines, model, key, room);
    lines.push(DocLine::default());
    let tags: Vec<String> =
        model.catalog.marks().tags(&digest.header.marks_key()).map(|tag| format!("+{tag}")).collect();
    lines.extend((!tags.is_empty()).then(|| fact("tags", &tags.join(" "))));
    facts(&mut lines, model, key);
    if let Some(lost) = model.lost.of(key) {
        lines.push(fact("lost work", &lost.in_words()));
    }
    abandoned(&mut lines, model, key, room);
    family(&mut lines, model, key);
    inside(&mut lines, model, digest);
    if !digest.problems.is_empty() {
        heading(&mut lines, "Problems");
        let glyph = &model.setting.glyphs.warning;
        lines.extend(digest.problems.iter().map(|problem| DocLine::warning(&format!("{glyph} {problem}"))));
    }
    lines.push(DocLine::default());
    let columns = usize::from(room.width).saturating_sub(NAMES);
    if let (Some(_), Some(first)) = (&digest.name, digest.typed_message()) {
        let first = clean(utf16_prefix(first.trim(), columns));
        lines.push(fact("started", &model.setting.glyphs.cut(&first, columns)));
    }
    if let Some((_, found @ 1..)) = model.checked.secrets.filter(|(session, _)| *session == key) {
        lines.push(fact("secrets", &count(found, "likely secret", "likely secrets")));
    }
    lines.push(fact("id", &digest.header.id));
    lines.push(fact("file", &place(model, key)));
    copies(&mut lines, model, key);
    if digest.facts().is_archived() {
        lines.push(fact(
            "archived",
            &format!("was at {}", shorten(&digest.real_path().to_string_lossy(), &model.setting.home)),
        ));
    }
    lines.extend(space(model, key, columns));
    lines.extend(legend(model, key));
    lines
}

/// Returns the path of a session; of a mirrored one, that on its machine.
fn place(model: &Model, key: SessionKey) -> String {
    let path = model.catalog[key].file_path();
    match (machine_paths::machine(&path), machine_paths::remote_path(&path)) {
        (Some(machine), Some(remote)) => format!("on {machine}: {}", remote.display()),
        _ => shorten(&path.to_string_lossy(), &model.setting.home).into_owned(),
    }
}

/// Lists the copies of a session on several machines, and the session from which such a copy differs.
fn copies(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey) {
    let copies = model.catalog.copies(key);
    for (at, copy) in copies.iter().take(LONGEST).enumerate() {
        let older = if copy.is_older { "older, " } else { "" };
        lines.push(fact(if at == 0 { "copies" } else { "" }, &format!("{older}{}", place(model, copy.key))));
    }
    more(lines, copies.len());
    if let Some(base) = model.catalog.differing_copy(key) {
        lines.push(fact("other copy", &place(model, base)));
    }
}

/// Explains the symbols in the row of a session; `None` if there are none.
fn legend(model: &Model, key: SessionKey) -> Option<DocLine> {
    let (catalog, glyphs) = (&model.catalog, &model.setting.glyphs);
    let marked = model.sessions.marks.contains(&key).then(|| (Tone::Accent, glyphs.mark.to_string(), "marked".into()));
    let own = catalog.copied_entries_text(key).and_then(|_| nonzero_dollars(catalog.own(key).cost));
    let own = own.map(|cost| (Tone::Cost, format!("+{cost}"), "cost without inherited entries".into()));
    let gone =
        catalog.has_gone_dir(key).then(|| (Tone::Dim, glyphs.gone.to_string(), "working directory missing".into()));
    let all = marked.into_iter().chain(symbols(model, key).concat()).chain(own).chain(gone);
    let parts: Vec<String> = all.map(|(_, symbol, means)| format!("{symbol} {means}")).collect();
    (!parts.is_empty()).then(|| fact("symbols", &parts.join(&format!(" {} ", glyphs.dot))))
}

/// Adds the last prompt and the last answer; those of a fork only if it has own ones.
fn last_messages(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey, room: Size) {
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
        lines.push(DocLine::new(Tone::Fork, "no messages of its own yet; last in the parent:"));
    }
    for (name, message) in last.into_iter().flatten() {
        let (text, is_cut) = message.text();
        let ellipsis = if is_cut { &*model.setting.glyphs.ellipsis } else { "" };
        let line = fact(name, &format!("{text}{ellipsis}"));
        lines.push(shortened(line, room, &model.setting.glyphs));
    }
    if digest.details().last_prompt.is_some() && digest.details().last_answer.is_none() {
        lines.push(DocLine { spans: vec![Span::dim("answer      none yet")], ..DocLine::default() });
    }
}

/// Limits a fact to the rows available for it.
fn shortened(mut line: DocLine, room: Size, glyphs: &Glyphs) -> DocLine {
    let rows = usize::from(room.height / 5).clamp(2, 8);
    let mut wrapped = Wrapped::new(room.width.into());
    wrapped.ensure(std::slice::from_ref(&line), rows + 1);
    let place = |row: usize| wrapped.place(std::slice::from_ref(&line), row).map(|(_, byte)| byte);
    if let (Some(start), Some(end), Some(value)) = (place(rows - 1), place(rows), line.spans.get(1)) {
        let name = line.spans[0].text.len();
        let (Some(start), Some(end)) = (start.checked_sub(name), end.checked_sub(name)) else { return line };
        // The last row needs room for the ellipsis.
        let (before, last) = value.text[..end].split_at(start);
        let most = usize::from(room.width).saturating_sub(NAMES + width(&glyphs.ellipsis));
        line.spans[1].text = format!("{before}{}{}", truncate_to_width(last, most).trim_end(), glyphs.ellipsis);
    }
    line
}

/// Adds cost, size and times; for a fork, first those without inherited entries.
fn facts(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey) {
    let digest = &model.catalog[key];
    let header = &digest.header;
    let own = model.catalog.own(key);
    let messages = count(digest.message_count, "message", "messages");
    let size = format!("{messages}, {}", bytes(digest.bytes));
    match model.catalog.copied_entries_text(key) {
        None => {
            lines.push(fact("cost", &format!("{}, {} tokens", dollars(digest.cost), tokens(digest.tokens))));
            lines.push(fact("size", &format!("{}, {size}", count(digest.entry_count, "entry", "entries"))));
        }
        Some(copies) => {
            let with = format!("with {copies} entries");
            let dot = &model.setting.glyphs.dot;
            lines.push(fact("cost", &format!("{} unique {dot} {} {with}", dollars(own.cost), dollars(digest.cost))));
            lines
                .push(fact("tokens", &format!("{} unique {dot} {} {with}", tokens(own.tokens), tokens(digest.tokens))));
            let entries = thousands(own.entries);
            lines.push(fact("entries", &format!("{entries} unique {dot} {} {with}", thousands(digest.entry_count))));
            lines.push(fact("", &size));
        }
    }
    usage(lines, model, key);
    if digest.branch_points > 0 {
        let points = count(digest.branch_points, "branch point", "branch points");
        lines.push(fact("branches", &format!("{} ({points})", digest.leaves)));
    }
    if digest.details().newer_message.is_some() {
        lines.push(fact("leaf", "behind the newest message, which is on another branch"));
    }
    pis(lines, model, key);
    let time_and_age = |ms| time_and_age(model, ms);
    lines.extend(digest.modified.and_then(time_and_age).map(|time| fact("last active", &time)));
    lines.extend(header.created.and_then(time_and_age).map(|time| fact("created", &time)));
    lines.extend(header.imported.and_then(time_and_age).map(|time| fact("imported", &time)));
    let gone = if model.catalog.has_gone_dir(key) { " (missing)" } else { "" };
    let dir = format!("{}{gone}", shorten(&header.cwd, &model.setting.home));
    match model.catalog.worktrees().grouped(&header.cwd) {
        Some(worktree) => {
            lines.push(fact("project", &shorten(model.catalog.project_dir(key), &model.setting.home)));
            lines.push(fact("worktree", &format!("{} in {dir}", worktree.words())));
        }
        None => lines.push(fact("project", &dir)),
    }
    if header.version < 3.0 {
        lines.push(fact("version", &format!("{}; pi migrates the file when it opens it", header.version)));
    }
}

/// Returns the largest kinds of content with bars, once they are known.
fn space(model: &Model, key: SessionKey, columns: usize) -> Vec<DocLine> {
    let Some(known) = model.space.kinds_of(key) else { return Vec::new() };
    let total: u64 = known.kinds.iter().map(|(_, bytes)| bytes).sum();
    let share = |bytes: u64| bytes as f64 / total.max(1) as f64;
    let kinds: Vec<_> = known.kinds.iter().take(KINDS).filter(|(_, bytes)| share(*bytes) >= 0.005).collect();
    let widest = kinds.iter().map(|(kind, _)| width(kind.words())).max().unwrap_or_default();
    let room = columns.saturating_sub(widest + " 100 %".len() + 2).min(BAR);
    let most = kinds.first().map_or(0.0, |(_, bytes)| share(*bytes));
    let line = |(at, (kind, size)): (usize, &&(SpaceKind, u64))| {
        let bar = bar(share(*size) / most, room, model.setting.glyphs == ASCII);
        let name = format!("{:NAMES$}", if at == 0 { "space" } else { "" });
        let number = format!("{}{:>4.0} %", " ".repeat(room - width(&bar)), 100.0 * share(*size));
        let spans = vec![
            Span::dim(name),
            Span::text(format!("{:widest$} ", kind.words())),
            Span::new(Tone::Cost, bar),
            Span::text(number),
        ];
        DocLine { spans, indent: NAMES as u16, ..DocLine::default() }
    };
    kinds.iter().enumerate().map(line).collect()
}

/// Adds the cost of each model, the share of the input that was cached, and the share of abandoned branches.
fn usage(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey) {
    let sums = model.catalog[key].sums();
    let (models, total) = sums.by_model();
    let share = |part: f64| match 100.0 * part / total.cost {
        share if share.is_finite() => format!(" ({share:.0} %)"),
        _ => String::new(),
    };
    let used: Vec<_> = models.iter().filter(|(_, sum)| sum.all_tokens() > 0.0).collect();
    match &used[..] {
        [(name, _)] if !name.is_empty() => lines.push(fact("model", name)),
        used => {
            for (at, (name, sum)) in used.iter().take(LONGEST).enumerate() {
                let name = if name.is_empty() { "no model" } else { name };
                let text = format!("{name} {}{}", dollars(sum.cost), share(sum.cost));
                lines.push(fact(if at == 0 { "models" } else { "" }, &text));
            }
            more(lines, used.len());
        }
    }
    if let Some(rate) = total.cache_hit_rate() {
        lines.push(fact("cached", &format!("{:.0} % of the input", 100.0 * rate)));
    }
    if let Some(cost) = nonzero_dollars(total.abandoned_cost) {
        lines.push(fact("abandoned", &format!("{cost}{}", share(total.abandoned_cost))));
    }
}

/// Lists the abandoned branches of the open session, most recent first, with last words, size, cost and age.
fn abandoned(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey, room: Size) {
    let tree = model.tree.file(key).filter(|tree| model.catalog[key].leaves > 1 && !tree.is_partial);
    let Some(tree) = tree else { return };
    let branch = |branch: &AbandonedBranch| {
        let dot = &model.setting.glyphs.dot;
        let age = branch.latest.map_or(String::new(), |ms| format!(" {dot} {}", time::age(model.now, ms)));
        let entries = count(branch.entries, "entry", "entries");
        let facts = Span::dim(format!("  {entries} {dot} {}{age}", dollars(branch.cost)));
        let columns = usize::from(room.width).saturating_sub(width(&facts.text));
        let words = model.setting.glyphs.cut(tree.nodes[branch.last as usize].words(), columns);
        item(vec![Span::clean(Tone::Text, &words), facts])
    };
    list(lines, "Abandoned branches", tree.abandoned().iter().map(branch));
}

/// Lists the pi processes of a session, most urgent first.
fn pis(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey) {
    let Some(live) = model.catalog.live(key) else { return };
    if *live == SessionActivity::Guessed {
        let guess = match model.catalog.is_pi_in_dir_of(key) {
            true => "probably running here (guess: one in this directory reports no session)",
            false => "may be running (guess: the file was modified a moment ago)",
        };
        lines.push(fact("pi", guess));
    }
    for (at, pi) in live.all().iter().take(LONGEST).enumerate() {
        let running = pi.model.as_ref().map_or(String::new(), |name| format!(", {name}"));
        let lasting = time::duration_since(model.now, pi.since);
        let message = format!("{} {lasting}{running} (pid {})", pi.state.in_words(), pi.pid);
        lines.push(fact(if at == 0 { "pi" } else { "" }, &message));
    }
    more(lines, live.all().len());
}

/// Formats a time and its age.
fn time_and_age(model: &Model, ms: i64) -> Option<String> {
    let time = model.setting.zoned(ms)?;
    Some(format!("{} ({})", time.strftime("%Y-%m-%d %H:%M"), time::age(model.now, ms)))
}

fn family(lines: &mut Vec<DocLine>, model: &Model, key: SessionKey) {
    let catalog = &model.catalog;
    let digest = &catalog[key];
    let parent = catalog.families().parent(key);
    let forks: Vec<SessionKey> = catalog.forks(key).collect();
    if parent.is_none() && catalog.families().forks(key).is_empty() && !digest.header.is_fork() {
        return;
    }
    heading(lines, "Family");
    if let Some(parent) = parent {
        let what = if digest.owner.is_some() { "subagent of" } else { "forked from" };
        lines.push(related(model, what, parent));
        if let Some(path) = digest.header.parent_session.as_ref().filter(|_| catalog.moved.contains(&key)) {
            let path = shorten(path, &model.setting.home);
            lines.push(fact("", &format!("moved from {path}")));
        }
    } else if let Some(path) = &digest.header.parent_session {
        let known = digest.parent_path.as_deref().is_some_and(|path| catalog.key_of_real(path).is_some());
        let what = if known { "parent cycle" } else { "missing" };
        lines.push(fact("forked from", &format!("{} ({what})", shorten(path, &model.setting.home))));
    } else if let Some(id) = &digest.header.parent_id {
        lines.push(fact("forked from", &format!("{id} (missing)")));
    }
    lines.extend(forks.iter().take(LONGEST).map(|&fork| related(model, "fork", fork)));
    more(lines, forks.len());
    let first = catalog.families().line(key).last().unwrap_or(key);
    let family = catalog.families().family(first);
    if family.len() > 1 {
        let all = count(family.len(), "session", "sessions");
        let sum = catalog.sum(&family).cost;
        let (shown, subagents): (Vec<_>, Vec<_>) = family.iter().partition(|&&key| !catalog[key].facts().is_subagent());
        let by_them = nonzero_dollars(sum - catalog.sum(shown).cost).filter(|_| !subagents.is_empty());
        let by_them = by_them
            .map_or(String::new(), |cost| format!(", {cost} by {}", count(subagents.len(), "subagent", "subagents")));
        lines.push(fact("family", &format!("{} in {all}{by_them}", dollars(sum))));
    }
}

/// Returns a line for a session of the family: its name, and for a fork its first own words.
fn related(model: &Model, name: &str, key: SessionKey) -> DocLine {
    let mut line = fact(name, &model.short_title(key));
    let words = words_after(&model.catalog[key]).filter(|_| model.catalog[key].header.is_fork());
    line.spans.extend(words.map(|words| Span::dim(format!("  {}", model.short(&words)))));
    line
}

/// Returns the card of a missing session.
fn missing_parent(model: &Model, gone: &MissingParent) -> Vec<DocLine> {
    let mut lines = vec![DocLine::new(Tone::Strong, &flows::missing_parent::title(model, gone)), DocLine::default()];
    let (message, tone) = match flows::missing_parent::in_trash(model, gone) {
        Some(_) => ("In the trash. Press Enter to restore it.", Tone::Active),
        None => ("The session file is missing. Only entries inherited by its forks remain.", Tone::Warning),
    };
    lines.extend([DocLine::new(tone, message), DocLine::default()]);
    lines.push(fact("file", &shorten(&gone.path.to_string_lossy(), &model.setting.home)));
    lines.extend(gone.forks.iter().take(LONGEST).map(|&fork| related(model, "fork", fork)));
    more(&mut lines, gone.forks.len());
    let together = model.catalog.sum(&gone.forks);
    let all = count(gone.forks.len(), "fork", "forks");
    lines.push(fact("family", &format!("{} in {all}", dollars(together.cost))));
    lines
}

/// Lists the first items under a heading, if there are any.
fn list(lines: &mut Vec<DocLine>, title: &str, items: impl ExactSizeIterator<Item = DocLine>) {
    let all = items.len();
    if all > 0 {
        heading(lines, title);
        lines.extend(items.take(LONGEST));
        more(lines, all);
    }
}

fn item(spans: Vec<Span>) -> DocLine {
    DocLine { spans, indent: 2, ..DocLine::default() }
}

fn more(lines: &mut Vec<DocLine>, all: usize) {
    if all > LONGEST {
        lines.push(DocLine::dim(&format!("and {} more", all - LONGEST)));
    }
}

/// Lists touched files, labels and models.
fn inside(lines: &mut Vec<DocLine>, model: &Model, digest: &Digest) {
    let mut files: Vec<_> = digest.details().touches.uses().collect();
    sort::by_key(&mut files, |&(path, uses)| (Reverse((uses.changes(), uses.reads)), path));
    let file = |(path, uses): (&str, FileUses)| {
        let changed = if uses.changes() > 0 { format!("changed {}×  ", uses.changes()) } else { String::new() };
        let read = if uses.reads > 0 { format!("read {}×", uses.reads) } else { String::new() };
        item(vec![
            Span::clean(Tone::Text, &format!("{}  ", relative_to(&digest.header.cwd, path, &model.setting.home))),
            Span::dim(format!("{changed}{read}").trim_end()),
        ])
    };
    list(lines, "Files", files.into_iter().map(file));
    let label = |label: &DigestLabel| {
        item(vec![Span::clean(Tone::Label, &format!("[{}] ", label.text)), Span::text(&*label.row)])
    };
    list(lines, "Labels", digest.labels.iter().map(label));
    let models = digest.details().models.iter().map(|(name, uses)| {
        let answers = count(uses.answers, "answer", "answers");
        DocLine::text(&format!("{name}  {answers}, {}", dollars(uses.cost)))
    });
    list(lines, "Models", models);
    if !digest.details().models.is_empty() {
        let requested = digest.details().requested_models.iter().take(LONGEST);
        lines.extend(requested.map(|name| DocLine::dim(&format!("requested {name}"))));
    }
}

/// The card's sentence about files that pi's list omits.
const UNLISTED: &str = "These files are directly in pi's session directory instead of in a folder per working directory. pi does not list them, but opens them by path.";

fn project(model: &Model, project: &Project) -> Vec<DocLine> {
    let home = &model.setting.home;
    let gone = model.catalog.gone_dirs.contains(&*project.cwd);
    let name = if project.cwd.is_empty() { "(no directory)".into() } else { shorten(&project.cwd, home) };
    let mut lines = vec![DocLine::new(Tone::Strong, &name), DocLine::default()];
    if gone {
        lines.extend([DocLine::warning("Directory not found."), DocLine::default()]);
    }
    if project.is_unlisted {
        lines.extend([DocLine::warning(UNLISTED), DocLine::default()]);
    }
    let sessions = || project.sessions.iter().filter_map(|&key| model.catalog.get(key));
    lines.push(fact("sessions", &thousands(project.sessions.len())));
    lines.push(fact("entries", &thousands(project.sum.entries)));
    lines.push(fact("size", &bytes(sessions().map(|session| session.bytes).sum())));
    let hidden = project.hidden.in_words().map_or(String::new(), |hidden| format!(", {hidden}"));
    lines.push(fact("cost", &format!("{}{hidden}", dollars(project.sum.cost))));
    lines.extend(time_and_age(model, project.latest).map(|time| fact("last active", &time)));
    let unreadable = model.catalog.unreadable.iter().map(|one| {
        let text = format!("{}: {}", shorten(&one.path.to_string_lossy(), home), one.reason);
        DocLine::warning(&text)
    });
    list(&mut lines, "Unreadable files in all projects", unreadable);
    lines
}
