//! Draws the model context at an entry: summary, share of each type, and messages.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Clear;

use crate::app::layers::context::{ContextView, above, bar};
use crate::base::numbers::{thousands, tokens};
use crate::base::text::{Span, Tone};
use crate::session::prompt::listing::{ContextShare, Listing, ListingRow};
use crate::ui::paint::Painter;
use crate::ui::widgets::{ListView, list};

/// Columns of a share's name, its tokens and its percentage.
const COLUMNS: (usize, usize, usize) = (9, 9, 5);

pub(super) fn draw(frame: &mut Frame<'_>, view: &ContextView, pen: &Painter<'_>) {
    let all = frame.area();
    let area = Rect { height: all.height.saturating_sub(1), ..all };
    frame.render_widget(Clear, area);
    let row = |row: u16| Rect { x: 1, y: row, width: area.width.saturating_sub(2), height: 1 };
    let title = [Span::new(Tone::Accent, "Model context  "), Span::new(Tone::Text, &*view.title)];
    pen.put(frame, row(0), &title);
    match &view.listing {
        None => pen.put(frame, row(1), &[Span::new(Tone::Dim, "reading the entries")]),
        Some(Err(error)) => pen.put(frame, row(1), &[Span::clean(Tone::Error, error)]),
        Some(Ok(listing)) => {
            pen.put(frame, row(1), &[Span::new(Tone::Text, listing.summary(&pen.glyphs().dot))]);
            pen.put(frame, row(2), &cells(listing, row(2).width.into()));
            pen.put(frame, row(3), &legend(listing));
            let above = above(all.height);
            for (line, at) in view.sum.iter().zip(4..above - 1) {
                pen.put(frame, row(at), &[Span::new(Tone::Dim, &**line)]);
            }
            let rule = pen.glyphs().dash.repeat(area.width.into());
            pen.put(frame, Rect { y: above - 1, height: 1, ..area }, &[Span::new(Tone::Dim, rule)]);
            let area = Rect { y: above, height: area.height.saturating_sub(above), ..area };
            let all = listing.estimated_tokens();
            let rows = ListView { area, cursor: view.cursor, len: view.rows.len(), focused: true };
            list(frame, pen, &rows, |at, _| spans(&view.rows[at], all));
            if view.rows.is_empty() {
                let text = " empty conversation; pi adds its own system prompt";
                pen.put(frame, Rect { height: 1.min(area.height), ..area }, &[Span::new(Tone::Dim, text)]);
            }
        }
    }
}

fn tone(share: ContextShare) -> Tone {
    match share {
        ContextShare::System => Tone::Cost,
        ContextShare::Summary => Tone::Summary,
        ContextShare::User => Tone::User,
        ContextShare::Custom => Tone::Label,
        ContextShare::Assistant => Tone::Assistant,
        ContextShare::Tools => Tone::Tool,
    }
}

/// Draws the bar: each share proportional to its tokens, drawn with its letter.
fn cells(listing: &Listing, columns: usize) -> Vec<Span> {
    let cells = bar(&listing.shares, columns)
        .into_iter()
        .zip(ContextShare::ALL.iter().copied())
        .filter(|(cells, _)| *cells > 0);
    cells.map(|(cells, share)| Span::new(tone(share), share.letter().to_string().repeat(cells))).collect()
}

/// Draws the legend: the letters with names and token counts.
fn legend(listing: &Listing) -> Vec<Span> {
    let there = ContextShare::ALL.iter().copied().filter(|share| listing.shares[*share as usize] > 0);
    let told = |share: ContextShare| {
        let taken = tokens(listing.shares[share as usize] as f64);
        let part = part(listing.shares[share as usize], listing.estimated_tokens());
        [
            Span::new(tone(share), format!("{} ", share.letter())),
            Span::new(Tone::Dim, format!("{} {taken} {}   ", share.name(), part.trim_start())),
        ]
    };
    let sum = Span::new(Tone::Dim, format!("sum {}", tokens(listing.estimated_tokens() as f64)));
    there.flat_map(told).chain([sum]).collect()
}

/// Formats a share as a percentage.
fn part(of: u64, all: u64) -> String {
    match 100 * of / all.max(1) {
        0 if of > 0 => "<1%".into(),
        part => format!("{part}%"),
    }
}

fn spans(row: &ListingRow, all: u64) -> Vec<Span> {
    let (name, number, share) = COLUMNS;
    let tokens = row.tokens.map_or(String::new(), |tokens| thousands(tokens as usize));
    let taken = row.tokens.filter(|_| row.why.is_none()).map_or(String::new(), |tokens| part(tokens, all));
    let head = format!(" {} {:name$}{tokens:>number$}{taken:>share$}  ", row.share.letter(), row.share.name());
    match row.why {
        None => vec![Span::new(tone(row.share), head), Span::new(Tone::Text, &*row.text)],
        Some(why) => {
            let text = if row.text.is_empty() { String::new() } else { format!(": {}", row.text) };
            vec![Span::new(Tone::Dim, format!("{head}{}{text}", why.text()))]
        }
    }
}
