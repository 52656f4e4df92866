//! The texts of user and assistant messages that are kept while a file is read, and the last ones.

use serde::{Deserialize, Serialize};

use crate::base::javascript::utf16_prefix;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, row, typed_prompt};
use crate::session::json::Str;
use crate::session::links::{EntryIndex, ParentLinks};

/// The maximum length of a kept message in UTF-16 code units.
pub(super) const MESSAGE_UNITS: usize = 100;

/// The maximum length of the last messages in UTF-16 code units.
const LAST: usize = 400;

/// The maximum number of raw bytes kept of the last messages. They are decoded only when needed.
const RAW: usize = 1000;

/// The start of the last message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastMessage {
    /// The entry.
    pub at: EntryIndex,
    text: KeptText,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum KeptText {
    /// The text of its row.
    Row(Box<str>),
    /// The raw JSON string.
    Raw(Box<[u8]>),
}

impl LastMessage {
    /// Returns the cleaned start on one line, and `true` if the message is longer.
    pub fn text(&self) -> (String, bool) {
        match &self.text {
            KeptText::Row(row) => {
                (row.to_string(), row.len() >= MESSAGE_UNITS && row.encode_utf16().count() + 1 >= MESSAGE_UNITS)
            }
            KeptText::Raw(raw) => {
                let said = row::flat([Str::of_raw(raw)], LAST + 1);
                let start = utf16_prefix(&said, LAST);
                (start.to_owned(), start.len() < said.len() || raw.len() + LONGEST_ESCAPE >= RAW)
            }
        }
    }
}

/// The length in bytes of a character that is written as two escapes.
const LONGEST_ESCAPE: usize = 12;

/// The starts of the rows of user and assistant messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MessageTexts {
    rows: String,
    starts: Vec<RowText>,
    /// The last prompt and the last answer, if they are longer than their rows.
    long: [LongText; 2],
}

/// The raw start of a text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LongText {
    entry: EntryIndex,
    raw: Vec<u8>,
}

/// The start of a row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct RowText {
    entry: EntryIndex,
    at: usize,
    is_user: bool,
}

impl MessageTexts {
    /// Adds the next message.
    pub(crate) fn push(&mut self, entry: EntryIndex, said: &Entry<'_>) {
        let (at, is_user) = (self.rows.len(), said.kind == EntryKind::User);
        self.starts.push(RowText { entry, at, is_user });
        if let Some(typed) = typed_prompt::typed(said) {
            self.rows.push_str(&typed_prompt::row(&typed, MESSAGE_UNITS));
            let raw = typed.replace('\\', "\\\\").into_bytes();
            self.long[usize::from(is_user)] = LongText { entry, raw: whole_start(&raw, RAW).to_vec() };
            return;
        }
        row::start_into(&mut self.rows, said, MESSAGE_UNITS);
        if let (Some(message), true) = (&said.message, self.rows.len() - at >= MESSAGE_UNITS / 2) {
            let long = &mut self.long[usize::from(is_user)];
            long.entry = entry;
            long.raw.clear();
            for text in message.content.texts() {
                let start = whole_start(text.raw(), RAW - long.raw.len());
                long.raw.extend_from_slice(start);
                if start.len() < text.raw().len() {
                    break;
                }
            }
        }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the row of an entry.
    pub(super) fn row(&self, entry: EntryIndex) -> Option<usize> {
        self.starts.binary_search_by_key(&entry, |start| start.entry).ok()
    }

    /// Returns the text of a row.
    pub(super) fn text(&self, row: usize) -> &str {
        let start = |row: usize| self.starts.get(row).map_or(self.rows.len(), |start| start.at);
        &self.rows[start(row)..start(row + 1)]
    }

    /// Returns the user messages, in file order.
    pub(super) fn prompts(&self) -> impl Iterator<Item = EntryIndex> {
        self.starts.iter().filter(|start| start.is_user).map(|start| start.entry)
    }

    /// Returns the last prompt on the active path and the last answer after it.
    pub(super) fn last(&self, parent_links: &ParentLinks) -> (Option<LastMessage>, Option<LastMessage>) {
        let mut answer = None;
        for entry in parent_links.to_root(parent_links.leaf) {
            let Some(row) = self.row(entry).filter(|&row| !self.text(row).is_empty()) else { continue };
            let is_user = self.starts[row].is_user;
            let long = &self.long[usize::from(is_user)];
            let said = || LastMessage {
                at: entry,
                text: match long.entry == entry && !long.raw.is_empty() {
                    true => KeptText::Raw(long.raw.as_slice().into()),
                    false => KeptText::Row(self.text(row).into()),
                },
            };
            if is_user {
                return (Some(said()), answer);
            }
            answer.get_or_insert_with(said);
        }
        (None, answer)
    }
}

/// Returns the start of a raw text without splitting an escape or a character.
fn whole_start(raw: &[u8], most: usize) -> &[u8] {
    if raw.len() <= most {
        return raw;
    }
    let near = most.saturating_sub(LONGEST_ESCAPE);
    let mut end = memchr::memrchr(b'\\', &raw[near..most]).map_or(most, |at| near + at);
    while end > 0 && (raw[end - 1] == b'\\' || raw[end] & 0xc0 == 0x80) {
        end -= 1;
    }
    &raw[..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::entry::parse;

    #[test]
    fn stops_after_a_cut_text() {
        let mut long = "x".repeat(RAW - 1);
        long.push('\u{1f600}');
        let line = serde_json::json!({
            "type": "message", "id": "a", "parentId": null,
            "message": {"role": "user", "content": [{"type": "text", "text": long}, {"type": "text", "text": "y"}]},
        });
        let mut messages = MessageTexts::default();
        messages.push(0, &parse::line(line.to_string().as_bytes()).unwrap().unwrap());
        assert_eq!(messages.long[1].raw, "x".repeat(RAW - 1).as_bytes());
    }

    proptest! {
        #[test]
        fn kept_texts_are_prefixes(text in "(\\PC|[\\\\\"\n\u{1f600}漢]){0,60}", most in 0usize..80) {
            let quoted = serde_json::to_string(&text).unwrap();
            let ascii: String = quoted.encode_utf16().map(|unit| match unit {
                0..0x80 => char::from(unit as u8).to_string(),
                unit => format!("\\u{unit:04x}"),
            }).collect();
            for json in [quoted, ascii] {
                let raw = &json.as_bytes()[1..json.len() - 1];
                let start = whole_start(raw, most);
                prop_assert!(start.len() <= most);
                let read = Str::of_raw(start).owned();
                prop_assert!(text.starts_with(read.trim_end_matches('\u{fffd}')), "{read:?}");
            }
        }
    }
}
