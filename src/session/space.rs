//! The bytes of a session file by kind of content, line by line. All kinds add up to the bytes of the file.
//!
//! Two properties overlap with the kinds: bytes of entries that an older session of the family contains too, and bytes
//! of entries outside of the model context of every branch end.

use std::ops::AddAssign;

use crate::base::named::named;
use crate::base::sort;
use crate::session::contexts::ContextCollector;
use crate::session::digest::details::identity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry, RawTime};
use crate::session::json::Str;
use crate::session::json::value::{Fields, items};
use crate::session::lines::{Line, LineCollector, NotASession};
use crate::session::links::{ById, EntryIndex, IdHash};

/// The number of largest entries that are kept.
pub const LARGEST: usize = 10;

/// A sum of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceSum {
    /// The bytes.
    pub bytes: u64,
    /// The number of entries, or of blocks inside of messages.
    pub count: usize,
    /// The bytes of entries that an older session of the family contains.
    pub duplicate: u64,
    /// The bytes of entries that are in the model context of no branch end.
    pub outside: u64,
}

impl AddAssign for SpaceSum {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.count += other.count;
        self.duplicate += other.duplicate;
        self.outside += other.outside;
    }
}

/// The bytes of a kind with one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceGroup {
    /// The kind.
    pub kind: SpaceKind,
    /// The tool, or the type of an extension's entries; empty for other kinds and if it is missing.
    pub name: Box<str>,
    /// The sum.
    pub sum: SpaceSum,
}

/// A large entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeEntry {
    /// The entry.
    pub at: EntryIndex,
    /// Its ID, if it has one.
    pub id: Option<Box<str>>,
    /// The key that identifies the entry in all files.
    pub key: IdHash,
    /// The kind with most of its bytes, and its tool or type.
    pub kind: SpaceKind,
    /// The tool or type, or empty.
    pub name: Box<str>,
    /// The bytes of the line with its line break.
    pub bytes: u64,
}

impl LargeEntry {
    /// Returns the kind with the tool or type for people, not yet safe for a terminal.
    pub fn words(&self) -> String {
        match &*self.name {
            "" => self.kind.words().into(),
            name => format!("{} {name}", self.kind.words()),
        }
    }
}

/// The bytes of a session file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSpace {
    /// The sum of all kinds; `count` is the number of entries.
    pub total: SpaceSum,
    /// The groups, without order.
    pub groups: Vec<SpaceGroup>,
    /// The largest entries, the largest first.
    pub largest: Vec<LargeEntry>,
}

impl SessionSpace {
    /// Returns the sum of each kind that occurs, the largest first.
    pub fn kinds(&self) -> Vec<(SpaceKind, SpaceSum)> {
        let mut sums: Vec<(SpaceKind, SpaceSum)> = Vec::new();
        for group in &self.groups {
            match sums.iter_mut().find(|(kind, _)| *kind == group.kind) {
                Some((_, sum)) => *sum += group.sum,
                None => sums.push((group.kind, group.sum)),
            }
        }
        sort::by_key(&mut sums, |(kind, sum)| (std::cmp::Reverse(sum.bytes), *kind));
        sums
    }
}

/// Measures the lines of a file in order.
#[derive(Debug, Default)]
pub struct SpaceCollector {
    lines: LineCollector,
    groups: Vec<SpaceGroup>,
    group_numbers: ById<u32>,
    /// The parts of all entries: the group and its bytes.
    parts: Vec<(u32, u64)>,
    /// The end of the parts of each entry.
    ends: Vec<usize>,
    contexts: ContextCollector,
    largest: Vec<LargeEntry>,
    /// The end of the measured bytes.
    end: u64,
}

impl SpaceCollector {
    /// Measures the next line. Returns `false` if the file has too many entries to be a session.
    pub fn line(&mut self, line: &Line<'_>) -> bool {
        // Several records can be on one line: a comma follows each, or the rest of the line.
        let end = (line.offset + line.len + line.behind + u64::from(line.ended)).max(self.end);
        let bytes = end - self.end;
        self.end = end;
        let read = line.read();
        match self.lines.note(line, &read) {
            Some(entry) => self.entry(line, entry, bytes),
            None => {
                let kind = if read.is_err() { SpaceKind::Damaged } else { SpaceKind::Other };
                self.group(kind, None).sum += SpaceSum { bytes, count: 1, ..SpaceSum::default() };
            }
        }
        !self.lines.is_crowded()
    }

    fn entry(&mut self, line: &Line<'_>, entry: &Entry<'_>, bytes: u64) {
        let at = self.ends.len() as EntryIndex;
        let start = self.parts.len();
        each_part(line.bytes, entry, bytes, |kind, name, bytes| {
            let number = self.group_number(kind, name);
            self.parts.push((number, bytes));
        });
        self.ends.push(self.parts.len());
        self.contexts.entry(entry);
        if self.largest.len() < LARGEST || self.largest.last().is_some_and(|last| bytes > last.bytes) {
            let id = self.lines.ids.last().and_then(|ids| ids.id);
            let key = identity(entry, id, at, entry.timestamp.and_then(RawTime::ms), line.bytes);
            let largest = self.parts[start..].iter().max_by_key(|(_, bytes)| *bytes);
            let group = largest.and_then(|(number, _)| self.groups.get(*number as usize));
            let (kind, name) =
                group.map_or((SpaceKind::Other, Box::default()), |group| (group.kind, group.name.clone()));
            let id = entry.id.map(|id| id.text().into());
            let place = self.largest.partition_point(|other| other.bytes >= bytes);
            self.largest.insert(place, LargeEntry { at, id, key, kind, name, bytes });
            self.largest.truncate(LARGEST);
        }
    }

    fn group_number(&mut self, kind: SpaceKind, name: Option<Str<'_>>) -> u32 {
        let key = IdHash::number(kind as u64).with(IdHash::of(name.unwrap_or_default()));
        *self.group_numbers.entry(key).or_insert_with(|| {
            let name = name.unwrap_or_default().text().into();
            self.groups.push(SpaceGroup { kind, name, sum: SpaceSum::default() });
            self.groups.len() as u32 - 1
        })
    }

    fn group(&mut self, kind: SpaceKind, name: Option<Str<'_>>) -> &mut SpaceGroup {
        let number = self.group_number(kind, name);
        &mut self.groups[number as usize]
    }

    /// Returns the result after the last line. `is_duplicate` is `true` for each entry that an older session contains;
    /// it may be shorter than the file.
    ///
    /// # Errors
    /// The file is not a session.
    pub fn finish(mut self, is_duplicate: &[bool]) -> Result<SessionSpace, NotASession> {
        self.lines.session()?;
        let links = self.lines.parent_links();
        let in_context = self.contexts.in_context(&self.lines, &links, &[]);
        let mut start = 0;
        for (at, &end) in self.ends.iter().enumerate() {
            for &(number, bytes) in &self.parts[start..end] {
                let share = |has: bool| if has { bytes } else { 0 };
                self.groups[number as usize].sum += SpaceSum {
                    bytes,
                    count: 1,
                    duplicate: share(is_duplicate.get(at) == Some(&true)),
                    outside: share(!in_context[at]),
                };
            }
            start = end;
        }
        let mut total = SpaceSum::default();
        self.groups.iter().for_each(|group| total += group.sum);
        total.count = self.ends.len();
        Ok(SessionSpace { total, groups: self.groups, largest: self.largest })
    }
}

named! {
    /// A kind of content. Each byte of a file belongs to one kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum SpaceKind {
        /// Messages of the user, without images.
        Prompts = "prompts",
        /// Answers without thinking, tool calls and images.
        Answers = "answers",
        /// Thinking with its signatures.
        Thinking = "thinking",
        /// Tool calls with their arguments.
        ToolCalls = "toolCalls",
        /// Results of tools, without images.
        ToolResults = "toolResults",
        /// Images in messages of any kind.
        Images = "images",
        /// Shell commands of the user with their output.
        Commands = "commands",
        /// System messages: prompts and descriptions of tools.
        SystemMessages = "systemMessages",
        /// Entries and messages of extensions.
        Custom = "custom",
        /// Compactions and branch summaries.
        Summaries = "summaries",
        /// The header, settings, labels, names and entries of unknown types.
        Other = "other",
        /// Lines that are not JSON.
        Damaged = "damaged",
    }
}

impl SpaceKind {
    /// Returns the name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool calls",
            Self::ToolResults => "tool results",
            Self::Commands => "user commands",
            Self::SystemMessages => "system messages",
            Self::Custom => "extension entries",
            Self::Other => "settings and other",
            kind => kind.name(),
        }
    }

    /// Returns `true` if the names of its groups are tools.
    pub fn is_of_tool(self) -> bool {
        matches!(self, Self::ToolCalls | Self::ToolResults)
    }
}

/// Calls `part` for each part of a line: its kind, the name of its tool or type, and its bytes. `bytes` is the length of
/// the line with its line break; the parts add up to it.
fn each_part<'a>(line: &'a [u8], entry: &Entry<'a>, bytes: u64, mut part: impl FnMut(SpaceKind, Option<Str<'a>>, u64)) {
    let mut rest = bytes;
    let contents = entry.message.iter().map(|message| &message.content).chain([&entry.content]);
    if contents.flat_map(Content::blocks).any(is_separate) {
        each_block(line, |kind, name, raw| {
            let len = (raw.len() as u64).min(rest);
            rest -= len;
            part(kind, name, len);
        });
    }
    let (kind, name) = of_entry(entry);
    part(kind, name, rest);
}

/// Returns `true` if a block has a kind of its own.
fn is_separate(block: &Block<'_>) -> bool {
    matches!(block, Block::Thinking(_) | Block::ToolCall(_) | Block::Image { .. })
}

/// Returns the kind of an entry without its separate blocks, and the name of its tool or type.
fn of_entry<'a>(entry: &Entry<'a>) -> (SpaceKind, Option<Str<'a>>) {
    let message = entry.message.as_ref();
    // Only the type is known of a line that is too long to be read.
    let kind = if entry.is_cut { EntryKind::of(entry.type_name, Str::default()) } else { entry.kind };
    match kind {
        EntryKind::User => (SpaceKind::Prompts, None),
        EntryKind::Assistant => (SpaceKind::Answers, None),
        EntryKind::ToolResult => (SpaceKind::ToolResults, message.and_then(|message| message.tool_name)),
        EntryKind::Bash => (SpaceKind::Commands, None),
        EntryKind::SystemRole => (SpaceKind::SystemMessages, None),
        EntryKind::CustomRole => (SpaceKind::Custom, message.and_then(|message| message.custom_type)),
        EntryKind::Custom | EntryKind::CustomMessage => (SpaceKind::Custom, entry.custom_type),
        EntryKind::SummaryRole | EntryKind::Compaction | EntryKind::BranchSummary => (SpaceKind::Summaries, None),
        EntryKind::OtherMessage
        | EntryKind::ModelChange
        | EntryKind::ThinkingLevel
        | EntryKind::Label
        | EntryKind::SessionInfo
        | EntryKind::Usage
        | EntryKind::ContextEdit
        | EntryKind::Unknown => (SpaceKind::Other, None),
    }
}

/// Calls `block` for each block with a kind of its own in the `content` of an entry or its message.
fn each_block<'a>(line: &'a [u8], mut block: impl FnMut(SpaceKind, Option<Str<'a>>, &'a [u8])) {
    let entry = Fields::new(line);
    let of_message = entry.raw("message").and_then(|message| Fields::new(message).raw("content"));
    for raw in [of_message, entry.raw("content")].into_iter().flatten().flat_map(items) {
        let fields = Fields::new(raw);
        match &*fields.str("type").unwrap_or_default().bytes() {
            b"thinking" => block(SpaceKind::Thinking, None, raw),
            b"image" => block(SpaceKind::Images, None, raw),
            b"toolCall" => block(SpaceKind::ToolCalls, fields.str("name"), raw),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::tree::context::context;
    use crate::session::tree::{Tree, TreeLines};

    fn lines(text: &[u8]) -> Vec<Line<'_>> {
        let mut offset = 0;
        let mut lines = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let bytes = line.strip_suffix(b"\n").unwrap_or(line);
            let whole = Line::new(offset, bytes, bytes.len() < line.len());
            lines.extend(whole.parts().unwrap_or_else(|| vec![whole]));
            offset += line.len() as u64;
        }
        lines
    }

    fn measured(text: &str) -> SessionSpace {
        let mut collector = SpaceCollector::default();
        lines(text.as_bytes()).iter().for_each(|line| assert!(collector.line(line)));
        collector.finish(&[]).unwrap()
    }

    const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

    #[test]
    fn blocks_count_with_their_raw_bytes() {
        let thinking = r#"{"type":"thinking","thinking":"Hm","thinkingSignature":"abc"}"#;
        let call = r#"{"name":"bash","type":"toolCall","id":"c","arguments":{"command":"ls"}}"#;
        let image = r#"{"type":"image","mimeType":"image/png","data":"AAAA"}"#;
        let answer = format!(
            r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":[{thinking}, {{"type":"text","text":"x"}},{call}]}}}}"#
        );
        let result = format!(
            r#"{{"type":"message","id":"r","parentId":"a","message":{{"role":"toolResult","toolName":"read","content":[{image}]}}}}"#
        );
        let custom =
            r#"{"type":"custom","customType":"todo","data":{"content":[{"type":"image"}]},"id":"c","parentId":"r"}"#;
        let text = format!("{HEADER}{answer}\n\n{result}\n{custom}\nnot json\n{{\"torn");
        let space = measured(&text);
        let of = |kind: SpaceKind, name: &str| {
            let group = space.groups.iter().find(|group| group.kind == kind && &*group.name == name);
            group.map_or((0, 0), |group| (group.sum.bytes, group.sum.count))
        };
        let len = |text: &str| text.len() as u64;
        assert_eq!(space.total.bytes, len(&text));
        assert_eq!(space.total.count, 3);
        assert_eq!(of(SpaceKind::Thinking, ""), (len(thinking), 1));
        assert_eq!(of(SpaceKind::ToolCalls, "bash"), (len(call), 1));
        assert_eq!(of(SpaceKind::Images, ""), (len(image), 1));
        assert_eq!(of(SpaceKind::Answers, ""), (len(&answer) + 1 - len(thinking) - len(call), 1));
        assert_eq!(of(SpaceKind::ToolResults, "read"), (len(&result) + 1 - len(image), 1));
        assert_eq!(of(SpaceKind::Custom, "todo"), (len(custom) + 1, 1));
        assert_eq!(of(SpaceKind::Damaged, ""), (len("not json\n{\"torn"), 2));
        assert_eq!(of(SpaceKind::Other, ""), (len(HEADER) + 1, 2), "the header and a blank line");
        let largest: Vec<_> = space.largest.iter().map(|entry| (entry.at, entry.kind)).collect();
        assert_eq!(largest, [(0, SpaceKind::Answers), (1, SpaceKind::ToolResults), (2, SpaceKind::Custom)]);
        assert_eq!(space.largest[2].id.as_deref(), Some("c"));
    }

    #[test]
    fn records_on_one_line_add_up() {
        let records = r#" [ {"kind":"entry","type":"custom","customType":"a","id":"1"} , {"kind":"value"} ] "#;
        let records = records.trim_start();
        let text = format!("{{\"v\":4,\"kind\":\"header\",\"id\":\"s\"}}\n{records}\n");
        let space = measured(&text);
        assert_eq!((space.total.bytes, space.total.count), (text.len() as u64, 1));
    }

    #[test]
    fn duplicates_are_counted_for_each_kind() {
        let entry = "{\"type\":\"custom\",\"customType\":\"a\",\"id\":\"1\"}\n";
        let text = format!("{HEADER}{entry}{}", entry.replace("\"1\"", "\"2\""));
        let mut collector = SpaceCollector::default();
        lines(text.as_bytes()).iter().for_each(|line| assert!(collector.line(line)));
        let space = collector.finish(&[true]).unwrap();
        assert_eq!((space.total.duplicate, space.total.bytes), (entry.len() as u64, text.len() as u64));
        assert_eq!(space.kinds()[0].1.outside, 2 * entry.len() as u64, "the model does not receive them");
    }

    /// A random entry: its kind, and two numbers that select its parent and the entry that it refers to.
    fn entries() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
        proptest::collection::vec((0..9_u8, 0..1000_usize, 0..1000_usize), 1..40)
    }

    /// Writes the lines of entries. Most parents are the entry before; an edit has a target on its path.
    fn file(entries: &[(u8, usize, usize)]) -> String {
        let mut text = HEADER.to_owned();
        let mut parents: Vec<Option<usize>> = Vec::new();
        for (at, &(kind, parent, other)) in entries.iter().enumerate() {
            let parent = match parent % 8 {
                _ if at == 0 => None,
                0 => Some(parent / 8 % at),
                1 if parent > 900 => None,
                _ => Some(at - 1),
            };
            parents.push(parent);
            let path: Vec<usize> = std::iter::successors(parent, |&at| parents[at]).collect();
            let target = path.get(other % path.len().max(1)).copied();
            let target = target.map_or("none".into(), |target| target.to_string());
            let rest = match kind {
                0 | 1 => r#""type":"message","message":{"role":"user","content":"x"}"#.into(),
                2 => r#""type":"message","message":{"role":"system","content":"x"}"#.into(),
                3 => r#""type":"custom","customType":"x""#.into(),
                4 | 5 => format!(r#""type":"compaction","summary":"x","firstKeptEntryId":"{target}""#),
                6 => format!(r#""type":"context_edit","targetId":"{target}","replacement":null"#),
                7 => format!(r#""type":"context_edit","targetId":"{target}","replacement":{{"content":"y"}}"#),
                _ => r#""type":"branch_summary","summary":"""#.into(),
            };
            let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
            text += &format!("{{\"id\":\"{at}\",\"parentId\":{parent},{rest}}}\n");
        }
        text
    }

    proptest! {
        #[test]
        fn bytes_outside_of_contexts_are_those_of_each_end(entries in entries()) {
            let text = file(&entries);
            let mut part = TreeLines::new("");
            lines(text.as_bytes()).into_iter().for_each(|line| part.line(line));
            let tree = Tree::build([part]).unwrap();
            let mut is_in = vec![false; tree.nodes.len()];
            let is_end = |at: &EntryIndex| !tree.is_stub(*at) && tree.branches(*at).next().is_none();
            for end in (0..tree.nodes.len() as EntryIndex).filter(is_end) {
                context(&tree, Some(end)).entries.iter().for_each(|&at| is_in[at as usize] = true);
            }
            let outside = tree.nodes.iter().zip(is_in).filter(|(_, is_in)| !is_in).map(|(node, _)| node.len + 1);
            prop_assert_eq!(measured(&text).total.outside, outside.sum::<u64>(), "{}", text);
        }

        #[test]
        fn all_kinds_add_up_to_the_file(text in "[a-z{}\"\n,: \\[\\]]{0,80}", cut in 0..400_usize) {
            let block = r#"{"type":"image","data":"AA"}"#;
            let message = format!(r#"{{"type":"message","id":"1","message":{{"role":"user","content":[{block}]}}}}"#);
            let mut text = format!("{HEADER}{message}\n{text}\n{message}\n[{message}]\n{message}");
            text.truncate(cut.max(HEADER.len()));
            let space = measured(&text);
            prop_assert_eq!(space.total.bytes, text.len() as u64);
            prop_assert_eq!(space.groups.iter().map(|group| group.sum.bytes).sum::<u64>(), text.len() as u64);
        }
    }

    #[test]
    fn many_compactions_and_ends_take_linear_time() {
        // All compactions keep the first entry, so each context is a whole path.
        let mut text = HEADER.to_owned();
        for at in 0..100_000 {
            let parent = if at == 0 { "null".into() } else { format!("\"{}\"", (at - 1) / 2 * 2) };
            let rest = match at % 10 {
                2 => r#""type":"compaction","summary":"x","firstKeptEntryId":"0""#,
                _ => r#""type":"message","message":{"role":"user","content":"x"}"#,
            };
            text += &format!("{{\"id\":\"{at}\",\"parentId\":{parent},{rest}}}\n");
        }
        let space = measured(&text);
        assert_eq!(space.total.bytes, text.len() as u64);
        assert_eq!(space.total.outside, 0);
    }
}
