//! Draws a palette: the line that is typed, and the rows that have it.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::layers::palette::{Palette, PaletteKind};
use crate::app::model::Model;
use crate::base::numbers::thousands;
use crate::base::text::{Span, Tone, spans_width};
use crate::keymap::Action;
use crate::ui::layers::sheet::boxed;
use crate::ui::pen::{Pen, both};
use crate::ui::widgets::{List, list, typed};

pub(super) fn draw(frame: &mut Frame<'_>, palette: &Palette, model: &Model, pen: &Pen<'_>) {
    let Rect { width, height, .. } = Palette::area(model.size);
    let room = usize::from(width.saturating_sub(6));
    let title = match palette.kind {
        // It begins with a path.
        PaletteKind::Touches { .. } => pen.glyphs().cut_start(&palette.title, room),
        _ => pen.glyphs().cut(&palette.title, room),
    };
    boxed(frame, pen, (width, height), &title, &foot(palette, model, room));
    let area = Palette::list_area(model.size);
    let line = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
    let (shown, all) = palette.counts();
    let is_reading = match palette.kind {
        PaletteKind::Actions => false,
        PaletteKind::Trash | PaletteKind::History => model.past.is_none(),
        PaletteKind::Labels | PaletteKind::Family | PaletteKind::Files(_) | PaletteKind::Touches { .. } => {
            !model.library.progress.finished
        }
    };
    let counts = match (is_reading, shown == all) {
        (true, _) => format!(" {} so far", thousands(shown)),
        (false, true) => format!(" {}", thousands(all)),
        (false, false) => format!(" {} of {}", thousands(shown), thousands(all)),
    };
    let counts = [Span::new(Tone::Dim, counts)];
    let room = usize::from(line.width).saturating_sub(spans_width(&counts) + 2);
    let mut left = vec![Span::new(Tone::Accent, "> ")];
    left.extend(typed(&palette.line, room));
    pen.put_both(frame, line, &left, &counts);
    if shown == 0 {
        let text = match (is_reading, all) {
            (true, _) => "reading",
            (false, 0) => nothing(&palette.kind),
            (false, _) => "no match",
        };
        return pen.put(frame, Rect { height: 1.min(area.height), ..area }, &[Span::new(Tone::Dim, text)]);
    }
    // The scroll bar stands beside the rows.
    let rows = List { area: Rect { width: area.width + 1, ..area }, cursor: palette.cursor, len: shown, focused: true };
    list(frame, pen, &rows, |at, columns| {
        let (left, right) = palette.drawn(at, columns, pen.glyphs());
        both(&left, &right, columns, pen.glyphs())
    });
}

/// The keys, as far as there is room for them.
fn foot(palette: &Palette, model: &Model, columns: usize) -> String {
    let key = |action| model.setting.key(action);
    let (accept, cancel) = (key(Action::Accept), key(Action::Cancel));
    let (rename, clear) = (key(Action::RenameLabel), key(Action::ClearLabel));
    let long = match palette.kind {
        PaletteKind::Actions => format!("{accept} runs it, {cancel} closes"),
        PaletteKind::Labels => format!("{accept} goes there, {rename} renames, {clear} clears, {cancel} closes"),
        PaletteKind::Family => format!("{accept} shows it in the tree, or hides it, {cancel} closes"),
        PaletteKind::Trash => format!("{accept} restores it, {cancel} closes"),
        PaletteKind::History => format!("{accept} undoes it, {cancel} closes"),
        PaletteKind::Files(_) => format!("{accept} shows its sessions, {cancel} closes"),
        PaletteKind::Touches { .. } => format!("{accept} goes there, {cancel} goes back"),
    };
    let feet = [long, format!("{accept}, {cancel}")];
    feet.into_iter().find(|foot| foot.len() <= columns).unwrap_or_default()
}

/// What is said where there is nothing to list.
fn nothing(kind: &PaletteKind) -> &'static str {
    match kind {
        PaletteKind::Actions => "no matching action",
        PaletteKind::Labels => "no label in any session: in the tree, L sets one",
        PaletteKind::Family => "no session is open",
        PaletteKind::Trash => "pitree moved nothing to the trash that is not back",
        PaletteKind::History => "pitree changed nothing yet",
        PaletteKind::Files(_) => "no tool read or changed a file here",
        PaletteKind::Touches { .. } => "no session touched it",
    }
}
