//! Replays files for the browser: their states, their content, differences, and the preview of an entry that changed
//! files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::app::layers::files::ListedFile;
use crate::app::message::{EntryLocation, Reply};
use crate::app::panes::reader::EntryForm;
use crate::base::numbers::bytes;
use crate::base::paths::relative_to;
use crate::base::sort;
use crate::base::text::{Span, Tone, clean};
use crate::catalog::file_history::ReplayControl;
use crate::catalog::file_states::{
    self, FileAt, FileForm, FileTextRequest, FileWrite, StateSource, StatesCache, StatesRequest, Written,
    text_for_comparison,
};
use crate::catalog::files::{FilePlaces, FilesRequest, TouchedFile, outline};
use crate::disk::new_file::{self, is_taken};
use crate::disk::{files, locate};
use crate::export::entry;
use crate::render::{DocLine, file};
use crate::session::entry::kind::EntryKind;
use crate::session::replay::places::runs_by_itself;
use crate::session::replay::state::{Content, FileState};
use crate::session::tree::EntryIndex;

/// The maximum size in bytes of a file on the disk that is compared.
const MAX_ON_DISK: u64 = 64 * 1024 * 1024;

/// The cache of replays and the environment of a job.
#[derive(Clone, Copy)]
pub(super) struct FilesJob<'a> {
    pub(super) cache: &'a StatesCache,
    pub(super) control: ReplayControl<'a>,
    /// Returns the time spent on a document so far.
    pub(super) clock: &'a dyn Fn() -> Duration,
}

/// A text to compare.
enum ComparedText {
    /// The state of a file; `None` if it is not known to exist.
    State(Option<Arc<FileState>>),
    /// The content of the file on the disk.
    Disk(String),
}

impl ComparedText {
    fn text(&self) -> Result<Cow<'_, str>> {
        match self {
            Self::State(state) => text_for_comparison(state.as_deref()),
            Self::Disk(text) => Ok(Cow::Borrowed(text)),
        }
    }

    fn facts(&self) -> String {
        match self {
            Self::State(state) => facts(state.as_deref()),
            Self::Disk(_) => "disk".into(),
        }
    }
}

/// Describes a state in words.
fn facts(state: Option<&FileState>) -> String {
    let Some(state) = state else { return "no earlier state".into() };
    let outside = if state.outside.is_empty() { "" } else { ", changed by another program" };
    format!("{}: {}{outside}", state.exactness().words(), state.reason())
}

impl FilesJob<'_> {
    /// Lists the files of sessions, most changed first. Returns `None` if the result is no longer wanted.
    pub(super) fn list_files(self, request: &FilesRequest) -> Option<Reply> {
        let FilesRequest { sessions, worktrees, cwd } = request;
        let home = self.control.home;
        let mut files = outline(sessions, FilePlaces { home, worktrees }, self.control.is_wanted)?;
        sort::by(&mut files, |a, b| {
            let often = |file: &TouchedFile| (file.uses.changes(), file.uses.reads);
            often(b).cmp(&often(a)).then_with(|| a.path.cmp(&b.path))
        });
        let file = |TouchedFile { path, uses, latest, .. }| {
            let shown = clean(&relative_to(cwd, &path, home)).into_owned();
            ListedFile::new(path, shown, uses, latest)
        };
        Some(Reply::FilesListed(files.into_iter().map(file).collect()))
    }

    /// Lists the states of a file in sessions.
    ///
    /// # Errors
    /// A session cannot be read, or the result is no longer wanted.
    pub(super) fn list(self, request: StatesRequest, reply: &mut dyn FnMut(Reply) -> bool) -> Result<Reply> {
        let file = request.file.clone();
        let each = |key, states, tree| {
            (self.control.is_wanted)() && reply(Reply::States { file: file.clone(), states, session: (key, tree) })
        };
        file_states::list(self.cache, request, self.control, each)?;
        Ok(Reply::StatesListed)
    }

    fn after(self, FileAt { session, tree, entry, file }: &FileAt) -> Result<Option<Arc<FileState>>> {
        Ok(self.cache.states(session, tree, file, self.control)?.at(*entry).cloned())
    }

    fn before(self, FileAt { session, tree, entry, file }: &FileAt) -> Result<Option<Arc<FileState>>> {
        Ok(self.cache.states(session, tree, file, self.control)?.before(*entry).cloned())
    }

    /// Renders a file.
    ///
    /// # Errors
    /// A session or the file on the disk cannot be read, or the result is no longer wanted.
    pub(super) fn text(self, request: &FileTextRequest) -> Result<Reply> {
        let (facts, lines) = match &request.form {
            FileForm::Content(at) => {
                let states = self.cache.states(&at.session, &at.tree, &at.file, self.control)?;
                let (before, after) = (states.before(at.entry).cloned(), states.at(at.entry).cloned());
                let lines = after.as_deref().map(|after| self.content(&request.file, after, before.as_deref()));
                (facts(after.as_deref()), lines.unwrap_or_default())
            }
            FileForm::Difference(sources) => {
                let [old, new] = sources.each_ref().map(|source| self.source(source, &request.file));
                let (old, new) = (old?, new?);
                let facts = match (old.facts(), new.facts()) {
                    (old, new) if old == new => new,
                    (old, new) => format!("{old}; {new}"),
                };
                (facts, file::difference(&old.text()?, &new.text()?))
            }
        };
        Ok(Reply::FileText(facts, lines))
    }

    fn source(self, source: &StateSource, file: &str) -> Result<ComparedText> {
        Ok(match source {
            StateSource::After(at) => ComparedText::State(self.after(at)?),
            StateSource::Before(at) => ComparedText::State(self.before(at)?),
            StateSource::Known(state) => ComparedText::State(state.clone()),
            StateSource::Disk => ComparedText::Disk(on_disk(file)?),
        })
    }

    /// Renders the content of a state with marks on the lines that differ from the state before.
    fn content(self, path: &str, state: &FileState, before: Option<&FileState>) -> Vec<DocLine> {
        match &state.content {
            Content::Exact(text) => file::content(path, text, before.and_then(FileState::whole), self.clock),
            Content::Partial(known) => file::known(path, known, self.clock),
            Content::Unknown => vec![DocLine::warning("The content is unknown.")],
            Content::Removed => vec![DocLine::warning("The file was removed.")],
        }
    }

    /// Returns the content at a state for a copy: all that is known.
    ///
    /// # Errors
    /// The content is unknown, or the session cannot be read.
    pub(super) fn copy(self, at: &FileAt) -> Result<String> {
        let state = self.after(at)?;
        Ok(text_for_comparison(state.as_deref())?.into_owned())
    }

    /// Writes the content at a state to a new file, or replaces a file if the user has agreed. A symbolic link at the path
    /// is not followed.
    ///
    /// # Errors
    /// The content is unknown, or the file cannot be written.
    pub(super) fn write(self, FileWrite { at, to, replaces }: &FileWrite) -> Result<Written> {
        let path = locate::expand(to, Path::new(self.control.home));
        if (is_taken(&path) || runs_by_itself([&*path.to_string_lossy()])) && !replaces {
            return Ok(Written::Taken(path));
        }
        let text = self.copy(at)?;
        new_file::write_for_user(&path, &text, *replaces)?;
        Ok(Written::New(path))
    }

    /// Renders the files that an entry changed, as differences or as whole files; `None` if it changed none.
    ///
    /// # Errors
    /// The session cannot be read, or the result is no longer wanted.
    pub(super) fn preview(self, body: &EntryLocation, form: EntryForm) -> Result<Option<Vec<DocLine>>> {
        let EntryLocation { path: session, tree, at } = body;
        let results =
            |at: &EntryIndex| matches!(tree.nodes[*at as usize].kind, EntryKind::ToolResult | EntryKind::Bash);
        let mut entries = vec![*at];
        if !results(at) {
            entries = entry::related(tree, *at);
        }
        entries.retain(results);
        let mut lines = Vec::new();
        for (file, first, last) in file_states::changed_files((session, tree), &entries, self.control.home)? {
            let states = self.cache.states(session, tree, &file, self.control)?;
            let (before, after) = (states.before(first).cloned(), states.at(last).cloned());
            let Some(after) = after else { continue };
            let name = relative_to(&tree.header.cwd, &file, self.control.home);
            let facts = Span::dim(format!("  {}", facts(Some(&after))));
            let title = vec![Span::clean(Tone::Tool, &name), facts];
            if !lines.is_empty() {
                lines.push(DocLine::default());
            }
            lines.push(DocLine::of(title));
            lines.extend(match form {
                EntryForm::Difference => {
                    match (text_for_comparison(before.as_deref()), text_for_comparison(Some(&after))) {
                        (Ok(old), Ok(new)) => file::difference(&old, &new),
                        (Err(error), _) | (_, Err(error)) => vec![DocLine::warning(&clean(&error.to_string()))],
                    }
                }
                _ => self.content(&file, &after, before.as_deref()),
            });
        }
        Ok(Some(lines).filter(|lines| !lines.is_empty()))
    }
}

/// Reads a file on the disk.
fn on_disk(file: &str) -> Result<String> {
    let path = PathBuf::from(file);
    let cannot = || format!("cannot read {}", path.display());
    let size = files::len(&path).with_context(cannot)?;
    ensure!(size <= MAX_ON_DISK, "{} is too large to compare: {}", path.display(), bytes(size));
    let content = files::read_regular(&path).with_context(cannot)?;
    Ok(String::from_utf8_lossy(&content).into_owned())
}
