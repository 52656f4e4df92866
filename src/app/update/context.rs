//! The model context of an entry, and actions from there.

use std::sync::Arc;

use crate::app::command::Command;
use crate::app::flows::{Flow, fork, resume};
use crate::app::layers::Layer;
use crate::app::layers::context::{ContextTarget, ContextView};
use crate::app::model::Model;
use crate::base::numbers::thousands;
use crate::base::text::clean;
use crate::changes::Request;
use crate::keymap::{Action, Place};
use crate::session::entry::EntryId;
use crate::session::prompt::listing::{Listing, TokenParts};
use crate::session::tree::Tree;

/// Shows the model context of the selected entry.
///
/// # Errors
/// No entry of a loaded session is selected.
pub(super) fn open(model: &Model) -> Flow {
    let (session, tree, at) = model.whole_entry()?;
    let path = model.catalog[session].path.clone();
    Ok(Command::ShowContext(ContextTarget { session, path, tree, chosen: at, at: Some(at) }))
}

/// Creates the view before the context is read.
pub(super) fn view(model: &Model, target: ContextTarget) -> ContextView {
    let session = model.catalog.get(target.session).map(|_| model.short_title(target.session)).unwrap_or_default();
    let at = match target.at {
        Some(at) => model.short(target.tree.nodes[at as usize].words()),
        None => "before the first entry".into(),
    };
    ContextView::new(target, clean(&format!("{session} {} {at}", model.setting.glyphs.dot)).into_owned())
}

/// Explains the sum of a context in two lines: how pi counts it, and the estimates of its parts.
fn explain(model: &Model, tree: &Tree, listing: &Listing) -> [String; 2] {
    let number = |tokens: u64| thousands(tokens as usize);
    let TokenParts { prompt, tools, messages, counted } = listing.parts;
    let counted = counted.map(|(at, used, since)| {
        let time = tree.nodes.get(at as usize).and_then(|node| model.setting.zoned(node.time?));
        let when = time.map_or(String::new(), |time| time.strftime(" on %Y-%m-%d %H:%M").to_string());
        match since {
            0 => format!(", counted by the provider{when}"),
            _ => format!(": {} counted by the provider{when} + {} estimated since", number(used as u64), number(since)),
        }
    });
    let system = if prompt + tools == 0 {
        "system prompt and tools: not in the file".into()
    } else {
        format!("system prompt {} + tools {}", number(prompt), number(tools))
    };
    let all = number(prompt + tools + messages);
    let sum = counted.unwrap_or_else(|| ", estimated: no provider count since the last compaction or edit".into());
    let total = listing.total();
    [format!("{total}{sum}"), format!("estimate {all} = messages {} + {system}", number(messages))]
}

/// Returns the command for an action: go to the selected entry, resume or fork.
fn command(model: &Model, view: &ContextView, action: Action) -> Command {
    let ContextTarget { session, path, tree, chosen, at } = &view.target;
    if !model.catalog.has(*session) {
        return Command::warn("this session no longer exists");
    }
    match action {
        Action::Confirm => view.selected().map_or_else(Command::nothing, Command::GoTo),
        Action::ResumeHere => resume::at_entry(model, *session, tree, *chosen),
        Action::Fork => {
            let at = at.map(|at| EntryId::of(tree, at));
            fork::fork_of(Request::Fork { path: path.clone(), at, migrate: false })
        }
        _ => Command::nothing(),
    }
}

/// Does an action of the model context. Going elsewhere also closes the dialog below.
pub(super) fn act(model: &mut Model, action: Action) {
    let Some(Layer::Context(view)) = model.layers.0.pop() else { return };
    let asks = model.layers.place() == Some(Place::Question);
    if asks && action == Action::ResumeHere {
        return; // that is what is asked
    }
    if asks {
        model.layers.0.pop();
    }
    model.execute(command(model, &view, action));
}

/// Passes a model context to its view.
pub(super) fn take(model: &mut Model, listing: Result<Arc<Listing>, String>) {
    model.with_layer(|model, view: &mut ContextView| {
        let explain = |listing: &Arc<Listing>| explain(model, &view.target.tree, listing);
        let sum = listing.as_ref().map(explain).unwrap_or_default();
        view.take(listing, sum);
        view.claim = None;
    });
}

pub(super) fn fail(model: &mut Model, _ticket: u64, error: &str) {
    take(model, Err(error.into()));
}
