//! The line at the bottom: the outcome of the last action, or the keys that work here.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::line::Pen;
use crate::app::model::Model;
use crate::keymap::{Action, Place};
use crate::text::{Span, Tone, spans_width};

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
            A::NextBranchPoint,
            A::SegmentDown,
            A::GoToLeaf,
            A::LabelTimes,
            A::NextPane,
            A::Back,
            A::Quit,
        ],
        Place::Preview => &[A::Help, A::Down, A::Up, A::PageDown, A::Last, A::Confirm, A::NextPane, A::Back, A::Quit],
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pen: &Pen<'_>) {
    if let Some(notice) = &model.notice {
        return pen.put(frame, area, &[Span::clean(notice.tone, &format!(" {}", notice.text))]);
    }
    let mut spans = vec![Span::new(Tone::Text, " ")];
    let is_empty = super::overlay::nothing_to_show(model);
    for &action in if is_empty { &[Action::Help, Action::Reload, Action::Quit] } else { wanted(model.focus) } {
        let Some(key) = model.setting.keymap.keys(action).first() else { continue };
        let hint = [
            Span::new(Tone::Accent, key.symbol(pen.is_ascii())),
            Span::new(Tone::Dim, format!(" {}  ", action.word())),
        ];
        if spans_width(&spans) + spans_width(&hint) > usize::from(area.width) + 2 {
            break;
        }
        spans.extend(hint);
    }
    pen.put(frame, area, &spans);
}
