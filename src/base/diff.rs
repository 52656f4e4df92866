//! Line diffs.

use std::ops::Range;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag, group_diff_ops};

/// The maximum number of lines of a whole file to compare.
pub(crate) const MAX_LINES: usize = 20_000;

/// The number of unchanged lines around a difference.
const CONTEXT: usize = 3;

/// Returns the edits that turn the old lines into the new ones. Uses one algorithm of `similar` for one type, because each
/// instance adds much code.
pub(crate) fn diff(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}

/// Returns the lines of a file with their ends.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the edits between the lines of two files. Returns `None` if there are too many lines.
fn bounded(old: &[&str], new: &[&str]) -> Option<Vec<DiffOp>> {
    (old.len().max(new.len()) <= MAX_LINES).then(|| diff(old, new))
}

/// Returns the numbers of added and removed lines, if they can be compared.
pub(crate) fn changed_lines(old: &str, new: &str) -> Option<(usize, usize)> {
    let edits = bounded(&lines(old), &lines(new))?;
    let changed = edits.iter().filter(|op| op.tag() != DiffTag::Equal);
    Some(changed.fold((0, 0), |(added, removed), op| (added + op.new_range().len(), removed + op.old_range().len())))
}

/// Returns for each new line whether it differs from the old lines, if they can be compared.
pub(crate) fn new_lines(old: &[&str], new: &[&str]) -> Option<Vec<bool>> {
    let mut is_new = vec![false; new.len()];
    for op in bounded(old, new)?.iter().filter(|op| op.tag() != DiffTag::Equal) {
        is_new[op.new_range()].fill(true);
    }
    Some(is_new)
}

/// Returns for each new line the index of the old line that it was, if they can be compared.
pub(crate) fn old_places(old: &[&str], new: &[&str]) -> Option<Vec<Option<usize>>> {
    let mut places = vec![None; new.len()];
    for op in bounded(old, new)?.iter().filter(|op| op.tag() == DiffTag::Equal) {
        op.new_range().zip(op.old_range()).for_each(|(new, old)| places[new] = Some(old));
    }
    Some(places)
}

/// Returns the difference of two texts in the format of `diff -u`.
pub(crate) fn unified(a: &str, b: &str, path: &str) -> String {
    let [old, new] = [a, b].map(lines);
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    for hunk in group_diff_ops(diff(&old, &new), CONTEXT) {
        let ([first, ..], [.., last]) = (&hunk[..], &hunk[..]) else { continue };
        let range = |first: Range<usize>, last: Range<usize>| match last.end - first.start {
            1 => format!("{}", first.start + 1),
            // An empty range is identified by the line before it.
            0 => format!("{},0", first.start),
            lines => format!("{},{lines}", first.start + 1),
        };
        let before = range(first.old_range(), last.old_range());
        let after = range(first.new_range(), last.new_range());
        out += &format!("@@ -{before} +{after} @@\n");
        for change in hunk.iter().flat_map(|op| op.iter_changes(&old[..], &new[..])) {
            out += &format!("{}{}", change.tag(), change.value());
            if !change.value().ends_with('\n') {
                out += "\n\\ No newline at end of file\n";
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_up_to_a_limit() {
        assert_eq!(changed_lines("a\nb\nc\n", "a\nx\ny\nc\n"), Some((2, 1)));
        assert_eq!(new_lines(&["a", "b"], &["b", "c"]), Some(vec![false, true]));
        assert_eq!(old_places(&["a", "b"], &["b", "c"]), Some(vec![Some(1), None]));
        assert_eq!(changed_lines("", &"a\n".repeat(MAX_LINES + 1)), None);
    }

    /// Matches GNU `diff -u`.
    #[test]
    fn formats_differences_as_hunks() {
        let numbers = |from: usize, to: usize| (from..=to).map(|n| format!("{n}\n")).collect::<String>();
        let old = numbers(1, 20);
        let new = format!("zero\n{}{}20", numbers(1, 12), numbers(14, 19));
        let first = "@@ -1,3 +1,4 @@\n+zero\n 1\n 2\n 3\n";
        let second = "@@ -10,11 +11,10 @@\n 10\n 11\n 12\n-13\n 14\n 15\n 16\n 17\n 18\n 19\n";
        let last = "-20\n+20\n\\ No newline at end of file\n";
        assert_eq!(unified(&old, &new, "f"), format!("--- a/f\n+++ b/f\n{first}{second}{last}"));
        assert_eq!(unified("", "a\n", "f"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    }
}
