//! The folded titles of a session for searches: name, ID, working directory, first message and labels.

use crate::base::normalize::fold;
use crate::session::digest::Digest;
use crate::session::search_text::{Passages, PassagesBuf};

/// The maximum number of characters searched in a text.
pub(crate) const MAX_TEXT: usize = 512;

/// The folded texts of a session in the list.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchTitles<'a> {
    /// The name, or an empty string.
    pub name: &'a str,
    /// The id in the header.
    pub id: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// The beginning of the first message.
    pub first_message: &'a str,
    /// The labels with their entries.
    pub labels: Passages<'a>,
}

/// Owned [`SearchTitles`].
#[derive(Clone, Debug, Default)]
pub struct TitlesBuf {
    name: String,
    id: String,
    cwd: String,
    first_message: String,
    labels: PassagesBuf,
}

impl TitlesBuf {
    /// Folds the titles of a session.
    pub fn new(digest: &Digest) -> Self {
        let mut labels = PassagesBuf::default();
        digest.labels.iter().for_each(|label| labels.push(label.at, &label.text));
        Self {
            name: fold(digest.name.as_deref().unwrap_or_default()),
            id: fold(&digest.header.id),
            cwd: fold(&digest.header.cwd),
            first_message: fold(capped(digest.first_message.as_deref().unwrap_or_default())),
            labels,
        }
    }

    /// Borrows the titles.
    pub fn as_titles(&self) -> SearchTitles<'_> {
        let Self { name, id, cwd, first_message, labels } = self;
        SearchTitles { name, id, cwd, first_message, labels: labels.as_passages() }
    }
}

/// Returns the searched beginning of a text.
pub(crate) fn capped(text: &str) -> &str {
    if text.len() <= MAX_TEXT {
        return text;
    }
    text.char_indices().nth(MAX_TEXT).map_or(text, |(end, _)| &text[..end])
}
