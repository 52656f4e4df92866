//! The entries of a path in the order in which the model receives them, and the omitted ones with reasons (pi 0.87.1,
//! 1.6.0). Entries without meaning for the model, such as names and labels, are not included.

use std::collections::HashSet;

use crate::session::entry::kind::EntryKind;
use crate::session::links::EntryIndex;
use crate::session::tree::Tree;
use crate::session::tree::context::{ModelContext, Sent, can_be_replaced, context};
use crate::session::tree::node::EntryOutcome;

/// The reason why the model does not receive an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// It is before the first entry kept by this compaction.
    Compacted(EntryIndex),
    /// A system message before the compaction; these are not kept.
    SystemNotKept,
    /// A compaction before the current one.
    OlderCompaction,
    /// This context edit omits it.
    Omitted(EntryIndex),
    /// The answer failed.
    Failed,
    /// The answer was stopped.
    Stopped,
    /// The user ran it with `!!`.
    Excluded,
    /// It is empty.
    Empty,
    /// Its role is unknown to pi.
    UnknownRole,
    /// Its type is unknown to pi.
    UnknownType,
}

impl OmissionReason {
    /// Returns the description.
    pub fn text(self) -> &'static str {
        match self {
            Self::Compacted(_) => "compacted",
            Self::SystemNotKept => "dropped by compaction",
            Self::OlderCompaction => "superseded compaction",
            Self::Omitted(_) => "omitted by a context edit",
            Self::Failed => "failed answer",
            Self::Stopped => "aborted answer",
            Self::Excluded => "run with !!",
            Self::Empty => "empty",
            Self::UnknownRole => "unknown role",
            Self::UnknownType => "unknown type",
        }
    }
}

/// The outcome of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptOutcome {
    /// The model receives it.
    Sent,
    /// pi answers a call in it that has no result.
    NoResult,
    /// pi keeps and counts it, but does not send it.
    Counted(OmissionReason),
    /// It is omitted.
    LeftOut(OmissionReason),
}

/// An entry, or a result that pi adds for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPart {
    /// The entry.
    pub at: EntryIndex,
    /// The outcome.
    pub outcome: PromptOutcome,
    /// The context edit that replaces its contents.
    pub words: Option<EntryIndex>,
}

impl PlannedPart {
    /// Returns `true` if its messages are in pi's context, as returned by `buildSessionContext`.
    pub fn is_in_context(&self) -> bool {
        matches!(self.outcome, PromptOutcome::Sent | PromptOutcome::Counted(_))
    }

    /// Returns the reason if the model does not receive it.
    pub fn why(&self) -> Option<OmissionReason> {
        match self.outcome {
            PromptOutcome::Sent | PromptOutcome::NoResult => None,
            PromptOutcome::Counted(why) | PromptOutcome::LeftOut(why) => Some(why),
        }
    }
}

/// The plan of what the model receives at an entry, before entries are read.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The entries omitted by the compaction, the compaction, the kept entries and the following ones.
    pub parts: Vec<PlannedPart>,
    /// pi's context.
    pub context: ModelContext,
    /// The entries after the last compaction and the last context edit of the path. Only token counts reported there
    /// are current.
    fresh: HashSet<EntryIndex>,
}

impl Plan {
    /// Plans resuming after `at`; `None` is an empty conversation.
    pub fn new(tree: &Tree, at: Option<EntryIndex>) -> Self {
        let context = context(tree, at);
        let path = at.map(|at| tree.path(at)).unwrap_or_default();
        let kind = |at: EntryIndex| tree.node(at).kind;
        let changes = |at: &&EntryIndex| matches!(kind(**at), EntryKind::Compaction | EntryKind::ContextEdit);
        let fresh = path.iter().rev().take_while(|at| !changes(at)).copied().collect();
        let mut plan = Self { parts: Vec::with_capacity(path.len()), context, fresh };
        // The position of the compaction, and its first kept entry.
        let place = path.iter().rposition(|at| Some(*at) == plan.context.compaction);
        let first = plan.context.compaction.and_then(|at| tree.first_kept.get(&at));
        let before = &path[..place.unwrap_or(0)];
        let kept = before.iter().position(|at| Some(at) == first).unwrap_or(before.len());
        if let Some(compaction) = plan.context.compaction {
            let outcome = PromptOutcome::LeftOut(OmissionReason::Compacted(compaction));
            let dropped = before[..kept].iter().filter(|at| !kind(**at).is_bookkeeping());
            plan.parts.extend(dropped.map(|&at| PlannedPart { at, outcome, words: None }));
        }
        let rest = place.into_iter().map(|place| path[place]);
        let rest = rest.chain(before[kept..].iter().copied());
        plan.add_entries(tree, rest.chain(path[place.map_or(0, |place| place + 1)..].iter().copied()));
        plan
    }

    /// Adds the outcomes of entries in the order of the context.
    fn add_entries(&mut self, tree: &Tree, entries: impl Iterator<Item = EntryIndex>) {
        let in_context: HashSet<EntryIndex> = self.context.entries.iter().copied().collect();
        let sent = self.context.sent.clone();
        let mut sent = sent.into_iter().peekable();
        let words = |at: EntryIndex, context: &ModelContext| {
            let edit = context.edits.get(&at).copied().filter(|_| can_be_replaced(tree.node(at).kind))?;
            tree.edits.get(&edit).is_some_and(|(_, words)| words.is_some()).then_some(edit)
        };
        for at in entries {
            // pi's own results come before the next entry.
            while let Some(Sent::NoResult(at)) = sent.next_if(|sent| matches!(sent, Sent::NoResult(_))) {
                self.parts.push(PlannedPart { at, outcome: PromptOutcome::NoResult, words: None });
            }
            let is_sent = sent.next_if_eq(&Sent::Entry(at)).is_some();
            let node = tree.node(at);
            let outcome = match (in_context.contains(&at), is_sent || node.kind == EntryKind::SystemRole) {
                (true, true) => PromptOutcome::Sent,
                (true, false) => PromptOutcome::Counted(unsent(node.kind, node.outcome, node.model_role.is_failed())),
                (false, _) => match left_out(node.kind, at, &self.context) {
                    Some(why) => PromptOutcome::LeftOut(why),
                    None => continue,
                },
            };
            self.parts.push(PlannedPart { at, outcome, words: words(at, &self.context) });
        }
        for last in sent {
            let (Sent::NoResult(at) | Sent::Entry(at)) = last;
            self.parts.push(PlannedPart { at, outcome: PromptOutcome::NoResult, words: None });
        }
    }

    /// Returns the parts that the model receives, without pi's own results.
    pub fn sent(&self) -> impl Iterator<Item = &PlannedPart> {
        self.parts.iter().filter(|part| part.outcome == PromptOutcome::Sent)
    }

    /// Returns `true` if the reported tokens of an answer are current.
    pub(super) fn is_fresh(&self, at: EntryIndex) -> bool {
        self.fresh.contains(&at)
    }
}

/// Returns the reason why an entry in pi's context is not sent.
fn unsent(kind: EntryKind, outcome: EntryOutcome, failed: bool) -> OmissionReason {
    match kind {
        EntryKind::Assistant if failed && outcome == EntryOutcome::Aborted => OmissionReason::Stopped,
        EntryKind::Assistant if failed => OmissionReason::Failed,
        EntryKind::Bash => OmissionReason::Excluded,
        EntryKind::OtherMessage => OmissionReason::UnknownRole,
        _ => OmissionReason::Empty,
    }
}

/// Returns the reason why the context omits an entry after the first kept one; `None` for kinds without messages.
fn left_out(kind: EntryKind, at: EntryIndex, context: &ModelContext) -> Option<OmissionReason> {
    if let Some(&edit) = context.edits.get(&at).filter(|_| !kind.is_bookkeeping()) {
        return Some(OmissionReason::Omitted(edit)); // an edit with other contents would keep it in the context
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
