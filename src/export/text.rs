//! The writer of plain text: as in the preview, 100 columns wide.

use std::time::Duration;

use crate::base::numbers;
use crate::base::text::{Span, Tone, clean};
use crate::export::document::{BlockRole, EntryBlock, Head, Part, ToolPart};
use crate::export::{IndexRow, Writer};
use crate::render::code::HighlightBudget;
use crate::render::wrap::Wrapped;
use crate::render::{DocLine, markdown, plain};

/// The width in columns.
const WIDTH: usize = 100;

/// Writes plain text.
#[derive(Debug, Default)]
pub struct TextWriter;

impl Writer for TextWriter {
    fn head(&mut self, head: &Head, out: &mut String) {
        line(&head.title, out);
        line(&"=".repeat(head.title.chars().count().min(WIDTH)), out);
        head.facts.iter().for_each(|(name, value)| line(&format!("{name}: {value}"), out));
        out.push('\n');
    }

    fn entry(&mut self, entry: &EntryBlock, out: &mut String) {
        if let Some(branch) = &entry.branch {
            let after = if branch.after.is_empty() { String::new() } else { format!(" after \"{}\"", branch.after) };
            line(&format!("==== branch {} of {}{after}", branch.number, branch.count), out);
            out.push('\n');
        }
        let name = match entry.role {
            BlockRole::Prompt => "user",
            BlockRole::Answer | BlockRole::Tool => "pi",
            BlockRole::Summary | BlockRole::Message | BlockRole::Note => &entry.title,
        };
        let label = entry.label.as_ref().map(|label| format!("[{label}]"));
        let facts = [name].into_iter().chain(entry.facts.iter().map(String::as_str)).chain(label.as_deref());
        line(&format!("---- {}", facts.collect::<Vec<_>>().join(" · ")), out);
        out.push('\n');
        entry.parts.iter().for_each(|part| self::part(part, out));
    }

    fn foot(&mut self, notes: &[String], out: &mut String) {
        line("----", out);
        notes.iter().for_each(|note| line(note, out));
    }

    fn index(&mut self, head: &Head, files: &[IndexRow], out: &mut String) {
        self.head(head, out);
        files.iter().for_each(|row| line(&format!("{}  {} · {}", row.file, row.title, row.facts), out));
        out.push('\n');
    }
}

fn line(text: &str, out: &mut String) {
    wrapped(&[DocLine::of(vec![Span::new(Tone::Text, clean(text))])], out);
}

/// Writes lines, wrapped to [`WIDTH`]. Verbatim lines keep their length.
fn wrapped(lines: &[DocLine], out: &mut String) {
    for line in lines {
        let start = out.len();
        if line.verbatim || line.spans.is_empty() {
            line.spans.iter().for_each(|span| out.push_str(&span.text));
        } else {
            let one = std::slice::from_ref(line);
            let mut rows = Wrapped::new(WIDTH);
            rows.all(one);
            for row in 0..rows.len() {
                out.push_str(if row > 0 { "\n" } else { "" });
                rows.row(one, row).iter().for_each(|(text, _)| out.push_str(text));
            }
        }
        out.truncate(start + out[start..].trim_end().len());
        out.push('\n');
    }
}

fn part(part: &Part, out: &mut String) {
    match part {
        Part::Markdown(text) => {
            let clock = || Duration::MAX; // plain text needs no highlighted code
            wrapped(&markdown::markdown(text, &mut HighlightBudget::new(&clock)), out);
        }
        Part::Thinking(text) => {
            line("thinking:", out);
            let paragraphs = plain(Tone::Text, text.trim()).into_iter().map(|line| DocLine { verbatim: false, ..line });
            wrapped(&paragraphs.collect::<Vec<_>>(), out);
        }
        Part::Code(_, text) | Part::Plain(text) | Part::Diff(text) => verbatim(text, out),
        Part::Error(text) => {
            line("failed:", out);
            verbatim(text, out);
        }
        Part::Note(text) => line(&format!("({text})"), out),
        Part::Section(name, text) => {
            line(&format!("{name}:"), out);
            verbatim(text, out);
        }
        Part::Tool(ToolPart { name, about, has_failed, parts }) => {
            let failed = if *has_failed { " - failed" } else { "" };
            line(&format!("[{}]{failed}", format!("{name} {about}").trim()), out);
            return if parts.is_empty() { out.push('\n') } else { parts.iter().for_each(|part| self::part(part, out)) };
        }
        Part::Image { mime, bytes, .. } => line(&format!("[{mime} {}]", numbers::bytes(*bytes as u64)), out),
    }
    out.push('\n');
}

fn verbatim(text: &str, out: &mut String) {
    wrapped(&plain(Tone::Text, text.trim_end()), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_code_is_not() {
        let long = "word ".repeat(40);
        let mut out = String::new();
        part(&Part::Markdown(format!("- {long}\n\n```\n{}\n```", "x".repeat(200))), &mut out);
        let widths: Vec<usize> = out.lines().map(|line| line.chars().count()).collect();
        assert!(widths[0] <= WIDTH && widths[1] <= WIDTH && out.lines().nth(1).unwrap().starts_with("  word"), "{out}");
        assert!(widths.contains(&200), "{out}");
    }

    #[test]
    fn escape_sequences_are_visible() {
        let mut out = String::new();
        let texts = |text: &str| [Part::Plain(text.into()), Part::Markdown(text.into()), Part::Note(text.into())];
        texts("a\x1b[31m\u{202e}b").iter().for_each(|one| part(one, &mut out));
        assert!(!out.contains(['\x1b', '\u{202e}']) && out.contains('␛'), "{out}");
    }
}
