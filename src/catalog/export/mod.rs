//! Exports of sessions: loads a session or a family, redacts it in two passes, and writes it in a format.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::base::text::clean;
use crate::base::time;
use crate::catalog::export::differences::differences;
use crate::catalog::export::redact::{ExportCollector, ExportRedactor};
use crate::catalog::export::source::Source;
use crate::catalog::export::target::Target;
use crate::disk::new_file;
use crate::export::document::{Detail, Head, Outline};
use crate::export::jsonl::{self, NewHeader, PathLines};
use crate::export::personal::PersonalData;
use crate::export::reduced::reduced;
use crate::export::selection::Selection;
use crate::export::{Format, IndexRow};
use crate::secrets::Rules;
use crate::session::entry::EntryId;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::context_edit::with_replacement;
use crate::session::write::line::{NewEntry, leaf_move, new_id, uuid_v7};

mod differences;
pub(crate) mod redact;
pub(crate) mod source;
pub(crate) mod target;

pub use crate::catalog::export::redact::ListedSecret;
pub use crate::catalog::export::source::Scope;

/// The default name of the directory for several sessions.
pub(crate) const DIRECTORY: &str = "pitree-export";

/// The current time in milliseconds since 1970, and random numbers for new IDs.
pub(crate) struct ExportRun<'a> {
    pub(crate) now: i64,
    pub(crate) random: &'a mut dyn FnMut() -> u128,
    /// The number of characters of the written documents.
    pub(crate) characters: usize,
}

/// Collects the secrets of all sources. Without `groups`, nothing is redacted.
pub(crate) fn collected<'r>(
    sources: &mut [Source],
    groups: Option<&[PersonalData]>,
    rules: &'r Rules,
) -> Result<ExportCollector<'r>> {
    let cwds = sources.iter().map(|source| source.tree.header.cwd.clone()).collect();
    let ids: Vec<String> = sources.iter().map(|source| source.tree.header.id.clone()).collect();
    let mut collector = ExportCollector::new(&ids, cwds, groups, rules);
    for source in sources.iter_mut().filter(|_| groups.is_some()) {
        for at in source.all_entries() {
            let line = source.line(at)?;
            collector.line(&line, source.tree.id(at));
        }
    }
    Ok(collector)
}

/// Exports several sessions into a directory with an index page. Files that exist are replaced if `replaces` is set.
///
/// # Errors
/// A session cannot be read, or a file cannot be written.
pub(crate) fn directory(
    sources: &mut [Source],
    (format, detail): (Format, Detail),
    redact: &ExportRedactor<'_>,
    (dir, replaces): (&Path, bool),
    run: &mut ExportRun<'_>,
) -> Result<PathBuf> {
    let text_format = if format == Format::Jsonl { Format::Markdown } else { format };
    let index = dir.join(format!("index.{}", text_format.extension()));
    new_file::folder(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let index_target = Target::file(&index, replaces)?;
    let ids: Vec<String> = sources.iter().map(|source| redact.text(&source.tree.header.id).into_owned()).collect();
    let (mut rows, mut used) = (Vec::new(), HashSet::new());
    for (place, source) in sources.iter_mut().enumerate() {
        // File systems can ignore case.
        let is_free = |name: &String| !used.contains(&name.to_lowercase());
        let own = |length: usize| file_stem(&ids[place], length);
        let is_unique = |length: &usize| ids.iter().filter(|id| file_stem(id, *length) == own(*length)).count() == 1;
        let unique = [8, 36].into_iter().filter(is_unique).map(own);
        let numbered = (place + 1..).map(|number| format!("{}-{number}", own(36)));
        let name = unique.chain(numbered).find(is_free).unwrap_or_default();
        used.insert(name.to_lowercase());
        let file = format!("{name}.{}", format.extension());
        let head = source.head(redact)?;
        let made = write(source, (format, detail), redact, Target::file(&dir.join(&file), replaces)?, run)?;
        let made = made.and_then(|made| Some(made.strip_prefix(dir).ok()?.to_str()?.to_owned()));
        let facts = head.facts.iter().filter(|(name, _)| ["Project", "Date", "Cost"].contains(&&**name));
        let facts = facts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" · ");
        rows.push(IndexRow { file: made.unwrap_or(file), title: head.title, facts });
    }
    let Some(mut writer) = text_format.writer(None) else { return Ok(dir.into()) };
    let head = Head { title: "pi sessions".into(), ..Head::default() };
    target::index(&mut *writer, &head, &rows, &notes(redact, run.now), index_target)?;
    Ok(dir.into())
}

/// Writes one session and returns the path of the file.
///
/// # Errors
/// The session cannot be read, or the target cannot be written.
pub(crate) fn write(
    source: &mut Source,
    (format, detail): (Format, Detail),
    redact: &ExportRedactor<'_>,
    mut target: Target<'_>,
    run: &mut ExportRun<'_>,
) -> Result<Option<PathBuf>> {
    let Some(mut writer) = format.writer(detail.max_length) else {
        return session_file(source, detail, redact, target, run);
    };
    let mut head = source.head(redact)?;
    let tree = source.tree.clone();
    let label = |text: &str| redact.text(text).into_owned();
    let (entries, has_branches) = (source.entries.clone(), source.scope == Scope::Tree);
    // A context has the contents that are sent, and other documents have marks on both.
    let (edits, replaced) = match source.scope {
        Scope::Context => (HashMap::new(), source.edits.clone()),
        Scope::Branch | Scope::Tree => (source.edits.clone(), HashMap::new()),
    };
    let selection = Selection { tree: &tree, entries, edits, has_branches, detail, label: &label };
    let mut original = |at| anyhow::Ok(redact.line(&source.line(at)?));
    let has_differences = detail.summary && !has_branches;
    let differences = if has_differences { differences(&selection, &mut original)? } else { Vec::new() };
    let mut read = |at| {
        let line = original(at)?;
        let edit = replaced.get(&at).map(|&edit| original(edit)).transpose()?;
        Ok(edit.and_then(|edit| with_replacement(&line, &edit)).unwrap_or(line))
    };
    head.outline = Outline { differences, ..selection.outline(&mut read)? };
    // Several pages have an index of their own, and their prompts are not known yet.
    let bytes = selection.entries.iter().map(|&at| tree[at].len as usize).sum::<usize>();
    if bytes > writer.page_bytes() / 2 {
        head.outline.turns.clear();
    }
    target.begin(&mut *writer, head)?;
    selection.each(&mut read, &mut |block| target.entry(&mut *writer, &block))?;
    target.end(&mut *writer, &notes(redact, run.now), &mut run.characters)
}

/// Writes a session file with the chosen entries.
fn session_file(
    source: &mut Source,
    detail: Detail,
    redact: &ExportRedactor<'_>,
    mut target: Target<'_>,
    run: &mut ExportRun<'_>,
) -> Result<Option<PathBuf>> {
    let tree = source.tree.clone();
    let now = run.now;
    let random = &mut *run.random;
    let bits = random().to_be_bytes();
    let id = uuid_v7(now, std::array::from_fn(|at| bits[at]));
    let cwd = redact.text(&tree.header.cwd);
    let header = NewHeader { id: &id, time_ms: now, cwd: &cwd, version: tree.header.version };
    target.write(header.line().as_bytes())?;
    let mut entries = source.entries.clone();
    let mut buffer = Vec::new();
    let can_not = || format!("cannot export session {} as a session file", clean(&tree.header.id));
    let is_in: HashSet<u32> = entries.iter().copied().collect();
    if source.scope != Scope::Tree {
        let mut lines = PathLines::new(tree.header.version);
        for at in source.end.map(|end| tree.path(end)).unwrap_or_default() {
            let line = source.line(at)?;
            if !is_in.contains(&at) {
                lines.omit(&line);
                continue;
            }
            let line = reduced(&line, content_kind(&tree, at), detail);
            lines.entry(&line, &mut buffer).with_context(can_not)?;
            target.write_redacted(&mut buffer, redact)?;
        }
        if source.scope == Scope::Branch {
            let labels: Vec<u32> = tree.label_entries().collect();
            let labels = labels.into_iter().map(|at| source.line(at)).collect::<Result<Vec<_>>>()?;
            lines.labels(&labels, random, &mut buffer);
            target.write_redacted(&mut buffer, redact)?;
        }
    } else {
        entries.sort_unstable();
        let last = entries.last().copied();
        for at in entries {
            let parent = tree.parent(at).filter(|parent| is_in.contains(parent));
            let parent = parent.and_then(|parent| tree.id(parent));
            let line = source.line(at)?;
            let line = reduced(&line, content_kind(&tree, at), detail);
            jsonl::relinked(&line, parent, tree.header.version, &mut buffer);
            target.write_redacted(&mut buffer, redact)?;
        }
        // The last line is the leaf of pi.
        let end = source.end.filter(|end| is_in.contains(end) && Some(*end) != last);
        if let Some(end) = end.and_then(|end| Some((end, tree.id(end)?))) {
            let id = new_id(random, |id| tree.find(id).is_some());
            let parent = redact.text(end.1);
            let new = NewEntry { id: &id, parent: Some(&parent), time_ms: now };
            target.write((leaf_move(&new, tree.labels.contains_key(&end.0)) + "\n").as_bytes())?;
        }
    }
    target.finish()
}

/// Returns the kind of the entry to which the content of an entry belongs: for a context edit, that of its target.
fn content_kind(tree: &Tree, at: EntryIndex) -> EntryKind {
    let target = tree.edits.get(&at).map_or(at, |(target, _)| *target);
    tree[target].kind
}

/// Returns the notes at the end of an export.
pub(crate) fn notes(redact: &ExportRedactor<'_>, now: i64) -> Vec<String> {
    let day = time::iso(now).unwrap_or_default();
    let day = day.split('T').next().unwrap_or_default();
    vec![format!("Exported from pi with pitree {} on {day}.", env!("CARGO_PKG_VERSION")), redact.note()]
}

/// Returns the default name of a file without extension for a session ID, which can be any text. It does not contain the
/// title, which can be secret.
pub(crate) fn file_stem(id: &str, length: usize) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    format!("pitree-{}", id.chars().filter(is_safe).take(length).collect::<String>())
}

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
        let mut redact = collected(&mut sources, Some(groups), rules)?.finish();
        let secrets = redact.found();
        // Another selection can give a mark to another value.
        redact.keep(secrets.iter().filter(|secret| self.kept.contains(secret)));
        let written = (self.format, self.format.default_detail());
        let (mut text, mut made) = (Vec::new(), None);
        match (&self.to, &mut sources[..]) {
            (ExportTo::File(path), [source]) => {
                made = write(source, written, &redact, Target::file(path, false)?, run)?;
            }
            (ExportTo::File(path), sources) => made = Some(directory(sources, written, &redact, (path, false), run)?),
            (ExportTo::Preview | ExportTo::Clipboard, sources) => {
                let is_preview = self.to == ExportTo::Preview;
                let most = if is_preview { SHOWN } else { COPIED };
                let mut to = Beginning { bytes: Vec::new(), most, is_full: false };
                let mut write = |source| write(source, written, &redact, Target::stream(&mut to), run);
                let done = sources.first_mut().map_or(Ok(None), &mut write);
                match (to.is_full, is_preview) {
                    (false, _) => drop(done?),
                    (true, true) => {} // a full buffer ends the export with an error
                    (true, false) => bail!("the export is too large for the clipboard; write it to a file"),
                }
                text = to.bytes;
            }
        }
        Ok(ExportResult { secrets, text: String::from_utf8_lossy(&text).into_owned(), made, note: redact.note() })
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
            let mut run = ExportRun { now: 0, random: &mut || 7, characters: 0 };
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
