//! Regular expressions of queries, with the meaning of JavaScript's flag `i` without `u`, as in pi's picker (1.6.0).
//! They are translated to the syntax of the regex crates and run on folded text.
//!
//! Differences from JavaScript: a character outside the basic plane is one `.`, not two; a lookbehind must have a fixed
//! length; a backreference to a group that did not participate fails; a match that backtracks too much fails, and the
//! pattern records it.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::normalize::{composed, fold_char};

/// The limit of backtracking steps, about 50 ms.
const BACKTRACKS: usize = 2_000_000;

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
/// White space of JavaScript, in a class.
pub(crate) const SPACE: &str = r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
/// The translation of `.`.
const NO_BREAK: &str = r"[^\n\r\u{2028}\u{2029}]";
const ANYTHING: &str = r"[\s\S]";
const NOTHING: &str = r"[^\s\S]";
/// The translation of `\b`: word characters of JavaScript are ASCII.
const BOUNDARY: &str = r"(?-u:\b)";
/// The same for the backtracking engine, which has no ASCII `\b`.
const FANCY_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
/// The translation of `\B`.
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    engine: RegexEngine,
    /// `true` after a search that backtracked too much. Shared by all copies.
    is_undecided: Arc<AtomicBool>,
}

/// A search that backtracked too much.
#[derive(Debug)]
pub(crate) struct Undecided;

#[derive(Clone, Debug)]
enum RegexEngine {
    /// Matches in linear time.
    Plain(regex::Regex),
    /// Supports backtracking: lookaround and backreferences.
    Fancy(Box<fancy_regex::Regex>),
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The reason in one line if the pattern is invalid.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let invalid = |reason: String| format!("invalid pattern: {reason}");
        let (translated, needs_fancy) = Translation::of(&composed(source)).map_err(invalid)?;
        let engine = if needs_fancy {
            let mut builder = fancy_regex::RegexBuilder::new(&translated.replace(BOUNDARY, FANCY_BOUNDARY));
            let built = builder.backtrack_limit(BACKTRACKS).build();
            RegexEngine::Fancy(Box::new(built.map_err(|error| invalid(last_line(&error)))?))
        } else {
            RegexEngine::Plain(regex::Regex::new(&translated).map_err(|error| invalid(last_line(&error)))?)
        };
        Ok(Self { source: source.to_string(), engine, is_undecided: Arc::default() })
    }

    /// Returns `true` if a text was not searched to its end, because the pattern backtracked too much.
    pub(crate) fn is_undecided(&self) -> bool {
        self.is_undecided.load(Ordering::Relaxed)
    }

    /// Records that a text was not searched to its end.
    pub(crate) fn set_undecided(&self) {
        self.is_undecided.store(true, Ordering::Relaxed);
    }

    /// Returns the first match in a folded text. A search that backtracks too much has no match.
    pub(crate) fn find(&self, folded: &str) -> Option<Range<usize>> {
        self.try_find(folded).unwrap_or_else(|Undecided| {
            self.set_undecided();
            None
        })
    }

    /// Returns the first match in a folded text.
    ///
    /// # Errors
    /// The search backtracks too much.
    pub(crate) fn try_find(&self, folded: &str) -> Result<Option<Range<usize>>, Undecided> {
        match &self.engine {
            RegexEngine::Plain(regex) => Ok(regex.find(folded).map(|found| found.range())),
            RegexEngine::Fancy(regex) => {
                regex.find(folded).map(|found| found.map(|found| found.range())).map_err(|_| Undecided)
            }
        }
    }

    /// Returns all matches in a folded text that are not empty.
    pub(crate) fn find_all(&self, folded: &str) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = match &self.engine {
            RegexEngine::Plain(regex) => regex.find_iter(folded).map(|found| found.range()).collect(),
            RegexEngine::Fancy(regex) => {
                regex.find_iter(folded).map_while(Result::ok).map(|found| found.range()).collect()
            }
        };
        all.retain(|found| !found.is_empty());
        all
    }
}

/// Returns the last line of an error, without the drawing of the pattern.
fn last_line(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().next_back().unwrap_or_default();
    line.trim_start_matches("error: ").to_string()
}

/// The translation of a JavaScript pattern to the syntax of the crates.
#[derive(Default)]
struct Translation<'a> {
    rest: &'a str,
    out: String,
    needs_fancy: bool,
    /// `true` if a quantifier can follow.
    is_atom: bool,
    /// For each open group, `true` if a quantifier can follow it.
    open: Vec<bool>,
    groups: usize,
    has_names: bool,
}

impl<'a> Translation<'a> {
    /// Translates a composed pattern. Also returns `true` if it needs the backtracking engine.
    fn of(source: &'a str) -> Result<(String, bool), String> {
        let (groups, has_names) = groups(source);
        let mut translation = Self { rest: source, groups, has_names, ..Self::default() };
        while let Some(c) = translation.next() {
            translation.part(c)?;
        }
        if !translation.open.is_empty() {
            return Err("unclosed group".into());
        }
        Ok((translation.out, translation.needs_fancy))
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Returns `true` and skips `text` if it is next.
    fn skip(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Parses a group name up to `>`, which can be missing at the end.
    fn name(&mut self) -> (&'a str, bool) {
        let (name, after) = self.rest.split_once('>').unwrap_or((self.rest, ""));
        let is_closed = name.len() < self.rest.len();
        self.rest = after;
        (name, is_closed)
    }

    fn part(&mut self, c: char) -> Result<(), String> {
        match c {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.group()?,
            ')' => {
                self.is_atom = self.open.pop().ok_or("unmatched )")?;
                self.out.push(')');
            }
            '|' | '^' | '$' => self.no_atom(c.encode_utf8(&mut [0; 4])),
            '.' => self.atom(NO_BREAK),
            '*' | '+' | '?' => self.repeat(c.encode_utf8(&mut [0; 4]))?,
            '{' => match self.counts()? {
                Some(counts) => self.repeat(&format!("{{{counts}}}"))?,
                None => self.literal(c),
            },
            _ => self.literal(c),
        }
        Ok(())
    }

    /// Appends a part that can be repeated.
    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.is_atom = true;
    }

    /// Appends a part that cannot be repeated.
    fn no_atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.is_atom = false;
    }

    /// Appends a literal character. Text is folded, so no flag is needed and the search is fast.
    fn literal(&mut self, c: char) {
        match c {
            'İ' => self.atom("(?:i\u{307})"),
            _ => self.atom(&regex::escape(fold_char(c).encode_utf8(&mut [0; 4]))),
        }
    }

    fn repeat(&mut self, quantifier: &str) -> Result<(), String> {
        if !self.is_atom {
            return Err(format!("nothing to repeat before {quantifier}"));
        }
        self.no_atom(quantifier);
        if self.skip("?") {
            self.out.push('?');
        }
        Ok(())
    }

    /// Parses the rest of `{2}`, `{2,}` or `{2,3}`; otherwise the brace is literal.
    fn counts(&mut self) -> Result<Option<&'a str>, String> {
        let Some((counts, after)) = self.rest.split_once('}') else { return Ok(None) };
        let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if least.is_empty() || !is_number(least) || !is_number(most) {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("too many repetitions: {text}"));
        if !most.is_empty() && number(least)? > number(most)? {
            return Err(format!("numbers out of order in {{{counts}}}"));
        }
        self.rest = after;
        Ok(Some(counts))
    }

    fn group(&mut self) -> Result<(), String> {
        let mut can_repeat = true;
        if !self.skip("?") {
            self.out.push('(');
        } else {
            let start = ["<=", "<!", ":", "=", "!", "<"].into_iter().find(|start| self.skip(start));
            let start = start.ok_or("unsupported group; supported: (?: (?= (?! (?<= (?<! (?<name>")?;
            self.needs_fancy |= ["<=", "<!", "=", "!"].contains(&start);
            can_repeat = !["<=", "<!"].contains(&start);
            write!(self.out, "(?{start}").unwrap_or_default();
            if start == "<" {
                let (name, is_closed) = self.name();
                if name.is_empty() || !is_closed {
                    return Err("unclosed group name".into());
                }
                write!(self.out, "{name}>").unwrap_or_default();
            }
        }
        self.open.push(can_repeat);
        self.is_atom = false;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        if self.rest.is_empty() {
            return Err("trailing backslash".into());
        }
        let digits = &self.rest[..self.rest.bytes().take_while(u8::is_ascii_digit).count()];
        let is_reference = digits.parse().is_ok_and(|group| (1..=self.groups).contains(&group));
        if let Some((set, is_excluded)) = self.set() {
            self.atom(&format!("[{}{set}]", if is_excluded { "^" } else { "" }));
        } else if self.skip("b") {
            self.no_atom(BOUNDARY);
        } else if self.skip("B") {
            self.needs_fancy = true;
            self.no_atom(NO_BOUNDARY);
        } else if self.has_names && self.skip("k") {
            self.needs_fancy = true;
            let (name, _) = self.name();
            self.atom(&format!("(?:\\k{name}>)"));
        } else if is_reference && !digits.starts_with('0') {
            self.needs_fancy = true;
            self.rest = &self.rest[digits.len()..];
            self.atom(&format!("(?:\\{digits})"));
        } else {
            let c = self.character();
            self.literal(c);
        }
        Ok(())
    }

    /// Parses the character of an escape after the backslash.
    fn character(&mut self) -> char {
        let Some(c) = self.next() else { return '\\' };
        match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'c' => match self.rest.bytes().next().filter(u8::is_ascii_alphabetic) {
                Some(letter) => {
                    self.rest = &self.rest[1..];
                    char::from(letter % 32)
                }
                None => '\\', // JavaScript treats the c as a literal too, but this is never intended
            },
            'x' => self.hex(2).map_or('x', |unit| char::from(unit as u8)),
            'u' => self.unit(),
            '0'..='7' => {
                let mut code = c as u8 - b'0';
                while let Some(digit @ b'0'..=b'7') = self.rest.bytes().next().filter(|_| code < 32) {
                    code = code * 8 + (digit - b'0');
                    self.rest = &self.rest[1..];
                }
                char::from(code)
            }
            _ => c,
        }
    }

    /// Parses `\u00e9` or `\ud83d\ude00`. An unpaired surrogate becomes its replacement in decoded text.
    fn unit(&mut self) -> char {
        let Some(unit) = self.hex(4) else { return 'u' };
        let after = self.rest;
        let next = if self.skip("\\u") { self.hex(4) } else { None };
        let c = char::decode_utf16([unit, next.unwrap_or_default()]).next().and_then(Result::ok);
        if c.is_none_or(|c| c <= '\u{ffff}') {
            self.rest = after;
        }
        c.unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self, digits: usize) -> Option<u16> {
        let text = self.rest.get(..digits).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = &self.rest[digits..];
        u16::from_str_radix(text, 16).ok()
    }

    /// Parses an escape such as `\d` or `\W` after the backslash; `true` if the set is negated.
    fn set(&mut self) -> Option<(&'static str, bool)> {
        let c = self.rest.bytes().next()?;
        let set = match c.to_ascii_lowercase() {
            b'd' => DIGIT,
            b'w' => WORD,
            b's' => SPACE,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        Some((set, c.is_ascii_uppercase()))
    }

    /// Translates a character class. In JavaScript, only `]`, `\`, `-` and a leading `^` are special in it.
    fn class(&mut self) -> Result<(), String> {
        let is_excluded = self.skip("^");
        let mut items = String::new();
        while let Some(low) = self.class_item()? {
            if !self.rest.starts_with('-') || self.rest.starts_with("-]") {
                low.push_to(&mut items);
                continue;
            }
            self.skip("-");
            let high = self.class_item()?.unwrap_or(ClassItem::One('-'));
            match (low, high) {
                (ClassItem::One(low), ClassItem::One(high)) if low > high => {
                    return Err(format!("range out of order in a class: {low}-{high}"));
                }
                (ClassItem::One(low), ClassItem::One(high)) => {
                    write!(items, "\\x{{{:x}}}-\\x{{{:x}}}", low as u32, high as u32).unwrap_or_default();
                }
                (low, high) => [low, ClassItem::One('-'), high].iter().for_each(|item| item.push_to(&mut items)),
            }
        }
        match (items.is_empty(), is_excluded) {
            (true, true) => self.atom(ANYTHING),
            (true, false) => self.atom(NOTHING),
            (false, _) => self.atom(&format!("(?i:[{}{items}])", if is_excluded { "^" } else { "" })),
        }
        Ok(())
    }

    /// Parses the next item of a class, or `None` at its end.
    fn class_item(&mut self) -> Result<Option<ClassItem>, String> {
        const OPEN: &str = "unclosed character class";
        let item = match self.next().ok_or(OPEN)? {
            ']' => return Ok(None),
            '\\' if self.rest.is_empty() => return Err(OPEN.into()),
            '\\' => match self.set() {
                Some((set, is_excluded)) => ClassItem::Set(set, is_excluded),
                None if self.skip("b") => ClassItem::One('\u{8}'),
                None => ClassItem::One(self.character()),
            },
            c => ClassItem::One(c),
        };
        Ok(Some(item))
    }
}

/// An item of a character class.
#[derive(Clone, Copy)]
enum ClassItem {
    One(char),
    /// A predefined set; `true` if it is negated.
    Set(&'static str, bool),
}

impl ClassItem {
    fn push_to(self, out: &mut String) {
        match self {
            Self::One(c) => write!(out, "\\x{{{:x}}}", c as u32).unwrap_or_default(),
            Self::Set(set, false) => out.push_str(set),
            Self::Set(set, true) => write!(out, "[^{set}]").unwrap_or_default(),
        }
    }
}

/// Counts the capturing groups, and returns `true` if any has a name. Both affect the meaning of `\1` and `\k`.
fn groups(source: &str) -> (usize, bool) {
    let (mut count, mut has_names, mut is_class) = (0, false, false);
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => {
                let ahead = rest.as_str();
                let is_named = ahead.starts_with("?<") && !ahead.starts_with("?<=") && !ahead.starts_with("?<!");
                count += usize::from(is_named || !ahead.starts_with('?'));
                has_names |= is_named;
            }
            _ => {}
        }
    }
    (count, has_names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::normalize::fold;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}")).find(&fold(text)).is_some()
    }

    #[test]
    fn patterns_match_as_in_javascript() {
        // Results of `new RegExp(pattern, "i").test(text)` in Node 22.
        for (pattern, text, is_match) in [
            ("AUTH", "my auth", true),
            ("a.c", "a\nc", false),
            ("a[^]c", "a\nc", true),
            ("a[]c", "ac", false),
            ("^b", "a\nb", false),
            ("a$", "a\n", false),
            (r"\be", "größe", true),
            (r"\bgr\b", "größe", true),
            (r"(?=g)\bgr\b", "größe", true),
            (r"gr\B", "größe", false),
            (r"g\Br", "größe", true),
            (r"\w+ß", "größe", false),
            (r"\d", "٣", false),
            (r"\s", "\u{feff}", true),
            (r"a\sb", "a\u{a0}b", true),
            (r"[\w-]+@", "a-b@", true),
            (r"[A-Z]{3}\d", "abc1", true),
            (r"[[]x", "[x", true),
            (r"[a&&b]", "&", true),
            (r"x{", "x{", true),
            (r"x{a}", "x{a}", true),
            (r"x{,2}", "x{,2}", true),
            (r"^x{2,3}$", "xxxx", false),
            (r"a]", "a]", true),
            (r"a}", "a}", true),
            (r"\/\-\_\ \e", "/-_ e", true),
            (r"\u00e9|\xE9", "É", true),
            (r"\ud83d\ude00", "😀", true),
            (r"\u{61}", "a", false),
            (r"\p{L}", "x", false),
            (r"\p{L}", "p{L}", true),
            (r"(a)\1", "AA", true),
            (r"(a)\2", "a\u{2}", true),
            (r"(?<q>['x]).*\k<q>", "'a'", true),
            (r"\k", "k", true),
            (r"foo(?!bar)", "foobar", false),
            (r"(?<=foo)bar", "foobar", true),
            (r"(?<!foo)bar", "foobar", false),
            (r"a+?b", "aab", true),
            (r"[a-]", "-", true),
            (r"[\d-x]", "-", true),
            (r"[\b]", "\u{8}", true),
            (r"\cJ", "\n", true),
            (r"\0", "\0", true),
            (r"ΟΔΟΣ", "οδοσ", true),
            ("a|", "zzz", true),
            ("#x y", "#X Y", true),
            ("()", "", true),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn patterns_are_composed_like_texts() {
        assert!(matches("e\u{301}tude", "Étude") && matches("étude", "e\u{301}tude") && matches("İ", "İ"));
        // The small letter has a composed form, but not its capital.
        for letter in ["H\u{331}", "h\u{331}", "\u{1e96}", "[H\u{331}x]"] {
            assert!(matches(letter, "H\u{331}") && matches(letter, "\u{1e96}"), "{letter}");
        }
    }

    #[test]
    fn rejects_patterns_that_javascript_rejects() {
        for pattern in [
            "(",
            ")",
            "(()",
            "[",
            "[a",
            "*",
            "a**",
            "a++",
            "(?",
            "(?P<a>b)",
            "(?>a)",
            "(?#a)",
            "(?x)a",
            "a{2,1}",
            "[b-a]",
            "\\",
            "(?<a",
            "(?<=a)*",
            "^*",
            "|*",
            "(?<>a)",
            "(?<a>b)\\k<c>",
        ] {
            let error = Pattern::new(pattern).expect_err(pattern);
            assert!(error.starts_with("invalid pattern: ") && !error.contains('\n') && error.len() > 20, "{error}");
        }
    }

    #[test]
    fn stops_after_too_much_backtracking() {
        let pattern = Pattern::new(r"(?=a)(a+)+\1$").unwrap();
        assert_eq!(pattern.find(&("a".repeat(5000) + "b")), None);
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(source in "\\PC{0,20}|[a-c()\\[\\]{}?*+|^$.\\\\bdkux<=!:0-3,-]{0,16}", text in "\\PC{0,20}") {
            if let Ok(pattern) = Pattern::new(&source) {
                pattern.find(&text);
            }
        }
    }
}
