//! The state of a file at an entry: its content as far as it is known, and the entries it rests on.

use std::sync::Arc;

use crate::base::named::named;
use crate::session::links::EntryIndex;
use crate::session::replay::edit::Edit;
use crate::session::replay::lines::{KnownLines, agree, split};
use crate::session::replay::read::ReadPart;

/// The content of a file as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Every byte is known.
    Exact(Arc<str>),
    /// Some lines are known.
    Partial(KnownLines),
    /// The file was touched, but its content is unknown.
    Unknown,
    /// A command removed or moved the file.
    Removed,
}

named! {
    /// The source of a state.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Source {
        /// A `write` call.
        Write = "written",
        /// A `read` call, or several that cover the file.
        Read = "read",
        /// A file attached to a prompt.
        Attached = "attached to a prompt",
        /// A command with the whole text.
        Command = "written by a command",
        /// An edit of a file that was not known completely.
        Edit = "edited, but not completely known before",
        /// A `read` call of a part.
        Parts = "read in parts",
        /// An image or another binary file.
        Binary = "not a text file",
        /// A call that does not contain the text.
        NoText = "the call does not contain the text",
        /// A command that writes to the file.
        Touched = "changed by a command",
        /// A command that removes or moves the file.
        Removed = "removed or moved by a command",
    }
}

impl Source {
    /// Returns `true` if the file was only read, and not changed.
    pub fn is_read(self) -> bool {
        match self {
            Self::Read | Self::Attached | Self::Parts | Self::Binary => true,
            Self::Write | Self::Command | Self::Edit | Self::NoText | Self::Touched | Self::Removed => false,
        }
    }
}

named! {
    /// A reason why the file may have changed since its last known content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Doubt {
        /// A command may have changed the file.
        Command = "a command may have changed it",
        /// A tool of an extension may have changed the file.
        Tool = "a tool may have changed it",
        /// A call was stopped.
        Stopped = "a call that changes it was stopped",
        /// pi removes a byte order mark from attached files.
        Attachment = "pi removes a byte order mark from attached files",
    }
}

named! {
    /// The degree to which a state is known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Exactness {
        /// Every byte is known.
        Exact = "exact",
        /// Every byte was known, but the file may have changed since.
        Possible = "possibly changed",
        /// Some lines are known.
        Partial = "partial",
        /// The content is unknown.
        Unknown = "unknown",
        /// The file does not exist.
        Removed = "removed",
    }
}

impl Exactness {
    /// Returns the degree in words for people; [`name`](Self::name) is that in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Self::Exact => "certain",
            Self::Possible => "maybe",
            other => other.name(),
        }
    }
}

/// The state of a file at an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// The content.
    pub content: Content,
    /// The source of the content.
    pub source: Source,
    /// The reason why the file may have changed since, and the entry.
    pub doubt: Option<(Doubt, EntryIndex)>,
    /// The entries that the content rests on.
    pub entries: Vec<EntryIndex>,
    /// The entries at which the file differed from the state before: another program changed it.
    pub outside: Vec<EntryIndex>,
    /// The last entry that touched the file.
    pub latest: EntryIndex,
}

impl FileState {
    /// Creates the state of a file that an entry touches without its content.
    pub(super) fn unknown(source: Source, at: EntryIndex) -> Self {
        let content = if source == Source::Removed { Content::Removed } else { Content::Unknown };
        Self { content, source, doubt: None, entries: vec![at], outside: Vec::new(), latest: at }
    }

    /// Returns the degree to which the state is known.
    pub fn exactness(&self) -> Exactness {
        match &self.content {
            Content::Exact(_) if self.doubt.is_none() => Exactness::Exact,
            Content::Exact(_) => Exactness::Possible,
            Content::Partial(_) => Exactness::Partial,
            Content::Removed if self.doubt.is_none() => Exactness::Removed,
            Content::Unknown | Content::Removed => Exactness::Unknown,
        }
    }

    /// Returns the whole text, if every byte is known and the file has not changed since.
    pub fn exact(&self) -> Option<&str> {
        self.whole().filter(|_| self.doubt.is_none())
    }

    /// Returns the whole text if every byte was known, although the file may have changed since.
    pub fn whole(&self) -> Option<&str> {
        match &self.content {
            Content::Exact(text) => Some(text),
            Content::Partial(_) | Content::Unknown | Content::Removed => None,
        }
    }

    /// Returns the text like [`whole`](Self::whole); that of a removed file is empty.
    pub fn whole_or_removed(&self) -> Option<&str> {
        if self.content == Content::Removed { Some("") } else { self.whole() }
    }

    /// Returns the reason for the exactness in words.
    pub fn reason(&self) -> &'static str {
        self.doubt.map_or(self.source.name(), |(doubt, _)| doubt.name())
    }

    /// Replaces the content by a whole text.
    pub(super) fn set(&mut self, text: &str, source: Source, at: EntryIndex) {
        self.replace(Content::Exact(text.into()), source, at);
    }

    /// Replaces the state by one without content.
    pub(super) fn forget(&mut self, source: Source, at: EntryIndex) {
        let content = if source == Source::Removed { Content::Removed } else { Content::Unknown };
        self.replace(content, source, at);
    }

    fn replace(&mut self, content: Content, source: Source, at: EntryIndex) {
        (self.content, self.source, self.doubt, self.latest) = (content, source, None, at);
        self.entries.clear();
        self.entries.push(at);
    }

    /// Marks the file as possibly changed. The first reason is kept.
    pub(super) fn doubt(&mut self, doubt: Doubt, at: EntryIndex) {
        self.latest = at;
        self.doubt = self.doubt.or(Some((doubt, at)));
    }

    /// Notes that the file differed from its state, unless a reason for a change is known.
    fn contradict(&mut self, at: EntryIndex) {
        let is_known = !matches!(self.content, Content::Unknown);
        if is_known && self.doubt.is_none() {
            self.outside.push(at);
        }
    }

    fn rests_on(&mut self, at: EntryIndex) {
        self.latest = at;
        if self.entries.last() != Some(&at) {
            self.entries.push(at);
        }
    }

    /// Adds the lines that a call has read.
    pub(super) fn read(&mut self, part: &ReadPart<'_>, at: EntryIndex) {
        if let Some(text) = part.whole() {
            if self.whole() != Some(&text) {
                self.contradict(at);
            }
            return self.set(&text, Source::Read, at);
        }
        let known = part.known();
        let merged = match &self.content {
            Content::Exact(text) if agree(&split(text), &known) => return self.rests_on(at),
            Content::Partial(before) if self.doubt.is_none() => before.merged(&known),
            _ => None,
        };
        let Some(merged) = merged else {
            self.contradict(at);
            return self.replace(Content::Partial(known), Source::Parts, at);
        };
        self.rests_on(at);
        (self.content, self.source) = match merged.whole() {
            Some(text) => (Content::Exact(text.into()), Source::Read),
            None => (Content::Partial(merged), Source::Parts),
        };
    }

    /// Applies an edit that succeeded.
    pub(super) fn edit(&mut self, edit: &Edit, at: EntryIndex) {
        let result = match &self.content {
            Content::Exact(text) => edit.whole(text).map(|text| Content::Exact(text.into())),
            Content::Partial(known) if self.doubt.is_none() => edit.partial(known).map(Content::Partial),
            Content::Partial(_) | Content::Unknown | Content::Removed => None,
        };
        if let Some(content) = result {
            self.content = content;
            return self.rests_on(at);
        }
        if !matches!(self.content, Content::Partial(_)) || !edit.hunks.is_empty() {
            self.contradict(at);
        }
        match edit.lines() {
            Some(known) => self.replace(Content::Partial(known), Source::Edit, at),
            None => self.forget(Source::NoText, at),
        }
    }
}
