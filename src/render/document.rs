//! A document in the making. What makes up a text of many spans and lines takes a multiple of its memory, and time: so
//! much of a document is styled, and what is beyond is shown as it is, in lines that hold many.

use std::time::Duration;

use crate::base::numbers;
use crate::base::text::{Span, Tone, clean_lines, clean_text, spans_text};
use crate::render::{DocLine, code, diff, markdown, plain};
use crate::session::json::value::pretty;

/// The bytes of a document that are styled. pi cuts what tools say at 50 KB, and nobody writes more than that.
const STYLED: usize = 128 * 1024;

/// From this size on, in bytes, a text that has one tone throughout is kept as it is.
const LONG: usize = 16 * 1024;

/// How large the lines are that hold many, in bytes: a row is found in them by walking through.
const PIECE: usize = 4 * 1024;

/// A document in the making.
pub(crate) struct Document<'a> {
    lines: Vec<DocLine>,
    /// The bytes that may still be styled.
    left: usize,
    code: code::Budget<'a>,
    /// The text, if it is taken as it is written and not styled.
    raw: Option<String>,
}

impl<'a> Document<'a> {
    /// An empty one. `clock` says how long it has been in the making, in all.
    pub(crate) fn new(clock: &'a dyn Fn() -> Duration) -> Self {
        Self { lines: Vec::new(), left: STYLED, code: code::Budget::new(clock), raw: None }
    }

    /// An empty one that takes all texts as they are written.
    pub(crate) fn raw(clock: &'a dyn Fn() -> Duration) -> Self {
        Self { raw: Some(String::new()), ..Self::new(clock) }
    }

    /// What was written, if it was taken as it is: line breaks and tabs are kept, other control characters are pictures.
    pub(crate) fn into_text(self) -> String {
        clean_text(&self.raw.unwrap_or_default())
    }

    /// Takes a text as it is, if all are taken so. Returns whether it did.
    fn take_raw(&mut self, text: &str) -> bool {
        let Some(raw) = &mut self.raw else { return false };
        raw.push_str(text.strip_suffix('\n').unwrap_or(text));
        raw.push('\n');
        true
    }

    /// What was written.
    pub(crate) fn into_lines(self) -> Vec<DocLine> {
        self.lines
    }

    /// A line.
    pub(crate) fn push(&mut self, line: DocLine) {
        match &self.raw {
            Some(_) => drop(self.take_raw(&spans_text(&line.spans))),
            None => self.lines.push(line),
        }
    }

    /// A line of one meaning.
    pub(crate) fn title(&mut self, tone: Tone, text: &str) {
        self.push(DocLine::new(tone, text));
    }

    /// Markdown.
    pub(crate) fn markdown(&mut self, text: &str) {
        let may = |to: &mut Self| to.may_style(text, "without Markdown");
        self.styled(text, (Tone::Text, false), may, |to| to.lines.extend(markdown::markdown(text, &mut to.code)));
    }

    /// A text that is broken wherever the pane ends, or between words.
    pub(crate) fn plain(&mut self, tone: Tone, text: &str, verbatim: bool) {
        let lines = || plain(tone, text).into_iter().map(|line| DocLine { verbatim, ..line });
        let may = |to: &mut Self| text.len() < LONG && to.take(text);
        self.styled(text, (tone, verbatim), may, |to| to.lines.extend(lines()));
    }

    /// Source code: the beginning of a long one is highlighted.
    pub(crate) fn code(&mut self, language: &str, text: &str) {
        let end = match text.get(..text.floor_char_boundary(code::MAX_BYTES)) {
            Some(start) if text.len() > 2 * LONG => start.rfind('\n').map_or(0, |at| at + 1),
            _ => text.len(),
        };
        let (start, rest) = text.split_at(end);
        self.styled(
            text,
            (Tone::Text, true),
            |to| to.take(start),
            |to| {
                to.lines.extend(code::highlight(language, start, &mut to.code).into_iter().map(DocLine::verbatim));
                to.bulk(Tone::Text, rest, true);
            },
        );
    }

    /// JSON, on many lines unless it is long.
    pub(crate) fn json(&mut self, raw: &[u8]) {
        if raw.len() < LONG {
            self.code("json", &pretty(raw));
        } else {
            self.code("json", &String::from_utf8_lossy(raw));
        }
    }

    /// A text that is a diff.
    pub(crate) fn diff(&mut self, text: &str) {
        let may = |to: &mut Self| to.may_style(text, "without colours");
        self.styled(text, (Tone::Text, true), may, |to| to.lines.extend(diff::styled(text)));
    }

    /// The differences between two texts, with `context` lines around each.
    pub(crate) fn change(&mut self, old: &str, new: &str, context: usize) {
        if self.take(old) && self.take(new) {
            return diff::between(old, new, context).into_iter().for_each(|line| self.push(line));
        }
        for (tone, text, what) in [(Tone::Removed, old, "removed"), (Tone::Added, new, "added")] {
            self.title(Tone::Dim, &format!("{what}: {}", numbers::bytes(text.len() as u64)));
            self.bulk(tone, text, true);
        }
    }

    /// Takes a text: as it is written, if all are taken so; by `style`, if it `may` be styled; else in lines that hold many.
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
        if may(self) { style(self) } else { self.bulk(tone, text, verbatim) }
    }

    /// Removes blank lines at the end.
    pub(crate) fn trim(&mut self) {
        while self.lines.last().is_some_and(|line| line.spans.is_empty()) {
            self.lines.pop();
        }
    }

    /// Whether a text may be styled, which is then paid for.
    fn take(&mut self, text: &str) -> bool {
        let left = self.left.checked_sub(text.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// As `take`; says so if it may not.
    fn may_style(&mut self, text: &str, how: &str) -> bool {
        let may = self.take(text);
        if !may {
            self.title(Tone::Dim, &format!("({}: shown {how})", numbers::bytes(text.len() as u64)));
        }
        may
    }

    /// A text as it is, in lines that hold many.
    fn bulk(&mut self, tone: Tone, text: &str, verbatim: bool) {
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
                () if piece.len() >= PIECE => written(&mut piece),
                () => piece.push('\n'),
            }
            piece.push_str(&line);
        }
        written(&mut piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(make: impl FnOnce(&mut Document<'_>)) -> Vec<DocLine> {
        let clock = || Duration::ZERO;
        let mut document = Document::new(&clock);
        make(&mut document);
        document.into_lines()
    }

    /// What the lines keep, in bytes: about.
    fn kept(lines: &[DocLine]) -> usize {
        let span = |span: &Span| size_of::<Span>() + span.text.capacity();
        lines.iter().map(|line| size_of::<DocLine>() + line.spans.iter().map(span).sum::<usize>()).sum()
    }

    fn text(lines: &[DocLine]) -> String {
        let line = |line: &DocLine| line.spans.iter().map(|span| span.text.as_str()).collect::<String>();
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn whatever_is_long_keeps_little_more_than_its_text() {
        for line in ["a\n", "\n", "- *a* `b`\n", "|a|b|\n", "{\"a\":[]}\n", "+a\n-b\n", "x"] {
            let long = line.repeat(600_000 / line.len());
            let all: [fn(&mut Document<'_>, &str); 6] = [
                |to, text| to.markdown(text),
                |to, text| to.plain(Tone::Text, text, true),
                |to, text| to.code("rs", text),
                |to, text| to.json(text.as_bytes()),
                |to, text| to.diff(text),
                |to, text| to.change(text, text, 3),
            ];
            for (at, make) in all.into_iter().enumerate() {
                let lines = made(|to| make(to, &long));
                let texts = if at == 5 { 2 } else { 1 };
                assert!(kept(&lines) < texts * long.len() * 3 / 2 + 1_500_000, "{line:?} {at}: {}", kept(&lines));
                let all = text(&lines);
                assert!(all.ends_with(long.trim_end_matches('\n')) || line == "\n", "{line:?} {at}: the text is there");
            }
        }
    }

    #[test]
    fn many_texts_share_what_may_be_styled() {
        let lines = made(|to| (0..1000).for_each(|_| to.markdown(&"- *a*\n".repeat(1000))));
        assert!(kept(&lines) < 2 * 6_000_000 + 20_000_000, "{}", kept(&lines));
        assert!(text(&lines).contains("(6.0 KB: shown without Markdown)"));
    }
}
