//! Usage and actions of each entry of a session, for statistics by time, model, tool, prompt and branch. They are stored in
//! a compact form, because a session can have 100,000 entries.

use serde::{Deserialize, Serialize};

use crate::base::javascript::utf16_prefix;
use crate::session::digest::messages::MessageTexts;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Entry, Message, ToolCall};
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value};
use crate::session::links::{ActivePath, ById, IdHash, Index, ParentLinks};

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
    /// The number of tool calls.
    pub calls: u32,
    /// 1 if it is the result of a failed call.
    pub failures: u32,
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
    /// US dollars.
    pub cost: f64,
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

/// A prompt with its ID and its first words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    /// The entry.
    pub at: Index,
    /// The ID of the entry; empty without one.
    pub id: Box<str>,
    /// The first words.
    pub words: Box<str>,
}

/// The statistics of the entries of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionStats {
    /// The entries, serialized one after another. Their times are differences to the time before.
    entries: Vec<u8>,
    /// For each entry, the serialized distance of its parent, or 0 for a root.
    parents: Vec<u8>,
    /// The providers and models; a provider is empty if the file does not name it.
    pub models: Vec<(Box<str>, Box<str>)>,
    /// The names of the tools.
    pub tools: Vec<Box<str>>,
    /// The prompts, in file order.
    pub prompts: Vec<PromptText>,
    /// The active path.
    pub active: ActivePath,
    /// The entries that repeat earlier ones, in file order.
    pub repeated: Vec<Index>,
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

    /// Returns the parent of each entry.
    pub fn parents(&self) -> Vec<Option<Index>> {
        let (mut rest, mut all) = (&self.parents[..], Vec::new());
        while let Ok((distance, after)) = postcard::take_from_bytes::<i64>(rest) {
            let parent = Index::try_from(all.len() as i64 - distance).ok();
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
}

impl StatsCollector {
    /// Adds the next entry, with its index and its time.
    pub(crate) fn push(&mut self, at: Index, time: Option<i64>, entry: &Entry<'_>) {
        let mut one = EntryStats { time: time.map(|time| time.wrapping_sub(self.time)), ..EntryStats::default() };
        self.time = time.unwrap_or(self.time);
        if let Some(message) = &entry.message {
            let images = message.content.blocks().iter().filter(|block| matches!(block, Block::Image { .. }));
            one.images = images.count() as u32;
        }
        match (entry.kind, &entry.message) {
            (EntryKind::User, _) => {
                one.role = EntryRole::Prompt;
                let id = entry.id.map_or_else(Default::default, |id| id.text().into());
                self.stats.prompts.push(PromptText { at, id, words: Box::default() });
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
            let message = entry.message.as_ref();
            let provider = message.and_then(|message| message.provider).or(entry.provider);
            let model = message.and_then(|message| message.model).or(entry.model_id);
            let tokens = [used.input, used.output, used.cache_read, used.cache_write].map(TokenCount::from);
            TokenUse { model: model.map(|model| self.model(provider, model)), tokens, cost: used.cost }
        });
        self.stats.entries.extend(postcard::to_allocvec(&one).unwrap_or_default());
    }

    fn add_call(&mut self, one: &mut EntryStats, call: &ToolCall<'_>) {
        one.calls += 1;
        one.tool = one.tool.or_else(|| Some(self.tool(call.name)));
        if call.name.is("write")
            && let Some(content) = Fields::new(call.arguments).get("content").and_then(Value::str)
        {
            self.writes.insert(IdHash::of(call.id), content.text().lines().count() as u32);
        }
    }

    fn add_result(&mut self, one: &mut EntryStats, message: &Message<'_>) {
        one.tool = message.tool_name.map(|name| self.tool(name));
        one.failures = u32::from(message.is_error);
        one.calls = message.nested_calls().count() as u32;
        let written = message.tool_call_id.and_then(|call| self.writes.remove(&IdHash::of(call)));
        if message.is_error {
            return;
        }
        one.added = written.unwrap_or_default();
        if let Some(diff) = message.diff {
            let diff = diff.text();
            let lines = |sign: char| diff.lines().filter(|line| line.starts_with(sign)).count() as u32;
            one.added += lines('+');
            one.removed += lines('-');
        }
    }

    fn model(&mut self, provider: Option<Str<'_>>, model: Str<'_>) -> u32 {
        let (provider, model) = (provider.map_or_else(Default::default, |provider| provider.text()), model.text());
        let models = &mut self.stats.models;
        let key = IdHash::new(provider.as_bytes()).with(IdHash::new(model.as_bytes()));
        *self.model_numbers.entry(key).or_insert_with(|| {
            models.push(((&*provider).into(), (&*model).into()));
            models.len() as u32 - 1
        })
    }

    fn tool(&mut self, name: Str<'_>) -> u32 {
        let name = name.text();
        let tools = &mut self.stats.tools;
        *self.tool_numbers.entry(IdHash::new(name.as_bytes())).or_insert_with(|| {
            tools.push((&*name).into());
            tools.len() as u32 - 1
        })
    }

    /// Returns the statistics; `messages` contains the texts of the prompts.
    pub(crate) fn finish(
        self,
        (parent_links, active, repeated): (&ParentLinks, ActivePath, Vec<Index>),
        messages: &MessageTexts,
    ) -> SessionStats {
        let mut stats = SessionStats { active, repeated, ..self.stats };
        for prompt in &mut stats.prompts {
            let words = messages.row(prompt.at).map_or("", |row| messages.text(row));
            prompt.words = utf16_prefix(words, PROMPT_WORDS).into();
        }
        for (at, parent) in (0..).zip(&parent_links.parents) {
            let distance = parent.map_or(0, |parent| at - i64::from(parent));
            stats.parents.extend(postcard::to_allocvec(&distance).unwrap_or_default());
        }
        stats.entries.shrink_to_fit();
        stats.parents.shrink_to_fit();
        stats
    }
}
