//! Highlighted code and diffs as HTML.

use std::collections::HashMap;
use std::time::Duration;

use crate::base::text::{Tone, clean_text};
use crate::export::document::push;
use crate::export::html::escape::escape;
use crate::render::{code, diff};

/// The maximum number of highlighted bytes of an export, because highlighting is slow.
const HIGHLIGHTED: usize = 400_000;

/// The maximum number of highlighted languages of an export, because the highlighter reloads its patterns after more.
const LANGUAGES: usize = 8;

/// Writes code blocks, the first ones highlighted.
#[derive(Debug)]
pub(super) struct CodeWriter {
    /// The number of bytes that can still be highlighted.
    left: usize,
    /// The highlighted languages, and those without a syntax.
    known: HashMap<String, bool>,
}

impl Default for CodeWriter {
    fn default() -> Self {
        Self { left: HIGHLIGHTED, known: HashMap::new() }
    }
}

impl CodeWriter {
    /// Writes a code block.
    pub(super) fn block(&mut self, language: &str, text: &str, out: &mut String) {
        let text = clean_text(text);
        let text = text.trim_end_matches('\n');
        out.push_str(if text.starts_with('\n') { "<pre>\n" } else { "<pre>" });
        let len = text.len().min(code::MAX_BYTES);
        if len > self.left || !self.is_highlighted(language) {
            out.push_str(&escape(text));
        } else {
            self.left -= len;
            let clock = || Duration::ZERO;
            let mut budget = code::HighlightBudget::new(&clock);
            for (at, line) in code::highlight(language, text, &mut budget).iter().enumerate() {
                out.push_str(if at > 0 { "\n" } else { "" });
                for span in line {
                    let text = escape(&span.text);
                    match class(span.tone) {
                        "" => out.push_str(&text),
                        class => push(out, &["<i class=", class, ">", &text, "</i>"]),
                    }
                }
            }
        }
        out.push_str("</pre>");
    }
}

impl CodeWriter {
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

/// Returns the class of highlighted code.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Keyword => "k",
        Tone::Str => "s",
        Tone::Number => "n",
        Tone::Comment => "c",
        Tone::Function => "f",
        Tone::Type => "t",
        _ => "",
    }
}

/// Writes a diff. Runs of added and removed lines are one element each.
pub(super) fn diff(text: &str, out: &mut String) {
    out.push_str("<pre class=diff>");
    let mut open = "";
    for (at, line) in diff::styled(text.trim_end_matches('\n')).iter().enumerate() {
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
    out.push_str("</pre>");
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
        diff("@@ -1 +1 @@\n-a <b>\n-c\n+d\n e", &mut out);
        assert_eq!(out, "<pre class=diff><b>@@ -1 +1 @@</b>\n<del>-a &lt;b&gt;\n-c</del>\n<ins>+d</ins>\n e</pre>");
    }
}
