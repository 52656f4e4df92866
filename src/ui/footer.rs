//! The line at the bottom: what is being typed, the outcome of the last action, or the keys that work here.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::line::Pen;
use crate::app::edit::{Edit, Seeing};
use crate::app::model::{Asking, Model};
use crate::keymap::{Action, Place};
use crate::text::{Span, Tone, spans_width, width};

/// The keys worth a place in the footer, the most wanted first.
fn wanted(place: Place) -> &'static [Action] {
    use Action as A;
    match place {
        Place::Sessions => &[
            A::Help,
            A::Confirm,
            A::Unfold,
            A::NextPane,
            A::NextSort,
            A::Rename,
            A::Delete,
            A::Mark,
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
            A::NextFilter,
            A::Label,
            A::Fork,
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
/// What can be done without sessions.
const NOTHING: &[Action] = &[Action::Help, Action::Reload, Action::Undo, Action::Quit];

/// The words for Enter and Esc while a line is typed, if there is room for them beside it.
const LINE_KEYS: &str = "  enter accepts, esc cancels ";
/// The columns that a line has at least: in front of it, and to have room for other things behind it.
const LEAST: (usize, usize) = (12, 30);

/// A line that is being typed: its end with the cursor is what must be seen.
fn line(frame: &mut Frame<'_>, area: Rect, edit: &Edit, pen: &Pen<'_>) {
    let columns = usize::from(area.width);
    let prompt = format!(" {}", edit.prompt);
    let prompt = pen.glyphs().cut(&prompt, columns.saturating_sub(LEAST.0));
    let room = columns - width(&prompt);
    let keys = if room >= LEAST.1 + LINE_KEYS.len() { LINE_KEYS } else { "" };
    let mut left = vec![Span::new(Tone::Accent, prompt)];
    left.extend(typed(edit, room - keys.len() - 1));
    pen.put_both(frame, area, &left, &[Span::new(Tone::Dim, keys)]);
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
        Action::Back if !model.sessions.marks.is_empty() && model.focus == Place::Sessions => "no marks",
        action => action.word(),
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pen: &Pen<'_>) {
    if let Some(Asking::Line(edit)) = &model.asking {
        return line(frame, area, edit, pen);
    }
    if let Some(notice) = &model.notice {
        return pen.put(frame, area, &[Span::clean(notice.tone, &format!(" {}", notice.text))]);
    }
    let mut spans = vec![Span::new(Tone::Text, " ")];
    let actions = match model.focus {
        _ if super::overlay::nothing_to_show(model) => NOTHING,
        Place::Sessions if !model.sessions.marks.is_empty() => MARKED,
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
