//! Texts that a model has read: results of `read` without pi's notes about lines that were left out (pi 0.x to 1.6.0), and
//! attached files.

use std::sync::Arc;

use crate::base::javascript::utf16_prefix;
use crate::session::json::value::{Fields, Value};
use crate::session::replay::lines::{KnownLines, split};

/// The length at which pi 0.x truncated lines, in UTF-16 code units.
const LONGEST_LINE: usize = 2000;

/// The marks that pitree leaves in place of removed text.
pub(super) const REMOVED: &str = "[pitree slim: removed";

/// The lines that a call has read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadPart<'a> {
    /// The index of the first line.
    start: usize,
    /// The lines; `None` if a line was truncated or contains bytes that are not UTF-8.
    lines: Vec<Option<&'a str>>,
    /// The number of lines of the file, if it is known.
    total: Option<usize>,
}

impl<'a> ReadPart<'a> {
    /// Parses the result of a call. Returns `None` if it is not the text of a file.
    pub(super) fn new(arguments: &Fields<'_>, text: &'a str) -> Option<Self> {
        let number = |name: &str| {
            let value = arguments.get(name).and_then(Value::number)?;
            (value >= 0.0 && value.fract() == 0.0).then_some(value as usize)
        };
        let is_given = |name: &str| arguments.get(name).is_some_and(|value| value.raw() != Some(b"null"));
        if ["offset", "limit"].iter().any(|name| is_given(name) && number(name).is_none()) {
            return None;
        }
        if text.starts_with("Read image file [") || text.contains(REMOVED) {
            return None;
        }
        let start = number("offset").unwrap_or(0).saturating_sub(1);
        if text.starts_with("[Line ") && text.contains(" limit. Use bash: sed -n '") {
            return Some(Self { start, lines: Vec::new(), total: None });
        }
        let limit = number("limit");
        if let Some(part) = Self::with_note(start, limit, text) {
            return Some(part);
        }
        let lines = whole_lines(text, false);
        if limit.is_some_and(|limit| lines.len() > limit) {
            return None;
        }
        let total = Some(start + lines.len());
        Some(Self { start, lines, total })
    }

    /// Parses a text with a note at its end, if the note agrees with the number of lines.
    fn with_note(start: usize, limit: Option<usize>, text: &'a str) -> Option<Self> {
        let (body, note) = text.rsplit_once("\n\n")?;
        let count = body.split('\n').count();
        let note = Note::new(note)?;
        let is_next = note.next.is_none_or(|next| next == start + count + 1);
        let agrees = match note.left_out {
            MissingLines::Limit(_) => limit == Some(count),
            MissingLines::Shown(from, to, _) => from == start + 1 && to == start + count,
            MissingLines::Old(_) => true,
        };
        if !is_next || !agrees {
            return None;
        }
        let total = match note.left_out {
            MissingLines::Limit(rest) | MissingLines::Old(rest) => start + count + rest,
            MissingLines::Shown(_, _, total) => total,
        };
        Some(Self { start, lines: whole_lines(body, note.has_cut_lines), total: Some(total) })
    }

    /// Returns the whole text if the call has read it.
    pub(super) fn whole(&self) -> Option<String> {
        if self.start > 0 || self.total != Some(self.lines.len()) {
            return None;
        }
        Some(self.lines.iter().copied().collect::<Option<Vec<_>>>()?.join("\n"))
    }

    /// Returns the known lines.
    pub(super) fn known(&self) -> KnownLines {
        let lines = self.lines.iter().enumerate();
        let lines = lines.filter_map(|(at, line)| Some((self.start + at, Arc::from((*line)?))));
        KnownLines { lines: lines.collect(), total: self.total }
    }
}

/// Returns the lines of a text. Lines that can differ from the file are unknown.
fn whole_lines(text: &str, has_cut_lines: bool) -> Vec<Option<&str>> {
    let is_cut = |line: &str| {
        has_cut_lines && utf16_prefix(line, LONGEST_LINE).len() == line.len() && line.len() >= LONGEST_LINE
    };
    split(text).into_iter().map(|line| Some(line).filter(|line| !line.contains('\u{fffd}') && !is_cut(line))).collect()
}

/// A note of pi at the end of a result.
struct Note {
    left_out: MissingLines,
    /// The line to continue at, starting at 1.
    next: Option<usize>,
    /// `true` if long lines were truncated.
    has_cut_lines: bool,
}

/// The lines that are missing after the text.
enum MissingLines {
    /// The number of lines after the limit of the call.
    Limit(usize),
    /// The first and last lines in the text, starting at 1, and the number of lines of the file.
    Shown(usize, usize, usize),
    /// The number of lines after the text (pi 0.x).
    Old(usize),
}

impl Note {
    fn new(note: &str) -> Option<Self> {
        if let Some(note) = note.strip_prefix("... (").and_then(|note| note.strip_suffix(')')) {
            return Self::old(note);
        }
        let note = note.strip_prefix('[')?.strip_suffix(" to continue.]")?;
        let (what, next) = note.rsplit_once(" Use offset=")?;
        let next = Some(next.parse().ok()?);
        let left_out = if let Some(rest) = what.strip_suffix(" more lines in file.") {
            MissingLines::Limit(rest.parse().ok()?)
        } else {
            let (lines, total) = what.strip_prefix("Showing lines ")?.strip_suffix('.')?.split_once(" of ")?;
            let (from, to) = lines.split_once('-')?;
            let total = total.split_once(" (").map_or(total, |(total, _)| total);
            MissingLines::Shown(from.parse().ok()?, to.parse().ok()?, total.parse().ok()?)
        };
        Some(Self { left_out, next, has_cut_lines: false })
    }

    fn old(note: &str) -> Option<Self> {
        const CUT: &str = "Some lines were truncated to 2000 characters for display";
        let rest = note.strip_prefix(CUT);
        let has_cut_lines = rest.is_some();
        let rest = rest.map_or(note, |rest| rest.trim_start_matches(". "));
        if has_cut_lines && rest.is_empty() {
            return Some(Self { left_out: MissingLines::Old(0), next: None, has_cut_lines });
        }
        let (count, next) =
            rest.strip_suffix(" to continue reading")?.split_once(" more lines not shown. Use offset=")?;
        Some(Self { left_out: MissingLines::Old(count.parse().ok()?), next: Some(next.parse().ok()?), has_cut_lines })
    }
}

/// Returns the text files attached to a prompt: `<file name="PATH">`, a line break, the text, a line break, `</file>`.
pub(super) fn attached(text: &str) -> Vec<(String, &str)> {
    let mut files = Vec::new();
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix("<file name=\"") {
        let Some((path, after)) = inner.split_once("\">") else { break };
        let Some((content, after)) = after.split_once("</file>\n") else { break };
        if let Some(content) = content.strip_prefix('\n').and_then(|content| content.strip_suffix('\n')) {
            files.push((path.to_owned(), content));
        }
        rest = after;
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(arguments: &str, text: &str) -> Option<(usize, String, Option<usize>)> {
        let arguments = Fields::new(arguments.as_bytes());
        let part = ReadPart::new(&arguments, text)?;
        let lines: Vec<&str> = part.lines.iter().map(|line| line.unwrap_or("?")).collect();
        Some((part.start, lines.join("|"), part.total))
    }

    #[test]
    fn recognizes_notes_of_all_versions() {
        for (arguments, text, wanted) in [
            ("{}", "a\nb\n", (0, "a|b|", Some(3))),
            ("{}", "", (0, "", Some(1))),
            (r#"{"offset":2}"#, "b\nc", (1, "b|c", Some(3))),
            (r#"{"offset":0,"limit":9}"#, "a\n", (0, "a|", Some(2))),
            (r#"{"limit":2}"#, "a\nb\n\n[3 more lines in file. Use offset=3 to continue.]", (0, "a|b", Some(5))),
            (r#"{"offset":4,"limit":1}"#, "\n\n[1 more lines in file. Use offset=5 to continue.]", (3, "", Some(5))),
            ("{}", "a\nb\n\n[Showing lines 1-2 of 9 (50.0KB limit). Use offset=3 to continue.]", (0, "a|b", Some(9))),
            ("{}", "a\nb\n\n[Showing lines 1-2 of 9. Use offset=3 to continue.]", (0, "a|b", Some(9))),
            (
                r#"{"offset":2,"limit":2}"#,
                "b\nc\n\n... (7 more lines not shown. Use offset=4 to continue reading)",
                (1, "b|c", Some(10)),
            ),
            // The note belongs to the file.
            (
                "{}",
                "a\n\n[3 more lines in file. Use offset=3 to continue.]",
                (0, "a||[3 more lines in file. Use offset=3 to continue.]", Some(3)),
            ),
            ("{}", "a\u{fffd}\nb", (0, "?|b", Some(2))),
            ("{}", "[Line 1 is 90.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' a | head -c 51200]", (0, "", None)),
        ] {
            let (start, lines, total) = wanted;
            assert_eq!(part(arguments, text), Some((start, lines.into(), total)), "{arguments} {text:?}");
        }
        assert_eq!(part("{}", "Read image file [image/png]"), None);
        assert_eq!(part("{}", "a\n[pitree slim: removed 3 kB of output]\nb"), None);
        assert_eq!(part(r#"{"limit":1}"#, "a\nb"), None);
        assert_eq!(part(r#"{"offset":"x"}"#, "a\nb"), None);
    }

    #[test]
    fn truncated_lines_are_unknown() {
        let long = "x".repeat(LONGEST_LINE);
        let text = format!("a\n{long}\n\n... (Some lines were truncated to 2000 characters for display)");
        assert_eq!(part("{}", &text), Some((0, "a|?".into(), Some(2))));
    }
}
