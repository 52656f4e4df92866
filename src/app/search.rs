//! Search over sessions: the line that is typed, the query that it reads as, and what was found. The list shows the
//! hits, the tree the entry in which the selected one was found.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};

use crate::app::cursor::Cursor;
use crate::app::edit::{Edit, Pressed, Purpose};
use crate::app::message::{Effect, Found, Sought};
use crate::app::model::Model;
use crate::app::sessions::{Pane, Row};
use crate::app::{picker, update};
use crate::base::fold::fold;
use crate::base::text::Glyphs;
use crate::keymap::{Action, Key, Place};
use crate::search::find::inside::Inside;
use crate::search::find::matcher::{Around, Matcher};
use crate::search::query::complete::{Completion, Lists, Values, complete};
use crate::search::query::{Problem, Query};
use crate::session::family::Families;

/// A search over sessions.
#[derive(Debug)]
pub struct Search {
    /// The line.
    pub line: Edit,
    /// Whether keys go to the line.
    pub typing: bool,
    /// What it reads as, or why it reads as nothing.
    pub query: Result<Arc<Query>, Problem>,
    /// What marks hits in texts; that of the last query that could be read.
    pub matcher: Arc<Matcher>,
    /// How many texts were read, of how many.
    pub read: Option<(usize, usize)>,
    /// How many files were searched for everything, of how many.
    pub searched: Option<(usize, usize)>,
    /// How the query may go on at the cursor.
    pub completion: Option<Completion>,
    /// Whether somebody chose a row since the query changed: until then the best hit is selected.
    pub(super) chosen: bool,
    /// The sessions that are searched.
    sessions: Arc<[Sought]>,
    /// The directories that they worked in.
    dirs: Vec<String>,
    /// The query of the hits that are shown.
    answered: Option<Arc<Query>>,
}

/// What was found, as the list needs it.
#[derive(Debug, Default)]
pub struct Answer {
    /// The hits, by file.
    pub found: HashMap<PathBuf, Found>,
}

/// Begins to search, or goes on where one was.
pub(super) fn open(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    model.focus = Place::Sessions;
    if let Some(search) = model.search.as_mut().filter(|_| text.is_empty()) {
        search.typing = true;
        return;
    }
    model.search = Some(Search {
        line: Edit::new(Purpose::Search, "/", text),
        typing: text.is_empty(),
        query: Ok(Arc::default()),
        matcher: Arc::new(Matcher::new(&Query::default(), &around(model))),
        read: None,
        searched: None,
        completion: None,
        chosen: false,
        sessions: Arc::default(),
        dirs: Vec::new(),
        answered: None,
    });
    take_sessions(model, effects);
    ask(model, effects);
}

/// Ends the search; the selection stays on its session.
pub(super) fn close(model: &mut Model) {
    model.search = None;
    model.sessions.answer = None;
    model.sessions.rebuild(model.setting.glyphs);
}

/// Takes a key while the line is typed. Keys that type nothing keep what they do in the list, as in pi's picker.
pub(super) fn press(model: &mut Model, (key, action): (Key, Option<Action>), effects: &mut Vec<Effect>) {
    let types = matches!(key.code(), KeyCode::Char(_)) && !key.modifiers().contains(KeyModifiers::CONTROL);
    let Some(search) = &mut model.search else { return };
    let at_end = search.line.is_at_end();
    match (key.code(), action) {
        (KeyCode::Tab, _) => complete_line(model, effects),
        (KeyCode::Delete, _) if !at_end => edit(model, key, effects),
        (_, Some(action)) if !types && works_while_typing(action) => {
            search.chosen = true;
            update::act(model, action, effects);
        }
        _ => edit(model, key, effects),
    }
}

/// Opens the saved query that has this key, if there is one. Returns whether there is.
pub(super) fn press_saved(model: &mut Model, key: Key, effects: &mut Vec<Effect>) -> bool {
    let types = !matches!(key.code(), KeyCode::F(_));
    if types && model.search.as_ref().is_some_and(|search| search.typing) {
        return false;
    }
    let saved = model.setting.queries.iter().find(|saved| saved.key == Some(key));
    let Some(query) = saved.map(|saved| saved.query.clone()) else { return false };
    open(model, &query, effects);
    true
}

/// Somebody goes on in the list: the selection stays where it is, whatever is found.
pub(super) fn stay(model: &mut Model) {
    if let Some(search) = model.search.as_mut().filter(|_| !model.sessions.rows.is_empty()) {
        search.chosen = true;
    }
}

fn works_while_typing(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::Up
            | A::Down
            | A::PageUp
            | A::PageDown
            | A::NextSort
            | A::NamedOnly
            | A::ShowPaths
            | A::ShowSubagents
            | A::SearchEverything
            | A::Rename
            | A::Delete
            | A::Suspend
            | A::Quit
    )
}

fn edit(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let Some(search) = &mut model.search else { return };
    let before = search.line.value().to_string();
    match search.line.press(key) {
        Pressed::Accepted => enter(model, effects),
        Pressed::Cancelled if before.is_empty() => close(model),
        Pressed::Cancelled => {
            search.line = Edit::new(Purpose::Search, "/", "");
            changed(model, effects);
        }
        Pressed::Editing if search.line.value() != before => changed(model, effects),
        Pressed::Editing => note_completion(model),
    }
}

/// Takes what was pasted.
pub(super) fn paste(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    if let Some(search) = &mut model.search {
        search.line.paste(text);
        changed(model, effects);
    }
}

/// Leaves the line; goes to the entry in which the selected session was found.
fn enter(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(search) = &mut model.search {
        search.typing = false;
        search.chosen = true;
        if search.line.value().trim().is_empty() {
            return close(model);
        }
    }
    if picker::wants_session(model) {
        picker::confirm(model, effects);
    } else {
        go_to_hit(model);
    }
}

/// Goes to the entry in which the selected session was found, and to the next ones by the keys for that. Returns whether
/// there is one.
pub(super) fn go_to_hit(model: &mut Model) -> bool {
    let Some(found) = model.selected_hit().filter(|found| found.at.is_some()) else { return false };
    let words = words_in(model, found);
    model.focus = Place::Tree;
    model.tree.awaited_words = Some(words);
    true
}

/// What to look for in a session that was found: all words if they stand together, else the first one.
fn words_in(model: &Model, found: &Found) -> Inside {
    let words = match model.search.as_ref().map(|search| &search.query) {
        Some(Ok(query)) => query.words(),
        _ => Vec::new(),
    };
    let quoted = |word: &String| format!("\"{word}\"");
    let all = Inside::new(&words.iter().map(quoted).collect::<Vec<_>>().join(" ")).unwrap_or_default();
    let are_together = found.snippet.as_ref().is_some_and(|snippet| all.is_in(&fold(snippet)));
    let first = || words.first().and_then(|word| Inside::new(&quoted(word)).ok());
    if are_together { all } else { first().unwrap_or_default() }
}

/// Switches between the conversation and everything in the files.
pub(super) fn toggle_everything(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(search) = &mut model.search else { return };
    let value = search.line.value();
    let value = match value.strip_prefix("all:") {
        Some(rest) => rest.trim_start().to_string(),
        None => format!("all: {value}"),
    };
    search.line = Edit::new(Purpose::Search, "/", &value);
    changed(model, effects);
}

fn complete_line(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(search) = &mut model.search else { return };
    let Some(Completion { at, options }) = search.completion.take() else { return };
    let Some(option) = options.first() else { return };
    let (value, end) = (search.line.value(), at.start + option.len());
    let value = format!("{}{option}{}", &value[..at.start], &value[at.end..]);
    search.line = Edit::new(Purpose::Search, "/", &value);
    search.line.go_to(value[..end].chars().count());
    changed(model, effects);
}

fn around(model: &Model) -> Around {
    Around { now_ms: model.now, home: model.setting.home.clone(), zone: model.setting.zone.clone() }
}

/// The line is another one.
fn changed(model: &mut Model, effects: &mut Vec<Effect>) {
    if let Some(search) = &mut model.search {
        search.chosen = false;
    }
    note_completion(model);
    ask(model, effects);
}

fn note_completion(model: &mut Model) {
    let Some(search) = &mut model.search else { return };
    let Lists { files, labels, models, tools } = &*model.values;
    let values = Values { dirs: &search.dirs, files, labels, models, tools };
    let value = search.line.value();
    let cursor = value.char_indices().nth(search.line.cursor()).map_or(value.len(), |(at, _)| at);
    search.completion = complete(value, cursor, values);
}

/// Asks for what the line reads as.
fn ask(model: &mut Model, effects: &mut Vec<Effect>) {
    let around = around(model);
    let Some(search) = &mut model.search else { return };
    search.query = Query::parse(search.line.value()).map(Arc::new);
    let Ok(query) = &search.query else { return };
    search.matcher = Arc::new(Matcher::new(query, &around));
    model.requests.search += 1;
    if query.is_empty() {
        search.answered = None;
        model.sessions.answer = None;
        return model.sessions.rebuild(model.setting.glyphs);
    }
    if search.sessions.is_empty() && !model.sessions.progress.finished {
        // Those that are read meanwhile are not shown: most of them would be gone again at once.
        model.sessions.answer = Some(Answer::default());
        return model.sessions.rebuild(model.setting.glyphs);
    }
    let (query, sessions) = (query.clone(), search.sessions.clone());
    effects.push(Effect::Search { search: model.requests.search, query, sessions, around: Box::new(around) });
}

/// Takes the sessions as they are now: their texts are read, and they are searched again.
fn take_sessions(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(search) = &mut model.search else { return };
    model.sessions.is_changed = false;
    search.sessions = model.sessions.wanted();
    let mut seen = HashSet::new();
    let dirs = search.sessions.iter().map(|session| &session.summary.header.cwd);
    search.dirs = dirs.filter(|cwd| !cwd.is_empty() && seen.insert(*cwd)).cloned().collect();
    let total = search.sessions.len();
    search.read = (total > 0).then_some((0, total));
    effects.push(Effect::ReadTexts { sessions: search.sessions.clone() });
}

/// After a message: the list may have changed.
pub(super) fn follow_list(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.search.is_some() && model.sessions.is_changed && model.sessions.progress.finished {
        take_sessions(model, effects);
        ask(model, effects);
    }
    // Somebody went to a session that was not found.
    if model.sessions.answer.is_none() && model.search.as_ref().is_some_and(|search| search.answered.is_some()) {
        model.search = None;
    }
}

/// Some of the texts were read.
pub(super) fn take_read(model: &mut Model, done: usize, total: usize, effects: &mut Vec<Effect>) {
    let Some(search) = &mut model.search else { return };
    search.read = (done < total).then_some((done, total));
    // Everything is not searched in the texts; only what a qualifier asks for may stand there.
    let is_apart = search.query.as_ref().is_ok_and(|query| query.everything);
    if !is_apart || done == total {
        ask(model, effects);
    }
}

/// Takes what the sessions have that qualifiers may ask for.
pub(super) fn take_values(model: &mut Model, values: Arc<Lists>) {
    model.values = values;
    if model.search.as_ref().is_some_and(|search| search.typing) {
        note_completion(model);
    }
}

/// Takes what was found, all of it or `more`.
pub(super) fn take_hits(model: &mut Model, hits: Vec<Found>, more: bool, progress: Option<(usize, usize)>) {
    let Some(search) = &mut model.search else { return };
    let Ok(query) = &search.query else { return };
    let is_new = search.answered.as_ref() != Some(query);
    search.answered = Some(query.clone());
    search.searched = progress;
    let is_chosen = search.chosen;
    let mut answer = model.sessions.answer.take().filter(|_| more && !is_new).unwrap_or_default();
    answer.found.extend(hits.into_iter().map(|found| (found.path.clone(), found)));
    model.sessions.answer = Some(answer);
    model.sessions.rebuild(model.setting.glyphs);
    if !is_chosen {
        model.sessions.select_first_hit();
    }
}

impl Model {
    /// Where the selected session was found.
    pub fn selected_hit(&self) -> Option<&Found> {
        self.sessions.answer.as_ref()?.found.get(&self.sessions.selected_session()?.path)
    }
}

impl Pane {
    /// The next order of what was found: under its projects where all of it is seen at once, the best first, the newest
    /// first.
    pub(super) fn next_order(&mut self) {
        (self.hits_flat, self.newest_first) = match (self.is_flat, self.newest_first) {
            (false, _) => (true, false),
            (true, false) => (true, true),
            (true, true) => (false, false),
        };
    }

    /// Rows of what was found: with their projects and the sessions that they were forked from if all of it is seen at
    /// once, else in their order.
    pub(super) fn show_hits(&mut self, shown: &[usize], glyphs: &Glyphs) {
        let mut ranked: Vec<_> = shown.iter().filter_map(|&at| Some((self.found(at)?.hit.rank(), at))).collect();
        if !self.is_flat && !self.hits_flat && ranked.len() < self.room {
            if !self.is_tied {
                self.families = Families::new(&self.all);
            }
            let above = |at: usize| std::iter::successors(Some(at), |&at| self.families.parents[at]);
            let mut context: Vec<usize> = ranked.iter().flat_map(|&(_, hit)| above(hit)).collect();
            context.sort_unstable();
            context.dedup();
            let dirs: HashSet<&str> = context.iter().map(|&at| self.all[at].header.cwd.as_str()).collect();
            if context.len() + dirs.len() <= self.room {
                self.tie(&context);
                return self.threads(&context, glyphs);
            }
        }
        self.is_flat = true;
        if self.newest_first {
            ranked.sort_by_key(|&(_, at)| std::cmp::Reverse(self.all[at].order_time()));
        } else {
            ranked.sort_unstable();
        }
        let row = |(_, at)| Row::Session { at, prefix: String::new(), below: 0 };
        self.rows = ranked.into_iter().map(row).collect();
    }

    /// How a session was found.
    pub fn found(&self, at: usize) -> Option<&Found> {
        self.answer.as_ref()?.found.get(&self.all[at].path)
    }

    /// Whether a session was found, or nothing is searched.
    pub fn is_hit(&self, at: usize) -> bool {
        self.answer.is_none() || self.found(at).is_some()
    }

    /// Selects the session that was found best, or the newest one.
    pub(super) fn select_first_hit(&mut self) {
        let rank = |row: usize| match self.rows[row] {
            Row::Session { at, .. } => self.found(at).map(|found| found.hit.rank()),
            Row::Project(_) => None,
        };
        let hits = (0..self.rows.len()).filter_map(|row| Some((rank(row)?, row)));
        let row = if self.is_flat { None } else { hits.min().map(|(_, row)| row) };
        self.cursor = Cursor { at: row.unwrap_or(0), top: 0 };
        self.note_selection();
    }

    /// All sessions as a search needs them, the newest first.
    pub fn wanted(&self) -> Arc<[Sought]> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(self.all[at].order_time()));
        let wanted = |at: usize| Sought {
            summary: self.all[at].clone(),
            is_live: self.is_live(at),
            has_forks: self.fork_count(at) > 0,
            is_fork: self.all[at].header.parent_session.is_some(),
        };
        order.into_iter().map(wanted).collect()
    }
}
