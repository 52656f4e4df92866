//! Reads the messages of the model context of an entry, one line at a time.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;

use crate::disk::load::EntryReader;
use crate::session::lines::Line;
use crate::session::prompt::listing::ContextSum;
use crate::session::prompt::message::SentMessage;
use crate::session::prompt::plan::{Plan, PlannedPart, PromptOutcome};
use crate::session::tree::{EntryIndex, Tree};

/// Passes each part of a plan with its messages to `take` until it returns `false`, in which case there is no sum.
/// Omitted parts are not read and have no messages.
///
/// # Errors
/// The file cannot be read or has changed since its tree was built, or `take` failed.
pub fn each(
    path: &Path,
    (tree, plan): (&Tree, &Plan),
    mut take: impl FnMut(&PlannedPart, Vec<SentMessage>) -> Result<bool>,
) -> Result<Option<ContextSum>> {
    let mut reader = EntryReader::open(path)?;
    let mut sum = ContextSum::default();
    for part in &plan.parts {
        let messages = match part.outcome {
            PromptOutcome::Sent | PromptOutcome::Counted(_) => {
                let edit = part.words.map(|edit| reader.known(&tree.nodes[edit as usize])).transpose()?;
                messages(&mut reader, (tree, plan), part.at, edit.as_deref())?
            }
            PromptOutcome::NoResult => vec![SentMessage::no_result()],
            PromptOutcome::LeftOut(_) => Vec::new(),
        };
        if part.is_in_context() {
            messages.iter().for_each(|message| sum.add(part.at, message));
        }
        if !take(part, messages)? {
            return Ok(None);
        }
    }
    Ok(Some(sum))
}

/// Sums a plan, and the same with other contents of some messages: the line of a context edit, or `None` to omit one.
/// Returns both sums, and the tokens from the first of these messages on.
///
/// # Errors
/// The file cannot be read or has changed since its tree was built.
pub(crate) fn sums(
    path: &Path,
    (tree, plan): (&Tree, &Plan),
    edits: &HashMap<EntryIndex, Option<Vec<u8>>>,
) -> Result<(ContextSum, ContextSum, u64)> {
    let mut reader = EntryReader::open(path)?;
    let (mut after, mut is_edited, mut since) = (ContextSum::default(), false, 0);
    let before = each(path, (tree, plan), |part, mut sent| {
        let is_there = match edits.get(&part.at).filter(|_| part.outcome != PromptOutcome::NoResult) {
            Some(Some(edit)) => {
                sent = messages(&mut reader, (tree, plan), part.at, Some(edit))?;
                true
            }
            Some(None) => false,
            None => part.is_in_context(),
        };
        is_edited |= edits.contains_key(&part.at);
        for message in sent.iter().filter(|_| is_there) {
            after.add(part.at, message);
            since += if is_edited { message.tokens } else { 0 };
        }
        Ok(true)
    })?;
    Ok((before.unwrap_or_default(), after, since))
}

/// Returns the messages of an entry; `edit` is the line of the context edit that replaces its contents.
///
/// # Errors
/// The file cannot be read or has changed since its tree was built.
pub(crate) fn messages(
    reader: &mut EntryReader,
    (tree, plan): (&Tree, &Plan),
    at: EntryIndex,
    edit: Option<&[u8]>,
) -> Result<Vec<SentMessage>> {
    let node = &tree.nodes[at as usize];
    let bytes = reader.known(node)?;
    let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
    let entry = line.read().ok().flatten().unwrap_or_default();
    let mut messages = SentMessage::of(&entry, (&bytes, node.len), edit, &node.text);
    let unseen_by = entry.message.as_ref().and_then(|message| message.unseen_by);
    if unseen_by.zip(plan.context.model.as_ref()).is_some_and(|(model, (_, current))| model.is(current)) {
        messages.iter_mut().for_each(SentMessage::replace_images);
    }
    Ok(messages)
}
