//! Names of sessions and labels of entries: asking for them in a line; and forks, which need no asking.

use crate::app::command::{After, Command, GoOn};
use crate::app::context::Context;
use crate::app::flows::{NO_SESSION, delete};
use crate::app::layers::Layer;
use crate::app::layers::answer::Purpose;
use crate::app::layers::prompt::Prompt;
use crate::base::text::Tone;
use crate::changes::Request;
use crate::keymap::Place;
use crate::library::SessionKey;
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};

/// Asks for the name of the session that is meant.
pub fn rename(context: &Context<'_>) -> Command {
    let Some((key, session)) = context.meant_session() else {
        let is_project = context.sessions.selected_project().is_some();
        return Command::warn(if is_project { "a project can't be renamed: select a session" } else { NO_SESSION });
    };
    let name = session.name.as_deref().unwrap_or_default();
    Command::show(Layer::Prompt(Prompt::new(Purpose::Name(key), "name: ", name)))
}

/// Asks for the label of the entry that is meant.
pub fn label(context: &Context<'_>) -> Command {
    match context.whole_entry() {
        Err(why) => Command::warn(why),
        Ok((session, tree, at)) => label_at(session, &tree, at),
    }
}

/// Asks for the label of an entry.
pub(crate) fn label_at(session: SessionKey, tree: &Tree, at: Index) -> Command {
    let label = tree.labels.get(&at).map_or("", |label| &label.text);
    let purpose = Purpose::Label(session, EntryId::of(tree, at));
    Command::show(Layer::Prompt(Prompt::new(purpose, "label: ", label)))
}

/// Forks the session at the entry that is meant.
pub fn fork(context: &Context<'_>) -> Command {
    match context.whole_entry() {
        Err(why) => Command::warn(why),
        Ok((session, tree, at)) => {
            let path = context.library[session].path.clone();
            fork_of(Request::Fork { path, at: Some(EntryId::of(&tree, at)), migrate: false })
        }
    }
}

/// Makes a fork, and goes there.
pub(crate) fn fork_of(request: Request) -> Command {
    Command::All(vec![Command::Focus(Place::Tree), Command::Change(request, After::Show)])
}

/// What a line that was typed leads to.
pub fn accept(context: &Context<'_>, purpose: Purpose, text: String) -> Command {
    let path = |key| context.library[key].path.clone();
    let change = |request| Command::Change(request, After::Rest);
    match purpose {
        Purpose::Name(session) => change(Request::Rename { path: path(session), name: text }),
        Purpose::Label(session, target) => {
            change(Request::Label { path: path(session), target, label: text, migrate: false })
        }
        Purpose::Word(files) if text.trim() == delete::WORD => change(Request::Delete { files }),
        Purpose::Word(_) => Command::Say(Tone::Dim, "nothing was deleted".into()),
        Purpose::Directory { path, gone, first } => {
            Command::Elsewhere { then: GoOn { first, ..GoOn::at(path, gone) }, dir: text }
        }
    }
}
