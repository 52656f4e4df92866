//! The changes of files by a shell command.

use std::rc::Rc;

use crate::session::links::EntryIndex;
use crate::session::replay::Replay;
use crate::session::replay::files::{EntryFiles, Files, below, file_name};
use crate::session::replay::programs::Effect;
use crate::session::replay::shell::{reports_error, reports_rewrites};
use crate::session::replay::state::{Content, Doubt, Source};

impl<E> Replay<'_, E> {
    /// Applies a shell command.
    pub(super) fn command(&self, files: &mut Rc<Files>, at: EntryIndex, script: &str, has_failed: bool, output: &str) {
        let effects = self.effects(script, has_failed || reports_error(output));
        self.apply(files, at, effects, output);
    }

    /// Applies the effects of a shell command.
    pub(super) fn apply(&self, files: &mut Rc<Files>, at: EntryIndex, mut effects: Vec<Effect>, output: &str) {
        if effects.contains(&Effect::IfReported) && reports_rewrites(output) {
            effects.push(Effect::All);
        }
        for effect in effects {
            let doubt = |files: &mut Rc<Files>, is_affected: &dyn Fn(&str) -> bool| {
                let find = |files: &Files| files.certain().filter(|path| is_affected(path)).cloned().collect();
                EntryFiles::doubt_all(files, at, Doubt::Command, find);
            };
            match effect {
                Effect::Write(path, text) => {
                    self.file(files, &path, at, |touched, path| touched.set(path, &text, Source::Command));
                }
                Effect::Output(path) => self.file(files, &path, at, |touched, path| match touched.files.get(path) {
                    Some(_) => touched.doubt(path, Doubt::Command),
                    None => touched.state(path, Source::Touched, |state, at| state.latest = at),
                }),
                Effect::Remove(path) if files.below(&path).any(|(known, _)| *known != path) => {
                    self.removed(files, at, &path);
                }
                Effect::Remove(path) => {
                    self.file(files, &path, at, |touched, path| touched.forget(path, Source::Removed));
                }
                Effect::RemoveAll(path) => self.removed(files, at, &path),
                Effect::Move(from, to) => self.moved(files, at, &from, &to),
                Effect::Copy(from, to) => self.copied(files, at, &from, &to),
                Effect::Path(changed) => doubt(files, &|path| below(path, &changed).is_some()),
                Effect::Name(name) => doubt(files, &|path| file_name(path) == name),
                Effect::IfReported => {}
                Effect::All => doubt(files, &|_| true),
            }
        }
    }

    /// Removes the known files at or below a path.
    fn removed(&self, files: &mut Rc<Files>, at: EntryIndex, removed: &str) {
        let paths: Vec<String> = files.below(removed).map(|(path, _)| path.clone()).collect();
        let mut touched = EntryFiles { files: Rc::make_mut(files), at };
        paths.iter().for_each(|path| touched.forget(path, Source::Removed));
    }

    /// Moves a file, or the files of a directory.
    fn moved(&self, files: &mut Rc<Files>, at: EntryIndex, from: &str, to: &str) {
        let (to, may_be_dir) = target(files, from, to);
        let paths: Vec<String> = files.below(from).map(|(path, _)| path.clone()).collect();
        if paths.is_empty() {
            for (path, source) in [(&*to, Source::Touched), (from, Source::Removed)] {
                self.file(files, path, at, |touched, path| touched.forget(path, source));
            }
            return;
        }
        let mut touched = EntryFiles { files: Rc::make_mut(files), at };
        for path in paths {
            let target = format!("{to}{}", below(&path, from).unwrap_or_default());
            touched.copy(&path, &target, may_be_dir);
            touched.forget(&path, Source::Removed);
        }
    }

    /// Copies a file.
    fn copied(&self, files: &mut Rc<Files>, at: EntryIndex, from: &str, to: &str) {
        let (to, may_be_dir) = target(files, from, to);
        let is_known = files.get(from).is_some_and(|state| state.content != Content::Removed);
        self.file(files, &to, at, |touched, to| match is_known {
            true => touched.copy(from, to, may_be_dir),
            false => touched.doubt(to, Doubt::Command),
        });
    }
}

/// Returns the path that a moved or copied file gets, and `true` if it is uncertain.
fn target(files: &Files, from: &str, to: &str) -> (String, bool) {
    // The target is a directory if it has known files.
    let inside = || files.below(to).filter(|(path, _)| *path != to);
    if inside().any(|(_, state)| state.content != Content::Removed) {
        return (format!("{to}/{}", file_name(from)), false);
    }
    // It may be a directory that the session has not mentioned.
    (to.into(), inside().next().is_some() || !file_name(to).contains('.'))
}
