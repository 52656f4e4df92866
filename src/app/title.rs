//! What a session is called where people read it: in lists, titles of panes and questions.

use crate::base::javascript::utf16_prefix;
use crate::base::text::clean;
use crate::render::plain_markdown;
use crate::session::digest::Digest;

/// The longest that is looked at, in UTF-16 units: a first message may be a whole file.
const LONGEST: usize = 300;

/// The start of a session's title, clean: its name as it was given, a message without the signs of Markdown.
pub fn title(session: &Digest) -> String {
    if session.name.is_some() { plain(session) } else { of_message(session.title()) }
}

/// The first words of a session with a name, clean and without Markdown. Of a fork these are its own, since it has its
/// parent's name and messages as well.
pub(crate) fn words(session: &Digest) -> Option<String> {
    session.name.as_ref()?;
    let own = session.own_message.as_deref();
    let message = if session.header.is_fork() { own } else { session.typed_message() };
    message.map(|message| of_message(message.trim())).filter(|words| !words.is_empty())
}

/// The start of a message that stands for a title, clean and without the signs of Markdown.
pub(crate) fn of_message(text: &str) -> String {
    plain_markdown::strip(&start(text)).into_owned()
}

/// The start of a session's title, clean, as it is searched.
pub fn plain(session: &Digest) -> String {
    start(session.title())
}

fn start(text: &str) -> String {
    clean(utf16_prefix(text, LONGEST)).into_owned()
}
