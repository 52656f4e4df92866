//! Keys that the footer shows for the focused place.

use crate::app::flows::picker;
use crate::app::layers::Layer;
use crate::app::layers::answer::ChoiceAction;
use crate::app::layers::file_text::FileTextView;
use crate::app::layers::files::{FilesView, SessionScope};
use crate::app::model::Model;
use crate::app::panes::tree::rows::RowItem;
use crate::base::text::{ASCII, width};
use crate::keymap::{Action, Key, Place};

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
    if !are_seen(model) {
        return Vec::new();
    }
    let mut hints: Vec<KeyHint> = Vec::new();
    for &action in wanted(model).concat().iter().filter(|&&action| does_something(model, action)) {
        // In an input line, character keys insert text.
        let is_over_hits = model.layers.0.is_empty() && is_found(model);
        let takes_no_letter = model.place().takes_text() || (is_over_hits && action == Action::Up);
        let works = |key: &&Key| !(takes_no_letter && key.typed().is_some());
        let Some(&key) = model.setting.config.keymap.keys(action).iter().find(works) else { continue };
        let column = hints.last().map_or(1, |last| last.end() + GAP);
        let hint = KeyHint { key, sign: key.symbol(model.setting.glyphs == ASCII), word: word(model, action), column };
        if hint.end() > usize::from(model.size.0) {
            break;
        }
        hints.push(hint);
    }
    hints
}

/// Returns `true` if the footer shows hints: it has no input line, message or progress.
fn are_seen(model: &Model) -> bool {
    let is_line = matches!(model.layers.top(), Some(Layer::Prompt(_) | Layer::Find(_) | Layer::Search));
    let is_busy = model.layers.0.is_empty() && !model.changes.is_empty();
    !is_line && !is_busy && model.notice.is_none()
}

/// Returns the actions for the footer, most important first.
fn wanted(model: &Model) -> &'static [&'static [Action]] {
    use Action as A;
    match model.place() {
        _ if model.layers.0.is_empty() && model.has_nothing() => &[&[A::Help, A::Reload, A::Undo, A::Quit]],
        Place::Sessions if !model.sessions.marks.is_empty() => &[
            &[A::Help, A::Delete, A::Compare, A::Mark, A::MarkAll],
            &[A::Back, A::Rename, A::Label, A::Search, A::Undo, A::Quit],
        ],
        Place::Sessions if model.search.is_some() => &[
            &[A::Help, A::Confirm, A::Search, A::Up, A::MarkAll, A::Mark, A::Back, A::Delete, A::NextSort],
            &[A::NextPane, A::Rename, A::Copy, A::SearchEverything, A::Palette, A::Undo, A::Quit],
        ],
        Place::Sessions => &[
            &[A::Help, A::Confirm, A::Unfold, A::NextPane, A::Search, A::Projects, A::NextSort, A::Labels, A::Rename],
            &[
                A::Delete,
                A::Mark,
                A::Palette,
                A::Copy,
                A::Undo,
                A::NamedOnly,
                A::ShowPaths,
                A::ShowSubagents,
                A::Archive,
            ],
            &[A::FoldAll, A::UnfoldAll, A::Reload, A::Quit],
        ],
        Place::Tree | Place::Preview if is_searched(model) => {
            &[&[A::Help, A::NextHit, A::PreviousHit, A::Back, A::Find, A::Confirm, A::Quit]]
        }
        Place::Tree if !model.marks.is_empty() => {
            &[&[A::Help, A::Compare, A::Mark, A::Back, A::Confirm], &[A::NextPane, A::Label, A::Fork, A::Quit]]
        }
        Place::Tree => &[
            &[A::Help, A::Confirm, A::NextPane, A::Fold, A::Unfold, A::Follow, A::GoOver, A::Family, A::Find],
            &[A::NextFilter, A::Label, A::Fork, A::Context, A::Palette, A::Labels, A::Files, A::Copy, A::Undo],
            &[A::Compare, A::Mark, A::NextBranchPoint, A::SegmentDown, A::GoToLeaf, A::LabelTimes],
            &[A::SharePreview, A::Zoom, A::Back, A::Quit],
        ],
        Place::Preview => &[
            &[A::Help, A::Down, A::Up, A::NextEntry, A::PreviousEntry, A::Back, A::Find, A::Wrap, A::Pager],
            &[A::Editor, A::Zoom, A::Confirm, A::PageDown, A::NextPane, A::Label, A::Context, A::Copy, A::Quit],
        ],
        // Input lines have their own hints.
        Place::Search | Place::Find | Place::Prompt => &[],
        Place::Palette => &[&[A::Accept, A::CopyPath, A::ListDown, A::ListUp, A::ListPageDown, A::Cancel, A::Help]],
        Place::Labels => &[&[A::Accept, A::RenameLabel, A::ClearLabel, A::ListDown, A::ListUp, A::Cancel, A::Help]],
        Place::Question => &[&[A::Confirm, A::Down, A::Up, A::Back, A::Help]],
        Place::Note => &[&[A::Down, A::Up]],
        Place::Compare => &[
            &[A::Help, A::SideA, A::SideB, A::Confirm, A::FileDifference, A::Label, A::GoToCommon, A::Back],
            &[A::Unfold, A::Fold, A::UnfoldAll, A::FoldAll],
        ],
        Place::Context => &[
            &[A::Help, A::Confirm, A::ResumeHere, A::Fork, A::NextSort],
            &[A::Back, A::Down, A::Up, A::PageDown, A::Quit],
        ],
        Place::Stats => &[
            &[A::Help, A::NextGrouping, A::PreviousPeriod, A::NextPeriod, A::LongerPeriod, A::NextColumn, A::Confirm],
            &[A::Copy, A::Back, A::ShorterPeriod, A::Quit],
        ],
        Place::Space => &[&[A::Help, A::NextGrouping, A::Confirm, A::Back], &[A::Down, A::Up, A::Quit]],
        Place::Files => &[
            &[A::Help, A::Confirm, A::ShowContent, A::DiffState, A::DiffDisk, A::WriteFile, A::Copy, A::Find, A::Mark],
            &[A::AllSessions, A::Back, A::Down, A::Up, A::Quit],
        ],
        Place::FileText => &[
            &[A::Help, A::Down, A::ShowContent, A::DiffState, A::DiffDisk, A::WriteFile, A::Copy, A::NextEntry],
            &[A::PreviousEntry, A::Confirm, A::Back, A::PageDown, A::Quit],
        ],
        Place::Help => &[&[A::Back, A::Down, A::Up, A::PageDown, A::Quit]],
    }
}

/// Returns `true` if an action applies to the selection, or needs none.
fn does_something(model: &Model, action: Action) -> bool {
    use Action as A;
    match model.layers.top() {
        Some(Layer::Note(note)) => return note.text_box(model.size).scrolls(),
        Some(Layer::Palette(palette)) if action == A::CopyPath => {
            return matches!(palette.selected(), Some(row) if matches!(row.action, ChoiceAction::Restore(_)));
        }
        Some(Layer::Files(view)) => return is_for_state(view, action),
        Some(Layer::FileText(view)) => return is_for_text(view, action),
        Some(_) => return true,
        None => {}
    }
    let sessions = &model.sessions;
    let is_row = match model.focus {
        Place::Sessions => sessions.selected_row().is_some(),
        Place::Tree => model.tree.selected_item().is_some(),
        _ => sessions.selected_session().is_some(),
    };
    match action {
        A::Rename | A::Label if model.focus == Place::Sessions && !sessions.marks.is_empty() => true,
        A::Label if model.focus == Place::Sessions => sessions.selected_session().is_some(),
        A::Rename | A::Copy => sessions.selected_session().is_some(),
        A::Label | A::Fork | A::Context => model.meant_entry().is_some(),
        A::Files => sessions.selected_row().is_some(),
        A::Compare if model.focus == Place::Sessions => (1..=2).contains(&sessions.marks.len()),
        A::Delete | A::Mark if model.focus == Place::Sessions && sessions.selected_missing_parent().is_some() => false,
        // A project in a list of hits cannot be folded.
        A::Confirm if is_project(model) => sessions.hits.is_none(),
        A::Projects => sessions.starts_folded(),
        A::Search if !sessions.marks.is_empty() => model.search.is_some(),
        // On the first hit, up returns to the input line.
        A::Up if model.focus == Place::Sessions => sessions.cursor.at == 0,
        A::Confirm
        | A::Delete
        | A::Mark
        | A::MarkAll
        | A::Fold
        | A::Unfold
        | A::FoldAll
        | A::UnfoldAll
        | A::NextBranchPoint
        | A::SegmentDown
        | A::GoToLeaf => is_row,
        A::Follow => model.tree.session.is_some_and(|key| model.catalog.is_live(key)) || model.tree.follows,
        A::GoOver => model.tree.selected_fork().is_some() || is_elsewhere(model),
        A::Family => model.tree.is_whole() || model.tree.session.is_some_and(|key| model.catalog.has_family(key)),
        A::Find | A::NextFilter if model.focus == Place::Tree => model.tree.tree.is_some(),
        _ => true,
    }
}

/// Returns `true` if an action applies to the selected row of files.
fn is_for_state(view: &FilesView, action: Action) -> bool {
    match action {
        Action::ShowContent | Action::DiffState | Action::DiffDisk | Action::WriteFile | Action::Mark => {
            view.selected_state().is_some()
        }
        Action::AllSessions => view.opened_for != SessionScope::All,
        Action::Confirm | Action::Copy => !view.rows.is_empty(),
        _ => true,
    }
}

/// Returns `true` if an action applies to a shown file. That of a comparison of branches has no state in a list.
fn is_for_text(view: &FileTextView, action: Action) -> bool {
    use Action as A;
    let is_of_state = matches!(
        action,
        A::ShowContent
            | A::DiffState
            | A::DiffDisk
            | A::WriteFile
            | A::Copy
            | A::NextEntry
            | A::PreviousEntry
            | A::Confirm
    );
    !is_of_state || view.at.is_some()
}

/// Returns `true` if the selected entry belongs to another session than the open one.
fn is_elsewhere(model: &Model) -> bool {
    let entry = model.tree.selected_entry().and_then(|at| model.tree.entry(at));
    entry.is_some_and(|entry| Some(entry.session) != model.tree.session)
}

/// Returns `true` if a project is selected.
fn is_project(model: &Model) -> bool {
    model.focus == Place::Sessions && model.sessions.selected_project().is_some()
}

/// Returns the word for an action in the current state.
fn word(model: &Model, action: Action) -> &'static str {
    let Some(layer) = model.layers.top() else { return word_in_pane(model, action) };
    match (layer, action) {
        (Layer::Question(question), Action::Confirm) => question.word(),
        (Layer::Question(_), Action::Back) => "cancel",
        (Layer::Files(view), Action::Back) if !view.filter.is_empty() => "clear filter",
        (_, Action::Back) => "close",
        (Layer::Stats(_) | Layer::Space(_), Action::Confirm) => "open",
        (Layer::Files(view), Action::Confirm) if view.selected_state().is_none() => {
            if view.is_unfolded() {
                "fold"
            } else {
                "unfold"
            }
        }
        (Layer::Files(view), Action::Copy) if view.selected_state().is_none() => "copy path",
        (Layer::Files(_), Action::Find) => "filter",
        (Layer::Files(view), Action::AllSessions) if view.scope == SessionScope::All => "fewer sessions",
        (Layer::FileText(_), Action::NextEntry) => "next",
        (Layer::FileText(_), Action::PreviousEntry) => "previous",
        (Layer::Context(_) | Layer::Files(_) | Layer::FileText(_), Action::Confirm) => "go to entry",
        (Layer::Context(_), Action::Fork) => "fork here",
        _ => action.row().word,
    }
}

fn word_in_pane(model: &Model, action: Action) -> &'static str {
    let in_sessions = model.focus == Place::Sessions;
    let is_marked = if in_sessions { !model.sessions.marks.is_empty() } else { !model.marks.is_empty() };
    match action {
        Action::Confirm if toggles(model) == Some(true) => "unfold",
        Action::Confirm if toggles(model) == Some(false) => "fold",
        Action::Confirm if in_sessions && model.sessions.selected_missing_parent().is_some() => "restore",
        Action::Confirm if in_sessions && model.sessions.selected_hit().is_some() && !picker::wants_session(model) => {
            "go to hit"
        }
        Action::Confirm if model.focus == Place::Tree && model.tree.selected_fork().is_some() => "go to fork",
        Action::Confirm if model.setting.picker.is_some() => "choose",
        Action::NextPane => match model.focus {
            Place::Sessions => "tree",
            Place::Tree => "preview",
            _ => "sessions",
        },
        Action::Back if is_searched(model) && (model.focus != Place::Tree || model.tree.has_own_find()) => "end search",
        Action::Search | Action::Up if is_found(model) => "edit query",
        Action::Back if is_found(model) && !is_marked => "end search",
        Action::Follow if model.tree.follows => "stop following",
        Action::Family if model.tree.is_whole() => "this session only",
        Action::Back if is_marked && model.focus != Place::Preview => "unmark all",
        _ => action.row().word,
    }
}

/// Returns whether the selected row is folded, if Enter folds and unfolds it.
fn toggles(model: &Model) -> Option<bool> {
    match model.focus {
        Place::Sessions => is_project(model).then(|| model.sessions.is_folded(model.sessions.cursor.at)),
        Place::Tree => {
            let row = model.tree.rows.list.get(model.tree.cursor.at)?;
            (row.item == RowItem::Inherited).then_some(row.folded)
        }
        _ => None,
    }
}

/// Returns `true` if the list of hits is focused.
fn is_found(model: &Model) -> bool {
    model.focus == Place::Sessions && model.search.is_some()
}

/// Returns `true` if the focused pane has a search.
fn is_searched(model: &Model) -> bool {
    match model.focus {
        Place::Tree => model.tree.find.is_some(),
        Place::Preview => model.preview.is_searched(),
        _ => false,
    }
}
