//! Renders Markdown of chat messages as styled lines that are readable without colors. Line breaks are kept, and text that
//! is not Markdown is unchanged. Any nesting and any malformed text is rendered. [`crate::render::wrap`] wraps the lines,
//! and [`crate::render::code`] highlights code.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

use self::page::Page;
use self::table::Table;
use crate::base::text::{Span, Tone, clean, clean_lines, push_span};
use crate::render::{DocLine, code, diff, spans_of};

mod page;
mod table;

/// The prefix of quoted lines, once per level.
pub(crate) const QUOTE_BAR: &str = "│ ";

/// The maximum depth of nested lists and quotations. Deeper content is drawn at this level, because panes are too narrow.
const MAX_DEPTH: usize = 8;

/// The maximum column of list and quotation marks at the start of a line. A text that exceeds it is shown unparsed, because
/// the time of the parser is the product of depth and lines.
const MAX_MARKS: usize = 256;

/// The line drawn for a thematic break.
const RULE: &str = "────────────────────────";

/// Renders Markdown with one blank line between blocks. Keeps line breaks within paragraphs.
pub(crate) fn markdown(text: &str, code: &mut code::HighlightBudget<'_>) -> Vec<DocLine> {
    if text.split(['\n', '\r']).any(starts_too_deep) {
        return literal(text);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        page: Page::default(),
        line: Vec::new(),
        lists: Vec::new(),
        tones: Vec::new(),
        collected: None,
        link: None,
        table: None,
        budget: code::MAX_BYTES,
        code,
    };
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.page.lines
}

/// Returns `true` if the list and quotation marks at the start of a line exceed [`MAX_MARKS`].
pub(crate) fn starts_too_deep(line: &str) -> bool {
    let (mut columns, mut marks_end) = (0, 0);
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        columns += if byte == b'\t' { 4 } else { 1 };
        let before_space = bytes.peek().is_none_or(u8::is_ascii_whitespace);
        match byte {
            b' ' | b'\t' | b'0'..=b'9' => {}
            b'>' => marks_end = columns,
            b'-' | b'*' | b'+' | b'.' | b')' if before_space => marks_end = columns,
            _ => break,
        }
    }
    marks_end > MAX_MARKS
}

/// Renders text without parsing it.
fn literal(text: &str) -> Vec<DocLine> {
    clean_lines(text.trim_matches(['\n', '\r'])).map(|line| DocLine::of(spans_of(Tone::Text, line))).collect()
}

/// An element whose text is collected until it ends.
enum Collected<'a> {
    /// A code block and its fence tag; `None` for an indented block.
    Code(Option<CowStr<'a>>),
    Html,
    /// An image, and the number of open images in its description.
    Image(CowStr<'a>, usize),
}

/// Converts parser events into lines.
struct Writer<'a, 'c, 'd> {
    page: Page,
    /// The current line.
    line: Vec<Span>,
    /// The number of the next item of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The open tones, innermost last.
    tones: Vec<Tone>,
    /// The element that collects text, and its text so far.
    collected: Option<(Collected<'a>, String)>,
    /// The target of the open link and its text so far. Links do not nest.
    link: Option<(CowStr<'a>, String)>,
    table: Option<Table>,
    /// The number of bytes of code in this text that can still be highlighted.
    budget: usize,
    /// The limits of the whole document.
    code: &'c mut code::HighlightBudget<'d>,
}

impl<'a> Writer<'a, '_, '_> {
    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, self.tone()),
            Event::Code(text) => self.text(&format!("`{text}`"), Tone::Code),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, self.tone()),
            Event::SoftBreak | Event::HardBreak => match &mut self.collected {
                Some((_, text)) => text.push(' '),
                None => self.finish_line(),
            },
            Event::Rule => {
                self.open_block();
                self.line.push(Span::new(Tone::Dim, RULE));
                self.close_block();
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }, Tone::Accent),
            // These parser options are disabled.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, self.tone());
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::Paragraph => self.open_block(),
            Tag::Heading { level, .. } => {
                self.open_block();
                self.tones.push(Tone::Heading);
                self.text(&format!("{} ", "#".repeat(level as usize)), Tone::Heading);
            }
            Tag::BlockQuote(_) => {
                self.open_block();
                self.page.open_quote();
            }
            Tag::CodeBlock(kind) => {
                self.open_block();
                let tag = match kind {
                    CodeBlockKind::Fenced(tag) => Some(tag),
                    CodeBlockKind::Indented => None,
                };
                self.collected = Some((Collected::Code(tag), String::new()));
            }
            Tag::HtmlBlock => {
                self.open_block();
                self.collected = Some((Collected::Html, String::new()));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.open_block();
                }
                self.finish_line();
                self.lists.push(first);
            }
            Tag::Item => {
                self.finish_line();
                let mark = self.next_mark();
                self.page.open_item(mark);
            }
            Tag::Table(alignments) => {
                self.open_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::Emphasis => self.tones.push(Tone::Emphasis),
            Tag::Strong => self.tones.push(Tone::Strong),
            Tag::Strikethrough => {
                self.tones.push(Tone::Strike);
                self.text("~~", Tone::Strike); // the words mean the opposite without it
            }
            Tag::Link { dest_url, .. } => {
                self.tones.push(Tone::Link);
                if self.collected.is_none() {
                    self.link = Some((dest_url, String::new()));
                }
            }
            Tag::Image { dest_url, .. } => match &mut self.collected {
                Some((Collected::Image(_, inner), _)) => *inner += 1,
                _ => self.collected = Some((Collected::Image(dest_url, 0), String::new())),
            },
            // Rows and cells have no start; the options of the others are disabled.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.close_block(),
            TagEnd::Heading(_) => {
                self.tones.pop();
                self.close_block();
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                match self.collected.take() {
                    Some((Collected::Code(tag), text)) => self.code_block(tag, &text),
                    Some((Collected::Html, text)) => {
                        let tone = self.tone();
                        for line in clean_lines(text.trim_end()) {
                            self.page.write(spans_of(tone, line), false);
                        }
                    }
                    other => self.collected = other,
                }
                self.close_block();
            }
            TagEnd::BlockQuote(_) => {
                self.finish_line();
                self.page.close_container();
                self.page.close_block();
            }
            TagEnd::Item => {
                self.finish_line();
                self.page.close_container();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.page.close_block();
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => {
                for spans in self.table.take().map(Table::lines).unwrap_or_default() {
                    self.page.write(spans, true);
                }
                self.close_block();
            }
            TagEnd::Strikethrough => {
                self.text("~~", Tone::Strike);
                self.tones.pop();
            }
            TagEnd::Emphasis | TagEnd::Strong => {
                self.tones.pop();
            }
            TagEnd::Link => {
                self.tones.pop();
                if self.collected.is_none() {
                    self.end_link();
                }
            }
            TagEnd::Image => self.end_image(),
            // Those parser options are disabled.
            _ => {}
        }
    }

    /// Returns the innermost tone.
    fn tone(&self) -> Tone {
        let base = || if self.page.quoted() { Tone::Quote } else { Tone::Text };
        self.tones.last().copied().unwrap_or_else(base)
    }

    /// Appends text to the line or to the collected text.
    fn text(&mut self, text: &str, tone: Tone) {
        if let Some((_, all)) = &mut self.collected {
            return all.push_str(text);
        }
        if let Some((_, link_text)) = &mut self.link {
            link_text.push_str(text);
        }
        push_span(&mut self.line, tone, &clean(text));
    }

    fn next_mark(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        }
    }

    fn end_link(&mut self) {
        let Some((url, text)) = self.link.take() else { return };
        let same = *url == *text || url.strip_prefix("mailto:") == Some(&*text);
        if !same && !url.is_empty() {
            self.text(&format!(" ({url})"), Tone::Dim);
        }
    }

    fn end_image(&mut self) {
        match self.collected.take() {
            Some((Collected::Image(url, 0), text)) => {
                let shown = if text.trim().is_empty() && !url.starts_with("data:") { &*url } else { text.trim() };
                let shown = if shown.is_empty() { "[image]".to_owned() } else { format!("[image: {shown}]") };
                self.text(&shown, Tone::Link);
            }
            Some((Collected::Image(url, inner), text)) => {
                self.collected = Some((Collected::Image(url, inner - 1), text));
            }
            other => self.collected = other,
        }
    }

    fn code_block(&mut self, tag: Option<CowStr<'_>>, text: &str) {
        let Some(tag) = tag else {
            for line in clean_lines(text.trim_end_matches('\n')) {
                self.page.write(spans_of(Tone::Code, format!("    {line}")), true);
            }
            return;
        };
        self.page.write(vec![Span::clean(Tone::Dim, &format!("```{tag}"))], true);
        if matches!(&*tag, "diff" | "patch") && !text.is_empty() {
            for line in diff::styled(text) {
                self.page.write(line.spans, true);
            }
        } else {
            // The first block always passes; `highlight` limits it to its beginning.
            let paid = text.len() <= self.budget || self.budget == code::MAX_BYTES;
            if paid {
                self.budget = self.budget.saturating_sub(text.len());
            }
            for spans in code::highlight(if paid { &tag } else { "" }, text, self.code) {
                self.page.write(spans, true);
            }
        }
        self.page.write(vec![Span::new(Tone::Dim, "```")], true);
    }

    fn open_block(&mut self) {
        self.finish_line();
        self.page.open_block();
    }

    fn close_block(&mut self) {
        self.finish_line();
        self.page.close_block();
    }

    /// Writes the current line if it has text.
    fn finish_line(&mut self) {
        if !self.line.is_empty() {
            let spans = std::mem::take(&mut self.line);
            self.page.write(spans, false);
        }
    }
}

/// Removes the syntax of headings, quotations, emphasis and code, and replaces links by their text.
pub fn strip(line: &str) -> Cow<'_, str> {
    if !line.contains(['*', '`', '#', '[', '>']) {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let begins = out.is_empty() || out.ends_with(' ');
        let skipped =
            if begins { heading(rest).or_else(|| quotation(rest, &out)).or_else(|| fence(rest)) } else { None };
        let skipped = skipped.or_else(|| code(rest)).or_else(|| emphasis(rest, &out));
        if let Some(bytes) = skipped {
            rest = &rest[bytes..];
        } else if let Some((text, bytes)) = link(rest) {
            out.push_str(text);
            rest = &rest[bytes..];
        } else {
            // Asterisks without meaning in Markdown are kept as one run.
            let end = rest.find(|other| other != c || c != '*').unwrap_or(rest.len()).max(c.len_utf8());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    if out.trim().is_empty() { line.into() } else { out.into() }
}

/// Returns the length of `## ` before a heading. A single `#` is kept, because it can precede a number.
fn heading(rest: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'#').count();
    ((1..=6).contains(&signs) && rest[signs..].starts_with(' ')).then_some(signs + 1)
}

/// Returns the length of `> ` before a quotation.
fn quotation(rest: &str, before: &str) -> Option<usize> {
    (rest.starts_with("> ") && (before.is_empty() || before.ends_with("  "))).then_some(2)
}

/// Returns the length of a code fence with its language.
fn fence(rest: &str) -> Option<usize> {
    let language = rest.strip_prefix("```")?;
    let name = language.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-#".contains(byte)).count();
    Some(3 + name + usize::from(language[name..].starts_with(' ')))
}

fn code(rest: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'`').count();
    (signs > 0).then_some(signs)
}

/// Returns the length of the asterisks or underscores that start or end an emphasis. Those between words or spaces do not.
fn emphasis(rest: &str, before: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'*').count();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let (left, right) = (before.chars().next_back(), rest[signs..].chars().next());
    // Keeps `2*3`, `2 * 3`, `src/**/*.ts`, and names with underscores.
    let is_between = signs == 1 && is_word(left) && is_word(right);
    let is_alone = is_blank(left) && is_blank(right);
    let is_path = left == Some('/') || right == Some('/') || (is_blank(left) && right == Some('.'));
    ((1..=3).contains(&signs) && !is_between && !is_alone && !is_path).then_some(signs)
}

/// Parses `[text](address)` and returns the text and the total length.
fn link(rest: &str) -> Option<(&str, usize)> {
    let inside = rest.strip_prefix('[')?;
    let end = inside.find(']').filter(|&end| end > 0 && !inside[..end].contains('['))?;
    let address = inside[end..].strip_prefix("](")?;
    let close = address.find(')').filter(|&close| !address[..close].contains(' '))?;
    Some((&inside[..end], 1 + end + 2 + close + 1))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::base::text::is_unsafe;

    fn markdown(text: &str) -> Vec<DocLine> {
        super::markdown(text, &mut code::HighlightBudget::new(&|| Duration::ZERO))
    }

    /// The lines as plain text.
    fn shown(text: &str) -> Vec<String> {
        markdown(text).iter().map(|line| line.spans.iter().map(|span| span.text.as_str()).collect()).collect()
    }

    fn tone(text: &str, piece: &str) -> Tone {
        let lines = markdown(text);
        let found = lines.iter().flat_map(|line| &line.spans).find(|span| span.text.contains(piece));
        found.unwrap_or_else(|| panic!("{piece} not in {lines:?}")).tone
    }

    #[test]
    fn puts_one_blank_line_between_blocks() {
        let text = "\n\n# Title\nfirst\nsecond\n\n\n\n---\n> quoted\n>\n> more\n\n<div>\n\nend\n\n";
        let rule = RULE;
        assert_eq!(
            shown(text),
            ["# Title", "", "first", "second", "", rule, "", "│ quoted", "│", "│ more", "", "<div>", "", "end"]
        );
        assert!(shown(" \n\n").is_empty());
    }

    #[test]
    fn lists_nest_and_stay_tight_or_loose() {
        assert_eq!(
            shown("- a\n  b\n  - c\n    3. d\n    4. e\n- [x] f\n- [ ] g\n-\n\nend"),
            ["- a", "  b", "  - c", "    3. d", "    4. e", "- [x] f", "- [ ] g", "- ", "", "end"]
        );
        assert_eq!(shown("1. a\n\n   b\n2. c"), ["1. a", "", "   b", "", "2. c"]);
        assert_eq!(shown("- > a\n  > b\n- c"), ["- │ a", "  │ b", "", "- c"]);
        assert_eq!(shown("> - a\n> - b\n>\n> c"), ["│ - a", "│ - b", "│", "│ c"]);
        assert_eq!(markdown("- a\n  10. b")[0].indent, 2);
        assert_eq!(markdown("> 10. b")[0].indent, 6);
    }

    #[test]
    fn inline_marks_become_tones() {
        let text = "# H *e*\n\n**s** *e* ~~x~~ `c` <b> a&lt;b [t](u) <http://a.b> ![i **b**](p.png)\n> q";
        assert_eq!(shown(text)[2], "s e ~~x~~ `c` <b> a<b t (u) http://a.b [image: i b]");
        for (piece, expected) in [
            ("# H ", Tone::Heading),
            ("s", Tone::Strong),
            ("e", Tone::Emphasis),
            ("x", Tone::Strike),
            ("`c`", Tone::Code),
            ("t", Tone::Link),
            (" (u)", Tone::Dim),
            ("q", Tone::Quote),
        ] {
            let lines = markdown(text);
            assert!(
                lines
                    .iter()
                    .flat_map(|line| &line.spans)
                    .any(|span| span.text.contains(piece) && span.tone == expected),
                "{piece}"
            );
        }
        assert_eq!(shown("![](data:image/png;base64,AAAA) ![](a.png)"), ["[image] [image: a.png]"]);
    }

    #[test]
    fn code_keeps_its_lines_and_is_highlighted() {
        let text = "a\n```rust\nlet x = 1;\n\n\ty\n```\n- i\n  ```\n  z\n  ```\n";
        let expected = ["a", "", "```rust", "let x = 1;", "", "    y", "```", "", "- i", "", "  ```", "  z", "  ```"];
        assert_eq!(shown(text), expected);
        assert_eq!(tone(text, "let"), Tone::Keyword);
        assert_eq!(tone("```diff\n+ new\n```", "new"), Tone::Added);
        assert!(markdown(text)[3].verbatim && !markdown(text)[0].verbatim);
        assert_eq!(shown("a\n\n    indented\n      more\n"), ["a", "", "    indented", "      more"]);
        let twice = format!("```rs\nlet a;{}\n```\n", "\n// x".repeat(code::MAX_BYTES / 5 - 10)).repeat(2);
        let keywords = markdown(&twice).iter().flat_map(|line| &line.spans).filter(|s| s.tone == Tone::Keyword).count();
        assert_eq!(keywords, 1, "only so much is highlighted in one text");
    }

    #[test]
    fn tables_line_up() {
        let lines = shown("| a | right |\n|---|--:|\n| `x` | 1 |\n| longer |\n\nend");
        assert_eq!(lines[..4], ["a      │ right", "───────┼──────", "`x`    │     1", "longer │"]);
        assert_eq!(lines[4..], ["", "end"]);
        assert_eq!(shown("||\n|-|\n|a|\n||\n"), ["─", "a"], "no blank lines from empty cells");
    }

    #[test]
    fn any_depth_is_drawn() {
        for part in [">", "- ", "1. ", "> - ", "[", "![", "*a ", "_a**b", "`", "<", "~~", "|", "[a](", "\t", "  - x\n"]
        {
            let lines = markdown(&part.repeat(100_000));
            assert!(lines.iter().all(|line| usize::from(line.indent) <= MAX_DEPTH * 4), "{part}");
        }
        let deep = "> ".repeat(100) + "x\n" + &"y\n".repeat(10_000);
        assert_eq!(shown(&deep)[1], "│ ".repeat(MAX_DEPTH) + "y");
        let deeper = "> ".repeat(MAX_MARKS) + "x";
        assert_eq!(shown(&deeper), [deeper]);
    }

    proptest! {
        #[test]
        fn any_text_gives_safe_lines(
            text in "(\\PC|[ \\t\n>*_`~#|<&;:0-9.()\\[\\]!-]|```|\n\n|- |> |\\|-\\|\n|&#27;|&#x202e;|[\\x00-\\x20\\u{80}-\\u{a0}]){0,80}",
        ) {
            let lines = markdown(&text);
            for span in lines.iter().flat_map(|line| &line.spans) {
                prop_assert!(!span.text.contains(is_unsafe), "{span:?}");
            }
            for end in [lines.first(), lines.last()].into_iter().flatten() {
                prop_assert!(!end.spans.is_empty(), "blank at an end: {lines:?}");
            }
        }
    }

    #[test]
    fn syntax_is_removed_and_words_are_kept() {
        for (line, said) in [
            ("plain words", "plain words"),
            ("## Goal Several logins.  ## Tried on", "Goal Several logins.  Tried on"),
            ("**One** and *two*, `three`", "One and two, three"),
            ("the total stays at **€ 9.00**, so the", "the total stays at € 9.00, so the"),
            ("use the [Web Locks API](https://developer.mozilla.org/x) here", "use the Web Locks API here"),
            ("Much shorter:  ```ts if (a * b) { c() }  ```", "Much shorter:  if (a * b) { c() }  "),
            ("snake_case and __init__.py and 2*3 and a * b", "snake_case and __init__.py and 2*3 and a * b"),
            ("src/**/*.ts and *.rs stay", "src/**/*.ts and *.rs stay"),
            ("**10 of 10.** A slow **one**.", "10 of 10. A slow one."),
            ("#4 is an issue, C# is none", "#4 is an issue, C# is none"),
            ("> said so", "said so"),
            ("a > b", "a > b"),
            ("[x] done [read: a]", "[x] done [read: a]"),
            ("** **", "** **"),
            ("", ""),
        ] {
            assert_eq!(strip(line), said, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_keeps_its_letters(line in "[a-c*`#>\\[\\]() ]{0,40}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
            let said = strip(&line);
            // The name of a language and an address may go.
            proptest::prop_assert!(letters(&said) <= letters(&line));
            if !line.contains("```") && !line.contains("](") {
                proptest::prop_assert_eq!(letters(&said), letters(&line));
            }
        }
    }
}
