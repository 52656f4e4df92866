//! Changes of the states of files by an entry.

use std::rc::Rc;

use crate::session::json::value::Fields;
use crate::session::links::Index;
use crate::session::replay::files::Files;
use crate::session::replay::read;
use crate::session::replay::state::{Doubt, FileState, Source};

/// A file that an entry touches.
pub(super) struct Touched<'f> {
    pub(super) files: &'f mut Files,
    pub(super) at: Index,
}

impl Touched<'_> {
    /// Changes the state of a file. A new file has an unknown state from `source`.
    pub(super) fn state(&mut self, path: &str, source: Source, change: impl FnOnce(&mut FileState, Index)) {
        let at = self.at;
        self.files.change(path, FileState::unknown(source, at), |state| change(state, at));
    }

    /// Replaces the content of a file.
    pub(super) fn set(&mut self, path: &str, text: &str, source: Source) {
        self.state(path, source, |state, at| state.set(text, source, at));
    }

    /// Applies a `write` call that succeeded.
    pub(super) fn write(&mut self, path: &str, arguments: &Fields<'_>) {
        let content = arguments.get("content").and_then(|content| content.str()).map(|content| content.text());
        match content.filter(|content| !content.contains(read::REMOVED)) {
            Some(content) => self.set(path, &content, Source::Write),
            None => self.forget(path, Source::NoText),
        }
    }

    /// Makes the content of a file unknown, or removes it.
    pub(super) fn forget(&mut self, path: &str, source: Source) {
        self.state(path, source, |state, at| state.forget(source, at));
    }

    /// Gives a file the state of another one, which is known.
    pub(super) fn copy(&mut self, from: &str, to: &str, may_be_elsewhere: bool) {
        let Some(mut state) = self.files.get(from).map(|state| (**state).clone()) else { return };
        state.latest = self.at;
        state.entries.push(self.at);
        if may_be_elsewhere {
            state.doubt(Doubt::Command, self.at);
        }
        self.files.change(to, state.clone(), |target| *target = state);
    }

    /// Marks a known file as possibly changed.
    pub(super) fn doubt(&mut self, path: &str, doubt: Doubt) {
        if self.files.contains_key(path) {
            self.state(path, Source::Touched, |state, at| state.doubt(doubt, at));
        }
    }

    /// Marks some files as possibly changed; removed files can exist again.
    pub(super) fn doubt_all(files: &mut Rc<Files>, at: Index, doubt: Doubt, find: impl FnOnce(&Files) -> Vec<String>) {
        let paths = find(files);
        if paths.is_empty() {
            return;
        }
        let mut touched = Touched { files: Rc::make_mut(files), at };
        for path in paths {
            touched.doubt(&path, doubt);
        }
    }
}
