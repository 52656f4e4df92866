//! `pitree export`: writes sessions for other people, as Markdown, HTML or a session file.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueHint;

use crate::base::machine_paths;
use crate::base::numbers::{count, thousands};
use crate::base::text::clean;
use crate::catalog::Catalog;
use crate::catalog::export::source::{Scope, Source};
use crate::catalog::export::target::{FileTaken, Target};
use crate::catalog::export::{self, DIRECTORY, ExportRun, file_stem};
use crate::changes::{ImportRequest, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::command_context::absolute;
use crate::cli::{CommandContext, Exit, completions, now, output, resolve};
use crate::disk::load::EntryReader;
use crate::disk::{program, relocations};
use crate::export::document::{Detail, ToolDetail};
use crate::export::personal::PersonalData;
use crate::export::{Format, jsonl};
use crate::runtime::raw_output;
use crate::runtime::secret_rules::ChosenRules;
use crate::secrets::{Rules, sample};
use crate::session::write::import::{self, ImportedHeader};

/// The maximum number of characters of a pull request, an issue or a comment on GitHub.
const GITHUB: usize = 65_536;

/// Export sessions to share them, without likely secrets
///
/// Writes the branch to ENTRY, or to the leaf, as Markdown or HTML, or as a session file for pi. Likely secrets are
/// replaced by marks such as [github-token 1]; rules cannot find every secret, so read the export before you share it.
/// Several sessions are exported into a directory with an index page. Prints the path of the new file.
#[derive(Debug, clap::Args)]
pub(super) struct ExportCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the last entry as well
    #[arg(required = true, add = completions::sessions())]
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
    /// Export the whole family of the session as one document, or as one session file for each member
    #[arg(long, conflicts_with = "context")]
    family: bool,
    /// Amount of tool calls: with results, one line each, or none; session files for pi: `short` keeps the calls without results
    #[arg(long, value_name = "AMOUNT", default_value = "full")]
    tools: ToolDetail,
    /// Include the blocks that extensions put before prompts (session files always have them)
    #[arg(long)]
    blocks: bool,
    /// Include thinking (default for session files)
    #[arg(long)]
    thinking: bool,
    /// Leave out thinking and its signatures (default for documents)
    #[arg(long, conflicts_with = "thinking")]
    no_thinking: bool,
    /// Include images (default for session files); without them, only their type and size
    #[arg(long)]
    images: bool,
    /// Leave out images (default for documents)
    #[arg(long, conflicts_with = "images")]
    no_images: bool,
    /// Replace likely secrets (default); also paths (home and project directories) and people (user and host names, e-mail and IP addresses)
    #[arg(long, value_name = "ALSO", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    redact: Option<Vec<PersonalData>>,
    /// Keep secrets
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// List likely secrets with at most four characters each, and write nothing; exit code 3 if there are any
    #[arg(long, conflicts_with = "no_redact")]
    list: bool,
    /// Begin with the last answer, the changed files with their differences, and the commits (documents only)
    #[arg(long)]
    summary: bool,
    /// Leave out the output of the oldest tool calls until the Markdown has at most so many characters
    #[arg(long, value_name = "CHARACTERS")]
    max_length: Option<usize>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Open the new file in its default program
    #[arg(long)]
    open: bool,
}

impl ExportCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        self.export(context).map_err(|error| match error.downcast_ref::<FileTaken>() {
            Some(taken) => anyhow!("{taken}; use --force to replace it, or another --output"),
            None => error,
        })
    }

    fn export(&self, context: &CommandContext) -> Result<Exit> {
        let scope = match () {
            () if self.context => Scope::Context,
            () if self.tree || self.family => Scope::Tree,
            () => Scope::Branch,
        };
        let is_stdout = self.output.as_deref() == Some(Path::new("-"));
        let format = self.format(is_stdout)?;
        self.check(format, is_stdout)?;
        let mut sources = self.sources((scope, format), context)?;
        let rules = ChosenRules::new(&context.config.redact)?;
        if self.list {
            return list(&mut sources, &rules, context);
        }
        if let (Format::Jsonl, Some(newer)) = (format, sources.iter().find(|source| source.tree.header.is_newer())) {
            bail!("{} has a newer format version; export it as md or html, or update pitree", newer.path.display());
        }
        let groups = (!self.no_redact).then(|| self.redact.as_deref().unwrap_or_default());
        let redact = export::collected(&mut sources, groups, &rules)?.finish();
        let mut run = ExportRun { now: now(), random: &mut crate::changes::random, characters: 0 };
        let written = (format, self.detail(format));
        let made = match &mut sources[..] {
            [source] if !self.is_directory(format) => {
                let path = self.path(&redact.text(&source.tree.header.id), format);
                let mut stdout = output::STDOUT.lock();
                let target = if is_stdout { Target::stream(&mut *stdout) } else { Target::file(&path, self.force)? };
                export::write(source, written, &redact, target, &mut run)?
            }
            sources => {
                let dir = self.output.clone().unwrap_or(DIRECTORY.into());
                Some(export::directory(sources, written, &redact, (&dir, self.force), &mut run)?)
            }
        };
        output::flush()?;
        output::note(&redact.note());
        if format == Format::Markdown && sources.len() == 1 {
            self.note_length(run.characters);
        }
        if let Some(made) = made {
            raw_output::print(made.as_os_str())?;
            if self.open {
                open(&made)?;
            }
        }
        Ok(Exit::Done)
    }

    /// Loads the sessions or their families, and chooses the entries.
    fn sources(&self, content: (Scope, Format), context: &CommandContext) -> Result<Vec<Source>> {
        let mut sources: Vec<Source> = Vec::new();
        let mut catalog = if self.family { context.read_catalog() } else { Catalog::default() };
        for word in &self.sessions {
            let place = context.place(word, None)?;
            if !self.family {
                let source = Source::session(&place.path, &context.home)?;
                sources.push(self.choose(source, place.entry.as_deref(), content)?);
                continue;
            }
            let key = resolve::key_of(&mut catalog, &place.path)?;
            if !self.is_directory(content.1) {
                let source = Source::family(&catalog, key, &context.home)?;
                sources.push(self.choose(source, place.entry.as_deref(), content)?);
                continue;
            }
            for (member, source) in Source::members(&catalog, key, &context.home)? {
                let end = place.entry.as_deref().filter(|_| member == key);
                let source = self.choose(source, end, content)?;
                // Two of the named sessions can be of one family.
                match sources.iter_mut().find(|known| known.path == source.path) {
                    Some(known) if end.is_some() => *known = source,
                    Some(_) => {}
                    None => sources.push(source),
                }
            }
        }
        Ok(sources)
    }

    /// Chooses the entries of a session or a family.
    fn choose(&self, mut source: Source, end: Option<&str>, content: (Scope, Format)) -> Result<Source> {
        let entry = |word: &str| resolve::entry(word, &source.tree);
        let end = end.map(entry).transpose()?;
        let since = self.since.as_deref().map(entry).transpose()?;
        source.choose(content, end, since)?;
        Ok(source)
    }

    /// Returns `true` if the export is a directory: several sessions, or the session files of a family.
    fn is_directory(&self, format: Format) -> bool {
        self.sessions.len() > 1 || self.family && format == Format::Jsonl
    }

    fn detail(&self, format: Format) -> Detail {
        let default = format.default_detail();
        Detail {
            tools: self.tools,
            thinking: self.thinking || default.thinking && !self.no_thinking,
            images: self.images || default.images && !self.no_images,
            blocks: self.blocks || default.blocks,
            summary: self.summary,
            max_length: self.max_length,
        }
    }

    /// Returns the format: as asked, of the extension of the output, or Markdown.
    fn format(&self, is_stdout: bool) -> Result<Format> {
        let extension = self.output.as_deref().filter(|_| !is_stdout).and_then(|path| path.extension()?.to_str());
        Ok(match (self.format, extension) {
            (Some(format), _) => format,
            (None, Some(extension)) if self.sessions.len() == 1 => match Format::of_extension(extension) {
                Some(format) => format,
                None => bail!("no format for the extension {extension:?}; add --format md, html or jsonl"),
            },
            _ => Format::Markdown,
        })
    }

    /// Refuses combinations of options without meaning.
    fn check(&self, format: Format, is_stdout: bool) -> Result<()> {
        let is_file = format == Format::Jsonl;
        if is_file && self.tools == ToolDetail::None {
            bail!("a session file needs its tool calls, because later answers refer to them; use --tools short");
        }
        if is_file && self.family && self.since.is_some() {
            bail!("--since names an entry of one session, and --family writes a file for each; omit one of them");
        }
        if is_file && self.family && self.format.is_none() {
            bail!("a family has a session file for each member; name a directory with --output and add --format jsonl");
        }
        if is_file && self.summary {
            bail!("a session file has no summary; omit --summary, or choose --format md or html");
        }
        if format != Format::Markdown && self.max_length.is_some() {
            bail!("only Markdown is shortened; omit --max-length, or choose --format md");
        }
        if is_stdout && (self.open || self.is_directory(format)) {
            bail!("standard output takes one session and cannot be opened; name a file or a directory with --output");
        }
        Ok(())
    }

    /// Names the limits that the length of a document passes.
    fn note_length(&self, characters: usize) {
        let has = format!("the export has {} characters", thousands(characters));
        if let Some(max) = self.max_length.filter(|max| characters > *max) {
            note!("{has}, more than {} even without tool output; try --tools none or --since ENTRY", thousands(max));
        } else if characters > GITHUB {
            note!("{has}; GitHub accepts {} in one text: try --max-length {GITHUB}", thousands(GITHUB));
        }
    }

    /// Returns the path of the output for one session. The default name does not contain the title, which can be secret.
    fn path(&self, id: &str, format: Format) -> PathBuf {
        let name = format!("{}.{}", file_stem(id, 8), format.extension());
        match &self.output {
            Some(path) if path.is_dir() => path.join(name),
            Some(path) => path.clone(),
            None => name.into(),
        }
    }
}

/// Lists likely secrets.
fn list(sources: &mut [Source], rules: &Rules, context: &CommandContext) -> Result<Exit> {
    let mut rows = Vec::new();
    for source in sources {
        for at in source.all_entries() {
            let id = source.tree.id(at).unwrap_or("-").to_owned();
            jsonl::each_text(&source.line(at)?, &mut |key, text| {
                let found = rules.find_in_field(key, text);
                rows.extend(found.into_iter().map(|finding| {
                    let sample = format!("{}…", sample(&text[finding.range.clone()]));
                    let masked = |text: &str| rules.mask(text).into_owned();
                    [finding.rule.as_str().to_owned(), masked(&id), masked(key), sample]
                        .map(|text| clean(&text).into_owned())
                }));
            });
        }
    }
    let found = rows.len();
    context.table("rule entry field sample", rows, "")?;
    output::flush()?;
    let places = count(found, "place with a likely secret", "places with likely secrets");
    note!("{places}; rules cannot find every secret");
    Ok(if found == 0 { Exit::Done } else { Exit::Over })
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

/// The maximum number of listed line numbers.
const LISTED: usize = 10;

/// Import a session from a file, and print its new path
///
/// Adds a session file, such as one written by `pitree export --format jsonl`, or a copy of a session of another machine,
/// to the sessions of a project. Nothing in it is executed, and its link to a parent session is removed. Invalid lines are omitted. The session keeps its id
/// unless another session of this machine has it. `pitree undo` moves it to the trash.
#[derive(Debug, clap::Args)]
pub(super) struct ImportCommand {
    /// The session file, or the id, unique id prefix or name of a session of another machine; `-` reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Working directory of the imported session; defaults to the current directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    args: ChangeArgs,
}

impl ImportCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let cwd = self.cwd()?;
        let bytes = self.bytes(context)?;
        // The same checks as when it is written, for the id and the omitted lines.
        let header = ImportedHeader { new_id: "", replace_id: false, cwd: &cwd, time_ms: 0 };
        let checked = import::import(&bytes, &header, &mut || 0);
        let checked = checked.with_context(|| format!("cannot import {}", self.name()))?;
        let new_id = context.is_here(&checked.id);
        let into = context.located.project_dir(&cwd).context("there is no session directory; name one with --dir")?;
        let done = changer.make(&Request::Import(ImportRequest { bytes, into, cwd, new_id }))?;
        if !checked.omitted.is_empty() {
            let lines = count(checked.omitted.len(), "invalid line", "invalid lines");
            let first: Vec<String> = checked.omitted.iter().take(LISTED).map(|line| thousands(*line)).collect();
            let more = if checked.omitted.len() > LISTED { ", …" } else { "" };
            note!("omitted {lines}: {}{more}", first.join(", "));
        }
        if new_id {
            note!("another session has the id {}; the imported session gets a new one", checked.id);
        }
        changer.print_made(&done)
    }

    fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    fn name(&self) -> String {
        if self.is_stdin() { "standard input".into() } else { self.file.display().to_string() }
    }

    fn bytes(&self, context: &CommandContext) -> Result<Vec<u8>> {
        if !self.is_stdin() {
            // Sessions of this machine are forked, not imported.
            let there = || context.session(self.file.as_os_str()).ok().filter(|path| machine_paths::is_mirrored(path));
            let there = if self.file.exists() { None } else { there() };
            return EntryReader::open(there.as_ref().unwrap_or(&self.file))?.whole();
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        Ok(bytes)
    }

    /// Returns the working directory of the imported session.
    fn cwd(&self) -> Result<String> {
        let dir = absolute(self.cwd.as_deref().unwrap_or(Path::new(".")))?;
        relocations::directory(&dir).context("--cwd names the project of the imported session")
    }
}
