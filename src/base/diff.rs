//! Line diffs.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{DiffOp, DiffTag};

/// The maximum number of lines of a whole file to compare.
pub(crate) const MAX_LINES: usize = 20_000;

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
}
