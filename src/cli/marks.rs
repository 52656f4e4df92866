//! `pitree pin`, `unpin`, `tag`, `note` and `marks`: change, print, export and import lasting marks of sessions.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use clap::ValueHint;

use crate::base::text::clean;
use crate::changes::{ExpectedSession, NewMark, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::output::{PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::{load, locate, marks};
use crate::session::entry::EntryId;
use crate::session::marks::{Mark, Marks, clean_note, clean_tag};

/// Pin sessions, so that they come first in their project
///
/// pitree stores pins, tags and notes in its data directory. They follow a session through renaming, moving and the trash.
#[derive(Debug, clap::Args)]
pub(super) struct PinCommand {
    /// Session paths, ids, unique id prefixes, or names; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(value_name = "SESSION", required = true, add = completions::sessions())]
    sessions: Vec<OsString>,
    #[command(flatten)]
    switches: ChangeArgs,
}

/// Unpin sessions
#[derive(Debug, clap::Args)]
pub(super) struct UnpinCommand {
    #[command(flatten)]
    pin: PinCommand,
}

impl PinCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        self.set(context, true)
    }

    fn set(&self, context: &CommandContext, is_pinned: bool) -> Result<Exit> {
        let sessions = sessions(&self.sessions, context)?;
        let pin = |session| NewMark { session, mark: Mark::Pin, value: is_pinned.then(|| true.into()) };
        make(context, &self.switches, sessions.into_iter().map(pin).collect())
    }
}

impl UnpinCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        self.pin.set(context, false)
    }
}

/// Add tags to sessions, or remove them
///
/// `+release` adds a tag, and `-release` removes it, like `--remove release`. Without tags, prints those of the sessions.
#[derive(Debug, clap::Args)]
pub(super) struct TagCommand {
    /// Sessions as for `pitree pin`, and tags: `+release` adds one, `-draft` removes one
    #[arg(value_name = "SESSION|TAG", required = true, add = completions::sessions())]
    words: Vec<OsString>,
    /// Remove this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
    #[command(flatten)]
    switches: ChangeArgs,
}

/// Returns the arguments with `--remove=draft` for each `-draft` after the word `tag`, which clap takes for options.
pub(super) fn with_removed_tags(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut is_after, mut is_ended) = (false, false);
    let replaced = arguments.map(|word| {
        let removed = word.to_str().and_then(|word| word.strip_prefix('-')).filter(|tag| !tag.is_empty());
        let removed = removed.filter(|tag| is_after && !is_ended && !tag.starts_with('-') && *tag != "h");
        let replaced = removed.map(|tag| format!("--remove={tag}").into());
        is_after |= word == "tag";
        is_ended |= word == "--";
        replaced.unwrap_or(word)
    });
    replaced.collect()
}

impl TagCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let (mut words, mut tags) = (Vec::new(), Vec::new());
        for tag in &self.remove {
            tags.push((Mark::Tag(clean_tag(tag).map_err(Error::msg)?), None));
        }
        for word in &self.words {
            match word.to_str().and_then(|text| Some((text.strip_prefix(['+', '-'])?, text.starts_with('+')))) {
                Some((tag, is_added)) => {
                    tags.push((Mark::Tag(clean_tag(tag).map_err(Error::msg)?), is_added.then(|| true.into())));
                }
                None => words.push(word.clone()),
            }
        }
        if words.is_empty() {
            bail!("name a session: pitree tag SESSION +TAG");
        }
        let sessions = sessions(&words, context)?;
        if tags.is_empty() {
            return self.print(context, &sessions);
        }
        let mut marks = Vec::new();
        for session in &sessions {
            marks.extend(tags.iter().map(|(mark, value)| NewMark {
                session: session.clone(),
                mark: mark.clone(),
                value: Option::clone(value),
            }));
        }
        make(context, &self.switches, marks)
    }

    fn print(&self, context: &CommandContext, sessions: &[ExpectedSession]) -> Result<Exit> {
        let marks = ChangePrinter::new(context, &self.switches)?.changes.marks()?;
        let mut is_found = false;
        for ExpectedSession { path, id } in sessions {
            for tag in marks.tags(id) {
                is_found = true;
                if self.switches.json {
                    let path = PathFields::from(&**path);
                    output::json(&object! { tag, id, #[serde(flatten)] path })?;
                } else {
                    outln!("+{}", clean(tag))?;
                }
            }
        }
        Ok(Exit::Done.found(is_found))
    }
}

/// Write a note about a session or an entry, or print it
#[derive(Debug, clap::Args)]
pub(super) struct NoteCommand {
    /// Session path, id, unique id prefix, or name; SESSION@ENTRY for a note about an entry
    #[arg(add = completions::sessions())]
    session: OsString,
    /// The note; `-` reads standard input, "" removes the note; omit it to print the note; put -- before a text that starts with -
    text: Option<String>,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl NoteCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let SessionPlace { path, entry } = context.place(&self.session, None)?;
        let session = expected(path)?;
        let mark = match entry {
            None => Mark::Note,
            Some(entry) => {
                let tree = context.tree(&session.path)?;
                match EntryId::of(&tree, resolve::entry(&entry, &tree)?) {
                    EntryId::Id(id) => Mark::EntryNote(id),
                    EntryId::Place(_) => bail!("the entry has no id; write a note about its session instead"),
                }
            }
        };
        let Some(text) = &self.text else {
            let marks = ChangePrinter::new(context, &self.switches)?.changes.marks()?;
            let note = marks.get(&session.id, &mark.key()).and_then(|note| note.as_str());
            note.map_or(Ok(()), |note| output::lines(note, ""))?;
            return Ok(Exit::Done.found(note.is_some()));
        };
        let text = if text == "-" { stdin()? } else { text.clone() };
        let note = clean_note(&text).map_err(Error::msg)?;
        let value = (!note.is_empty()).then(|| note.into());
        make(context, &self.switches, vec![NewMark { session, mark, value }])
    }
}

/// Export or import pins, tags and notes
#[derive(Debug, clap::Args)]
pub(super) struct MarksCommand {
    #[command(subcommand)]
    what: MarksAction,
}

#[derive(Debug, clap::Subcommand)]
enum MarksAction {
    /// Write all marks as JSON, by session id
    Export {
        /// The new file; `-` writes to standard output
        #[arg(value_hint = ValueHint::FilePath, default_value = "-")]
        file: PathBuf,
    },
    /// Add marks from JSON to those of this machine
    ///
    /// Marks in the file replace those of the same session and kind. `pitree undo` reverts the import.
    Import {
        /// The file, written by `pitree marks export`; `-` reads standard input
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        #[command(flatten)]
        switches: ChangeArgs,
    },
}

impl MarksCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        match &self.what {
            MarksAction::Export { file } => {
                let marks = ChangePrinter::new(context, &ChangeArgs::default())?.changes.marks()?;
                let text = marks::to_json(&marks)?;
                if is_standard(file) {
                    output::write(&text)?;
                } else {
                    marks::export(file, &text)?;
                }
                Ok(Exit::Done)
            }
            MarksAction::Import { file, switches } => {
                let from = if is_standard(file) { "standard input".into() } else { file.display().to_string() };
                let text = match is_standard(file) {
                    true => stdin()?,
                    false => locate::read_text(file).with_context(|| format!("cannot read {from}"))?,
                };
                let marks =
                    marks::of_json(text.as_bytes()).with_context(|| format!("cannot import marks from {from}"))?;
                make(context, switches, imported(marks, context)?)
            }
        }
    }
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// Returns the marks to set, with the files of those sessions that are on this machine.
///
/// # Errors
/// A tag or a note is not valid.
fn imported(marks: Marks, context: &CommandContext) -> Result<Vec<NewMark>> {
    let catalog = context.read_catalog();
    let sessions = catalog.newest_first().into_iter().filter_map(|key| catalog.get(key));
    let paths: HashMap<String, PathBuf> =
        sessions.map(|session| (session.facts().marks_key().into_owned(), session.file_path())).collect();
    let mut wanted = Vec::new();
    for (id, marks) in marks.sessions {
        let session = ExpectedSession { path: paths.get(&id).cloned().unwrap_or_default(), id };
        for (key, value) in marks {
            let mark = Mark::of_key(&key);
            let value = match (&mark, value.as_str()) {
                (Mark::Pin | Mark::Tag(_), _) if value != true => {
                    bail!("{mark} of session {} is {value}; it must be true", session.id)
                }
                (Mark::Tag(tag), _) if clean_tag(tag).as_ref() != Ok(tag) => bail!("invalid tag {tag:?}"),
                (Mark::Note | Mark::EntryNote(_), Some(note)) => match clean_note(note).map_err(Error::msg)? {
                    note if note.is_empty() => bail!("the {mark} of session {} is empty", session.id),
                    note => note.into(),
                },
                (Mark::Note | Mark::EntryNote(_), None) => bail!("the {mark} of session {} is not text", session.id),
                _ => value,
            };
            wanted.push(NewMark { session: session.clone(), mark, value: Some(value) });
        }
    }
    Ok(wanted)
}

/// Resolves session arguments.
fn sessions(words: &[OsString], context: &CommandContext) -> Result<Vec<ExpectedSession>> {
    words.iter().map(|word| expected(context.session(word)?)).collect()
}

/// Returns the session in a file.
fn expected(path: PathBuf) -> Result<ExpectedSession> {
    let header = match load::header(&path) {
        Some(header) => header,
        None => resolve::digest(&path)?.header, // reports the reason
    };
    Ok(ExpectedSession { path, id: header.marks_key().into_owned() })
}

/// Sets marks and prints the changes.
fn make(context: &CommandContext, switches: &ChangeArgs, marks: Vec<NewMark>) -> Result<Exit> {
    ChangePrinter::new(context, switches)?.finish(&Request::Mark { marks })
}
