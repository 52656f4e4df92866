//! Titles of sessions in lists, pane titles and questions. They show no likely secrets.

use crate::app::settings::Settings;
use crate::base::javascript::utf16_prefix;
use crate::base::text::clean;
use crate::render::markdown;
use crate::session::digest::Digest;

/// Longest text that is processed, in UTF-16 units: a first message may contain a whole file.
const LONGEST: usize = 300;

/// Returns the start of a session's title, cleaned: its name unchanged, or a message without Markdown symbols.
pub fn title(session: &Digest, settings: &Settings) -> String {
    match session.name {
        Some(_) => settings.cell(&plain_title(session)),
        None => title_of_message(session.title(), settings),
    }
}

/// Returns the first words of a named session, cleaned and without Markdown. For a fork these are its own words,
/// because it inherits name and messages from its parent.
pub(crate) fn words_after_name(session: &Digest, settings: &Settings) -> Option<String> {
    session.name.as_ref()?;
    let own = session.own_message.as_deref();
    let message = if session.header.is_fork() { own } else { session.typed_message() };
    message.map(|message| title_of_message(message.trim(), settings)).filter(|words| !words.is_empty())
}

/// Returns the start of a message as a title, cleaned and without Markdown symbols.
pub(crate) fn title_of_message(text: &str, settings: &Settings) -> String {
    settings.cell(&markdown::strip(&start(text)))
}

/// Returns the start of a session's title, cleaned, in the form that is searched, with its secrets.
pub fn plain_title(session: &Digest) -> String {
    start(session.title())
}

fn start(text: &str) -> String {
    clean(utf16_prefix(text, LONGEST)).into_owned()
}
