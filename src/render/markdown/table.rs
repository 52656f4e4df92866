//! Layout of Markdown tables.

use pulldown_cmark::Alignment;

use crate::base::text::{Span, Tone, UNICODE, spans_width, truncate_to_width, width};

/// The maximum width of a cell in columns; longer cells are truncated.
const MAX_CELL: usize = 40;

/// A table being parsed.
pub(crate) struct Table {
    alignments: Vec<Alignment>,
    /// The complete rows; the first is the header.
    rows: Vec<Vec<Vec<Span>>>,
    /// The current row.
    row: Vec<Vec<Span>>,
}

impl Table {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    /// Appends a cell to the row.
    pub(crate) fn cell(&mut self, spans: Vec<Span>) {
        self.row.push(clipped(spans));
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Returns the lines of the table: the header, a rule, the rows.
    pub(crate) fn lines(self) -> Vec<Vec<Span>> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (cell, most) in row.iter().zip(&mut widths) {
                *most = spans_width(cell).max(*most);
            }
        }
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        for (number, row) in self.rows.into_iter().enumerate() {
            let mut line = Vec::new();
            for (column, (mut cell, most)) in row.into_iter().zip(&widths).enumerate() {
                if column > 0 {
                    line.push(Span::new(Tone::Dim, " │ "));
                }
                if number == 0 {
                    cell.iter_mut().filter(|span| span.tone == Tone::Text).for_each(|span| span.tone = Tone::Strong);
                }
                let room = most.saturating_sub(spans_width(&cell));
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => room,
                    Some(Alignment::Center) => room / 2,
                    _ => 0,
                };
                pad(&mut line, before);
                line.extend(cell);
                pad(&mut line, room - before);
            }
            trim_end(&mut line);
            if !line.is_empty() {
                lines.push(line); // one empty cell would look like the end of the table
            }
            if number == 0 {
                let rule: Vec<String> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
                lines.push(vec![Span::new(Tone::Dim, rule.join("─┼─"))]);
            }
        }
        lines
    }
}

fn pad(line: &mut Vec<Span>, columns: usize) {
    if columns > 0 {
        line.push(Span::new(Tone::Text, " ".repeat(columns)));
    }
}

/// Removes the padding after the last cell, which would only make the line longer.
fn trim_end(line: &mut Vec<Span>) {
    while line.last().is_some_and(|span| span.text.trim_end().is_empty()) {
        line.pop();
    }
    if let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
}

/// Truncates a cell to [`MAX_CELL`].
fn clipped(spans: Vec<Span>) -> Vec<Span> {
    if spans_width(&spans) <= MAX_CELL {
        return spans;
    }
    let mut left = MAX_CELL - width(&UNICODE.ellipsis);
    let mut kept = Vec::new();
    for mut span in spans {
        let fitting = truncate_to_width(&span.text, left).len();
        let whole = fitting == span.text.len();
        span.text.truncate(fitting);
        left -= width(&span.text);
        kept.push(span);
        if !whole {
            break;
        }
    }
    kept.push(Span::new(Tone::Dim, &*UNICODE.ellipsis));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_truncated_between_grapheme_clusters() {
        let cell = clipped(vec![Span::new(Tone::Text, "漢".repeat(15)), Span::new(Tone::Code, "字".repeat(15))]);
        assert_eq!(spans_width(&cell), 39);
        assert_eq!(cell[1].text, "字".repeat(4));
        assert_eq!(cell[2].text, "…");
    }
}
