//! The messages that pi sends to the model, as in pi's `convertToLlm` and the providers of pi-ai (1.5.2). pi omits
//! failed and stopped answers, `!!` commands, empty messages and messages with unknown roles. It adds a result for each
//! call without one. System messages are sent separately and not counted.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::EntryKind;
use crate::session::links::{IdHash, Index};
use crate::session::tree::Tree;
use crate::session::tree::sendable::{SendState, SendableContent};

/// A sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The message of an entry.
    Entry(Index),
    /// The result `No result provided` for a call of this entry.
    NoResult(Index),
}

/// Calls without a result so far.
#[derive(Default)]
struct OpenCalls<'a> {
    by: Index,
    calls: &'a [IdHash],
    answered: HashSet<IdHash>,
}

impl OpenCalls<'_> {
    /// Ends the calls: pi answers the remaining ones.
    fn close(&mut self, sent: &mut Vec<Sent>) {
        let unanswered = self.calls.iter().filter(|call| !self.answered.contains(call));
        sent.extend(unanswered.map(|_| Sent::NoResult(self.by)));
        *self = Self::default();
    }
}

/// Returns the messages sent for the entries of a context; `replaced` contains the new contents of edited ones.
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

/// Returns `true` if a context edit can replace the contents of an entry (`projectContextEntry`, 1.5.2).
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
