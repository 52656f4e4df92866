//! Breaking the lines of a document into rows of a width, only as far as they are needed: a document of megabytes is
//! there at once. Rows are positions in the lines, text is not copied. What the lines say is not looked at here.
//!
//! Words stay whole. Code, and all else that is verbatim, loses no space where it is broken, and a sign tells that it goes
//! on; or it is not broken, and a part of it is in sight.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{Tone, truncate_to_width, width};
use crate::render::DocLine;
use crate::render::markdown::QUOTE_BAR;

/// How far a document has been broken into rows. The lines are passed to each call and must be the same each time.
#[derive(Clone, Debug)]
pub struct Wrapped {
    width: usize,
    way: Way,
    /// Each [`EVERY`]th row: of a text of megabytes there may be millions.
    rows: Vec<Row>,
    /// How many there are.
    len: usize,
    /// Where the next row starts.
    next: Start,
}

/// How verbatim lines are shown that are longer than a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// What stands before a row with which a line goes on; nothing if empty.
    pub goes_on: Cow<'static, str>,
    /// What stands at the end of a row of which more is out of sight.
    pub more: Cow<'static, str>,
    /// Whether they are not broken.
    pub is_sideways: bool,
    /// As many columns of them are out of sight to the left then.
    pub left: usize,
}

/// From this width on there is room for a sign before what goes on.
const SIGNED: usize = 12;

/// A row as it is drawn.
#[derive(Debug, Default)]
pub struct Shown<'a> {
    /// Its text, with what stands before it.
    pub pieces: Vec<(Cow<'a, str>, Tone)>,
    /// The line's number.
    pub line: usize,
    /// The first byte of the line that is in sight.
    pub byte: usize,
    /// The bytes of what stands before that.
    pub lead: usize,
    /// Whether more of it is out of sight to the right.
    pub is_cut: bool,
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
        Self::in_way(width, Way::default())
    }

    /// The same, with verbatim lines shown in some way.
    pub(crate) fn in_way(width: usize, way: Way) -> Self {
        Self { width: width.max(1), way, rows: Vec::new(), len: 0, next: Start::default() }
    }

    /// How verbatim lines are shown.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// Shows what is not broken from another column on.
    pub(crate) fn set_left(&mut self, left: usize) {
        self.way.left = left;
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
        let cut = self.cut(lines.get(start.line)?, start);
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
    pub fn row<'a>(&'a self, lines: &'a [DocLine], index: usize) -> Vec<(Cow<'a, str>, Tone)> {
        self.shown(lines, index).map_or(Vec::new(), |shown| shown.pieces)
    }

    /// Row number `index`, if it is there.
    pub fn shown<'a>(&'a self, lines: &'a [DocLine], index: usize) -> Option<Shown<'a>> {
        let start = self.start(lines, index)?;
        let (line, (cut, _)) = (lines.get(start.line)?, self.after(lines, start)?);
        let (from, to) = (start.spot, cut.end);
        let spans = line.spans.iter().enumerate().take(to.span + 1).skip(from.span);
        let texts = spans.map(|(number, span)| {
            let start = if number == from.span { from.byte } else { 0 };
            let end = if number == to.span { to.byte } else { span.text.len() };
            (span.text.get(start..end).unwrap_or_default(), span.tone)
        });
        let texts = texts.filter(|(text, _)| !text.is_empty());
        let mut shown = Shown { line: start.line, byte: start.offset, ..Shown::default() };
        if self.is_unbroken(line) {
            self.put_in_sight(texts, &mut shown);
            return Some(shown);
        }
        if start.offset > 0 {
            shown.pieces = hanging(line, self.indent(line));
            if self.is_signed(line, start) {
                shown.pieces.push((Cow::Borrowed(&*self.way.goes_on), Tone::Dim));
                shown.pieces.push((Cow::Borrowed(" "), Tone::Text));
            }
            shown.lead = shown.pieces.iter().map(|(text, _)| text.len()).sum();
        }
        shown.pieces.extend(texts.map(|(text, tone)| (Cow::Borrowed(text), tone)));
        Some(shown)
    }

    /// Puts the part of an unbroken row that is in sight into `shown`.
    fn put_in_sight<'a>(&'a self, texts: impl Iterator<Item = (&'a str, Tone)>, shown: &mut Shown<'a>) {
        let (mut left, mut room) = (self.way.left, self.width);
        for (text, tone) in texts {
            let mut head = truncate_to_width(text, left).len();
            left -= width(&text[..head]);
            if left > 0 && head < text.len() {
                // Half of a wide character is out of sight.
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
        let sign = width(&self.way.more);
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
            shown.pieces.push((Cow::Borrowed(&*self.way.more), Tone::Dim));
        }
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

    /// Fills a row of `line`.
    fn cut(&self, line: &DocLine, start: Start) -> Cut {
        if self.is_unbroken(line) {
            return unbroken(line, start.spot);
        }
        let sign = if self.is_signed(line, start) { width(&self.way.goes_on) + 1 } else { 0 };
        match start.offset {
            0 => cut(line, start.spot, self.width, line.indent.into()),
            _ => cut(line, start.spot, self.width - self.indent(line) - sign, 0),
        }
    }

    /// Whether a line is not broken, however long it is.
    fn is_unbroken(&self, line: &DocLine) -> bool {
        line.verbatim && self.way.is_sideways
    }

    /// Whether a sign stands before a row: it goes on with what was broken, and does not follow a line break.
    fn is_signed(&self, line: &DocLine, start: Start) -> bool {
        line.verbatim
            && start.offset > 0
            && self.width >= SIGNED
            && !self.way.goes_on.is_empty()
            && !is_behind_break(line, start.spot)
    }

    /// The columns by which continued rows of `line` are indented: never more than half of the row.
    fn indent(&self, line: &DocLine) -> usize {
        usize::from(line.indent).min(self.width / 2)
    }
}

/// Whether a line break that a line holds is right before a place in it.
fn is_behind_break(line: &DocLine, spot: Spot) -> bool {
    let own = line.spans.get(spot.span).and_then(|span| span.text.get(..spot.byte)).unwrap_or_default();
    let before = || line.spans[..spot.span].iter().rev().find(|span| !span.text.is_empty());
    if own.is_empty() { before().is_some_and(|span| span.text.ends_with('\n')) } else { own.ends_with('\n') }
}

/// A row that ends where the line does, or at a line break that it holds.
fn unbroken(line: &DocLine, start: Spot) -> Cut {
    let (mut spot, mut bytes) = (start, 0);
    while let Some(span) = line.spans.get(spot.span) {
        let rest = span.text.as_bytes().get(spot.byte..).unwrap_or_default();
        if let Some(at) = memchr::memchr(b'\n', rest) {
            let end = Spot { byte: spot.byte + at, ..spot };
            return Cut { end, next: Some(Spot { byte: end.byte + 1, ..end }), bytes: bytes + at + 1 };
        }
        bytes += rest.len();
        spot = Spot { span: spot.span + 1, byte: 0 };
    }
    Cut { end: spot, next: None, bytes }
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
/// beside wide characters, but not within the first `lead` columns, which hold a list's or quotation's mark. Verbatim ones
/// keep their spaces, and are broken behind one if half of the row is filled then. Always takes one character at least, so
/// that any width comes to an end, and looks at none more than twice.
fn cut(line: &DocLine, start: Spot, columns: usize, lead: usize) -> Cut {
    let mut spot = start;
    let mut used = 0; // columns
    let mut bytes = 0;
    let mut words = false; // behind the mark and the indentation
    let (mut was_wide, mut was_space) = (false, false);
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
            } else if line.verbatim && was_space && cluster != " " && used > columns / 2
                || !line.verbatim && words && (was_wide || columns_of == 2)
            {
                best = Some(Cut { end: spot, next: Some(spot), bytes });
            }
            if used + columns_of > columns && bytes > 0 {
                let best = best.filter(|_| !line.verbatim || cluster != " ");
                return best.unwrap_or(Cut { end: spot, next: Some(spot), bytes });
            }
            words |= cluster != " " && used >= lead;
        }
        (was_wide, was_space) = (columns_of == 2, cluster == " ");
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

    /// Rows in a way: code is marked where it goes on, or not broken.
    fn shown(lines: &[DocLine], width: usize, (is_sideways, left): (bool, usize)) -> Vec<String> {
        let way = Way { goes_on: "↪".into(), more: "…".into(), is_sideways, left };
        let mut wrapped = Wrapped::in_way(width, way);
        wrapped.all(lines);
        (0..wrapped.len()).map(|i| wrapped.row(lines, i).iter().map(|(text, _)| text.as_ref()).collect()).collect()
    }

    #[test]
    fn code_is_marked_where_it_goes_on_and_words_stay_whole() {
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
    fn what_is_not_broken_is_seen_in_part() {
        let lines = [line("some words that wrap"), DocLine { verbatim: true, ..line("0123456789漢字abcdefghij") }];
        let seen = |left| shown(&lines, 12, (true, left)).pop().unwrap();
        assert_eq!(shown(&lines, 12, (true, 0)), ["some words", "that wrap", "0123456789…"]);
        assert_eq!(
            (seen(5), seen(11), seen(12)),
            ("56789漢字ab…".into(), " 字abcdefgh…".into(), "字abcdefghij".into())
        );
        assert_eq!((seen(20), seen(99)), ("ghij".into(), String::new()));
        let mut wrapped = Wrapped::in_way(12, Way { is_sideways: true, left: 11, ..Way::default() });
        wrapped.all(&lines);
        let row = wrapped.shown(&lines, 2).unwrap();
        assert_eq!((row.line, row.byte, row.lead, row.is_cut), (1, 13, 1, true));
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
