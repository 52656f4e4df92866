//! What is wrong with the text of a configuration file, by its lines.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::typo;

/// What was found to be wrong with a text so far.
pub(super) struct ConfigProblems {
    /// Where its lines end, in bytes.
    breaks: Vec<usize>,
    /// With the numbers of the lines.
    pub(super) problems: Vec<(usize, String)>,
}

impl ConfigProblems {
    pub(super) fn new(text: &str) -> Self {
        Self { breaks: memchr::memchr_iter(b'\n', text.as_bytes()).collect(), problems: Vec::new() }
    }

    /// The rows of the table of a name; else notes what is `wanted`.
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

    /// The number of the line in which a piece begins.
    pub(super) fn line(&self, piece: &Range<usize>) -> usize {
        1 + self.breaks.partition_point(|&end| end < piece.start)
    }

    /// Notes what is wrong with a piece of the text.
    pub(super) fn problem(&mut self, piece: Range<usize>, what: String) {
        self.problem_in_line(self.line(&piece), what);
    }

    /// Notes what is wrong in a line.
    pub(super) fn problem_in_line(&mut self, line: usize, what: String) {
        self.problems.push((line, what));
    }
}

/// Advice for an unknown name: the name that was probably meant, else all `names` there are.
pub(super) fn advice<'a>(unknown: &str, what: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match typo::nearest(unknown, names.clone()) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("the {what} are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// What to say of a value of another type than is wanted.
pub(super) fn wrong_type(wanted: &str, value: &DeValue<'_>) -> String {
    format!("must be {wanted}, but is of type {}", value.type_str())
}
