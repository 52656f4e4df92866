//! `pitree mark`: changes, prints, exports and imports lasting marks of sessions.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use crate::base::numbers::count;
use crate::base::text::clean;
use crate::changes::{ExpectedSession, NewMark, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::output::{PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::{last_seen, load, locate, marks};
use crate::session::entry::EntryId;
use crate::session::marks::{Mark, Marks, clean_note, clean_tag};

/// Pin, tag or note sessions, or print their marks
///
/// pitree stores pins, tags and notes in its data directory. They follow a session through renaming, moving and the trash.
/// Without an option, prints the marks of the sessions.
#[derive(Debug, clap::Args)]
#[command(override_usage = "pitree mark SESSION... [OPTIONS]\n       pitree mark --export|--import [FILE]")]
pub(super) struct MarkCommand {
    /// Session paths, ids, unique id prefixes, or names; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY for a note on an entry
    #[arg(value_name = "SESSION", add = completions::sessions())]
    words: Vec<OsString>,
    /// Pin the sessions, so that they come first in their project
    #[arg(long, conflicts_with = "unpin")]
    pin: bool,
    /// Unpin the sessions
    #[arg(long)]
    unpin: bool,
    /// Add this tag (repeatable)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Remove this tag (repeatable)
    #[arg(long, value_name = "TAG", alias = "remove")]
    untag: Vec<String>,
    /// Write this note; `-` reads standard input, "" removes the note
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Mark the sessions as read
    #[arg(long)]
    read: bool,
    /// Write all marks as JSON, by session id, to the new FILE or to standard output
    #[arg(long, conflicts_with_all = OF_SESSIONS)]
    export: bool,
    /// Add the marks in FILE to those of this machine, and replace those of the same session and kind; `-` reads standard input
    #[arg(long, conflicts_with_all = OF_SESSIONS, conflicts_with = "export")]
    import: bool,
    /// Print only these marks; with `note`, the word after SESSION is the note
    #[arg(long, hide = true)]
    only: Option<PrintedMarks>,
    #[command(flatten)]
    switches: ChangeArgs,
}

/// The options for sessions.
const OF_SESSIONS: [&str; 7] = ["pin", "unpin", "tag", "untag", "note", "read", "only"];

/// The marks that the former commands print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrintedMarks {
    Tags,
    Note,
}

impl MarkCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        if self.export || self.import {
            let file = match &self.words[..] {
                [] if self.export => Path::new("-"),
                [file] => Path::new(file),
                _ => bail!("name one file: pitree mark --import FILE"),
            };
            return if self.export { export(file, context) } else { self.import(file, context) };
        }
        let (words, note) = match (self.only, &self.words[..]) {
            (_, []) => bail!("name a session: pitree mark SESSION --tag TAG"),
            (Some(PrintedMarks::Note), [session, text]) => {
                (std::slice::from_ref(session), text.to_str().map(String::from))
            }
            (_, words) => (words, self.note.clone()),
        };
        let note = if note.as_deref() == Some("-") { Some(stdin()?) } else { note };
        let sessions = words.iter().map(|word| self.session(word, context)).collect::<Result<Vec<_>>>()?;
        let mut marks = self.of_session()?;
        if let Some(note) = note {
            let note = clean_note(&note).map_err(Error::msg)?;
            marks.push((Mark::Note, (!note.is_empty()).then(|| note.into())));
        }
        if self.read {
            self.mark_as_read(&sessions, context)?;
        }
        let mut wanted = Vec::new();
        for (session, place) in &sessions {
            for (mark, value) in &marks {
                let mark = if *mark == Mark::Note { place } else { mark }.clone();
                wanted.push(NewMark { session: session.clone(), mark, value: Option::clone(value) });
            }
        }
        match wanted.is_empty() {
            true if self.read => Ok(Exit::Done),
            true => self.print(&sessions, context),
            false => make(context, &self.switches, wanted),
        }
    }

    /// Resolves a session, and the mark of its note or that of its entry.
    fn session(&self, word: &OsStr, context: &CommandContext) -> Result<(ExpectedSession, Mark)> {
        let SessionPlace { path, entry } = context.place(word, None)?;
        let session = expected(path)?;
        let Some(entry) = entry else { return Ok((session, Mark::Note)) };
        if self.pin || self.unpin || self.read || !(self.tag.is_empty() && self.untag.is_empty()) {
            bail!("an entry can only have a note; omit @{entry}");
        }
        let tree = context.tree(&session.path)?;
        match EntryId::of(&tree, resolve::entry(&entry, &tree)?) {
            EntryId::Id(id) => Ok((session, Mark::EntryNote(id))),
            EntryId::Place(_) => bail!("the entry has no id; write a note about its session instead"),
        }
    }

    /// Returns the pin and the tags to set or to remove in each session.
    fn of_session(&self) -> Result<Vec<(Mark, Option<Value>)>> {
        let set = || Some(true.into());
        let mut marks = Vec::new();
        marks.extend((self.pin || self.unpin).then(|| (Mark::Pin, if self.pin { set() } else { None })));
        let tags = self.tag.iter().map(|tag| (tag, set())).chain(self.untag.iter().map(|tag| (tag, None)));
        for (tag, value) in tags {
            marks.push((Mark::Tag(clean_tag(tag.trim_start_matches('+')).map_err(Error::msg)?), value));
        }
        Ok(marks)
    }

    fn mark_as_read(&self, sessions: &[(ExpectedSession, Mark)], context: &CommandContext) -> Result<()> {
        context.refuse_samples()?;
        let newest = |session: &ExpectedSession| Ok((session.id.clone(), resolve::digest(&session.path)?.modified));
        let newest = sessions.iter().map(|(session, _)| newest(session)).collect::<Result<Vec<_>>>()?;
        let newest = newest.into_iter().filter_map(|(id, modified)| Some((id, modified?))).collect();
        let state = locate::state_dir().filter(|_| !self.switches.dry_run);
        if let Some(state) = state {
            last_seen::write(&state, &newest).context("cannot mark the sessions as read")?;
        }
        let would = if self.switches.dry_run { "would: " } else { "" };
        outln!("{would}mark {} as read", count(sessions.len(), "session", "sessions"))
    }

    /// Prints the marks of sessions: each pin and tag in a line, and notes.
    fn print(&self, sessions: &[(ExpectedSession, Mark)], context: &CommandContext) -> Result<Exit> {
        let marks = ChangePrinter::new(context, &self.switches)?.changes.marks()?;
        let prints = |what| self.only.is_none_or(|only| only == what);
        let mut is_found = false;
        for (ExpectedSession { path, id }, place) in sessions {
            let path = PathFields::from(&**path);
            let tags: Vec<&str> =
                marks.tags(id).filter(|_| prints(PrintedMarks::Tags) && *place == Mark::Note).collect();
            let note = marks.get(id, &place.key()).and_then(|note| note.as_str());
            let note = note.filter(|_| prints(PrintedMarks::Note) && !self.switches.json);
            let is_pinned = self.only.is_none() && *place == Mark::Note && marks.is_pinned(id) && !self.switches.json;
            is_found |= is_pinned || note.is_some() || !tags.is_empty();
            for tag in tags {
                match self.switches.json {
                    true => output::json(&object! { tag, id, #[serde(flatten)] path: &path })?,
                    false => outln!("+{}", clean(tag))?,
                }
            }
            is_pinned.then(|| outln!("pinned")).transpose()?;
            note.map_or(Ok(()), |note| output::lines(note, ""))?;
        }
        Ok(Exit::Done.found(is_found))
    }

    fn import(&self, file: &Path, context: &CommandContext) -> Result<Exit> {
        let from = if is_standard(file) { "standard input".into() } else { file.display().to_string() };
        let text = match is_standard(file) {
            true => stdin()?,
            false => locate::read_text(file).with_context(|| format!("cannot read {from}"))?,
        };
        let marks = marks::of_json(text.as_bytes()).with_context(|| format!("cannot import marks from {from}"))?;
        make(context, &self.switches, imported(marks, context)?)
    }
}

/// Writes all marks to a new file, or to standard output.
fn export(file: &Path, context: &CommandContext) -> Result<Exit> {
    let marks = ChangePrinter::new(context, &ChangeArgs::default())?.changes.marks()?;
    let text = marks::to_json(&marks)?;
    if is_standard(file) {
        output::write(&text)?;
    } else {
        marks::export(file, &text)?;
    }
    Ok(Exit::Done)
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
