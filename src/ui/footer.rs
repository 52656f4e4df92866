//! The line at the bottom: what is being typed, the outcome of the last action, or the keys that work here.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::edit::{Edit, Purpose, Seeing};
use crate::app::model::{Asking, Model};
use crate::app::search::Search;
use crate::base::text::{Span, Tone, spans_width, width};
use crate::keymap::{Action, Place};
use crate::ui::line::{Pen, cut};

/// The keys worth a place in the footer, the most wanted first.
fn wanted(place: Place) -> &'static [Action] {
    use Action as A;
    match place {
        Place::Sessions => &[
            A::Help,
            A::Confirm,
            A::Unfold,
            A::NextPane,
            A::Search,
            A::NextSort,
            A::Labels,
            A::Rename,
            A::Delete,
            A::Mark,
            A::Palette,
            A::Copy,
            A::Undo,
            A::NamedOnly,
            A::ShowPaths,
            A::ShowSubagents,
            A::FoldAll,
            A::UnfoldAll,
            A::Reload,
            A::Quit,
        ],
        Place::Tree => &[
            A::Help,
            A::Confirm,
            A::Fold,
            A::Unfold,
            A::Find,
            A::NextFilter,
            A::Label,
            A::Fork,
            A::Palette,
            A::Labels,
            A::Files,
            A::Copy,
            A::Undo,
            A::NextBranchPoint,
            A::SegmentDown,
            A::GoToLeaf,
            A::LabelTimes,
            A::NextPane,
            A::Back,
            A::Quit,
        ],
        Place::Preview => &[
            A::Help,
            A::Down,
            A::Up,
            A::PageDown,
            A::Last,
            A::Find,
            A::Confirm,
            A::NextPane,
            A::Back,
            A::Label,
            A::Copy,
            A::Quit,
        ],
    }
}

/// What can be done with marked sessions.
const MARKED: &[Action] =
    &[Action::Help, Action::Delete, Action::Mark, Action::MarkAll, Action::Back, Action::Undo, Action::Quit];
/// What can be done with hits.
const HITS: &[Action] =
    &[Action::Help, Action::NextHit, Action::PreviousHit, Action::Back, Action::Find, Action::Confirm, Action::Quit];
/// What can be done without sessions.
const NOTHING: &[Action] = &[Action::Help, Action::Reload, Action::Undo, Action::Quit];

/// The columns that a line has at least: in front of it, and to have room for other things behind it.
const LEAST: (usize, usize) = (12, 30);

/// A line that is being typed.
fn line(frame: &mut Frame<'_>, area: Rect, (edit, model): (&Edit, &Model), pen: &Pen<'_>) {
    with_aside(frame, area, edit, aside(edit, model), pen);
}

/// A line that is being typed: its end with the cursor is what must be seen, what stands aside if there is room.
fn with_aside(frame: &mut Frame<'_>, area: Rect, edit: &Edit, aside: Span, pen: &Pen<'_>) {
    let columns = usize::from(area.width);
    let prompt = format!(" {}", edit.prompt);
    let prompt = pen.glyphs().cut(&prompt, columns.saturating_sub(LEAST.0));
    let room = columns - width(&prompt);
    let aside = if aside.tone == Tone::Error || room >= LEAST.1 + width(&aside.text) { aside } else { Span::default() };
    let right = width(&aside.text).min(room / 2);
    let mut left = vec![Span::new(Tone::Accent, prompt)];
    left.extend(typed(edit, room - right - 1));
    pen.put_both(frame, area, &left, &cut(&[aside], right, pen.glyphs()));
}

/// The words for the keys that end a line, or what is wrong with it.
fn aside(edit: &Edit, model: &Model) -> Span {
    let problem = match (&edit.purpose, model.focus) {
        (Purpose::Query, Place::Preview) => model.preview.problem(),
        (Purpose::Query, _) => model.tree.find.as_ref().and_then(|find| find.problem.as_deref()),
        _ => None,
    };
    if let Some(problem) = problem {
        return Span::clean(Tone::Error, &format!("  {problem} "));
    }
    let keys = match (&edit.purpose, model.focus) {
        (Purpose::Query, Place::Tree) => "  enter keeps, tab hides the rest, esc goes back ",
        (Purpose::Query, _) => "  enter keeps, esc goes back ",
        _ => "  enter accepts, esc cancels ",
    };
    Span::new(Tone::Dim, keys)
}

/// What is typed, as far as it is seen in `columns`.
pub(super) fn typed(edit: &Edit, columns: usize) -> [Span; 3] {
    let Seeing { before, under, after } = edit.seeing(columns);
    [Span::new(Tone::Text, before), Span::new(Tone::Cursor, under), Span::new(Tone::Text, after)]
}

/// The word for an action here and now.
fn word(model: &Model, action: Action) -> &'static str {
    match action {
        Action::Confirm if model.setting.picker.is_some() => "choose",
        Action::Back if is_searched(model) => "end search",
        Action::Back if !model.sessions.marks.is_empty() && model.focus == Place::Sessions => "no marks",
        action => action.word(),
    }
}

/// The line of a search: how it may go on, or what is wrong with it, stands behind it.
fn search(frame: &mut Frame<'_>, area: Rect, search: &Search, pen: &Pen<'_>) {
    let hint = match (&search.query, &search.completion) {
        (Err(problem), _) => Span::clean(Tone::Error, &format!("  {problem} ")),
        (_, Some(completion)) => {
            let options = completion.options.iter().take(5).cloned().collect::<Vec<_>>();
            Span::clean(Tone::Dim, &format!("  tab: {} ", options.join("  ")))
        }
        _ => Span::new(Tone::Dim, "  enter goes there, esc clears "),
    };
    with_aside(frame, area, &search.line, hint, pen);
}

/// Whether something is looked for in the pane.
fn is_searched(model: &Model) -> bool {
    match model.focus {
        Place::Sessions => false,
        Place::Tree => model.tree.find.is_some(),
        Place::Preview => model.preview.is_searched(),
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pen: &Pen<'_>) {
    if let Some(Asking::Line(edit)) = &model.asking {
        return line(frame, area, (edit, model), pen);
    }
    if let Some(notice) = &model.notice {
        return pen.put(frame, area, &[Span::clean(notice.tone, &format!(" {}", notice.text))]);
    }
    if let (Some(typing), None) = (model.search.as_ref().filter(|search| search.typing), &model.asking) {
        return search(frame, area, typing, pen);
    }
    let mut spans = vec![Span::new(Tone::Text, " ")];
    let actions = match model.focus {
        _ if crate::ui::overlay::nothing_to_show(model) => NOTHING,
        Place::Sessions if !model.sessions.marks.is_empty() => MARKED,
        _ if is_searched(model) => HITS,
        place => wanted(place),
    };
    for &action in actions {
        let Some(key) = model.setting.keymap.keys(action).first() else { continue };
        let hint = [
            Span::new(Tone::Accent, key.symbol(pen.is_ascii())),
            Span::new(Tone::Dim, format!(" {}  ", word(model, action))),
        ];
        if spans_width(&spans) + spans_width(&hint) > usize::from(area.width) + 2 {
            break;
        }
        spans.extend(hint);
    }
    pen.put(frame, area, &spans);
}
