//! What pi sends to the model of the messages that it sees, as pi's `convertToLlm` and the providers of pi-ai have it
//! (1.5.2): not failed and stopped answers, `!!` commands, empty messages and messages with roles that pi does not know; and
//! an answer of pi's own to each call that none was given to. System messages, which are sent apart, are not counted.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::EntryKind;
use crate::session::links::{IdHash, Index};
use crate::session::tree::Tree;
use crate::session::tree::sendable::{SendState, SendableContent};

/// A message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// That of an entry.
    Entry(Index),
    /// The answer `No result provided` to a call of this entry.
    NoResult(Index),
}

/// Calls that wait for an answer.
#[derive(Default)]
struct OpenCalls<'a> {
    by: Index,
    calls: &'a [IdHash],
    answered: HashSet<IdHash>,
}

impl OpenCalls<'_> {
    /// Nothing answers them any more: pi does.
    fn close(&mut self, sent: &mut Vec<Sent>) {
        let unanswered = self.calls.iter().filter(|call| !self.answered.contains(call));
        sent.extend(unanswered.map(|_| Sent::NoResult(self.by)));
        *self = Self::default();
    }
}

/// What is sent of the entries that a context has; `replaced` has what some of them say instead.
pub(super) fn sent(tree: &Tree, entries: &[Index], replaced: &HashMap<Index, &SendableContent>) -> Vec<Sent> {
    let mut sent = Vec::new();
    let mut open = OpenCalls::default();
    for &at in entries {
        let node = &tree.nodes[at as usize];
        let words = replaced.get(&at).filter(|_| can_be_replaced(node.kind));
        let sending = match (node.model_role.sending, words) {
            (SendState::Yes | SendState::Empty, Some(words)) if node.kind != EntryKind::ToolResult => {
                words.sending(node.kind)
            }
            (sending, _) => sending,
        };
        if sending == SendState::No {
            continue;
        }
        if node.kind == EntryKind::ToolResult {
            open.answered.extend(tree.answers.get(&at));
        } else {
            open.close(&mut sent);
        }
        if node.kind == EntryKind::Assistant && sending == SendState::Yes {
            let own = || tree.calls.get(&at).map_or(&[][..], |calls| calls);
            (open.by, open.calls) = (at, words.map_or_else(own, |words| &words.calls));
        }
        sent.extend((sending == SendState::Yes).then_some(Sent::Entry(at)));
    }
    open.close(&mut sent);
    sent
}

/// Whether a context edit can give an entry other words (`projectContextEntry`, 1.5.2).
pub(crate) fn can_be_replaced(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User
            | EntryKind::Assistant
            | EntryKind::ToolResult
            | EntryKind::CustomRole
            | EntryKind::CustomMessage
    )
}
