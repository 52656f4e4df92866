//! The meaning of entries for the model: their messages, settings, kept and omitted entries, and whether they can be
//! sent: see [`crate::session::tree::context`].

use serde::Serialize;

use crate::base::numbers::thousands;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Block, Content, Entry, parse};
use crate::session::links::{ById, EntryIndex, IdHash, ParentLinks};

/// The meaning of an entry for the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModelRole {
    /// The number of messages.
    pub(crate) messages: u8,
    /// The index of its setting in [`ModelSettings`], starting at 1; 0 for none.
    pub(crate) setting: u16,
    /// The send state.
    pub(super) sending: SendState,
}

impl ModelRole {
    /// Returns `true` if the entry is an answer that failed or was stopped.
    pub(crate) fn is_failed(&self) -> bool {
        self.sending == SendState::Failed
    }

    pub(crate) fn new(entry: &Entry<'_>) -> Self {
        let messages = match entry.kind {
            EntryKind::User
            | EntryKind::Assistant
            | EntryKind::ToolResult
            | EntryKind::Bash
            | EntryKind::SystemRole
            | EntryKind::CustomRole
            | EntryKind::SummaryRole
            | EntryKind::CustomMessage => 1,
            EntryKind::OtherMessage => u8::from(entry.message.is_some()),
            EntryKind::BranchSummary => u8::from(entry.summary.is_some_and(|summary| !summary.is_empty())),
            EntryKind::Compaction => 1 + u8::from(entry.system_message.is_some()),
            _ => 0,
        };
        Self { messages, setting: 0, sending: SendState::of(entry) }
    }
}

/// The role of an entry in contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ContextRole {
    /// It has no messages.
    #[default]
    Nothing,
    /// It has messages.
    Message,
    /// A system message, which compactions do not keep.
    SystemMessage,
    /// A compaction.
    Compaction,
}

impl ContextRole {
    /// Returns the role of an entry with a number of messages.
    pub(crate) fn new(kind: EntryKind, messages: u8) -> Self {
        match kind {
            EntryKind::Compaction => Self::Compaction,
            EntryKind::SystemRole => Self::SystemMessage,
            _ if messages > 0 => Self::Message,
            _ => Self::Nothing,
        }
    }
}

/// The reference of a compaction to its first kept entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstKept {
    id: Option<IdHash>,
    /// The index among the values of the file, in version 1.
    index: Option<f64>,
}

impl FirstKept {
    pub(crate) fn new(entry: &Entry<'_>) -> Self {
        Self { id: entry.first_kept_id.map(IdHash::of), index: entry.first_kept_index }
    }

    /// Returns the entry. `headers` contains the number of entries before each header.
    pub(crate) fn resolve(self, parent_links: &ParentLinks, version: f64, headers: &[usize]) -> Option<EntryIndex> {
        if version >= 2.0 {
            return parent_links.find(self.id?); // pi ignores the index in newer versions
        }
        let value = self.index.filter(|index| *index >= 0.0 && index.fract() == 0.0)?;
        // n other headers are before the n-th header.
        let places = headers.iter().enumerate().map(|(n, before)| (n + before) as f64);
        if places.clone().any(|place| place == value) {
            return None;
        }
        let at = value - places.filter(|place| *place < value).count() as f64;
        (at < parent_links.parents.len() as f64).then_some(at as EntryIndex)
    }
}

/// A context edit.
#[derive(Clone, Debug)]
pub(crate) struct ContextEdit {
    pub(crate) target: IdHash,
    /// The new contents; `None` omits the target.
    pub(crate) words: Option<SendableContent>,
}

impl ContextEdit {
    pub(crate) fn new(entry: &Entry<'_>) -> Option<Self> {
        let words = entry.replacement.map(|replacement| SendableContent::with_calls(&parse::replacement(replacement)));
        Some(Self { target: IdHash::of(entry.target_id?), words })
    }
}

/// The numbers of messages with context edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EditCounts {
    /// The number of omitted ones.
    pub omitted: usize,
    /// The number of those with another content.
    pub replaced: usize,
}

impl EditCounts {
    /// Describes the numbers, such as `3 omitted, 1 replaced`; `None` without edits.
    pub fn text(self, replaced: &str) -> Option<String> {
        let parts = [(self.omitted, "omitted"), (self.replaced, replaced)].into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{} {what}", thousands(count))).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The distinct models and thinking levels of a file; entries refer to them by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelSettings {
    /// The settings with their keys.
    all: Vec<(IdHash, ModelSetting)>,
    places: ById<u16>,
}

/// A model or a thinking level.
#[derive(Clone, Debug)]
pub(super) enum ModelSetting {
    /// Provider and ID.
    Model(String, String),
    Thinking(String),
}

impl ModelSettings {
    /// Adds the setting of an entry. Returns its index starting at 1, or 0 if there is none or if 65,535 settings
    /// exist.
    pub(crate) fn note(&mut self, entry: &Entry<'_>) -> u16 {
        let (tag, first, second) = match entry.kind {
            EntryKind::ModelChange => (0, entry.provider, entry.model_id),
            EntryKind::Assistant => {
                let Some(message) = &entry.message else { return 0 };
                (0, message.provider, message.model)
            }
            EntryKind::ThinkingLevel => (1, None, entry.thinking_level),
            _ => return 0,
        };
        let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
        let key = IdHash::number(tag).with(IdHash::of(first)).with(IdHash::of(second));
        self.place(key, || match tag {
            0 => ModelSetting::Model(first.owned(), second.owned()),
            _ => ModelSetting::Thinking(second.owned()),
        })
    }

    fn place(&mut self, key: IdHash, setting: impl FnOnce() -> ModelSetting) -> u16 {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let Ok(place) = u16::try_from(self.all.len() + 1) else { return 0 };
        self.all.push((key, setting()));
        self.places.insert(key, place);
        place
    }

    /// Returns the model, with its provider, and the thinking level that come first among the settings of entries.
    pub(crate) fn last(&self, settings: impl Iterator<Item = u16>) -> (Option<(&str, &str)>, Option<&str>) {
        let (mut model, mut thinking) = (None, None);
        for setting in settings.filter_map(|setting| self.get(setting)) {
            match setting {
                ModelSetting::Model(provider, id) => model = model.or(Some((&**provider, &**id))),
                ModelSetting::Thinking(level) => thinking = thinking.or(Some(&**level)),
            }
            if model.is_some() && thinking.is_some() {
                break;
            }
        }
        (model, thinking)
    }

    fn get(&self, place: u16) -> Option<&ModelSetting> {
        self.all.get(usize::from(place).checked_sub(1)?).map(|(_, setting)| setting)
    }

    /// Appends the settings of a later part of the file. Returns their new indexes by old index.
    pub(crate) fn add(&mut self, later: Self) -> Vec<u16> {
        let places = later.all.into_iter().map(|(key, setting)| self.place(key, || setting));
        std::iter::once(0).chain(places).collect()
    }
}

/// The send state of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SendState {
    /// Not sent, as if it were missing.
    #[default]
    No,
    /// Failed or stopped: not sent, even with other contents.
    Failed,
    /// Empty: not sent, but later results no longer answer earlier calls.
    Empty,
    /// Sent.
    Yes,
}

impl SendState {
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        let message = entry.message.as_ref();
        let said = |content: Option<&Content<'_>>| {
            SendableContent::new(content.unwrap_or(&Content::Missing)).sending(entry.kind)
        };
        match entry.kind {
            EntryKind::Assistant if message.is_some_and(|message| message.has_failed()) => Self::Failed,
            EntryKind::User | EntryKind::Assistant | EntryKind::CustomRole => {
                said(message.map(|message| &message.content))
            }
            EntryKind::CustomMessage => said(Some(&entry.content)),
            EntryKind::Bash if message.is_some_and(|message| message.excluded) => Self::No,
            EntryKind::ToolResult
            | EntryKind::Bash
            | EntryKind::SummaryRole
            | EntryKind::Compaction
            | EntryKind::BranchSummary => Self::Yes,
            _ => Self::No,
        }
    }
}

/// The properties of contents that decide whether they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendableContent {
    /// The content is a string.
    is_text: bool,
    /// There are characters.
    has_characters: bool,
    /// There are characters other than white space.
    has_words: bool,
    /// There are blocks other than text.
    has_more: bool,
    has_calls: bool,
    /// The tool calls, if requested: see [`SendableContent::with_calls`].
    pub(super) calls: Box<[IdHash]>,
}

impl SendableContent {
    pub(crate) fn new(content: &Content<'_>) -> Self {
        let has_more = |block: &Block<'_>| !matches!(block, Block::Text(_));
        Self {
            is_text: matches!(content, Content::Text(_)),
            has_characters: content.texts().any(|text| !text.is_empty()),
            has_words: content.has_words(),
            has_more: content.blocks().iter().any(has_more),
            has_calls: content.tool_calls().next().is_some(),
            calls: Box::default(),
        }
    }

    /// Collects the properties and the tool calls.
    pub(crate) fn with_calls(content: &Content<'_>) -> Self {
        Self { calls: calls(content), ..Self::new(content) }
    }

    /// Returns the send state of an entry of this kind with these contents.
    pub(super) fn sending(&self, kind: EntryKind) -> SendState {
        let is_sent = match kind {
            EntryKind::Assistant => self.has_words || self.has_calls,
            EntryKind::User => self.is_text || self.has_characters || self.has_more,
            _ => self.has_characters || self.has_more,
        };
        if is_sent { SendState::Yes } else { SendState::Empty }
    }
}

/// Returns the IDs of the tool calls.
pub(crate) fn calls(content: &Content<'_>) -> Box<[IdHash]> {
    content.tool_calls().map(|call| IdHash::of(call.id)).collect()
}
