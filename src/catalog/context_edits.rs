//! Plans edits of the model context: which messages pi omits or sends with another content. What belongs together is
//! edited together: no call is left without its result, and no result without its call.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::base::named::named;
use crate::disk::load::EntryReader;
use crate::disk::prompt;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::prompt::plan::{OmissionReason, Plan, PromptOutcome};
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::{
    NewEdit, calls, has_signed_thinking, original, replaced, replacement, shortened, with_text, without_calls,
};

named! {
    /// A kind of edit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EditKind {
        /// pi does not send the message.
        Omit = "omit",
        /// pi sends the beginning and the end of its text.
        Shorten = "shorten",
        /// pi sends another content.
        Replace = "replace",
        /// pi sends the original content again.
        Restore = "restore",
    }
}

/// A wish for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditWish {
    /// Omit it.
    Omit,
    /// Keep so many lines of its start and of its end.
    Shorten(usize),
    /// Replace its text.
    Text(String),
    /// Replace its content: raw JSON.
    Content(Vec<u8>),
    /// Restore its original content.
    Restore,
}

/// A message to edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedEdit {
    /// The entry.
    pub at: EntryIndex,
    /// The wish.
    pub wish: EditWish,
}

/// A context edit to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEdit {
    /// The entry.
    pub at: EntryIndex,
    /// The kind.
    pub kind: EditKind,
    /// `replacement` of the edit: raw JSON.
    pub replacement: String,
    /// The estimated tokens of the message before and after the edit.
    pub tokens: [u64; 2],
}

/// The edits to write, and their effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditPlan {
    /// The edits in the order of the context.
    pub edits: Vec<PlannedEdit>,
    /// The tokens of the context before and after, as counted by pi: after an edit, all are estimated.
    pub tokens: [f64; 2],
    /// The estimated tokens after the first edit, which are no longer in the cache.
    pub uncached: u64,
}

impl EditPlan {
    /// Returns the estimated tokens that the edits save; 0 if they restore more.
    pub fn saved(&self) -> u64 {
        let sum = |side: usize| self.edits.iter().map(|edit| edit.tokens[side]).sum::<u64>();
        sum(0).saturating_sub(sum(1))
    }

    /// Returns the edits for a request.
    pub fn new_edits(&self, tree: &Tree) -> Vec<NewEdit> {
        let new = |edit: &PlannedEdit| {
            let target = tree.id(edit.at).unwrap_or_default().to_owned();
            NewEdit { target, replacement: edit.replacement.clone() }
        };
        self.edits.iter().map(new).collect()
    }

    /// Returns the US dollars that the edits add to the next request, and those that they save with each later one. In the
    /// next request, nothing from the first edit on is cached. The rates are US dollars per million tokens: sent, received,
    /// read from the cache, written to it.
    pub fn dollars(&self, [input, _, read, write]: &[f64; 4]) -> [f64; 2] {
        let later = self.saved() as f64 * read / 1e6;
        // A provider without prices for cache writes sends all as input.
        let sent = if *write > 0.0 { write } else { input };
        [self.uncached as f64 * (sent - read) / 1e6 - later, later]
    }
}

/// The content of a message while edits are planned.
struct EditedMessage {
    original: Vec<u8>,
    /// The content that pi sends now; `None` if it is omitted.
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    kind: EditKind,
}

/// Returns the place of the first message of the last `turns` turns among the sent ones; 0 if there are fewer.
pub fn first_of_turns(tree: &Tree, sent: &[EntryIndex], turns: usize) -> usize {
    let prompts: Vec<usize> = (0..sent.len()).filter(|&place| tree.is_prompt(sent[place])).collect();
    prompts.len().checked_sub(turns).map_or(0, |turn| prompts[turn])
}

/// Returns `true` for kinds of messages that pi's `appendContextEdit` accepts (1.6.0).
pub fn is_editable(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::User | EntryKind::Assistant | EntryKind::ToolResult | EntryKind::CustomMessage)
}

/// Plans edits of the context of an entry.
pub(crate) struct ContextEditor<'a> {
    tree: &'a Tree,
    plan: &'a Plan,
    reader: EntryReader,
    /// The reason why messages of the plan are not sent.
    known: HashMap<EntryIndex, Option<OmissionReason>>,
    /// The answer that made the call of each result.
    callers: HashMap<EntryIndex, EntryIndex>,
    /// The last answer.
    last_answer: Option<EntryIndex>,
    messages: BTreeMap<EntryIndex, EditedMessage>,
}

/// Plans the wanted edits of the context after an entry, one after the other.
///
/// # Errors
/// A message cannot be edited, or the session cannot be read.
pub fn plan_edits(path: &Path, tree: &Tree, at: EntryIndex, wanted: &[WantedEdit]) -> Result<EditPlan> {
    let plan = Plan::new(tree, Some(at));
    let mut editor = ContextEditor::new(path, tree, &plan)?;
    wanted.iter().try_for_each(|edit| editor.apply(edit.at, &edit.wish))?;
    editor.finish(path)
}

impl<'a> ContextEditor<'a> {
    pub(crate) fn new(path: &Path, tree: &'a Tree, plan: &'a Plan) -> Result<Self> {
        let known = plan.parts.iter().filter(|part| part.outcome != PromptOutcome::NoResult);
        let known: HashMap<_, _> = known.map(|part| (part.at, part.why())).collect();
        let is_there = |at: &EntryIndex| !matches!(known.get(at), None | Some(Some(OmissionReason::Compacted(_))));
        let there: Vec<EntryIndex> = plan.parts.iter().map(|part| part.at).filter(is_there).collect();
        let last_answer = there.iter().copied().rfind(|&at| tree.node(at).kind == EntryKind::Assistant);
        let callers = tree.callers(there.into_iter());
        let reader = EntryReader::open(path)?;
        Ok(Self { tree, plan, reader, known, callers, last_answer, messages: BTreeMap::new() })
    }

    /// Returns the name of an entry for an error.
    fn name(&self, at: EntryIndex) -> String {
        self.tree.id(at).unwrap_or("an entry without an ID").to_owned()
    }

    /// Returns an error if pi does not obey an edit of the entry, or if it must not be made.
    fn check(&self, at: EntryIndex) -> Result<()> {
        let name = self.name(at);
        match (self.tree.node(at).kind, self.known.get(&at)) {
            _ if self.tree.id(at).is_none() => bail!("cannot edit {name}; open the session in pi once to convert it"),
            (EntryKind::SystemRole, _) => bail!("cannot edit {name}: it is the system prompt"),
            (EntryKind::Compaction | EntryKind::BranchSummary | EntryKind::SummaryRole, _) => {
                bail!("cannot edit {name}: it is a summary")
            }
            (EntryKind::Bash, _) => bail!("cannot edit {name}: it is a command run with `!`"),
            (kind, _) if !is_editable(kind) => bail!("cannot edit {name}: it is not a message"),
            (_, None) => bail!("cannot edit {name}: it is not on the branch"),
            (_, Some(Some(OmissionReason::Compacted(_)))) => {
                bail!("cannot edit {name}: a compaction has replaced it already")
            }
            _ => Ok(()),
        }
    }

    /// Returns the content of a message, read once.
    fn message(&mut self, at: EntryIndex) -> Result<&mut EditedMessage> {
        if !self.messages.contains_key(&at) {
            let node = self.tree.node(at);
            let original = original(&self.reader.line(node)?, node.kind);
            let before = match self.plan.context.edits.get(&at) {
                None => Some(original.clone()),
                Some(&edit) => {
                    let line = self.reader.line(self.tree.node(edit))?;
                    parse::entry(&line).replacement.and_then(|raw| replaced(raw, node.kind))
                }
            };
            let after = before.clone();
            self.messages.insert(at, EditedMessage { original, before, after, kind: EditKind::Restore });
        }
        self.messages.get_mut(&at).context("the edited entry is gone")
    }

    /// Returns the content that pi sends, or would send.
    pub(crate) fn content(&mut self, at: EntryIndex) -> Result<Vec<u8>> {
        Ok(self.message(at)?.after.clone().unwrap_or_default())
    }

    /// Sets the content of a message.
    fn set(&mut self, at: EntryIndex, after: Option<Vec<u8>>, kind: EditKind) -> Result<()> {
        self.check(at)?;
        let name = self.name(at);
        let is_last = self.last_answer == Some(at);
        let message = self.message(at)?;
        if is_last && message.before.as_deref().is_some_and(has_signed_thinking) && message.before != after {
            bail!("cannot edit {name}: it is the last answer, and its thinking is signed");
        }
        (message.after, message.kind) = (after, kind);
        Ok(())
    }

    /// Applies an edit, and what belongs to it.
    fn apply(&mut self, at: EntryIndex, wish: &EditWish) -> Result<()> {
        self.check(at)?;
        let (after, kind) = match wish {
            EditWish::Omit => return self.omit(at),
            EditWish::Restore => return self.restore(at),
            EditWish::Shorten(lines) => match shortened(&self.restored(at)?, *lines) {
                Some(short) => (short, EditKind::Shorten),
                None => return Ok(()),
            },
            EditWish::Text(text) => (with_text(&self.restored(at)?, text), EditKind::Replace),
            EditWish::Content(content) => {
                self.restored(at)?;
                (content.clone(), EditKind::Replace)
            }
        };
        self.set(at, Some(after), kind)
    }

    /// Returns the content of a message; restores an omitted one.
    fn restored(&mut self, at: EntryIndex) -> Result<Vec<u8>> {
        if self.message(at)?.after.is_none() {
            self.restore(at)?;
        }
        self.content(at)
    }

    /// Omits a message: with a call its results, and with a result its call.
    fn omit(&mut self, at: EntryIndex) -> Result<()> {
        self.set(at, None, EditKind::Omit)?;
        match self.tree.node(at).kind {
            EntryKind::Assistant => {
                self.results(at).into_iter().try_for_each(|result| self.set(result, None, EditKind::Omit))
            }
            EntryKind::ToolResult => match self.callers.get(&at).copied() {
                Some(caller) => self.omit_call(caller, at),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Omits the call of a result from an answer, or the answer if nothing else is left of it.
    fn omit_call(&mut self, caller: EntryIndex, result: EntryIndex) -> Result<()> {
        let id = self.tree.answers.get(&result).copied();
        let Some(content) = self.message(caller)?.after.clone() else { return Ok(()) };
        if !calls(&content).into_iter().any(|call| Some(call) == id) {
            return Ok(());
        }
        let left = without_calls(&content, |call| Some(call) == id);
        let kind = if left.is_some() { EditKind::Replace } else { EditKind::Omit };
        let name = self.name(result);
        self.set(caller, left, kind).with_context(|| format!("cannot omit {name} without its call"))
    }

    /// Restores a message. Omitted results come back with their call, and an omitted call with all results of its answer.
    fn restore(&mut self, at: EntryIndex) -> Result<()> {
        let original = self.message(at)?.original.clone();
        self.set(at, Some(original), EditKind::Restore)?;
        let caller = match self.tree.node(at).kind {
            EntryKind::ToolResult => self.callers.get(&at).copied(),
            EntryKind::Assistant => Some(at),
            _ => None,
        };
        let Some(caller) = caller else { return Ok(()) };
        let called = self.message(caller)?.after.as_deref().map(calls).unwrap_or_default();
        if self.tree.answers.get(&at).is_none_or(|id| !called.contains(id)) {
            let original = self.message(caller)?.original.clone();
            self.set(caller, Some(original), EditKind::Restore)?;
            for result in self.results(caller) {
                if self.message(result)?.after.is_none() {
                    let original = self.message(result)?.original.clone();
                    self.set(result, Some(original), EditKind::Restore)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the results of the calls of an answer.
    fn results(&self, caller: EntryIndex) -> BTreeSet<EntryIndex> {
        self.callers.iter().filter(|(_, of)| **of == caller).map(|(result, _)| *result).collect()
    }

    /// Returns the edits of messages that changed.
    fn finish(mut self, path: &Path) -> Result<EditPlan> {
        let mut messages = std::mem::take(&mut self.messages);
        messages.retain(|_, message| message.before != message.after);
        let (mut edits, mut after) = (Vec::new(), HashMap::new());
        for part in &self.plan.parts {
            let at = part.at;
            let Some(message) = messages.remove(&at) else { continue };
            let tokens = [self.tokens(at, message.before.as_deref())?, self.tokens(at, message.after.as_deref())?];
            edits.push(PlannedEdit {
                at,
                kind: message.kind,
                replacement: replacement(message.after.as_deref()),
                tokens,
            });
            after.insert(at, message.after.map(|content| edit_line(&content)));
        }
        let (before, after, uncached) = prompt::sums(path, (self.tree, self.plan), &after)?;
        let before = before.tokens(self.plan);
        let tokens = [before, if edits.is_empty() { before } else { after.estimated() }];
        Ok(EditPlan { edits, tokens, uncached })
    }

    /// Returns pi's estimate of the tokens of a message with a content.
    fn tokens(&mut self, at: EntryIndex, content: Option<&[u8]>) -> Result<u64> {
        let Some(content) = content else { return Ok(0) };
        let messages = prompt::messages(&mut self.reader, (self.tree, self.plan), at, Some(&edit_line(content)))?;
        Ok(messages.iter().map(|message| message.tokens).sum())
    }
}

/// Returns the line of an edit for an estimate: without IDs and time.
fn edit_line(content: &[u8]) -> Vec<u8> {
    format!("{{\"type\":\"context_edit\",\"replacement\":{}}}", replacement(Some(content))).into_bytes()
}
