//! Renders differences as styled lines: between two texts, or from text in diff format.

use similar::{DiffTag, group_diff_ops};

use crate::base::diff::diff;
use crate::base::text::{Span, Tone, clean_lines};
use crate::render::DocLine;

/// The maximum number of lines to compare, because the cost is lines times differences. For longer texts, all old lines
/// are shown as removed and all new lines as added.
const MAX_LINES: usize = 5_000;

/// The placeholder for unchanged lines between two hunks.
const SKIPPED: &str = "⋯";

/// Compares two texts and returns the hunks with `context` unchanged lines around each. Removed lines start with `-`,
/// added lines with `+`, unchanged lines with a space. Empty if the texts are equal.
pub fn between(old: &str, new: &str, context: usize) -> Vec<DocLine> {
    // Lines include their endings, so that a changed line ending is a difference.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        return marked('-', Tone::Removed, &old).chain(marked('+', Tone::Added, &new)).collect();
    }
    let mut lines = Vec::new();
    for group in group_diff_ops(diff(&old, &new), context.min(MAX_LINES)) {
        if !lines.is_empty() {
            lines.push(line(Tone::Hunk, SKIPPED.to_owned()));
        }
        for op in group {
            let (tag, before, after) = op.as_tag_tuple();
            let before = old.get(before).unwrap_or_default();
            if tag == DiffTag::Equal {
                lines.extend(marked(' ', Tone::Dim, before));
            } else {
                lines.extend(marked('-', Tone::Removed, before));
                lines.extend(marked('+', Tone::Added, new.get(after).unwrap_or_default()));
            }
        }
    }
    lines
}

/// Highlights text in diff format: the format of pi's edit tool (`+12 text`, `-12 text`, ` 12 text`, `    ...`), or a
/// unified diff.
pub(crate) fn styled(text: &str) -> Vec<DocLine> {
    let unified = text.split('\n').any(|line| hunk_lengths(line).is_some());
    let (mut old, mut new) = (0_usize, 0_usize); // lines still to come in the hunk
    let mut tone_of = |text: &str| {
        // Outside a hunk, `--- name` is a file header. Inside, it is a removed line that starts with `-- `.
        let outside = unified && old == 0 && new == 0;
        if outside && let Some(lengths) = hunk_lengths(text) {
            (old, new) = lengths;
            return Tone::Hunk;
        }
        match text.bytes().next() {
            Some(b'+' | b'-') if outside => Tone::Hunk,
            _ if outside => Tone::Dim,
            Some(b'+') => {
                new = new.saturating_sub(1);
                Tone::Added
            }
            Some(b'-') => {
                old = old.saturating_sub(1);
                Tone::Removed
            }
            Some(b'\\') if unified => Tone::Dim, // "\ No newline at end of file" is not a line of the file
            _ if !unified && text.trim() == "..." => Tone::Hunk,
            _ => {
                (old, new) = (old.saturating_sub(1), new.saturating_sub(1));
                Tone::Dim
            }
        }
    };
    clean_lines(text.strip_suffix('\n').unwrap_or(text)).map(|text| line(tone_of(&text), text.into_owned())).collect()
}

/// Parses the old and new lengths of a hunk header, such as `@@ -3,7 +3,8 @@`. A missing length is 1.
fn hunk_lengths(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}

fn marked<'a>(mark: char, tone: Tone, lines: &'a [&str]) -> impl Iterator<Item = DocLine> + use<'a> {
    lines.iter().map(move |text| {
        let mut marked = String::with_capacity(text.len() + 1);
        marked.push(mark);
        let text = text.strip_suffix('\n').unwrap_or(text);
        for (i, piece) in clean_lines(text).enumerate() {
            if i > 0 {
                marked.push(' '); // a lone CR does not end the line of a diff
            }
            marked.push_str(&piece);
        }
        line(tone, marked)
    })
}

fn line(tone: Tone, text: String) -> DocLine {
    DocLine { spans: vec![Span::new(tone, text)], indent: 1, verbatim: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[DocLine]) -> Vec<(&str, Tone)> {
        lines.iter().flat_map(|line| &line.spans).map(|span| (span.text.as_str(), span.tone)).collect()
    }

    #[test]
    fn hunks_have_context_lines() {
        let old: String = (1..=20).map(|i| format!("{i}\n")).collect();
        let new = old.replace("\n3\n", "\nthree\n").replace("\n18\n", "\n");
        assert_eq!(
            shown(&between(&old, &new, 1)),
            [
                (" 2", Tone::Dim),
                ("-3", Tone::Removed),
                ("+three", Tone::Added),
                (" 4", Tone::Dim),
                ("⋯", Tone::Hunk),
                (" 17", Tone::Dim),
                ("-18", Tone::Removed),
                (" 19", Tone::Dim)
            ]
        );
    }

    #[test]
    fn equal_texts_have_no_hunks_and_line_endings_count() {
        assert!(between("a\nb", "a\nb", 3).is_empty());
        assert_eq!(shown(&between("", "a\x1b", usize::MAX)), [("+a␛", Tone::Added)]);
        assert_eq!(shown(&between("a\n", "a", 0)), [("-a", Tone::Removed), ("+a", Tone::Added)], "line ends count");
        let big = "x\n".repeat(MAX_LINES + 1);
        assert_eq!(between(&big, "x\n", 3).len(), MAX_LINES + 2, "above the limit all is old and new");
    }

    #[test]
    fn diffs_of_pi_are_highlighted() {
        let text = "     ...\n  9 same\n-10 -- old\n+10 +++ new\n 11 \n     ...";
        let tones: Vec<Tone> = shown(&styled(text)).iter().map(|(_, tone)| *tone).collect();
        assert_eq!(tones, [Tone::Hunk, Tone::Dim, Tone::Removed, Tone::Added, Tone::Dim, Tone::Hunk]);
    }

    #[test]
    fn unified_diffs_are_highlighted_by_hunk_length() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn\n--- gone\n+++ come\n same\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
        let tones: Vec<Tone> = shown(&styled(text)).iter().map(|(_, tone)| *tone).collect();
        use Tone::{Added, Dim, Hunk, Removed};
        assert_eq!(tones, [Dim, Hunk, Hunk, Hunk, Removed, Added, Dim, Hunk, Hunk, Hunk, Removed, Added]);
    }
}
