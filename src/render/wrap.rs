//! Wraps the lines of a document into rows of a given width. Wrapping is lazy, so that documents of megabytes appear at
//! once. Rows are positions in the lines; no text is copied.
//!
//! Lines break between words. Verbatim lines keep all spaces and have a marker on continuation rows, or scroll
//! horizontally instead of wrapping.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{Tone, truncate_to_width, width};
use crate::render::DocLine;
use crate::render::markdown::QUOTE_BAR;

/// The wrapped part of a document. Callers pass the same lines to each call.
#[derive(Clone, Debug, Default)]
pub struct Wrapped {
    /// The width of a row in columns.
    pub width: usize,
    /// The style of verbatim lines.
    pub style: VerbatimStyle,
    /// The index of the line and the byte offset in it of every [`STORED_INTERVAL`]th row, because a text of megabytes can
    /// have millions.
    rows: Vec<(u32, u32)>,
    /// The number of rows.
    len: usize,
    /// The start of the next row.
    next: RowStart,
}

/// The display of verbatim lines that are longer than a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerbatimStyle {
    /// The marker of continuation rows; empty for none.
    pub continuation: Cow<'static, str>,
    /// The marker at the end of a row that continues to the right.
    pub more: Cow<'static, str>,
    /// `true` to scroll horizontally instead of wrapping.
    pub is_scrolled: bool,
    /// The number of columns scrolled out to the left.
    pub left: usize,
}

/// The minimum width of a pane with continuation markers.
const MIN_MARKER_WIDTH: usize = 12;

/// A row to draw.
#[derive(Debug, Default)]
pub struct VisibleRow<'a> {
    /// The text of the row with its markers and indentation.
    pub pieces: Vec<(Cow<'a, str>, Tone)>,
    /// The index of the line.
    pub line: usize,
    /// The first visible byte of the line.
    pub byte: usize,
    /// The length in bytes of the markers and indentation before it.
    pub lead: usize,
    /// `true` if the line continues to the right.
    pub is_cut: bool,
}

/// The interval of stored rows; rows in between are recomputed.
const STORED_INTERVAL: usize = 4;

/// The start of a row.
#[derive(Clone, Copy, Debug, Default)]
struct RowStart {
    /// The index of the line.
    line: usize,
    position: LinePosition,
    /// The byte offset in the line.
    offset: usize,
}

/// A position in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LinePosition {
    /// The index of the span.
    span: usize,
    /// The byte offset in the text of the span.
    byte: usize,
}

impl Wrapped {
    /// Creates a wrapper to rows of `width` columns.
    pub fn new(width: usize) -> Self {
        Self::with_style(width, VerbatimStyle::default())
    }

    /// Creates a wrapper with the given style of verbatim lines.
    pub(crate) fn with_style(width: usize, style: VerbatimStyle) -> Self {
        Self { width: width.max(1), style, rows: Vec::new(), len: 0, next: RowStart::default() }
    }

    /// Wraps until there are at least `rows` rows or the document ends.
    pub(crate) fn ensure(&mut self, lines: &[DocLine], rows: usize) {
        while self.len < rows && self.step(lines) {}
    }

    /// Wraps until the row with `byte` of line `line` exists or the document ends.
    pub(crate) fn ensure_place(&mut self, lines: &[DocLine], line: usize, byte: usize) {
        while (self.next.line, self.next.offset) <= (line, byte) && self.step(lines) {}
    }

    /// Wraps the whole document.
    pub fn all(&mut self, lines: &[DocLine]) {
        self.ensure(lines, usize::MAX);
    }

    /// Returns the number of rows so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no rows so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns `true` if the whole document is wrapped, so that [`Self::len`] is final.
    pub fn complete(&self, lines: &[DocLine]) -> bool {
        self.next.line >= lines.len()
    }

    /// Returns the start of row `index` as a line index and a byte offset, which stay valid at any width.
    pub fn place(&self, lines: &[DocLine], index: usize) -> Option<(usize, usize)> {
        self.start(lines, index).map(|start| (start.line, start.offset))
    }

    fn start(&self, lines: &[DocLine], index: usize) -> Option<RowStart> {
        let &(line, offset) = self.rows.get(index / STORED_INTERVAL).filter(|_| index < self.len)?;
        let (line, offset) = (line as usize, offset as usize);
        let kept = RowStart { line, position: position_at(lines.get(line)?, offset), offset };
        (0..index % STORED_INTERVAL).try_fold(kept, |start, _| Some(self.after(lines, start)?.1))
    }

    /// Returns the end of the row that starts at `start`, and the start of the next row.
    fn after(&self, lines: &[DocLine], start: RowStart) -> Option<(RowEnd, RowStart)> {
        let cut = self.cut(lines.get(start.line)?, start);
        let next = match cut.next {
            Some(position) => RowStart { line: start.line, position, offset: start.offset + cut.bytes },
            None => RowStart { line: start.line + 1, ..RowStart::default() },
        };
        Some((cut, next))
    }

    /// Returns the index of the row with `byte` of line `line`, or of the last row so far if it is further down.
    pub(crate) fn row_at(&self, lines: &[DocLine], line: usize, byte: usize) -> Option<usize> {
        let mut index =
            self.rows.partition_point(|row| (row.0 as usize, row.1 as usize) <= (line, byte)).checked_sub(1)?
                * STORED_INTERVAL;
        while self.place(lines, index + 1).is_some_and(|place| place <= (line, byte)) {
            index += 1;
        }
        Some(index)
    }

    /// Returns the pieces of row `index` with the indentation of a continuation row. Empty for an empty line and for a row
    /// that does not exist.
    pub fn row<'a>(&'a self, lines: &'a [DocLine], index: usize) -> Vec<(Cow<'a, str>, Tone)> {
        self.shown(lines, index).map_or(Vec::new(), |shown| shown.pieces)
    }

    /// Returns row `index`.
    pub fn shown<'a>(&'a self, lines: &'a [DocLine], index: usize) -> Option<VisibleRow<'a>> {
        let start = self.start(lines, index)?;
        let (line, (cut, _)) = (lines.get(start.line)?, self.after(lines, start)?);
        let (from, to) = (start.position, cut.end);
        let spans = line.spans.iter().enumerate().take(to.span + 1).skip(from.span);
        let texts = spans.map(|(number, span)| {
            let start = if number == from.span { from.byte } else { 0 };
            let end = if number == to.span { to.byte } else { span.text.len() };
            (span.text.get(start..end).unwrap_or_default(), span.tone)
        });
        let texts = texts.filter(|(text, _)| !text.is_empty());
        let mut shown = VisibleRow { line: start.line, byte: start.offset, ..VisibleRow::default() };
        if self.is_unbroken(line) {
            self.put_in_sight(texts, &mut shown);
            return Some(shown);
        }
        if start.offset > 0 {
            shown.pieces = hanging(line, self.indent(line));
            if self.is_signed(line, start) {
                shown.pieces.push((Cow::Borrowed(&*self.style.continuation), Tone::Dim));
                shown.pieces.push((Cow::Borrowed(" "), Tone::Text));
            }
            shown.lead = shown.pieces.iter().map(|(text, _)| text.len()).sum();
        }
        shown.pieces.extend(texts.map(|(text, tone)| (Cow::Borrowed(text), tone)));
        Some(shown)
    }

    /// Adds the visible part of a scrolled line to `shown`.
    fn put_in_sight<'a>(&'a self, texts: impl Iterator<Item = (&'a str, Tone)>, shown: &mut VisibleRow<'a>) {
        let (mut left, mut room) = (self.style.left, self.width);
        for (text, tone) in texts {
            let mut head = truncate_to_width(text, left).len();
            left -= width(&text[..head]);
            if left > 0 && head < text.len() {
                // Half of a wide character is scrolled out.
                let half = cluster_at(text, head);
                let columns = (width(half) - left).min(room);
                (head, left, room) = (head + half.len(), 0, room - columns);
                shown.lead = columns;
                shown.pieces.push((Cow::Owned(" ".repeat(columns)), tone));
            }
            shown.byte += head;
            let rest = &text[head..];
            let part = truncate_to_width(rest, room);
            room -= width(part);
            if !part.is_empty() {
                shown.pieces.push((Cow::Borrowed(part), tone));
            }
            if part.len() < rest.len() {
                shown.is_cut = true;
                break;
            }
        }
        let sign = width(&self.style.more);
        if shown.is_cut && sign > 0 && sign < self.width {
            while room < sign
                && let Some((last, tone)) = shown.pieces.pop()
            {
                let columns = width(&last);
                let kept = truncate_to_width(&last, (columns + room).saturating_sub(sign)).to_owned();
                room += columns - width(&kept);
                if !kept.is_empty() {
                    shown.pieces.push((Cow::Owned(kept), tone));
                }
            }
            shown.pieces.push((Cow::Borrowed(&*self.style.more), Tone::Dim));
        }
    }

    /// Wraps one row. Returns `false` at the end of the document.
    fn step(&mut self, lines: &[DocLine]) -> bool {
        let start = self.next;
        let Some((_, next)) = self.after(lines, start) else { return false };
        if self.len.is_multiple_of(STORED_INTERVAL) {
            // Lines are shorter than 4 GB, because longer ones are not read.
            self.rows.push((start.line as u32, start.offset as u32));
        }
        self.len += 1;
        self.next = next;
        true
    }

    /// Finds the end of a row of `line`.
    fn cut(&self, line: &DocLine, start: RowStart) -> RowEnd {
        if self.is_unbroken(line) {
            return unbroken(line, start.position);
        }
        let sign = if self.is_signed(line, start) { width(&self.style.continuation) + 1 } else { 0 };
        match start.offset {
            0 => end_of_row(line, start.position, self.width, line.indent.into()),
            _ => end_of_row(line, start.position, self.width - self.indent(line) - sign, 0),
        }
    }

    /// Returns `true` if the line is scrolled and never wrapped.
    fn is_unbroken(&self, line: &DocLine) -> bool {
        line.verbatim && self.style.is_scrolled
    }

    /// Returns `true` if a continuation marker precedes the row: the row continues a line and does not follow a line break.
    fn is_signed(&self, line: &DocLine, start: RowStart) -> bool {
        line.verbatim
            && start.offset > 0
            && self.width >= MIN_MARKER_WIDTH
            && !self.style.continuation.is_empty()
            && !follows_line_break(line, start.position)
    }

    /// Returns the indentation of continuation rows, at most half of the width.
    fn indent(&self, line: &DocLine) -> usize {
        usize::from(line.indent).min(self.width / 2)
    }
}

/// Returns `true` if the position directly follows a line break within the line.
fn follows_line_break(line: &DocLine, position: LinePosition) -> bool {
    let own = line.spans.get(position.span).and_then(|span| span.text.get(..position.byte)).unwrap_or_default();
    let before = || line.spans[..position.span].iter().rev().find(|span| !span.text.is_empty());
    if own.is_empty() { before().is_some_and(|span| span.text.ends_with('\n')) } else { own.ends_with('\n') }
}

/// Returns the end of a row that extends to the end of the line or to the next line break within it.
fn unbroken(line: &DocLine, start: LinePosition) -> RowEnd {
    let (mut position, mut bytes) = (start, 0);
    while let Some(span) = line.spans.get(position.span) {
        let rest = span.text.as_bytes().get(position.byte..).unwrap_or_default();
        if let Some(at) = memchr::memchr(b'\n', rest) {
            let end = LinePosition { byte: position.byte + at, ..position };
            return RowEnd { end, next: Some(LinePosition { byte: end.byte + 1, ..end }), bytes: bytes + at + 1 };
        }
        bytes += rest.len();
        position = LinePosition { span: position.span + 1, byte: 0 };
    }
    RowEnd { end: position, next: None, bytes }
}

/// The end of a row.
struct RowEnd {
    end: LinePosition,
    /// The start of the next row of the same line.
    next: Option<LinePosition>,
    /// The number of bytes from the start of this row to the start of the next.
    bytes: usize,
}

/// Converts a byte offset in a line to a position.
fn position_at(line: &DocLine, mut byte: usize) -> LinePosition {
    for (span, text) in line.spans.iter().map(|span| &span.text).enumerate() {
        if byte < text.len() {
            return LinePosition { span, byte };
        }
        byte -= text.len();
    }
    LinePosition { span: line.spans.len(), byte: 0 }
}

/// Finds the end of a row of `columns` that starts at `start`. Normal lines break next to wide characters and at spaces,
/// which are dropped. They never break in the first `lead` columns, the mark of a list or quotation. Verbatim lines keep
/// their spaces, and break after a space if at least half of the row is filled. A row has at least one character, so that
/// wrapping ends at any width. Each character is read at most twice.
fn end_of_row(line: &DocLine, start: LinePosition, columns: usize, lead: usize) -> RowEnd {
    let mut position = start;
    let mut used = 0; // columns
    let mut bytes = 0;
    let mut words = false; // behind the mark and the indentation
    let (mut was_wide, mut was_space) = (false, false);
    let mut spaces: Option<LinePosition> = None; // the start of the run of spaces that the loop is in
    let mut best: Option<RowEnd> = None; // the last place between words
    while let Some(span) = line.spans.get(position.span) {
        let cluster = cluster_at(&span.text, position.byte);
        if cluster.is_empty() {
            position = LinePosition { span: position.span + 1, byte: 0 };
            continue;
        }
        if cluster == "\n" {
            let next = LinePosition { byte: position.byte + 1, ..position };
            return RowEnd { end: spaces.unwrap_or(position), next: Some(next), bytes: bytes + 1 };
        }
        let columns_of = width(cluster);
        let is_space = cluster == " " && !line.verbatim && words;
        if is_space {
            spaces.get_or_insert(position);
        } else {
            if let Some(end) = spaces.take() {
                best = Some(RowEnd { end, next: Some(position), bytes });
            } else if line.verbatim && was_space && cluster != " " && used > columns / 2
                || !line.verbatim && words && (was_wide || columns_of == 2)
            {
                best = Some(RowEnd { end: position, next: Some(position), bytes });
            }
            if used + columns_of > columns && bytes > 0 {
                let best = best.filter(|_| !line.verbatim || cluster != " ");
                return best.unwrap_or(RowEnd { end: position, next: Some(position), bytes });
            }
            words |= cluster != " " && used >= lead;
        }
        (was_wide, was_space) = (columns_of == 2, cluster == " ");
        used += columns_of;
        bytes += cluster.len();
        position.byte += cluster.len();
    }
    RowEnd { end: spaces.unwrap_or(position), next: None, bytes }
}

/// Returns the grapheme cluster at a byte offset; empty at the end.
fn cluster_at(text: &str, at: usize) -> &str {
    let mut bytes = text.as_bytes().iter().skip(at);
    let first = bytes.next().is_some_and(u8::is_ascii);
    if first && bytes.next().is_none_or(u8::is_ascii) {
        return text.get(at..=at).unwrap_or_default(); // nothing joins two ASCII characters: no tables needed
    }
    text.get(at..).and_then(|rest| rest.graphemes(true).next()).unwrap_or_default()
}

/// Returns the start of a continuation row: spaces, and the bars of quotations.
fn hanging(line: &DocLine, indent: usize) -> Vec<(Cow<'_, str>, Tone)> {
    let mut pieces = Vec::new();
    let mut left = indent;
    for span in &line.spans {
        if left == 0 {
            break;
        }
        let start = truncate_to_width(&span.text, left); // not the whole: it may be megabytes
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
    fn lines_break_between_words_or_anywhere_without_spaces() {
        assert_eq!(rows(&[line("the quick brown  fox"), DocLine::default()], 10), ["the quick", "brown  fox", ""]);
        assert_eq!(rows(&[line("abcd   ef  ")], 4), ["abcd", "ef"], "all spaces at a break go");
        assert_eq!(rows(&[line("a abcdefgh")], 4), ["a", "abcd", "efgh"]);
        assert_eq!(rows(&[line("    indented text")], 9), ["    inden", "ted text"], "indentation is no break");
        assert_eq!(rows(&[line("ab漢字漢字")], 5), ["ab漢", "字漢", "字"]);
        assert_eq!(rows(&[line("👩‍👩‍👧👩‍👩‍👧")], 1), ["👩‍👩‍👧", "👩‍👩‍👧"]);
    }

    #[test]
    fn unstyled_lines_contain_line_breaks() {
        let held = |text: &str, verbatim| DocLine { verbatim, spans: vec![Span::new(Tone::Text, text)], indent: 0 };
        for verbatim in [false, true] {
            assert_eq!(rows(&[held("ab\n\ncde\nf\n", verbatim), line("g")], 2), ["ab", "", "cd", "e", "f", "", "g"]);
        }
        let lines = [held(&"\n".repeat(1000), true)];
        let mut wrapped = Wrapped::new(10);
        wrapped.all(&lines);
        assert_eq!((wrapped.len(), wrapped.rows.len() * size_of::<(u32, u32)>()), (1001, 251 * 8));
        for at in [0, 1, 2, 3, 4, 500, 1000] {
            assert_eq!((wrapped.place(&lines, at), wrapped.row_at(&lines, 0, at)), (Some((0, at)), Some(at)));
        }
        assert_eq!(wrapped.place(&lines, 1001), None);
    }

    #[test]
    fn verbatim_lines_keep_spaces() {
        let code = DocLine { verbatim: true, ..line("a b  c") };
        assert_eq!(rows(&[code], 3), ["a b", "  c"]);
    }

    /// Rows with continuation markers or with horizontal scrolling.
    fn shown(lines: &[DocLine], width: usize, (is_scrolled, left): (bool, usize)) -> Vec<String> {
        let style = VerbatimStyle { continuation: "↪".into(), more: "…".into(), is_scrolled, left };
        let mut wrapped = Wrapped::with_style(width, style);
        wrapped.all(lines);
        (0..wrapped.len()).map(|i| wrapped.row(lines, i).iter().map(|(text, _)| text.as_ref()).collect()).collect()
    }

    #[test]
    fn verbatim_continuations_have_markers() {
        let code = |text: &str| DocLine { verbatim: true, ..line(text) };
        assert_eq!(shown(&[code("let value = compute(1);")], 16, (false, 0)), ["let value = ", "↪ compute(1);"]);
        assert_eq!(
            shown(&[code(&"x".repeat(30))], 14, (false, 0)),
            ["x".repeat(14), format!("↪ {}", "x".repeat(12)), "↪ xxxx".into()]
        );
        assert_eq!(shown(&[line("words are not marked")], 12, (false, 0)), ["words are", "not marked"]);
        assert_eq!(shown(&[code("too narrow for it")], 11, (false, 0)), ["too narrow ", "for it"]);
        let held =
            DocLine { verbatim: true, spans: vec![Span::new(Tone::Text, "one\ntwo, which goes on\nthree")], indent: 0 };
        assert_eq!(shown(&[held], 12, (false, 0)), ["one", "two, which ", "↪ goes on", "three"]);
    }

    #[test]
    fn scrolled_lines_show_a_part() {
        let lines = [line("some words that wrap"), DocLine { verbatim: true, ..line("0123456789漢字abcdefghij") }];
        let seen = |left| shown(&lines, 12, (true, left)).pop().unwrap();
        assert_eq!(shown(&lines, 12, (true, 0)), ["some words", "that wrap", "0123456789…"]);
        assert_eq!(
            (seen(5), seen(11), seen(12)),
            ("56789漢字ab…".into(), " 字abcdefgh…".into(), "字abcdefghij".into())
        );
        assert_eq!((seen(20), seen(99)), ("ghij".into(), String::new()));
        let mut wrapped =
            Wrapped::with_style(12, VerbatimStyle { is_scrolled: true, left: 11, ..VerbatimStyle::default() });
        wrapped.all(&lines);
        let row = wrapped.shown(&lines, 2).unwrap();
        assert_eq!((row.line, row.byte, row.lead, row.is_cut), (1, 13, 1, true));
    }

    #[test]
    fn continuations_are_indented_with_quotation_bars() {
        let spans = vec![Span::new(Tone::Quote, QUOTE_BAR), Span::new(Tone::Text, "- one two")];
        let item = DocLine { spans, indent: 4, verbatim: false };
        assert_eq!(rows(std::slice::from_ref(&item), 9), ["│ - one", "│   two"]);
        assert_eq!(rows(std::slice::from_ref(&item), 4), ["│ - ", "│ on", "│ e", "│ tw", "│ o"], "at most half");
    }

    #[test]
    fn wrapping_is_lazy_and_positions_are_found_again() {
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
        fn every_row_fits_whatever_is_in_sight(
            texts in proptest::collection::vec(TEXT, 0..4), columns in 1usize..16, left in 0usize..50, sideways: bool,
        ) {
            let spans: Vec<Span> = texts.iter().map(|text| Span::clean(Tone::Text, text)).collect();
            let lines = [DocLine { spans, indent: 0, verbatim: true }];
            for row in shown(&lines, columns, (sideways, left)) {
                // A letter that is wider than the row is not torn apart.
                let fits = row.graphemes(true).map(width).sum::<usize>() <= columns;
                prop_assert!(fits || row.graphemes(true).count() == 1, "{row:?}");
            }
        }

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
