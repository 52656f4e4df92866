//! Draws a palette: the line that is typed, and the rows that have it.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::app::palette::{Kind, Palette};
use crate::base::numbers::thousands;
use crate::base::text::{Span, Tone, spans_width};
use crate::ui::line::{Pen, both};
use crate::ui::overlay::boxed;
use crate::ui::{List, footer, list};

pub(super) fn draw(frame: &mut Frame<'_>, palette: &Palette, model: &Model, pen: &Pen<'_>) {
    let Rect { width, height, .. } = Palette::area(model.size);
    let room = usize::from(width.saturating_sub(6));
    boxed(frame, pen, (width, height), &pen.glyphs().cut(&palette.title, room), foot(palette, room));
    let area = Palette::list_area(model.size);
    let line = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
    let (shown, all) = palette.counts();
    let counts = match (palette.reading, shown == all) {
        (true, _) => format!(" {} {}", thousands(shown), "so far"),
        (false, true) => format!(" {}", thousands(all)),
        (false, false) => format!(" {} of {}", thousands(shown), thousands(all)),
    };
    let counts = [Span::new(Tone::Dim, counts)];
    let room = usize::from(line.width).saturating_sub(spans_width(&counts) + 2);
    let mut typed = vec![Span::new(Tone::Accent, "> ")];
    typed.extend(footer::typed(&palette.edit, room));
    pen.put_both(frame, line, &typed, &counts);
    if shown == 0 {
        let text = match (palette.reading, all) {
            (true, _) => "reading",
            (false, 0) => nothing(&palette.kind),
            (false, _) => "nothing matches",
        };
        return pen.put(frame, Rect { height: 1.min(area.height), ..area }, &[Span::new(Tone::Dim, text)]);
    }
    // The scroll bar stands beside the rows.
    let rows = List { area: Rect { width: area.width + 1, ..area }, cursor: palette.cursor, len: shown, focused: true };
    list(frame, pen, &rows, |at, columns| {
        let (left, right) = palette.drawn(at);
        both(&left, &right, columns, pen.glyphs())
    });
}

/// The keys, as far as there is room for them.
fn foot(palette: &Palette, columns: usize) -> &'static str {
    let feet: [&str; 2] = match palette.kind {
        Kind::Actions => ["enter does it, esc closes", "enter, esc"],
        Kind::Labels => ["enter goes there, ^r renames, ^d clears, esc closes", "enter, ^r name, ^d clear, esc"],
        Kind::Files => ["enter shows who touched it, esc closes", "enter, esc"],
        Kind::Touches { .. } => ["enter goes there, esc goes back", "enter, esc"],
    };
    feet.into_iter().find(|foot| foot.len() <= columns).unwrap_or_default()
}

/// What is said where there is nothing to list.
fn nothing(kind: &Kind) -> &'static str {
    match kind {
        Kind::Actions => "nothing to do here",
        Kind::Labels => "no label in any session: in the tree, L sets one",
        Kind::Files => "no tool read or changed a file here",
        Kind::Touches { .. } => "no session touched it",
    }
}
