//! What is looked for in a folded text: a word, a phrase, a pattern.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::base::javascript::is_js_space;
use crate::base::normalize::fold;
use crate::search::pattern::Pattern;
use crate::search::query::TermKind;

/// Something to look for.
pub(crate) enum Needle {
    /// A folded text.
    Word(Finder<'static>),
    /// Folded words with any white space between them.
    Phrase {
        /// The words.
        words: Vec<String>,
        /// The longest, which is looked for first,
        anchor: Finder<'static>,
        /// and its place among the words.
        at: usize,
    },
    /// A regular expression.
    Pattern(Pattern),
}

impl Needle {
    /// What a term looks for; `None` if it is a qualifier.
    pub(crate) fn of(what: &TermKind) -> Option<Self> {
        match what {
            TermKind::Word(word) => Some(Self::Word(Finder::new(&fold(word)).into_owned())),
            TermKind::Phrase(phrase) => {
                let words: Vec<String> = phrase.split(' ').map(fold).collect();
                let (at, longest) = words.iter().enumerate().max_by_key(|(_, word)| word.len())?;
                let anchor = Finder::new(longest).into_owned();
                Some(if words.len() == 1 { Self::Word(anchor) } else { Self::Phrase { at, anchor, words } })
            }
            TermKind::Pattern(pattern) => Some(Self::Pattern(pattern.clone())),
            _ => None,
        }
    }

    /// A word, folded, that is in every text that matches; `None` if that can't be told.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(finder) | Self::Phrase { anchor: finder, .. } => std::str::from_utf8(finder.needle()).ok(),
            Self::Pattern(_) => None,
        }
    }

    /// The first match in a folded text.
    pub(crate) fn find(&self, folded: &str) -> Option<Range<usize>> {
        match self {
            Self::Word(finder) => finder.find(folded.as_bytes()).map(|start| start..start + finder.needle().len()),
            Self::Phrase { words, anchor, at } => {
                let mut from = 0;
                while let Some(found) = anchor.find(&folded.as_bytes()[from..]) {
                    let start = from + found;
                    let end = start + anchor.needle().len();
                    let (before, after) = (&words[..*at], &words[*at + 1..]);
                    if let (Some(start), Some(end)) = (begins(&folded[..start], before), ends(folded, end, after)) {
                        return Some(start..end);
                    }
                    from = start + folded[start..].chars().next().map_or(1, char::len_utf8);
                }
                None
            }
            Self::Pattern(pattern) => pattern.find(folded),
        }
    }

    /// All matches in a folded text that don't overlap; those of nothing are left out.
    pub(crate) fn find_all(&self, folded: &str) -> Vec<Range<usize>> {
        let (mut all, mut from) = (Vec::new(), 0);
        match self {
            // Looking around must see what stands before.
            Self::Pattern(pattern) => all = pattern.find_all(folded),
            _ => {
                while let Some(found) = self.find(&folded[from..]).filter(|found| !found.is_empty()) {
                    all.push(from + found.start..from + found.end);
                    from += found.end;
                }
            }
        }
        all
    }
}

/// Where the words start, if they end the text, white space behind each.
fn begins(text: &str, words: &[String]) -> Option<usize> {
    let mut rest = text;
    for word in words.iter().rev() {
        let trimmed = rest.trim_end_matches(is_js_space);
        rest = trimmed.strip_suffix(word.as_str()).filter(|_| trimmed.len() < rest.len())?;
    }
    Some(rest.len())
}

/// Where the words end, if they follow right at `from`, white space before each.
fn ends(text: &str, from: usize, words: &[String]) -> Option<usize> {
    let mut rest = &text[from..];
    for word in words {
        let trimmed = rest.trim_start_matches(is_js_space);
        rest = trimmed.strip_prefix(word.as_str()).filter(|_| trimmed.len() < rest.len())?;
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn phrase(text: &str) -> Needle {
        Needle::of(&TermKind::Phrase(text.into())).unwrap()
    }

    #[test]
    fn phrases_match_across_white_space() {
        let find = |needle: &str, text: &'static str| phrase(needle).find(text).map(|at| &text[at]);
        assert_eq!(find("Foo bar", "xfoo \n\t barx"), Some("foo \n\t bar"));
        assert_eq!(find("foo bar", "foobar"), None);
        assert_eq!(find("a bbb c", "a bbb x bbb c a\u{feff}bbb\u{a0}c"), Some("a\u{feff}bbb\u{a0}c"));
        assert_eq!(find("aa b", "aaa b"), Some("aa b"));
        assert_eq!(find("é x", "éé x"), Some("é x"));
        assert_eq!(find("one", "one"), Some("one"));
    }

    proptest! {
        /// As pi does it: in the text with single spaces.
        #[test]
        fn phrases_are_found_as_in_normalized_text(words in "[ab]{1,3}( [ab]{1,2}){1,2}", text in "[ab \n]{0,30}") {
            let normal = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = phrase(&words).find(&text).map(|at| &text[at]);
            prop_assert_eq!(found.is_some(), normal.contains(&words));
            if let Some(found) = found {
                prop_assert_eq!(found.split_whitespace().collect::<Vec<_>>().join(" "), words);
            }
        }
    }
}
