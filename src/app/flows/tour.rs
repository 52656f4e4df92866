//! The next action that the tour asks for. Each step leads to its action from any state of the browser: it closes boxes,
//! changes the pane and selects a row first. A step that cannot be done asks to skip it.

use ratatui::layout::Rect;

use crate::app::layers::Layer;
use crate::app::model::Model;
use crate::app::panes::tree::rows::RowItem;
use crate::app::title::plain;
use crate::app::tour::{Tour, TourStep};
use crate::app::widgets::text_box::{TextBox, largest};
use crate::base::text::{Span, Tone};
use crate::catalog::SessionKey;
use crate::keymap::{Action, Place};
use crate::render::DocLine;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::resume;

/// Maximum columns of the box, frame included.
const WIDEST: u16 = 46;

/// Letters of a word to search for: minimum and maximum.
const WORD: (usize, usize) = (5, 14);

/// Stands for the key in a sentence.
const KEY: &str = "{}";

/// The action that the tour asks for, and a sentence with `{}` for its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TourHint {
    /// The action.
    pub action: Action,
    /// The sentence.
    sentence: String,
}

fn hint(action: Action, sentence: impl Into<String>) -> TourHint {
    TourHint { action, sentence: sentence.into() }
}

impl TourHint {
    /// Returns the sentence with the key.
    fn line(&self, model: &Model) -> DocLine {
        let (before, after) = self.sentence.split_once(KEY).unwrap_or((&self.sentence, ""));
        let key = Span::new(Tone::Accent, key(model, self.action));
        DocLine { spans: vec![Span::new(Tone::Text, before), key, Span::new(Tone::Text, after)], ..DocLine::default() }
    }
}

/// Returns the key of an action that works in the current place, or how to run it from the command palette.
pub(crate) fn key(model: &Model, action: Action) -> String {
    let setting = &model.setting;
    let key = if model.place().takes_text() { setting.key_in_line(action) } else { setting.key(action) };
    if key == action.row().name { format!("{} {key}", setting.key(Action::Palette)) } else { key }
}

/// The box of the tour.
#[derive(Debug)]
pub struct TourBox {
    /// Step and name.
    pub title: String,
    /// The keys that skip the step and end the tour.
    pub foot: String,
    /// The sentence.
    pub text: TextBox,
    /// Position and size.
    pub area: Rect,
}

/// Returns the box of the running tour. It is at the lower right, or at the upper right if it would cover the selected
/// row.
pub fn tour_box(model: &Model) -> Option<TourBox> {
    let step = model.tour.as_ref()?.step;
    let text = TextBox::new(vec![next(model)?.line(model)], largest(model.size, WIDEST), 0);
    let title = match step {
        TourStep::End => "Tour".into(),
        step => format!("Tour {} of {}: {}", step.number(), TourStep::count(), step.name()),
    };
    let (columns, rows) = model.size;
    let (width, height) = text.size;
    let below = Rect::new(columns - width, rows.saturating_sub(height + 1), width, height);
    let is_covered = selected_row(model).is_some_and(|row| row.intersects(below));
    let area = if is_covered { Rect { y: 2, ..below } } else { below };
    let dot = format!(" {} ", model.setting.glyphs.dot);
    let skip =
        (step != TourStep::End && model.layers.0.is_empty()).then(|| format!("{}: skip", key(model, Action::Tour)));
    let end = ends_with_back(model).then(|| format!("{}: end", key(model, Action::Back)));
    let foot = skip.into_iter().chain(end).collect::<Vec<_>>().join(&dot);
    Some(TourBox { title, foot, text, area })
}

/// Returns the lines of the selected row in the focused pane.
fn selected_row(model: &Model) -> Option<Rect> {
    let body = model.area(model.focus)?.body;
    let (above, lines) = match model.focus {
        Place::Sessions => {
            let pane = &model.sessions;
            let lines = |row: usize| pane.rows.get(row).map_or(0, |row| row.lines());
            ((pane.cursor.top..pane.cursor.at).map(lines).sum(), lines(pane.cursor.at))
        }
        Place::Tree => (model.tree.cursor.at.saturating_sub(model.tree.cursor.top), 1),
        _ => return None,
    };
    let y = body.y.saturating_add(u16::try_from(above).ok()?);
    Some(Rect { y, height: u16::try_from(lines).ok()?, ..body })
}

/// Returns `true` if the key for going back ends the tour. It first closes boxes and input lines, and ends the search and
/// the marks of the focused pane.
pub(crate) fn ends_with_back(model: &Model) -> bool {
    let is_searched = match model.focus {
        Place::Sessions => model.search.is_some() || !model.sessions.marks.is_empty(),
        Place::Tree => model.tree.has_own_find() || !model.marks.is_empty(),
        _ => model.preview.is_searched(),
    };
    model.tour.is_some() && model.layers.0.is_empty() && !is_searched
}

/// Returns the next action of the running tour.
pub fn next(model: &Model) -> Option<TourHint> {
    let tour = model.tour.as_ref()?;
    Some(match tour.step {
        TourStep::End => step_hint(model, tour),
        step => {
            close(model, step).or_else(|| prerequisite(model, tour).err()).unwrap_or_else(|| step_hint(model, tour))
        }
    })
}

/// Asks for the action of the step.
fn step_hint(model: &Model, tour: &Tour) -> TourHint {
    match tour.step {
        TourStep::Fold => hint(Action::Fold, "Press {} to fold this row."),
        TourStep::Filter => {
            let next = model.tree.filter.next().name();
            hint(Action::NextFilter, format!("Press {{}} to change the filter of the tree to {next}."))
        }
        TourStep::Search | TourStep::Hit => hint(Action::Search, "Press {} to search all sessions."),
        TourStep::Fork => {
            hint(Action::Family, "Press {} to show the forks of this session at the entries where they began.")
        }
        TourStep::Context => hint(Action::Context, "Press {} to see what the model receives at this entry."),
        TourStep::Resume => {
            hint(Action::Confirm, "Press {} to see the choices for resuming in pi from this entry; nothing starts yet.")
        }
        TourStep::Undo if tour.has_changed => hint(Action::Undo, "Press {} to undo that; every change can be undone."),
        TourStep::Undo => hint(Action::Label, "Press {} to label this entry; you can undo it next."),
        TourStep::End => hint(Action::Help, "That was the tour: press {} for all keys and the query syntax."),
    }
}

fn skip(why: &str) -> TourHint {
    hint(Action::Tour, format!("{why}: press {{}} to go on."))
}

/// Returns what to do with the layer on top, if it is in the way.
fn close(model: &Model, step: TourStep) -> Option<TourHint> {
    Some(match model.layers.top()? {
        Layer::Search if step == TourStep::Hit => return Some(type_query(model)),
        Layer::Search if step > TourStep::Hit && !model.sessions.rows.is_empty() => {
            hint(Action::Accept, "Press {} to go to the hit.")
        }
        Layer::Prompt(prompt) if step == TourStep::Undo => match prompt.line.value() {
            "" => hint(Action::Accept, "Type tour, then press {} to set the label."),
            _ => hint(Action::Accept, "Press {} to set the label."),
        },
        Layer::Search | Layer::Find(_) | Layer::Prompt(_) => hint(Action::Cancel, "Press {} to leave this line."),
        Layer::Palette(_) => hint(Action::Cancel, "Press {} to close this list."),
        Layer::Context(_) => hint(Action::Back, "Press {} to close the model context."),
        Layer::Stats(_) => hint(Action::Back, "Press {} to close the statistics."),
        Layer::Space(_) => hint(Action::Back, "Press {} to close the space view."),
        Layer::Files(_) => hint(Action::Back, "Press {} to close the list of files."),
        Layer::FileText(_) => hint(Action::Back, "Press {} to close the file."),
        Layer::Question(_) | Layer::Note(_) | Layer::Compare(_) | Layer::Help(_) => {
            hint(Action::Back, "Press {} to close the box.")
        }
    })
}

/// Asks for a query, or to go to its first hit.
fn type_query(model: &Model) -> TourHint {
    let is_empty = model.search.as_ref().is_none_or(|search| search.line.value().trim().is_empty());
    let is_searching = model.search.as_ref().is_some_and(|search| search.answered.as_ref() != Some(&search.query));
    let word = model.tour.as_ref().and_then(|tour| tour.word.as_deref());
    match word {
        Some(word) if is_empty => hint(Action::Accept, format!("Type {word}, then press {{}} to go to the best hit.")),
        None if is_empty => hint(Action::Accept, "Type a word, then press {} to go to the best hit."),
        _ if model.sessions.rows.is_empty() && !is_searching => {
            hint(Action::Cancel, "Nothing was found: press {} to clear the line.")
        }
        _ => hint(Action::Accept, "Press {} to go to the best hit, wherever it is in its tree."),
    }
}

/// Checks that the action of the step is possible; otherwise returns what to do before.
fn prerequisite(model: &Model, tour: &Tour) -> Result<(), TourHint> {
    match tour.step {
        TourStep::Fold => {
            list(model)?;
            foldable_row(model)
        }
        TourStep::Filter if model.tree.session.is_some() && model.area(Place::Tree).is_some() => Ok(()),
        TourStep::Filter => tree(model),
        TourStep::Hit
            if model.search.is_some() && !model.sessions.rows.is_empty() && model.focus == Place::Sessions =>
        {
            Err(hint(Action::Confirm, "Press {} to go to this hit, wherever it is in its tree."))
        }
        TourStep::Search | TourStep::Hit => to_sessions(model),
        TourStep::Fork if model.tree.session.is_some_and(|open| model.catalog.has_family(open)) => tree(model),
        TourStep::Fork => Err(forked_session(model)),
        TourStep::Context => entry(model),
        TourStep::Resume => {
            entry(model)?;
            let Ok((_, tree, at)) = model.whole_entry() else { return Ok(()) };
            let point = resume::at(&tree, at);
            let is_leaf = point.is_here && point.text_of.is_none();
            match is_leaf {
                true if model.tree.cursor.at > 0 => {
                    Err(hint(Action::Up, "Press {} to select an earlier entry: from the leaf, pi starts at once."))
                }
                true => Err(skip("This session has one entry only")),
                false => Ok(()),
            }
        }
        TourStep::Undo if tour.has_changed => Ok(()),
        TourStep::Undo => entry(model),
        TourStep::End => Ok(()),
    }
}

/// Leads to the session list.
fn to_sessions(model: &Model) -> Result<(), TourHint> {
    match model.focus {
        Place::Sessions => Ok(()),
        Place::Tree => Err(hint(Action::PreviousPane, "Press {} to go back to the sessions.")),
        _ => Err(hint(Action::PreviousPane, "Press {} to go back to the tree.")),
    }
}

/// Leads to the session list without a search.
fn list(model: &Model) -> Result<(), TourHint> {
    to_sessions(model)?;
    if model.search.is_some() { Err(hint(Action::Back, "Press {} to end the search.")) } else { Ok(()) }
}

/// Leads to the tree of a session.
fn tree(model: &Model) -> Result<(), TourHint> {
    match model.focus {
        Place::Sessions if model.sessions.rows.is_empty() => Err(skip("No session is listed")),
        Place::Sessions if model.tree.session.is_none() => {
            Err(hint(Action::Unfold, "Press {} to unfold this row and go to its first session."))
        }
        Place::Sessions => Err(hint(Action::Unfold, "Press {} to go into the tree of this session.")),
        Place::Tree => Ok(()),
        _ => Err(hint(Action::PreviousPane, "Press {} to go back to the tree.")),
    }
}

/// Leads to an entry in the tree.
fn entry(model: &Model) -> Result<(), TourHint> {
    tree(model)?;
    if model.tree.selected_entry().is_some() {
        return Ok(());
    }
    let is_entry = |row: usize| matches!(model.tree.rows.list[row].item, RowItem::Entry(_) | RowItem::Run(_));
    let nearest = nearest(model.tree.cursor.at, model.tree.rows.list.len(), is_entry);
    Err(nearest.map_or_else(|| skip("No entry is shown"), |row| go_to(model.tree.cursor.at, row, "an entry")))
}

/// Leads to a row of the session list that can be folded.
fn foldable_row(model: &Model) -> Result<(), TourHint> {
    let (pane, at) = (&model.sessions, model.sessions.cursor.at);
    if pane.is_folded(at) {
        return Err(hint(Action::Unfold, "Press {} to unfold this row."));
    }
    if pane.can_fold(at) {
        return Ok(());
    }
    let row = nearest(at, pane.rows.len(), |row| pane.can_fold(row));
    let row = row.ok_or_else(|| skip("No row of this list can be folded"))?;
    if row < at && pane.project_alone(at).is_none() {
        return Err(hint(Action::Fold, "Press {} to go to the row above this session, which can be folded."));
    }
    Err(go_to(at, row, "a row that can be folded"))
}

/// Leads to a session with forks, or skips the step.
fn forked_session(model: &Model) -> TourHint {
    let (pane, catalog) = (&model.sessions, &model.catalog);
    if !catalog.keys().any(|key| catalog.has_family(key)) {
        return skip("None of these sessions has forks yet");
    }
    if let Err(before) = list(model) {
        return before;
    }
    let is_it = |row: usize| pane.rows[row].session().is_some_and(|key| catalog.has_family(key));
    match nearest(pane.cursor.at, pane.rows.len(), is_it) {
        Some(row) => go_to(pane.cursor.at, row, "a session with forks"),
        None if (0..pane.rows.len()).any(|row| pane.is_folded(row)) => {
            hint(Action::UnfoldAll, "Press {} to unfold all rows.")
        }
        None => skip("The sessions with forks are hidden"),
    }
}

fn go_to(from: usize, row: usize, what: &str) -> TourHint {
    let action = if row < from { Action::Up } else { Action::Down };
    hint(action, format!("Press {{}} to select {what}."))
}

/// Returns the nearest of `len` rows for which a condition holds.
fn nearest(from: usize, len: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    (0..len).filter(|&row| holds(row)).min_by_key(|row| row.abs_diff(from))
}

/// Returns a word that a search will find: from the title of a session with forks if possible, because the next step
/// shows forks.
pub(crate) fn word(model: &Model) -> Option<String> {
    let catalog = &model.catalog;
    let of_tree = || {
        let tree = model.tree.own()?;
        let prompts = tree.nodes.iter().rev().filter(|node| node.kind == EntryKind::User);
        prompts.map(|node| longest_word(&node.text)).find(Option::is_some)?
    };
    let title = |key: SessionKey| longest_word(&plain(catalog.get(key)?));
    let selected = model.tree.session;
    let forked = selected.filter(|&key| catalog.has_family(key));
    let mut listed = model.sessions.rows.iter().filter_map(|row| row.session());
    let forked = forked.or_else(|| listed.find(|&key| catalog.has_family(key) && title(key).is_some()));
    forked.and_then(title).or_else(of_tree).or_else(|| catalog.keys().find_map(title))
}

/// Returns the longest word of a text that is easy to type.
fn longest_word(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().all(char::is_alphabetic));
    let words = words.map(|word| (word.chars().count(), word)).filter(|(len, _)| (WORD.0..=WORD.1).contains(len));
    words.max_by_key(|(len, _)| *len).map(|(_, word)| word.to_lowercase())
}
