//! What panes, palettes and flows see of the browser: everything, and nothing that they could change.

use std::path::Path;
use std::sync::Arc;

use crate::app::panes::marks::EntryMarks;
use crate::app::panes::preview::Subject;
use crate::app::panes::{preview, sessions, tree};
use crate::app::startup::Startup;
use crate::app::title::title;
use crate::base::javascript::utf16_prefix;
use crate::base::paths::file_name;
use crate::base::text::clean;
use crate::catalog::{Catalog, EntryRef, SessionKey};
use crate::changes::history::HistoryEntry;
use crate::keymap::{Action, Place};
use crate::session::digest::SharedDigest;
use crate::session::tree::{Index, Tree};

/// The columns of a text from a file in a question.
const SHORT: usize = 60;

/// The browser, to be read.
#[derive(Clone, Copy, Debug)]
pub struct BrowserView<'a> {
    /// What does not change.
    pub setting: &'a Startup,
    /// All sessions.
    pub catalog: &'a Catalog,
    /// Milliseconds since 1970.
    pub now: i64,
    /// The pane that has the keyboard.
    pub focus: Place,
    /// The sessions pane.
    pub sessions: &'a sessions::SessionsPane,
    /// The tree pane.
    pub tree: &'a tree::TreePane,
    /// The preview pane.
    pub preview: &'a preview::PreviewPane,
    /// The marks on entries.
    pub marks: &'a EntryMarks,
    /// The actions of the command palette that were used lately, the last one first.
    pub recent: &'a [Action],
    /// `Ok` if pi can go to an entry by itself, else the reason why not; `None` until pi was asked.
    pub pi_goes: Option<Result<(), &'a str>>,
    /// What was changed, the newest first, as it was read last.
    pub past: &'a [HistoryEntry],
}

impl<'a> BrowserView<'a> {
    /// The start of a session's title, as a question shows it.
    pub fn short_title(&self, key: SessionKey) -> String {
        self.short(&title(&self.catalog[key]))
    }

    /// What a session is called, by its file: by the title that is known of it, else by that in the list, else by the name of
    /// its file.
    pub(crate) fn called(&self, path: &Path, known: Option<&str>) -> String {
        let listed = || Some(title(self.catalog.get(self.catalog.key_of(path)?)?));
        known.map(str::to_owned).or_else(listed).unwrap_or_else(|| file_name(path))
    }

    /// The start of a text from a file, clean, as a question shows it.
    pub fn short(&self, text: &str) -> String {
        self.setting.glyphs.cut(&clean(utf16_prefix(text, 200)), SHORT).into_owned()
    }

    /// The session that an action is about: the selected one, whose tree is open; in that, the one of the selected row.
    pub(crate) fn meant_session(&self) -> Option<(SessionKey, &'a SharedDigest)> {
        let fork = || self.tree.selected_fork().filter(|_| self.focus == Place::Tree).map(|fork| fork.key);
        let of_row = self.meant_ref().map(|entry| entry.session).or_else(fork);
        let key = of_row.or_else(|| self.sessions.selected_session())?;
        Some((key, self.catalog.get(key)?))
    }

    /// The entry that an action is about: the selected one in the tree, in the preview the one that it shows.
    fn meant_ref(&self) -> Option<EntryRef> {
        match (self.focus, self.preview.subject) {
            (Place::Tree, _) => self.tree.selected_entry().and_then(|at| self.tree.entry(at)),
            (Place::Preview, Subject::Entry(entry) | Subject::Run(entry)) if self.tree.shown(entry).is_some() => {
                Some(entry)
            }
            _ => None,
        }
    }

    /// The same, in the tree of its own file.
    pub(crate) fn meant_entry(&self) -> Option<(SessionKey, Arc<Tree>, Index)> {
        let EntryRef { session, at } = self.meant_ref()?;
        Some((session, self.tree.file(session)?.clone(), at))
    }

    /// The entry that an action is about, in the tree of its session, read as a whole.
    ///
    /// # Errors
    /// There is none; what is in the way, in words.
    pub(crate) fn whole_entry(&self) -> Result<(SessionKey, Arc<Tree>, Index), &'static str> {
        match self.meant_entry() {
            Some((session, tree, at)) if !tree.is_partial => Ok((session, tree, at)),
            _ if self.tree.tree.as_ref().is_none_or(|tree| tree.is_partial) => Err("the session is still being read"),
            _ if self.tree.selected_fork().is_some() => Err("this row is another session: Enter goes there"),
            _ => Err("select an entry in the tree"),
        }
    }
}
