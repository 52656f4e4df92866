//! Exports of sessions: a semantic document of entries, and one writer per format. Pure: the bodies of entries come from a
//! closure, one at a time, so that sessions of any size are streamed.

pub mod document;
pub mod entry;
pub mod html;
pub mod jsonl;
pub mod markdown;
mod outline;
mod parts;
pub mod personal;
pub mod reduced;
pub mod selection;
mod shortened;

use crate::base::named::named;
use crate::export::document::{Detail, EntryBlock, Head};

named! {
    /// The format of an export.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
    pub enum Format {
        /// Markdown for a pull request or an issue.
        #[value(name = "md")]
        Markdown = "md",
        /// A page for a web browser.
        Html = "html",
        /// A session file for pi.
        Jsonl = "jsonl",
    }
}

/// The facts about a format.
#[derive(Clone, Copy, Debug)]
pub struct FormatFacts {
    /// The format.
    pub format: Format,
    /// The extensions of its files; the first is the default.
    pub extensions: &'static [&'static str],
    /// The writer of documents; `None` for session files.
    writer: Option<fn() -> Box<dyn Writer>>,
}

/// All formats.
pub const TABLE: [FormatFacts; Format::ALL.len()] = [
    FormatFacts {
        format: Format::Markdown,
        extensions: &["md", "markdown"],
        writer: Some(|| Box::<markdown::MarkdownWriter>::default()),
    },
    FormatFacts {
        format: Format::Html,
        extensions: &["html", "htm"],
        writer: Some(|| Box::<html::HtmlWriter>::default()),
    },
    FormatFacts { format: Format::Jsonl, extensions: &["jsonl"], writer: None },
];

impl Format {
    /// Returns the facts about the format.
    pub fn facts(self) -> &'static FormatFacts {
        &TABLE[self as usize]
    }

    /// Returns the format of a file extension.
    pub fn of_extension(extension: &str) -> Option<Self> {
        let is_of = |facts: &&FormatFacts| facts.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension));
        TABLE.iter().find(is_of).map(|facts| facts.format)
    }

    /// Returns the default extension.
    pub fn extension(self) -> &'static str {
        self.facts().extensions[0]
    }

    /// Returns the content of exports by default: session files contain everything, documents no thinking and images.
    pub fn default_detail(self) -> Detail {
        if self.facts().writer.is_none() { Detail::WHOLE } else { Detail::default() }
    }

    /// Returns a writer of documents, or `None` for session files. Only Markdown has a maximum length.
    pub fn writer(self, max_length: Option<usize>) -> Option<Box<dyn Writer>> {
        match (self, max_length) {
            (Self::Markdown, Some(max)) => Some(Box::new(shortened::ShortenedMarkdown::new(max))),
            _ => self.facts().writer.map(|new| new()),
        }
    }
}

/// A writer of documents in one format. Each method appends text.
pub trait Writer {
    /// Writes the beginning with the title and the facts.
    fn head(&mut self, head: &Head, out: &mut String);

    /// Writes an entry.
    fn entry(&mut self, entry: &EntryBlock, out: &mut String);

    /// Writes the end with the notes of the export.
    fn foot(&mut self, notes: &[String], out: &mut String);

    /// Writes links to other pages. Only formats with several pages have them.
    fn links(&mut self, _links: &[PageLink], _out: &mut String) {}

    /// Returns the size in bytes from which the next entry begins a new page.
    fn page_bytes(&self) -> usize {
        usize::MAX
    }

    /// Writes an index page of several exports: a title, and a file name with facts for each.
    fn index(&mut self, head: &Head, files: &[IndexRow], out: &mut String);
}

/// A file on an index page.
#[derive(Clone, Debug, Default)]
pub struct IndexRow {
    /// The name of the file, relative to the index page.
    pub file: String,
    /// The title.
    pub title: String,
    /// Facts such as the date.
    pub facts: String,
}

/// A link to another page of an export.
#[derive(Clone, Debug)]
pub struct PageLink {
    /// The name of the file, in the same directory.
    pub file: String,
    /// The text.
    pub text: String,
}
