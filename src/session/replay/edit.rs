//! Edits of a text: the pieces that a call replaces, and the diffs in its result, as in pi (0.x to 1.6.0).

use std::sync::Arc;

use crate::base::sort;
use crate::session::json::value::{Fields, items};
use crate::session::replay::lines::{Hunk, KnownLines, split};

/// An edit that succeeded.
#[derive(Debug, Default)]
pub(super) struct Edit {
    /// The old and new pieces.
    pub(super) pieces: Option<Vec<(String, String)>>,
    /// The changed lines with lines around them, in order; empty if the result has no diff.
    pub(super) hunks: Vec<Hunk>,
    /// `true` if the hunks show a changed line feed at the end of the file.
    pub(super) is_patch: bool,
}

impl Edit {
    /// Creates an edit from the arguments of a call and the diffs of its result.
    pub(super) fn new(arguments: &Fields<'_>, patch: Option<&str>, diff: Option<&str>) -> Self {
        let by_patch = patch.and_then(unified);
        let is_patch = by_patch.is_some();
        let hunks = by_patch.or_else(|| numbered(diff?)).unwrap_or_default();
        Self { pieces: pieces(arguments), hunks, is_patch }
    }

    /// Returns a text after the edit. Returns `None` if the text before the edit was different.
    pub(super) fn whole(&self, text: &str) -> Option<String> {
        let view = TextView::new(text);
        let by_pieces = self.pieces.as_ref().and_then(|pieces| replaced(text, pieces));
        let by_hunks = || {
            let lines = split(&view.text);
            let is_inside = self.is_patch || self.hunks.last()?.end() < lines.len();
            let after = changed(&lines, &self.hunks).filter(|_| is_inside && !view.is_mixed)?;
            Some(view.restore(&after.join("\n")))
        };
        // pi 0.x replaced `$$` and similar patterns in the new text, which only the hunks show.
        let fits = |after: &String| self.hunks.is_empty() || self.fits(&view.text, &TextView::new(after).text);
        by_pieces.filter(fits).or_else(by_hunks)
    }

    /// Returns `true` if the hunks agree with the text before and after the edit.
    fn fits(&self, before: &str, after: &str) -> bool {
        let (before, after) = (split(before), split(after));
        let mut shift = 0isize;
        self.hunks.iter().all(|hunk| {
            let new_start = hunk.start.checked_add_signed(shift);
            shift += hunk.new.len().cast_signed() - hunk.old.len().cast_signed();
            has_lines(&before, hunk.start, &hunk.old)
                && new_start.is_some_and(|start| has_lines(&after, start, &hunk.new))
        })
    }

    /// Returns the known lines after the edit. Returns `None` if they were different, or the place of the edit is unknown.
    pub(super) fn partial(&self, known: &KnownLines) -> Option<KnownLines> {
        if !self.hunks.is_empty() {
            return known.changed(&self.hunks);
        }
        // pi replaces a piece only if it occurs once, so one in the known lines is the one that was replaced.
        let [(old, new)] = &self.pieces.as_ref()?[..] else { return None };
        let hunk = runs(known).into_iter().find_map(|(start, text)| {
            let at = text.find(old.as_str())?;
            let from = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let end = at + old.len();
            let to = text[end..].find('\n').map_or(text.len(), |at| end + at);
            let lines = |text: &str| split(text).into_iter().map(String::from).collect();
            let after = format!("{}{new}{}", &text[from..at], &text[end..to]);
            let first = start + text[..from].matches('\n').count();
            Some(Hunk { start: first, old: lines(&text[from..to]), new: lines(&after) })
        })?;
        known.changed(&[hunk])
    }

    /// Returns the lines that the diff shows after the edit, if there is one.
    pub(super) fn lines(&self) -> Option<KnownLines> {
        (!self.hunks.is_empty()).then(|| KnownLines::default().changed(&self.hunks)).flatten()
    }
}

/// Returns the runs of known lines: the index of the first line, and the text. Texts with carriage returns are left out,
/// because pi converts them.
fn runs(known: &KnownLines) -> Vec<(usize, String)> {
    let mut runs: Vec<(usize, usize, String)> = Vec::new();
    for (&at, line) in &known.lines {
        match runs.last_mut() {
            Some((_, next, text)) if *next == at => {
                text.push('\n');
                text.push_str(line);
                *next += 1;
            }
            _ => runs.push((at, at + 1, line.to_string())),
        }
    }
    runs.into_iter().filter(|(_, _, text)| !text.contains('\r')).map(|(start, _, text)| (start, text)).collect()
}

fn has_lines(text: &[&str], start: usize, lines: &[String]) -> bool {
    let there = start.checked_add(lines.len()).and_then(|end| text.get(start..end));
    there.is_some_and(|there| there.iter().zip(lines).all(|(a, b)| a == b))
}

/// Replaces the lines of hunks. Returns `None` if the old lines differ.
fn changed<'a>(text: &[&'a str], hunks: &'a [Hunk]) -> Option<Vec<&'a str>> {
    let (mut out, mut from) = (Vec::with_capacity(text.len()), 0);
    for hunk in hunks {
        out.extend_from_slice(text.get(from..hunk.start)?);
        has_lines(text, hunk.start, &hunk.old).then_some(())?;
        out.extend(hunk.new.iter().map(String::as_str));
        from = hunk.end();
    }
    out.extend_from_slice(text.get(from..)?);
    Some(out)
}

/// Returns the replacements of an `edit` call: `edits`, or the single one of older versions (pi 0.74.2, 1.6.0).
fn pieces(args: &Fields<'_>) -> Option<Vec<(String, String)>> {
    let pair = |args: &Fields<'_>| {
        let text = |name| Some(args.get(name)?.owned());
        Some((text("oldText")?, text("newText")?))
    };
    let edits = args.get("edits");
    let list = match &edits {
        // Some models give the list as a text.
        Some(edits) => edits.raw().map_or_else(|| edits.owned().into_bytes(), <[u8]>::to_vec),
        None => Vec::new(),
    };
    let alone = list.starts_with(b"{").then(|| pair(&Fields::new(&list))).flatten();
    let listed: Option<Vec<_>> = items(&list).map(|edit| pair(&Fields::new(edit))).collect();
    let all: Vec<_> = listed?.into_iter().chain(alone).chain(pair(args)).collect();
    (!all.is_empty()).then_some(all)
}

/// A text as pi edits it: without a byte order mark, and with line feeds only.
struct TextView {
    has_mark: bool,
    has_returns: bool,
    /// `true` if the original line endings cannot be restored.
    is_mixed: bool,
    text: Arc<str>,
}

impl TextView {
    fn new(text: &str) -> Self {
        let (has_mark, rest) = text.strip_prefix('\u{feff}').map_or((false, text), |rest| (true, rest));
        let has_returns = rest.find("\r\n").is_some_and(|at| rest.find('\n') == Some(at + 1));
        let normal: Arc<str> =
            if rest.contains('\r') { rest.replace("\r\n", "\n").replace('\r', "\n").into() } else { rest.into() };
        let view = Self { has_mark, has_returns, is_mixed: false, text: normal };
        let is_mixed = rest.contains('\r') && view.restore(&view.text) != text;
        Self { is_mixed, ..view }
    }

    fn restore(&self, text: &str) -> String {
        let text = if self.has_returns { text.replace('\n', "\r\n") } else { text.into() };
        if self.has_mark { format!("\u{feff}{text}") } else { text }
    }
}

/// Replaces pieces of a text, which are located in the original text, as in pi (1.6.0). pi also accepts similar text;
/// pitree does not. Returns `None` if an old piece does not occur exactly once, if two pieces overlap, or if line endings
/// are mixed.
pub(super) fn replaced(text: &str, edits: &[(String, String)]) -> Option<String> {
    let view = TextView::new(text);
    if view.is_mixed {
        return None;
    }
    let normal = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    let edits: Vec<(String, String)> = edits.iter().map(|(old, new)| (normal(old), normal(new))).collect();
    replaced_pieces(&view.text, &edits).map(|text| view.restore(&text))
}

fn replaced_pieces(text: &str, edits: &[(String, String)]) -> Option<String> {
    let mut places = Vec::with_capacity(edits.len());
    for (old, new) in edits {
        let mut found = text.match_indices(old.as_str());
        let (start, _) = found.next().filter(|_| !old.is_empty())?;
        // An overlapping match also counts as a second match.
        let rest = &text[start + text[start..].chars().next().map_or(1, char::len_utf8)..];
        if rest.contains(old.as_str()) {
            return None;
        }
        places.push((start, start + old.len(), new));
    }
    sort::by_key(&mut places, |&(start, ..)| start);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (start, end, new) in places {
        out.push_str(text.get(from..start)?);
        out.push_str(new);
        from = end;
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

/// Parses a unified diff of one file.
fn unified(patch: &str) -> Option<Vec<Hunk>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut last = ' ';
    // Whether the last old and new lines end without a line feed.
    let mut open = [false; 2];
    for line in patch.split('\n').skip_while(|line| !line.starts_with("@@ ")) {
        if let Some(range) = line.strip_prefix("@@ -") {
            let range = range.split_once(' ')?.0;
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().ok()?;
            let start = if count == "0" { start } else { start.checked_sub(1)? };
            hunks.push(Hunk { start, ..Hunk::default() });
            continue;
        }
        let hunk = hunks.last_mut()?;
        let Some(tag) = line.chars().next() else { continue };
        let text = || line[1..].to_owned();
        match tag {
            ' ' => {
                hunk.old.push(text());
                hunk.new.push(text());
            }
            '-' => hunk.old.push(text()),
            '+' => hunk.new.push(text()),
            '\\' => {
                open[0] |= last != '+';
                open[1] |= last != '-';
            }
            _ => return None,
        }
        last = tag;
    }
    // A line feed at the end of the file is an empty line after it.
    let hunk = hunks.last_mut()?;
    match open {
        [true, false] => hunk.new.push(String::new()),
        [false, true] => hunk.old.push(String::new()),
        _ => {}
    }
    Some(hunks)
}

/// Parses pi's diff: lines with a sign and a number, which counts old lines for ` ` and `-`, and new lines for `+`. pi 0.x
/// counts the unchanged lines after `...` from 1, so that the first changed line determines the place.
fn numbered(diff: &str) -> Option<Vec<Hunk>> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut shift = 0isize;
    let mut lines = diff.split('\n').peekable();
    while lines.peek().is_some() {
        let segment: Option<Vec<(char, usize, &str)>> =
            lines.by_ref().take_while(|line| line.trim_start_matches(' ') != "...").map(numbered_line).collect();
        let segment = segment?;
        let Some(before) = segment.iter().position(|(tag, ..)| *tag != ' ') else { continue };
        let (tag, at, _) = segment[before];
        let at = if tag == '+' { at.checked_add_signed(-shift)? } else { at };
        let texts = |other: char| {
            segment.iter().filter(move |(tag, ..)| *tag != other).map(|(_, _, text)| (*text).to_owned()).collect()
        };
        let hunk = Hunk { start: at.checked_sub(before)?, old: texts('+'), new: texts('-') };
        shift += hunk.new.len().cast_signed() - hunk.old.len().cast_signed();
        hunks.push(hunk);
    }
    let is_ordered = hunks.windows(2).all(|pair| pair[0].end() <= pair[1].start);
    (is_ordered && !hunks.is_empty()).then_some(hunks)
}

/// Parses a line of pi's diff: the sign, the index and the text.
fn numbered_line(line: &str) -> Option<(char, usize, &str)> {
    let tag = line.chars().next().filter(|tag| matches!(tag, ' ' | '-' | '+'))?;
    let (number, text) = line[1..].trim_start_matches(' ').split_once(' ')?;
    Some((tag, number.parse::<usize>().ok()?.checked_sub(1)?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(pieces: &[(&str, &str)], patch: Option<&str>, diff: Option<&str>) -> Edit {
        let list: Vec<String> =
            pieces.iter().map(|(old, new)| format!(r#"{{"oldText":{old:?},"newText":{new:?}}}"#)).collect();
        let arguments = format!(r#"{{"path":"a","edits":[{}]}}"#, list.join(","));
        Edit::new(&Fields::new(arguments.as_bytes()), patch, diff)
    }

    #[test]
    fn pieces_of_all_versions_are_found() {
        let of = |arguments: &str| pieces(&Fields::new(arguments.as_bytes()));
        let one = |old: &str, new: &str| (old.to_string(), new.to_string());
        assert_eq!(of(r#"{"oldText":"a","newText":"b"}"#), Some(vec![one("a", "b")]));
        assert_eq!(of(r#"{"edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}"#), Some(vec![one("a", "b")]));
        assert_eq!(of(r#"{"edits":{"oldText":"a","newText":"b"}}"#), Some(vec![one("a", "b")]));
        assert_eq!(of(r#"{"edits":[{"oldText":"a"}]}"#), None);
    }

    #[test]
    fn line_endings_and_marks_are_kept() {
        let change = |text: &str| edit(&[("b\nc", "x\ny")], None, None).whole(text);
        assert_eq!(change("a\nb\nc").as_deref(), Some("a\nx\ny"));
        assert_eq!(change("\u{feff}a\r\nb\r\nc\r\n").as_deref(), Some("\u{feff}a\r\nx\r\ny\r\n"));
        assert_eq!(change("a\nb\r\nc\n"), None, "mixed line endings");
        assert_eq!(change("b\nc b\nc"), None, "it occurs twice");
    }

    #[test]
    fn a_diff_detects_another_text() {
        let diff = "  1 a\n- 2 b\n+ 2 x\n  3 c\n    ...";
        let edit = edit(&[("b", "x")], None, Some(diff));
        assert_eq!(edit.whole("a\nb\nc\nd\n").as_deref(), Some("a\nx\nc\nd\n"));
        assert_eq!(edit.whole("a\n\nb\nc\n"), None);
        let lines = edit.lines().unwrap();
        assert_eq!(lines.with_gaps(), "a\nx\nc\n[unknown rest]");
    }

    #[test]
    fn numbers_of_old_versions_count_from_the_change() {
        let new = "     ...\n 10 a\n+11 b\n 11 c\n     ...\n 20 x\n-21 y\n 22 z";
        let hunk = |start: usize, old: &[&str], new: &[&str]| {
            let lines = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect();
            Hunk { start, old: lines(old), new: lines(new) }
        };
        assert_eq!(
            numbered(new),
            Some(vec![hunk(9, &["a", "c"], &["a", "b", "c"]), hunk(19, &["x", "y", "z"], &["x", "z"])])
        );
        let old = "     ...\n  1 a\n-32 b\n+32 c\n 33 d\n     ...";
        assert_eq!(numbered(old), Some(vec![hunk(30, &["a", "b", "d"], &["a", "c", "d"])]));
        assert_eq!(numbered("no diff"), None);
    }

    #[test]
    fn a_patch_replaces_similar_text_and_the_last_line_feed() {
        let patch = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n a\n-b \n+x\n";
        let differing = edit(&[("b", "x")], Some(patch), None);
        assert_eq!(differing.whole("a\nb \n").as_deref(), Some("a\nx\n"), "the patch shows the result");
        let similar = edit(&[("a\nb\n", "a\nx\n")], Some(patch), None);
        assert_eq!(similar.whole("a\nb \n").as_deref(), Some("a\nx\n"));
        let end = "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(edit(&[("q", "r")], Some(end), None).whole("a").as_deref(), Some("a\n"));
    }

    proptest::proptest! {
        #[test]
        fn hunks_change_lines_as_pieces_do(
            before in proptest::collection::vec("[ab]{0,2}", 1..12),
            at in 0usize..12,
            new in proptest::collection::vec("[abc]{0,2}", 0..3),
        ) {
            let at = at.min(before.len() - 1);
            let hunk = Hunk { start: at, old: vec![before[at].clone()], new };
            let lines: Vec<&str> = before.iter().map(String::as_str).collect();
            let whole = changed(&lines, std::slice::from_ref(&hunk)).unwrap();
            let known = KnownLines { lines: (0..).zip(lines.iter().map(|&line| line.into())).collect(), total: Some(lines.len()) };
            let known = known.changed(std::slice::from_ref(&hunk)).unwrap();
            let found: Vec<&str> = known.lines.values().map(|line| &**line).collect();
            proptest::prop_assert_eq!(&found, &whole);
            proptest::prop_assert_eq!(known.total, Some(whole.len()));
        }
    }
}
