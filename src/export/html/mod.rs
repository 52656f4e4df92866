//! The HTML writer: one page without network access. It is readable without scripts; `assets/export.js` adds the tree,
//! search, branches and copying. All text of a session is escaped, and the Content-Security-Policy allows only pitree's own
//! script and style, by their hashes.

mod code;
mod escape;
mod markdown;

use crate::base::numbers;
use crate::export::document::{BlockRole, EntryBlock, Head, Outline, Part, ToolPart, Turn, push};
use crate::export::html::code::CodeWriter;
use crate::export::html::escape::{escape, fragment, value};
use crate::export::markdown::image_address;
use crate::export::{IndexRow, PageLink, Writer};

const STYLE: &str = include_str!("../../../assets/export.css");
const SCRIPT: &str = include_str!("../../../assets/export.js");

/// The policy, which contains the hashes of style and script. `tests/docs` generates it.
const POLICY: &str = include_str!("../../../assets/export.csp");

/// The size in bytes from which a page ends.
const PAGE: usize = 20_000_000;

/// Writes HTML.
#[derive(Debug, Default)]
pub struct HtmlWriter {
    code: CodeWriter,
    /// The number of prompts so far.
    prompts: usize,
    /// The ID of the last entry of the page.
    last: Option<String>,
    /// The level of headings below the last prompt or summary.
    level: usize,
}

impl Writer for HtmlWriter {
    fn head(&mut self, head: &Head, out: &mut String) {
        (self.last, self.level) = (None, 2);
        let title = escape(&head.title);
        push(out, &["<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"]);
        push(out, &["<meta http-equiv=\"Content-Security-Policy\" content=\"", POLICY.trim(), "\">\n"]);
        out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
        out.push_str("<meta name=referrer content=no-referrer><meta name=color-scheme content=\"light dark\">\n");
        push(out, &["<title>", &title, "</title>\n<style>", STYLE, "</style></head>\n<body>"]);
        push(out, &["<header><h1>", &title, "</h1>"]);
        facts(&head.facts, out);
        out.push_str("</header>\n<main>");
        self.result(&head.outline, out);
        turns(&head.outline.turns, out);
    }

    fn entry(&mut self, entry: &EntryBlock, out: &mut String) {
        push(out, &["<article id=", &value(&entry.id)]);
        // Tool calls can be hidden.
        let is_run = !entry.parts.is_empty() && entry.parts.iter().all(|part| part.as_tool().is_some());
        let class = role_class(if is_run { BlockRole::Tool } else { entry.role });
        if !class.is_empty() {
            push(out, &[" class=", class]);
        }
        // Most entries follow the previous one.
        if entry.parent != self.last {
            push(out, &[" data-up=", &value(entry.parent.as_deref().unwrap_or_default())]);
        }
        out.push('>');
        self.last = Some(entry.id.clone());
        if let Some(branch) = &entry.branch {
            let number = format!("{} of {}", branch.number, branch.count);
            push(out, &["<p class=branch>Branch ", &number, &branch.after(escape), "</p>"]);
        }
        self.level = self.level.max(if matches!(entry.role, BlockRole::Prompt | BlockRole::Summary) { 3 } else { 2 });
        let has_text = matches!(entry.parts.first(), Some(Part::Markdown(_)));
        let is_whole = entry.is_title() && entry.role == BlockRole::Prompt;
        self.entry_head(entry, is_whole || !has_text, out);
        match entry.role {
            BlockRole::Message => {
                push(out, &["<details><summary>", &escape(&entry.title), "</summary>"]);
                self.parts(&entry.parts, out);
                out.push_str("</details>");
            }
            _ if is_whole => {}
            _ => self.parts(&entry.parts, out),
        }
        // The end of an article also ends its last paragraph.
        if out.ends_with("</p>") {
            out.truncate(out.len() - "</p>".len());
        }
        out.push_str("</article>\n");
    }

    fn foot(&mut self, notes: &[String], out: &mut String) {
        out.push_str("</main>\n<footer>");
        notes.iter().for_each(|note| push(out, &["<p>", &escape(note), "</p>"]));
        push(out, &["</footer>\n<script>", &script(), "</script></body></html>\n"]);
    }

    fn links(&mut self, links: &[PageLink], out: &mut String) {
        out.push_str("<p class=\"pages\">");
        links.iter().for_each(|link| page_link(&link.file, &link.text, out));
        out.push_str("</p>\n");
    }

    fn page_bytes(&self) -> usize {
        PAGE
    }

    fn index(&mut self, head: &Head, files: &[IndexRow], out: &mut String) {
        self.head(head, out);
        out.push_str("<ul class=\"index\">");
        for IndexRow { file, title, facts } in files {
            out.push_str("<li>");
            page_link(file, title, out);
            push(out, &["<span>", &escape(facts), "</span></li>\n"]);
        }
        out.push_str("</ul>\n");
    }
}

impl HtmlWriter {
    /// Writes the last answer, the changed files and the commits.
    fn result(&mut self, outline: &Outline, out: &mut String) {
        let Some(result) = &outline.result else { return };
        self.level = 3;
        out.push_str("<section class=S aria-label=Result><h2>Result</h2>");
        self.parts(result, out);
        list("Changed files", &outline.changed, out);
        self.parts(&outline.differences, out);
        list("Commits", &outline.commits, out);
        out.push_str("</section>\n");
    }

    /// Writes the title of an entry with its facts, from which the script makes a permalink. A prompt whose text follows
    /// has only a number, after which the style adds a dot.
    fn entry_head(&mut self, entry: &EntryBlock, has_title: bool, out: &mut String) {
        let name = match entry.role {
            BlockRole::Prompt => {
                self.prompts += 1;
                match has_title {
                    true => format!("<h2 class=i>{}. {}</h2>", self.prompts, escape(&entry.title)),
                    false => format!("<h2>{}</h2>", self.prompts),
                }
            }
            BlockRole::Summary => format!("<h2 class=i>{}</h2>", escape(&entry.title)),
            BlockRole::Note => format!("<span>{}</span>", escape(&entry.title)),
            BlockRole::Answer | BlockRole::Tool | BlockRole::Message => String::new(),
        };
        let facts = if entry.facts.is_empty() { "#".to_owned() } else { escape(&entry.facts.join(" · ")) };
        match &entry.label {
            Some(label) => push(out, &[&name, "<small><a>", &facts, "</a><b>", &escape(label), "</b></small>"]),
            None => push(out, &[&name, "<a>", &facts, "</a>"]),
        }
    }

    fn parts(&mut self, parts: &[Part], out: &mut String) {
        parts.iter().for_each(|part| self.part(part, out));
    }

    fn part(&mut self, part: &Part, out: &mut String) {
        match part {
            Part::Markdown(text) => markdown::markdown(text, self.level, &mut self.code, out),
            Part::Thinking(text) => {
                push(out, &["<details><summary>Thinking</summary><p>", &escape(text.trim()), "</p></details>"]);
            }
            Part::Folded { title, text } => {
                push(out, &["<details><summary>", &escape(title), "</summary>"]);
                self.code.plain("", text, out);
                out.push_str("</details>");
            }
            Part::Code(language, text) => self.code.block(language, text, out),
            Part::Plain(text) => self.code.plain("", text, out),
            Part::Diff(text) => self.code.diff(text, out),
            Part::Error(text) => self.code.plain("error", text, out),
            Part::Note(text) => push(out, &["<p class=r>", &escape(text), "</p>"]),
            Part::Section(name, text) => {
                push(out, &["<p><b>", &escape(name), "</b></p>"]);
                self.code.plain("", text, out);
            }
            Part::Tool(tool) => self.tool(tool, out),
            Part::Image { mime, bytes, data } => match image_address(mime, data) {
                Some(address) => push(out, &["<img alt=\"image\" src=\"", &address, "\">"]),
                None => {
                    let size = numbers::bytes(*bytes as u64);
                    push(out, &["<p class=r>", &escape(mime), ", ", &size, "</p>"]);
                }
            },
        }
    }

    fn tool(&mut self, tool: &ToolPart, out: &mut String) {
        let remark = |tag, text: &str| if text.is_empty() { String::new() } else { format!(" <{tag}>{text}</{tag}>") };
        let (failed, edited) = (remark("em", &tool.failed), remark("i", &tool.edited));
        let about = format!("<b>{}</b> {}{failed}{edited}", escape(&tool.name), escape(&tool.about));
        if tool.parts.is_empty() {
            return push(out, &["<p class=T>", &about, "</p>"]);
        }
        let open = if tool.is_open() { " open" } else { "" };
        push(out, &["<details class=T", open, "><summary>", &about, "</summary>"]);
        let folds = std::mem::replace(&mut self.code.folds, true);
        self.parts(&tool.parts, out);
        self.code.folds = folds;
        out.push_str("</details>");
    }
}

/// Returns the class of the entries of a role, or an empty string.
fn role_class(role: BlockRole) -> &'static str {
    match role {
        BlockRole::Prompt => "P",
        BlockRole::Answer => "",
        BlockRole::Tool => "T",
        BlockRole::Summary => "S",
        BlockRole::Message => "M",
        BlockRole::Note => "N",
    }
}

/// The facts that are shown without opening the others.
const MAIN_FACTS: [&str; 3] = ["Date", "Model", "Cost"];

fn facts(facts: &[(String, String)], out: &mut String) {
    let main = facts.iter().filter(|(name, _)| MAIN_FACTS.contains(&&**name)).map(|(_, value)| escape(value));
    let main = main.collect::<Vec<_>>().join(" · ");
    if facts.is_empty() {
        return;
    }
    push(out, &["<details><summary>", if main.is_empty() { "About" } else { &main }, "</summary><dl>"]);
    for (name, value) in facts {
        push(out, &["<dt>", &escape(name), "</dt><dd>", &escape(value), "</dd>"]);
    }
    out.push_str("</dl></details>");
}

/// The number of turns from which their list is folded.
const MANY_TURNS: usize = 13;

/// Writes links to several prompts.
fn turns(turns: &[Turn], out: &mut String) {
    if turns.len() < 2 {
        return;
    }
    let open = if turns.len() < MANY_TURNS { " open" } else { "" };
    let count = turns.len().to_string();
    push(out, &["<nav aria-label=Turns><details", open, "><summary>", &count, " turns</summary><ol>"]);
    for Turn { id, title, facts } in turns {
        let facts = escape(&facts.join(" · "));
        push(out, &["<li><a href=\"#", &fragment(id), "\">", &escape(title), "</a> <span>", &facts, "</span>\n"]);
    }
    out.push_str("</ol></details></nav>\n");
}

/// Writes a heading with a list.
fn list(title: &str, items: &[String], out: &mut String) {
    let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
    if !items.is_empty() {
        push(out, &["<h3>", title, "</h3><ul>", &items, "</ul>"]);
    }
}

/// Writes a link to another page in the same directory.
fn page_link(file: &str, text: &str, out: &mut String) {
    push(out, &["<a href=\"./", &fragment(file), "\">", &escape(text), "</a> "]);
}

/// Returns the script without indentation and comments.
fn script() -> String {
    SCRIPT.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the style and the script, for the test that generates the policy.
pub fn style_and_script() -> (&'static str, String) {
    (STYLE, script())
}
