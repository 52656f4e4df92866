//! Keys that the footer shows for the focused place.

use crate::app::flows::resume;
use crate::app::model::Model;
use crate::app::panes::reader::sections::Target;
use crate::app::panes::tree::rows::RowItem;
use crate::base::text::{ASCII, width};
use crate::keymap::{Action, Key, KeyContext};

/// A key hint in the footer.
#[derive(Clone, Debug)]
pub struct KeyHint {
    /// The key.
    pub key: Key,
    /// The key as drawn.
    pub sign: String,
    /// A word for the action.
    pub word: &'static str,
    /// Column at which the hint starts.
    pub column: usize,
}

impl KeyHint {
    /// Returns the column after the hint.
    pub fn end(&self) -> usize {
        self.column + width(&self.sign) + 1 + width(self.word)
    }
}

/// Columns between hints.
const GAP: usize = 2;

/// Returns the hints that fit, most important first. Returns none while the footer shows other text.
pub fn hints(model: &Model) -> Vec<KeyHint> {
    let is_busy = model.layers.0.is_empty() && !model.changes.is_empty();
    if is_busy || model.notice.is_some() {
        return Vec::new();
    }
    let columns = usize::from(model.size.0);
    let mut actions = wanted(model).to_vec();
    let help = actions.iter().position(|&action| action == Action::Help);
    // A narrow terminal shows the help early.
    if let Some(at) = help.filter(|&at| at > 1 && columns < 72) {
        actions[1..=at].rotate_right(1);
    }
    let actions = actions.into_iter().filter(|&action| does_something(model, action));
    let mut hints: Vec<(Action, KeyHint)> = actions.filter_map(|action| Some((action, hint(model, action)?))).collect();
    // The last ones give way, but never the way out of a layer.
    let gives_way =
        |(action, _): &(Action, KeyHint)| model.layers.0.is_empty() || !matches!(action, Action::Back | Action::Cancel);
    while 1 + hints.iter().map(|(_, hint)| hint.end() + GAP).sum::<usize>() > columns + GAP
        && let Some(last) = hints.iter().rposition(gives_way)
    {
        hints.remove(last);
    }
    let mut column = 1;
    let placed = |(_, hint)| {
        let hint = KeyHint { column, ..hint };
        column = hint.end() + GAP;
        hint
    };
    hints.into_iter().map(placed).collect()
}

/// Returns the hint of an action, without its column, or `None` if no key of it works.
fn hint(model: &Model, action: Action) -> Option<KeyHint> {
    // In an input line, character keys insert text.
    let is_over_hits = model.layers.0.is_empty() && is_found(model);
    let takes_no_letter = model.key_context().takes_text() || (is_over_hits && action == Action::Up);
    let works = |key: &&Key| !(takes_no_letter && key.typed().is_some());
    let key = *model.settings.config.keymap.keys(action).iter().find(works)?;
    let sign = key.symbol(model.settings.glyphs == ASCII);
    Some(KeyHint { key, sign, word: word(model, action), column: 0 })
}

/// Returns the actions for the footer, most important first.
fn wanted(model: &Model) -> &'static [Action] {
    use Action as A;
    if let Some(layer) = model.layers.top() {
        return layer.screen().hints();
    }
    match model.focus {
        _ if model.has_nothing() => &[A::Help, A::Reload, A::Undo, A::Quit],
        KeyContext::Sessions if !model.sessions.marks.is_empty() => {
            &[A::MenuSelection, A::Mark, A::Delete, A::Compare, A::Back, A::Undo, A::Help, A::Quit]
        }
        KeyContext::Sessions if model.search.is_some() => {
            &[A::Confirm, A::Search, A::Up, A::Mark, A::MenuSelection, A::MenuView, A::Back, A::Help, A::Quit, A::Undo]
        }
        KeyContext::Sessions => &[
            A::Confirm,
            A::NextPane,
            A::Search,
            A::Mark,
            A::MenuSelection,
            A::MenuGoTo,
            A::MenuView,
            A::Help,
            A::Quit,
            A::Undo,
            A::Palette,
        ],
        _ if is_searched(model) => &[A::NextHit, A::PreviousHit, A::Back, A::Find, A::Confirm, A::Help, A::Quit],
        KeyContext::Tree if !model.marks.is_empty() => {
            &[A::Compare, A::Mark, A::Back, A::Confirm, A::NextPane, A::MenuSelection, A::Help, A::Quit]
        }
        KeyContext::Tree => &[
            A::Confirm,
            A::NextPane,
            A::Find,
            A::GoOver,
            A::Mark,
            A::MenuSelection,
            A::MenuGoTo,
            A::MenuView,
            A::Help,
            A::Quit,
            A::Back,
            A::Undo,
            A::Palette,
        ],
        _ => &[
            A::PageDown,
            A::NextPrompt,
            A::NextEntry,
            A::Confirm,
            A::Find,
            A::MenuSelection,
            A::MenuGoTo,
            A::MenuView,
            A::Back,
            A::Help,
            A::Quit,
            A::NextPane,
        ],
    }
}

/// Returns `true` if an action applies to the selection, or needs none.
pub(crate) fn does_something(model: &Model, action: Action) -> bool {
    use Action as A;
    if let Some(layer) = model.layers.top() {
        return layer.screen().offers(action, model.size);
    }
    let sessions = &model.sessions;
    let is_row = match model.focus {
        KeyContext::Sessions => sessions.selected_row().is_some(),
        KeyContext::Tree => model.tree.selected_item().is_some(),
        _ => sessions.selected_session().is_some(),
    };
    match action {
        A::Rename | A::Label if model.focus == KeyContext::Sessions && !sessions.marks.is_empty() => true,
        A::Label if model.focus == KeyContext::Sessions => sessions.selected_session().is_some(),
        A::Rename | A::Copy => sessions.selected_session().is_some(),
        A::Label | A::Fork | A::Context => model.target_entry().is_some(),
        A::Files => sessions.selected_row().is_some(),
        A::SearchEverything => model.search.is_some(),
        A::Machines => !model.machines.known.is_empty(),
        A::MarkedOnly => !sessions.marks.is_empty() || sessions.shows.marked_only,
        A::HereOnly => !model.settings.current_dir.is_empty(),
        A::Compare if model.focus == KeyContext::Sessions => (1..=2).contains(&sessions.marks.len()),
        A::Delete | A::Mark if model.focus == KeyContext::Sessions && sessions.selected_missing_parent().is_some() => {
            false
        }
        // A project in a list of hits cannot be folded.
        A::Confirm if is_project(model) => sessions.hits.is_none(),
        A::Search if !sessions.marks.is_empty() => model.search.is_some(),
        // On the first hit, up returns to the input line.
        A::Up if model.focus == KeyContext::Sessions => sessions.cursor.at == 0,
        A::Confirm | A::Delete | A::Mark | A::MarkAll | A::Fold | A::Unfold | A::FoldAll | A::UnfoldAll => is_row,
        A::NextBranchPoint | A::SegmentDown | A::GoToLeaf => is_row,
        A::Follow => model.tree.session.is_some_and(|key| model.catalog.is_live(key)) || model.tree.follows,
        A::GoOver => model.tree.selected_fork().is_some() || is_elsewhere(model),
        A::Family => model.tree.is_whole() || model.tree.session.is_some_and(|key| model.catalog.has_family(key)),
        A::Find | A::NextFilter if model.focus == KeyContext::Tree => model.tree.tree.is_some(),
        _ => true,
    }
}

/// Returns `true` if the selected entry belongs to another session than the open one.
fn is_elsewhere(model: &Model) -> bool {
    let entry = model.tree.selected_entry().and_then(|at| model.tree.entry(at));
    entry.is_some_and(|entry| Some(entry.session) != model.tree.session)
}

/// Returns `true` if a project is selected.
fn is_project(model: &Model) -> bool {
    model.focus == KeyContext::Sessions && model.sessions.selected_project().is_some()
}

/// Returns the word for an action in the current state.
fn word(model: &Model, action: Action) -> &'static str {
    let Some(layer) = model.layers.top() else { return word_in_pane(model, action) };
    let word = layer.screen().word(action);
    word.unwrap_or(if action == Action::Back { "close" } else { action.row().word })
}

fn word_in_pane(model: &Model, action: Action) -> &'static str {
    let in_sessions = model.focus == KeyContext::Sessions;
    let is_marked = if in_sessions { !model.sessions.marks.is_empty() } else { !model.marks.is_empty() };
    match action {
        Action::Confirm if folded_by_enter(model) == Some(true) => "unfold",
        Action::Confirm if folded_by_enter(model) == Some(false) => "fold",
        Action::Confirm if in_sessions && model.sessions.selected_missing_parent().is_some() => "restore",
        Action::Confirm if in_sessions && model.sessions.selected_hit().is_some() && !resume::wants_session(model) => {
            "go to hit"
        }
        Action::Confirm if model.focus == KeyContext::Tree && model.tree.selected_fork().is_some() => "go to fork",
        Action::Confirm if model.settings.picker.is_some() => "choose",
        Action::Confirm if reader_target(model).is_some() => "open",
        Action::NextEntry if model.focus == KeyContext::Reader && !model.reader.subject.has_card() => "part",
        Action::NextPane => match model.focus {
            KeyContext::Sessions => "tree",
            KeyContext::Tree => "read",
            _ => "sessions",
        },
        Action::Back if is_searched(model) && (model.focus != KeyContext::Tree || model.tree.has_own_find()) => {
            "end search"
        }
        Action::Search | Action::Up if is_found(model) => "edit query",
        Action::Back if is_found(model) && !is_marked => "end search",
        Action::Follow if model.tree.follows => "stop following",
        Action::Family if model.tree.is_whole() => "this session only",
        Action::Back if is_marked && model.focus != KeyContext::Reader => "unmark all",
        _ => action.row().word,
    }
}

/// Returns what Enter does at the selected row of the reader.
pub(crate) fn reader_target(model: &Model) -> Option<Target> {
    let is_reading = model.focus == KeyContext::Reader && model.settings.picker.is_none();
    model.reader.target().filter(|_| is_reading).map(|(.., target)| target)
}

/// Returns whether the selected row is folded, if Enter folds and unfolds it.
fn folded_by_enter(model: &Model) -> Option<bool> {
    match model.focus {
        KeyContext::Sessions => is_project(model).then(|| model.sessions.is_folded(model.sessions.cursor.at)),
        KeyContext::Tree => {
            let row = model.tree.rows.list.get(model.tree.cursor.at)?;
            (row.item == RowItem::Inherited).then_some(row.folded)
        }
        _ => None,
    }
}

/// Returns `true` if the list of hits is focused.
fn is_found(model: &Model) -> bool {
    model.focus == KeyContext::Sessions && model.search.is_some()
}

/// Returns `true` if the focused pane has a search.
fn is_searched(model: &Model) -> bool {
    model.focus != KeyContext::Sessions && model.tree.find.is_some()
}
