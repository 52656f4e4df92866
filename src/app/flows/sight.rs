//! What the model sees: from an entry, or from the question where to resume; and what is done from there.

use crate::app::command::Command;
use crate::app::context::Context;
use crate::app::flows::{name, resume};
use crate::app::layers::context::{ContextView, Sight};
use crate::base::text::clean;
use crate::changes::Request;
use crate::keymap::Action;
use crate::session::entry::EntryId;

/// Shows what the model sees at the entry that is meant.
pub fn open(context: &Context<'_>) -> Command {
    match context.whole_entry() {
        Err(why) => Command::warn(why),
        Ok((session, tree, at)) => {
            let path = context.library[session].path.clone();
            Command::See(Sight { session, path, tree, chosen: at, at: Some(at) })
        }
    }
}

/// The list of it, before it is read.
pub fn view(context: &Context<'_>, place: Sight) -> ContextView {
    let session = context.library.get(place.session).map(|_| context.short_title(place.session)).unwrap_or_default();
    let at = match place.at {
        Some(at) => context.short(place.tree.nodes[at as usize].words()),
        None => "before the first entry".into(),
    };
    ContextView::new(place, clean(&format!("{session} {} {at}", context.setting.glyphs.dot)).into_owned())
}

/// What is done from there: going to the selected entry, resuming where it was looked at, or forking there.
pub fn act(context: &Context<'_>, view: &ContextView, action: Action) -> Command {
    let Sight { session, path, tree, chosen, at } = &view.place;
    if !context.library.has(*session) {
        return Command::warn("this session is gone");
    }
    match action {
        Action::Confirm => view.selected().map_or_else(Command::nothing, Command::GoTo),
        Action::ResumeHere => resume::at_entry(context, *session, tree, *chosen),
        Action::Fork => {
            let at = at.map(|at| EntryId::of(tree, at));
            name::fork_of(Request::Fork { path: path.clone(), at, migrate: false })
        }
        _ => Command::nothing(),
    }
}
