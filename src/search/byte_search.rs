//! Byte search for a word in undecoded lines. A vector search finds candidate places without decoding, and the decoded
//! text confirms them. JSON can write any character as a `\u` escape, and Unicode has several spellings of some
//! characters. Therefore the search looks for three adjacent characters of the word in all their spellings: it has no
//! false negatives and few false positives.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Input, Span, packed};
use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};

use crate::base::javascript::is_js_space;
use crate::base::normalize::{FoldedText, accented, fold, fold_char, fold_into};
use crate::search::needle::{Needle, is_quote, merged};

/// The maximum number of adjacent characters in a window.
const MAX_WINDOW: usize = 3;

/// The length in bytes of blocks, and more than that of a window.
const BLOCK: usize = 16 << 10;
const OVERLAP: usize = 64;

/// The maximum number of spellings in a window, limited by the vector search.
const MAX_SPELLINGS: usize = 64;

/// Characters of words and code by frequency, most frequent first. Rare characters have fewer false positives.
const COMMON: &str = "etaoinsrlcdupmhg\"_.-(),:f0y=bw12vkx/3{}<>[]4568';79*#zj&q";

/// A word to search for.
#[derive(Debug)]
pub struct Probe {
    needle: Needle,
    strategy: Strategy,
    /// An estimate of the selectivity of the word: higher values have fewer false positives.
    pub(crate) rarity: usize,
}

/// A strategy to find candidate places.
#[derive(Debug)]
enum Strategy {
    /// Search for some characters of the word in all spellings.
    Window(WindowFinder),
    /// All characters have too many spellings: every place that is not plain ASCII is a candidate.
    Unusual,
    /// Every place is a candidate.
    Everywhere,
}

/// A search for a window. The windows of words without accents are not those of their spellings with accents.
#[derive(Debug)]
struct WindowFinder {
    finder: Finder,
    /// The index from which spellings are loose: the characters around them are not checked.
    loose: usize,
    /// The plain ASCII characters of the word directly before and after the window.
    before: Vec<u8>,
    after: Vec<u8>,
}

impl WindowFinder {
    fn next(&self, raw: &[u8], mut from: usize) -> Option<usize> {
        loop {
            let (pattern, found) = self.finder.find(raw, from)?;
            let fits = || may_follow(raw, found.end, &self.after) && may_precede(raw, found.start, &self.before);
            if pattern >= self.loose || fits() {
                return Some(found.start);
            }
            from = found.start + 1;
        }
    }
}

#[derive(Debug)]
enum Finder {
    /// Vector search.
    Packed(packed::Searcher),
    /// Fallback for processors without vector instructions.
    Plain(AhoCorasick),
}

impl Probe {
    /// Creates a probe for a word. White space in the word matches any white space. Returns `None` if the word is
    /// empty.
    pub fn new(word: &str) -> Option<Self> {
        let needle = Needle::phrase(word)?;
        let chars: Vec<char> = fold(word).chars().collect();
        let spellings: Vec<Option<CharSpellings>> = chars.iter().map(|&c| spellings(c)).collect();
        let windows = (0..chars.len()).flat_map(|start| (1..=MAX_WINDOW).map(move |len| start..start + len));
        let windows = windows.filter_map(|range| CharWindow::new(spellings.get(range.clone())?, range));
        let best = windows.max_by_key(|window| window.rarity);
        let rarity = best.as_ref().map_or(0, |window| window.rarity);
        let strategy = match best {
            Some(window) => window.strategy(&chars, &spellings),
            None if chars.iter().all(|c| c.is_ascii() || is_quote(*c) || is_js_space(*c)) => Some(Strategy::Everywhere),
            None => Some(Strategy::Unusual),
        };
        Some(Self { needle, strategy: strategy.unwrap_or(Strategy::Everywhere), rarity })
    }

    /// Returns the next candidate place at or after `from` in raw lines or in a raw text.
    pub fn next(&self, raw: &[u8], from: usize) -> Option<usize> {
        match &self.strategy {
            Strategy::Everywhere => (from < raw.len()).then_some(from),
            Strategy::Unusual => unusual(raw, from),
            Strategy::Window(window) if !self.needle.is_similar(true) => window.next(raw, from),
            Strategy::Window(window) => {
                // Block by block, to look for neither far behind the other.
                let mut starts = (from..raw.len()).step_by(BLOCK);
                starts.find_map(|start| {
                    let end = raw.len().min(start + BLOCK);
                    let block = &raw[..raw.len().min(end + OVERLAP)];
                    let places = [window.next(block, start), may_have_accent(block, start)];
                    places.into_iter().flatten().min().filter(|at| *at < end)
                })
            }
        }
    }

    /// Returns `true` if the word is in a text. `folded` is a reusable buffer.
    pub fn is_in(&self, text: &str, folded: &mut String) -> bool {
        folded.clear();
        fold_into(folded, text);
        self.is_in_folded(folded)
    }

    /// Returns `true` if the word is in a folded text.
    pub fn is_in_folded(&self, folded: &str) -> bool {
        self.needle.find(folded).is_some()
    }

    /// Iterates over the byte ranges of the matches in the original text, extended to whole grapheme clusters.
    fn places<'a>(&'a self, folded: &'a FoldedText) -> impl Iterator<Item = Range<usize>> + 'a {
        self.needle.find_iter(&folded.text).map(|range| folded.original(range))
    }
}

/// An excerpt of a text around matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The excerpt, including line breaks.
    pub text: String,
    /// The matches in the excerpt, as character ranges.
    pub ranges: Vec<Range<usize>>,
    /// `true` if the text begins before the excerpt.
    pub is_cut: bool,
}

impl Snippet {
    /// The length of a snippet in characters.
    const LEN: usize = 120;
    /// The number of characters before the first match.
    const BEFORE: usize = 40;

    /// Returns the excerpt of `text` around the first match of any probe, or `None` without a match.
    pub fn new(text: &str, probes: &[&Probe]) -> Option<Self> {
        let folded = FoldedText::new(text);
        let first = probes.iter().filter_map(|probe| probe.places(&folded).next()).map(|range| range.start).min()?;
        let end = Self::bounds(text, first).end;
        let ranges = probes.iter().flat_map(|probe| probe.places(&folded).take_while(|range| range.start < end));
        Some(Self::around(text, &merged(ranges.collect())))
    }

    /// Returns the excerpt of `text` around the first of `places`, which are sorted, disjoint byte ranges. Without
    /// places, returns the start of the text.
    pub fn around(text: &str, places: &[Range<usize>]) -> Self {
        let Range { start, end } = Self::bounds(text, places.first().map_or(0, |place| place.start));
        let chars = |to: usize| text[start..to].chars().count();
        let seen = places.iter().take_while(|place| place.start < end);
        let ranges = seen.map(|place| chars(place.start)..chars(place.end.min(end))).collect();
        Self { text: text[start..end].into(), ranges, is_cut: start > 0 }
    }

    fn bounds(text: &str, first: usize) -> Range<usize> {
        let start = text[..first].char_indices().rev().take(Self::BEFORE).last().map_or(first, |(at, _)| at);
        let end = text[start..].char_indices().nth(Self::LEN).map_or(text.len(), |(at, _)| start + at);
        whole_words(text, start..end, first..first)
    }
}

/// Leaves out the words that the ends of an excerpt cut, except in `kept`, because a part of a secret is not recognized as
/// one.
pub fn whole_words(text: &str, Range { start, end }: Range<usize>, kept: Range<usize>) -> Range<usize> {
    let is_word = |c: char| c.is_ascii_graphic();
    let (before, after) = (&text[start..kept.start.max(start)], &text[kept.end.min(end)..end]);
    let rest = if text[..start].ends_with(is_word) { before.trim_start_matches(is_word) } else { before };
    let begun = if text[end..].starts_with(is_word) { after.trim_end_matches(is_word) } else { after };
    start + (before.len() - rest.len())..end - (after.len() - begun.len())
}

/// The spellings of a character.
#[derive(Debug)]
struct CharSpellings {
    /// Complete spellings.
    whole: Vec<String>,
    /// Combining marks: each other spelling contains at least one of them.
    loose: Vec<char>,
}

/// Adjacent characters of a word with few spellings each.
struct CharWindow {
    range: Range<usize>,
    rarity: usize,
    /// The spellings as UTF-8, followed by the loose ones: marks, and escapes of any character.
    spellings: Vec<Vec<u8>>,
    loose: usize,
}

impl CharWindow {
    fn new(spelled: &[Option<CharSpellings>], range: Range<usize>) -> Option<Self> {
        let (mut whole, mut marks, mut escaped) = (vec![String::new()], Vec::new(), Vec::new());
        for options in spelled {
            let options = options.as_ref()?;
            let with =
                |start: &String| options.whole.iter().map(move |next| format!("{start}{next}")).collect::<Vec<_>>();
            whole = whole.iter().flat_map(with).collect();
            if whole.len() > MAX_SPELLINGS {
                return None;
            }
            marks.extend(&options.loose);
            escaped.extend(options.whole.iter().flat_map(|text| text.chars()).chain(options.loose.iter().copied()));
        }
        let of = |text: &String| text.chars().map(rarity).sum::<usize>();
        let rarity = whole.iter().map(of).chain(marks.iter().copied().map(rarity)).min()?;
        let mut loose: Vec<String> = escaped.into_iter().flat_map(escapes).collect();
        loose.extend(marks.into_iter().map(String::from));
        loose.sort_unstable();
        loose.dedup();
        let whole_count = whole.len();
        let spellings: Vec<Vec<u8>> = whole.into_iter().chain(loose).map(String::into_bytes).collect();
        (spellings.len() <= MAX_SPELLINGS).then_some(Self { range, rarity, spellings, loose: whole_count })
    }

    fn strategy(self, chars: &[char], spelled: &[Option<CharSpellings>]) -> Option<Strategy> {
        let plain = |at: &usize| spelled[*at].is_some() && chars[*at].is_ascii();
        let before: Vec<u8> = (0..self.range.start).rev().take_while(plain).map(|at| chars[at] as u8).collect();
        let after = (self.range.end..chars.len()).take_while(plain).map(|at| chars[at] as u8).collect();
        let finder = match packed::Searcher::new(&self.spellings) {
            Some(searcher) => Finder::Packed(searcher),
            None => Finder::Plain(AhoCorasick::new(&self.spellings).ok()?),
        };
        Some(Strategy::Window(WindowFinder { finder, loose: self.loose, before, after }))
    }
}

impl Finder {
    /// Returns the index of a spelling and its place, at or after `from`.
    fn find(&self, raw: &[u8], from: usize) -> Option<(usize, Range<usize>)> {
        let found = match self {
            Self::Packed(searcher) => searcher.find_in(raw, Span { start: from, end: raw.len() }),
            Self::Plain(searcher) => searcher.find(Input::new(raw).span(from..raw.len())),
        }?;
        Some((found.pattern().as_usize(), found.range()))
    }
}

/// Returns `true` if the characters can follow at a place, as plain ASCII or in a multi-byte spelling.
fn may_follow(raw: &[u8], at: usize, chars: &[u8]) -> bool {
    let different = raw[at..].iter().zip(chars).find(|(byte, c)| !byte.eq_ignore_ascii_case(c));
    match different {
        Some((byte, _)) => *byte == b'\\' || !byte.is_ascii(),
        None => true,
    }
}

/// Returns `true` if the characters, the last one first, can precede a place. Always `true` near a backslash, because
/// the digits of an escape look like plain characters.
fn may_precede(raw: &[u8], at: usize, chars: &[u8]) -> bool {
    const ESCAPE: usize = r"\u0000".len();
    let mut bytes = raw[..at].iter().rev().zip(chars);
    match bytes.position(|(byte, c)| !byte.eq_ignore_ascii_case(c)) {
        Some(back) => {
            let place = at - 1 - back;
            !raw[place].is_ascii() || raw[(place + 1).saturating_sub(ESCAPE)..=place].contains(&b'\\')
        }
        None => true,
    }
}

/// Returns the first place at or after `from` with a Latin letter with an accent, a combining mark or an escape of one.
fn may_have_accent(raw: &[u8], from: usize) -> Option<usize> {
    let bytes = raw.get(from..)?;
    let mut escapes = memchr::memmem::find_iter(bytes, b"\\u");
    let escape = escapes.find(|at| {
        let digits = bytes[at + 2..].get(..4).map_or_else(String::new, |digits| String::from_utf8_lossy(digits).into());
        u32::from_str_radix(&digits, 16).is_ok_and(|code| matches!(code, 0xc0..=0x36f | 0x1e00..=0x1eff))
    });
    [accented(&bytes[..escape.unwrap_or(bytes.len())]), escape].into_iter().flatten().min().map(|at| from + at)
}

/// Returns the first line at or after `from` that is not plain ASCII.
fn unusual(raw: &[u8], mut from: usize) -> Option<usize> {
    while from < raw.len() {
        let end = memchr::memchr(b'\n', &raw[from..]).map_or(raw.len(), |at| from + at + 1);
        let line = &raw[from..end];
        if !line.is_ascii() || memchr::memmem::find(line, b"\\u").is_some() {
            return Some(from);
        }
        from = end;
    }
    None
}

fn rarity(c: char) -> usize {
    1 + COMMON.chars().position(|common| common == c).unwrap_or(COMMON.len())
}

/// Returns all spellings that fold to `c`. Returns `None` if `c` has a backslash escape other than `\u`, has
/// other styles (see [`is_quote`]), or is a combining mark, because marks can be reordered.
fn spellings(c: char) -> Option<CharSpellings> {
    if is_js_space(c) || c.is_control() || is_quote(c) || matches!(c, '\\' | '/' | char::REPLACEMENT_CHARACTER) {
        return None;
    }
    if c.is_ascii() {
        // Composed characters never fold to ASCII, except for the Turkish İ, whose decomposition starts with I.
        let other = match c {
            'i' => Some('\u{130}'),
            'k' => Some('\u{212a}'),
            's' => Some('\u{17f}'),
            ';' => Some('\u{37e}'),
            '`' => Some('\u{1fef}'),
            _ => None,
        };
        let upper = Some(c.to_ascii_uppercase()).filter(|upper| *upper != c);
        let whole = [Some(c), upper, other].into_iter().flatten().map(String::from).collect();
        return Some(CharSpellings { whole, loose: Vec::new() });
    }
    let parts = decomposed(c);
    if let ('가'..='힣', [first, second, rest @ ..]) = (c, &*parts) {
        // No character can separate the parts of a syllable.
        let mut whole = vec![c.into(), parts.iter().collect()];
        if let ([last], Some(open)) = (rest, compose(*first, *second)) {
            whole.push([open, *last].iter().collect());
        }
        return Some(CharSpellings { whole, loose: Vec::new() });
    }
    let FoldTables { folding_to, with_mark } = FoldTables::get();
    let all: Vec<char> = std::iter::once(c).chain(folding_to.get(&c).into_iter().flatten().copied()).collect();
    let (mut loose, mut folded) = (Vec::new(), String::new());
    for &one in &all {
        folded.clear();
        fold_into(&mut folded, one.encode_utf8(&mut [0; 4]));
        if canonical_combining_class(one) != 0 || !folded.chars().eq([c]) {
            return None;
        }
        let parts = decomposed(one);
        if let [first, .., mark] = &*parts {
            // The mark can follow the letter, another mark, or stand alone.
            let is_possible = |with: &char| {
                let starts = decomposed(*with)[0];
                fold_char(starts) == fold_char(*first) || canonical_combining_class(starts) != 0
            };
            let with = with_mark.get(mark).into_iter().flatten().copied();
            loose.extend(with.filter(is_possible).chain([*mark]).filter(|with| !all.contains(with)));
        }
    }
    Some(CharSpellings { whole: all.into_iter().map(String::from).collect(), loose })
}

/// Decomposes a character completely.
fn decomposed(c: char) -> Vec<char> {
    let mut parts = Vec::new();
    decompose_canonical(c, |part| parts.push(part));
    parts
}

/// Tables of the non-ASCII characters that folding changes.
struct FoldTables {
    /// For each character, the other characters that fold to it.
    folding_to: HashMap<char, Vec<char>>,
    /// For each mark, the characters that contain it.
    with_mark: HashMap<char, Vec<char>>,
}

impl FoldTables {
    fn get() -> &'static Self {
        static TABLES: OnceLock<FoldTables> = OnceLock::new();
        TABLES.get_or_init(|| {
            let (mut folding_to, mut with_mark) = (HashMap::<_, Vec<char>>::new(), HashMap::<_, Vec<char>>::new());
            let mut folded = String::new();
            for c in changing() {
                folded.clear();
                fold_into(&mut folded, c.encode_utf8(&mut [0; 4]));
                for to in folded.chars().filter(|to| *to != c && !to.is_ascii()) {
                    folding_to.entry(to).or_default().push(c);
                }
                let parts = decomposed(c);
                for mark in parts.into_iter().filter(|mark| *mark != c && !mark.is_ascii()) {
                    with_mark.entry(mark).or_default().push(c);
                }
            }
            Self { folding_to, with_mark }
        })
    }
}

/// Iterates over all characters that folding can change. Skips ideographs and syllables, which are most of Unicode.
fn changing() -> impl Iterator<Item = char> {
    ('\u{80}'..='\u{33ff}')
        .chain('\u{a000}'..='\u{abff}')
        .chain('\u{f900}'..='\u{1ffff}')
        .chain('\u{2f800}'..='\u{2fa1f}')
}

/// Returns the JSON escapes of a character in both cases; for a surrogate pair, the first escape.
fn escapes(c: char) -> Vec<String> {
    let unit = c.encode_utf16(&mut [0; 2])[0];
    let mut spellings = vec![String::from("\\u")];
    for digit in format!("{unit:04x}").chars() {
        let upper = Some(digit.to_ascii_uppercase()).filter(|upper| *upper != digit);
        let digits: Vec<char> = std::iter::once(digit).chain(upper).collect();
        spellings =
            spellings.iter().flat_map(|start| digits.iter().map(move |digit| format!("{start}{digit}"))).collect();
    }
    spellings
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "there is often just one")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::normalize::without_accents;

    /// Iterates over all characters of Unicode. Planes 4 to 13 are unassigned, and planes 15 and 16 are private.
    fn characters() -> impl Iterator<Item = char> {
        ('\0'..='\u{3ffff}').chain('\u{e0000}'..='\u{effff}')
    }

    #[test]
    fn spellings_of_ascii_are_complete() {
        let (mut folded, mut buffer) = (String::new(), [0; 4]);
        for c in characters() {
            folded.clear();
            fold_into(&mut folded, c.encode_utf8(&mut buffer));
            for to in folded.chars().filter(char::is_ascii) {
                let is_spelled = |all: CharSpellings| all.whole.iter().any(|text| text.starts_with(c));
                assert!(spellings(to).is_none_or(is_spelled), "{c:?} becomes {to:?}");
            }
        }
        // Decompositions add no exceptions: characters that fold to ASCII start with an ASCII character.
        for mark in '\u{300}'..='\u{36f}' {
            for c in ' '..='~' {
                let folded = fold(&format!("{c}{mark}"));
                assert!(folded.chars().all(|to| !to.is_ascii() || to == c.to_ascii_lowercase()), "{c}{mark}");
            }
        }
    }

    #[test]
    fn characters_outside_the_table_fold_to_themselves() {
        let changing: std::collections::HashSet<char> = changing().collect();
        for c in characters().filter(|c| !c.is_ascii() && !changing.contains(c)) {
            assert_eq!(fold(&c.to_string()), c.to_string(), "{c:?} {:x}", c as u32);
        }
    }

    #[test]
    fn candidates_contain_the_rarest_characters() {
        let found = |word: &str, raw: &str| Probe::new(word).unwrap().next(raw.as_bytes(), 0);
        // No false positives in simple cases.
        assert_eq!(found("context", r#"{"content":"the text of it"}"#), None);
        assert_eq!(found("jwt", r#"{"a":"\u001b[1m"}"#), None);
        assert_eq!(found("jwt", r"x\u004aWt"), Some(1));
        assert!(found("привет", "ПРИВЕТ").is_some());
        assert_eq!(found("漢字", "ascii \u{fa47}字"), Some(6));
        assert_eq!(found("한글", "ascii\nnot 한글"), Some(10));
        assert_eq!(found("한글", "하고 글자, ü"), None);
        assert_eq!(found("é", "e, \\u001b[1m, e\\n"), None);
        assert_eq!(found("né", "e\u{301}"), Some(1));
        assert_eq!(found("\"", "x"), Some(0));
        // Accents.
        let long = "x".repeat(BLOCK - 2);
        for ending in ["cafe", "\\u00e7afe", "cafe\u{301}", "çafe"] {
            assert!(found("cafe", &format!("{long}{ending}")) >= Some(BLOCK - 2), "{ending}");
        }
        assert_eq!(found("cafe", "“x” \\u001b[1m ж"), None);
        // Marks are reordered.
        assert!(found("a\u{16af0}\u{a92b}", "a\u{a92b}\u{16af0}").is_some());
        assert!(Probe::new("").is_none());
    }

    #[test]
    fn snippets_surround_the_first_match() {
        let text = format!("{} É\u{301}x jwt {}", "ä".repeat(100), "b JWT ".repeat(100));
        let probes = [Probe::new("jwt").unwrap(), Probe::new("x j").unwrap()];
        let snippet = Snippet::new(&text, &[&probes[0], &probes[1]]).unwrap();
        assert!((117..=120).contains(&snippet.text.chars().count()) && snippet.text.ends_with("b "));
        let chars: Vec<char> = snippet.text.chars().collect();
        let found: Vec<String> = snippet.ranges.iter().map(|range| chars[range.clone()].iter().collect()).collect();
        assert_eq!((&*found[0], &*found[1], snippet.ranges[0].start), ("x jwt", "JWT", 40));
        assert_eq!(Snippet::new("nothing", &[&probes[0]]), None);
        let words = |(start, end), kept| whole_words("one two three", start..end, kept);
        assert_eq!(words((1, 11), 5..6), 3..8);
        assert_eq!(words((4, 7), 5..6), 4..7);
        assert_eq!(words((1, 11), 2..9), 2..9);
        let all = Snippet::new("jwt", &[&probes[0]]).unwrap();
        assert_eq!(all, Snippet { text: "jwt".into(), ranges: vec![0..3], is_cut: false });
    }

    proptest! {
        /// Composed characters, marks in any order, and special cases of case folding.
        #[test]
        fn words_of_composed_characters_are_found(
            text in "[eEéêếẹệçḉhHẖẛṩ\\u{331}\\u{301}\\u{302}\\u{323}\\u{316}\\u{327}\\u{345}한하고\\u{1112}\\u{1161}\\u{11ab}ſİıßẞςσΣάάαᾳÅÅåKkक़कনো\\u{9c7}\\u{9be}x \"]{1,12}",
            (from, len) in (0usize..12, 1usize..5),
            escaped in proptest::collection::vec(any::<bool>(), 12),
        ) {
            let mut folded = String::new();
            let word: String = fold(&text).chars().skip(from).take(len).collect();
            let raw: String = text.chars().zip(escaped).map(|(c, escaped)| match c {
                '"' => "\\\"".into(),
                c if escaped => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            }).collect();
            for word in [without_accents(&word), Some(word)].into_iter().flatten() {
                let Some(probe) = Probe::new(&word) else { continue };
                if probe.is_in(&text, &mut folded) {
                    prop_assert!(probe.next(raw.as_bytes(), 0).is_some(), "{:?} in {}", word, raw);
                }
            }
        }

        #[test]
        fn finds_any_word_in_any_text_that_contains_it(before: String, word: String, after: String) {
            let (text, mut folded) = (format!("{before}{word}{after}"), String::new());
            let Some(probe) = Probe::new(&word) else { return Ok(()) };
            let raw = serde_json::to_string(&text).unwrap();
            if probe.is_in(&text, &mut folded) {
                prop_assert!(probe.next(raw.as_bytes(), 0).is_some());
                prop_assert!(Snippet::new(&text, &[&probe]).is_some());
            }
        }
    }
}
