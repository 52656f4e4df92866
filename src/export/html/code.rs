//! Highlighted code and diffs as HTML.

use std::collections::HashMap;
use std::time::Duration;

use crate::base::ansi;
use crate::base::numbers;
use crate::base::text::{Tone, clean_text};
use crate::export::document::push;
use crate::export::html::escape::escape;
use crate::render::{code, diff};

/// The maximum number of bytes of highlighted HTML: highlighting is slow, and a third of it is tags.
const HIGHLIGHTED: usize = 240_000;

/// The maximum number of highlighted languages of an export, because the highlighter reloads its patterns after more.
const LANGUAGES: usize = 8;

/// The number of lines of an output before the rest is folded.
const OUTPUT_LINES: usize = 10;

/// The number of lines of a diff before the rest is folded.
const DIFF_LINES: usize = 60;

/// The number of lines from which a rest is folded.
const FEW_LINES: usize = 5;

/// Writes code blocks, the first ones highlighted.
#[derive(Debug)]
pub(super) struct CodeWriter {
    /// `true` to fold long outputs except for their first lines.
    pub(super) folds: bool,
    /// The number of bytes of highlighted HTML that can still be written.
    left: usize,
    /// The highlighted languages, and those without a syntax.
    known: HashMap<String, bool>,
}

impl Default for CodeWriter {
    fn default() -> Self {
        Self { folds: false, left: HIGHLIGHTED, known: HashMap::new() }
    }
}

impl CodeWriter {
    /// Writes a code block.
    pub(super) fn block(&mut self, language: &str, text: &str, out: &mut String) {
        let text = clean_text(text);
        let text = text.trim_end_matches('\n');
        let len = text.len().min(code::MAX_BYTES);
        if len > self.left || !self.is_highlighted(language) {
            return self.plain("", text, out);
        }
        let clock = || Duration::ZERO;
        let mut budget = code::HighlightBudget::new(&clock);
        let mut html = String::with_capacity(2 * len);
        for (at, line) in code::highlight(language, text, &mut budget).iter().enumerate() {
            html.push_str(if at > 0 { "\n" } else { "" });
            for span in line {
                colored(span.tone, &span.text, &mut html);
            }
        }
        self.left = self.left.saturating_sub(html.len());
        self.folded(&html, OUTPUT_LINES, out, |html, out| pre("", html, out));
    }

    /// Writes text with a class, which can be empty, and with the colors of its escape sequences.
    pub(super) fn plain(&self, class: &str, text: &str, out: &mut String) {
        let mut html = String::with_capacity(text.len() + text.len() / 8);
        for (tone, part) in ansi::styled(text.trim_end(), Tone::Text) {
            // Folds divide the text between lines.
            for (at, line) in part.split('\n').enumerate() {
                html.push_str(if at > 0 { "\n" } else { "" });
                colored(tone, line, &mut html);
            }
        }
        self.folded(&html, OUTPUT_LINES, out, |html, out| pre(class, html, out));
    }

    /// Writes a diff.
    pub(super) fn diff(&self, text: &str, out: &mut String) {
        self.folded(text.trim_end_matches('\n'), DIFF_LINES, out, |text, out| {
            let mut html = String::new();
            diff(text, &mut html);
            pre("diff", &html, out);
        });
    }

    /// Writes the first lines of a text, and folds the rest.
    fn folded(&self, text: &str, lines: usize, out: &mut String, write: impl Fn(&str, &mut String)) {
        let mut ends = text.match_indices('\n').map(|(at, _)| at);
        let end = ends.by_ref().nth(lines - 1).filter(|_| self.folds);
        match end.map(|end| (end, ends.count() + 1)) {
            Some((end, more)) if more >= FEW_LINES => {
                write(&text[..end], out);
                let more = numbers::count(more, "more line", "more lines");
                push(out, &["<details><summary>", &more, "</summary>"]);
                write(&text[end + 1..], out);
                out.push_str("</details>");
            }
            _ => write(text, out),
        }
    }

    /// Returns `true` if a language has a syntax and is within the limit.
    fn is_highlighted(&mut self, language: &str) -> bool {
        if let Some(&is_highlighted) = self.known.get(language) {
            return is_highlighted;
        }
        let count = self.known.values().filter(|is_highlighted| **is_highlighted).count();
        let is_highlighted = !language.is_empty() && count < LANGUAGES && code::is_known(language);
        if self.known.len() < 1000 {
            self.known.insert(language.into(), is_highlighted);
        }
        is_highlighted
    }
}

/// Writes a part of a line with the color of a tone.
fn colored(tone: Tone, text: &str, out: &mut String) {
    match class(tone) {
        "" => out.push_str(&escape(text)),
        _ if text.is_empty() => {}
        class => push(out, &["<i class=", class, ">", &escape(text), "</i>"]),
    }
}

/// Returns the class of highlighted code.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Keyword => "k",
        Tone::Str => "s",
        Tone::Number => "n",
        Tone::Comment | Tone::Dim => "c",
        Tone::Error => "e",
        Tone::Function => "f",
        Tone::Type => "t",
        _ => "",
    }
}

/// Writes preformatted HTML. HTML would remove a line break at the start.
fn pre(class: &str, html: &str, out: &mut String) {
    let class = if class.is_empty() { String::new() } else { format!(" class={class}") };
    push(out, &["<pre", &class, ">", if html.starts_with('\n') { "\n" } else { "" }, html, "</pre>"]);
}

/// Writes the lines of a diff. Runs of added and removed lines are one element each.
fn diff(text: &str, out: &mut String) {
    let mut open = "";
    for (at, line) in diff::styled(text).iter().enumerate() {
        let element = match line.spans.first().map(|span| span.tone) {
            Some(Tone::Added) => "ins",
            Some(Tone::Removed) => "del",
            Some(Tone::Hunk) => "b",
            _ => "",
        };
        if element != open {
            close(open, out);
            out.push_str(if at > 0 { "\n" } else { "" });
            if !element.is_empty() {
                push(out, &["<", element, ">"]);
            }
            open = element;
        } else if at > 0 {
            out.push('\n');
        }
        line.spans.iter().for_each(|span| out.push_str(&escape(&span.text)));
    }
    close(open, out);
}

fn close(element: &str, out: &mut String) {
    if !element.is_empty() {
        push(out, &["</", element, ">"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_diffs_keep_their_text() {
        let mut out = String::new();
        CodeWriter::default().block("rs", "fn a() {\n    // <b>\n}\n", &mut out);
        assert!(out.contains("<i class=k>fn</i>") && out.contains("&lt;b&gt;"), "{out}");
        let mut out = String::new();
        CodeWriter::default().diff("@@ -1 +1 @@\n-a <b>\n-c\n+d\n e", &mut out);
        assert_eq!(out, "<pre class=diff><b>@@ -1 +1 @@</b>\n<del>-a &lt;b&gt;\n-c</del>\n<ins>+d</ins>\n e</pre>");
    }
}
