//! Renders the content of a file: line numbers, highlighted code, and marks on changed lines. Content is data: it is
//! cleaned, and only its beginning is highlighted.

use std::time::Duration;

use crate::base::text::{Span, Tone, clean};
use crate::base::{diff, numbers};
use crate::render::code::{self, HighlightBudget};
use crate::render::{DocLine, diff as diff_lines};
use crate::session::replay::lines::KnownLines;

/// The maximum size in bytes of a text with a span for each line. Of a longer text, the beginning is shown.
const MAX_BYTES: usize = 1024 * 1024;

/// Renders a text. Lines that differ from the text `before` are marked.
pub fn content(path: &str, text: &str, before: Option<&str>, clock: &dyn Fn() -> Duration) -> Vec<DocLine> {
    let (shown, rest) = beginning(text);
    let lines: Vec<&str> = shown.split_inclusive('\n').collect();
    // Above the limit, there are no marks.
    let changed =
        before.and_then(|before| diff::new_lines(&diff::lines(before), &diff::lines(text))).unwrap_or_default();
    // A lone CR does not end a line of the file.
    let plain: String = lines.iter().map(|line| one_line(line) + "\n").collect();
    let code = code::highlight(code::language_of(path), &plain, &mut HighlightBudget::new(clock));
    let digits = lines.len().to_string().len();
    let line = |(at, spans): (usize, Vec<Span>)| {
        let is_changed = changed.get(at).is_some_and(|is_changed| *is_changed);
        numbered(at, digits, is_changed, spans)
    };
    let mut all: Vec<DocLine> = code.into_iter().enumerate().map(line).collect();
    if rest > 0 {
        all.push(DocLine::new(Tone::Dim, &format!("({} more not shown)", numbers::bytes(rest as u64))));
    }
    if text.is_empty() {
        all.push(DocLine::new(Tone::Dim, "(empty file)"));
    } else if rest == 0 && !text.ends_with('\n') {
        all.push(DocLine::new(Tone::Dim, "(no line feed at the end)"));
    }
    all
}

/// Renders the known lines of a file, with a line for each gap.
pub fn known(path: &str, known: &KnownLines, clock: &dyn Fn() -> Duration) -> Vec<DocLine> {
    let mut budget = HighlightBudget::new(clock);
    let digits = known.lines.keys().next_back().map_or(1, |last| (last + 1).to_string().len());
    let gap = |lines: Option<usize>| {
        let text = match lines {
            Some(lines) => numbers::count(lines, "unknown line", "unknown lines"),
            None => "unknown rest".into(),
        };
        DocLine::new(Tone::Hunk, &format!("{} [{text}]", " ".repeat(digits)))
    };
    let (mut all, mut next, mut left) = (Vec::new(), 0, MAX_BYTES);
    let mut lines = known.lines.iter().peekable();
    while let Some(&(&first, _)) = lines.peek() {
        all.extend((first > next).then(|| gap(Some(first - next))));
        next = first;
        let mut part = String::new();
        while let Some((_, line)) = lines.next_if(|(at, line)| **at == next && line.len() < left) {
            (next, left) = (next + 1, left - line.len());
            part.push_str(&one_line(line));
            part.push('\n');
        }
        if next == first {
            all.push(DocLine::new(Tone::Dim, "(more lines not shown)"));
            return all;
        }
        let code = code::highlight(code::language_of(path), &part, &mut budget);
        all.extend((first..).zip(code).map(|(at, spans)| numbered(at, digits, false, spans)));
    }
    match known.total {
        Some(total) => all.extend(total.checked_sub(next).filter(|&rest| rest > 0).map(|rest| gap(Some(rest)))),
        None => all.push(gap(None)),
    }
    all
}

/// Renders the difference between two texts.
pub fn difference(old: &str, new: &str) -> Vec<DocLine> {
    let ((old_shown, old_rest), (new_shown, new_rest)) = (beginning(old), beginning(new));
    if old == new {
        return vec![DocLine::new(Tone::Dim, "no difference")];
    }
    let mut lines = diff_lines::between(old_shown, new_shown, 3);
    if old_rest + new_rest > 0 {
        lines.push(DocLine::new(Tone::Dim, "(only the beginnings are compared)"));
    }
    lines
}

/// Returns the beginning of a text that is shown, up to the end of a line, and the length of the rest.
fn beginning(text: &str) -> (&str, usize) {
    if text.len() <= MAX_BYTES {
        return (text, 0);
    }
    let start = &text[..text.floor_char_boundary(MAX_BYTES)];
    let end = start.rfind('\n').map_or(start.len(), |at| at + 1);
    (&text[..end], text.len() - end)
}

/// Returns a line without its end, and with signs for control characters. Tabs remain.
fn one_line(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.split('\t').map(clean).collect::<Vec<_>>().join("\t")
}

fn numbered(at: usize, digits: usize, is_changed: bool, code: Vec<Span>) -> DocLine {
    let (mark, tone) = if is_changed { ("+", Tone::Added) } else { (" ", Tone::Dim) };
    let mut spans = vec![Span::new(Tone::Dim, format!("{:>digits$} ", at + 1)), Span::new(tone, format!("{mark} "))];
    spans.extend(code);
    DocLine { spans, indent: u16::try_from(digits + 3).unwrap_or_default(), verbatim: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::spans_text;

    fn shown(lines: &[DocLine]) -> Vec<String> {
        lines.iter().map(|line| spans_text(&line.spans)).collect()
    }

    fn of(text: &str, before: Option<&str>) -> Vec<String> {
        shown(&content("a.rs", text, before, &|| Duration::ZERO))
    }

    #[test]
    fn lines_have_numbers_and_changed_ones_a_mark() {
        assert_eq!(of("a\nb\n\nc\n", Some("a\n\nc\n")), ["1   a", "2 + b", "3   ", "4   c"]);
        assert_eq!(of("fn a()", None), ["1   fn a()", "(no line feed at the end)"]);
        assert_eq!(of("", None), ["(empty file)"]);
        let lines = content("a.rs", "fn a() {}\n", None, &|| Duration::ZERO);
        assert!(lines[0].spans.iter().any(|span| span.tone == Tone::Keyword));
    }

    #[test]
    fn content_is_cleaned_and_keeps_its_lines() {
        let text = "\u{1b}[31mred\r\nover\rwritten\n\ttab\n";
        assert_eq!(of(text, None), ["1   ␛[31mred", "2   over written", "3       tab"]);
        let long = "x".repeat(MAX_BYTES + 10);
        let lines = of(&long, None);
        assert_eq!((lines.len(), lines[1].as_str()), (2, "(10 B more not shown)"));
        assert_eq!(
            of(&"a\n".repeat(diff::MAX_LINES + 1), Some("b"))[0],
            "    1   a",
            "above the limit there are no marks"
        );
    }

    #[test]
    fn gaps_of_partial_files_are_shown() {
        let lines = [(1, "b"), (2, "c"), (5, "f")].map(|(at, line)| (at, line.into())).into();
        let mut partial = KnownLines { lines, total: Some(7) };
        let of = |partial: &KnownLines| shown(&known("a.rs", partial, &|| Duration::ZERO));
        let first = ["  [1 unknown line]", "2   b", "3   c", "  [2 unknown lines]", "6   f"];
        assert_eq!(of(&partial)[..5], first);
        assert_eq!(of(&partial)[5..], ["  [1 unknown line]"]);
        partial.total = None;
        assert_eq!(of(&partial)[5..], ["  [unknown rest]"]);
    }

    #[test]
    fn differences_have_hunks() {
        assert_eq!(shown(&difference("a\n", "a\n")), ["no difference"]);
        assert_eq!(shown(&difference("a\n", "b\n")), ["-a", "+b"]);
    }
}
