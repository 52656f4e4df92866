//! The output of an export: a stream, or a file that becomes a directory of pages if it gets too long.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use thiserror::Error;

use crate::base::path_context::PathContext;
use crate::catalog::export::redact::ExportRedactor;
use crate::disk::create;
use crate::disk::new_file::{self, NewFile};
use crate::export::document::{EntryBlock, Head, Outline};
use crate::export::{IndexRow, PageLink, Writer};

/// The output of one session.
pub(crate) struct Target<'a> {
    to: Sink<'a>,
    /// The head, for each page.
    head: Head,
    /// The number of bytes of the current page.
    bytes: usize,
    /// The number of characters of the document.
    characters: usize,
    buffer: String,
}

enum Sink<'a> {
    Stream(&'a mut dyn Write),
    File { path: PathBuf, replaces: bool, pages: Vec<NewFile> },
}

impl<'a> Target<'a> {
    fn new(to: Sink<'a>) -> Self {
        Self { to, head: Head::default(), bytes: 0, characters: 0, buffer: String::new() }
    }

    /// Writes to a stream.
    pub(crate) fn stream(out: &'a mut dyn Write) -> Self {
        Self::new(Sink::Stream(out))
    }

    /// Writes to a file.
    ///
    /// # Errors
    /// The file exists and may not be replaced, or cannot be created.
    pub(crate) fn file(path: &Path, replaces: bool) -> Result<Self> {
        refuse_taken(path, replaces)?;
        let page = NewFile::create(path).path_context("cannot create", path)?;
        Ok(Self::new(Sink::File { path: path.into(), replaces, pages: vec![page] }))
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len();
        match &mut self.to {
            Sink::Stream(out) => out.write_all(bytes)?,
            Sink::File { path, pages, .. } => {
                pages.last_mut().map_or(Ok(()), |page| page.write_all(bytes)).path_context("cannot write", path)?;
            }
        }
        Ok(())
    }

    /// Writes lines of entries after redaction, and empties the buffer.
    pub(crate) fn write_redacted(&mut self, lines: &mut Vec<u8>, redact: &ExportRedactor<'_>) -> Result<()> {
        for line in lines.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            let mut line = redact.line(line);
            line.push(b'\n');
            self.write(&line)?;
        }
        lines.clear();
        Ok(())
    }

    /// Writes the beginning of a document.
    pub(crate) fn begin(&mut self, writer: &mut dyn Writer, head: Head) -> Result<()> {
        writer.head(&head, &mut self.buffer);
        self.head = head;
        self.drain()
    }

    /// Writes an entry, on a new page if the current one is full.
    pub(crate) fn entry(&mut self, writer: &mut dyn Writer, block: &EntryBlock) -> Result<()> {
        let can_have_pages =
            matches!(&self.to, Sink::File { pages, .. } if matches!(pages[..], [NewFile::Draft(_), ..]));
        if self.bytes >= writer.page_bytes() && can_have_pages {
            self.next_page(writer)?;
        }
        writer.entry(block, &mut self.buffer);
        self.drain()
    }

    fn next_page(&mut self, writer: &mut dyn Writer) -> Result<()> {
        let Sink::File { path, pages, .. } = &self.to else { return Ok(()) };
        let number = pages.len() + 1;
        let fresh = NewFile::create(&page_path(path, number)).path_context("cannot create", path)?;
        writer.links(&[PageLink { file: page_name(number), text: "Next page".into() }], &mut self.buffer);
        writer.foot(&[], &mut self.buffer);
        self.drain()?;
        let Sink::File { pages, .. } = &mut self.to else { return Ok(()) };
        let before = page_name(number - 1);
        pages.push(fresh);
        self.bytes = 0;
        let title = format!("{} (page {number})", self.head.title);
        self.head.outline = Outline::default();
        writer.head(&Head { title, ..Head::default() }, &mut self.buffer);
        let links = [("index.html".to_owned(), "Index"), (before, "Previous page")];
        writer.links(&links.map(|(file, text)| PageLink { file, text: text.into() }), &mut self.buffer);
        self.drain()
    }

    /// Writes the end of a document and makes the files visible. Returns the path of the file or directory, and adds the
    /// number of characters.
    pub(crate) fn end(
        mut self,
        writer: &mut dyn Writer,
        notes: &[String],
        characters: &mut usize,
    ) -> Result<Option<PathBuf>> {
        writer.foot(notes, &mut self.buffer);
        self.drain()?;
        *characters += self.characters;
        let Sink::File { path, replaces, pages } = &mut self.to else { return Ok(None) };
        if pages.len() == 1 {
            return self.finish();
        }
        let dir = pages_dir(path);
        refuse_taken(&dir, *replaces)?;
        new_file::folder(&dir).path_context("cannot create", &dir)?;
        let mut rows = Vec::new();
        for (at, page) in std::mem::take(pages).into_iter().enumerate() {
            let file = page_name(at + 1);
            finish(page, &dir.join(&file), *replaces)?;
            rows.push(IndexRow { title: format!("{} (page {})", self.head.title, at + 1), file, facts: String::new() });
        }
        let index_page = Self::file(&dir.join("index.html"), *replaces)?;
        index(writer, &self.head, &rows, notes, index_page)?;
        Ok(Some(dir))
    }

    /// Makes a file visible under its name.
    pub(crate) fn finish(self) -> Result<Option<PathBuf>> {
        let Sink::File { path, replaces, pages } = self.to else { return Ok(None) };
        for page in pages {
            finish(page, &path, replaces)?;
        }
        Ok(Some(path))
    }

    fn drain(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.characters += buffer.chars().count();
        self.write(buffer.as_bytes())
    }
}

/// Writes an index page.
pub(crate) fn index(
    writer: &mut dyn Writer,
    head: &Head,
    rows: &[IndexRow],
    notes: &[String],
    mut target: Target<'_>,
) -> Result<()> {
    writer.index(head, rows, &mut target.buffer);
    writer.foot(notes, &mut target.buffer);
    target.drain()?;
    target.finish().map(drop)
}

fn finish(page: NewFile, path: &Path, replaces: bool) -> Result<()> {
    match page.finish(path, replaces) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(taken(path)),
        finished => finished.path_context("cannot write", path),
    }
}

fn refuse_taken(path: &Path, replaces: bool) -> Result<()> {
    if !replaces && new_file::is_taken(path) { Err(taken(path)) } else { Ok(()) }
}

/// An error: the file of an export exists.
#[derive(Debug, Error)]
#[error("{} already exists", .0.display())]
pub(crate) struct FileTaken(PathBuf);

fn taken(path: &Path) -> anyhow::Error {
    FileTaken(path.into()).into()
}

/// Returns the directory of pages that replaces a page which is too long.
fn pages_dir(path: &Path) -> PathBuf {
    match path.extension() {
        Some(extension) if extension == "html" || extension == "htm" => path.with_extension(""),
        _ => create::beside(path, "-pages"),
    }
}

/// Returns the name of a page in the directory of pages. Only HTML has several pages.
fn page_name(number: usize) -> String {
    format!("page-{number}.html")
}

/// Returns the path whose draft is the page.
fn page_path(path: &Path, number: usize) -> PathBuf {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("pitree");
    path.with_file_name(format!("{name}-{}", page_name(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::document::BlockRole;

    /// Begins a page after each ten bytes.
    struct ShortPages;

    impl Writer for ShortPages {
        fn head(&mut self, head: &Head, out: &mut String) {
            *out += &head.title;
        }

        fn entry(&mut self, entry: &EntryBlock, out: &mut String) {
            *out += &format!(" {} long enough", entry.id);
        }

        fn foot(&mut self, notes: &[String], out: &mut String) {
            *out += &notes.concat();
        }

        fn links(&mut self, links: &[PageLink], out: &mut String) {
            links.iter().for_each(|link| *out += &format!(" <{}>", link.file));
        }

        fn page_bytes(&self) -> usize {
            10
        }

        fn index(&mut self, _: &Head, files: &[IndexRow], out: &mut String) {
            files.iter().for_each(|row| *out += &format!("{} ", row.file));
        }
    }

    fn write(path: &Path, entries: usize, replaces: bool) -> Result<Option<PathBuf>> {
        let mut target = Target::file(path, replaces)?;
        target.begin(&mut ShortPages, Head { title: "T".into(), ..Head::default() })?;
        for id in 0..entries {
            let block = EntryBlock {
                id: id.to_string(),
                parent: None,
                role: BlockRole::Note,
                title: String::new(),
                facts: Vec::new(),
                label: None,
                branch: None,
                parts: Vec::new(),
            };
            target.entry(&mut ShortPages, &block)?;
        }
        target.end(&mut ShortPages, &["end".into()], &mut 0)
    }

    #[test]
    fn a_long_document_becomes_a_directory_of_pages() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.html");
        assert_eq!(write(&path, 1, false).unwrap(), Some(path.clone()));
        assert!(write(&path, 3, false).is_err());
        let pages = dir.path().join("a");
        assert_eq!(write(&path, 3, true).unwrap(), Some(pages.clone()));
        let read = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
        assert_eq!(read("index.html"), "page-1.html page-2.html page-3.html end");
        assert_eq!(read("page-1.html"), "T 0 long enough <page-2.html>");
        assert_eq!(read("page-2.html"), "T (page 2) <index.html> <page-1.html> 1 long enough <page-3.html>");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no drafts");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_gets_the_whole_document() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        assert!(write(&pipe, 3, false).is_err());
        assert_eq!(write(&pipe, 3, true).unwrap(), Some(pipe));
        let mut text = [0; 46];
        std::io::Read::read_exact(&mut reader, &mut text).unwrap();
        assert_eq!(text, *b"T 0 long enough 1 long enough 2 long enoughend");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
