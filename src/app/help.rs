//! The help: every key and what it does, filtered as one types.

use crate::keymap::{HelpRow, Keymap};

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
    pub fn rows(&self, keymap: &Keymap) -> Vec<HelpRow> {
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let has = |row: &HelpRow| {
            let text = format!("{} {} {} {}", row.keys, row.name, row.help, row.group.title()).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        keymap.help().filter(has).collect()
    }

    /// Scrolls by some rows.
    pub fn scroll(&mut self, by: isize, keymap: &Keymap) {
        self.top = self.top.saturating_add_signed(by).min(self.rows(keymap).len().saturating_sub(1));
    }
}
