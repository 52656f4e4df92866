//! The texts of a session for interactive search: the conversation and the summaries. Tool output is not included: it
//! is most of a file and is searched in the file.

use std::ops::Range;

use crate::base::normalize::{capital, fold_with_capitals};
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::text_fields::TextField;
use crate::session::json::Str;
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::EntryIndex;

/// The texts of a session for interactive search.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchTexts<'a> {
    /// The text blocks of user and assistant messages, joined as in pi's list.
    pub conversation: Passages<'a>,
    /// The summaries of compactions and branches.
    pub summaries: Passages<'a>,
}

/// The folded texts of many entries (see [`crate::base::normalize`]), joined with spaces as pi does for its search
/// (`allMessagesText`, 0.87.1). Empty texts are omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passages<'a> {
    /// The joined texts.
    pub folded: &'a str,
    /// The start of each text in bytes, and its entry.
    pub starts: &'a [(u32, EntryIndex)],
    /// A bit for each byte of the texts, lowest bit first: 1 for a capital letter. Missing bits are 0.
    pub(crate) uppercase_bits: &'a [u8],
}

/// Owned [`SearchTexts`].
#[derive(Clone, Debug, Default)]
pub struct SearchTextsBuf {
    /// The user and assistant messages.
    pub conversation: PassagesBuf,
    /// The summaries.
    pub summaries: PassagesBuf,
}

/// Owned [`Passages`].
#[derive(Clone, Debug, Default)]
pub struct PassagesBuf {
    folded: String,
    starts: Vec<(u32, EntryIndex)>,
    uppercase_bits: Vec<u8>,
}

/// Reusable buffers for stored texts.
#[derive(Debug, Default)]
pub struct TextBuffers {
    /// The serialized texts: see [`SearchTextsBuf::into_bytes`].
    pub(crate) bytes: Vec<u8>,
    pub(crate) starts: [Vec<(u32, EntryIndex)>; 2],
}

/// The length of a serialized number in bytes.
const NUMBER: usize = size_of::<u32>();

impl<'a> SearchTexts<'a> {
    /// Deserializes the texts in place; `starts` is a buffer for the decoded positions.
    pub(crate) fn from_bytes(bytes: &'a [u8], starts: &'a mut [Vec<(u32, EntryIndex)>; 2]) -> Option<Self> {
        let (numbers, mut rest) = bytes.split_at_checked(6 * NUMBER)?;
        let mut lengths = numbers.chunks_exact(NUMBER).filter_map(|four| four.first_chunk());
        let mut length = || lengths.next().map(|four| u32::from_le_bytes(*four) as usize);
        let mut passages = [Passages::default(); 2];
        for (one, room) in passages.iter_mut().zip(starts) {
            let (folded, count, uppercase_bits) = (length()?, length()?, length()?);
            let (folded, behind) = rest.split_at_checked(folded)?;
            let (pairs, behind) = behind.split_at_checked(count.checked_mul(2 * NUMBER)?)?;
            let (uppercase_bits, behind) = behind.split_at_checked(uppercase_bits)?;
            let number = |pair: &[u8], at: usize| pair[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four));
            room.clear();
            room.extend(pairs.chunks_exact(2 * NUMBER).map(|pair| (number(pair, 0), number(pair, NUMBER))));
            *one = Passages { folded: simdutf8::basic::from_utf8(folded).ok()?, starts: room, uppercase_bits };
            rest = behind;
        }
        let [conversation, summaries] = passages;
        Some(Self { conversation, summaries })
    }
}

impl Passages<'_> {
    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.folded.len() + size_of_val(self.starts) + self.uppercase_bits.len()
    }

    /// Returns the entry whose text contains a byte of the joined texts, and the range of that text.
    pub(crate) fn around(&self, byte: usize) -> Option<(EntryIndex, Range<usize>)> {
        let behind = self.starts.partition_point(|(start, _)| *start as usize <= byte);
        self.text(behind.checked_sub(1)?)
    }

    /// Like [`Passages::around`], for bytes in ascending order: starts at the text with index `place`, and advances it.
    pub(crate) fn around_after(&self, place: &mut usize, byte: usize) -> Option<(EntryIndex, Range<usize>)> {
        let behind = self.starts.get(*place + 1..)?.iter();
        *place += behind.take_while(|(start, _)| *start as usize <= byte).count();
        self.text(*place)
    }

    /// Returns the entry of the text with an index, and the range of the text.
    fn text(&self, place: usize) -> Option<(EntryIndex, Range<usize>)> {
        let (start, entry) = self.starts.get(place)?;
        let end = self.starts.get(place + 1).map_or(self.folded.len(), |(next, _)| *next as usize - 1);
        Some((*entry, *start as usize..end))
    }

    /// Returns a range of the texts with its known capital letters: close to the original, except for Unicode
    /// composition.
    pub(crate) fn original_text(&self, piece: Range<usize>) -> String {
        let is_capital = |at: usize| self.uppercase_bits.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 1);
        let letters = self.folded[piece.clone()].char_indices();
        let mut said = String::with_capacity(piece.len());
        said.extend(letters.map(|(at, c)| if is_capital(piece.start + at) { capital(c) } else { c }));
        said
    }
}

impl<'a> Passages<'a> {
    /// Returns the text of an entry and its start in the joined texts.
    pub(crate) fn of(self, entry: EntryIndex) -> Option<(usize, &'a str)> {
        let (_, text) = self.text(self.starts.binary_search_by_key(&entry, |(_, entry)| *entry).ok()?)?;
        Some((text.start, &self.folded[text]))
    }

    /// Returns the folded texts with their entries.
    pub fn each(self) -> impl Iterator<Item = (EntryIndex, &'a str)> {
        let texts = (0..self.starts.len()).filter_map(move |place| self.text(place));
        texts.map(move |(entry, text)| (entry, &self.folded[text]))
    }
}

impl SearchTextsBuf {
    /// Adds the searchable text of the next entry.
    pub(crate) fn take(&mut self, at: EntryIndex, entry: &Entry<'_>) {
        if let Some((field, text)) = searched(entry) {
            let passages = if field == TextField::Summary { &mut self.summaries } else { &mut self.conversation };
            passages.push(at, &text);
        }
    }

    /// Serializes the texts. The text of the conversation stays in its buffer, because a second one could take gigabytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let Self { conversation, summaries } = self;
        let rest = conversation.as_passages().bytes() - conversation.folded.len() + summaries.as_passages().bytes();
        let lengths =
            [&conversation, &summaries].map(|one| [one.folded.len(), one.starts.len(), one.uppercase_bits.len()]);
        let put = |bytes: &mut Vec<u8>, number: u32| bytes.extend(number.to_le_bytes());
        let mut numbers = Vec::with_capacity(6 * NUMBER);
        // Texts are shorter than 4 GB: see `PassagesBuf::push`.
        lengths.iter().flatten().for_each(|&length| put(&mut numbers, length as u32));
        let put_rest = |bytes: &mut Vec<u8>, starts: &[(u32, EntryIndex)], uppercase_bits: &[u8]| {
            starts.iter().for_each(|&(start, entry)| {
                put(bytes, start);
                put(bytes, entry);
            });
            bytes.extend(uppercase_bits);
        };
        let mut bytes = conversation.folded.into_bytes();
        bytes.reserve_exact(numbers.len() + rest);
        bytes.splice(0..0, numbers);
        put_rest(&mut bytes, &conversation.starts, &conversation.uppercase_bits);
        bytes.extend(summaries.folded.as_bytes());
        put_rest(&mut bytes, &summaries.starts, &summaries.uppercase_bits);
        bytes
    }

    /// Borrows the texts.
    pub fn as_texts(&self) -> SearchTexts<'_> {
        SearchTexts { conversation: self.conversation.as_passages(), summaries: self.summaries.as_passages() }
    }
}

impl From<SearchTexts<'_>> for SearchTextsBuf {
    fn from(texts: SearchTexts<'_>) -> Self {
        let [conversation, summaries] = [texts.conversation, texts.summaries].map(|passages| PassagesBuf {
            folded: passages.folded.into(),
            starts: passages.starts.into(),
            uppercase_bits: passages.uppercase_bits.into(),
        });
        Self { conversation, summaries }
    }
}

impl PassagesBuf {
    /// Borrows the passages.
    pub fn as_passages(&self) -> Passages<'_> {
        Passages { folded: &self.folded, starts: &self.starts, uppercase_bits: &self.uppercase_bits }
    }

    /// Appends the text of an entry.
    pub(crate) fn push(&mut self, entry: EntryIndex, text: &str) {
        let gap = usize::from(!self.folded.is_empty());
        // Text beyond 4 GB is not searchable.
        let Ok(start) = u32::try_from(self.folded.len() + gap) else { return };
        if text.is_empty() {
            return;
        }
        if gap > 0 {
            self.folded.push(' ');
        }
        self.starts.push((start, entry));
        let uppercase_bits = &mut self.uppercase_bits;
        fold_with_capitals(&mut self.folded, text, |at| {
            if uppercase_bits.len() <= at / 8 {
                uppercase_bits.resize(at / 8 + 1, 0);
            }
            uppercase_bits[at / 8] |= 1 << (at % 8);
        });
    }
}

/// The maximum capacity in bytes kept for the next file: one huge conversation must not hold its memory.
const MAX_CAPACITY: usize = 4 * 1024 * 1024;

/// Collects the texts from the lines of a file, and can be reused for other files.
#[derive(Debug, Default)]
pub struct SearchTextBuilder {
    pub(crate) lines: LineCollector,
    texts: SearchTextsBuf,
}

impl SearchTextBuilder {
    /// Adds the next line of the file.
    pub fn line(&mut self, line: Line<'_>) {
        let read = line.read();
        let place = self.lines.offsets.len() as EntryIndex;
        if let Some(entry) = self.lines.note(&line, &read) {
            self.texts.take(place, entry);
        }
    }

    /// Returns the texts so far.
    ///
    /// # Errors
    /// The file is not a session, as far as it was read.
    pub fn texts(&self) -> Result<SearchTexts<'_>, NotASession> {
        self.lines.session().map(|_| self.texts.as_texts())
    }

    /// Returns the owned texts so far.
    pub(crate) fn take(self) -> SearchTextsBuf {
        self.texts
    }

    /// Clears the data for another file.
    pub(crate) fn clear(&mut self) {
        self.lines = LineCollector::default();
        for passages in [&mut self.texts.conversation, &mut self.texts.summaries] {
            passages.folded.clear();
            passages.starts.clear();
            passages.uppercase_bits.clear();
            if passages.folded.capacity() > MAX_CAPACITY {
                *passages = PassagesBuf::default();
            }
        }
    }
}

/// Returns the text of an entry for interactive search with its field: a user or assistant message, or a summary.
pub fn searched(entry: &Entry<'_>) -> Option<(TextField, String)> {
    let message = entry.message.as_ref();
    let said = |field| Some((field, message?.content.text(" ")));
    let summary = |summary: Option<Str<'_>>| Some((TextField::Summary, summary?.owned()));
    match entry.kind {
        EntryKind::User => said(TextField::User),
        EntryKind::Assistant => said(TextField::Assistant),
        EntryKind::SummaryRole => summary(message?.summary),
        EntryKind::Compaction | EntryKind::BranchSummary => summary(entry.summary),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a builder that was used for another session before.
    fn builder(lines: &[&str]) -> SearchTextBuilder {
        let mut builder = SearchTextBuilder::default();
        builder.line(Line::new(0, br#"{"type":"session","version":3,"id":"other"}"#, true));
        builder.line(Line::new(0, br#"{"type":"message","message":{"role":"user","content":"Other"}}"#, true));
        builder.clear();
        lines.iter().for_each(|line| builder.line(Line::new(0, line.as_bytes(), true)));
        builder
    }

    #[test]
    fn finds_the_entry_of_a_byte() {
        let mut passages = PassagesBuf::default();
        for (entry, text) in [(0, "Use JWT"), (1, ""), (4, "A É")] {
            passages.push(entry, text);
        }
        let passages = passages.as_passages();
        assert_eq!((passages.folded, passages.starts), ("use jwt a é", &[(0, 0), (8, 4)][..]));
        let entries = [0, 6, 7, 8, 11].map(|byte| passages.around(byte).map(|(entry, _)| entry));
        assert_eq!(entries, [Some(0), Some(0), Some(0), Some(4), Some(4)]);
        assert_eq!(passages.each().collect::<Vec<_>>(), [(0, "use jwt"), (4, "a é")]);
        assert_eq!(Passages::default().around(0), None);
    }

    #[test]
    fn restores_capital_letters() {
        let mut passages = PassagesBuf::default();
        let texts = ["Use JWT, not the Cookie of a WebSocket", "Über ÉTÉ", "a ΣΟΦΟΣ", "ẞ İ", "none"];
        for (entry, text) in (0..).zip(texts) {
            passages.push(entry, text);
        }
        let passages = passages.as_passages();
        assert_eq!(
            passages.original_text(0..passages.folded.len()),
            format!("{} {} {} ß I\u{307} none", texts[0], texts[1], texts[2])
        );
        assert_eq!(passages.original_text(4..8), "JWT,");
        assert_eq!(Passages { uppercase_bits: &[], ..passages }.original_text(4..8), "jwt,");
    }

    #[test]
    fn joins_texts_as_pi_does() {
        let found = builder(&[
            r#"{"type":"session","version":3,"id":"s"}"#,
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Use JWT"}}"#,
            "no JSON",
            r#"{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[]}}"#,
            r#"{"type":"message","id":"3","parentId":"1","message":{"role":"toolResult","content":"nothing said"}}"#,
            r#"{"type":"compaction","id":"4","parentId":"1","summary":"All\nof it"}"#,
            r#"{"type":"message","id":"5","parentId":"4","message":{"role":"assistant","content":[{"type":"text","text":"A"},{"type":"thinking","thinking":"no"},{"type":"text","text":"\u00c9"}]}}"#,
        ]);
        let SearchTexts { conversation, summaries } = found.texts().unwrap();
        assert_eq!((conversation.folded, conversation.starts), ("use jwt a é", &[(0, 0), (8, 4)][..]));
        assert_eq!((summaries.folded, summaries.starts), ("all\nof it", &[(0, 3)][..]));
        assert!(builder(&[r#"{"type":"message","id":"1"}"#]).texts().is_err() && builder(&[]).texts().is_err());
    }
}
