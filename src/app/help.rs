//! The help: every key and what it does, filtered as one types.

use super::sheet::{Sheet, largest};
use crate::doc::DocLine;
use crate::keymap::{HelpRow, Keymap};
use crate::text::{Span, Tone, width};

/// The widest that the help becomes, in columns.
const WIDEST: u16 = 110;
/// Below this width the sentence stands under the keys rather than beside them.
const NARROW: u16 = 70;

/// The state of the help box.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// What was typed.
    pub query: String,
    /// The first row that is seen.
    pub top: usize,
}

impl Help {
    /// The rows that have every word of the query in their keys, name or sentence.
    fn rows(&self, keymap: &Keymap) -> Vec<HelpRow> {
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let has = |row: &HelpRow| {
            let text = format!("{} {} {} {}", row.keys, row.name, row.help, row.group.title()).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        keymap.help().filter(has).collect()
    }

    /// What the box shows on a terminal of some columns and rows: the line with the query is set aside.
    pub fn sheet(&self, keymap: &Keymap, terminal: (u16, u16)) -> Sheet {
        let size = largest(terminal, WIDEST);
        let rows = self.rows(keymap);
        let keys = rows.iter().map(|row| width(&row.keys)).max().unwrap_or(0);
        let mut lines: Vec<DocLine> = Vec::new();
        let mut group = None;
        for row in &rows {
            if group != Some(row.group) {
                if group.is_some() {
                    lines.push(DocLine::default());
                }
                lines.push(DocLine::new(Tone::Heading, row.group.title()));
                group = Some(row.group);
            }
            let sentence = [Span::new(Tone::Text, row.help), Span::new(Tone::Dim, format!("  {}", row.name))];
            if size.0 < NARROW {
                lines.push(DocLine::new(Tone::Accent, &format!("  {}", row.keys)));
                let spans = [&[Span::new(Tone::Text, "    ")], &sentence[..]].concat();
                lines.push(DocLine { spans, indent: 4, verbatim: false });
            } else {
                let gap = " ".repeat(keys - width(&row.keys));
                let spans = [&[Span::new(Tone::Accent, format!("  {}{gap}  ", row.keys))], &sentence[..]].concat();
                let indent = u16::try_from(keys + 4).unwrap_or_default();
                lines.push(DocLine { spans, indent, verbatim: false });
            }
        }
        if lines.is_empty() {
            lines.push(DocLine::new(Tone::Dim, "nothing matches"));
        }
        // The box keeps its size while one types.
        let mut sheet = Sheet::new(lines, size, 1);
        sheet.height = usize::from(size.1.saturating_sub(3));
        sheet.size = size;
        sheet
    }

    /// Scrolls by some rows.
    pub fn scroll(&mut self, by: isize, keymap: &Keymap, terminal: (u16, u16)) {
        self.top = self.sheet(keymap, terminal).scrolled(self.top, by);
    }
}
