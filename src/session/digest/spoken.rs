//! What the user and the assistant said, as far as it is kept while a file is read, and what of it was said last.

use crate::session::entry::kind::Kind;
use crate::session::entry::{Entry, row};
use crate::session::shape::{Index, Shape};

/// How much is kept of what was said, in UTF-16 code units.
const KEPT: usize = 400;

/// What was said last, as far as it is kept: as a row says it, but twice as much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSaid {
    /// The entry.
    pub at: Index,
    /// Its beginning: clean, on one line.
    pub text: Box<str>,
}

impl LastSaid {
    /// Whether it goes on behind what is kept.
    pub fn is_cut(&self) -> bool {
        self.text.len() >= KEPT && self.text.encode_utf16().count() + 1 >= KEPT
    }
}

/// What the user and the assistant said, as their rows begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spoken {
    rows: String,
    starts: Vec<Start>,
}

/// Where a row starts.
#[derive(Clone, Copy, Debug)]
struct Start {
    entry: Index,
    at: usize,
    is_user: bool,
}

impl Spoken {
    /// Takes the next entry that says something.
    pub(crate) fn push(&mut self, entry: Index, said: &Entry<'_>) {
        self.starts.push(Start { entry, at: self.rows.len(), is_user: said.kind == Kind::User });
        row::start_into(&mut self.rows, said, KEPT);
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The row of an entry.
    pub(super) fn row(&self, entry: Index) -> Option<usize> {
        self.starts.binary_search_by_key(&entry, |start| start.entry).ok()
    }

    /// What a row says.
    pub(super) fn text(&self, row: usize) -> &str {
        let start = |row: usize| self.starts.get(row).map_or(self.rows.len(), |start| start.at);
        &self.rows[start(row)..start(row + 1)]
    }

    /// The last prompt on the way to the leaf, and what was answered last since.
    pub(super) fn last(&self, shape: &Shape) -> (Option<LastSaid>, Option<LastSaid>) {
        let leaf = (shape.parents.len() as Index).checked_sub(1);
        let mut answer = None;
        for entry in std::iter::successors(leaf, |&at| shape.parents[at as usize]) {
            let Some(row) = self.row(entry).filter(|&row| !self.text(row).is_empty()) else { continue };
            let said = || LastSaid { at: entry, text: self.text(row).into() };
            if self.starts[row].is_user {
                return (Some(said()), answer);
            }
            answer.get_or_insert_with(said);
        }
        (None, answer)
    }
}
