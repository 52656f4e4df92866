//! Terminal-safe text: sanitizes text from files, measures and truncates it by terminal columns, and tags it with a
//! [`Tone`]. All text for a cell, a title or plain stdout passes through [`clean`] or [`clean_lines`]. `ui::theme` maps
//! each tone to a style.

use std::borrow::Cow;
use std::ops::Range;
use std::path::is_separator;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::base::named::named;

named! {
    /// The semantic role of a piece of text. The theme maps it to a color and modifiers. Text stays readable without
    /// colors.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Tone {
        /// Ordinary text.
        #[default]
        Text = "text",
        /// Secondary text: ages, counts, connectors.
        Dim = "dim",
        /// Accents in a frame: titles, the focused border, key names.
        Accent = "accent",
        /// A user's message.
        User = "user",
        /// An assistant's message.
        Assistant = "assistant",
        /// A tool call or its result.
        Tool = "tool",
        /// A compaction or a branch summary.
        Summary = "summary",
        /// Extension entries and everything that pi hides by default.
        Meta = "meta",
        /// A label on an entry.
        Label = "label",
        /// A session name set by the user.
        Name = "name",
        /// The model's thinking.
        Thinking = "thinking",
        /// The active path and the leaf.
        Active = "active",
        /// A fork of a session.
        Fork = "fork",
        /// Cost and tokens.
        Cost = "cost",
        /// A warning: damaged, missing, live.
        Warning = "warning",
        /// A failure.
        Error = "error",
        /// A heading in Markdown.
        Heading = "heading",
        /// Strong text in Markdown.
        Strong = "strong",
        /// Emphasized text in Markdown.
        Emphasis = "emphasis",
        /// Struck text in Markdown.
        Strike = "strike",
        /// A link in Markdown.
        Link = "link",
        /// A quotation in Markdown.
        Quote = "quote",
        /// Code without a known language, inline code.
        Code = "code",
        /// A keyword in code.
        Keyword = "keyword",
        /// A string literal in code.
        Str = "string",
        /// A number or constant in code.
        Number = "number",
        /// A comment in code.
        Comment = "comment",
        /// A function's name in code.
        Function = "function",
        /// A type's name in code.
        Type = "type",
        /// An added line of a diff.
        Added = "added",
        /// A removed line of a diff.
        Removed = "removed",
        /// A hunk header or file name of a diff.
        Hunk = "hunk",
        /// The first file of a family in one tree, the seventh, and so on.
        File1 = "file-1",
        /// The second file.
        File2 = "file-2",
        /// The third file.
        File3 = "file-3",
        /// The fourth file.
        File4 = "file-4",
        /// The fifth file.
        File5 = "file-5",
        /// The sixth file.
        File6 = "file-6",
        /// Text that matches the query.
        Match = "match",
        /// The character under the cursor of an input line.
        Cursor = "cursor",
    }
}

/// A run of text with one tone. The text is clean: it has no control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The text, on one line.
    pub text: String,
    /// The role of the text.
    pub tone: Tone,
}

impl Span {
    /// Creates a span from text that is already clean.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone }
    }

    /// Creates a span of ordinary text that is already clean.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Tone::Text, text)
    }

    /// Creates a span of less important text that is already clean.
    pub fn dim(text: impl Into<String>) -> Self {
        Self::new(Tone::Dim, text)
    }

    /// Creates a span of emphasized text that is already clean.
    pub fn accent(text: impl Into<String>) -> Self {
        Self::new(Tone::Accent, text)
    }

    /// Creates a span from untrusted text, sanitized to one line.
    pub fn clean(tone: Tone, text: &str) -> Self {
        Self::new(tone, clean(text))
    }
}

/// Appends text that is already clean. Text of the same tone extends the last span.
pub(crate) fn push_span(spans: &mut Vec<Span>, tone: Tone, text: &str) {
    match spans.last_mut() {
        Some(last) if last.tone == tone => last.text.push_str(text),
        _ => spans.push(Span::new(tone, text)),
    }
}

/// Joins the text of spans.
pub(crate) fn spans_text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// Returns the width of spans in terminal columns.
pub(crate) fn spans_width(spans: &[Span]) -> usize {
    spans.iter().map(|span| width(&span.text)).sum()
}

/// Cuts spans to `columns` and adds an ellipsis.
pub(crate) fn cut_spans(spans: &[Span], columns: usize, glyphs: &Glyphs) -> Vec<Span> {
    if spans_width(spans) <= columns {
        return spans.to_vec();
    }
    let mut left = columns;
    let mut out = Vec::new();
    for (at, span) in spans.iter().enumerate() {
        let rest: usize = spans[at..].iter().map(|span| width(&span.text)).sum();
        if rest <= left || width(&span.text) + width(&glyphs.ellipsis) <= left {
            left -= width(&span.text);
            out.push(span.clone());
            continue;
        }
        out.push(Span::new(span.tone, glyphs.cut(&format!("{}  ", span.text), left)));
        break;
    }
    out
}

/// Splits spans so that the given byte ranges of their joined text have [`Tone::Match`]. The ranges are sorted and do not
/// overlap.
pub fn highlight(spans: &[Span], ranges: &[Range<usize>]) -> Vec<Span> {
    let mut out = Vec::with_capacity(spans.len() + 2 * ranges.len());
    let mut start = 0; // offset of the span in the joined text
    let mut ranges = ranges.iter().peekable();
    for span in spans {
        let end = start + span.text.len();
        let mut at = start;
        let mut put = |tone, to: usize| {
            let text = span.text.get(at - start..to - start).unwrap_or_default();
            if !text.is_empty() {
                out.push(Span::new(tone, text));
            }
            at = to;
        };
        while let Some(range) = ranges.peek().filter(|range| range.start < end) {
            put(span.tone, range.start.max(start));
            put(Tone::Match, range.end.min(end));
            if range.end > end {
                break;
            }
            ranges.next();
        }
        put(span.tone, end);
        start = end;
    }
    out
}

/// Returns `true` if the character can move the cursor, start an escape sequence, or reorder or hide text on a terminal.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns `true` if the text contains an unsafe character.
pub fn has_unsafe(text: &str) -> bool {
    // Fast path: most texts are printable ASCII, checked in vectorized chunks.
    let is_ascii = |some: &[u8]| some.iter().fold(true, |is_ascii, b| is_ascii & matches!(b, b' '..=b'~'));
    // Unsafe characters beyond ASCII start with one of five bytes.
    let is_in = |b: u8| matches!(b, b' '..=b'~' | 0x80..=0xc1 | 0xc3..=0xd7 | 0xd9..=0xe1 | 0xe3..=0xee | 0xf0..=0xf2);
    let is_plain = |some: &[u8]| some.iter().fold(true, |is_plain, &b| is_plain & is_in(b));
    !text.as_bytes().chunks(64).all(|some| is_ascii(some) || is_plain(some)) && text.contains(is_unsafe)
}

/// Sanitizes text for one line, with one space between words.
pub(crate) fn clean_words(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Sanitizes text for one line: replaces tabs and line breaks by a space, and other unsafe characters by a visible
/// substitute.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !has_unsafe(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(clean_char).collect())
}

/// Sanitizes multi-line text: keeps line breaks and tabs, and replaces other unsafe characters by a visible substitute.
pub(crate) fn clean_text(text: &str) -> String {
    let clean = |c: char| if matches!(c, '\n' | '\t') { c } else { clean_char(c) };
    let mut chars = text.chars().peekable();
    let next = || match chars.next()? {
        '\r' if chars.peek() == Some(&'\n') => chars.next(),
        '\r' => Some('\n'),
        c => Some(clean(c)),
    };
    std::iter::from_fn(next).collect()
}

/// Sanitizes one character of a line. The substitute is a control picture for C0, otherwise U+FFFD.
pub(crate) fn clean_char(c: char) -> char {
    match c {
        ' '..='~' => c,
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        c if is_unsafe(c) => '\u{fffd}',
        c => c,
    }
}

/// The maximum number of code points drawn per grapheme cluster. The longest in use, emoji families with skin tones, have
/// ten.
const MAX_POINTS: usize = 16;

/// Truncates each grapheme cluster to [`MAX_POINTS`] code points. Otherwise, a cell of the terminal would get any number
/// of combining marks.
pub(crate) fn limit_combining_marks(text: &str) -> Cow<'_, str> {
    let end = |cluster: &str| cluster.char_indices().nth(MAX_POINTS).map_or(cluster.len(), |(end, _)| end);
    // A cluster has at least one byte per code point.
    if text.len() <= MAX_POINTS || text.is_ascii() || text.graphemes(true).all(|cluster| end(cluster) == cluster.len())
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.graphemes(true).map(|cluster| &cluster[..end(cluster)]).collect())
}

/// Splits text into sanitized lines at LF, CR LF and CR. Expands tabs to the next multiple of four columns.
pub fn clean_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
        .map(|line| if line.contains('\t') { Cow::Owned(clean(&expand_tabs(line)).into_owned()) } else { clean(line) })
}

fn expand_tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for part in line.split_inclusive('\t') {
        let text = part.trim_end_matches('\t');
        column += width(text);
        let gap = if text.len() < part.len() { 4 - column % 4 } else { 0 };
        out.push_str(text);
        out.extend(std::iter::repeat_n(' ', gap));
        column += gap;
    }
    out
}

/// Encodes a text as UTF-8 in percent signs, except letters and digits of ASCII and the characters in `plain`.
pub(crate) fn percent_encoded(text: &str, plain: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || plain.contains(&byte);
    text.bytes().map(|byte| if is_plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") }).collect()
}

/// Removes system error numbers, such as ` (os error 2)`, from a message.
pub(crate) fn without_os_error_codes(message: &str) -> Cow<'_, str> {
    const CODE: &str = " (os error ";
    let mut text = Cow::Borrowed(message);
    while let Some(at) = text.find(CODE) {
        let rest = &text[at + CODE.len()..];
        let Some((_, after)) = rest.split_once(')').filter(|(code, _)| code.parse::<i32>().is_ok()) else { break };
        text = format!("{}{after}", &text[..at]).into();
    }
    text
}

/// Returns the width of text in terminal columns.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Returns `true` if text is a single safe character that is one column wide.
pub(crate) fn is_one_column(text: &str) -> bool {
    text.chars().count() == 1 && !text.contains(is_unsafe) && width(text) == 1
}

/// Returns the longest prefix of `text` that fits into `columns`. Never splits a grapheme cluster.
pub fn truncate_to_width(text: &str, columns: usize) -> &str {
    if text.len() <= columns {
        return text; // no character is wider than its number of bytes
    }
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        used += width(cluster);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

impl Default for Glyphs {
    fn default() -> Self {
        UNICODE.clone()
    }
}

/// Defines [`Glyphs`]: one field per symbol, the Unicode and ASCII sets, and the table of names and meanings.
macro_rules! glyphs {
    ($($name:ident: $means:literal, $unicode:literal, $ascii:literal;)*) => {
        /// The symbols that pitree draws.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Glyphs {
            $(#[doc = $means] pub $name: Cow<'static, str>,)*
        }

        /// The Unicode symbols, each one column wide. All are in DejaVu Sans Mono 2.37, and most in Noto Sans Mono.
        pub(crate) static UNICODE: Glyphs = Glyphs { $($name: Cow::Borrowed($unicode),)* };

        /// The ASCII symbols (`--ascii`).
        pub static ASCII: Glyphs = Glyphs { $($name: Cow::Borrowed($ascii),)* };

        impl Glyphs {
            /// The name and meaning of each symbol.
            pub(crate) const ALL: &'static [(&'static str, &'static str)] = &[$((stringify!($name), $means),)*];

            /// Returns the name, the meaning and the symbol of each.
            pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
                [$((stringify!($name), $means, &*self.$name)),*].into_iter()
            }

            /// Returns the symbol with the given name.
            pub(crate) fn named(&mut self, name: &str) -> Option<&mut Cow<'static, str>> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

glyphs! {
    open: "In the session list: an unfolded row.", "▾", "v";
    closed: "In the session list: a folded row.", "▸", ">";
    fork: "A fork, with ? if its parent file is missing; before a number: forks of the session.", "⋎", "Y";
    label: "Before a number: labels of the session.", "#", "#";
    commit: "Before a hash: a commit that a command printed.", "⎇", "^";
    tee: "A branch with others below it; before a number: branches of the session.", "├", "|";
    corner: "The last branch.", "└", "`";
    bar: "The vertical part of a connecting line; the border between panes.", "│", "|";
    dash: "The horizontal part of a connecting line.", "─", "-";
    live: "A live session: a running pi is probably using it (guess).", "◌", "~";
    working: "A session whose pi is working.", "●", "@";
    waiting: "A session whose pi answered and waits for you.", "◆", "W";
    blocked: "A session whose pi is blocked on a question.", "¿", "?";
    failed: "A session whose pi stopped at an error.", "‼", "E";
    idle: "A session that an idle pi has open.", "○", "o";
    gone: "The project's directory is missing.", "✗", "X";
    subagent: "A subagent session.", "↳", ">";
    imported: "An imported session.", "↧", "i";
    archived: "An archived session.", "▤", "z";
    unread: "An unread session: it has messages that pitree has not shown yet.", "•", "*";
    pin: "A pinned session.", "★", "P";
    note: "A session or an entry with a note.", "✎", "N";
    worktree: "Before a name: the git worktree of the session.", "⎇", "w";
    mark: "A marked session or entry.", "✓", "x";
    warning: "A problem with the file or the entry; the reader describes it.", "⚠", "!";
    active: "In the tree: an entry on the active path, which leads to the leaf.", "•", "*";
    leaf: "The leaf: pi resumes after this entry.", "←", "<-";
    unfolded: "In the tree: an unfolded branch or run of tool calls.", "⊟", "-";
    folded: "In the tree: a folded branch, or the inherited entries of a fork.", "⊞", "+";
    hidden: "Hidden entries: in a fold, by the filter, or in a run of tool calls.", "⋯", "...";
    ellipsis: "Truncated text.", "…", "...";
    wrapped: "The continuation of a long line of code.", "↪", ">";
    dot: "A separator.", "·", "-";
    focus: "Before the title of the focused pane.", "▌", ">";
    thumb: "The thumb of a scroll bar.", "▐", "#";
}

impl Glyphs {
    /// Truncates the start of `text` to fit into `columns`, and puts an ellipsis before the rest.
    pub(crate) fn cut_start<'a>(&self, text: &'a str, columns: usize) -> Cow<'a, str> {
        if width(text) <= columns {
            return Cow::Borrowed(text);
        }
        let Some(room) = columns.checked_sub(width(&self.ellipsis)) else { return Cow::Borrowed("") };
        let mut used = 0;
        let end = text.grapheme_indices(true).rev().take_while(|(_, cluster)| {
            used += width(cluster);
            used <= room
        });
        let start = end.last().map_or(text.len(), |(at, _)| at);
        Cow::Owned(format!("{}{}", self.ellipsis, &text[start..]))
    }

    /// Truncates the middle of `text` to fit into `columns`, and keeps at most `end` columns of its end.
    pub(crate) fn cut_middle<'a>(&self, text: &'a str, columns: usize, end: usize) -> Cow<'a, str> {
        let start = match columns.checked_sub(end + width(&self.ellipsis)) {
            Some(room) if width(text) > columns => truncate_to_width(text, room),
            _ => return self.cut(text, columns),
        };
        Cow::Owned(format!("{start}{}", self.cut_start(&text[start.len()..], columns - width(start))))
    }

    /// Truncates the path `text` to fit into `columns` so that the character at index `place` stays visible. Keeps the end
    /// of the path, or else the part that starts with the component that contains the character.
    pub(crate) fn cut_around<'a>(&self, text: &'a str, place: usize, columns: usize) -> Cow<'a, str> {
        let end = self.cut_start(text, columns);
        let room = columns.saturating_sub(2 * width(&self.ellipsis));
        if width(text) <= columns || place + end.chars().count() > text.chars().count() || room == 0 {
            return end;
        }
        let at = text.char_indices().nth(place).map_or(0, |(at, _)| at);
        let part = text[..at].rfind(is_separator).map_or(0, |separator| separator + 1);
        let start = if width(&text[part..at]) < room { part } else { at };
        let before = if start == 0 { "" } else { &self.ellipsis };
        Cow::Owned(format!("{before}{}{}", truncate_to_width(&text[start..], room), self.ellipsis))
    }

    /// Shortens a path to `columns`: directories in the middle are replaced by an ellipsis, the last part is kept.
    pub(crate) fn cut_path<'a>(&self, path: &'a str, columns: usize) -> Cow<'a, str> {
        if width(path) <= columns {
            return Cow::Borrowed(path);
        }
        let ends: Vec<usize> = path.match_indices(is_separator).map(|(at, _)| at).filter(|&at| at > 0).collect();
        let whole = |&at: &usize| at + 1 < path.len();
        let Some(mut tail) = ends.iter().rposition(whole) else {
            return self.cut_middle(path, columns, columns * 2 / 3);
        };
        let fits =
            |head: usize, tail: usize| width(&path[..head]) + width(&self.ellipsis) + width(&path[tail..]) <= columns;
        let first = ends[0] + 1;
        if !fits(0, ends[tail]) {
            let name = &path[ends[tail] + 1..];
            return self.cut_middle(name, columns, columns * 2 / 3);
        }
        let mut head = if fits(first, ends[tail]) { first } else { 0 };
        while tail > 0 && fits(head, ends[tail - 1]) {
            tail -= 1;
        }
        head =
            ends.iter().map(|at| at + 1).take_while(|&next| head > 0 && fits(next, ends[tail])).last().unwrap_or(head);
        Cow::Owned(format!("{}{}{}", &path[..head], self.ellipsis, &path[ends[tail]..]))
    }

    /// Truncates the end of `text` to fit into `columns`, and appends an ellipsis.
    pub fn cut<'a>(&self, text: &'a str, columns: usize) -> Cow<'a, str> {
        if truncate_to_width(text, columns).len() == text.len() {
            return Cow::Borrowed(text);
        }
        let Some(room) = columns.checked_sub(width(&self.ellipsis)) else {
            return Cow::Borrowed(truncate_to_width(text, columns));
        };
        Cow::Owned(format!("{}{}", truncate_to_width(text, room).trim_end(), self.ellipsis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_need_invisible_characters_are_unchanged() {
        for text in
            ["ភាសា\u{200b}ខ្មែរ", "ภาษา\u{200b}ไทย", "می\u{200c}خواهم", "क्\u{200d}ष", "👩\u{200d}💻", "မြန်မာ\u{200b}စာ"]
        {
            assert_eq!(clean(text), text);
            assert_eq!((clean_text(text), clean_words(text)), (text.to_owned(), text.to_owned()));
            assert_eq!(width(text), width(&text.replace('\u{200b}', "")));
        }
        for c in ['\u{202e}', '\u{2066}', '\u{200e}', '\u{feff}', '\u{2060}', '\u{e0041}', '\x1b'] {
            assert!(is_unsafe(c), "{c:?}");
        }
    }

    #[test]
    fn cleans_escape_sequences_and_reordering() {
        assert_eq!(clean("a\x1b[31mb\u{9b}c\u{202e}d\x7f\n\te"), "a␛[31mb\u{fffd}c\u{fffd}d␡  e");
        assert!(matches!(clean("plain é 漢"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_of_many_lines_keeps_breaks_and_tabs() {
        assert_eq!(clean_text("a\tb\r\nc\rd\n\x1b[31m\u{202e}é"), "a\tb\nc\nd\n␛[31m\u{fffd}é");
    }

    #[test]
    fn every_symbol_is_one_column_wide() {
        let mut glyphs = UNICODE.clone();
        for (name, _) in Glyphs::ALL {
            assert!(glyphs.named(name).is_some_and(|sign| is_one_column(sign)), "{name}");
        }
        let mut ascii = ASCII.clone();
        assert!(Glyphs::ALL.iter().all(|(name, _)| ascii.named(name).is_some_and(|sign| sign.is_ascii())));
        assert!(["", "ab", "漢", "\t", "\u{202e}", "e\u{301}", "\u{301}"].iter().all(|text| !is_one_column(text)));
    }

    #[test]
    fn os_error_codes_are_removed() {
        for (message, expected) in [
            ("No such file or directory (os error 2)", "No such file or directory"),
            ("a: b (os error 13) (from --dir), c (os error -5)", "a: b (from --dir), c"),
            ("x (os error two)", "x (os error two)"),
            ("x (os error 2", "x (os error 2"),
        ] {
            assert_eq!(without_os_error_codes(message), expected);
        }
    }

    #[test]
    fn highlights_matches_across_spans() {
        let spans = [Span::new(Tone::User, "user: "), Span::new(Tone::Text, "use é")];
        let shown = |ranges: &[Range<usize>]| {
            let part = |span: Span| if span.tone == Tone::Match { format!("<{}>", span.text) } else { span.text };
            highlight(&spans, ranges).into_iter().map(part).collect::<Vec<_>>().join("|")
        };
        assert_eq!(shown(&[]), "user: |use é");
        assert_eq!(shown(&[0..2, 4..8, 10..12]), "<us>|er|<: >|<us>|e |<é>");
        assert_eq!(shown(&[0..6, 6..12]), "<user: >|<use é>");
        assert_eq!(shown(&[6..6, 9..40]), "user: |use|< é>");
    }

    #[test]
    fn splits_lines_at_every_break_and_expands_tabs() {
        let lines: Vec<_> = clean_lines("a\tb\r\nc\rd\n").collect();
        assert_eq!(lines, ["a   b", "c", "d", ""]);
    }

    #[test]
    fn truncates_between_grapheme_clusters() {
        assert_eq!(UNICODE.cut("hello", 5), "hello");
        assert_eq!(UNICODE.cut("hello world", 6), "hello…");
        assert_eq!(UNICODE.cut("漢字漢字", 5), "漢字…");
        assert_eq!(UNICODE.cut("👩‍👩‍👧 family", 3), "👩‍👩‍👧…");
        assert_eq!(UNICODE.cut("abc", 0), "");
        assert_eq!(UNICODE.cut_start("/a/b/漢字.jsonl", 10), "…字.jsonl");
        assert_eq!(UNICODE.cut_start("short", 5), "short");
        assert_eq!(UNICODE.cut_middle("漢字-of-a-name-2", 9, 4), "漢字…me-2");
        assert_eq!(UNICODE.cut_middle("short", 5, 2), "short");
        assert_eq!(UNICODE.cut_middle("short", 2, 3), "s…");
        assert_eq!(UNICODE.cut_around("~/code/one/packages", 12, 8), "…ackages");
        for (columns, expected) in [
            (40, "~/code/github.com/org/monorepo/src/a.rs"),
            (38, "~/…/github.com/org/monorepo/src/a.rs"),
            (35, "~/code/…/org/monorepo/src/a.rs"),
            (20, "~/code/…/src/a.rs"),
            (10, "~/…/a.rs"),
            (6, "…/a.rs"),
            (4, "a.rs"),
            (3, "…rs"),
        ] {
            assert_eq!(UNICODE.cut_path("~/code/github.com/org/monorepo/src/a.rs", columns), expected);
        }
        assert_eq!(UNICODE.cut_path("/home/me/code/shop/", 16), "/home/me/…/shop/");
        assert_eq!(UNICODE.cut_path("a-long-name-without-directories", 10), "a-l…tories");
        assert_eq!(UNICODE.cut_around("~/code/one/packages", 8, 8), "…one/pa…");
        assert_eq!(UNICODE.cut_around("one/packages/deeper", 1, 8), "one/pa…");
        assert_eq!(UNICODE.cut_around("~/very-long-part/packages", 10, 8), "…g-part…");
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_in_fits_and_is_safe(text in "\\PC*|[\\x00-\\x20\\u{80}-\\u{a0}\\u{2000}-\\u{2070}a]*", columns in 0usize..40) {
            let safe = clean(&text).into_owned();
            proptest::prop_assert!(!safe.contains(is_unsafe));
            proptest::prop_assert!(width(&UNICODE.cut(&safe, columns)) <= columns);
            proptest::prop_assert!(width(&UNICODE.cut_path(&safe, columns)) <= columns);
            proptest::prop_assert!(width(&UNICODE.cut_path(&safe.replace(' ', "/"), columns)) <= columns);
            for at in 0..columns {
                proptest::prop_assert!(width(&UNICODE.cut_middle(&safe, columns, at)) <= columns);
                proptest::prop_assert!(width(&UNICODE.cut_around(&safe, at, columns)) <= columns);
            }
        }
    }
}
