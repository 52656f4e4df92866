//! Draws a palette: the input line and the matching rows.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::layers::palette::{Palette, PaletteKind};
use crate::app::model::Model;
use crate::base::numbers::thousands;
use crate::base::text::{Span, Tone, spans_width, width};
use crate::keymap::Action;
use crate::ui::paint::{Painter, both};
use crate::ui::widgets::{ListView, boxed, list, typed};

pub(super) fn draw(frame: &mut Frame<'_>, palette: &Palette, model: &Model, pen: &Painter<'_>) {
    let (keys, nothing) = keys(&palette.kind);
    let Rect { width: columns, height, .. } = palette.area(model.size);
    let room = usize::from(columns.saturating_sub(6));
    let title = match palette.kind {
        // The title begins with a path.
        PaletteKind::Touches { .. } => pen.glyphs().cut_path(&palette.title, room),
        _ => pen.glyphs().cut(&palette.title, room),
    };
    boxed(frame, pen, (columns, height), &title, &foot(keys, model, pen, room));
    let area = palette.list_area(model.size);
    let line = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
    let (shown, all) = palette.counts();
    let is_reading = match palette.kind {
        PaletteKind::Actions => false,
        PaletteKind::Trash | PaletteKind::History => model.past.is_none(),
        PaletteKind::Labels | PaletteKind::Family | PaletteKind::Files(_) | PaletteKind::Touches { .. } => {
            !model.catalog.progress.finished
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
            (false, 0) => nothing,
            (false, _) => "no match",
        };
        return pen.put(frame, Rect { height: 1.min(area.height), ..area }, &[Span::new(Tone::Dim, text)]);
    }
    // The scroll bar is beside the rows.
    let rows =
        ListView { area: Rect { width: area.width + 1, ..area }, cursor: palette.cursor, len: shown, focused: true };
    list(frame, pen, &rows, |at, columns| {
        let (left, right) = palette.drawn(at, columns, pen.glyphs());
        both(&left, &right, columns, pen.glyphs())
    });
}

/// Returns the keys of a palette, and the text if it is empty.
fn keys(kind: &PaletteKind) -> (&'static [(Action, &'static str)], &'static str) {
    use Action::{Accept, Cancel, ClearLabel, RenameLabel};
    match kind {
        PaletteKind::Actions => (&[(Accept, "run"), (Cancel, "close")], "no matching action"),
        PaletteKind::Labels => (
            &[(Accept, "go to entry"), (RenameLabel, "rename"), (ClearLabel, "clear"), (Cancel, "close")],
            "no labels yet; press L in the tree to add one",
        ),
        PaletteKind::Family => (&[(Accept, "show or hide in tree"), (Cancel, "close")], "no session is open"),
        PaletteKind::Trash => (&[(Accept, "restore"), (Cancel, "close")], "pitree's trash is empty"),
        PaletteKind::History => (&[(Accept, "undo"), (Cancel, "close")], "no changes yet"),
        PaletteKind::Files(_) => (&[(Accept, "list entries"), (Cancel, "close")], "no files read or changed by tools"),
        PaletteKind::Touches { .. } => (&[(Accept, "go to entry"), (Cancel, "back")], "no session touched it"),
    }
}

/// Returns the key hints that fit.
fn foot(keys: &[(Action, &str)], model: &Model, pen: &Painter<'_>, columns: usize) -> String {
    let foot = |keys: &[(Action, &str)]| {
        let keys = keys.iter().map(|(action, word)| format!("{}: {word}", model.setting.key(*action)));
        keys.collect::<Vec<_>>().join(&format!(" {} ", pen.glyphs().dot))
    };
    let feet = [foot(keys), foot(&[(Action::Accept, "accept"), (Action::Cancel, "close")])];
    feet.into_iter().find(|foot| width(foot) <= columns).unwrap_or_default()
}
