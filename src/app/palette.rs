//! A box with a line to type in and a list that follows it: actions, labels, files. What is listed comes from the
//! parts that know it; here is how one chooses.

use std::path::{Path, PathBuf};

use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::layout::Rect;

use crate::app::cursor::Cursor;
use crate::app::edit::{Edit, Pressed, Purpose};
use crate::app::message::Effect;
use crate::app::model::Model;
use crate::app::sheet::{largest, middle};
use crate::app::spots::{Spot, Wanted};
use crate::app::update::act;
use crate::app::{labels, outline, search};
use crate::base::fold::fold;
use crate::base::text::{Span, Tone, mark};
use crate::changes::Target;
use crate::config::SavedQuery;
use crate::keymap::{Action, Key};
use crate::search::find::inside::Inside;

/// The largest that the box becomes, in columns and rows.
const LARGEST: (u16, u16) = (116, 32);

/// What a palette is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What can be done here.
    Actions,
    /// The labels of all sessions.
    Labels,
    /// The files that a session, or a project, touched.
    Files,
    /// The entries that touched a file: in the sessions of the palette below, or in all.
    Touches {
        /// The file.
        file: String,
        /// Whether in all.
        everywhere: bool,
    },
}

/// What a row leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// An action is done.
    Act(Action),
    /// Sessions are searched.
    Search(String),
    /// An entry of a session is gone to.
    Entry(PathBuf, Target),
    /// The entries that touched a file are listed.
    File(String),
    /// The same of all sessions.
    Everywhere,
}

/// A row of a palette.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it says.
    pub left: Vec<Span>,
    /// What it says to the right.
    pub right: Vec<Span>,
    /// What stands behind that and is not looked through.
    pub facts: Span,
    /// What it leads to.
    pub leads: Leads,
    folded: String,
}

impl Row {
    /// A row.
    pub fn new(left: Vec<Span>, right: Vec<Span>, facts: Span, leads: Leads) -> Self {
        let folded = fold(&text(&left, &right));
        Self { left, right, facts, leads, folded }
    }
}

fn text(left: &[Span], right: &[Span]) -> String {
    left.iter().chain(right).map(|span| span.text.as_str()).collect()
}

/// A palette.
#[derive(Debug)]
pub struct Palette {
    /// What it is for.
    pub kind: Kind,
    /// The first line; may hold text from files.
    pub title: String,
    /// What is typed.
    pub edit: Edit,
    /// The selected row, of those that match.
    pub cursor: Cursor,
    /// The places that the rows are made of, with their sessions.
    pub spots: Vec<(PathBuf, Spot)>,
    /// Whether more of them are being read.
    pub reading: bool,
    /// The number of the request for them.
    list: u64,
    rows: Vec<Row>,
    /// What is looked for in them.
    words: Inside,
    /// The rows that match, the best first.
    shown: Vec<usize>,
}

impl Palette {
    /// A palette without rows.
    pub fn new(kind: Kind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            edit: Edit::new(Purpose::Query, "", ""),
            cursor: Cursor::default(),
            spots: Vec::new(),
            reading: false,
            list: 0,
            rows: Vec::new(),
            words: Inside::default(),
            shown: Vec::new(),
        }
    }

    /// Lists these rows. The selection stays on what it leads to, unless it stands at the top.
    pub fn list(&mut self, rows: Vec<Row>) {
        let selected = self.selected().filter(|_| self.cursor.at > 0).map(|row| row.leads.clone());
        self.rows = rows;
        self.narrow();
        let Some(selected) = selected else { return };
        // What is gone leaves its place to what follows.
        if let Some(at) = self.shown.iter().position(|&at| self.rows[at].leads == selected) {
            self.cursor.follow(at);
        }
    }

    /// Finds the rows that match what is typed.
    fn narrow(&mut self) {
        self.words = Inside::words(self.edit.value());
        let mut found: Vec<(i64, usize)> =
            (0..self.rows.len()).filter_map(|at| Some((self.words.score(&self.rows[at].folded)?, at))).collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.shown = found.into_iter().map(|(_, at)| at).collect();
    }

    /// How many rows match, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.rows.len())
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&Row> {
        self.shown.get(self.cursor.at).map(|&at| &self.rows[at])
    }

    /// A row of those that match, as it is drawn: what it says to the left and to the right, matches marked.
    pub fn drawn(&self, at: usize) -> (Vec<Span>, Vec<Span>) {
        let Some(row) = self.shown.get(at).map(|&at| &self.rows[at]) else { return Default::default() };
        let marks = self.words.marks(&text(&row.left, &row.right));
        let len: usize = row.left.iter().map(|span| span.text.len()).sum();
        let behind: Vec<_> = marks.iter().filter(|mark| mark.end > len).collect();
        let behind: Vec<_> = behind.into_iter().map(|mark| mark.start.saturating_sub(len)..mark.end - len).collect();
        let mut right = mark(&row.right, &behind);
        right.push(row.facts.clone());
        (mark(&row.left, &marks), right)
    }

    /// Where the box stands.
    pub fn area(terminal: (u16, u16)) -> Rect {
        let (columns, rows) = largest(terminal, LARGEST.0);
        middle(terminal, (columns, rows.min(LARGEST.1)))
    }

    /// Where its list stands: below the line, inside the frame.
    pub fn list_area(terminal: (u16, u16)) -> Rect {
        let Rect { x, y, width, height } = Self::area(terminal);
        Rect::new(x + 2, y + 2, width.saturating_sub(4), height.saturating_sub(3))
    }

    /// Brings the selection into sight.
    pub fn fit(&mut self, terminal: (u16, u16)) {
        self.cursor.fit(self.shown.len(), Self::list_area(terminal).height.into());
    }

    fn go(&mut self, by: isize) {
        self.cursor.go(by, self.shown.len());
    }

    fn typed(&mut self) {
        self.cursor = Cursor::default();
        self.narrow();
    }
}

/// Opens the palette of all that can be done in the pane.
pub(super) fn actions(model: &mut Model) {
    let keymap = &model.setting.keymap;
    let row = |action: &Action| {
        let left = vec![Span::new(Tone::Text, action.help()), Span::new(Tone::Dim, format!("  {}", action.name()))];
        let keys: Vec<String> = keymap.keys(*action).iter().map(Key::to_string).collect();
        Row::new(left, Vec::new(), Span::new(Tone::Accent, keys.join(", ")), Leads::Act(*action))
    };
    let is_here = |action: &&Action| action.places().contains(&model.focus) && **action != Action::Palette;
    let saved = |saved: &SavedQuery| {
        let left = vec![Span::clean(Tone::Text, &saved.name), Span::clean(Tone::Dim, &format!("  {}", saved.query))];
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        Row::new(left, Vec::new(), Span::new(Tone::Accent, key), Leads::Search(saved.query.clone()))
    };
    let saved = model.setting.queries.iter().map(saved);
    let rows = Action::ALL.iter().filter(is_here).map(row).chain(saved).collect();
    let mut palette = Palette::new(Kind::Actions, "Actions");
    palette.list(rows);
    model.palettes.push(palette);
}

/// A key in the palette on top.
pub(super) fn press(model: &mut Model, key: Key, effects: &mut Vec<Effect>) {
    let page = isize::try_from(Palette::list_area(model.size).height.saturating_sub(1).max(1)).unwrap_or(1);
    let Some(palette) = model.palettes.last_mut() else { return };
    let control = key.modifiers().contains(KeyModifiers::CONTROL);
    match (key.code(), control) {
        (KeyCode::Up, _) | (KeyCode::Char('p'), true) => palette.go(-1),
        (KeyCode::Down, _) | (KeyCode::Char('n'), true) => palette.go(1),
        (KeyCode::PageUp, _) => palette.go(-page),
        (KeyCode::PageDown, _) => palette.go(page),
        (KeyCode::Char('d'), true) if palette.kind == Kind::Labels => labels::clear(model, effects),
        (KeyCode::Char('r'), true) if palette.kind == Kind::Labels => labels::rename(model),
        (KeyCode::Char('c'), true) => model.palettes.clear(),
        (KeyCode::Esc, _) if !palette.edit.value().is_empty() => {
            palette.edit = Edit::new(Purpose::Query, "", "");
            palette.typed();
        }
        _ => {
            let before = palette.edit.value().to_string();
            match palette.edit.press(key) {
                Pressed::Accepted => take(model, effects),
                Pressed::Cancelled => drop(model.palettes.pop()),
                Pressed::Editing if palette.edit.value() != before => palette.typed(),
                Pressed::Editing => {}
            }
        }
    }
}

/// Text was pasted into the palette on top.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(palette) = model.palettes.last_mut() {
        palette.edit.paste(text);
        palette.typed();
    }
}

/// The mouse was pressed while a palette was open: twice on a row is Enter, beside the box is Esc.
pub(super) fn click(model: &mut Model, (column, row): (u16, u16), double: bool, effects: &mut Vec<Effect>) {
    let (area, list) = (Palette::area(model.size), Palette::list_area(model.size));
    let Some(palette) = model.palettes.last_mut() else { return };
    if !area.contains((column, row).into()) {
        model.palettes.pop();
    } else if list.contains((column, row).into()) {
        let at = palette.cursor.top + usize::from(row - list.y);
        if at < palette.shown.len() {
            palette.cursor.at = at;
            if double {
                take(model, effects);
            }
        }
    }
}

/// The wheel was turned while a palette was open.
pub(super) fn wheel(model: &mut Model, by: isize) {
    let height = Palette::list_area(model.size).height.into();
    if let Some(palette) = model.palettes.last_mut() {
        palette.cursor.scroll(by, palette.shown.len(), height);
    }
}

/// Enter: what the selected row leads to.
fn take(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(palette) = model.palettes.last() else { return };
    let Some(leads) = palette.selected().map(|row| row.leads.clone()) else { return };
    match leads {
        Leads::Act(action) => {
            model.palettes.clear();
            act(model, action, effects);
        }
        Leads::Search(query) => {
            model.palettes.clear();
            search::open(model, &query, effects);
        }
        Leads::Entry(path, entry) => {
            model.palettes.clear();
            model.go_to_entry(&path, entry);
        }
        Leads::File(file) => outline::open_file(model, &file),
        Leads::Everywhere => outline::open_everywhere(model, effects),
    }
}

/// The files of some sessions, the newest first.
pub(super) fn newest_first(model: &Model, mut sessions: Vec<usize>) -> Vec<PathBuf> {
    let all = &model.sessions.all;
    sessions.sort_by_key(|&at| std::cmp::Reverse(all[at].order_time()));
    sessions.into_iter().map(|at| all[at].path.clone()).collect()
}

/// Asks for the places that the palette on top lists, in these sessions, instead of what was asked for before.
pub(super) fn ask(model: &mut Model, wanted: Wanted, sessions: Vec<usize>, effects: &mut Vec<Effect>) {
    let paths = newest_first(model, sessions);
    ask_in_order(model, wanted, paths, effects);
}

/// The same, of files in an order of their own.
pub(super) fn ask_in_order(model: &mut Model, wanted: Wanted, paths: Vec<PathBuf>, effects: &mut Vec<Effect>) {
    model.requests.list += 1;
    if let Some(palette) = model.palettes.last_mut() {
        palette.reading = !paths.is_empty();
        palette.list = model.requests.list;
    }
    effects.push(Effect::List { list: model.requests.list, wanted, paths });
}

/// Takes places that were read, those of a session in the place of what was known of it; `done` if they were the last.
pub(super) fn take_spots(model: &mut Model, list: u64, (found, done): (Vec<(PathBuf, Vec<Spot>)>, bool)) {
    let Some(at) = model.palettes.iter().position(|palette| palette.list == list) else { return };
    let palette = &mut model.palettes[at];
    palette.reading = !done;
    let is_again = |path: &Path| found.iter().any(|(again, _)| again == path);
    palette.spots.retain(|(path, _)| !is_again(path));
    for (path, spots) in found {
        palette.spots.extend(spots.into_iter().map(|spot| (path.clone(), spot)));
    }
    relist(model, at);
}

/// Makes the rows of a palette anew from its places.
pub(super) fn relist(model: &mut Model, at: usize) {
    let Some(palette) = model.palettes.get(at) else { return };
    let rows = match &palette.kind {
        Kind::Actions => return,
        Kind::Labels => labels::rows(model, &palette.spots),
        Kind::Files => outline::files(model, &palette.spots),
        Kind::Touches { everywhere, .. } => outline::touches(model, &palette.spots, *everywhere),
    };
    model.palettes[at].list(rows);
}
