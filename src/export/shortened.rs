//! Markdown of a maximum length: without the output of the oldest tool calls.

use std::collections::VecDeque;

use crate::export::document::{EntryBlock, Head, Part, ToolPart};
use crate::export::markdown::MarkdownWriter;
use crate::export::{IndexRow, Writer};

/// Writes Markdown. Holds the newest entries that fit, and writes those before them without tool output.
#[derive(Debug, Default)]
pub(super) struct ShortenedMarkdown {
    /// The maximum number of characters.
    max: usize,
    whole: MarkdownWriter,
    short: MarkdownWriter,
    /// The number of characters so far, with those of the held entries.
    length: usize,
    /// The texts of the held entries, whole and without output.
    held: VecDeque<[String; 2]>,
}

impl ShortenedMarkdown {
    /// Creates a writer of at most `max` characters.
    pub(super) fn new(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    /// Writes the oldest held entries without output until the document with `more` characters fits.
    fn fit(&mut self, more: usize, out: &mut String) {
        while self.length + more > self.max
            && let Some([whole, short]) = self.held.pop_front()
        {
            self.length = self.length - whole.chars().count() + short.chars().count();
            out.push_str(&short);
        }
    }
}

impl Writer for ShortenedMarkdown {
    fn head(&mut self, head: &Head, out: &mut String) {
        let before = out.len();
        self.short.head(head, &mut String::new());
        self.whole.head(head, out);
        self.length = out[before..].chars().count();
    }

    fn entry(&mut self, entry: &EntryBlock, out: &mut String) {
        let mut texts = [String::new(), String::new()];
        self.whole.entry(entry, &mut texts[0]);
        let mut entry = entry.clone();
        entry.parts.iter_mut().for_each(leave_out);
        self.short.entry(&entry, &mut texts[1]);
        self.length += texts[0].chars().count();
        self.held.push_back(texts);
        self.fit(0, out);
    }

    fn foot(&mut self, notes: &[String], out: &mut String) {
        let mut foot = String::new();
        self.whole.foot(notes, &mut foot);
        self.fit(foot.chars().count(), out);
        out.extend(self.held.drain(..).map(|[whole, _]| whole));
        out.push_str(&foot);
    }

    fn index(&mut self, head: &Head, files: &[IndexRow], out: &mut String) {
        self.whole.index(head, files, out);
    }
}

/// Replaces the output of a call or a command by a note. The calls of a run become lines.
fn leave_out(part: &mut Part) {
    let note = || Part::Note("output left out: the document would be too long".into());
    match part {
        Part::Plain(_) => *part = note(),
        Part::Tool(tool) if !tool.parts.is_empty() => {
            let calls = tool.parts.iter().filter_map(Part::as_tool);
            let rows = calls.map(|call| Part::Tool(ToolPart { parts: Vec::new(), ..call.clone() }.into()));
            tool.parts = rows.chain([note()]).collect();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::document::BlockRole;

    #[test]
    fn the_oldest_output_is_left_out_first() {
        let output = |at: usize| format!("output {at} {}", "ü".repeat(300));
        let entry = |at: usize| {
            let tool = ToolPart { name: "bash".into(), parts: vec![Part::Plain(output(at))], ..ToolPart::default() };
            let (id, role, parts) = (at.to_string(), BlockRole::Answer, vec![Part::Tool(tool.into())]);
            EntryBlock { id, parent: None, role, title: String::new(), facts: vec![], label: None, branch: None, parts }
        };
        let write = |max: usize| {
            let (mut writer, mut out) = (ShortenedMarkdown::new(max), String::new());
            writer.head(&Head { title: "T".into(), ..Head::default() }, &mut out);
            (0..4).for_each(|at| writer.entry(&entry(at), &mut out));
            writer.foot(&["end".into()], &mut out);
            out
        };
        let whole = write(usize::MAX);
        let length = whole.chars().count();
        assert_eq!(write(length), whole);
        for (max, left_out) in [(length - 1, 1), (1200, 2), (10, 4)] {
            let text = write(max);
            assert!(text.chars().count() <= max.max(1000), "{text}");
            let kept: Vec<bool> = (0..4).map(|at| text.contains(&output(at))).collect();
            assert_eq!(kept, (0..4).map(|at| at >= left_out).collect::<Vec<_>>(), "{max}");
            assert_eq!(text.matches("output left out").count(), left_out);
        }
    }
}
