//! Markdown of a session as HTML. Raw HTML in Markdown is shown as text, links lead only to the web, and images
//! become links.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::base::text::clean_text;
use crate::export::document::push;
use crate::export::html::code::CodeWriter;
use crate::export::html::escape::{attribute, escape};
use crate::export::markdown::is_web_address;
use crate::render::markdown::starts_too_deep;

/// Writes Markdown with headings from a level on, without gaps between them.
pub(super) fn markdown(text: &str, level: usize, code: &mut CodeWriter, out: &mut String) {
    let text = clean_text(text);
    if text.split('\n').any(starts_too_deep) {
        return code.block("", &text, out);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkdownHtml {
        code,
        out,
        level,
        headings: Vec::new(),
        block: None,
        alt: 0,
        alignments: Vec::new(),
        cell: 0,
        is_head: false,
    };
    Parser::new_ext(&text, options).for_each(|event| writer.event(event));
}

/// Writes parser events as HTML.
struct MarkdownHtml<'a> {
    code: &'a mut CodeWriter,
    out: &'a mut String,
    /// The level of the first headings.
    level: usize,
    /// The levels of the open headings in the text.
    headings: Vec<u8>,
    /// The language and the text of an open code block.
    block: Option<(String, String)>,
    /// The number of open links and images without an element; odd if they are inside one.
    alt: usize,
    /// The columns of an open table.
    alignments: Vec<Alignment>,
    /// The number of the next cell in its row.
    cell: usize,
    is_head: bool,
}

impl MarkdownHtml<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.block {
                Some((_, block)) => block.push_str(&text),
                None => self.out.push_str(&escape(&text)),
            },
            Event::Code(text) => push(self.out, &["<code>", &escape(&text), "</code>"]),
            Event::SoftBreak | Event::HardBreak => self.out.push('\n'),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.out.push_str(if is_done { "☑ " } else { "☐ " }),
            // Formulas and footnotes are disabled.
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.out.push_str(&escape(&text)),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) => self.block = Some((language.to_string(), String::new())),
            Tag::CodeBlock(CodeBlockKind::Indented) => self.block = Some(Default::default()),
            Tag::List(Some(first)) if *first != 1 => push(self.out, &["<ol start=", &first.to_string(), ">"]),
            Tag::TableCell => {
                let class = match self.alignments.get(self.cell) {
                    Some(Alignment::Right) => " class=right",
                    Some(Alignment::Center) => " class=center",
                    Some(Alignment::None | Alignment::Left) | None => "",
                };
                self.cell += 1;
                push(self.out, &["<", if self.is_head { "th" } else { "td" }, class, ">"]);
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } if self.alt == 0 && is_web_address(dest_url) => {
                self.alt = 1;
                push(self.out, &["<a href=\"", &attribute(dest_url), "\">"]);
            }
            Tag::Link { .. } | Tag::Image { .. } => self.alt += 2,
            tag => {
                match tag {
                    Tag::Table(alignments) => self.alignments.clone_from(alignments),
                    Tag::Heading { level, .. } => {
                        self.headings.retain(|above| *above < *level as u8);
                        self.headings.push(*level as u8);
                    }
                    Tag::TableHead | Tag::TableRow => (self.cell, self.is_head) = (0, *tag == Tag::TableHead),
                    _ => {}
                }
                self.element("<", &tag.to_end());
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::CodeBlock => {
                let (language, text) = self.block.take().unwrap_or_default();
                self.code.block(&language, &text, self.out);
            }
            TagEnd::TableCell if self.is_head && self.out.ends_with('>') => {
                // An empty cell is no heading. Text has no `<`.
                let start = self.out.rfind('<').filter(|at| self.out[*at..].starts_with("<th"));
                start.iter().for_each(|at| self.out.truncate(*at));
                self.out.push_str(if start.is_some() { "<td></td>" } else { "</th>" });
            }
            TagEnd::TableCell => self.out.push_str(if self.is_head { "</th>" } else { "</td>" }),
            TagEnd::Link | TagEnd::Image if self.alt == 1 => {
                self.alt = 0;
                self.out.push_str("</a>");
            }
            TagEnd::Link | TagEnd::Image => self.alt = self.alt.saturating_sub(2),
            tag => self.element("</", &tag),
        }
    }

    /// Writes the start or the end of an element without attributes.
    fn element(&mut self, start: &str, tag: &TagEnd) {
        let name = match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => "p",
            TagEnd::Heading(_) => heading(self.level + self.headings.len() - 1),
            TagEnd::BlockQuote(_) => "blockquote",
            TagEnd::List(true) => "ol",
            TagEnd::List(false) => "ul",
            TagEnd::Item => "li",
            TagEnd::Table => "table",
            TagEnd::TableHead | TagEnd::TableRow => "tr",
            TagEnd::Emphasis => "em",
            TagEnd::Strong => "strong",
            TagEnd::Strikethrough => "s",
            _ => return,
        };
        push(self.out, &[start, name, ">"]);
    }
}

/// Returns the element of a heading.
fn heading(level: usize) -> &'static str {
    match level {
        ..=2 => "h2",
        3 => "h3",
        4 => "h4",
        5 => "h5",
        _ => "h6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = String::new();
        markdown(text, 3, &mut CodeWriter::default(), &mut out);
        out
    }

    #[test]
    fn markdown_becomes_html() {
        for (text, wanted) in [
            ("## a *b* `c<d`\n#### d\n# e", "<h3>a <em>b</em> <code>c&lt;d</code></h3><h4>d</h4><h3>e</h3>"),
            ("a\nb", "<p>a\nb</p>"),
            ("3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"),
            (
                "|a|b|\n|-|-:|\n|1|2|",
                "<table><tr><th>a</th><th class=right>b</th></tr><tr><td>1</td><td class=right>2</td></tr></table>",
            ),
            ("||**b**|\n|-:|-|", "<table><tr><td></td><th><strong>b</strong></th></tr></table>"),
            ("[a](https://b.example/?c&d=\"e\")", "<p><a href=\"https://b.example/?c&amp;d=&quot;e&quot;\">a</a></p>"),
            ("![a](http://b.example)", "<p><a href=\"http://b.example\">a</a></p>"),
            ("[![a](http://b)](http://c) [d](x:y)", "<p><a href=\"http://c\">a</a> d</p>"),
            ("[[a](javascript:b) ![c](http://d)](http://e)", "<p>[a <a href=\"http://d\">c</a>](http://e)</p>"),
        ] {
            assert_eq!(html(text), wanted, "{text}");
        }
    }

    #[test]
    fn raw_html_is_text() {
        for text in ["<script>a</script>", "a <b onclick=x>c", "<!-- -->", "<div>\n\n*a*", "<a href=javascript:b>c</a>"]
        {
            let html = html(text);
            let tags = html.matches('<').count();
            let own = ["<p>", "</p>", "<em>", "</em>"].iter().map(|tag| html.matches(tag).count()).sum::<usize>();
            assert_eq!(tags, own, "{html}");
        }
    }

    proptest::proptest! {
        #[test]
        fn tags_are_balanced(text in "[ab<>!/\\-`~*#\\[\\]():&;\\n |\\\\0-1.?=\"']{0,60}") {
            let html = html(&text);
            let mut open = Vec::new();
            for tag in html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap()) {
                match tag.strip_prefix('/') {
                    Some(name) => proptest::prop_assert_eq!(open.pop(), Some(name), "{}", html),
                    None if tag == "hr" => {}
                    None => open.push(tag),
                }
            }
            proptest::prop_assert!(open.is_empty(), "{}", html);
        }
    }
}
