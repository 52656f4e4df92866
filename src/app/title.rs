//! What a session is called where people read it: in lists, titles of panes and questions.

use crate::base::js::cut;
use crate::base::text::clean;
use crate::render::unmarked;
use crate::session::digest::Digest;

/// The longest that is looked at, in UTF-16 units: a first message may be a whole file.
const LONGEST: usize = 300;

/// The start of a session's title, clean: its name as it was given, a message without the signs of Markdown.
pub fn title(session: &Digest) -> String {
    let title = plain(session);
    if session.name.is_some() { title } else { unmarked::words(&title).into_owned() }
}

/// The start of a session's title, clean, as it is searched.
pub fn plain(session: &Digest) -> String {
    clean(cut(session.title(), LONGEST)).into_owned()
}
