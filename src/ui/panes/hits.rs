//! Search results in the list of sessions: counts, highlighted titles and text around hits.

use crate::app::model::Model;
use crate::app::search::Search;
use crate::base::numbers::{count, thousands};
use crate::base::text::{Glyphs, Span, Tone, clean, highlight, spans_width, width};
use crate::catalog::SessionKey;
use crate::catalog::search::SessionHit;
use crate::catalog::suggestions::{NearestQuery, QueryDifference};
use crate::keymap::{Action, Place};
use crate::render::plain_markdown::strip;
use crate::search::matching::Tier;
use crate::session::entry::text_fields::TextField;
use crate::ui::paint::Painter;

/// Minimum visible columns of a query.
const LEAST_QUERY: usize = 8;

/// Returns the number of results, their order and the progress of reading.
pub(super) fn facts(model: &Model, search: &Search) -> Vec<String> {
    let pane = &model.sessions;
    let mut facts = Vec::new();
    if let Some((done, total)) = search.searched {
        facts.push(format!("searching {}/{}", thousands(done), thousands(total)));
    } else if let Some((done, total)) = search.read {
        facts.push(format!("reading texts {}/{}", thousands(done), thousands(total)));
    }
    if let Some(found) = &pane.hits {
        facts.push(count(found.len(), "session", "sessions"));
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
    let Some(search) = model.search.as_ref().filter(|_| !model.layers.has(Place::Search)) else { return };
    let query = clean(search.line.value().trim());
    if query.is_empty() {
        return;
    }
    let room = |facts: &[String]| {
        let used: usize = facts.iter().map(|fact| width(fact) + width(&glyphs.dot) + 2).sum();
        columns.saturating_sub(used)
    };
    while facts.len() > 1 && room(facts) < LEAST_QUERY.min(width(&query)) {
        facts.pop();
    }
    facts.push(glyphs.cut(&query, room(facts)).into_owned());
}

/// Returns the message for an empty result: no hits yet, all hits hidden, or hits elsewhere.
pub(super) fn nothing(model: &Model, pen: &Painter<'_>, hidden: usize, columns: usize) -> Vec<String> {
    let search = model.search.as_ref();
    let is_reading = search.is_some_and(|search| search.read.or(search.searched).is_some());
    let elsewhere = search.and_then(|search| Some((search.answered.as_ref()?, search.elsewhere.as_ref()?)));
    let (query, found) = match elsewhere {
        _ if hidden > 0 => return all_hidden(model, pen, hidden),
        _ if is_reading || !model.catalog.progress.finished => return vec!["  no hits yet".into()],
        None => return vec!["  no hits".into()],
        Some(elsewhere) => elsewhere,
    };
    let mut parts = Vec::new();
    if query.everything || query.words().is_empty() {
        parts.push("no hits".into());
    } else {
        let key = pen.key(Action::SearchEverything);
        let so_far = if found.progress.is_some() { " so far" } else { "" };
        parts.push("no hits in conversation".into());
        parts.push(format!("{} in tool output{so_far} ({key})", thousands(found.everything)));
    }
    if query.as_files().is_some() {
        parts.push(format!("{} with file:", thousands(found.files)));
    }
    let line = format!("  {}", parts.join(&format!(" {} ", pen.glyphs().dot)));
    let mut lines =
        if width(&line) <= columns { vec![line] } else { parts.into_iter().map(|part| format!("  {part}")).collect() };
    lines.extend(found.nearest.as_ref().map(|nearest| format!("  {}", nearest_query(model, nearest))));
    lines
}

/// Returns the nearest query with hits, and the key that searches for it.
fn nearest_query(model: &Model, nearest: &NearestQuery) -> String {
    let is_typing = model.layers.has(Place::Search);
    let key = model.setting.key_in_line(Action::Accept);
    match &nearest.difference {
        QueryDifference::Without(terms) if is_typing => format!("{key}: search without {terms}"),
        QueryDifference::Without(terms) => format!("there are hits without {terms}"),
        QueryDifference::Spelled if is_typing => format!("{key}: search for {}", nearest.query),
        QueryDifference::Spelled => format!("there are hits for {}", nearest.query),
    }
}

/// Returns the filters of the list that hide all hits, with their keys.
fn all_hidden(model: &Model, pen: &Painter<'_>, hidden: usize) -> Vec<String> {
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
    let line = |(_, action, what)| format!("  {} {what}", pen.key(action));
    [format!("  {} found, all hidden", thousands(hidden))].into_iter().chain(filters.map(line)).collect()
}

/// Returns the keys that change scope and order of the results.
pub(super) fn keys(model: &Model, pen: &Painter<'_>) -> String {
    let (all, order) = (pen.key(Action::SearchEverything), pen.key(Action::NextSort));
    let is_everything = model.search.as_ref().is_some_and(|search| search.query.everything);
    format!("{all}: {}  {order}: sort ", if is_everything { "conversation" } else { "all text" })
}

/// Highlights the matches in a text.
pub(super) fn marked(model: &Model, text: &str, tone: Tone, is_hit: bool) -> Vec<Span> {
    let matcher = model.search.as_ref().and_then(|search| search.matcher.as_ref()).filter(|_| is_hit);
    let marks = matcher.map_or(Vec::new(), |matcher| matcher.marks(text, true));
    highlight(&[Span::new(tone, text)], &marks)
}

/// Returns the text around a hit for `room` columns, with the whole hit, and notes an abandoned branch.
pub(super) fn snippet(model: &Model, found: &SessionHit, room: usize, glyphs: &Glyphs) -> Vec<Span> {
    let Some(quote) = &found.snippet else { return Vec::new() };
    let path = if found.is_active == Some(false) { "abandoned: " } else { "" };
    let of = match quote.of {
        Some(TextField::User) => Span::new(Tone::User, "user "),
        Some(TextField::Assistant) => Span::new(Tone::Assistant, "asst "),
        Some(field) => Span::dim(format!("{}: ", field.name())),
        None => Span::default(),
    };
    let before = vec![Span::new(Tone::Active, path), of];
    let left = room.saturating_sub(spans_width(&before));
    let source = clean(&quote.text);
    let mut text = marked(model, &strip(&source), Tone::Dim, true);
    let is_hit = |span: &&Span| span.tone == Tone::Match;
    if !text.iter().any(|span| is_hit(&span)) {
        text = marked(model, &source, Tone::Dim, true); // the hit is in Markdown syntax that `strip` removes
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
