//! The changes of files by a shell command.

use std::rc::Rc;

use crate::session::links::Index;
use crate::session::replay::Replay;
use crate::session::replay::files::{Files, below, file_name};
use crate::session::replay::programs::Effect;
use crate::session::replay::shell::{self, Run, reports_error, reports_rewrites};
use crate::session::replay::state::{Content, Doubt, Source};
use crate::session::replay::touched::Touched;

impl<E> Replay<'_, E> {
    /// Applies a shell command.
    pub(super) fn command(&self, files: &mut Rc<Files>, at: Index, (script, has_failed): (&str, bool), output: &str) {
        let has_failed = has_failed || reports_error(output);
        let effects = shell::effects(Run { script, has_failed, cwd: &self.tree.header.cwd, home: self.home });
        self.apply(files, at, (script, effects), output);
    }

    /// Applies the effects of a shell command.
    pub(super) fn apply(
        &self,
        files: &mut Rc<Files>,
        at: Index,
        (script, mut effects): (&str, Vec<Effect>),
        output: &str,
    ) {
        let may_rewrite = script.contains("commit") || effects.contains(&Effect::Mentioned);
        if may_rewrite && reports_rewrites(output) {
            effects.push(Effect::All);
        }
        for effect in effects {
            let doubt = |files: &mut Rc<Files>, is_it: &dyn Fn(&str) -> bool| {
                let find = |files: &Files| files.certain().filter(|path| is_it(path)).cloned().collect();
                Touched::doubt_all(files, at, Doubt::Command, find);
            };
            let doubt_mentioned = |files: &mut Rc<Files>, text: &str| {
                Touched::doubt_all(files, at, Doubt::Command, |files| files.mentioned(text));
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
                Effect::Path(changed) => doubt(files, &|path| below(path, &changed).is_some()),
                Effect::Name(name) => doubt(files, &|path| file_name(path) == name),
                Effect::Named => doubt_mentioned(files, script),
                Effect::Mentioned => {
                    doubt_mentioned(files, script);
                    doubt_mentioned(files, output);
                }
                Effect::All => doubt(files, &|_| true),
            }
        }
    }

    /// Removes the known files at or below a path.
    fn removed(&self, files: &mut Rc<Files>, at: Index, removed: &str) {
        let paths: Vec<String> = files.below(removed).map(|(path, _)| path.clone()).collect();
        let mut touched = Touched { files: Rc::make_mut(files), at };
        paths.iter().for_each(|path| touched.forget(path, Source::Removed));
    }

    /// Moves a file, or the files of a directory.
    fn moved(&self, files: &mut Rc<Files>, at: Index, from: &str, to: &str) {
        // The target is a directory if it has known files.
        let inside = || files.below(to).filter(|(path, _)| *path != to);
        let is_dir = inside().any(|(_, state)| state.content != Content::Removed);
        let may_have_been = inside().next().is_some();
        let to = if is_dir { format!("{to}/{}", file_name(from)) } else { to.into() };
        let paths: Vec<String> = files.below(from).map(|(path, _)| path.clone()).collect();
        if paths.is_empty() {
            for (path, source) in [(&*to, Source::Touched), (from, Source::Removed)] {
                self.file(files, path, at, |touched, path| touched.forget(path, source));
            }
            return;
        }
        let mut touched = Touched { files: Rc::make_mut(files), at };
        for path in paths {
            let target = format!("{to}{}", below(&path, from).unwrap_or_default());
            let Some(mut state) = touched.files.get(&path).map(|state| (**state).clone()) else { continue };
            state.latest = at;
            state.entries.push(at);
            // It may be a directory that the session has not mentioned.
            let may_be_dir = !is_dir && (may_have_been || !file_name(&to).contains('.'));
            if may_be_dir {
                state.doubt(Doubt::Command, at);
            }
            touched.files.change(&target, state.clone(), |target| *target = state);
            touched.forget(&path, Source::Removed);
        }
    }
}
