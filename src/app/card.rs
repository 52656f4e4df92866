//! The preview of a session or a project: what is known of it at a glance.

use crate::app::model::Model;
use crate::app::projects::Project;
use crate::app::sessions::Row;
use crate::base::numbers::{bytes, count, dollars, tokens};
use crate::base::paths::shorten;
use crate::base::text::{Span, Tone, width};
use crate::base::time;
use crate::render::DocLine;
use crate::session::digest::summary::Summary;
use crate::session::tree::Tree;

/// The longest lists of a card.
const LONGEST: usize = 12;

/// The card of the selected row, or of the selected fork in the tree.
pub fn of(model: &Model) -> Vec<DocLine> {
    if let Some(fork) = model.tree.selected_fork().filter(|_| model.focus != crate::keymap::Place::Sessions) {
        return session(model, &fork.session, None);
    }
    match model.sessions.selected_row() {
        Some(Row::Session { at, .. }) => {
            let summary = &model.sessions.all[*at];
            session(model, summary, model.tree.tree.as_deref().filter(|tree| !tree.is_partial))
        }
        Some(Row::Project(at)) => model.sessions.projects.get(*at).map_or(Vec::new(), |one| project(model, one)),
        None => Vec::new(),
    }
}

/// A name and its value.
fn fact(name: &str, value: &str) -> DocLine {
    let gap = " ".repeat(12usize.saturating_sub(width(name)));
    let spans = vec![Span::new(Tone::Dim, format!("{name}{gap}")), Span::clean(Tone::Text, value)];
    DocLine { spans, indent: 12, ..DocLine::default() }
}

fn heading(lines: &mut Vec<DocLine>, text: &str) {
    lines.push(DocLine::default());
    lines.push(DocLine::new(Tone::Accent, text));
}

fn session(model: &Model, summary: &Summary, tree: Option<&Tree>) -> Vec<DocLine> {
    let home = &model.setting.home;
    let header = &summary.header;
    let tone = if summary.name.is_some() { Tone::Name } else { Tone::Strong };
    let mut lines = vec![DocLine::new(tone, summary.title()), DocLine::default()];
    if let (Some(_), Some(first)) = (&summary.name, &summary.first_message) {
        lines.push(fact("first", first.trim()));
    }
    let gone = if model.sessions.gone.contains(&header.cwd) { " (gone)" } else { "" };
    lines.push(fact("project", &format!("{}{gone}", shorten(&header.cwd, home))));
    lines.push(fact("file", &shorten(&summary.path.to_string_lossy(), home)));
    lines.push(fact("id", &header.id));
    let wall = |ms: i64| {
        let time = jiff::Timestamp::from_millisecond(ms).ok()?.to_zoned(model.setting.zone.clone());
        Some(format!("{} ({})", time.strftime("%Y-%m-%d %H:%M"), time::age(model.now, ms)))
    };
    lines.extend(header.created.and_then(wall).map(|time| fact("begun", &time)));
    lines.extend(summary.modified.and_then(wall).map(|time| fact("last said", &time)));
    lines.push(fact(
        "size",
        &format!(
            "{}, {}, {}",
            count(summary.entry_count, "entry", "entries"),
            count(summary.message_count, "message", "messages"),
            bytes(summary.bytes)
        ),
    ));
    if summary.branch_points > 0 {
        let points = count(summary.branch_points, "branch point", "branch points");
        lines.push(fact("branches", &format!("{} ({points})", summary.leaves)));
    }
    lines.push(fact("used", &format!("{}, {} tokens", dollars(summary.cost), tokens(summary.tokens))));
    if header.version < 3.0 {
        lines.push(fact("version", &format!("{}: pi rewrites the file when it opens it", header.version)));
    }
    family(&mut lines, model, summary);
    if let Some(tree) = tree {
        inside(&mut lines, model, tree);
    }
    if !summary.problems.is_empty() {
        heading(&mut lines, "Problems");
        let glyph = model.setting.glyphs.warning;
        lines.extend(summary.problems.iter().map(|problem| DocLine::new(Tone::Warning, &format!("{glyph} {problem}"))));
    }
    lines
}

fn family(lines: &mut Vec<DocLine>, model: &Model, summary: &Summary) {
    let parent = model.sessions.parent_of(&summary.path);
    let forks = model.sessions.forks_of(&summary.path);
    if parent.is_none() && forks.is_empty() && summary.header.parent_session.is_none() {
        return;
    }
    heading(lines, "Family");
    if let Some(parent) = parent {
        lines.push(fact(if summary.owner.is_some() { "sub-agent of" } else { "forked from" }, parent.title()));
    } else if let Some(path) = &summary.header.parent_session {
        let known = model.sessions.has(summary.parent_path.as_deref());
        let what = if known { "a ring of forks" } else { "not there" };
        lines.push(fact("forked from", &format!("{} ({what})", shorten(path, &model.setting.home))));
    }
    for fork in forks.iter().take(LONGEST) {
        lines.push(fact("fork", fork.title()));
    }
    more(lines, forks.len());
}

fn more(lines: &mut Vec<DocLine>, all: usize) {
    if all > LONGEST {
        lines.push(DocLine::new(Tone::Dim, &format!("and {} more", all - LONGEST)));
    }
}

/// What only the open file tells: labels, models, files.
fn inside(lines: &mut Vec<DocLine>, model: &Model, tree: &Tree) {
    if !tree.labels.is_empty() {
        heading(lines, "Labels");
        let mut labels: Vec<_> = tree.labels.iter().collect();
        labels.sort_by_key(|(at, _)| **at);
        for (at, label) in labels.iter().take(LONGEST) {
            let spans = vec![
                Span::clean(Tone::Label, &format!("[{}] ", label.text)),
                Span::new(Tone::Text, &*tree.nodes[**at as usize].text),
            ];
            lines.push(DocLine { spans, indent: 2, ..DocLine::default() });
        }
        more(lines, labels.len());
    }
    if !tree.models.is_empty() {
        heading(lines, "Models");
        for (name, uses) in tree.models.iter().take(LONGEST) {
            let answers = count(uses.answers, "answer", "answers");
            lines.push(DocLine::new(Tone::Text, &format!("{name}  {answers}, {}", dollars(uses.cost))));
        }
    }
    if !tree.files.is_empty() {
        heading(lines, "Files");
        let mut files: Vec<_> = tree.files.iter().collect();
        files.sort_by_key(|(_, uses)| std::cmp::Reverse((uses.changes, uses.reads)));
        for (path, uses) in files.iter().take(LONGEST) {
            let changed = if uses.changes > 0 { format!("changed {}×  ", uses.changes) } else { String::new() };
            let read = if uses.reads > 0 { format!("read {}×", uses.reads) } else { String::new() };
            let spans = vec![
                Span::clean(Tone::Text, &format!("{}  ", shorten(path, &model.setting.home))),
                Span::new(Tone::Dim, format!("{changed}{read}").trim_end()),
            ];
            lines.push(DocLine { spans, indent: 2, ..DocLine::default() });
        }
        more(lines, files.len());
    }
}

fn project(model: &Model, project: &Project) -> Vec<DocLine> {
    let home = &model.setting.home;
    let gone = model.sessions.gone.contains(&project.cwd);
    let name = if project.cwd.is_empty() { "(no directory)".into() } else { shorten(&project.cwd, home) };
    let mut lines = vec![DocLine::new(Tone::Strong, &name), DocLine::default()];
    if gone {
        lines.push(DocLine::new(Tone::Warning, "This directory is gone."));
        lines.push(DocLine::default());
    }
    let sessions = || project.sessions.iter().filter_map(|&at| model.sessions.all.get(at));
    lines.push(fact("sessions", &project.sessions.len().to_string()));
    lines.push(fact("entries", &sessions().map(|session| session.entry_count).sum::<usize>().to_string()));
    lines.push(fact("size", &bytes(sessions().map(|session| session.bytes).sum())));
    lines.push(fact("used", &dollars(project.cost)));
    if project.latest > i64::MIN {
        lines.push(fact("last said", &time::age(model.now, project.latest)));
    }
    let unreadable = &model.sessions.unreadable;
    if !unreadable.is_empty() {
        heading(&mut lines, "Unreadable, here or in other projects");
        for one in unreadable.iter().take(LONGEST) {
            let text = format!("{}: {}", shorten(&one.path.to_string_lossy(), home), one.reason);
            lines.push(DocLine::new(Tone::Warning, &text));
        }
        more(&mut lines, unreadable.len());
    }
    lines
}
