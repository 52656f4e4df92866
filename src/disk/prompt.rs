//! Reads what the model gets at an entry: the lines of the entries in the order of their messages, one at a time.

use std::path::Path;

use anyhow::Result;

use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::session::lines::Line;
use crate::session::prompt::message::Message;
use crate::session::prompt::plan::{Fate, Part, Plan};
use crate::session::prompt::sum::Sum;
use crate::session::tree::{Index, Tree};

/// Passes on each part of a plan with its messages, until `take` returns false: then there is no sum. What is not in pi's
/// context is not read, and has none.
///
/// # Errors
/// The file can't be read, or changed since its tree was built; or `take` failed.
pub fn each(
    (files, path): (Files, &Path),
    (tree, plan): (&Tree, &Plan),
    mut take: impl FnMut(&Part, Vec<Message>) -> Result<bool>,
) -> Result<Option<Sum>> {
    let mut bodies = Bodies::open(files, path)?;
    let mut sum = Sum::default();
    for part in &plan.parts {
        let messages = match part.fate {
            Fate::Sent | Fate::Counted(_) => read(&mut bodies, tree, part)?,
            Fate::NoResult => vec![Message::no_result()],
            Fate::LeftOut(_) => Vec::new(),
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

fn read(bodies: &mut Bodies, tree: &Tree, part: &Part) -> Result<Vec<Message>> {
    let mut known = |at: Index| bodies.known(&tree.nodes[at as usize]);
    let node = &tree.nodes[part.at as usize];
    let bytes = known(part.at)?;
    let edit = part.words.map(known).transpose()?;
    let line = Line { len: node.len, ..Line::new(node.offset, &bytes, true) };
    let entry = line.read().ok().flatten().unwrap_or_default();
    Ok(Message::of(&entry, (&bytes, node.len), edit.as_deref(), &node.text))
}
