//! Regular expressions of queries, with the meaning of JavaScript's flag `i` without `u`, as in pi's picker (1.5.2).
//! They are translated to the syntax of the regex crates and run on folded text.
//!
//! Differences from JavaScript: a character outside the basic plane is one `.`, not two; a lookbehind must have a fixed
//! length; a backreference to a group that did not participate fails; a match that backtracks too much fails.

use std::fmt::{self, Write as _};
use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use unicode_normalization::UnicodeNormalization;

use crate::base::normalize::fold_char;

/// The limit of backtracking steps, about 50 ms.
const BACKTRACKS: usize = 2_000_000;

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
/// The translation of `.`.
const NO_BREAK: &str = r"[^\n\r\u{2028}\u{2029}]";
const ANYTHING: &str = r"[\s\S]";
const NOTHING: &str = r"[^\s\S]";

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    engine: RegexEngine,
}

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
        let (plain, needs_fancy) = Translation::of(source, false).map_err(invalid)?;
        let engine = if needs_fancy {
            let (fancy, _) = Translation::of(source, true).map_err(invalid)?;
            let mut builder = fancy_regex::RegexBuilder::new(&fancy);
            let built = builder.backtrack_limit(BACKTRACKS).build();
            RegexEngine::Fancy(Box::new(built.map_err(|error| invalid(last_line(&error)))?))
        } else {
            RegexEngine::Plain(regex::Regex::new(&plain).map_err(|error| invalid(last_line(&error)))?)
        };
        Ok(Self { source: source.to_string(), engine })
    }

    /// Returns the first match in a folded text.
    pub(crate) fn find(&self, folded: &str) -> Option<Range<usize>> {
        match &self.engine {
            RegexEngine::Plain(regex) => regex.find(folded).map(|found| found.range()),
            // A search that exceeds the limit has no match.
            RegexEngine::Fancy(regex) => regex.find(folded).ok().flatten().map(|found| found.range()),
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
struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    /// `true` if `out` supports lookaround.
    is_fancy: bool,
    needs_fancy: bool,
    /// `true` if a quantifier can follow.
    is_atom: bool,
    /// For each open group, `true` if a quantifier can follow it.
    open: Vec<bool>,
    groups: usize,
    has_names: bool,
}

impl<'a> Translation<'a> {
    /// Translates a pattern. Also returns `true` if it needs the backtracking engine.
    fn of(source: &str, is_fancy: bool) -> Result<(String, bool), String> {
        let composed: String = source.nfc().collect();
        let (groups, has_names) = groups(&composed);
        let mut translation = Translation {
            rest: composed.chars().peekable(),
            out: String::new(),
            is_fancy,
            needs_fancy: false,
            is_atom: false,
            open: Vec::new(),
            groups,
            has_names,
        };
        while let Some(c) = translation.rest.next() {
            translation.part(c)?;
        }
        if !translation.open.is_empty() {
            return Err("a group is not closed".into());
        }
        Ok((translation.out, translation.needs_fancy))
    }

    fn part(&mut self, c: char) -> Result<(), String> {
        match c {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.group()?,
            ')' => {
                self.is_atom = self.open.pop().ok_or("a ) closes no group")?;
                self.out.push(')');
            }
            '|' | '^' | '$' => {
                self.out.push(c);
                self.is_atom = false;
            }
            '.' => self.atom(NO_BREAK),
            '*' | '+' | '?' => self.repeat(&c.to_string())?,
            '{' => match self.counts()? {
                Some(counts) => self.repeat(&counts)?,
                None => self.literal(c),
            },
            _ => self.literal(c),
        }
        Ok(())
    }

    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.is_atom = true;
    }

    /// Appends a literal character. Text is folded, so no flag is needed and the search is fast.
    fn literal(&mut self, c: char) {
        match c {
            'İ' => self.out.push_str("(?:i\u{307})"),
            _ => self.out.push_str(&regex::escape(fold_char(c).encode_utf8(&mut [0; 4]))),
        }
        self.is_atom = true;
    }

    fn repeat(&mut self, how: &str) -> Result<(), String> {
        if !self.is_atom {
            return Err(format!("nothing to repeat before {how}"));
        }
        self.out.push_str(how);
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.is_atom = false;
        Ok(())
    }

    /// Parses `{2}`, `{2,}` or `{2,3}`; otherwise the brace is literal.
    fn counts(&mut self) -> Result<Option<String>, String> {
        let rest: String = self.rest.clone().take_while(|&c| c != '}').collect();
        let is_closed = self.rest.clone().nth(rest.chars().count()) == Some('}');
        let (least, most) = rest.split_once(',').unwrap_or((&rest, ""));
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !is_closed || least.is_empty() || !is_number(least) || !is_number(most) {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("too many repetitions: {text}"));
        if !most.is_empty() && number(least)? > number(most)? {
            return Err(format!("numbers out of order in {{{rest}}}"));
        }
        self.rest.nth(rest.len());
        Ok(Some(format!("{{{rest}}}")))
    }

    fn group(&mut self) -> Result<(), String> {
        let mut can_repeat = true;
        if self.rest.next_if_eq(&'?').is_none() {
            self.out.push('(');
        } else {
            let rest: String = self.rest.clone().take(2).collect();
            let start = ["<=", "<!", ":", "=", "!", "<"].into_iter().find(|start| rest.starts_with(start));
            let start = start.ok_or("an invalid group; known are (?: (?= (?! (?<= (?<! (?<name>")?;
            self.rest.nth(start.len() - 1);
            self.needs_fancy |= ["<=", "<!", "=", "!"].contains(&start);
            can_repeat = !["<=", "<!"].contains(&start);
            write!(self.out, "(?{start}").unwrap_or_default();
            if start == "<" {
                let name: String = std::iter::from_fn(|| self.rest.next_if(|&c| c != '>')).collect();
                if name.is_empty() || self.rest.next().is_none() {
                    return Err("the name of a group is not closed".into());
                }
                write!(self.out, "{name}>").unwrap_or_default();
            }
        }
        self.open.push(can_repeat);
        self.is_atom = false;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let c = *self.rest.peek().ok_or("a \\ stands at the end")?;
        if let Some((set, is_excluded)) = set_of(c) {
            self.rest.next();
            self.atom(&format!("[{}{set}]", if is_excluded { "^" } else { "" }));
            return Ok(());
        }
        match c {
            'b' | 'B' => {
                self.rest.next();
                self.boundary(c == 'b');
            }
            'k' if self.has_names => {
                self.rest.next();
                let name: String = std::iter::from_fn(|| self.rest.next_if(|&c| c != '>')).collect();
                self.rest.next();
                self.needs_fancy = true;
                self.atom(&format!("(?:\\k{name}>)"));
            }
            '1'..='9' => {
                let digits: String = self.rest.clone().take_while(char::is_ascii_digit).collect();
                if digits.parse::<usize>().is_ok_and(|group| group <= self.groups) {
                    self.rest.nth(digits.len() - 1);
                    self.needs_fancy = true;
                    self.atom(&format!("(?:\\{digits})"));
                } else {
                    let c = self.character();
                    self.literal(c);
                }
            }
            _ => {
                let c = self.character();
                self.literal(c);
            }
        }
        Ok(())
    }

    /// Translates `\b` and `\B`: word characters of JavaScript are ASCII. The plain engine supports such a `\b`, the
    /// backtracking engine does not.
    fn boundary(&mut self, is_boundary: bool) {
        let (before, after) = (format!("(?<=[{WORD}])"), format!("(?=[{WORD}])"));
        let (not_before, not_after) = (format!("(?<![{WORD}])"), format!("(?![{WORD}])"));
        match (is_boundary, self.is_fancy) {
            (true, false) => self.out.push_str(r"(?-u:\b)"),
            (true, true) => write!(self.out, "(?:{before}{not_after}|{not_before}{after})").unwrap_or_default(),
            (false, _) => {
                self.needs_fancy = true;
                write!(self.out, "(?:{before}{after}|{not_before}{not_after})").unwrap_or_default();
            }
        }
        self.is_atom = false;
    }

    /// Parses the character of an escape after the backslash.
    fn character(&mut self) -> char {
        let Some(c) = self.rest.next() else { return '\\' };
        match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'c' => match self.rest.next_if(char::is_ascii_alphabetic) {
                Some(letter) => char::from(letter as u8 % 32),
                None => '\\', // JavaScript treats the c as a literal too, but this is never intended
            },
            'x' => self.hex(2).and_then(char::from_u32).unwrap_or('x'),
            'u' => self.unit(),
            '0'..='7' => {
                let mut code = c as u32 - '0' as u32;
                while let Some(digit) = self.rest.next_if(|c| code < 32 && ('0'..='7').contains(c)) {
                    code = code * 8 + (digit as u32 - '0' as u32);
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => c,
        }
    }

    /// Parses `\u00e9` or `\ud83d\ude00`. An unpaired surrogate becomes its replacement in decoded text.
    fn unit(&mut self) -> char {
        let Some(high) = self.hex(4) else { return 'u' };
        let mut units = vec![high as u16];
        let ahead: String = self.rest.clone().take(2).collect();
        if (0xd800..0xdc00).contains(&high) && ahead == "\\u" {
            let mut after = self.rest.clone();
            after.nth(1);
            let before = std::mem::replace(&mut self.rest, after);
            match self.hex(4).filter(|low| (0xdc00..0xe000).contains(low)) {
                Some(low) => units.push(low as u16),
                None => self.rest = before,
            }
        }
        char::decode_utf16(units).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.rest.clone().take(digits).take_while(char::is_ascii_hexdigit).collect();
        let number = u32::from_str_radix(&text, 16).ok().filter(|_| text.len() == digits)?;
        self.rest.nth(digits - 1);
        Some(number)
    }

    /// Translates a character class. In JavaScript, only `]`, `\`, `-` and a leading `^` are special in it.
    fn class(&mut self) -> Result<(), String> {
        let is_excluded = self.rest.next_if_eq(&'^').is_some();
        let mut items = String::new();
        while let Some(low) = self.class_item()? {
            let dash_then_item = {
                let mut ahead = self.rest.clone();
                ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']')
            };
            if !dash_then_item {
                low.push_to(&mut items);
                continue;
            }
            self.rest.next();
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
        let item = match self.rest.next().ok_or("a class is not closed")? {
            ']' => return Ok(None),
            '\\' => {
                let c = *self.rest.peek().ok_or("a class is not closed")?;
                match set_of(c) {
                    Some((set, is_excluded)) => {
                        self.rest.next();
                        ClassItem::Set(set, is_excluded)
                    }
                    None if self.rest.next_if_eq(&'b').is_some() => ClassItem::One('\u{8}'),
                    None => ClassItem::One(self.character()),
                }
            }
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

/// Returns the set of an escape such as `\d` or `\W`; `true` if it is negated.
fn set_of(c: char) -> Option<(&'static str, bool)> {
    let set = match c.to_ascii_lowercase() {
        'd' => DIGIT,
        'w' => WORD,
        's' => SPACE,
        _ => return None,
    };
    Some((set, c.is_ascii_uppercase()))
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
    fn means_what_javascript_means() {
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
    fn composes_as_the_text_does() {
        assert!(matches("e\u{301}tude", "Étude") && matches("étude", "e\u{301}tude") && matches("İ", "İ"));
    }

    #[test]
    fn refuses_what_javascript_refuses() {
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
    fn gives_up_going_back() {
        let pattern = Pattern::new(r"(?=a)(a+)+\1$").unwrap();
        assert_eq!(pattern.find(&("a".repeat(5000) + "b")), None);
    }

    proptest::proptest! {
        #[test]
        fn any_pattern_is_read_without_panic(source in "\\PC{0,20}|[a-c()\\[\\]{}?*+|^$.\\\\bdkux<=!:0-3,-]{0,16}", text in "\\PC{0,20}") {
            if let Ok(pattern) = Pattern::new(&source) {
                pattern.find(&text);
            }
        }
    }
}
