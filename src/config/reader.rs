//! Collects the errors of a configuration file by line.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::typo;

/// The problems found so far.
pub(super) struct ConfigProblems {
    /// The offsets of line breaks.
    breaks: Vec<usize>,
    /// The problems with their line numbers.
    pub(super) problems: Vec<(usize, String)>,
}

impl ConfigProblems {
    pub(super) fn new(text: &str) -> Self {
        Self { breaks: memchr::memchr_iter(b'\n', text.as_bytes()).collect(), problems: Vec::new() }
    }

    /// Returns the rows of a table, or records that `wanted` is expected.
    pub(super) fn table<'a, 'b>(
        &mut self,
        name: &str,
        value: &'b Spanned<DeValue<'a>>,
        wanted: &str,
    ) -> Option<&'b DeTable<'a>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.problem(value.span(), format!("{name:?}: {}", wrong_type(wanted, value.get_ref())));
        }
        table
    }

    /// Returns the line number of a range.
    pub(super) fn line(&self, piece: &Range<usize>) -> usize {
        1 + self.breaks.partition_point(|&end| end < piece.start)
    }

    /// Records a problem at a range of the text.
    pub(super) fn problem(&mut self, piece: Range<usize>, what: String) {
        self.problem_in_line(self.line(&piece), what);
    }

    /// Records a problem on a line.
    pub(super) fn problem_in_line(&mut self, line: usize, what: String) {
        self.problems.push((line, what));
    }
}

/// Returns advice for an unknown name: the most similar name, or else all `names`.
pub(super) fn advice<'a>(unknown: &str, what: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match typo::nearest(unknown, names.clone()) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("the {what} are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// Describes a type mismatch.
pub(super) fn wrong_type(wanted: &str, value: &DeValue<'_>) -> String {
    format!("must be {wanted}, but is of type {}", value.type_str())
}
