//! Usage and actions of each entry of a session, for statistics by time, model, tool, prompt and branch. They are stored in
//! a compact form, because a session can have 100,000 entries.

use serde::{Deserialize, Serialize};

use crate::base::javascript::utf16_prefix;
use crate::base::shell::program;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Entry, Message, ToolCall};
use crate::session::json::Str;
use crate::session::json::value::Fields;
use crate::session::links::{ActivePath, ById, EntryIndex, IdHash, ParentLinks};

/// The maximum length of the words of a prompt, in UTF-16 code units.
const PROMPT_WORDS: usize = 80;

/// The role of an entry in statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryRole {
    /// A message of the user.
    Prompt,
    /// A message of an assistant.
    Answer,
    /// The result of a tool.
    Result,
    /// A compaction.
    Compaction,
    /// Anything else.
    #[default]
    Other,
}

/// The usage and the actions of an entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryStats {
    /// The time in milliseconds since 1970.
    pub time: Option<i64>,
    /// The role.
    pub role: EntryRole,
    /// The usage, if the entry has one.
    pub usage: Option<TokenUse>,
    /// The tool: an index into [`SessionStats::tools`]. Of an answer, the tool of its first call.
    pub tool: Option<u32>,
    /// The program that the first call of an answer runs, if that is a shell command: an index into
    /// [`SessionStats::programs`].
    pub program: Option<u32>,
    /// The number of tool calls.
    pub calls: u32,
    /// 1 if it is the result of a failed call.
    pub failures: u32,
    /// 1 if it is the result of a call that did not run.
    pub not_run: u32,
    /// The number of lines added by `edit` and `write`.
    pub added: u32,
    /// The number of lines removed by `edit`.
    pub removed: u32,
    /// The number of images.
    pub images: u32,
}

/// The usage of an entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUse {
    /// The model: an index into [`SessionStats::models`]. Usage of compactions and tools has none.
    pub model: Option<u32>,
    /// Tokens sent, received, read from the cache, and written to the cache.
    pub tokens: [TokenCount; 4],
    /// The part of the tokens written to the cache for one hour.
    pub long_cache_write: TokenCount,
    /// US dollars.
    pub cost: f64,
}

impl TokenUse {
    /// Returns the input of the request in tokens, cached input included.
    pub fn input(&self) -> f64 {
        let [input, _, read, written] = self.tokens.map(TokenCount::number);
        input + read + written
    }
}

/// A model that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedModel {
    /// The provider; empty if the file does not name it.
    pub provider: Box<str>,
    /// The model that answered.
    pub answered: Box<str>,
    /// The requested model, which can be another name of it.
    pub requested: Box<str>,
}

/// A number of tokens. Nearly all are whole; files can contain anything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TokenCount {
    /// A whole number.
    Whole(u64),
    /// Any other number.
    Other(f64),
}

impl Default for TokenCount {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl From<f64> for TokenCount {
    fn from(number: f64) -> Self {
        let whole = number as u64;
        if whole as f64 == number && number < 1e15 { Self::Whole(whole) } else { Self::Other(number) }
    }
}

impl TokenCount {
    /// Returns the number.
    pub fn number(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Other(number) => number,
        }
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Prompt {
    /// The entry.
    at: EntryIndex,
    /// The end of its ID, and of its words, in the texts of all prompts.
    ends: (u32, u32),
}

/// The statistics of the entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionStats {
    /// The entries, serialized one after another. Their times are differences to the time before.
    entries: Vec<u8>,
    /// For each entry, the serialized distance of its parent, or 0 for a root.
    parents: Vec<u8>,
    /// The models.
    pub models: Vec<UsedModel>,
    /// The names of the tools.
    pub tools: Vec<Box<str>>,
    /// The programs of shell commands.
    pub programs: Vec<Box<str>>,
    /// The prompts, in file order.
    prompts: Vec<Prompt>,
    /// The ID and the first words of each prompt, one after another.
    prompt_texts: String,
    /// The active path.
    pub active: ActivePath,
    /// The entries that repeat earlier ones, in file order.
    pub repeated: Vec<EntryIndex>,
}

impl SessionStats {
    /// Returns the entries in file order. Damaged data ends the list.
    pub fn entries(&self) -> Vec<EntryStats> {
        let (mut rest, mut time, mut all) = (&self.entries[..], 0_i64, Vec::new());
        while let Ok((mut entry, after)) = postcard::take_from_bytes::<EntryStats>(rest) {
            if let Some(since) = entry.time {
                time = time.wrapping_add(since);
                entry.time = Some(time);
            }
            all.push(entry);
            rest = after;
        }
        all
    }

    /// Returns the ID of a prompt, empty without one, and its first words.
    pub fn prompt(&self, at: EntryIndex) -> Option<(&str, &str)> {
        let place = self.prompts.binary_search_by_key(&at, |prompt| prompt.at).ok()?;
        let start = place.checked_sub(1).map_or(0, |before| self.prompts[before].ends.1);
        let (id_end, end) = self.prompts[place].ends;
        let text = |from: u32, to: u32| self.prompt_texts.get(from as usize..to as usize);
        Some((text(start, id_end)?, text(id_end, end)?))
    }

    /// Returns the provider and the model of an entry with a usage.
    pub fn model_of(&self, entry: &EntryStats) -> Option<(&str, &str)> {
        let model = entry.usage.as_ref()?.model?;
        self.models.get(model as usize).map(|model| (&*model.provider, &*model.answered))
    }

    /// Returns the parent of each entry.
    pub fn parents(&self) -> Vec<Option<EntryIndex>> {
        let (mut rest, mut all) = (&self.parents[..], Vec::new());
        while let Ok((distance, after)) = postcard::take_from_bytes::<i64>(rest) {
            let parent = EntryIndex::try_from(all.len() as i64 - distance).ok();
            all.push(parent.filter(|_| distance != 0));
            rest = after;
        }
        all
    }
}

/// Collects the statistics of the entries of a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StatsCollector {
    stats: SessionStats,
    /// The time of the last entry with one.
    time: i64,
    /// The number of lines of each `write` call without a result yet.
    writes: ById<u32>,
    model_numbers: ById<u32>,
    tool_numbers: ById<u32>,
    program_numbers: ById<u32>,
}

impl StatsCollector {
    /// Adds the next entry, with its index and its time.
    pub(crate) fn push(&mut self, at: EntryIndex, time: Option<i64>, entry: &Entry<'_>) {
        let mut one = EntryStats { time: time.map(|time| time.wrapping_sub(self.time)), ..EntryStats::default() };
        self.time = time.unwrap_or(self.time);
        if let Some(message) = &entry.message {
            let images = message.content.blocks().iter().filter(|block| matches!(block, Block::Image { .. }));
            one.images = images.count() as u32;
        }
        match (entry.kind, &entry.message) {
            (EntryKind::User, _) => {
                one.role = EntryRole::Prompt;
                let stats = &mut self.stats;
                stats.prompt_texts.extend(entry.id.iter().map(|id| id.text()));
                let end = stats.prompt_texts.len() as u32;
                stats.prompts.push(Prompt { at, ends: (end, end) });
            }
            (EntryKind::Assistant, Some(message)) => {
                one.role = EntryRole::Answer;
                for call in message.content.tool_calls() {
                    self.add_call(&mut one, call);
                }
            }
            (EntryKind::ToolResult, Some(message)) => {
                one.role = EntryRole::Result;
                self.add_result(&mut one, message);
            }
            (EntryKind::Compaction, _) => one.role = EntryRole::Compaction,
            _ => {}
        }
        one.usage = entry.used().map(|used| {
            let tokens = [used.input, used.output, used.cache_read, used.cache_write].map(TokenCount::from);
            let model = entry.model().map(|model| self.model(entry, model));
            TokenUse { model, tokens, long_cache_write: used.long_cache_write.into(), cost: used.cost }
        });
        put(&one, &mut self.stats.entries);
    }

    fn add_call(&mut self, one: &mut EntryStats, call: &ToolCall<'_>) {
        one.calls += 1;
        if one.tool.is_none() {
            one.tool = Some(self.tool(call.name));
            if let Some(script) = call.script() {
                one.program = program(&script.text())
                    .map(|program| number(program, &mut self.stats.programs, &mut self.program_numbers));
            }
        }
        if call.name.is("write")
            && let Some(content) = Fields::new(call.arguments).str("content")
        {
            self.writes.insert(IdHash::of(call.id), line_starts(content).count() as u32);
        }
    }

    fn add_result(&mut self, one: &mut EntryStats, message: &Message<'_>) {
        one.tool = message.tool_name.map(|name| self.tool(name));
        one.not_run = u32::from(message.never_ran());
        one.failures = u32::from(message.is_error) - one.not_run;
        one.calls = message.nested_calls().count() as u32;
        let written = message.tool_call_id.and_then(|call| self.writes.remove(&IdHash::of(call)));
        if message.is_error {
            return;
        }
        one.added = written.unwrap_or_default();
        if let Some(diff) = message.diff {
            for sign in line_starts(diff) {
                one.added += u32::from(sign == b'+');
                one.removed += u32::from(sign == b'-');
            }
        }
    }

    fn model(&mut self, entry: &Entry<'_>, answered: Str<'_>) -> u32 {
        let requested = entry.message.as_ref().and_then(|message| message.model).unwrap_or(answered);
        let names = [entry.provider().unwrap_or_default(), answered, requested];
        let models = &mut self.stats.models;
        let key = names.iter().fold(IdHash::new(b""), |key, name| key.with(IdHash::of(*name)));
        *self.model_numbers.entry(key).or_insert_with(|| {
            let [provider, answered, requested] = names.map(|name| name.text().into());
            models.push(UsedModel { provider, answered, requested });
            models.len() as u32 - 1
        })
    }

    fn tool(&mut self, name: Str<'_>) -> u32 {
        number(&name.text(), &mut self.stats.tools, &mut self.tool_numbers)
    }

    /// Returns the statistics; `words` returns the text of a prompt.
    pub(crate) fn finish<'a>(
        self,
        (parent_links, active, repeated): (&ParentLinks, ActivePath, Vec<EntryIndex>),
        words: impl Fn(EntryIndex) -> &'a str,
    ) -> SessionStats {
        let mut stats = SessionStats { active, repeated, ..self.stats };
        let ids = std::mem::take(&mut stats.prompt_texts);
        let mut from = 0;
        for prompt in &mut stats.prompts {
            let to = prompt.ends.0 as usize;
            stats.prompt_texts.push_str(ids.get(from..to).unwrap_or_default());
            from = to;
            let id_end = stats.prompt_texts.len() as u32;
            stats.prompt_texts.push_str(utf16_prefix(words(prompt.at), PROMPT_WORDS));
            prompt.ends = (id_end, stats.prompt_texts.len() as u32);
        }
        stats.prompt_texts.shrink_to_fit();
        for (at, parent) in (0..).zip(&parent_links.parents) {
            let distance = parent.map_or(0, |parent| at - i64::from(parent));
            put(&distance, &mut stats.parents);
        }
        stats.entries.shrink_to_fit();
        stats.parents.shrink_to_fit();
        stats
    }
}

/// Returns the number of a name; a new name is added.
fn number(name: &str, names: &mut Vec<Box<str>>, numbers: &mut ById<u32>) -> u32 {
    *numbers.entry(IdHash::new(name.as_bytes())).or_insert_with(|| {
        names.push(name.into());
        names.len() as u32 - 1
    })
}

/// Returns the first byte of each line of a text as written in JSON. Line breaks are escapes there.
fn line_starts(text: Str<'_>) -> impl Iterator<Item = u8> {
    let raw = text.raw();
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let first = *raw.get(next?)?;
        let mut at = next?;
        next = loop {
            let Some(escape) = memchr::memchr(b'\\', &raw[at..]) else { break None };
            at = (at + escape + 2).min(raw.len());
            if raw[..at].ends_with(b"\\n") {
                break Some(at);
            }
        };
        Some(first)
    })
}

/// Appends a serialized value of at most [`LARGEST`] bytes.
fn put(what: &impl Serialize, to: &mut Vec<u8>) {
    let mut buffer = [0; LARGEST];
    to.extend_from_slice(postcard::to_slice(what, &mut buffer).unwrap_or_default());
}

/// The maximum size in bytes of serialized statistics of an entry: it has 22 numbers and tags of at most 10 bytes.
const LARGEST: usize = 220;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_counted_without_decoding(text in "([+-]|a|\\\\|n|\"|\n|\u{e9}){0,40}") {
            let json = serde_json::json!({"text": text}).to_string();
            let raw = Fields::new(json.as_bytes()).str("text").unwrap();
            let starts: Vec<char> = line_starts(raw).map(char::from).collect();
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(starts.len(), lines.len());
            for sign in ['+', '-'] {
                let counted = starts.iter().filter(|start| **start == sign).count();
                prop_assert_eq!(counted, lines.iter().filter(|line| line.starts_with(sign)).count());
            }
        }
    }
}
