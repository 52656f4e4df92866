//! What pi sends to the model of the messages that it sees, as pi's `convertToLlm` and the providers of pi-ai have it
//! (1.5.2): not failed and stopped answers, `!!` commands, empty messages and messages with roles that pi does not know; and
//! an answer of pi's own to each call that none was given to. System messages, which are sent apart, are not counted.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::Kind;
use crate::session::entry::{Block, Content, Entry};
use crate::session::shape::{IdHash, Index};
use crate::session::tree::Tree;

/// A message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// That of an entry.
    Entry(Index),
    /// The answer `No result provided` to a call of this entry.
    NoResult(Index),
}

/// Whether an entry is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sending {
    /// It is not, as if it were not there.
    #[default]
    No,
    /// It failed or was stopped: not even if it gets other words.
    Failed,
    /// It is empty. All the same nothing that is said after it answers a call that stands before.
    Empty,
    /// It is.
    Yes,
}

impl Sending {
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        let message = entry.message.as_ref();
        let said = |content: Option<&Content<'_>>| Said::new(content.unwrap_or(&Content::Missing)).sending(entry.kind);
        match entry.kind {
            Kind::Assistant if message.is_some_and(|message| message.has_failed()) => Self::Failed,
            Kind::User | Kind::Assistant | Kind::CustomRole => said(message.map(|message| &message.content)),
            Kind::CustomMessage => said(Some(&entry.content)),
            Kind::Bash if message.is_some_and(|message| message.excluded) => Self::No,
            Kind::ToolResult | Kind::Bash | Kind::SummaryRole | Kind::Compaction | Kind::BranchSummary => Self::Yes,
            Kind::SystemRole
            | Kind::OtherMessage
            | Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::Unknown => Self::No,
        }
    }
}

/// What there is to send of a content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// It is a string.
    is_text: bool,
    /// There are characters.
    has_characters: bool,
    /// There are other characters than white space.
    has_words: bool,
    /// There is something else than text.
    has_more: bool,
    /// The calls of tools.
    calls: Box<[IdHash]>,
}

impl Said {
    pub(crate) fn new(content: &Content<'_>) -> Self {
        let has_more = |block: &Block<'_>| !matches!(block, Block::Text(_));
        Self {
            is_text: matches!(content, Content::Text(_)),
            has_characters: content.texts().any(|text| !text.is_empty()),
            has_words: content.has_words(),
            has_more: matches!(content, Content::Blocks(blocks) if blocks.iter().any(has_more)),
            calls: calls(content),
        }
    }

    /// Whether an entry of this kind is sent if it says this.
    fn sending(&self, kind: Kind) -> Sending {
        let is_sent = match kind {
            Kind::Assistant => self.has_words || !self.calls.is_empty(),
            Kind::User => self.is_text || self.has_characters || self.has_more,
            _ => self.has_characters || self.has_more,
        };
        if is_sent { Sending::Yes } else { Sending::Empty }
    }
}

/// The ids of the calls in a content.
pub(crate) fn calls(content: &Content<'_>) -> Box<[IdHash]> {
    content.tool_calls().map(|call| IdHash::of(call.id)).collect()
}

/// Calls that wait for an answer.
#[derive(Default)]
struct Open<'a> {
    by: Index,
    calls: &'a [IdHash],
    answered: HashSet<IdHash>,
}

impl Open<'_> {
    /// Nothing answers them any more: pi does.
    fn close(&mut self, sent: &mut Vec<Sent>) {
        let unanswered = self.calls.iter().filter(|call| !self.answered.contains(call));
        sent.extend(unanswered.map(|_| Sent::NoResult(self.by)));
        *self = Self::default();
    }
}

/// What is sent of the entries that a context has; `replaced` has what some of them say instead.
pub(super) fn sent(tree: &Tree, entries: &[Index], replaced: &HashMap<Index, &Said>) -> Vec<Sent> {
    let mut sent = Vec::new();
    let mut open = Open::default();
    for &at in entries {
        let node = &tree.nodes[at as usize];
        let words = replaced.get(&at).filter(|_| can_be_replaced(node.kind));
        let sending = match (node.sense.sending, words) {
            (Sending::Yes | Sending::Empty, Some(words)) if node.kind != Kind::ToolResult => words.sending(node.kind),
            (sending, _) => sending,
        };
        if sending == Sending::No {
            continue;
        }
        if node.kind == Kind::ToolResult {
            open.answered.extend(tree.answers.get(&at));
        } else {
            open.close(&mut sent);
        }
        if node.kind == Kind::Assistant && sending == Sending::Yes {
            let own = || tree.calls.get(&at).map_or(&[][..], |calls| calls);
            (open.by, open.calls) = (at, words.map_or_else(own, |words| &words.calls));
        }
        sent.extend((sending == Sending::Yes).then_some(Sent::Entry(at)));
    }
    open.close(&mut sent);
    sent
}

/// Whether a context edit can give an entry other words (`projectContextEntry`, 1.5.2).
fn can_be_replaced(kind: Kind) -> bool {
    matches!(kind, Kind::User | Kind::Assistant | Kind::ToolResult | Kind::CustomRole | Kind::CustomMessage)
}
