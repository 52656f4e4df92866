//! The session and the entry that an action applies to, and session titles as messages show them.

use std::path::Path;
use std::sync::Arc;

use crate::app::message::EntryBody;
use crate::app::model::Model;
use crate::app::panes::preview::PreviewSubject;
use crate::app::title::title;
use crate::base::javascript::utf16_prefix;
use crate::base::paths::file_name;
use crate::base::text::clean;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Place;
use crate::session::digest::SharedDigest;
use crate::session::tree::{Index, Tree};

/// Columns of a text from a file in a question.
const SHORT: usize = 60;

impl Model {
    /// Returns the start of a session's title for a question.
    pub fn short_title(&self, key: SessionKey) -> String {
        self.short(&title(&self.catalog[key]))
    }

    /// Returns a session's title: `known` if given, else the title in the list, else the file name.
    pub(crate) fn title_of(&self, path: &Path, known: Option<&str>) -> String {
        let listed = || Some(title(self.catalog.get(self.catalog.key_of(path)?)?));
        known.map(str::to_owned).or_else(listed).unwrap_or_else(|| file_name(path))
    }

    /// Returns the start of a text from a file, cleaned, for a question.
    pub fn short(&self, text: &str) -> String {
        self.setting.glyphs.cut(&clean(utf16_prefix(text, 200)), SHORT).into_owned()
    }

    /// Returns the session that an action applies to: in the tree, that of the selected row; else the selected session.
    pub(crate) fn meant_session(&self) -> Option<(SessionKey, &SharedDigest)> {
        let fork = || self.tree.selected_fork().filter(|_| self.focus == Place::Tree).map(|fork| fork.key);
        let of_row = self.meant_ref().map(|entry| entry.session).or_else(fork);
        let key = of_row.or_else(|| self.sessions.selected_session())?;
        Some((key, self.catalog.get(key)?))
    }

    /// Returns the entry that an action applies to: in the tree the selected one, in the preview the shown one.
    fn meant_ref(&self) -> Option<EntryRef> {
        match (self.focus, self.preview.subject) {
            (Place::Tree, _) => self.tree.selected_entry().and_then(|at| self.tree.entry(at)),
            (Place::Preview, PreviewSubject::Entry(entry) | PreviewSubject::Run(entry)) => {
                self.tree.shown(entry).is_some().then_some(entry)
            }
            _ => None,
        }
    }

    /// Returns the entry that an action applies to, in the tree of its own file.
    pub(crate) fn meant_entry(&self) -> Option<(SessionKey, Arc<Tree>, Index)> {
        let EntryRef { session, at } = self.meant_ref()?;
        Some((session, self.tree.file(session)?.clone(), at))
    }

    /// Returns the place of an entry in its file, if its session is shown in the tree.
    pub(crate) fn entry_body(&self, EntryRef { session, at }: EntryRef) -> Option<EntryBody> {
        let (path, tree) = (self.catalog.get(session)?.path.clone(), self.tree.file(session)?.clone());
        Some(EntryBody { path, tree, at })
    }

    /// Returns the entry that an action applies to, in the complete tree of its session.
    ///
    /// # Errors
    /// No entry is selected, or its session is still being read; the message says which.
    pub(crate) fn whole_entry(&self) -> Result<(SessionKey, Arc<Tree>, Index), &'static str> {
        match self.meant_entry() {
            Some((session, tree, at)) if !tree.is_partial => Ok((session, tree, at)),
            _ if self.tree.tree.as_ref().is_none_or(|tree| tree.is_partial) => Err("the session is still being read"),
            _ if self.tree.selected_fork().is_some() => Err("this row is a fork; press Enter to go to its session"),
            _ => Err("select an entry in the tree"),
        }
    }
}
