//! The box of the first start, with the most important keys.

use crate::app::layers::dialogs::MessageBox;
use crate::app::model::Model;
use crate::base::text::width;
use crate::keymap::Action;

/// The most important actions and what they do.
const ACTIONS: [(Action, &str); 6] = [
    (Action::Unfold, "go into a project, a session, its tree"),
    (Action::Confirm, "resume in pi at the selected entry"),
    (Action::Search, "search all sessions"),
    (Action::Undo, "undo the last change"),
    (Action::Palette, "list all commands"),
    (Action::Help, "show the keys and the query syntax"),
];

/// Returns the box.
pub(crate) fn note(model: &Model) -> MessageBox {
    let keys = ACTIONS.map(|(action, _)| model.settings.key(action));
    let columns = keys.iter().map(|key| width(key)).max().unwrap_or(0);
    let mut text = String::new();
    for (key, (_, about)) in keys.iter().zip(ACTIONS) {
        text += &format!("{key}{}  {about}\n", " ".repeat(columns - width(key)));
    }
    let palette = model.settings.key(Action::Palette);
    text += &format!("\npitree setup checks the installation. {palette} welcome shows this box again.");
    MessageBox::new("Welcome to pitree", text)
}
