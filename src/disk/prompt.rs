//! Reads the messages of the model context of an entry, one line at a time.

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
            PromptOutcome::Sent | PromptOutcome::Counted(_) => read(&mut reader, tree, plan, part)?,
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

fn read(reader: &mut EntryReader, tree: &Tree, plan: &Plan, part: &PlannedPart) -> Result<Vec<SentMessage>> {
    let mut known = |at: EntryIndex| reader.known(&tree.nodes[at as usize]);
    let node = &tree.nodes[part.at as usize];
    let bytes = known(part.at)?;
    let edit = part.words.map(known).transpose()?;
    let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
    let entry = line.read().ok().flatten().unwrap_or_default();
    let mut messages = SentMessage::of(&entry, (&bytes, node.len), edit.as_deref(), &node.text);
    let unseen_by = entry.message.as_ref().and_then(|message| message.unseen_by);
    if unseen_by.zip(plan.context.model.as_ref()).is_some_and(|(model, (_, current))| model.is(current)) {
        messages.iter_mut().for_each(SentMessage::replace_images);
    }
    Ok(messages)
}
