//! What a query asks, as data: terms that must all hold. It prints as a text that reads as the same query, and knows
//! when it can find nothing that an earlier one didn't.

pub mod complete;
mod parse;
pub mod pattern;
mod token;
pub mod value;

use std::fmt;
use std::ops::Range;

use crate::base::fold::fold;
use crate::search::find::fuzzy;
use crate::search::query::pattern::Pattern;
use crate::search::query::token::ALL;
use crate::search::query::value::{Bound, When};

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Whether it is for everything in the files (`all:`): tool output, thinking, arguments, custom entries.
    pub everything: bool,
    /// What must hold of a session.
    pub terms: Vec<Term>,
}

/// One thing that must hold, or must not.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether it must not hold (`-`).
    pub is_excluded: bool,
    /// The thing.
    pub what: What,
}

/// What can be asked of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A word stands in it.
    Word(String),
    /// Words stand in it one after the other, with any white space between; here with one space.
    Phrase(String),
    /// `re:` A regular expression matches in it. It is the only term of its query.
    Pattern(Pattern),
    /// `in:` Its project is this directory or below it.
    In(String),
    /// `file:` A tool touched such a file.
    File(String),
    /// `edited:` A tool wrote or edited such a file.
    Edited(String),
    /// `label:` It has such a label.
    Label(String),
    /// `model:` Such a model answered.
    Model(String),
    /// `tool:` Such a tool was called.
    Tool(String),
    /// `is:` It is of a kind.
    Is(Kind),
    /// `after:` It was active at that time or later.
    After(When),
    /// `before:` It was last active before that time.
    Before(When),
    /// `cost:` What it cost, in US dollars.
    Cost(Bound),
    /// `size:` How long the file is, in bytes.
    Size(Bound),
    /// `entries:` How many entries it has.
    Entries(Bound),
    /// A qualifier whose value is still to be typed: it holds for every session, excluded or not.
    Unfinished(Name),
}

/// An enum of names that stand in queries.
macro_rules! names {
    ($(#[$doc:meta])* $choice:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $choice { $($(#[$variant_doc])* $variant,)* }

        impl $choice {
            /// Every one, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it stands in a query.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The one with this name.
            pub fn of(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

names! {
    /// The qualifiers: what stands before the colon.
    Name {
        /// A project directory.
        In = "in",
        /// A file that a tool read, wrote or edited.
        File = "file",
        /// A file that a tool wrote or edited.
        Edited = "edited",
        /// A label.
        Label = "label",
        /// A model.
        Model = "model",
        /// A tool.
        Tool = "tool",
        /// A kind of session.
        Is = "is",
        /// A time.
        After = "after",
        /// A time.
        Before = "before",
        /// US dollars.
        Cost = "cost",
        /// Bytes.
        Size = "size",
        /// A number of entries.
        Entries = "entries",
    }
}

names! {
    /// The kinds of sessions that `is:` knows.
    Kind {
        /// It has a name.
        Named = "named",
        /// An entry has a label.
        Labelled = "labelled",
        /// It has forks.
        Forked = "forked",
        /// It was forked from another session.
        Fork = "fork",
        /// An entry has more than one child.
        Branched = "branched",
        /// It has more than one end, so that at least one was left.
        Abandoned = "abandoned",
        /// A pi is at work in it.
        Live = "live",
        /// Something is wrong with the file.
        Damaged = "damaged",
        /// No user message has text.
        Empty = "empty",
    }
}

/// What is wrong with a query, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The bytes of the query.
    pub at: Range<usize>,
    /// What is wrong and what to do.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Problem {}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// The first thing that is wrong: a qualifier that is not known, a value that is none, an invalid pattern.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        parse::query(text)
    }

    /// Whether it asks nothing, so that every session is found.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.what, What::Unfinished(_)))
    }

    /// The words and phrases that must be somewhere.
    pub fn words(&self) -> Vec<String> {
        let word = |term: &Term| match &term.what {
            What::Word(text) | What::Phrase(text) if !term.is_excluded => Some(text.clone()),
            _ => None,
        };
        self.terms.iter().filter_map(word).collect()
    }

    /// The query without them: what must hold besides.
    #[must_use]
    pub fn without_words(&self) -> Self {
        let is_word = |term: &&Term| !term.is_excluded && matches!(term.what, What::Word(_) | What::Phrase(_));
        Self { everything: false, terms: self.terms.iter().filter(|term| !is_word(term)).cloned().collect() }
    }

    /// Whether certainly nothing is found that `earlier` didn't find, as long as both are asked at the same time and
    /// nothing more was read of the sessions in between: what is typed next can then be searched among the hits.
    pub fn narrows(&self, earlier: &Self) -> bool {
        self.everything == earlier.everything
            && earlier.terms.iter().all(|wide| self.terms.iter().any(|narrow| narrow.implies(wide)) || wide.is_void())
    }
}

impl Term {
    fn is_void(&self) -> bool {
        matches!(self.what, What::Unfinished(_))
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
            (What::Word(narrow), What::Word(wide)) => {
                let (narrow, wide) = (fold(narrow), fold(wide));
                narrow.starts_with(&wide) && fuzzy::is_long_enough(&wide)
            }
            (What::Phrase(narrow), What::Word(wide) | What::Phrase(wide)) => fold(narrow).contains(&fold(wide)),
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
            What::Word(word) => f.write_str(word),
            What::Phrase(phrase) => write!(f, "\"{phrase}\""),
            What::Pattern(pattern) => write!(f, "re:{pattern}"),
            What::In(value) => qualifier(f, Name::In, &in_quotes(value)),
            What::File(value) => qualifier(f, Name::File, &in_quotes(value)),
            What::Edited(value) => qualifier(f, Name::Edited, &in_quotes(value)),
            What::Label(value) => qualifier(f, Name::Label, &in_quotes(value)),
            What::Model(value) => qualifier(f, Name::Model, &in_quotes(value)),
            What::Tool(value) => qualifier(f, Name::Tool, &in_quotes(value)),
            What::Is(kind) => qualifier(f, Name::Is, &kind.name()),
            What::After(when) => qualifier(f, Name::After, when),
            What::Before(when) => qualifier(f, Name::Before, when),
            What::Cost(bound) => qualifier(f, Name::Cost, bound),
            What::Size(bound) => qualifier(f, Name::Size, bound),
            What::Entries(bound) => qualifier(f, Name::Entries, bound),
            What::Unfinished(name) => qualifier(f, *name, &""),
        }
    }
}

fn qualifier(f: &mut fmt::Formatter<'_>, name: Name, value: &dyn fmt::Display) -> fmt::Result {
    write!(f, "{}:{value}", name.name())
}

/// A qualifier's value as it stands in a query: in quotes, if it would end or mean something else without.
pub(crate) fn in_quotes(value: &str) -> String {
    let needs_quotes =
        value.contains(crate::base::js::is_js_space) || value.starts_with(':') || value.starts_with("//");
    if needs_quotes { format!("\"{value}\"") } else { value.to_string() }
}
