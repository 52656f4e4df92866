//! A list of what the model receives: a row for each message and for each omitted entry, the token use by category, and
//! the tokens of pi's context. These are those reported for the last answer plus an estimate of what follows, or an
//! estimate of everything. pi uses this count (`estimateProjectedContextTokens`) to show usage and to decide when to
//! compact (pi 0.87.1, 1.6.0).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::javascript::utf16_prefix;
use crate::base::named::named;
use crate::base::numbers::{count, thousands};
use crate::base::text::clean;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::path_in;
use crate::session::links::EntryIndex;
use crate::session::prompt::message::{
    MessageSource, Role, SentCall, SentMessage, SystemPart, from, list, of_chars, role,
};
use crate::session::prompt::plan::{OmissionReason, Plan, PlannedPart};
use crate::session::tree::Tree;
use crate::session::tree::node::Node;

/// The maximum length of a row in UTF-16 code units; no screen is wider.
const ROW: usize = 200;

named! {
    /// A category of token use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ContextShare {
        /// The system prompt and the tools.
        System = "system",
        /// Summaries of compactions and branches.
        Summary = "summary",
        /// Messages and commands of the user.
        User = "user",
        /// Messages of extensions.
        Custom = "extension",
        /// Answers: texts, thinking and calls.
        Assistant = "assistant",
        /// Tool output.
        Tools = "tools",
    }
}

impl ContextShare {
    /// Returns the letter of the category.
    pub fn letter(self) -> char {
        match self {
            Self::System => 'S',
            Self::Summary => 'Z',
            Self::User => 'U',
            Self::Custom => 'X',
            Self::Assistant => 'A',
            Self::Tools => 'T',
        }
    }

    /// Returns the category of a message.
    pub fn of(message: &SentMessage) -> Self {
        Self::of_sent(message.role, message.from)
    }

    fn of_sent(role: Role, from: MessageSource) -> Self {
        match (role, from) {
            (Role::System, _) => Self::System,
            (_, MessageSource::Compaction | MessageSource::BranchSummary) => Self::Summary,
            (_, MessageSource::CustomMessage) => Self::Custom,
            (Role::User, _) => Self::User,
            (Role::Assistant, _) => Self::Assistant,
            (Role::Tool, _) => Self::Tools,
        }
    }

    /// Returns the category of an entry that was not read.
    fn of_kind(kind: EntryKind) -> Self {
        match kind {
            EntryKind::OtherMessage | EntryKind::Unknown => Self::Custom,
            _ => Self::of_sent(role(kind), from(kind)),
        }
    }
}

/// A row of the list.
#[derive(Clone, Debug)]
pub struct ListingRow {
    /// The entry.
    pub at: EntryIndex,
    /// The category.
    pub share: ContextShare,
    /// The estimated tokens; `None` outside pi's context.
    pub tokens: Option<u64>,
    /// The start of the text, cleaned, on one line.
    pub text: Arc<str>,
    /// The reason, if it is omitted.
    pub why: Option<OmissionReason>,
}

/// The list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The rows in the order in which the model receives them, after those omitted by the compaction.
    pub rows: Vec<ListingRow>,
    /// The tokens of each category in [`ContextShare::ALL`]: estimates, and the rest of the count.
    pub shares: [u64; ContextShare::ALL.len()],
    /// The number of sent messages.
    pub messages: usize,
    /// The number of omitted entries.
    pub left_out: usize,
    /// The tokens of the context as counted by pi.
    pub tokens: f64,
    /// The provider and the ID of the model.
    pub model: Option<(String, String)>,
    /// The thinking level.
    pub thinking_level: String,
    /// The names of the active tools, cleaned.
    pub tools: Vec<String>,
    /// The last answer, the tokens reported by its provider, and the estimate for what follows it, if pi uses them.
    pub counted: Option<(EntryIndex, f64, u64)>,
}

impl Listing {
    /// Adds a part with its messages.
    pub fn add(&mut self, tree: &Tree, part: &PlannedPart, messages: &[SentMessage]) {
        let (at, why) = (part.at, part.why());
        let node = tree.node(at);
        self.count(part, messages);
        if messages.is_empty() {
            let (share, text) = (ContextShare::of_kind(node.kind), node.text.clone());
            self.rows.push(ListingRow { at, share, tokens: None, text, why });
        }
        for message in messages {
            let (share, text) = (ContextShare::of(message), row(message, node).into());
            self.rows.push(ListingRow { at, share, tokens: Some(message.tokens), text, why });
        }
    }

    /// Counts a part with its messages, without rows.
    pub fn count(&mut self, part: &PlannedPart, messages: &[SentMessage]) {
        self.left_out += usize::from(part.why().is_some());
        for message in messages.iter().filter(|_| part.why().is_none()) {
            self.messages += 1;
            self.shares[ContextShare::of(message) as usize] += message.tokens;
        }
    }

    /// Adds the totals after all parts.
    pub fn end(&mut self, plan: &Plan, sum: &ContextSum) {
        self.tokens = sum.tokens(plan);
        self.model.clone_from(&plan.context.model);
        self.thinking_level.clone_from(&plan.context.thinking_level);
        self.counted = sum.counted(plan);
        // The rest are the system prompt and the tools, which old files do not have.
        let rest = (self.tokens as u64).saturating_sub(self.all_tokens());
        self.shares[ContextShare::System as usize] += rest;
        self.tools = sum.tools().map(|tool| clean(tool).into_owned()).collect();
    }

    /// Returns a summary on one line with a separator: `claude · thinking high · 12 messages · ~4,000 tokens`.
    pub fn summary(&self, dot: &str) -> String {
        let mut parts = Vec::new();
        parts.extend(self.model.as_ref().map(|(_, model)| model.clone()).filter(|model| !model.is_empty()));
        parts.push(format!("thinking {}", self.thinking_level));
        parts.push(count(self.messages, "message", "messages"));
        parts.push(self.total());
        parts.extend((!self.tools.is_empty()).then(|| count(self.tools.len(), "tool", "tools")));
        parts.extend((self.left_out > 0).then(|| format!("{} not sent", thousands(self.left_out))));
        clean(&parts.join(&format!(" {dot} "))).into_owned()
    }

    /// Returns the total in words, with `~` unless the provider counted all of it: `~4,000 tokens`.
    pub fn total(&self) -> String {
        let is_exact = matches!(self.counted, Some((.., 0)));
        format!("{}{} tokens", if is_exact { "" } else { "~" }, thousands(self.tokens as usize))
    }

    /// Returns the sum of the categories.
    pub fn all_tokens(&self) -> u64 {
        self.shares.iter().sum()
    }
}

/// Returns the start of a message, or of a summary without pi's wrapper, followed by the called tools with their files.
/// Returns the row of the entry if there is no text.
pub fn row(message: &SentMessage, node: &Node) -> String {
    let said = match message.from {
        MessageSource::Compaction | MessageSource::BranchSummary => {
            message.text.split_once("<summary>").map_or("", |(_, summary)| summary)
        }
        MessageSource::Message | MessageSource::CustomMessage | MessageSource::System => &message.text,
    };
    let start =
        |text: &str| clean(utf16_prefix(text.trim_start(), ROW)).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = start(said);
    if !message.calls.is_empty() {
        let called = |call: &SentCall| {
            let path = path_in(call.arguments.as_bytes()).map_or(String::new(), |path| format!(": {path}"));
            format!("[{}]", clean(utf16_prefix(&format!("{}{path}", call.name), ROW)))
        };
        let calls = message.calls.iter().map(called).collect::<Vec<_>>().join(" ");
        text = if text.is_empty() { calls } else { format!("{text} {calls}") };
    }
    let images =
        if message.images > 0 { format!("[{}] ", count(message.images, "image", "images")) } else { String::new() };
    match (text.is_empty() && images.is_empty(), node.kind) {
        (true, _) => node.text.to_string(),
        // The row of the entry contains the tool and the file of the call.
        (false, EntryKind::ToolResult) => format!("{} {images}{text}", node.text),
        (false, _) => images + &text,
    }
}

/// The system prompt and tools after all system messages (pi's `getCurrentSystemMessage`).
#[derive(Clone, Debug, Default)]
struct SystemPrompt {
    contents: Vec<u64>,
    sections: HashMap<String, u64>,
    tools: Vec<(String, u64)>,
    is_there: bool,
}

impl SystemPrompt {
    fn add(&mut self, part: &SystemPart) {
        self.is_there |= part.has_time;
        self.contents.extend((part.content > 0).then_some(part.content));
        for (name, units) in &part.sections {
            match units {
                Some(units) => drop(self.sections.insert(name.clone(), *units)),
                None => drop(self.sections.remove(name)),
            }
        }
        let gone: HashSet<&String> = part.removed.iter().chain(part.added.iter().map(|(name, _)| name)).collect();
        self.tools.retain(|(name, _)| !gone.contains(name));
        self.tools.extend(part.added.iter().cloned());
    }

    fn tokens(&self) -> u64 {
        if !self.is_there && self.tools.is_empty() {
            return 0;
        }
        let contents = self.contents.iter().sum::<u64>() + 2 * (self.contents.len() as u64).saturating_sub(1);
        let tools = if self.tools.is_empty() { 0 } else { list(self.tools.iter().map(|(_, length)| *length)) };
        of_chars(contents + self.sections.values().sum::<u64>() + tools)
    }
}

/// Sums the messages of pi's context, in order.
#[derive(Clone, Debug, Default)]
pub struct ContextSum {
    system: SystemPrompt,
    /// The tokens of all messages except system messages.
    said: u64,
    /// The last answer with reported tokens, and their number.
    used: Option<(EntryIndex, f64)>,
    /// The tokens after it.
    behind: u64,
}

impl ContextSum {
    /// Adds a message of an entry in the context.
    pub fn add(&mut self, at: EntryIndex, message: &SentMessage) {
        match &message.system {
            Some(part) => self.system.add(part),
            None => self.said += message.tokens,
        }
        match message.used {
            Some(used) => (self.used, self.behind) = (Some((at, used)), 0),
            None => self.behind += message.tokens,
        }
    }

    /// Returns the tokens of the context as counted by pi. These are the reported tokens of the last answer plus an
    /// estimate of what follows. After a newer compaction or context edit, everything is estimated.
    pub fn tokens(&self, plan: &Plan) -> f64 {
        match self.counted(plan) {
            Some((_, used, behind)) => used + behind as f64,
            None => self.estimated(),
        }
    }

    /// Returns pi's estimate of the tokens of the context.
    pub(crate) fn estimated(&self) -> f64 {
        (self.system.tokens() + self.said) as f64
    }

    /// Returns the last answer, the tokens reported by its provider, and the estimate for what follows it, if pi uses them.
    fn counted(&self, plan: &Plan) -> Option<(EntryIndex, f64, u64)> {
        self.used.filter(|&(at, _)| plan.is_fresh(at)).map(|(at, used)| (at, used, self.behind))
    }

    /// Returns the active tools; the last added ones come last.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.system.tools.iter().map(|(name, _)| &**name)
    }
}
