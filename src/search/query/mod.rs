//! The parsed query: terms that must all match. Its display form parses to the same query. `Query::narrows` detects
//! queries that can reuse the hits of an earlier one.

pub mod complete;
mod parse;
mod token;

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use crate::base::normalize::fold;
use crate::search::fuzzy;
use crate::search::pattern::Pattern;
use crate::search::qualifier::Qualified;
use crate::search::qualifier::value::text::Text;
use crate::search::query::token::ALL;

/// The maximum number of distinct terms. Text pasted by mistake has more, and each costs memory and time.
pub(crate) const MAX_TERMS: usize = 64;

/// The maximum length of a query in bytes.
const MAX_BYTES: usize = 4000;

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// `true` for `all:`: also search tool output, thinking, arguments and custom entries.
    pub everything: bool,
    /// The terms, all of which must match.
    pub(crate) terms: Vec<Term>,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// `true` if the term is excluded (`-`).
    pub(crate) is_excluded: bool,
    /// The condition.
    pub(crate) kind: TermKind,
}

/// A condition on a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TermKind {
    /// The session contains a word.
    Word(String),
    /// The session contains words in sequence, separated by any white space (here one space).
    Phrase(String),
    /// `re:` A regular expression matches. The only term of its query.
    Pattern(Pattern),
    /// A qualifier matches.
    Qualified(Qualified),
    /// The name of a qualifier without a value yet. Matches every session, even if excluded.
    Unfinished(&'static str),
}

/// An error in a query.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct QueryProblem {
    /// The byte range in the query.
    pub at: Range<usize>,
    /// The problem and its fix.
    pub message: String,
}

impl Query {
    /// Returns `true` if the query is empty and matches every session.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.kind, TermKind::Unfinished(_)))
    }

    /// Returns the words and phrases that must match.
    pub fn words(&self) -> Vec<String> {
        let word = |term: &Term| match &term.kind {
            TermKind::Word(text) | TermKind::Phrase(text) if !term.is_excluded => Some(text.clone()),
            _ => None,
        };
        self.terms.iter().filter_map(word).collect()
    }

    /// Returns the query without its words and phrases.
    #[must_use]
    pub(crate) fn without_words(&self) -> Self {
        let is_word = |term: &&Term| !term.is_excluded && matches!(term.kind, TermKind::Word(_) | TermKind::Phrase(_));
        Self { everything: false, terms: self.terms.iter().filter(|term| !is_word(term)).cloned().collect() }
    }

    /// Returns the query with its words as file names (`file:`), or `None` if it has no words.
    #[must_use]
    pub(crate) fn as_files(&self) -> Option<Self> {
        let (mut query, mut has_word) = (Self { everything: false, terms: self.terms.clone() }, false);
        for term in query.terms.iter_mut().filter(|term| !term.is_excluded) {
            if let TermKind::Word(word) = &mut term.kind {
                let name = Text(std::mem::take(word));
                (term.kind, has_word) = (TermKind::Qualified(Qualified::File(name)), true);
            }
        }
        has_word.then_some(query)
    }

    /// Returns `true` if this query finds only sessions that `earlier` found, provided that both run at the same time
    /// on the same data. Then the next query can search only the hits.
    pub(crate) fn narrows(&self, earlier: &Self) -> bool {
        self.everything == earlier.everything
            && earlier.terms.iter().all(|wide| self.terms.iter().any(|narrow| narrow.implies(wide)) || wide.is_void())
    }
}

impl Term {
    fn is_void(&self) -> bool {
        matches!(self.kind, TermKind::Unfinished(_))
    }

    /// Returns `true` if every session that matches this term also matches `wide`.
    fn implies(&self, wide: &Self) -> bool {
        if self == wide {
            return true;
        }
        if self.is_excluded || wide.is_excluded {
            return false;
        }
        match (&self.kind, &wide.kind) {
            // The longer word can match fuzzily. Then its prefix matches too, unless it is too short.
            (TermKind::Word(narrow), TermKind::Word(wide)) => {
                let (narrow, wide) = (fold(narrow), fold(wide));
                narrow.starts_with(&wide) && fuzzy::is_long_enough(&wide)
            }
            (TermKind::Phrase(narrow), TermKind::Word(wide) | TermKind::Phrase(wide)) => {
                fold(narrow).contains(&fold(wide))
            }
            (TermKind::Qualified(narrow), TermKind::Qualified(wide)) => narrow.implies(wide),
            _ => false,
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if self.everything {
            f.write_str(ALL)?;
            separator = " ";
        }
        for term in &self.terms {
            write!(f, "{separator}{term}")?;
            separator = " ";
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_excluded {
            f.write_str("-")?;
        }
        match &self.kind {
            TermKind::Word(word) => f.write_str(word),
            TermKind::Phrase(phrase) => write!(f, "\"{phrase}\""),
            TermKind::Pattern(pattern) => write!(f, "re:{pattern}"),
            TermKind::Qualified(qualified) => write!(f, "{qualified}"),
            TermKind::Unfinished(name) => write!(f, "{name}:"),
        }
    }
}
