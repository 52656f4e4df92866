//! Draws a full-screen comparison: common entries, branches and the sections below.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Clear;

use crate::app::layers::compare::CompareView;
use crate::app::model::Model;
use crate::app::panes::tree::row_text;
use crate::base::numbers::count;
use crate::base::text::{Span, Tone, width};
use crate::session::compare::description::SIDES;
use crate::ui::paint::{Painter, cut};
use crate::ui::widgets::{ListView, list};

pub(super) fn draw(frame: &mut Frame<'_>, compare: &CompareView, model: &Model, pen: &Painter<'_>) {
    let area = CompareView::area(model.size);
    frame.render_widget(Clear, area);
    let columns = usize::from(area.width);
    let lines = head(compare, model, pen, columns).into_iter().zip(area.rows());
    lines.for_each(|(spans, row)| pen.put(frame, row, &cut(&spans, columns, pen.glyphs())));
    let (body, rows) = (CompareView::body(model.size), &compare.rows);
    let shown = ListView { area: body, cursor: compare.cursor, len: rows.len(), focused: true };
    list(frame, pen, &shown, |at, columns| cut(&rows[at].spans, columns, pen.glyphs()));
    if compare.compared.is_none() {
        pen.put(frame, Rect { height: 1.min(body.height), ..body }, &[Span::new(Tone::Dim, " reading both")]);
    }
}

/// Draws the common part, a line for each branch, and a separator.
fn head(compare: &CompareView, model: &Model, pen: &Painter<'_>, columns: usize) -> [Vec<Span>; 4] {
    let glyphs = pen.glyphs();
    let row = |tree, at, room: usize| row_text::entry(tree, at, &model.setting.home, room, glyphs);
    let compared = compare.compared.as_deref();
    let mut common = vec![Span::new(Tone::Heading, " Compare")];
    if let Some(compared) = compared {
        let shared = count(compared.comparison.shared, "common entry", "common entries");
        common.push(Span::new(Tone::Dim, format!("  {shared}, ending at  ")));
        common.extend(row(&compared.ends[0].tree, compared.comparison.common[0], columns));
    }
    let side = |at: usize| {
        let is_chosen = compare.chosen == at;
        let (mark, tone) = if is_chosen { (&*glyphs.focus, Tone::Accent) } else { (" ", Tone::Text) };
        let title = glyphs.cut(&compare.titles[at], columns / 2);
        let mut spans = vec![Span::new(Tone::Accent, mark), Span::new(tone, format!("{}  {title}", SIDES[at]))];
        if let Some(compared) = compared {
            spans.push(Span::new(Tone::Dim, format!(" {} ", glyphs.dot)));
            let room = columns.saturating_sub(width(&title) + 8);
            match compared.comparison.sides[at].entries {
                0 => spans.push(Span::new(Tone::Dim, "no entries after the common entry")),
                _ => spans.extend(row(&compared.ends[at].tree, compared.comparison.ends[at], room)),
            }
        }
        spans
    };
    [common, side(0), side(1), vec![Span::new(Tone::Dim, glyphs.dash.repeat(columns))]]
}
