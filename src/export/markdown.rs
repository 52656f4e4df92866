//! The Markdown writer: prompts as headings, tool calls in `<details>`, code in fences longer than any inside. Text of a
//! session never becomes raw HTML, and never changes the structure of the document.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::base::ansi;
use crate::base::text::{clean, clean_text};
use crate::base::{numbers, sort};
use crate::export::document::{BlockRole, EntryBlock, Head, Outline, Part, ToolPart, push};
use crate::export::{IndexRow, Writer};
use crate::render::markdown::starts_too_deep;

/// A heading after a text, to detect whether the text leaves a block open.
const END: &str = "\n\n# end";

/// The maximum number of attempts to neutralize a text, because an escape can change the meaning of what follows.
const TRIES: usize = 8;

/// Writes Markdown.
#[derive(Debug, Default)]
pub struct MarkdownWriter {
    /// The number of prompts so far.
    prompts: usize,
    /// `true` if the last block ends with a list of tool calls.
    in_list: bool,
    /// The list of changed files, for the end.
    changed: String,
}

impl Writer for MarkdownWriter {
    fn head(&mut self, head: &Head, out: &mut String) {
        push(out, &["# ", &escape(&head.title), "\n\n"]);
        for (name, value) in &head.facts {
            push(out, &["- **", name, ":** ", &escape(value), "\n"]);
        }
        out.push('\n');
        let Outline { changed, differences, commits, result, .. } = &head.outline;
        let Some(result) = result else {
            self.changed = list("## Changed files", changed);
            return;
        };
        out.push_str("## Result\n\n");
        parts(result, out);
        out.push_str(&list("### Changed files", changed));
        parts(differences, out);
        push(out, &[&list("### Commits", commits), "---\n\n"]);
    }

    fn entry(&mut self, entry: &EntryBlock, out: &mut String) {
        let is_answer = matches!(entry.role, BlockRole::Answer | BlockRole::Tool);
        let is_list = is_answer && entry.label.is_none() && entry.parts.iter().all(is_row);
        if self.in_list && !(is_list && entry.branch.is_none()) {
            out.push('\n');
        }
        self.in_list = entry.parts.last().map_or(self.in_list && is_list, is_row);
        if let Some(branch) = &entry.branch {
            let number = format!("{} of {}", branch.number, branch.count);
            push(out, &["---\n\n**Branch ", &number, "**", &branch.after(escape), "\n\n"]);
        }
        let label = entry.label.as_ref().map(|label| format!("label: {label}"));
        let facts = entry.facts.iter().chain(&label).map(|fact| escape(fact)).collect::<Vec<_>>().join(" · ");
        match entry.role {
            BlockRole::Prompt => {
                self.prompts += 1;
                push(out, &["## ", &self.prompts.to_string(), ". ", &escape(&entry.title), "\n\n"]);
                line_of(&facts, out);
            }
            BlockRole::Answer | BlockRole::Tool => {
                let has_text = entry.parts.iter().any(|part| !matches!(part, Part::Tool(_)));
                if has_text || label.is_some() {
                    push(out, &["**pi**", if facts.is_empty() { "" } else { " · " }, &facts, "\n\n"]);
                }
            }
            BlockRole::Summary => {
                push(out, &["### ", &escape(&entry.title), "\n\n"]);
                line_of(&facts, out);
            }
            BlockRole::Message => {
                let title = [&entry.title].into_iter().chain(&entry.facts).map(|fact| escape_html(fact));
                let title = title.collect::<Vec<_>>().join(" · ");
                return details(&title, out, |out| parts(&entry.parts, out));
            }
            BlockRole::Note => push(out, &["*", &escape(&entry.title), "*\n\n"]),
        }
        match entry.role {
            BlockRole::Prompt if entry.is_title() => {}
            BlockRole::Prompt => entry.parts.iter().for_each(|part| quoted_part(part, out)),
            _ => parts(&entry.parts, out),
        }
    }

    fn foot(&mut self, notes: &[String], out: &mut String) {
        push(out, &[if self.in_list { "\n" } else { "" }, &self.changed, "---\n\n"]);
        notes.iter().for_each(|note| push(out, &["*", &escape(note), "*\n\n"]));
        out.truncate(out.trim_end().len() + 1);
    }

    fn index(&mut self, head: &Head, files: &[IndexRow], out: &mut String) {
        self.head(head, out);
        for IndexRow { file, title, facts } in files {
            push(out, &["- [", &escape(title), "](<", file, ">) · ", &escape(facts), "\n"]);
        }
        out.push('\n');
    }
}

/// Returns a heading with a list, or an empty text.
fn list(title: &str, items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("- {}\n", escape(item))).collect();
    if items.is_empty() { items } else { format!("{title}\n\n{items}\n") }
}

/// Writes facts that are already escaped.
fn line_of(facts: &str, out: &mut String) {
    if !facts.is_empty() {
        push(out, &["*", facts, "*\n\n"]);
    }
}

/// Writes a part of a prompt as a quotation.
fn quoted_part(part: &Part, out: &mut String) {
    let Part::Markdown(text) = part else { return self::part(part, out) };
    // A tab after the mark of a quotation is narrower than at the start of a line.
    let text = neutral(&text.replace('\t', "    "));
    let quoted: String = text.lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect();
    let quoted = if is_neutral(&quoted) { quoted } else { fenced("", &text) };
    push(out, &[quoted.trim_end(), "\n\n"]);
}

fn parts(parts: &[Part], out: &mut String) {
    let mut last = None;
    for part in parts {
        let follows_row = last.is_some_and(is_row);
        if follows_row && !is_row(part) {
            out.push('\n');
        }
        // A comment ends a list, to which the text could belong.
        if matches!(part, Part::Markdown(_)) && (follows_row || matches!(last, Some(Part::Markdown(_)))) {
            out.push_str("<!-- -->\n\n");
        }
        last = Some(part);
        self::part(part, out);
    }
}

/// Returns `true` for a tool call that is written as an item of a list.
fn is_row(part: &Part) -> bool {
    matches!(part, Part::Tool(tool) if tool.parts.is_empty())
}

fn part(part: &Part, out: &mut String) {
    match part {
        Part::Markdown(text) => push(out, &[neutral(text).trim_end(), "\n\n"]),
        Part::Thinking(text) => details("thinking", out, |out| out.push_str(&fenced("", text.trim()))),
        Part::Folded { title, text } => details(&escape_html(title), out, |out| out.push_str(&fenced("", text))),
        Part::Code(language, text) => push(out, &[&fenced(language, text), "\n"]),
        Part::Plain(text) => push(out, &[&fenced("", &ansi::strip(text)), "\n"]),
        Part::Diff(text) => push(out, &[&fenced("diff", text), "\n"]),
        Part::Error(text) => push(out, &["Failed:\n\n", &fenced("", &ansi::strip(text)), "\n"]),
        Part::Note(text) => push(out, &["*(", &escape(text), ")*\n\n"]),
        Part::Section(name, text) => push(out, &["**", &escape(name), "**\n\n", &fenced("", text), "\n"]),
        Part::Tool(tool) => self::tool(tool, out),
        Part::Image { mime, bytes, data } => match image_address(mime, data) {
            Some(address) => push(out, &["![image](", &address, ")\n\n"]),
            None => push(out, &["*(", &escape(mime), ", ", &numbers::bytes(*bytes as u64), ")*\n\n"]),
        },
    }
}

fn tool(tool: &ToolPart, out: &mut String) {
    let remarks = [&tool.failed, &tool.edited].into_iter().filter(|remark| !remark.is_empty());
    let remarks: String = remarks.map(|remark| format!(" — {remark}")).collect();
    if tool.parts.is_empty() {
        let about = if tool.about.is_empty() { String::new() } else { format!(" {}", escape(&tool.about)) };
        return push(out, &["- **", &escape(&tool.name), "**", &about, &remarks, "\n"]);
    }
    let summary = format!("<b>{}</b> {}{remarks}", escape_html(&tool.name), escape_html(&tool.about));
    details(summary.trim(), out, |out| parts(&tool.parts, out));
}

/// Writes content that is folded. `summary` is HTML.
fn details(summary: &str, out: &mut String, content: impl FnOnce(&mut String)) {
    push(out, &["<details><summary>", summary, "</summary>\n\n"]);
    content(out);
    push(out, &[if out.ends_with("\n\n") { "" } else { "\n" }, "</details>\n\n"]);
}

/// Returns the address of an image with its data, if it is an image that viewers show.
pub(crate) fn image_address(mime: &str, data: &str) -> Option<String> {
    let is_known = matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    let is_base64 =
        !data.is_empty() && data.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    (is_known && is_base64).then(|| format!("data:{mime};base64,{data}"))
}

/// Returns text on one line without meaning in Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in clean(text).trim().chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '~' | '|' | '$' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

fn escape_html(text: &str) -> String {
    clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns text in a fence that is longer than any inside.
fn fenced(language: &str, text: &str) -> String {
    let text = clean_text(text);
    let text = text.trim_matches('\n');
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let is_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let language = if language.chars().all(is_tag) { language } else { "" };
    format!("{fence}{language}\n{text}\n{fence}\n")
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES
}

/// Returns Markdown of a session that ends all its blocks, without raw HTML, definitions, and links to other schemes than
/// those of [`is_web_address`]. Its headings are three levels lower, below those of the document. A text that cannot be
/// neutralized becomes a code block.
pub(crate) fn neutral(text: &str) -> String {
    let mut text = clean_text(text);
    text.truncate(text.trim_end().len());
    if text.split('\n').any(starts_too_deep) {
        return fenced("", &text);
    }
    let mut text = text.trim_start_matches('\n').to_owned();
    for attempt in 0..TRIES {
        let Findings { edits, open_fence, ends_all_blocks } = findings(&text, attempt == 0);
        if edits.is_empty() && open_fence.is_none() {
            if ends_all_blocks {
                return text;
            }
            break;
        }
        text = edited(&text, edits);
        open_fence.iter().for_each(|fence| push(&mut text, &["\n", fence]));
    }
    fenced("", &text)
}

/// Returns a text in which characters of one byte are replaced.
fn edited(text: &str, mut edits: Vec<(usize, &str)>) -> String {
    sort::by_key(&mut edits, |&(at, _)| at);
    edits.dedup_by_key(|(at, _)| *at);
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (at, new) in edits {
        push(&mut out, &[&text[from..at], new]);
        from = at + 1;
    }
    out + &text[from..]
}

/// Returns `true` if a text contains no raw HTML and no definitions, and leaves no block open.
fn is_neutral(text: &str) -> bool {
    let Findings { edits, open_fence, ends_all_blocks } = findings(text, false);
    edits.is_empty() && open_fence.is_none() && ends_all_blocks
}

/// The unsafe places of a text.
struct Findings {
    /// Characters to replace.
    edits: Vec<(usize, &'static str)>,
    /// The fence of a code block that extends to the end.
    open_fence: Option<String>,
    /// `true` if a heading after the text would belong to no block of it.
    ends_all_blocks: bool,
}

/// Finds the unsafe places of a text. With `demotes`, headings are to be replaced too.
fn findings(text: &str, demotes: bool) -> Findings {
    let whole = format!("{text}{END}");
    let (mut edits, mut open_fence, mut verbatim) = (Vec::new(), None, Vec::new());
    let (mut depth, mut ends_all_blocks) = (0usize, false);
    let mut first = |range: &Range<usize>, c: char, escaped: &'static str, all: bool| {
        let found = whole.get(range.clone()).unwrap_or_default().match_indices(c);
        edits.extend(found.take(if all { usize::MAX } else { 1 }).map(|(at, _)| (range.start + at, escaped)));
    };
    for (event, range) in Parser::new_ext(&whole, options()).into_offset_iter() {
        match &event {
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock) => first(&range, '<', "&lt;", true),
            Event::Start(Tag::Link { dest_url, link_type, .. }) if !is_web_address(dest_url) => match link_type {
                LinkType::Email => {}
                LinkType::Autolink => first(&range, '<', "&lt;", false),
                _ if is_relative(dest_url) => {}
                _ => first(&range, '[', "\\[", false),
            },
            // Images would be loaded from elsewhere.
            Event::Start(Tag::Image { .. }) => first(&range, '!', "\\!", false),
            Event::Start(Tag::CodeBlock(_)) if range.end >= whole.len() => {
                let fence = &whole[range.clone()];
                let mark = fence.chars().next().filter(|c| matches!(c, '`' | '~')).unwrap_or('`');
                open_fence = Some(fence.chars().take_while(|&c| c == mark).collect());
            }
            Event::Start(Tag::Heading { level, .. })
                if demotes && range.start < text.len() && whole[range.clone()].starts_with('#') =>
            {
                first(&range, '#', &"####"[..4.min(7 - *level as usize)], false);
            }
            _ => {}
        }
        match &event {
            Event::Start(tag) => {
                ends_all_blocks = depth == 0 && matches!(tag, Tag::Heading { .. });
                depth += 1;
            }
            Event::End(end) => {
                ends_all_blocks &= matches!(end, TagEnd::Heading(_));
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        if matches!(
            event,
            Event::Code(_) | Event::Start(Tag::CodeBlock(_) | Tag::Link { link_type: LinkType::Autolink, .. })
        ) {
            verbatim.push(range);
        }
    }
    // Links of the whole document could refer to a definition. Each definition has a colon after its label.
    let is_verbatim = |at: usize| {
        let range = verbatim.get(verbatim.partition_point(|range: &Range<usize>| range.end <= at));
        range.is_some_and(|range| range.start < at)
    };
    let colons = text.match_indices("]:").map(|(at, _)| at + 1);
    edits.extend(colons.filter(|&at| !is_verbatim(at)).map(|at| (at, "\\:")));
    let open_fence = open_fence.filter(|fence: &String| fence.len() >= 3);
    Findings { edits, open_fence, ends_all_blocks }
}

/// Returns `true` if an address has a scheme that is safe to follow: http, https or mailto.
pub(crate) fn is_web_address(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let has_controls = address.chars().any(|c| c.is_control() || c.is_whitespace());
    !has_controls && scheme.is_some_and(|scheme| matches!(&*scheme, "http" | "https" | "mailto"))
}

/// Returns `true` if an address has no scheme and names no other host.
fn is_relative(address: &str) -> bool {
    let start = address.split(['/', '?', '#']).next().unwrap_or_default();
    !start.contains([':', '&', '%']) && !address.starts_with("//") && !address.contains('\\')
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;
    use crate::export::document::BranchStart;

    /// Pieces of Markdown around definitions and links.
    const PIECES: &[&str] = &[
        "[x]",
        "[x]: ",
        "[^x]",
        ": ",
        "[",
        "]",
        "]:",
        "x",
        "javascript:a",
        "<javascript:a>",
        "file:///a",
        "//a",
        "!",
        "(",
        ")",
        "\n",
        "\n\n",
        "\n\n    ",
        "    ",
        "  ",
        "\t",
        "> ",
        "- ",
        "1. ",
        "`",
        "```",
        "~~~\n",
        "\\",
        "<",
        ">",
        "&lt;",
        "|",
        "|-|",
        "===",
        "---",
        "\"",
        "$",
        "https://a.example",
        "#",
        "*",
        "]\\:",
        "&#58;",
        "\n[x]: javascript:a\n",
    ];

    fn ends_all_blocks(text: &str) -> bool {
        findings(text, false).ends_all_blocks
    }

    /// Returns the raw HTML of a document.
    fn raw_html(text: &str) -> Vec<String> {
        let events = Parser::new_ext(text, options());
        events
            .filter_map(|event| match event {
                Event::Html(html) | Event::InlineHtml(html) => Some(html.trim().to_owned()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn texts_of_a_session_never_become_html() {
        for text in [
            "<script>alert(1)</script>",
            "a <b>bold</b> move",
            "<!-- x",
            "<?php x ?>",
            "<![CDATA[ x",
            "<div\n\n# x",
            "- a\n\n  <b>x</b>",
            "`<b>` and <b> and ``<b>``",
            "```\n<b>\n",
            "- ```\n  <b>",
            "> ~~~~\n<i>x",
            "<details><summary>x",
            "a\\<b> <c>",
            "&lt;b> <a\nhref=x>",
            "| a |\n|---|\n| <b> |",
            "[^1]\n\n[^1]: <b>x",
            "[x]: y '<b>'\n<b>",
            "\t<b>\n<b>",
            "<a href=\"`\">`",
        ] {
            let safe = neutral(text);
            assert_eq!(raw_html(&safe), Vec::<String>::new(), "{text:?}: {safe:?}");
            assert!(ends_all_blocks(&safe), "{text:?}: {safe:?}");
            let mut out = String::new();
            quoted_part(&Part::Markdown(text.into()), &mut out);
            assert_eq!(raw_html(&out), Vec::<String>::new(), "{text:?}: {out:?}");
        }
        assert_eq!(neutral("Use `Vec<T>` and *this*: a < b"), "Use `Vec<T>` and *this*: a < b");
    }

    #[test]
    fn links_go_to_the_web_only() {
        for text in [
            "[x](javascript:alert(1))",
            "<javascript:alert(1)>",
            "[x]\n\n[x]: JaVaScRiPt:a",
            "[x](data:text/html,a)",
            "[x](//evil)",
        ] {
            let safe = neutral(text);
            let has_link =
                Parser::new_ext(&safe, options()).any(|event| matches!(event, Event::Start(Tag::Link { .. })));
            assert!(!has_link, "{text:?}: {safe:?}");
        }
        for text in ["[x](https://example.com)", "<https://example.com>", "[x](src/a.rs)", "[x](#a)", "<a@b.example>"] {
            assert_eq!(neutral(text), text);
        }
        assert_eq!(neutral("![x](https://example.com/a.png)"), "\\![x](https://example.com/a.png)");
    }

    /// Asserts that the links and images of a document are those that pitree allows, for parsers with and without extensions.
    fn assert_safe_links(document: &str) {
        // GitHub and VS Code have no wiki links, no lists of definitions, and no metadata within a document.
        let others = Options::ENABLE_WIKILINKS
            | Options::ENABLE_DEFINITION_LIST
            | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
        for options in [options(), Options::empty(), Options::all() - others] {
            let parser = Parser::new_ext(document, options);
            assert_eq!(parser.reference_definitions().iter().map(|(name, _)| name).next(), None, "{document:?}");
            for event in parser {
                match event {
                    Event::Start(Tag::Image { dest_url, .. }) => {
                        assert!(dest_url.starts_with("data:image/png;"), "{dest_url} in {document:?}");
                    }
                    Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                        let is_allowed = is_web_address(&dest_url) || is_relative(&dest_url);
                        assert!(is_allowed || link_type == LinkType::Email, "{dest_url} in {document:?}");
                    }
                    Event::Html(html) | Event::InlineHtml(html) => {
                        let own = ["<details><summary>", "</details>", "<!-- -->"];
                        assert!(own.iter().any(|own| html.trim().starts_with(own)), "{html} in {document:?}");
                    }
                    Event::Start(Tag::FootnoteDefinition(_)) => panic!("{document:?}"),
                    _ => {}
                }
            }
        }
    }

    /// Returns a document with texts of a session in all places.
    fn document(texts: &[String]) -> String {
        let (mut writer, mut out) = (MarkdownWriter::default(), String::new());
        let facts = texts.iter().map(|text| ("Name".to_owned(), text.clone())).collect();
        writer.head(&Head { title: texts.concat(), facts, ..Head::default() }, &mut out);
        let row = |text: &String| Part::Tool(ToolPart { about: text.clone(), ..ToolPart::default() }.into());
        let roles = [BlockRole::Prompt, BlockRole::Answer, BlockRole::Tool, BlockRole::Summary, BlockRole::Message];
        for (number, role) in roles.into_iter().chain(roles).enumerate() {
            let mut parts = Vec::new();
            for text in texts {
                let output = vec![Part::Plain(text.clone()), row(text), Part::Markdown(text.clone())];
                let tool = ToolPart { name: text.clone(), parts: output, ..ToolPart::default() };
                let image = Part::Image { mime: "image/png".into(), bytes: 3, data: "AAAA".into() };
                let mut all = vec![
                    Part::Markdown(text.clone()),
                    row(text),
                    Part::Tool(tool.into()),
                    Part::Note(text.clone()),
                    Part::Section(text.clone(), text.clone()),
                    Part::Thinking(text.clone()),
                    image,
                ];
                let rotation = number % all.len();
                all.rotate_left(rotation);
                parts.append(&mut all);
            }
            let text = texts[number % texts.len()].clone();
            let branch = (number % 3 == 2).then(|| BranchStart { number: 1, count: 2, after: text.clone() });
            let (label, facts) = ((number % 2 == 1).then(|| text.clone()), vec![text.clone()]);
            let id = number.to_string();
            let entry = EntryBlock { id, parent: None, role, title: text, facts, label, branch, parts };
            writer.entry(&entry, &mut out);
        }
        writer.foot(texts, &mut out);
        out
    }

    #[test]
    fn definitions_of_texts_never_take_effect() {
        for definition in [
            "[x]: javascript:a",
            "[x]: https://evil.example 'title'",
            "[x]:\n  file:///etc",
            "> [x]: file:///etc",
            "- a\n\n  [x]: file:///etc",
            "a\n\n    [x]: javascript:a",
            "1. > - [x]: file:///etc",
            "[^1]: [x]: javascript:a",
            "[^x]: javascript:a",
            "[^1]:\n\n    [x]: javascript:a",
            "[a `x]: javascript:a `",
            "[a <http://x]:y>",
            "[\nx\n]: javascript:a",
            "[\\[x]: javascript:a",
            "[x]: <javascript:a>\n===",
            "<div>\n[x]: javascript:a",
            "```\na\n```\n[x]: javascript:a",
            "[x]: /a\n[y]: javascript:b",
        ] {
            let name = if definition.contains("^x") { "^x" } else { "x" };
            let uses = format!("See [{name}], [a][{name}], [{name}][] and ![{name}] ![a][{name}]");
            assert_safe_links(&document(&[uses, definition.into()]));
            assert_safe_links(&neutral(definition));
        }
        for text in ["`a[i]: b`", "```\n[x]: y\n```", "<http://[::1]:80>", "    [x]: y"] {
            assert_eq!(neutral(text), text);
        }
        assert_eq!(neutral("[x]: http://a"), "[x]\\: http://a");
    }

    #[test]
    fn headings_are_below_those_of_the_document() {
        assert_eq!(
            neutral("# a\n\n> ## b\n\n#### c\n\n```\n# d\n```"),
            "#### a\n\n> ##### b\n\n###### c\n\n```\n# d\n```"
        );
    }

    #[test]
    fn fences_are_longer_than_any_inside() {
        assert_eq!(fenced("rs", "a\n````\nb\n"), "`````rs\na\n````\nb\n`````\n");
        assert_eq!(fenced("a b`", "x"), "```\nx\n```\n");
    }

    proptest::proptest! {
        #[test]
        fn any_document_has_safe_links(
            texts in proptest::collection::vec(
                proptest::collection::vec(proptest::sample::select(PIECES), 0..12).prop_map(|pieces| pieces.concat()),
                1..4,
            ),
        ) {
            assert_safe_links(&document(&texts));
        }

        #[test]
        fn any_text_is_neutral(text in "[ab<>!/\\-`~*#\\[\\]():&;\\n\t |\\\\0-1.?=\"']{0,60}") {
            let safe = neutral(&text);
            proptest::prop_assert_eq!(raw_html(&safe), Vec::<String>::new());
            proptest::prop_assert!(ends_all_blocks(&safe), "{:?}", safe);
            let one_line = format!("# {}\n\n- **{}**\n\n<b>\n", escape(&text), escape(&text));
            proptest::prop_assert!(raw_html(&one_line).iter().all(|html| html == "<b>"), "{:?}", one_line);
        }
    }
}
