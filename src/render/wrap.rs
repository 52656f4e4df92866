//! Breaking the lines of a document into rows of a width, only as far as they are needed: a document of megabytes is
//! there at once. Rows are positions in the lines, text is not copied. What the lines say is not looked at here.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{Tone, fit, width};
use crate::render::DocLine;
use crate::render::markdown::QUOTE_BAR;

/// How far a document has been broken into rows. The lines are passed to each call and must be the same each time.
#[derive(Clone, Debug)]
pub struct Wrapped {
    width: usize,
    /// Each [`EVERY`]th row: of a text of megabytes there may be millions.
    rows: Vec<Row>,
    /// How many there are.
    len: usize,
    /// Where the next row starts.
    next: Start,
}

/// One row of so many is kept; those between are found again from it.
const EVERY: usize = 4;

/// Where a row starts, as it is kept.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The line's number.
    line: u32,
    /// The bytes of the line before the row.
    offset: u32,
}

impl Row {
    fn place(self) -> (usize, usize) {
        (self.line as usize, self.offset as usize)
    }
}

/// Where a row starts.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// The line's number.
    line: usize,
    spot: Spot,
    /// The bytes of the line before the row.
    offset: usize,
}

/// A position in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spot {
    /// The span's number in the line.
    span: usize,
    /// The byte in the span's text.
    byte: usize,
}

impl Wrapped {
    /// Nothing wrapped yet, to rows of `width` columns.
    pub fn new(width: usize) -> Self {
        Self { width: width.max(1), rows: Vec::new(), len: 0, next: Start::default() }
    }

    /// The columns of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Wraps on until there are at least `rows` rows or the document ends. Costs only the new rows.
    pub(crate) fn ensure(&mut self, lines: &[DocLine], rows: usize) {
        while self.len < rows && self.step(lines) {}
    }

    /// Wraps on until the row that holds `byte` of line number `line` is there or the document ends.
    pub(crate) fn ensure_place(&mut self, lines: &[DocLine], line: usize, byte: usize) {
        while (self.next.line, self.next.offset) <= (line, byte) && self.step(lines) {}
    }

    /// Wraps the whole document.
    pub fn all(&mut self, lines: &[DocLine]) {
        self.ensure(lines, usize::MAX);
    }

    /// The rows there are so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the document is wrapped to its end, so that [`Self::len`] is final.
    pub fn complete(&self, lines: &[DocLine]) -> bool {
        self.next.line >= lines.len()
    }

    /// Where row number `index` starts: the line's number and the bytes of its text before the row. Stays the same
    /// place of the document at any width.
    pub fn place(&self, lines: &[DocLine], index: usize) -> Option<(usize, usize)> {
        self.start(lines, index).map(|start| (start.line, start.offset))
    }

    fn start(&self, lines: &[DocLine], index: usize) -> Option<Start> {
        let (line, offset) = self.rows.get(index / EVERY).filter(|_| index < self.len)?.place();
        let kept = Start { line, spot: spot_at(lines.get(line)?, offset), offset };
        (0..index % EVERY).try_fold(kept, |start, _| Some(self.after(lines, start)?.1))
    }

    /// The row that starts at a place, and the start of the next one.
    fn after(&self, lines: &[DocLine], start: Start) -> Option<(Cut, Start)> {
        let cut = self.cut(lines.get(start.line)?, start.offset, start.spot);
        let next = match cut.next {
            Some(spot) => Start { line: start.line, spot, offset: start.offset + cut.bytes },
            None => Start { line: start.line + 1, ..Start::default() },
        };
        Some((cut, next))
    }

    /// The number of the row that shows `byte` of line number `line`; the last one so far when it is further down.
    pub(crate) fn row_at(&self, lines: &[DocLine], line: usize, byte: usize) -> Option<usize> {
        let mut index = self.rows.partition_point(|row| row.place() <= (line, byte)).checked_sub(1)? * EVERY;
        while self.place(lines, index + 1).is_some_and(|place| place <= (line, byte)) {
            index += 1;
        }
        Some(index)
    }

    /// The pieces of row number `index`, ready to draw, with the indentation of a continued line. Empty for an empty
    /// line and for a row that is not there.
    pub fn row<'a>(&self, lines: &'a [DocLine], index: usize) -> Vec<(Cow<'a, str>, Tone)> {
        let Some(start) = self.start(lines, index) else { return Vec::new() };
        let (Some(line), Some((cut, _))) = (lines.get(start.line), self.after(lines, start)) else { return Vec::new() };
        let mut pieces = if start.offset > 0 { hanging(line, self.indent(line)) } else { Vec::new() };
        let (from, to) = (start.spot, cut.end);
        for (number, span) in line.spans.iter().enumerate().take(to.span + 1).skip(from.span) {
            let start = if number == from.span { from.byte } else { 0 };
            let end = if number == to.span { to.byte } else { span.text.len() };
            let text = span.text.get(start..end).unwrap_or_default();
            if !text.is_empty() {
                pieces.push((Cow::Borrowed(text), span.tone));
            }
        }
        pieces
    }

    /// The bytes of the indentation in front of the text of row number `index`.
    pub fn lead(&self, lines: &[DocLine], index: usize) -> usize {
        let row = self.place(lines, index).filter(|(_, offset)| *offset > 0);
        let line = row.and_then(|(line, _)| lines.get(line));
        line.map_or(0, |line| hanging(line, self.indent(line)).iter().map(|(text, _)| text.len()).sum())
    }

    /// Adds one row; false at the end of the document.
    fn step(&mut self, lines: &[DocLine]) -> bool {
        let start = self.next;
        let Some((_, next)) = self.after(lines, start) else { return false };
        if self.len.is_multiple_of(EVERY) {
            // A text has less than 4 GB: no line that is read has.
            self.rows.push(Row { line: start.line as u32, offset: start.offset as u32 });
        }
        self.len += 1;
        self.next = next;
        true
    }

    /// Fills the row that starts at a byte of `line`, which is at `spot`.
    fn cut(&self, line: &DocLine, offset: usize, spot: Spot) -> Cut {
        match offset {
            0 => cut(line, spot, self.width, line.indent.into()),
            _ => cut(line, spot, self.width - self.indent(line), 0),
        }
    }

    /// The columns by which continued rows of `line` are indented: never more than half of the row.
    fn indent(&self, line: &DocLine) -> usize {
        usize::from(line.indent).min(self.width / 2)
    }
}

/// Where a row ends.
struct Cut {
    end: Spot,
    /// Where the next row of the same line starts.
    next: Option<Spot>,
    /// The bytes from the start of this row to the start of the next.
    bytes: usize,
}

/// Where a byte of a line is.
fn spot_at(line: &DocLine, mut byte: usize) -> Spot {
    for (span, text) in line.spans.iter().map(|span| &span.text).enumerate() {
        if byte < text.len() {
            return Spot { span, byte };
        }
        byte -= text.len();
    }
    Spot { span: line.spans.len(), byte: 0 }
}

/// Fills one row of `columns` from `start` on. Lines that are not verbatim are broken at spaces, which are dropped, and
/// beside wide characters, but not within the first `lead` columns, which hold a list's or quotation's mark. Always
/// takes one character at least, so that any width comes to an end, and looks at none more than twice.
fn cut(line: &DocLine, start: Spot, columns: usize, lead: usize) -> Cut {
    let mut spot = start;
    let mut used = 0; // columns
    let mut bytes = 0;
    let mut words = false; // behind the mark and the indentation
    let mut was_wide = false;
    let mut spaces: Option<Spot> = None; // the start of the run of spaces that the loop is in
    let mut best: Option<Cut> = None; // the last place between words
    while let Some(span) = line.spans.get(spot.span) {
        let cluster = cluster_at(&span.text, spot.byte);
        if cluster.is_empty() {
            spot = Spot { span: spot.span + 1, byte: 0 };
            continue;
        }
        if cluster == "\n" {
            let next = Spot { byte: spot.byte + 1, ..spot };
            return Cut { end: spaces.unwrap_or(spot), next: Some(next), bytes: bytes + 1 };
        }
        let columns_of = width(cluster);
        let is_space = cluster == " " && !line.verbatim && words;
        if is_space {
            spaces.get_or_insert(spot);
        } else {
            if let Some(end) = spaces.take() {
                best = Some(Cut { end, next: Some(spot), bytes });
            } else if !line.verbatim && words && (was_wide || columns_of == 2) {
                best = Some(Cut { end: spot, next: Some(spot), bytes });
            }
            if used + columns_of > columns && bytes > 0 {
                return best.unwrap_or(Cut { end: spot, next: Some(spot), bytes });
            }
            words |= cluster != " " && used >= lead;
        }
        was_wide = columns_of == 2;
        used += columns_of;
        bytes += cluster.len();
        spot.byte += cluster.len();
    }
    Cut { end: spaces.unwrap_or(spot), next: None, bytes }
}

/// The character, as a person sees it, at a byte of a text; empty at the end.
fn cluster_at(text: &str, at: usize) -> &str {
    let mut bytes = text.as_bytes().iter().skip(at);
    let first = bytes.next().is_some_and(u8::is_ascii);
    if first && bytes.next().is_none_or(u8::is_ascii) {
        return text.get(at..=at).unwrap_or_default(); // nothing joins two ASCII characters: no tables needed
    }
    text.get(at..).and_then(|rest| rest.graphemes(true).next()).unwrap_or_default()
}

/// What a continued row starts with: spaces, with the bars of quotations going on.
fn hanging(line: &DocLine, indent: usize) -> Vec<(Cow<'_, str>, Tone)> {
    let mut pieces = Vec::new();
    let mut left = indent;
    for span in &line.spans {
        if left == 0 {
            break;
        }
        let start = fit(&span.text, left); // not the whole: it may be megabytes
        let whole = start.len() == span.text.len();
        let bars = whole && span.tone == Tone::Quote && start.split(QUOTE_BAR).all(str::is_empty);
        let columns = width(start);
        left -= columns;
        if bars {
            pieces.push((Cow::Borrowed(start), Tone::Quote));
        } else {
            pieces.push((Cow::Owned(" ".repeat(columns)), Tone::Text));
        }
    }
    if left > 0 {
        pieces.push((Cow::Owned(" ".repeat(left)), Tone::Text));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::{Span, clean};
    use proptest::prelude::*;

    fn line(text: &str) -> DocLine {
        DocLine { spans: vec![Span::clean(Tone::Text, text)], ..DocLine::default() }
    }

    fn rows(lines: &[DocLine], width: usize) -> Vec<String> {
        let mut wrapped = Wrapped::new(width);
        wrapped.all(lines);
        assert!(wrapped.complete(lines));
        (0..wrapped.len()).map(|i| wrapped.row(lines, i).iter().map(|(text, _)| text.as_ref()).collect()).collect()
    }

    #[test]
    fn breaks_between_words_and_hard_where_there_is_no_space() {
        assert_eq!(rows(&[line("the quick brown  fox"), DocLine::default()], 10), ["the quick", "brown  fox", ""]);
        assert_eq!(rows(&[line("abcd   ef  ")], 4), ["abcd", "ef"], "all spaces at a break go");
        assert_eq!(rows(&[line("a abcdefgh")], 4), ["a", "abcd", "efgh"]);
        assert_eq!(rows(&[line("    indented text")], 9), ["    inden", "ted text"], "indentation is no break");
        assert_eq!(rows(&[line("ab漢字漢字")], 5), ["ab漢", "字漢", "字"]);
        assert_eq!(rows(&[line("👩‍👩‍👧👩‍👩‍👧")], 1), ["👩‍👩‍👧", "👩‍👩‍👧"]);
    }

    #[test]
    fn a_line_may_hold_lines() {
        let held = |text: &str, verbatim| DocLine { verbatim, spans: vec![Span::new(Tone::Text, text)], indent: 0 };
        for verbatim in [false, true] {
            assert_eq!(rows(&[held("ab\n\ncde\nf\n", verbatim), line("g")], 2), ["ab", "", "cd", "e", "f", "", "g"]);
        }
        let lines = [held(&"\n".repeat(1000), true)];
        let mut wrapped = Wrapped::new(10);
        wrapped.all(&lines);
        assert_eq!((wrapped.len(), wrapped.rows.len() * size_of::<Row>()), (1001, 251 * 8));
        for at in [0, 1, 2, 3, 4, 500, 1000] {
            assert_eq!((wrapped.place(&lines, at), wrapped.row_at(&lines, 0, at)), (Some((0, at)), Some(at)));
        }
        assert_eq!(wrapped.place(&lines, 1001), None);
    }

    #[test]
    fn keeps_code_as_it_is() {
        let code = DocLine { verbatim: true, ..line("a b  c") };
        assert_eq!(rows(&[code], 3), ["a b", "  c"]);
    }

    #[test]
    fn indents_what_goes_on_and_draws_the_bars_on() {
        let spans = vec![Span::new(Tone::Quote, QUOTE_BAR), Span::new(Tone::Text, "- one two")];
        let item = DocLine { spans, indent: 4, verbatim: false };
        assert_eq!(rows(std::slice::from_ref(&item), 9), ["│ - one", "│   two"]);
        assert_eq!(rows(std::slice::from_ref(&item), 4), ["│ - ", "│ on", "│ e", "│ tw", "│ o"], "at most half");
    }

    #[test]
    fn wraps_no_further_than_asked_and_finds_places_again() {
        let lines = [line(&"word ".repeat(10_000)), line("end")];
        let mut wrapped = Wrapped::new(20);
        wrapped.ensure(&lines, 3);
        assert_eq!((wrapped.len(), wrapped.complete(&lines)), (3, false));
        assert_eq!(wrapped.place(&lines, 2), Some((0, 40)));
        let mut other = Wrapped::new(7);
        other.ensure_place(&lines, 0, 40);
        assert_eq!((other.len(), other.row_at(&lines, 0, 40)), (9, Some(8)));
        other.ensure_place(&lines, 1, 0);
        assert_eq!(other.row_at(&lines, 1, 2), Some(10_000));
    }

    /// Text that has everything in it that could go wrong.
    const TEXT: &str = "([ a-z]|漢|👩‍👩‍👧|e\u{301}|\u{301}|\u{1f1e9}\u{1f1ea}|\\PC){0,40}";

    proptest! {
        #[test]
        fn every_row_fits_and_only_spaces_are_lost(
            texts in proptest::collection::vec(TEXT, 0..4), columns in 0usize..12, indent in 0u16..8, verbatim: bool,
        ) {
            let spans: Vec<Span> = texts.iter().map(|text| Span::clean(Tone::Text, text)).collect();
            let lines = [DocLine { spans, indent, verbatim }];
            let mut wrapped = Wrapped::new(columns);
            wrapped.all(&lines);
            let mut shown = String::new();
            for index in 0..wrapped.len() {
                let row: String = wrapped.row(&lines, index).iter().map(|(text, _)| text.as_ref()).collect();
                let columns_of: usize = row.graphemes(true).map(width).sum();
                let body = if index == 0 { &row[..] } else { &row[usize::from(indent).min(columns.max(1) / 2)..] };
                prop_assert!(columns_of <= columns.max(1) || body.graphemes(true).count() == 1, "{row:?}");
                prop_assert_eq!(wrapped.row_at(&lines, 0, wrapped.place(&lines, index).unwrap().1), Some(index));
                shown.push_str(body);
            }
            let whole = clean(&texts.concat()).into_owned();
            if verbatim {
                prop_assert_eq!(shown, whole);
            } else {
                prop_assert_eq!(shown.replace(' ', ""), whole.replace(' ', ""));
            }
        }
    }
}
