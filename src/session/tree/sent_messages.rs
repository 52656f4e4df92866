//! What pi sends to the model of the messages that it sees, as pi's `convertToLlm` and the providers of pi-ai have it
//! (1.5.2): not failed and stopped answers, `!!` commands, empty messages and messages with roles that pi does not know; and
//! an answer of pi's own to each call that none was given to. System messages, which are sent apart, are not counted.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::Kind;
use crate::session::links::{IdHash, Index};
use crate::session::tree::Tree;
use crate::session::tree::sendable::{Said, Sending};

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
pub(crate) fn can_be_replaced(kind: Kind) -> bool {
    match kind {
        Kind::User | Kind::Assistant | Kind::ToolResult | Kind::CustomRole | Kind::CustomMessage => true,
        Kind::Bash
        | Kind::SystemRole
        | Kind::SummaryRole
        | Kind::OtherMessage
        | Kind::Compaction
        | Kind::BranchSummary
        | Kind::ModelChange
        | Kind::ThinkingLevel
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::ContextEdit
        | Kind::Unknown => false,
    }
}
