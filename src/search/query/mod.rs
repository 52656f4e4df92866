//! The query: terms that must all match, parsed from words, phrases and qualifiers with their values. Its display form
//! parses to the same query. `Query::narrows` detects queries that can reuse the hits of an earlier one.

pub mod complete;
mod token;

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use crate::base::javascript::{is_js_space, js_trim};
use crate::base::normalize::fold;
use crate::base::typo;
use crate::search::pattern::Pattern;
use crate::search::qualifier::value::Needs;
use crate::search::qualifier::{Qualified, QualifierRow};
use crate::search::query::token::{ALL, Token, after_all, tokens};
use crate::search::{fuzzy, qualifier};
use crate::session::stats::entry_stats::EntryRole;

/// The maximum length of a query in bytes.
const MAX_BYTES: usize = 4000;

/// The prefix that turns the rest into a regular expression.
const PATTERN: &str = "re:";

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
    /// Parses a query. Duplicate terms are removed.
    ///
    /// # Errors
    /// The first problem: an unknown qualifier, an invalid value, an invalid pattern, or a text that is too long.
    pub fn parse(text: &str) -> Result<Self, QueryProblem> {
        if text.len() > MAX_BYTES {
            return Err(problem(0..text.len(), format!("query too long: at most {MAX_BYTES} bytes are allowed")));
        }
        let mut query = Self::default();
        let mut rest = js_trim(text);
        while let Some(after) = after_all(rest) {
            query.everything = true;
            rest = js_trim(after);
        }
        // `rest` is a part of `text` that is followed by white space only.
        let start = text.trim_end_matches(is_js_space).len().saturating_sub(rest.len());
        if let Some(pattern) = rest.strip_prefix(PATTERN) {
            let pattern = js_trim(pattern);
            if !pattern.is_empty() {
                let wrong = |message| QueryProblem { at: start..start + rest.len(), message };
                let kind = TermKind::Pattern(Pattern::new(pattern).map_err(wrong)?);
                query.terms.push(Term { is_excluded: false, kind });
            }
            return Ok(query);
        }
        for token in tokens(rest) {
            let at = token.at.start + start..token.at.end + start;
            let is_pattern = !token.is_quoted && rest[token.at.clone()].trim_start_matches('-').starts_with(PATTERN);
            let term = match token.qualifier.map(qualifier::named) {
                _ if is_pattern => {
                    let what = "re: must be at the start of the query; quote it to search for the text";
                    return Err(problem(at, what));
                }
                // `all:` is the only name outside of the table.
                Some(None) => {
                    if token.is_excluded {
                        return Err(problem(at, "all: cannot be excluded; remove the -"));
                    }
                    query.everything = true;
                    None
                }
                Some(Some(row)) => Some(qualified(&token, row, at.clone())?),
                None => plain(&token),
            };
            // Without one of its literal quotes, the printed query would contain phrases.
            let has_quote = token.text.contains('"');
            if let Some(term) = term.filter(|term| has_quote || !query.terms.contains(term)) {
                query.terms.push(term);
            }
        }
        // Only a search of everything finds words in tool output.
        query.everything |= query.roles().contains(&EntryRole::Result) && !query.words().is_empty();
        Ok(query)
    }

    /// Returns the roles of the entries in which words must match (`role:`); empty for all entries.
    pub(crate) fn roles(&self) -> Vec<EntryRole> {
        let role = |term: &Term| match &term.kind {
            TermKind::Qualified(qualified) if !term.is_excluded => qualified.role(),
            _ => None,
        };
        self.terms.iter().filter_map(role).collect()
    }

    /// Returns a word that begins like a misspelled qualifier (`lable:x`), and the name of the qualifier.
    pub fn likely_typo(&self) -> Option<(&str, &'static str)> {
        self.terms.iter().find_map(|term| match &term.kind {
            TermKind::Word(word) => {
                let names = qualifier::TABLE.iter().map(|row| row.name);
                Some((&**word, typo::likely_typo_of(word.split_once(':')?.0, names)?))
            }
            _ => None,
        })
    }

    /// Returns `true` if the query is empty and matches every session.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.kind, TermKind::Unfinished(_)))
    }

    /// Returns `true` if a search could not decide for every text whether the pattern matches, because it backtracked
    /// too much.
    pub fn is_undecided(&self) -> bool {
        self.terms.iter().any(|term| matches!(&term.kind, TermKind::Pattern(pattern) if pattern.is_undecided()))
    }

    /// Returns `true` if a qualifier has one of these needs.
    pub(crate) fn needs(&self, needs: Needs) -> bool {
        self.terms.iter().any(|term| matches!(&term.kind, TermKind::Qualified(qualified) if qualified.needs(needs)))
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

    /// Splits the terms of the query: those to keep, and those at places for which `is_left_out` holds.
    #[must_use]
    pub(crate) fn without(&self, is_left_out: impl Fn(usize) -> bool) -> (Self, Self) {
        let (left_out, kept): (Vec<_>, Vec<_>) =
            self.terms.iter().cloned().enumerate().partition(|(place, _)| is_left_out(*place));
        let query = |everything, terms: Vec<(usize, Term)>| Self {
            everything,
            terms: terms.into_iter().map(|(_, term)| term).collect(),
        };
        (query(self.everything, kept), query(false, left_out))
    }

    /// Returns the word or the phrase that must match, if the term is one.
    pub(crate) fn word_at(&self, place: usize) -> Option<&str> {
        match self.terms.get(place)? {
            Term { is_excluded: false, kind: TermKind::Word(text) | TermKind::Phrase(text) } => Some(text),
            _ => None,
        }
    }

    /// Returns the query with another word in a place.
    #[must_use]
    pub(crate) fn with_word(&self, place: usize, word: &str) -> Self {
        let mut query = self.clone();
        query.terms[place] = Term { is_excluded: false, kind: TermKind::Word(word.into()) };
        query
    }

    /// Returns the query with its words as file names (`file:`), or `None` if it has no words.
    #[must_use]
    pub(crate) fn as_files(&self) -> Option<Self> {
        let (mut query, mut has_word) = (Self { everything: false, terms: self.terms.clone() }, false);
        for term in query.terms.iter_mut().filter(|term| !term.is_excluded) {
            if let TermKind::Word(word) = &term.kind
                && let Some(Ok(Some(file))) = qualifier::named("file").map(|row| row.read(word))
            {
                (term.kind, has_word) = (TermKind::Qualified(file), true);
            }
        }
        has_word.then_some(query)
    }

    /// Returns `true` if this query finds only sessions that `earlier` found, provided that both run at the same time
    /// on the same data. Then the next query can search only the hits.
    pub(crate) fn narrows(&self, earlier: &Self) -> bool {
        let roles = earlier.roles();
        self.everything == earlier.everything
            && (roles.is_empty() || self.roles() == roles)
            && earlier.terms.iter().all(|wide| self.terms.iter().any(|narrow| narrow.implies(wide)) || wide.is_void())
    }
}

fn problem(at: Range<usize>, message: impl Into<String>) -> QueryProblem {
    QueryProblem { at, message: message.into() }
}

/// Parses a word or a phrase. Returns `None` for an empty phrase.
fn plain(token: &Token<'_>) -> Option<Term> {
    let kind = if token.is_quoted {
        let words: Vec<&str> = token.text.split(is_js_space).filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| TermKind::Phrase(words.join(" ")))
    } else {
        Some(TermKind::Word(token.text.into()))
    };
    Some(Term { is_excluded: token.is_excluded, kind: kind? })
}

fn qualified(token: &Token<'_>, row: &'static QualifierRow, at: Range<usize>) -> Result<Term, QueryProblem> {
    let value = js_trim(token.text);
    let read = if value.is_empty() { Ok(None) } else { row.read(value) };
    let read = read.map_err(|message| problem(at, message))?;
    let kind = read.map_or(TermKind::Unfinished(row.name), TermKind::Qualified);
    Ok(Term { is_excluded: token.is_excluded, kind })
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Query {
        Query::parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    /// The parsed terms, one per line.
    fn terms(text: &str) -> String {
        read(text).terms.iter().map(|term| format!("[{term}]")).collect()
    }

    #[test]
    fn splits_words_and_phrases_like_pi() {
        for (text, cut) in [
            ("  foo   bar ", "[foo][bar]"),
            (r#"foo "node   cve" bar"#, r#"[foo]["node cve"][bar]"#),
            (r#"foo"bar baz"qux"#, r#"[foo]["bar baz"][qux]"#),
            (r#""" " " x"#, "[x]"),
            (r#"foo "bar baz"#, r#"[foo]["bar][baz]"#),
            (r#"a"b "c" d"#, r#"[a"b]["c"][d]"#),
            ("\u{feff}a\u{a0}b\u{2003}c\u{85}d", "[a][b][c\u{85}d]"),
        ] {
            assert_eq!(terms(text), cut, "{text}");
        }
        // Without its closing quote, `"c"` is a word that contains quotes.
        assert!(matches!(&read(r#"a"b "c" d"#).terms[1].kind, TermKind::Word(word) if word == r#""c""#));
    }

    #[test]
    fn parses_pasted_text_as_words() {
        for text in [
            "TypeError: x",
            "foo::bar",
            "std::io::Error",
            "model::User",
            "all::x",
            "http://x.org",
            "https://x.org:80/a",
            "file:///etc/passwd",
            r"c:\dir",
            "C:/dir",
            "a:b",
            "error: x",
            "src/main.rs:10:5",
            "--force",
            "->",
            "-",
            "12:30",
            "Foo:bar",
            "x=y:z",
            "warning: unused",
            "localhost:3000",
            "nginx:latest",
            "node:fs",
            "lable:",
        ] {
            let query = read(text);
            let is_word = |term: &Term| matches!(term.kind, TermKind::Word(_)) && !term.is_excluded;
            assert!(query.terms.iter().all(is_word) && !query.everything, "{text}: {query:?}");
            assert_eq!(query.to_string(), text);
        }
    }

    #[test]
    fn names_near_a_qualifier_are_likely_typos() {
        for (text, name) in [("x lable:works", Some("label")), ("\"lable:x\"", None), ("-is:named node:fs a", None)] {
            assert_eq!(read(text).likely_typo().map(|(_, name)| name), name, "{text}");
        }
    }

    #[test]
    fn parses_qualifiers() {
        for (text, same) in [
            (r#"in:"~/my dir" x"#, r#"[in:"~/my dir"][x]"#),
            (r#"in:"~/my d"#, r#"[in:"~/my d"]"#),
            (r#"in:"x"y"#, "[in:x][y]"),
            ("in: x", "[in:][x]"),
            ("-in:x -\"a b\" -c --d", "[-in:x][-\"a b\"][-c][--d]"),
            ("file:src/a.rs edited:b label:c model:d tool:e", "[file:src/a.rs][edited:b][label:c][model:d][tool:e]"),
            ("is:named is:labeled", "[is:named][is:labeled]"),
            ("after:2w before:2026-05-01", "[after:2w][before:2026-05-01]"),
            ("cost:1 size:>1M entries:<=500 cost:>", "[cost:>=1][size:>1000000][entries:<=500][cost:]"),
            (r#""in:x""#, r#"["in:x"]"#),
            ("x all:y", "[x][y]"),
            ("all:is:fork", "[is:fork]"),
            (r#"all:"a b""#, r#"["a b"]"#),
            ("re: a  b ", "[re:a  b]"),
            ("all: re:x", "[re:x]"),
            (r#"who:"a b" from:me"#, r#"[who:]["a b"][role:user]"#),
            ("re:", ""),
        ] {
            assert_eq!(terms(text), same, "{text}");
        }
        assert!(read("role:tool x").everything && !read("role:tool -x").everything && !read("role:user x").everything);
        assert!(read("x all:y").everything && read("all:").everything && !read("\"all:\"").everything);
        assert!(read("in: -is: cost:>").is_empty() && !read("x").is_empty());
    }

    #[test]
    fn removes_duplicate_terms_and_limits_the_length() {
        assert_eq!(terms("b a in:x b -b \"a c\" in:x A \"a  c\""), "[b][a][in:x][-b][\"a c\"][A]");
        let words = |count: usize| (0..count).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ");
        assert_eq!(read(&(words(200) + " w0 w1")).terms.len(), 200);
        let query = read("\"- \" \"");
        assert_eq!(read(&query.to_string()), query);
        assert!(Query::parse(&"é".repeat(MAX_BYTES / 2 + 1)).unwrap_err().message.contains("too long"));
    }

    #[test]
    fn reports_errors_with_their_position() {
        let wrong = |text: &str| Query::parse(text).unwrap_err();
        let problem = wrong("é has:x y");
        assert_eq!(&"é has:x y"[problem.at.clone()], "has:x");
        assert!(problem.message.contains("known: note, tag"), "{problem}");
        assert!(wrong("is:nmaed").message.contains("abandoned"));
        for text in ["x re:y", "\"\"re::", "x re:", "-re:x"] {
            assert!(wrong(text).message.contains("at the start"), "{text}");
        }
        assert!(wrong("-all:x").message.contains("all:"));
        let problem = wrong(" all: -after:x ");
        assert_eq!(&" all: -after:x "[problem.at], "-after:x");
        let problem = wrong(" all: re:( ");
        assert_eq!(&" all: re:( "[problem.at], "re:(");
        assert!(!problem.message.is_empty());
    }

    #[test]
    fn narrows_when_a_word_grows() {
        for (narrow, wide) in [
            ("auth", "aut"),
            ("auth", ""),
            ("a", ""),
            ("x auth", "auth"),
            ("foo auth", "foo aut"),
            ("AUTHx", "auth"),
            (r#""foo ba""#, r#""foo b""#),
            (r#""foo ba""#, "ba"),
            ("in:x auth", "in:x"),
            ("auth", "auth in:"),
            ("-x auth", "auth"),
            ("label:Works", "label:work"),
            ("-tool:bash", "-tool:bash"),
        ] {
            assert!(read(narrow).narrows(&read(wide)), "{narrow} in {wide}");
        }
        for (narrow, wide) in [
            ("auth", "au"),
            ("auth", "uth"),
            ("aut", "auth"),
            ("-auth", "-aut"),
            ("-aut", "-auth"),
            ("auth", "-aut"),
            ("all:auth", "auth"),
            ("auth", "all:auth"),
            ("re:auth", "aut"),
            ("cost:>10", "cost:>1"),
            (r#""auth"#, "auth"),
            ("auth", r#""auth""#),
            ("e\u{301}tude", "etu"),
            ("label:work", "label:works"),
            ("-label:works", "-label:work"),
            ("label:works", "model:work"),
            ("file:auth.rs", "file:auth"),
            ("role:user role:assistant x", "role:user x"),
        ] {
            assert!(!read(narrow).narrows(&read(wide)), "{narrow} in {wide}");
        }
    }

    /// Generates texts similar to queries.
    fn nearly() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "\"",
            "\"",
            "\"",
            " ",
            " ",
            " ",
            "-",
            ":",
            "/",
            "all:",
            "in:",
            "file:",
            "re:",
            "is:named",
            "is:",
            "after:2w",
            "before:",
            "2026-05",
            "cost:>1.5",
            "size:<=2k",
            "entries:",
            "label:",
            "a",
            "b c",
            "foo",
            "É",
            "e\u{301}",
            "\u{a0}",
            "\n",
            "\\",
            "~/x",
            "x:y",
            "error:",
            "http://",
            "::",
        ]);
        let qualifier = prop::sample::select(qualifier::TABLE.iter().map(|row| row.example).collect::<Vec<_>>());
        let piece = prop_oneof![9 => piece, 1 => qualifier];
        prop_oneof![
            prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat()),
            any::<String>(),
            "(re:)?[a-c()\\[\\]{}?*+|^$.\\\\bdw0-3,:<=!-]{0,12}",
        ]
    }

    proptest! {
        #[test]
        // Mistakes were rare among these texts.
        fn displayed_queries_parse_to_the_same_query(texts in prop::collection::vec(nearly(), 100)) {
            for text in texts {
                match Query::parse(&text) {
                    Ok(query) => {
                        let printed = query.to_string();
                        prop_assert_eq!(Query::parse(&printed), Ok(query), "{} printed as {}", text, printed);
                    }
                    Err(problem) => prop_assert!(text.get(problem.at).is_some_and(|at| !at.is_empty())),
                }
            }
        }
    }
}
