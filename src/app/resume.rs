//! Going on in pi: Enter on a session, or on any entry of a tree. Where that changes something, a question says what;
//! then one step follows the other: the text that goes back to the user is read, the change made, the text copied, and
//! pi started.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::message::{After, Effect, TextFor};
use crate::app::model::{Message, Model};
use crate::app::question::{Choice, Question, Then};
use crate::app::rows::Item;
use crate::app::update::{go_to_fork, say};
use crate::app::{change, picker, search};
use crate::base::numbers::count;
use crate::base::text::{Span, Tone};
use crate::changes::{Request, Target};
use crate::keymap::Place;
use crate::session::tree::context::context;
use crate::session::tree::resume;
use crate::session::tree::resume::Resume;
use crate::session::tree::{Index, Tree};

/// What is still to be done until pi goes on.
#[derive(Clone, Debug)]
pub struct GoOn {
    /// The session file.
    pub path: PathBuf,
    /// Its working directory; empty if it names none.
    pub cwd: String,
    /// The entry whose text goes back to the user.
    pub text_of: Option<(Arc<Tree>, Index)>,
    /// That text, when it is read.
    pub text: Option<String>,
    /// The change that puts the session there.
    pub request: Option<Request>,
}

impl GoOn {
    /// Going on at the leaf.
    pub fn new(path: PathBuf, cwd: String) -> Self {
        Self { path, cwd, text_of: None, text: None, request: None }
    }
}

/// Enter, in any pane.
pub(super) fn confirm(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.focus == Place::Sessions && model.sessions.selected_project().is_some() {
        return model.sessions.toggle(model.setting.glyphs);
    }
    if model.focus != Place::Sessions && matches!(model.tree.selected_item(), Some(Item::Fork(_))) {
        return go_to_fork(model);
    }
    if model.focus == Place::Sessions && !picker::wants_session(model) && search::go_to_hit(model) {
        return;
    }
    if picker::confirm(model, effects) {
        return;
    }
    let Some(session) = model.meant_session() else { return };
    let leaf = GoOn::new(session.path.clone(), session.header.cwd.clone());
    if model.setting.demo {
        let text = "These are pitree's sample sessions: there is no file that pi could open.\nRun `pitree` without --demo to browse and resume your own.";
        model.message = Some(Message::new("Nothing to resume", text));
        return;
    }
    let (Some(at), Some(tree)) = (model.meant_entry(), model.tree.tree.clone()) else {
        if model.focus != Place::Tree {
            go_on(model, leaf, effects);
        }
        return;
    };
    let to = resume::at(&tree, at);
    if to.is_here && to.text_of.is_none() {
        go_on(model, leaf, effects);
    } else if tree.is_partial {
        say(model, Tone::Warning, "the session is still being read".into());
    } else {
        let question = question(model, &tree, to, &leaf);
        model.ask(question);
    }
}

/// Asks where to go on.
fn question(model: &Model, tree: &Arc<Tree>, to: Resume, leaf: &GoOn) -> Question {
    let target = || to.at.map(|at| Target::of(tree, at));
    let text_of = to.text_of.map(|at| (tree.clone(), at));
    let path = leaf.path.clone();
    let there = |request| Then::GoOn(GoOn { request, text_of: text_of.clone(), ..leaf.clone() });
    let (here, move_leaf) = if to.is_here {
        ("in this session; nothing needs to be written", None)
    } else {
        let request = Request::MoveLeaf { path: path.clone(), to: target(), migrate: false };
        ("in this session: one line is added to its file, which moves the leaf; nothing is removed", Some(request))
    };
    let new = "as a new session: a new file with the path to this entry; this session stays as it is";
    let choices = vec![
        Choice::new('h', "here", here, there(move_leaf)),
        Choice::new('n', "new session", new, there(Some(Request::Fork { path, at: target() }))),
    ];
    Question::new("Go on from here", facts(model, tree, to), choices)
}

/// What is so when pi goes on there.
fn facts(model: &Model, tree: &Tree, to: Resume) -> Vec<crate::render::DocLine> {
    use crate::render::DocLine;
    let seen = context(tree, to.at);
    let messages = match seen.messages {
        0 => "The model will see no messages: an empty conversation.".into(),
        messages => {
            let from = if seen.compaction.is_some() { ", the summary of a compaction first" } else { "" };
            format!("The model will see {}{from}.", count(messages, "message", "messages"))
        }
    };
    let mut lines = vec![DocLine::new(Tone::Text, &messages)];
    if to.text_of.is_some() {
        let text = "pi goes on before this message. Its text goes to the clipboard, to be sent again in other words.";
        lines.push(DocLine::new(Tone::Text, text));
    }
    if let Some((end, entries)) = left(tree, to.at) {
        let entries = count(entries, "entry", "entries");
        lines.push(DocLine::of(vec![
            Span::new(Tone::Text, format!("The branch of {entries} that is left stays in the tree. It ends with: ")),
            Span::new(Tone::Dim, model.short(&tree.nodes[end as usize].text)),
        ]));
    }
    lines
}

/// The branch that is left: its last entry that says something, and how many entries are on it alone.
fn left(tree: &Tree, at: Option<Index>) -> Option<(Index, usize)> {
    let common =
        at.and_then(|at| std::iter::successors(Some(at), |&at| tree.parent(at)).find(|&at| tree.is_active(at)));
    let branch = || std::iter::successors(tree.leaf, |&at| tree.parent(at)).take_while(move |&at| Some(at) != common);
    let says = |at: &Index| !tree.nodes[*at as usize].kind.is_bookkeeping();
    Some((branch().find(says)?, branch().count()))
}

/// Does the next step of what is still to be done.
pub(super) fn go_on(model: &mut Model, mut go_on: GoOn, effects: &mut Vec<Effect>) {
    if let Some((tree, at)) = go_on.text_of.take() {
        let path = go_on.path.clone();
        effects.push(Effect::Text { path, tree, at, then: TextFor::GoOn(go_on) });
    } else if let Some(request) = go_on.request.take() {
        change::want(model, request, After::GoOn(go_on), effects);
    } else if let Some(text) = go_on.text.take() {
        let what = crate::app::copy::Copy::Text(text);
        effects.push(Effect::Copy { what, then: Some(go_on) });
    } else {
        effects.push(picker::leave(model, go_on));
    }
}
