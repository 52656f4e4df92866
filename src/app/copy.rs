//! What can be copied, and the menu for it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::message::{Effect, TextFor};
use crate::app::model::{Message, Model};
use crate::app::question::{Choice, Question, Then};
use crate::app::resume;
use crate::app::resume::GoOn;
use crate::app::update::say;
use crate::base::text::Tone;
use crate::session::tree::{Index, Tree};

/// As much of a copied text as the footer shows, in characters.
const SHOWN: usize = 40;
/// As much of a text as a box shows for copying by hand, in characters: more would make each frame slow.
const BY_HAND: usize = 50_000;

/// What is copied.
#[derive(Clone, Debug)]
pub enum Copy {
    /// A text.
    Text(String),
    /// The whole text of an entry, which is still to be read.
    Entry {
        /// The file.
        path: PathBuf,
        /// Its tree.
        tree: Arc<Tree>,
        /// The entry.
        at: Index,
    },
    /// The command that resumes a session.
    Command {
        /// The file.
        path: PathBuf,
        /// The working directory; empty if the file names none.
        cwd: String,
    },
}

/// Asks what to copy.
pub(super) fn ask(model: &mut Model) {
    let Some(session) = model.meant_session() else {
        return say(model, Tone::Warning, "a project has nothing to copy: choose a session".into());
    };
    let mut choices = Vec::new();
    if let (Some(at), Some(tree)) = (model.meant_entry(), &model.tree.tree) {
        let node = &tree.nodes[at as usize];
        let what = Copy::Entry { path: session.path.clone(), tree: tree.clone(), at };
        let start = model.short(&node.text);
        choices.push(Choice::new('t', "entry text", start, Then::Copy(what)));
        if let Some(id) = &node.id {
            choices.push(Choice::new('i', "entry id", &**id, Then::Copy(Copy::Text(id.to_string()))));
        }
    }
    let path = session.path.to_string_lossy().into_owned();
    choices.push(Choice::new('p', "session path", path.clone(), Then::Copy(Copy::Text(path))));
    let id = session.header.id.clone();
    choices.push(Choice::new('s', "session id", id.clone(), Then::Copy(Copy::Text(id))));
    let command = Copy::Command { path: session.path.clone(), cwd: session.header.cwd.clone() };
    choices.push(Choice::new('c', "command", "that resumes the session in pi, for a shell", Then::Copy(command)));
    model.ask(Question::new("Copy", Vec::new(), choices));
}

/// Copies, once the text is there.
pub(super) fn copy(what: Copy, effects: &mut Vec<Effect>) {
    effects.push(match what {
        Copy::Entry { path, tree, at } => Effect::Text { path, tree, at, then: TextFor::Copy },
        what => Effect::Copy { what, then: None },
    });
}

/// Takes the text of an entry.
pub(super) fn take_text(model: &mut Model, text: Result<String, String>, then: TextFor, effects: &mut Vec<Effect>) {
    match (text, then) {
        (Err(error), _) => model.complain("Not read", error),
        (Ok(text), TextFor::GoOn(go_on)) => {
            let text = Some(text).filter(|text| !text.is_empty());
            resume::go_on(model, GoOn { text, ..go_on }, effects);
        }
        (Ok(text), TextFor::Copy) if text.is_empty() => say(model, Tone::Warning, "this entry has no text".into()),
        (Ok(text), TextFor::Copy) => effects.push(Effect::Copy { what: Copy::Text(text), then: None }),
    }
}

/// Takes how copying went: what can't be put on the clipboard is shown for copying by hand.
pub(super) fn take_copied(
    model: &mut Model,
    text: &str,
    (done, then): (bool, Option<GoOn>),
    effects: &mut Vec<Effect>,
) {
    let start = |most: usize| text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]);
    let shown = start(BY_HAND);
    match (done, then) {
        (true, Some(go_on)) => resume::go_on(model, go_on, effects),
        (true, None) => {
            let start = start(SHOWN);
            let more = if start.len() < text.len() { model.setting.glyphs.ellipsis } else { "" };
            say(model, Tone::Active, format!("copied: {start}{more}"));
        }
        (false, Some(go_on)) => {
            let go = Choice::new('g', "go on", "in pi; copy the text above first", Then::GoOn(go_on));
            model.ask(Question::about("The clipboard is out of reach", shown, vec![go]));
        }
        (false, None) => model.message = Some(Message::new("The clipboard is out of reach", shown)),
    }
}
