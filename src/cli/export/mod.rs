//! `pitree export`: writes sessions for other people, as Markdown, HTML, text or a session file.

mod redact;
mod source;
mod target;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap_complete::ArgValueCompleter;

use crate::base::numbers::count;
use crate::base::text::clean;
use crate::base::time;
use crate::cli::export::redact::{Collector, Redact};
use crate::cli::export::source::{Scope, Source};
use crate::cli::export::target::Target;
use crate::cli::output::Output;
use crate::cli::resolve::SessionPlace;
use crate::cli::secrets::ChosenRules;
use crate::cli::table::{self, Column};
use crate::cli::{CommandContext, completions, exit::Exit, now, output};
use crate::disk::{new_file, program};
use crate::export::document::{Detail, Head, ToolDetail};
use crate::export::jsonl::{self, NewHeader, PathLines};
use crate::export::personal::PersonalData;
use crate::export::selection::Selection;
use crate::export::{Format, IndexRow, Writer};
use crate::runtime::raw_output;
use crate::secrets::{Rules, sample};
use crate::session::write::line::{NewEntry, leaf_move, new_id, uuid_v7};

/// Export sessions to share them, without likely secrets
///
/// Writes the branch to ENTRY, or to the leaf, as Markdown, HTML or text, or as a session file for pi. Likely secrets are
/// replaced by marks such as [github-token 1]; rules cannot find every secret, so read the export before you share it.
/// Several sessions are exported into a directory with an index page. Prints the path of the new file.
#[derive(Debug, clap::Args)]
pub(super) struct ExportCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the last entry as well
    #[arg(required = true, add = ArgValueCompleter::new(completions::sessions))]
    sessions: Vec<OsString>,
    /// Write to FILE, to a directory, or to standard output with `-`; defaults to pitree-ID.md in the working directory
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format; defaults to the extension of the output file, else md
    #[arg(short, long)]
    format: Option<Format>,
    /// Export all branches
    #[arg(long, conflicts_with = "context")]
    tree: bool,
    /// Export the path to the entry (default)
    #[arg(long, conflicts_with_all = ["tree", "context", "family"])]
    branch: bool,
    /// Export the messages that the model receives at the entry
    #[arg(long)]
    context: bool,
    /// Start at this entry: id, unique id prefix, or label
    #[arg(long, value_name = "ENTRY")]
    since: Option<String>,
    /// Export the whole family of the session as one document
    #[arg(long, conflicts_with = "context")]
    family: bool,
    /// Amount of tool calls: with results, one line each, or none
    #[arg(long, value_name = "AMOUNT", default_value = "full")]
    tools: ToolDetail,
    /// Include thinking
    #[arg(long)]
    thinking: bool,
    /// Include images; without it, only their type and size
    #[arg(long)]
    images: bool,
    /// Replace likely secrets (default); also paths (home and project directories) and people (user and host names, e-mail and IP addresses)
    #[arg(long, value_name = "ALSO", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    redact: Option<Vec<PersonalData>>,
    /// Keep secrets
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// List likely secrets with at most four characters each, and write nothing; exit code 3 if there are any
    #[arg(long, conflicts_with = "no_redact")]
    list: bool,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Open the new file in its default program
    #[arg(long)]
    open: bool,
}

/// Rule, entry, field, sample.
const COLUMNS: [Column; 4] = [Column::Whole, Column::Whole, Column::Whole, Column::Whole];

impl ExportCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let scope = match () {
            () if self.context => Scope::Context,
            () if self.tree || self.family => Scope::Tree,
            () => Scope::Branch,
        };
        let is_stdout = self.output.as_deref() == Some(Path::new("-"));
        let format = self.format(is_stdout)?;
        self.check(format, is_stdout)?;
        let source = |word: &OsString| {
            let place = SessionPlace::new(word, None, chosen)?;
            Source::new(&place, chosen, (scope, self.family), self.since.as_deref())
        };
        let mut sources = self.sessions.iter().map(source).collect::<Result<Vec<_>>>()?;
        let rules = ChosenRules::new(&chosen.config.redact)?;
        if self.list {
            return list(&mut sources, &rules, (chosen, out));
        }
        if let (Format::Jsonl, Some(newer)) = (format, sources.iter().find(|source| source.tree.header.is_newer())) {
            bail!(
                "{} has a newer format version; export it as md, html or text, or update pitree",
                newer.path.display()
            );
        }
        let groups = (!self.no_redact).then(|| self.redact.as_deref().unwrap_or_default());
        let redact = collected(&mut sources, groups, &rules)?;
        let made = match &mut sources[..] {
            [source] => {
                let path = self.path(&redact.text(&source.tree.header.id), format);
                let target = if is_stdout { Target::stdout(out) } else { Target::file(&path, self.force)? };
                self.write(source, format, &redact, target)?
            }
            sources => Some(self.directory(sources, format, &redact)?),
        };
        out.flush()?;
        output::note(&redact.note());
        if let Some(made) = made {
            raw_output::print(made.as_os_str())?;
            if self.open {
                open(&made)?;
            }
        }
        Ok(Exit::Done.into())
    }

    /// Returns the format: as asked, of the extension of the output, or Markdown.
    fn format(&self, is_stdout: bool) -> Result<Format> {
        let extension = self.output.as_deref().filter(|_| !is_stdout).and_then(|path| path.extension()?.to_str());
        Ok(match (self.format, extension) {
            (Some(format), _) => format,
            (None, Some(extension)) if self.sessions.len() == 1 => match Format::of_extension(extension) {
                Some(format) => format,
                None => bail!("no format for the extension {extension:?}; add --format md, html, jsonl or text"),
            },
            _ => Format::Markdown,
        })
    }

    /// Refuses combinations of options without meaning.
    fn check(&self, format: Format, is_stdout: bool) -> Result<()> {
        let is_whole = self.tools == ToolDetail::Full && !self.thinking && !self.images;
        if format == Format::Jsonl && !(is_whole && !self.context && !self.family) {
            bail!("--context, --family, --tools, --thinking and --images cannot be used with --format jsonl");
        }
        if is_stdout && (self.open || self.sessions.len() > 1) {
            bail!("standard output takes one session and cannot be opened; name a file or a directory with --output");
        }
        Ok(())
    }

    /// Returns the path of the output for one session. The default name does not contain the title, which can be secret.
    fn path(&self, id: &str, format: Format) -> PathBuf {
        let name = format!("{}.{}", stem(id, 8), format.extension());
        match &self.output {
            Some(path) if path.is_dir() => path.join(name),
            Some(path) => path.clone(),
            None => name.into(),
        }
    }

    /// Exports several sessions into a directory with an index page.
    fn directory(&self, sources: &mut [Source], format: Format, redact: &Redact<'_>) -> Result<PathBuf> {
        let dir = self.output.clone().unwrap_or("pitree-export".into());
        let text_format = if format == Format::Jsonl { Format::Markdown } else { format };
        let index = dir.join(format!("index.{}", text_format.extension()));
        new_file::folder(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let index_target = Target::file(&index, self.force)?;
        let ids: Vec<String> = sources.iter().map(|source| redact.text(&source.tree.header.id).into_owned()).collect();
        let mut rows = Vec::new();
        for (place, source) in sources.iter_mut().enumerate() {
            let own = |length: usize| stem(&ids[place], length);
            let is_unique = |length: &usize| ids.iter().filter(|id| stem(id, *length) == own(*length)).count() == 1;
            let name = [8, 36].into_iter().find(is_unique).map(own);
            let name = name.unwrap_or_else(|| format!("{}-{}", own(36), place + 1));
            let file = format!("{name}.{}", format.extension());
            let head = source.head(redact)?;
            let made = self.write(source, format, redact, Target::file(&dir.join(&file), self.force)?)?;
            let made = made.and_then(|made| Some(made.strip_prefix(&dir).ok()?.to_str()?.to_owned()));
            let facts = head.facts.iter().filter(|(name, _)| ["Project", "Date", "Cost"].contains(&&**name));
            let facts = facts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" · ");
            rows.push(IndexRow { file: made.unwrap_or(file), title: head.title, facts });
        }
        let Some(mut writer) = text_format.writer() else { return Ok(dir) };
        let head = Head { title: "pi sessions".into(), facts: Vec::new() };
        target::index(&mut *writer, &head, &rows, &notes(redact), index_target)?;
        Ok(dir)
    }

    /// Writes one session and returns the path of the file.
    fn write(
        &self,
        source: &mut Source,
        format: Format,
        redact: &Redact<'_>,
        target: Target<'_>,
    ) -> Result<Option<PathBuf>> {
        match format.writer() {
            Some(mut writer) => self.document(source, &mut *writer, redact, target),
            None => session_file(source, redact, target),
        }
    }

    fn document(
        &self,
        source: &mut Source,
        writer: &mut dyn Writer,
        redact: &Redact<'_>,
        mut target: Target<'_>,
    ) -> Result<Option<PathBuf>> {
        let head = source.head(redact)?;
        target.begin(writer, head)?;
        let tree = source.tree.clone();
        let detail = Detail { tools: self.tools, thinking: self.thinking, images: self.images };
        let label = |text: &str| redact.text(text).into_owned();
        let (entries, has_branches) = (source.entries.clone(), source.scope == Scope::Tree);
        let selection = Selection { tree: &tree, entries, has_branches, detail, label: &label };
        let mut read = |at| Ok(redact.line(&source.line(at)?));
        selection.each(&mut read, &mut |block| target.entry(writer, &block))?;
        target.end(writer, &notes(redact))
    }
}

/// Collects the secrets of all sources. Without `groups`, nothing is redacted.
fn collected<'r>(sources: &mut [Source], groups: Option<&[PersonalData]>, rules: &'r Rules) -> Result<Redact<'r>> {
    let cwds = sources.iter().map(|source| source.tree.header.cwd.clone()).collect();
    let ids: Vec<String> = sources.iter().map(|source| source.tree.header.id.clone()).collect();
    let mut collector = Collector::new(&ids, cwds, groups, rules);
    for source in sources.iter_mut().filter(|_| groups.is_some()) {
        for at in source.all_entries() {
            collector.line(&source.line(at)?);
        }
    }
    Ok(collector.finish())
}

/// Writes a session file with the chosen entries.
fn session_file(source: &mut Source, redact: &Redact<'_>, mut target: Target<'_>) -> Result<Option<PathBuf>> {
    let tree = source.tree.clone();
    let mut random = crate::changes::random;
    let bits = random().to_be_bytes();
    let id = uuid_v7(now(), std::array::from_fn(|at| bits[at]));
    let cwd = redact.text(&tree.header.cwd);
    let header = NewHeader { id: &id, time_ms: now(), cwd: &cwd, version: tree.header.version };
    target.write(header.line().as_bytes())?;
    let mut entries: Vec<u32> = source.entries.iter().map(|&(at, _)| at).collect();
    let mut buffer = Vec::new();
    let can_not = || format!("cannot export {} as a session file", source_name(&tree.header.id));
    if source.scope == Scope::Branch {
        let mut lines = PathLines::new(tree.header.version);
        for at in entries {
            let line = source.line(at)?;
            lines.entry(&line, &mut buffer).with_context(can_not)?;
            target.write_redacted(&mut buffer, redact)?;
        }
        let labels: Vec<u32> = tree.label_entries().collect();
        let labels = labels.into_iter().map(|at| source.line(at)).collect::<Result<Vec<_>>>()?;
        lines.labels(&labels, &mut random, &mut buffer);
        target.write_redacted(&mut buffer, redact)?;
    } else {
        entries.sort_unstable();
        let is_in: std::collections::HashSet<u32> = entries.iter().copied().collect();
        let last = entries.last().copied();
        for at in entries {
            let parent = tree.parent(at).filter(|parent| is_in.contains(parent));
            let parent = parent.and_then(|parent| tree.nodes[parent as usize].id.as_deref());
            jsonl::relinked(&source.line(at)?, parent, tree.header.version, &mut buffer);
            target.write_redacted(&mut buffer, redact)?;
        }
        // The last line is the leaf of pi.
        let end = source.end.filter(|end| is_in.contains(end) && Some(*end) != last);
        if let Some(end) = end.and_then(|end| Some((end, tree.nodes[end as usize].id.as_deref()?))) {
            let id = new_id(&mut random, |id| tree.find(id).is_some());
            let new = NewEntry { id: &id, parent: Some(end.1), time_ms: now() };
            target.write((leaf_move(&new, tree.labels.contains_key(&end.0)) + "\n").as_bytes())?;
        }
    }
    target.finish()
}

fn source_name(id: &str) -> String {
    format!("session {}", clean(id))
}

/// Returns the notes at the end of an export.
fn notes(redact: &Redact<'_>) -> Vec<String> {
    let day = time::iso(now()).unwrap_or_default();
    let day = day.split('T').next().unwrap_or_default();
    vec![format!("Exported from pi with pitree {} on {day}.", env!("CARGO_PKG_VERSION")), redact.note()]
}

/// Returns a file name without extension for a session ID, which can be any text.
fn stem(id: &str, length: usize) -> String {
    let is_safe = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    format!("pitree-{}", id.chars().filter(is_safe).take(length).collect::<String>())
}

/// Lists likely secrets.
fn list(sources: &mut [Source], rules: &Rules, (chosen, out): (&CommandContext, &mut Output)) -> Result<ExitCode> {
    let mut rows = Vec::new();
    for source in sources {
        for at in source.all_entries() {
            let id = source.tree.nodes[at as usize].id.as_deref().unwrap_or("-").to_owned();
            jsonl::each_text(&source.line(at)?, &mut |key, text| {
                let found = if key.is_empty() { rules.find(text) } else { rules.find_in_field(key, text) };
                rows.extend(found.into_iter().map(|finding| {
                    let sample = format!("{}…", sample(&text[finding.range.clone()]));
                    [finding.rule.as_str().to_owned(), id.clone(), key.to_owned(), sample]
                        .map(|text| clean(&text).into_owned())
                }));
            });
        }
    }
    table::print(out, COLUMNS, &rows, chosen.config.signs())?;
    out.flush()?;
    let places = count(rows.len(), "place with a likely secret", "places with likely secrets");
    output::note(&format!("{places}; rules cannot find every secret"));
    Ok(if rows.is_empty() { Exit::Done } else { Exit::Over }.into())
}

/// Opens a file in its default program.
fn open(path: &Path) -> Result<()> {
    let path = std::path::absolute(path)?;
    let programs = ["xdg-open", "open", "explorer.exe"];
    let Some(program) = programs.iter().find_map(|program| program::find(program)) else {
        let names = programs.join(", ");
        bail!("cannot open {}: found none of {names}", path.display());
    };
    let mut command = Command::new(&program);
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).with_context(|| format!("cannot start {}", program.display()))
}
