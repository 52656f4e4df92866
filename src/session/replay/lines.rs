//! The known lines of a file, and changes of lines.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The known lines of a file. Lines are the parts between line feeds, so that the last line is empty if the file ends
/// with a line feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownLines {
    /// The lines by index, starting at 0, without line feeds.
    pub lines: BTreeMap<usize, Arc<str>>,
    /// The number of lines, if it is known.
    pub total: Option<usize>,
}

/// Consecutive lines of a file before and after an edit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The index of the first line before the edit.
    pub(super) start: usize,
    /// The lines before the edit.
    pub(super) old: Vec<String>,
    /// The lines after the edit.
    pub(super) new: Vec<String>,
}

impl Hunk {
    /// Returns the index after the last line before the edit.
    pub(super) fn end(&self) -> usize {
        self.start + self.old.len()
    }
}

impl KnownLines {
    /// Returns the lines of both, if they agree.
    pub(super) fn merged(&self, other: &Self) -> Option<Self> {
        let mut merged = self.clone();
        for (&at, line) in &other.lines {
            let known = merged.lines.entry(at).or_insert_with(|| line.clone());
            (known == line).then_some(())?;
        }
        merged.total = self.total.or(other.total);
        let last = merged.lines.keys().next_back();
        let is_inside = merged.total.is_none_or(|total| last.is_none_or(|&last| last < total));
        (is_inside && other.total.is_none_or(|other| merged.total == Some(other))).then_some(merged)
    }

    /// Returns the whole text if all lines are known.
    pub(super) fn whole(&self) -> Option<String> {
        if self.total != Some(self.lines.len()) {
            return None;
        }
        Some(self.lines.values().map(|line| &**line).collect::<Vec<_>>().join("\n"))
    }

    /// Replaces the lines of hunks and moves the lines after them. Returns `None` if the known lines differ from the old
    /// lines of the hunks.
    pub(super) fn changed(&self, hunks: &[Hunk]) -> Option<Self> {
        let mut lines = BTreeMap::new();
        let (mut from, mut shift) = (0, 0isize);
        let has_returns = self.lines.values().any(|line| line.ends_with('\r'));
        let with_ending =
            |line: &str| -> Arc<str> { if has_returns { format!("{line}\r").into() } else { line.into() } };
        let moved = |at: usize, shift: isize| at.checked_add_signed(shift);
        for hunk in hunks {
            let end = hunk.start.checked_add(hunk.old.len())?;
            for (at, line) in self.lines.range(from..hunk.start.max(from)) {
                lines.insert(moved(*at, shift)?, line.clone());
            }
            for (at, line) in self.lines.range(hunk.start..end) {
                (line.trim_end_matches('\r') == hunk.old[at - hunk.start]).then_some(())?;
            }
            for (at, line) in hunk.new.iter().enumerate() {
                lines.insert(moved(hunk.start + at, shift)?, with_ending(line));
            }
            shift += hunk.new.len().cast_signed() - hunk.old.len().cast_signed();
            from = end;
        }
        for (at, line) in self.lines.range(from..) {
            lines.insert(moved(*at, shift)?, line.clone());
        }
        let total = match self.total {
            Some(total) => Some(moved(total, shift)?),
            None => None,
        };
        Some(Self { lines, total })
    }

    /// Returns the known lines in order as text, with a line for each gap.
    pub fn with_gaps(&self) -> String {
        let gap = |lines: usize| match lines {
            1 => "[1 unknown line]".into(),
            lines => format!("[{lines} unknown lines]"),
        };
        let mut parts: Vec<String> = Vec::new();
        let mut next = 0;
        for (&at, line) in &self.lines {
            parts.extend((at > next).then(|| gap(at - next)));
            parts.push(line.to_string());
            next = at + 1;
        }
        match self.total {
            Some(total) => parts.extend(total.checked_sub(next).filter(|&rest| rest > 0).map(gap)),
            None => parts.push("[unknown rest]".into()),
        }
        parts.join("\n")
    }
}

/// Returns the lines of a text. There is always one more than line feeds.
pub(super) fn split(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

/// Returns `true` if a text has the known lines.
pub(super) fn agree(text: &[&str], known: &KnownLines) -> bool {
    known.total.is_none_or(|total| total == text.len())
        && known.lines.iter().all(|(&at, line)| text.get(at) == Some(&&**line))
}
