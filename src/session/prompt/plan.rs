//! Which entries of a path give the model messages, in the order in which it gets them, and which don't, and why (pi 0.87.1,
//! 1.5.2). Of entries that are nothing to the model, such as names and labels, nothing is said.

use std::collections::HashSet;

use crate::session::entry::kind::Kind;
use crate::session::links::Index;
use crate::session::tree::Tree;
use crate::session::tree::context::{Context, context};
use crate::session::tree::node::Outcome;
use crate::session::tree::sent_messages::{Sent, can_be_replaced};

/// Why the model does not get what an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
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

impl Why {
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
pub enum Fate {
    /// The model gets it.
    Sent,
    /// pi answers a call in it, to which no answer is there.
    NoResult,
    /// pi has it in mind, and counts it, but does not send it.
    Counted(Why),
    /// It is left out.
    LeftOut(Why),
}

/// An entry, or what pi says because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The entry.
    pub at: Index,
    /// What becomes of it.
    pub fate: Fate,
    /// The context edit whose words it has instead of its own.
    pub words: Option<Index>,
}

impl Part {
    /// Whether its messages are in pi's context: `buildSessionContext` gives them.
    pub fn is_in_context(&self) -> bool {
        matches!(self.fate, Fate::Sent | Fate::Counted(_))
    }

    /// Why the model does not get it, if so.
    pub fn why(&self) -> Option<Why> {
        match self.fate {
            Fate::Sent | Fate::NoResult => None,
            Fate::Counted(why) | Fate::LeftOut(why) => Some(why),
        }
    }
}

/// What the model gets at an entry, before anything is read.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The parts: what was compacted away, the compaction, what it kept and what followed.
    pub parts: Vec<Part>,
    /// What pi's context is.
    pub context: Context,
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
        let changes = |at: &&Index| matches!(kind(**at), Kind::Compaction | Kind::ContextEdit);
        let fresh = path.iter().rev().take_while(|at| !changes(at)).copied().collect();
        let mut plan = Self { parts: Vec::with_capacity(path.len()), context, fresh };
        // Where the compaction stands, and what it keeps.
        let place = path.iter().rposition(|at| Some(*at) == plan.context.compaction);
        let first = plan.context.compaction.and_then(|at| tree.first_kept.get(&at));
        let before = &path[..place.unwrap_or(0)];
        let kept = before.iter().position(|at| Some(at) == first).unwrap_or(before.len());
        if let Some(compaction) = plan.context.compaction {
            let fate = Fate::LeftOut(Why::Compacted(compaction));
            let gone = before[..kept].iter().filter(|at| !kind(**at).is_bookkeeping());
            plan.parts.extend(gone.map(|&at| Part { at, fate, words: None }));
        }
        let rest = place.into_iter().map(|place| path[place]);
        let rest = rest.chain(before[kept..].iter().copied());
        plan.tell(tree, rest.chain(path[place.map_or(0, |place| place + 1)..].iter().copied()));
        plan
    }

    /// Adds what becomes of entries, in the order in which their messages stand in the context.
    fn tell(&mut self, tree: &Tree, entries: impl Iterator<Item = Index>) {
        let in_context: HashSet<Index> = self.context.entries.iter().copied().collect();
        let sent = self.context.sent.clone();
        let mut sent = sent.into_iter().peekable();
        let words = |at: Index, context: &Context| {
            let edit = context.edits.get(&at).copied().filter(|_| can_be_replaced(tree.nodes[at as usize].kind))?;
            tree.edits.get(&edit).is_some_and(|(_, words)| words.is_some()).then_some(edit)
        };
        for at in entries {
            // What pi answers itself stands before what follows.
            while let Some(Sent::NoResult(at)) = sent.next_if(|sent| matches!(sent, Sent::NoResult(_))) {
                self.parts.push(Part { at, fate: Fate::NoResult, words: None });
            }
            let is_sent = sent.next_if_eq(&Sent::Entry(at)).is_some();
            let node = &tree.nodes[at as usize];
            let fate = match (in_context.contains(&at), is_sent || node.kind == Kind::SystemRole) {
                (true, true) => Fate::Sent,
                (true, false) => Fate::Counted(unsent(node.kind, node.outcome, node.sense.is_failed())),
                (false, _) => match left_out(node.kind, at, &self.context) {
                    Some(why) => Fate::LeftOut(why),
                    None => continue,
                },
            };
            self.parts.push(Part { at, fate, words: words(at, &self.context) });
        }
        for last in sent {
            let (Sent::NoResult(at) | Sent::Entry(at)) = last;
            self.parts.push(Part { at, fate: Fate::NoResult, words: None });
        }
    }

    /// Whether what an answer used tells how large the context is behind it.
    pub(super) fn is_fresh(&self, at: Index) -> bool {
        self.fresh.contains(&at)
    }
}

/// Why something that pi has in its context is not sent.
fn unsent(kind: Kind, outcome: Outcome, failed: bool) -> Why {
    match kind {
        Kind::Assistant if failed && outcome == Outcome::Aborted => Why::Stopped,
        Kind::Assistant if failed => Why::Failed,
        Kind::Bash => Why::Excluded,
        Kind::OtherMessage => Why::UnknownRole,
        Kind::User
        | Kind::Assistant
        | Kind::ToolResult
        | Kind::SystemRole
        | Kind::CustomRole
        | Kind::SummaryRole
        | Kind::CustomMessage
        | Kind::Compaction
        | Kind::BranchSummary
        | Kind::ModelChange
        | Kind::ThinkingLevel
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::ContextEdit
        | Kind::Unknown => Why::Empty,
    }
}

/// Why an entry behind the first one that is kept is not in the context; nothing for what never is.
fn left_out(kind: Kind, at: Index, context: &Context) -> Option<Why> {
    if let Some(&edit) = context.edits.get(&at).filter(|_| !kind.is_bookkeeping()) {
        return Some(Why::Omitted(edit)); // one that gives other words would be in the context
    }
    match kind {
        Kind::SystemRole => Some(Why::SystemNotKept),
        Kind::Compaction => Some(Why::OlderCompaction),
        Kind::BranchSummary => Some(Why::Empty),
        Kind::OtherMessage => Some(Why::UnknownRole),
        Kind::Unknown => Some(Why::UnknownType),
        Kind::User
        | Kind::Assistant
        | Kind::ToolResult
        | Kind::Bash
        | Kind::CustomRole
        | Kind::SummaryRole
        | Kind::CustomMessage
        | Kind::ModelChange
        | Kind::ThinkingLevel
        | Kind::Custom
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::ContextEdit => None,
    }
}
