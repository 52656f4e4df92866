//! The name of a session in a row, followed by the first words of its prompt.

use crate::app::title::{title, words};
use crate::base::text::{Glyphs, Span, Tone, width};
use crate::catalog::{Catalog, SessionKey};

/// The columns between a name and the words after it.
const GAP: usize = 2;

/// Minimum columns for the words after a unique name.
const LEAST: usize = 24;

/// The name of a session and the words after it.
pub(super) struct SessionName {
    /// The name, or the words of a prompt if it has none.
    pub(super) title: String,
    /// The first words of the session; for a fork, those of its unique entries.
    words: Option<String>,
    /// `true` if another session has the same name, so that only the words distinguish them.
    is_repeated: bool,
}

impl SessionName {
    pub(super) fn of(catalog: &Catalog, key: SessionKey) -> Self {
        let session = &catalog[key];
        let parent = catalog.families().parent(key).and_then(|parent| catalog.get(parent));
        Self {
            title: title(session),
            words: words(session),
            is_repeated: session.header.is_fork() && parent.is_none_or(|parent| parent.name == session.name),
        }
    }

    /// A title without words after it.
    pub(super) fn plain(title: String) -> Self {
        Self { title, words: None, is_repeated: false }
    }

    /// Returns the columns, up to `most`, that the name gets before facts beside it.
    pub(super) fn wanted(&self, is_given: bool, most: usize) -> usize {
        match &self.words {
            Some(words) if self.is_repeated => (width(&self.title) + GAP + width(words)).min(most),
            _ if is_given => width(&self.title),
            _ => width(&self.title).min(most),
        }
    }

    /// Splits `columns` between the title and the words after it.
    pub(super) fn cut(&self, columns: usize, glyphs: &Glyphs) -> (String, Option<Span>) {
        let rest = columns.saturating_sub(width(&self.title) + GAP);
        let shared = columns.saturating_sub(GAP) / 2;
        let room = match &self.words {
            Some(words) if self.is_repeated => width(words).min(rest.max(shared)),
            Some(_) if rest >= LEAST => rest,
            _ => 0,
        };
        let words = self.words.as_ref().filter(|_| room > 0);
        let words = words.map(|words| Span::new(Tone::Dim, format!("{:GAP$}{}", "", glyphs.cut(words, room))));
        let used = words.as_ref().map_or(0, |words| width(&words.text));
        (glyphs.cut(&self.title, columns.saturating_sub(used)).into_owned(), words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::UNICODE;

    #[test]
    fn a_repeated_name_gives_room_to_the_words_after_it() {
        let cut = |is_repeated, columns| {
            let (title, words) = ("Refactor auth module".into(), Some("What about refresh tokens?".into()));
            let (title, words) = SessionName { title, words, is_repeated }.cut(columns, &UNICODE);
            title + &words.map_or(String::new(), |words| words.text)
        };
        assert_eq!(cut(true, 60), "Refactor auth module  What about refresh tokens?");
        assert_eq!(cut(true, 40), "Refactor auth modu…  What about refresh…");
        assert_eq!(cut(false, 40), "Refactor auth module");
        assert_eq!(cut(false, 46), "Refactor auth module  What about refresh toke…");
    }
}
