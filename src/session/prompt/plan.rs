//! Which entries of a path give the model messages, in the order in which it gets them, and which don't, and why (pi 0.87.1,
//! 1.5.2). Of entries that are nothing to the model, such as names and labels, nothing is said.

use std::collections::HashSet;

use crate::session::entry::kind::EntryKind;
use crate::session::links::Index;
use crate::session::tree::Tree;
use crate::session::tree::context::{ModelContext, context};
use crate::session::tree::node::EntryStatus;
use crate::session::tree::sent_messages::{Sent, can_be_replaced};

/// Why the model does not get what an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// It stands before what the compaction keeps, which is this entry.
    Compacted(Index),
    /// A system message before the compaction: they are not kept.
    SystemNotKept,
    /// A compaction before the one that counts.
    OlderCompaction,
    /// This context edit leaves it out.
    Omitted(Index),
    /// The answer failed.
    Failed,
    /// The answer was stopped.
    Stopped,
    /// The user ran it with `!!`.
    Excluded,
    /// It says nothing.
    Empty,
    /// pi does not know its role.
    UnknownRole,
    /// pi does not know its type.
    UnknownType,
}

impl OmissionReason {
    /// The reason, in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Compacted(_) => "compacted away",
            Self::SystemNotKept => "not kept by the compaction",
            Self::OlderCompaction => "an older compaction",
            Self::Omitted(_) => "left out by a context edit",
            Self::Failed => "the answer failed",
            Self::Stopped => "the answer was stopped",
            Self::Excluded => "run with !!",
            Self::Empty => "empty",
            Self::UnknownRole => "a role that pi doesn't know",
            Self::UnknownType => "a type that pi doesn't know",
        }
    }
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOutcome {
    /// The model gets it.
    Sent,
    /// pi answers a call in it, to which no answer is there.
    NoResult,
    /// pi has it in mind, and counts it, but does not send it.
    Counted(OmissionReason),
    /// It is left out.
    LeftOut(OmissionReason),
}

/// An entry, or what pi says because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPart {
    /// The entry.
    pub at: Index,
    /// What becomes of it.
    pub outcome: EntryOutcome,
    /// The context edit whose words it has instead of its own.
    pub words: Option<Index>,
}

impl PlannedPart {
    /// Whether its messages are in pi's context: `buildSessionContext` gives them.
    pub fn is_in_context(&self) -> bool {
        matches!(self.outcome, EntryOutcome::Sent | EntryOutcome::Counted(_))
    }

    /// Why the model does not get it, if so.
    pub fn why(&self) -> Option<OmissionReason> {
        match self.outcome {
            EntryOutcome::Sent | EntryOutcome::NoResult => None,
            EntryOutcome::Counted(why) | EntryOutcome::LeftOut(why) => Some(why),
        }
    }
}

/// What the model gets at an entry, before anything is read.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The parts: what was compacted away, the compaction, what it kept and what followed.
    pub parts: Vec<PlannedPart>,
    /// What pi's context is.
    pub context: ModelContext,
    /// What stands behind the last compaction and the last context edit of the path: only what an answer there used tells
    /// how large the context is now.
    fresh: HashSet<Index>,
}

impl Plan {
    /// The plan for going on behind `at`; before the first entry, that is nothing.
    pub fn new(tree: &Tree, at: Option<Index>) -> Self {
        let context = context(tree, at);
        let path = at.map(|at| tree.path(at)).unwrap_or_default();
        let kind = |at: Index| tree.nodes[at as usize].kind;
        let changes = |at: &&Index| matches!(kind(**at), EntryKind::Compaction | EntryKind::ContextEdit);
        let fresh = path.iter().rev().take_while(|at| !changes(at)).copied().collect();
        let mut plan = Self { parts: Vec::with_capacity(path.len()), context, fresh };
        // Where the compaction stands, and what it keeps.
        let place = path.iter().rposition(|at| Some(*at) == plan.context.compaction);
        let first = plan.context.compaction.and_then(|at| tree.first_kept.get(&at));
        let before = &path[..place.unwrap_or(0)];
        let kept = before.iter().position(|at| Some(at) == first).unwrap_or(before.len());
        if let Some(compaction) = plan.context.compaction {
            let outcome = EntryOutcome::LeftOut(OmissionReason::Compacted(compaction));
            let dropped = before[..kept].iter().filter(|at| !kind(**at).is_bookkeeping());
            plan.parts.extend(dropped.map(|&at| PlannedPart { at, outcome, words: None }));
        }
        let rest = place.into_iter().map(|place| path[place]);
        let rest = rest.chain(before[kept..].iter().copied());
        plan.add_entries(tree, rest.chain(path[place.map_or(0, |place| place + 1)..].iter().copied()));
        plan
    }

    /// Adds what becomes of entries, in the order in which their messages stand in the context.
    fn add_entries(&mut self, tree: &Tree, entries: impl Iterator<Item = Index>) {
        let in_context: HashSet<Index> = self.context.entries.iter().copied().collect();
        let sent = self.context.sent.clone();
        let mut sent = sent.into_iter().peekable();
        let words = |at: Index, context: &ModelContext| {
            let edit = context.edits.get(&at).copied().filter(|_| can_be_replaced(tree.nodes[at as usize].kind))?;
            tree.edits.get(&edit).is_some_and(|(_, words)| words.is_some()).then_some(edit)
        };
        for at in entries {
            // What pi answers itself stands before what follows.
            while let Some(Sent::NoResult(at)) = sent.next_if(|sent| matches!(sent, Sent::NoResult(_))) {
                self.parts.push(PlannedPart { at, outcome: EntryOutcome::NoResult, words: None });
            }
            let is_sent = sent.next_if_eq(&Sent::Entry(at)).is_some();
            let node = &tree.nodes[at as usize];
            let outcome = match (in_context.contains(&at), is_sent || node.kind == EntryKind::SystemRole) {
                (true, true) => EntryOutcome::Sent,
                (true, false) => EntryOutcome::Counted(unsent(node.kind, node.outcome, node.model_role.is_failed())),
                (false, _) => match left_out(node.kind, at, &self.context) {
                    Some(why) => EntryOutcome::LeftOut(why),
                    None => continue,
                },
            };
            self.parts.push(PlannedPart { at, outcome, words: words(at, &self.context) });
        }
        for last in sent {
            let (Sent::NoResult(at) | Sent::Entry(at)) = last;
            self.parts.push(PlannedPart { at, outcome: EntryOutcome::NoResult, words: None });
        }
    }

    /// Whether what an answer used tells how large the context is behind it.
    pub(super) fn is_fresh(&self, at: Index) -> bool {
        self.fresh.contains(&at)
    }
}

/// Why something that pi has in its context is not sent.
fn unsent(kind: EntryKind, outcome: EntryStatus, failed: bool) -> OmissionReason {
    match kind {
        EntryKind::Assistant if failed && outcome == EntryStatus::Aborted => OmissionReason::Stopped,
        EntryKind::Assistant if failed => OmissionReason::Failed,
        EntryKind::Bash => OmissionReason::Excluded,
        EntryKind::OtherMessage => OmissionReason::UnknownRole,
        _ => OmissionReason::Empty,
    }
}

/// Why an entry behind the first one that is kept is not in the context; nothing for what never is.
fn left_out(kind: EntryKind, at: Index, context: &ModelContext) -> Option<OmissionReason> {
    if let Some(&edit) = context.edits.get(&at).filter(|_| !kind.is_bookkeeping()) {
        return Some(OmissionReason::Omitted(edit)); // one that gives other words would be in the context
    }
    match kind {
        EntryKind::SystemRole => Some(OmissionReason::SystemNotKept),
        EntryKind::Compaction => Some(OmissionReason::OlderCompaction),
        EntryKind::BranchSummary => Some(OmissionReason::Empty),
        EntryKind::OtherMessage => Some(OmissionReason::UnknownRole),
        EntryKind::Unknown => Some(OmissionReason::UnknownType),
        _ => None,
    }
}
