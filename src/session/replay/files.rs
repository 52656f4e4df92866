//! The files of a session at an entry.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Deref};
use std::rc::Rc;
use std::sync::Arc;

use crate::session::json::value::Fields;
use crate::session::links::EntryIndex;
use crate::session::replay::read;
use crate::session::replay::state::{Content, Doubt, FileState, Source};

/// The states of files by absolute path. Copies share the states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    states: BTreeMap<String, Arc<FileState>>,
    /// The files with a known state without doubt, so that a command looks at no others: the first word of the name, and
    /// the path.
    certain: BTreeSet<(String, String)>,
}

impl Deref for Files {
    type Target = BTreeMap<String, Arc<FileState>>;

    fn deref(&self) -> &Self::Target {
        &self.states
    }
}

impl Files {
    /// Returns `true` if the state of a file is known without doubt.
    pub(super) fn has_certain(&self) -> bool {
        !self.certain.is_empty()
    }

    /// Returns the paths of files with a known state without doubt.
    pub(super) fn certain(&self) -> impl Iterator<Item = &String> {
        self.certain.iter().map(|(_, path)| path)
    }

    /// Returns those that a text mentions.
    pub(super) fn mentioned(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for word in text.split(is_separator).chain([""]).collect::<BTreeSet<_>>() {
            let from = self.certain.range((word.to_owned(), String::new())..);
            let paths = from.take_while(|(first, _)| *first == word).map(|(_, path)| path);
            found.extend(paths.filter(|path| mentions(text, file_name(path))).cloned());
        }
        found
    }

    /// Returns the paths at or below a path.
    pub(super) fn below(&self, dir: &str) -> impl Iterator<Item = (&String, &Arc<FileState>)> {
        let from = self.states.range::<str, _>((Bound::Included(dir), Bound::Unbounded));
        from.take_while(move |(path, _)| path.starts_with(dir)).filter(move |(path, _)| below(path, dir).is_some())
    }

    /// Changes the state of a file, or a new one of a new file.
    pub(super) fn change(&mut self, path: &str, new: FileState, change: impl FnOnce(&mut FileState)) {
        let state = self.states.entry(path.into()).or_insert_with(|| Arc::new(new));
        change(Arc::make_mut(state));
        let word = file_name(path).split(is_separator).find(|word| !word.is_empty()).unwrap_or_default();
        let place = (word.to_owned(), path.to_owned());
        if state.doubt.is_some() || state.content == Content::Unknown {
            self.certain.remove(&place);
        } else {
            self.certain.insert(place);
        }
    }
}

/// Returns `true` if a character cannot extend a file name.
fn is_separator(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '_' | '-')
}

/// Returns `true` if a text mentions a file name, not as a part of a longer name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            before.is_none_or(is_separator) && after.is_none_or(is_separator)
        })
}

/// Returns the rest of a path below a directory; empty for the directory itself.
pub(super) fn below<'a>(path: &'a str, dir: &str) -> Option<&'a str> {
    path.strip_prefix(dir).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the last name of a path of a session.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// A file that an entry touches.
pub(super) struct EntryFiles<'f> {
    pub(super) files: &'f mut Files,
    pub(super) at: EntryIndex,
}

impl EntryFiles<'_> {
    /// Changes the state of a file. A new file has an unknown state from `source`.
    pub(super) fn state(&mut self, path: &str, source: Source, change: impl FnOnce(&mut FileState, EntryIndex)) {
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
    pub(super) fn doubt_all(
        files: &mut Rc<Files>,
        at: EntryIndex,
        doubt: Doubt,
        find: impl FnOnce(&Files) -> Vec<String>,
    ) {
        let paths = find(files);
        if paths.is_empty() {
            return;
        }
        let mut touched = EntryFiles { files: Rc::make_mut(files), at };
        for path in paths {
            touched.doubt(&path, doubt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::state::{Doubt, Source};

    #[test]
    fn files_are_mentioned_by_their_whole_names() {
        assert!(mentions("wrote src/a.rs, b", "a.rs") && mentions("a.rs", "a.rs"));
        assert!(!mentions("aa.rs a.rsx a.rs_", "a.rs"));
    }

    proptest::proptest! {
        /// The words of a text find the same files as a search for each name, and all files below a directory are found.
        #[test]
        fn files_are_found_as_in_all(
            paths in proptest::collection::btree_set("/[ab/._é -]{0,6}", 0..8),
            text in "[ab/._é -]{0,20}",
            dir in "/[ab/.]{0,3}",
            doubted in 0usize..9,
        ) {
            let mut files = Files::default();
            for (at, path) in paths.iter().enumerate() {
                files.change(path, FileState::unknown(Source::Write, 0), |state| state.set("x", Source::Write, 0));
                if at == doubted {
                    files.change(path, FileState::unknown(Source::Write, 0), |state| state.doubt(Doubt::Tool, 1));
                }
            }
            let certain: BTreeSet<&String> = files.iter().filter(|(_, state)| state.doubt.is_none()).map(|(path, _)| path).collect();
            proptest::prop_assert_eq!(files.certain().collect::<BTreeSet<_>>(), certain.clone());
            let mentioned = certain.into_iter().filter(|path| mentions(&text, file_name(path))).cloned().collect::<BTreeSet<_>>();
            proptest::prop_assert_eq!(files.mentioned(&text).into_iter().collect::<BTreeSet<_>>(), mentioned);
            let inside: Vec<&String> = paths.iter().filter(|path| below(path, &dir).is_some()).collect();
            proptest::prop_assert_eq!(files.below(&dir).map(|(path, _)| path).collect::<Vec<_>>(), inside);
        }
    }
}
