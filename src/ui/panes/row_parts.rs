//! The names of sessions and projects in rows, and search results. A session's name is followed by the first words of its
//! prompt; of a project's path, the last directory comes first, then as much as distinguishes it from others of the same
//! name.

use crate::app::model::Model;
use crate::app::panes::sessions::Project;
use crate::app::search::Search;
use crate::app::title::{title, title_of_message, words_after_name};
use crate::base::numbers::{count, thousands};
use crate::base::text::{Glyphs, Span, Tone, clean, highlight, spans_width, width};
use crate::catalog::SessionKey;
use crate::catalog::search::SessionHit;
use crate::catalog::suggestions::{NearestQuery, QueryDifference};
use crate::keymap::{Action, KeyContext};
use crate::render::markdown::strip;
use crate::search::matching::Tier;
use crate::session::entry::text_fields::TextField;
use crate::ui::paint::Painter;

/// The columns between a name and the words after it.
const GAP: usize = 2;

/// Minimum columns for the words after a unique name.
const MIN_WORDS: usize = 24;

/// The name of a session and the words after it.
pub(super) struct SessionName {
    /// The name, or the words of a prompt if it has none.
    pub(super) title: String,
    /// The first words of the session; for a fork, those of its unique entries.
    words: Option<String>,
    /// `true` if another session has the same name, so that only the words distinguish them.
    is_repeated: bool,
}

impl SessionName {
    /// Returns the name of a session. `is_twin` is `true` if another visible session has the same title: then the last
    /// prompt follows it, or the first own one of a fork.
    pub(super) fn of(model: &Model, key: SessionKey, is_twin: bool) -> Self {
        let (catalog, settings) = (&model.catalog, &*model.settings);
        let session = &catalog[key];
        let parent = catalog.families().parent(key).and_then(|parent| catalog.get(parent));
        let title = title(session, settings);
        let first = words_after_name(session, settings);
        let last = || {
            let last = session.details().last_prompt.as_ref()?.text().0;
            Some(title_of_message(&last, settings)).filter(|last| *last != title && !last.is_empty())
        };
        let words = if is_twin && !session.header.is_fork() { last().or(first) } else { first };
        let is_copy = session.header.is_fork() && parent.is_none_or(|parent| parent.name == session.name);
        Self { title, words, is_repeated: is_twin || is_copy }
    }

    /// A title without words after it.
    pub(super) fn plain(title: String) -> Self {
        Self { title, words: None, is_repeated: false }
    }

    /// Returns the columns of the name, with the words that distinguish it.
    pub(super) fn wanted(&self) -> usize {
        let words = self.words.as_ref().filter(|_| self.is_repeated);
        width(&self.title) + words.map_or(0, |words| GAP + width(words))
    }

    /// Splits `columns` between the title and the words after it.
    pub(super) fn cut(&self, columns: usize, glyphs: &Glyphs) -> (String, Option<Span>) {
        let rest = columns.saturating_sub(width(&self.title) + GAP);
        let shared = columns.saturating_sub(GAP) * 2 / 3;
        let room = match &self.words {
            Some(words) if self.is_repeated => width(words).min(rest.max(shared)),
            Some(_) if rest >= MIN_WORDS => rest,
            _ => 0,
        };
        let words = self.words.as_ref().filter(|_| room > 0);
        let words = words.map(|words| Span::dim(format!("{:GAP$}{}", "", glyphs.cut(words, room))));
        let used = words.as_ref().map_or(0, |words| width(&words.text));
        (glyphs.cut(&self.title, columns.saturating_sub(used)).into_owned(), words)
    }
}

/// Returns the name of the project at `at` and its parent directory, shortened at the start, in at most `room` columns.
pub(super) fn project_name(projects: &[Project], at: usize, home: &str, glyphs: &Glyphs, room: usize) -> Vec<Span> {
    let project = &projects[at];
    let name = |project: &Project, room| project.name(home).cut(room, glyphs);
    let mut spans = name(project, room);
    // A path that is also cut at the end is ambiguous: another project may show the same text.
    let shown = spans.get(1).and_then(|dir| dir.text.strip_suffix(&*glyphs.ellipsis));
    let looks_the_same = |shown: &str| {
        let part = shown.trim_start().trim_start_matches(&*glyphs.ellipsis).trim_start_matches('~');
        // Thousands of projects may have the same name: cut only the paths that contain the shown part.
        let mut others = project.namesakes.iter().filter(|&&other| other != at && projects[other].cwd.contains(part));
        others.any(|&other| name(&projects[other], room) == spans)
    };
    if shown.is_some_and(looks_the_same) {
        let number = project.namesakes.iter().take_while(|&&other| other != at).count() + 1;
        let number = number.to_string();
        spans = name(project, room.saturating_sub(number.len() + 2));
        spans.push(Span::dim(format!(" #{number}")));
    }
    spans
}

/// Returns the name of a project, with its parent directory only if another project has the same name.
pub(super) fn short_project_name(
    projects: &[Project],
    at: usize,
    home: &str,
    glyphs: &Glyphs,
    room: usize,
) -> Vec<Span> {
    let mut spans = project_name(projects, at, home, glyphs, room);
    if projects[at].namesakes.is_empty() {
        spans.truncate(1);
    }
    spans
}

/// Minimum visible columns of a query.
const MIN_QUERY: usize = 12;

/// Returns the number of results, their order and the progress of reading.
pub(super) fn hit_facts(model: &Model, search: &Search) -> Vec<String> {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    if let Some((done, total)) = search.searched {
        facts.push(format!("searching {}/{}", thousands(done), thousands(total)));
    } else if let Some((done, total)) = search.read {
        facts.push(format!("reading texts {}/{}", thousands(done), thousands(total)));
    }
    if let Some(found) = &pane.hits {
        facts.push(count(found.len().saturating_sub(pane.hidden_hits), "session", "sessions"));
        facts.extend((pane.hidden_hits > 0).then(|| format!("{} hidden", thousands(pane.hidden_hits))));
        facts.extend((search.entries > 0).then(|| count(search.entries, "hit", "hits")));
        facts.extend(
            pane.is_flat.then(|| if pane.shows.newest_hits_first { "newest first" } else { "best first" }.into()),
        );
        let is_fuzzy = !found.is_empty() && found.values().all(|found| found.hit.tier == Tier::Fuzzy);
        facts.extend(is_fuzzy.then(|| "fuzzy match".into()));
        let is_undecided = search.answered.as_ref().is_some_and(|query| query.is_undecided());
        facts.extend(is_undecided.then(|| "not fully searched".into()));
    }
    facts
}

/// Appends the query to the facts of a title unless its input line is open. The last facts are dropped for a minimum
/// width.
pub(super) fn add_query(facts: &mut Vec<String>, model: &Model, columns: usize, glyphs: &Glyphs) {
    let Some(search) = model.search.as_ref().filter(|_| !model.layers.has(KeyContext::Search)) else { return };
    let query = clean(search.line.value().trim());
    if query.is_empty() {
        return;
    }
    let room = |facts: &[String]| {
        let used: usize = facts.iter().map(|fact| width(fact) + width(&glyphs.dot) + 2).sum();
        columns.saturating_sub(used)
    };
    while !facts.is_empty() && room(facts) < MIN_QUERY.min(width(&query)) {
        facts.pop();
    }
    facts.push(glyphs.cut(&query, room(facts)).into_owned());
}

/// Returns the message for an empty result: no hits yet, all hits hidden, or hits elsewhere.
pub(super) fn no_hits(model: &Model, painter: &Painter<'_>, hidden: usize, columns: usize) -> Vec<String> {
    let search = model.search.as_ref();
    let is_reading = search.is_some_and(|search| search.read.or(search.searched).is_some());
    let elsewhere = search.and_then(|search| Some((search.answered.as_ref()?, search.elsewhere.as_ref()?)));
    let (query, found) = match elsewhere {
        _ if hidden > 0 => return all_hidden(model, painter, hidden),
        _ if is_reading || !model.catalog.progress.finished => return vec!["  no hits yet".into()],
        None => return vec!["  no hits".into()],
        Some(elsewhere) => elsewhere,
    };
    let mut parts = Vec::new();
    if query.everything || query.words().is_empty() {
        parts.push("no hits".into());
    } else {
        let key = painter.key(Action::SearchEverything);
        let so_far = if found.progress.is_some() { " so far" } else { "" };
        parts.push("no hits in conversation".into());
        parts.push(format!("{} in tool output{so_far} ({key})", thousands(found.everything)));
    }
    if query.as_files().is_some() {
        parts.push(format!("{} with file:", thousands(found.files)));
    }
    let line = format!("  {}", parts.join(&format!(" {} ", painter.glyphs().dot)));
    let mut lines =
        if width(&line) <= columns { vec![line] } else { parts.into_iter().map(|part| format!("  {part}")).collect() };
    lines.extend(found.nearest.as_ref().map(|nearest| format!("  {}", nearest_query(model, nearest))));
    lines
}

/// Returns the nearest query with hits, and the key that searches for it.
fn nearest_query(model: &Model, nearest: &NearestQuery) -> String {
    let is_typing = model.layers.has(KeyContext::Search);
    let key = model.settings.key_in_line(Action::Accept);
    match &nearest.difference {
        QueryDifference::Without(terms) if is_typing => format!("{key}: search without {terms}"),
        QueryDifference::Without(terms) => format!("there are hits without {terms}"),
        QueryDifference::Spelled if is_typing => format!("{key}: search for {}", nearest.query),
        QueryDifference::Spelled => format!("there are hits for {}", nearest.query),
    }
}

/// Returns the filters of the list that hide all hits, with their keys.
fn all_hidden(model: &Model, painter: &Painter<'_>, hidden: usize) -> Vec<String> {
    let shows = &model.sessions.shows;
    let is_of_agent = |&key: &SessionKey| model.catalog.get(key).is_some_and(|session| session.owner.is_some());
    let mut hits = model.sessions.hits.iter().flat_map(|hits| hits.keys());
    let filters = [
        (shows.here_only, Action::HereOnly, "in the list shows all projects"),
        (shows.named_only, Action::NamedOnly, "shows sessions without a name"),
        (!shows.subagents && hits.any(is_of_agent), Action::ShowSubagents, "shows sessions of subagents"),
        (shows.unarchived_only, Action::ShowArchived, "shows archived sessions"),
        (shows.marked_only, Action::MarkedOnly, "shows sessions without a mark"),
    ];
    let filters = filters.into_iter().filter(|(is_on, ..)| *is_on);
    let line = |(_, action, what)| format!("  {} {what}", painter.key(action));
    [format!("  {} found, all hidden", thousands(hidden))].into_iter().chain(filters.map(line)).collect()
}

/// Highlights the matches in a text.
pub(super) fn with_matches(model: &Model, text: &str, tone: Tone, is_hit: bool) -> Vec<Span> {
    let matcher = model.search.as_ref().and_then(|search| search.matcher.as_ref()).filter(|_| is_hit);
    let marks = matcher.map_or(Vec::new(), |matcher| matcher.marks(text, true));
    highlight(&[Span::new(tone, text)], &marks)
}

/// Returns the text around a hit for `room` columns, with the whole hit, and notes an abandoned branch.
pub(super) fn snippet(model: &Model, found: &SessionHit, room: usize, glyphs: &Glyphs) -> Vec<Span> {
    let Some(quote) = &found.snippet else { return Vec::new() };
    let path = if found.is_active == Some(false) { "abandoned: " } else { "" };
    let of = match quote.field {
        Some(TextField::User) => Span::new(Tone::User, "user "),
        Some(TextField::Assistant) => Span::new(Tone::Assistant, "asst "),
        Some(field) => Span::dim(format!("{}: ", field.name())),
        None => Span::default(),
    };
    let before = vec![Span::new(Tone::Active, path), of];
    let left = room.saturating_sub(spans_width(&before));
    let source = model.settings.cell(&clean(&quote.text));
    let mut text = with_matches(model, &strip(&source), Tone::Dim, true);
    let is_hit = |span: &&Span| span.tone == Tone::Match;
    if !text.iter().any(|span| is_hit(&span)) {
        text = with_matches(model, &source, Tone::Dim, true); // the hit is in Markdown syntax that `strip` removes
    }
    let hit = text.iter().find(is_hit).map_or(0, |span| width(&span.text));
    if let Some(first) = text.first_mut().filter(|first| first.tone == Tone::Dim) {
        if quote.is_cut {
            first.text.insert_str(0, &glyphs.ellipsis);
        }
        let before = (left / 3).min(left.saturating_sub(hit + 1));
        first.text = glyphs.cut_start(&first.text, before).into_owned();
    }
    [before, text].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::app::panes::sessions::SessionsPane;
    use crate::base::text::{UNICODE, spans_text, spans_width};
    use crate::catalog::Catalog;
    use crate::catalog::current_dir::CurrentDir;
    use crate::config::Sort;
    use crate::session::digest::Digest;

    #[test]
    fn a_repeated_name_gives_room_to_the_words_after_it() {
        let cut = |is_repeated, columns| {
            let (title, words) = ("Refactor auth module".into(), Some("What about refresh tokens?".into()));
            let (title, words) = SessionName { title, words, is_repeated }.cut(columns, &UNICODE);
            title + &words.map_or(String::new(), |words| words.text)
        };
        assert_eq!(cut(true, 60), "Refactor auth module  What about refresh tokens?");
        assert_eq!(cut(true, 40), "Refactor aut…  What about refresh token…");
        assert_eq!(cut(false, 40), "Refactor auth module");
        assert_eq!(cut(false, 46), "Refactor auth module  What about refresh toke…");
    }

    const HOME: &str = "/home/ada";

    #[test]
    fn the_directory_is_told_where_the_name_is_not_enough() {
        let dirs = ["/code/logq", "/other/q", "/one/app", "/two/app"].map(String::from);
        let mut labels: Vec<String> = (0..dirs.len())
            .map(|at| spans_text(&short_project_name(&projects(&dirs), at, HOME, &UNICODE, 40)))
            .collect();
        labels.sort();
        assert_eq!(labels, ["app  /one", "app  /two", "logq", "q"]);
    }

    /// Returns the projects of sessions in these directories.
    fn projects(dirs: &[String]) -> Vec<Project> {
        let session = |cwd: &String| {
            let mut session = Digest { path: format!("/s{cwd}.jsonl").into(), ..Digest::default() };
            session.header.cwd.clone_from(cwd);
            session
        };
        let mut catalog = Catalog::default();
        catalog.add(dirs.iter().map(session).collect());
        let mut pane = SessionsPane::new(Sort::Threaded, CurrentDir::default(), Glyphs::default());
        pane.rebuild(&catalog);
        pane.projects
    }

    fn labels(dirs: &[&str], room: usize) -> Vec<String> {
        let dirs: Vec<String> = dirs.iter().map(|&dir| dir.to_owned()).collect();
        let projects = projects(&dirs);
        let label = |dir: &String| {
            let at = projects.iter().position(|project| *project.cwd == **dir).unwrap();
            spans_text(&project_name(&projects, at, HOME, &UNICODE, room))
        };
        dirs.iter().map(label).collect()
    }

    #[test]
    fn the_name_comes_first_and_the_directory_is_cut_in_front() {
        let dirs =
            ["/home/ada/Developer/github.com/org/vr-guide", "/home/ada", "/", "/srv/", "relative", "", "/home/ada/x"];
        assert_eq!(
            labels(&dirs, 26),
            ["vr-guide  …/github.com/org", "~", "/", "srv  /", "relative", "(no directory)", "x  ~"]
        );
        assert_eq!(labels(&dirs[..1], 18), ["vr-guide"]);
        assert_eq!(labels(&dirs[..1], 6), ["vr…ide"]);
    }

    #[test]
    fn what_tells_projects_of_a_name_apart_is_seen() {
        let dirs = [
            "/home/ada/Developer/github.com/org/very-long-name/packages/app",
            "/home/ada/Developer/github.com/org/other-name/packages/app",
            "/home/ada/Developer/github.com/org/other-name/packages/web",
        ];
        assert_eq!(
            labels(&dirs, 24),
            ["app  …long-name/packages", "app  …ther-name/packages", "web  …ther-name/packages"]
        );
        assert_eq!(labels(&dirs, 17), ["app  …very-long-…", "app  …other-name…", "web  …me/packages"]);
        let worktrees = ["/w/digest-rolling-window-service-fix-1", "/w/digest-rolling-window-service-fix-2"];
        assert_eq!(labels(&worktrees, 24), ["digest-roll…ervice-fix-1", "digest-roll…ervice-fix-2"]);
    }

    #[test]
    fn the_same_part_at_another_place_is_numbered() {
        let dirs = [
            "/other-long-name/a-rather-long-name/other-long-name",
            "/other-long-name/a-rather-long-name/a-rather-long-name/other-long-name",
            "/a-rather-long-name/a-rather-long-name/other-long-name",
        ];
        assert_eq!(
            labels(&dirs, 34),
            [
                "other-long-name  …other-long-n… #3",
                "other-long-name  …e/a-rather-l… #2",
                "other-long-name  /a-rather-long-…"
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_two_projects_look_the_same(dirs in proptest::collection::hash_set(
            "(/home/ada)?(/(app|web|a-name-that-takes-all-of-the-room-there-is|Developer|github[.]com|packages|a-rather-long-name|other-long-name|feature-[12]|漢字)){1,7}", 1..30), room in 24usize..60) {
            let dirs: Vec<String> = dirs.into_iter().collect();
            let projects = projects(&dirs);
            let labels = (0..projects.len()).map(|at| project_name(&projects, at, HOME, &UNICODE, room));
            let mut seen = HashSet::new();
            for spans in labels {
                proptest::prop_assert!(spans_width(&spans) <= room);
                proptest::prop_assert!(seen.insert(spans_text(&spans)), "{:?} in {dirs:#?}", spans_text(&spans));
            }
        }
    }
}
