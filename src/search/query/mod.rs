//! What a query asks, as data: terms that must all hold. It prints as a text that reads as the same query, and knows
//! when it can find nothing that an earlier one didn't.

pub mod complete;
mod parse;
mod token;

use std::fmt;
use std::ops::Range;

use crate::base::normalize::fold;
use crate::search::fuzzy;
use crate::search::pattern::Pattern;
use crate::search::qualifier;
use crate::search::qualifier::Qualified;
use crate::search::query::token::ALL;

/// The most different terms of a query. What is pasted by mistake has more, and each of them costs memory and time.
pub(crate) const MOST_TERMS: usize = 64;

/// The most bytes of a query.
const MOST_BYTES: usize = 4000;

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Whether it is for everything in the files (`all:`): tool output, thinking, arguments, custom entries.
    pub everything: bool,
    /// What must hold of a session.
    pub(crate) terms: Vec<Term>,
}

/// One thing that must hold, or must not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// Whether it must not hold (`-`).
    pub(crate) is_excluded: bool,
    /// The thing.
    pub(crate) what: TermKind,
}

/// What can be asked of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TermKind {
    /// A word stands in it.
    Word(String),
    /// Words stand in it one after the other, with any white space between; here with one space.
    Phrase(String),
    /// `re:` A regular expression matches in it. It is the only term of its query.
    Pattern(Pattern),
    /// What a qualifier asks holds for it.
    Qualified(Qualified),
    /// The name of a qualifier whose value is still to be typed: it holds for every session, excluded or not.
    Unfinished(&'static str),
}

/// What is wrong with a query, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProblem {
    /// The bytes of the query.
    pub at: Range<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

impl fmt::Display for QueryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for QueryProblem {}

impl Query {
    /// Whether it asks nothing, so that every session is found.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.what, TermKind::Unfinished(_)))
    }

    /// The words and phrases that must be somewhere.
    pub fn words(&self) -> Vec<String> {
        let word = |term: &Term| match &term.what {
            TermKind::Word(text) | TermKind::Phrase(text) if !term.is_excluded => Some(text.clone()),
            _ => None,
        };
        self.terms.iter().filter_map(word).collect()
    }

    /// The query without them: what must hold besides.
    #[must_use]
    pub(crate) fn without_words(&self) -> Self {
        let is_word = |term: &&Term| !term.is_excluded && matches!(term.what, TermKind::Word(_) | TermKind::Phrase(_));
        Self { everything: false, terms: self.terms.iter().filter(|term| !is_word(term)).cloned().collect() }
    }

    /// The query with files instead of the words; nothing if there is no word that a file may be called by.
    #[must_use]
    pub(crate) fn as_files(&self) -> Option<Self> {
        let is_word = |term: &Term| !term.is_excluded && matches!(term.what, TermKind::Word(_));
        let as_file = |term: &Term| match &term.what {
            TermKind::Word(word) if !term.is_excluded => {
                let what = TermKind::Qualified(qualifier::file(word)?);
                Some(Term { what, ..term.clone() })
            }
            _ => Some(term.clone()),
        };
        let terms: Option<Vec<Term>> = self.terms.iter().map(as_file).collect();
        terms.filter(|_| self.terms.iter().any(is_word)).map(|terms| Self { everything: false, terms })
    }

    /// Whether certainly nothing is found that `earlier` didn't find, as long as both are asked at the same time and
    /// nothing more was read of the sessions in between: what is typed next can then be searched among the hits.
    pub(crate) fn narrows(&self, earlier: &Self) -> bool {
        self.everything == earlier.everything
            && earlier.terms.iter().all(|wide| self.terms.iter().any(|narrow| narrow.implies(wide)) || wide.is_void())
    }
}

impl Term {
    fn is_void(&self) -> bool {
        matches!(self.what, TermKind::Unfinished(_))
    }

    /// Whether `wide` holds wherever this holds.
    fn implies(&self, wide: &Self) -> bool {
        if self == wide {
            return true;
        }
        if self.is_excluded || wide.is_excluded {
            return false;
        }
        match (&self.what, &wide.what) {
            // The longer one may match fuzzily only; then so does what it begins with, unless that is too short.
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
        match &self.what {
            TermKind::Word(word) => f.write_str(word),
            TermKind::Phrase(phrase) => write!(f, "\"{phrase}\""),
            TermKind::Pattern(pattern) => write!(f, "re:{pattern}"),
            TermKind::Qualified(qualified) => write!(f, "{qualified}"),
            TermKind::Unfinished(name) => write!(f, "{name}:"),
        }
    }
}
