//! An export as the browser asks for it: what is exported, where to, and which secrets are kept.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub use crate::catalog::export::redact::ListedSecret;
use crate::catalog::export::redact::Redact;
pub use crate::catalog::export::source::Scope;
use crate::catalog::export::source::Source;
use crate::catalog::export::target::Target;
use crate::catalog::export::{self, ExportRun};
use crate::export::Format;
use crate::export::personal::PersonalData;
use crate::secrets::Rules;
use crate::session::entry::EntryId;

/// The number of bytes of an export that are shown.
const SHOWN: usize = 4 * 1024;

/// The maximum number of bytes for the clipboard.
const COPIED: usize = 8 * 1024 * 1024;

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRequest {
    /// The session files.
    pub files: Vec<PathBuf>,
    /// The last entry; `None` for the leaf.
    pub end: Option<EntryId>,
    /// The format.
    pub format: Format,
    /// The chosen entries.
    pub scope: Scope,
    /// `true` to replace paths, names and addresses too.
    pub is_anonymous: bool,
    /// The secrets that are not replaced.
    pub kept: Vec<ListedSecret>,
    /// The destination.
    pub to: ExportTo,
}

/// The destination of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportTo {
    /// The beginning is shown.
    Preview,
    /// The clipboard.
    Clipboard,
    /// A new file, or a new directory for several sessions.
    File(PathBuf),
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportResult {
    /// The likely secrets, also those that are kept.
    pub secrets: Vec<ListedSecret>,
    /// The text: the beginning for a preview, all of it for the clipboard.
    pub text: String,
    /// The new file or directory.
    pub made: Option<PathBuf>,
    /// The number of replaced values by kind, in a sentence.
    pub note: String,
}

impl ExportRequest {
    /// Makes the export.
    ///
    /// # Errors
    /// A session cannot be read, has not the entry, or the file cannot be written.
    pub(crate) fn run(&self, home: &str, rules: &Rules, run: &mut ExportRun<'_>) -> Result<ExportResult> {
        let source = |path: &PathBuf| {
            let mut source = Source::session(path, home)?;
            let lost = || format!("entry not found in {}; it may have changed", path.display());
            let end = self.end.as_ref().map(|end| end.find(&source.tree).with_context(lost)).transpose()?;
            source.choose((self.scope, self.format), end, None)?;
            Ok(source)
        };
        let mut sources = self.files.iter().map(source).collect::<Result<Vec<_>>>()?;
        let groups: &[PersonalData] = if self.is_anonymous { PersonalData::ALL } else { &[] };
        let mut redact = export::collected(&mut sources, Some(groups), rules)?.finish();
        let secrets = redact.found();
        // Another selection can give a mark to another value.
        redact.keep(secrets.iter().filter(|secret| self.kept.contains(secret)));
        let (mut text, mut made) = (Vec::new(), None);
        match &self.to {
            ExportTo::File(path) => made = self.write(&mut sources, path, &redact, run)?,
            ExportTo::Preview => text = self.beginning(&mut sources, &redact, (SHOWN, run))?.0,
            ExportTo::Clipboard => {
                let is_whole;
                (text, is_whole) = self.beginning(&mut sources, &redact, (COPIED, run))?;
                if !is_whole {
                    bail!("the export is too large for the clipboard; write it to a file");
                }
            }
        }
        Ok(ExportResult { secrets, text: String::from_utf8_lossy(&text).into_owned(), made, note: redact.note() })
    }

    fn write(
        &self,
        sources: &mut [Source],
        path: &Path,
        redact: &Redact<'_>,
        run: &mut ExportRun<'_>,
    ) -> Result<Option<PathBuf>> {
        let format = (self.format, self.format.default_detail());
        match sources {
            [source] => export::write(source, format, redact, Target::file(path, false)?, run),
            sources => export::directory(sources, format, redact, (path, false), run).map(Some),
        }
    }

    /// Returns the first bytes of the first session, and `true` if they are the whole export.
    fn beginning(
        &self,
        sources: &mut [Source],
        redact: &Redact<'_>,
        (most, run): (usize, &mut ExportRun<'_>),
    ) -> Result<(Vec<u8>, bool)> {
        let Some(source) = sources.first_mut() else { return Ok((Vec::new(), true)) };
        let mut to = Beginning { bytes: Vec::new(), most, is_full: false };
        let written = (self.format, self.format.default_detail());
        let written = export::write(source, written, redact, Target::stream(&mut to), run);
        // A full buffer ends the export with an error.
        if !to.is_full {
            written?;
        }
        Ok((to.bytes, !to.is_full))
    }
}

/// A buffer for the first bytes of an export.
struct Beginning {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.is_full |= bytes.len() > room;
        if self.is_full { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_and_copied_has_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let token = ["ghp", "_k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3a"].concat();
        let file = dir.path().join("s.jsonl");
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{token}","timestamp":"2026-01-05T09:00:00Z","cwd":"/{token}"}}"#
        );
        let entry = format!(
            r#"{{"type":"message","id":"{token}","parentId":null,"timestamp":"2026-01-05T09:00:00Z","message":{{"role":"user","content":"use {token}"}}}}"#
        );
        std::fs::write(&file, format!("{header}\n{entry}\n")).unwrap();
        for (to, format) in [
            (ExportTo::Preview, Format::Markdown),
            (ExportTo::Clipboard, Format::Jsonl),
            (ExportTo::Clipboard, Format::Html),
        ] {
            let files = vec![file.clone()];
            let request = ExportRequest {
                files,
                end: None,
                format,
                scope: Scope::Branch,
                is_anonymous: false,
                kept: Vec::new(),
                to,
            };
            let mut run = ExportRun { now: 0, random: &mut || 7 };
            let result = request.run("/", Rules::built_in(), &mut run).unwrap();
            assert!(
                result.text.contains("[github-token 1]") || result.text.contains("\\[github-token 1\\]"),
                "{}",
                result.text
            );
            assert!(!format!("{result:?}").contains(&token[4..]), "{result:?}");
        }
    }
}
