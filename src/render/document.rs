//! Builder for documents. Spans and lines take a multiple of the memory of their text, so only a limited amount of a
//! document is styled. The rest is shown as plain text.

use std::borrow::Cow;
use std::time::Duration;

use crate::base::ansi;
use crate::base::numbers;
use crate::base::text::{Span, Tone, clean_lines, clean_text, spans_text};
use crate::render::{DocImage, DocLine, Fold, FoldedLines, code, diff, markdown, plain};
use crate::session::json::value::readable;

/// The maximum number of styled bytes in a document. pi truncates tool output at 50 KB.
const MAX_STYLED_BYTES: usize = 128 * 1024;

/// The size in bytes from which a text of one tone is stored unstyled.
const LONG_TEXT_BYTES: usize = 16 * 1024;

/// The size in bytes of a line with unstyled text. Small, because finding a row scans the line.
const UNSTYLED_LINE_BYTES: usize = 4 * 1024;

/// A document being built.
pub(crate) struct Document<'a> {
    lines: Vec<DocLine>,
    /// The number of bytes that can still be styled.
    left: usize,
    code: code::HighlightBudget<'a>,
    /// The source text, if the document is built without styles.
    raw: Option<String>,
    folds: Vec<Fold>,
    images: Vec<DocImage>,
}

impl<'a> Document<'a> {
    /// Creates an empty document. `clock` returns the time spent on it so far.
    pub(crate) fn new(clock: &'a dyn Fn() -> Duration) -> Self {
        Self {
            lines: Vec::new(),
            left: MAX_STYLED_BYTES,
            code: code::HighlightBudget::new(clock),
            raw: None,
            folds: Vec::new(),
            images: Vec::new(),
        }
    }

    /// Creates an empty document that stores source text without styles.
    pub(crate) fn raw(clock: &'a dyn Fn() -> Duration) -> Self {
        Self { raw: Some(String::new()), ..Self::new(clock) }
    }

    /// Returns the source text, sanitized except for line breaks and tabs.
    pub(crate) fn into_text(self) -> String {
        clean_text(&ansi::strip(&self.raw.unwrap_or_default()))
    }

    /// Appends source text in a document without styles. Returns `false` in a styled document.
    fn take_raw(&mut self, text: &str) -> bool {
        let Some(raw) = &mut self.raw else { return false };
        raw.push_str(text.strip_suffix('\n').unwrap_or(text));
        raw.push('\n');
        true
    }

    /// Returns the styled lines without trailing blank lines.
    pub(crate) fn into_folded(mut self) -> FoldedLines {
        while self.lines.last().is_some_and(|line| line.spans.is_empty()) {
            self.lines.pop();
        }
        let len = self.lines.len();
        self.folds.iter_mut().for_each(|fold| fold.end = fold.end.min(len));
        self.folds.retain(|fold| fold.title + 1 < fold.end);
        FoldedLines { lines: self.lines, folds: self.folds, images: self.images }
    }

    /// Returns `true` if the document stores source text.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw.is_some()
    }

    /// Appends the line of an image.
    pub(crate) fn image(&mut self, line: DocLine, pixels: [usize; 2], png: &str) {
        self.images.push(DocImage { line: self.lines.len(), pixels, png: png.into() });
        self.push(line);
    }

    /// Appends a title and a part that can be folded below it.
    pub(crate) fn fold(&mut self, title: DocLine, is_open: bool, content: impl FnOnce(&mut Self)) {
        let (line, place) = (self.lines.len(), self.folds.len());
        self.push(title);
        self.folds.push(Fold { title: line, end: 0, is_open });
        content(self);
        self.folds[place].end = self.lines.len();
    }

    /// Appends a line.
    pub(crate) fn push(&mut self, line: DocLine) {
        match &self.raw {
            Some(_) => drop(self.take_raw(&spans_text(&line.spans))),
            None => self.lines.push(line),
        }
    }

    /// Appends a line of one tone.
    pub(crate) fn title(&mut self, tone: Tone, text: &str) {
        self.push(DocLine::new(tone, text));
    }

    /// Appends Markdown.
    pub(crate) fn markdown(&mut self, text: &str) {
        let text = &ansi::strip(text);
        let may = |to: &mut Self| to.take_or_note(text, "without Markdown");
        self.styled(text, (Tone::Text, false), may, |to| to.lines.extend(markdown::markdown(text, &mut to.code)));
    }

    /// Appends text of one tone. `verbatim` text is broken at the edge of the pane, other text between words.
    pub(crate) fn plain(&mut self, tone: Tone, text: &str, verbatim: bool) {
        let lines = || colored(tone, text).into_iter().map(|line| DocLine { verbatim, ..line });
        let long = if text.len() < LONG_TEXT_BYTES { Cow::Borrowed(text) } else { ansi::strip(text) };
        let may = |to: &mut Self| text.len() < LONG_TEXT_BYTES && to.take(text);
        self.styled(&long, (tone, verbatim), may, |to| to.lines.extend(lines()));
    }

    /// Appends source code, and highlights its beginning.
    pub(crate) fn code(&mut self, language: &str, text: &str) {
        let end = match text.get(..text.floor_char_boundary(code::MAX_BYTES)) {
            Some(start) if text.len() > 2 * LONG_TEXT_BYTES => start.rfind('\n').map_or(0, |at| at + 1),
            _ => text.len(),
        };
        let (start, rest) = text.split_at(end);
        self.styled(
            text,
            (Tone::Text, true),
            |to| to.take(start),
            |to| {
                to.lines.extend(code::highlight(language, start, &mut to.code).into_iter().map(DocLine::verbatim));
                to.push_unstyled(Tone::Text, rest, true);
            },
        );
    }

    /// Appends JSON, pretty-printed unless it is long.
    pub(crate) fn json(&mut self, raw: &[u8]) {
        self.code("json", &readable(raw));
    }

    /// Appends text in diff format.
    pub(crate) fn diff(&mut self, text: &str) {
        let may = |to: &mut Self| to.take_or_note(text, "without colors");
        self.styled(text, (Tone::Text, true), may, |to| to.lines.extend(diff::styled(text)));
    }

    /// Appends a text: as source text in a document without styles, styled by `style` if `may` permits, otherwise unstyled.
    fn styled(
        &mut self,
        text: &str,
        (tone, verbatim): (Tone, bool),
        may: impl FnOnce(&mut Self) -> bool,
        style: impl FnOnce(&mut Self),
    ) {
        if self.take_raw(text) {
            return;
        }
        if may(self) { style(self) } else { self.push_unstyled(tone, text, verbatim) }
    }

    /// Returns `true` if the text can still be styled, and reduces the remaining budget.
    fn take(&mut self, text: &str) -> bool {
        let left = self.left.checked_sub(text.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Like [`Self::take`], but notes in the document that a text exceeds the budget.
    fn take_or_note(&mut self, text: &str, how: &str) -> bool {
        let may = self.take(text);
        if !may {
            self.title(Tone::Dim, &format!("({}: shown {how})", numbers::bytes(text.len() as u64)));
        }
        may
    }

    /// Appends unstyled text in lines of [`UNSTYLED_LINE_BYTES`].
    fn push_unstyled(&mut self, tone: Tone, text: &str, verbatim: bool) {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if text.is_empty() || self.take_raw(text) {
            return;
        }
        let mut piece = String::new();
        let mut written = |piece: &mut String| {
            let spans = vec![Span::new(tone, piece.as_str())];
            self.lines.push(DocLine { spans, indent: 0, verbatim });
            piece.clear();
        };
        let mut is_first = true;
        for line in clean_lines(text) {
            match () {
                () if std::mem::take(&mut is_first) => {}
                () if piece.len() >= UNSTYLED_LINE_BYTES => written(&mut piece),
                () => piece.push('\n'),
            }
            piece.push_str(&line);
        }
        written(&mut piece);
    }
}

/// Returns the lines of a text with the colors of its escape sequences.
fn colored(tone: Tone, text: &str) -> Vec<DocLine> {
    if !ansi::has_sequences(text) {
        return plain(tone, text);
    }
    let mut lines = vec![DocLine::default()];
    for (tone, part) in ansi::styled(text.strip_suffix('\n').unwrap_or(text), tone) {
        for (at, line) in part.split('\n').enumerate() {
            if at > 0 {
                lines.push(DocLine::default());
            }
            let spans = lines.last_mut().map(|line| &mut line.spans);
            spans.into_iter().filter(|_| !line.is_empty()).for_each(|spans| spans.push(Span::clean(tone, line)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(make: impl FnOnce(&mut Document<'_>)) -> Vec<DocLine> {
        let clock = || Duration::ZERO;
        let mut document = Document::new(&clock);
        make(&mut document);
        document.into_folded().lines
    }

    /// Returns the approximate memory of the lines in bytes.
    fn kept(lines: &[DocLine]) -> usize {
        let span = |span: &Span| size_of::<Span>() + span.text.capacity();
        lines.iter().map(|line| size_of::<DocLine>() + line.spans.iter().map(span).sum::<usize>()).sum()
    }

    fn text(lines: &[DocLine]) -> String {
        let line = |line: &DocLine| line.spans.iter().map(|span| span.text.as_str()).collect::<String>();
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn long_texts_take_little_more_memory_than_their_bytes() {
        for line in ["a\n", "\n", "- *a* `b`\n", "|a|b|\n", "{\"a\":[]}\n", "+a\n-b\n", "x"] {
            let long = line.repeat(600_000 / line.len());
            let all: [fn(&mut Document<'_>, &str); 5] = [
                |to, text| to.markdown(text),
                |to, text| to.plain(Tone::Text, text, true),
                |to, text| to.code("rs", text),
                |to, text| to.json(text.as_bytes()),
                |to, text| to.diff(text),
            ];
            for (at, make) in all.into_iter().enumerate() {
                let lines = made(|to| make(to, &long));
                assert!(kept(&lines) < long.len() * 3 / 2 + 1_500_000, "{line:?} {at}: {}", kept(&lines));
                let all = text(&lines);
                assert!(all.ends_with(long.trim_end_matches('\n')) || line == "\n", "{line:?} {at}: the text is there");
            }
        }
    }

    #[test]
    fn texts_share_the_styling_budget() {
        let lines = made(|to| (0..1000).for_each(|_| to.markdown(&"- *a*\n".repeat(1000))));
        assert!(kept(&lines) < 2 * 6_000_000 + 20_000_000, "{}", kept(&lines));
        assert!(text(&lines).contains("(6.0 KB: shown without Markdown)"));
    }
}
