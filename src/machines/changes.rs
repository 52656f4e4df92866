//! Changes of sessions of other machines: the pitree there makes them with its own journal. Each request has an ID, so that
//! a repetition after a lost connection changes nothing twice.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::base::machine_paths;
use crate::changes::{ChangeOrigin, ChangeResult, Changes, ExpectedSession, FileSnapshot, Request, random, to_the_end};
use crate::disk::load;
use crate::disk::state as state_file;
use crate::machines::client::Client;
use crate::machines::link::LinkError;
use crate::machines::registry::Machine;
use crate::machines::sync::{GoneFiles, SyncContext, sync};
use crate::machines::transport::Transport;
use crate::machines::wire::{ChangeOutcome, RemoteChange, RemoteSession};
use crate::session::entry::EntryId;

/// The number of attempts to make a change.
const TRIES: usize = 3;

/// Returns the machine whose sessions a request names, or `None` if all are sessions of this machine.
///
/// # Errors
/// The sessions are on several machines.
pub(crate) fn machine_of(request: &Request) -> Result<Option<String>> {
    let paths = request.paths();
    let mut machines = paths.iter().map(|path| machine_paths::machine(path));
    let first = machines.next().flatten();
    ensure!(machines.all(|machine| machine == first), "change sessions of one machine at a time");
    Ok(first.map(String::from))
}

/// The changes of a browser in order, with the machine of each, so that undo and redo apply to the right one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeOrder {
    /// `None` for changes on this machine.
    made: Vec<Option<ChangeOrigin>>,
    undone: Vec<Option<ChangeOrigin>>,
}

impl ChangeOrder {
    /// Returns the machine for a request of undo or redo, and the change there. Returns `None` if it concerns this machine.
    pub(crate) fn step(&self, request: &Request) -> Option<(String, RemoteChange)> {
        match request {
            Request::UndoLast { .. } => {
                let origin = self.made.last().cloned().flatten()?;
                Some((origin.machine, RemoteChange::UndoRequest(origin.request)))
            }
            Request::Redo => Some((self.undone.last().cloned().flatten()?.machine, RemoteChange::Redo)),
            _ => None,
        }
    }

    /// Records the result of a request.
    pub(crate) fn note(&mut self, request: &Request, result: &Result<ChangeResult>) {
        let Ok(done) = result else { return };
        match request {
            Request::UndoLast { .. } => {
                let undone = self.made.pop().flatten();
                self.undone.push(undone);
            }
            Request::Redo => {
                let redone = self.undone.pop().flatten();
                self.made.push(redone);
            }
            _ if request.is_step() => {}
            _ if done.changes.is_empty() && done.machine.is_none() => {}
            _ => {
                self.made.push(done.machine.clone());
                self.undone.clear();
            }
        }
    }
}

/// The last change on another machine that a command or a browser made, and a change whose result is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RecordedChanges {
    /// The machine and the ID of the request.
    last: Option<(String, String)>,
    /// The time of the last change in milliseconds since 1970.
    time: i64,
    is_undone: bool,
    /// The machine, the change and the ID of a request without an answer, so that a repetition has the same ID.
    pending: Option<(String, RemoteChange, String)>,
}

fn record_file(state: &Path) -> PathBuf {
    state.join("machines").join(".changes.json")
}

/// Returns the machine of the last change, and the change that undoes or redoes it, if it was made after a time.
pub(crate) fn last_change(state: &Path, since: i64, redoes: bool) -> Option<(String, RemoteChange)> {
    let recorded: RecordedChanges = state_file::read(&record_file(state)).ok()?;
    let (machine, request) = recorded.last.filter(|_| recorded.time > since && recorded.is_undone == redoes)?;
    Some((machine, if redoes { RemoteChange::Redo } else { RemoteChange::UndoRequest(request) }))
}

/// Converts a request for mirrored sessions to one for the machine.
///
/// # Errors
/// The change cannot be made on another machine.
pub(crate) fn remote(request: &Request) -> Result<RemoteChange> {
    let session = |path: &Path, id: &str| RemoteSession { path: there(path), id: id.into() };
    let sessions = |all: &[ExpectedSession]| all.iter().map(|one| session(&one.path, &one.id)).collect();
    Ok(match request {
        Request::IfSame { then, .. } => return remote(then),
        Request::Rename { path, name } => RemoteChange::Rename(vec![session(path, &id_of(path))], name.clone()),
        Request::RenameAll { sessions: all, name } => RemoteChange::Rename(sessions(all), name.clone()),
        Request::LabelAll { sessions: all, label } => RemoteChange::LabelLast(sessions(all), label.clone()),
        Request::Label { path, target: EntryId::Id(entry), label, .. } => {
            RemoteChange::Label(session(path, &id_of(path)), entry.to_string(), label.clone())
        }
        Request::Trash { files } => {
            RemoteChange::Trash(files.iter().map(|file| (there(&file.path), file.bytes, file.mtime)).collect())
        }
        Request::Undo { number } => RemoteChange::Undo(*number),
        Request::Redo => RemoteChange::Redo,
        _ => bail!(
            "only names, labels and the trash of sessions on other machines can be changed from here; to work with a copy, run `pitree machine pull`"
        ),
    })
}

fn there(path: &Path) -> String {
    machine_paths::remote_path(path).unwrap_or_else(|| path.into()).to_string_lossy().into_owned()
}

fn id_of(path: &Path) -> String {
    load::header(path).map(|header| header.id).unwrap_or_default()
}

/// Makes a change on a machine, and updates its mirror.
///
/// # Errors
/// The machine cannot be reached or has no pitree, or the change failed there.
pub(crate) fn make(machine: &Machine, change: &RemoteChange, context: &SyncContext<'_>) -> Result<ChangeResult> {
    let transport = Transport { address: &machine.address, config: context.config, can_ask: context.can_ask };
    let (name, path) = (&machine.name, record_file(context.state));
    let recorded: RecordedChanges = state_file::read(&path).unwrap_or_default();
    let pending = recorded.pending.filter(|(of, known, _)| of == name && known == change).map(|(.., id)| id);
    let id = pending.unwrap_or_else(|| format!("{:032x}", random()));
    let record = |change: &dyn Fn(&mut RecordedChanges)| state_file::update(&path, |content| change(content));
    record(&|content| content.pending = Some((name.clone(), change.clone(), id.clone())))
        .context("cannot record the change")?;
    let mut last = None;
    for _ in 0..TRIES {
        match Client::connect(transport).and_then(|mut client| client.change(&id, change.clone())) {
            Ok(outcome) => {
                let is_made = outcome.is_made;
                let noted = record(&|content| {
                    content.pending = None;
                    match change {
                        _ if !is_made => {}
                        RemoteChange::Undo(_) | RemoteChange::UndoRequest(_) => content.is_undone = true,
                        RemoteChange::Redo => content.is_undone = false,
                        _ => {
                            content.last = Some((name.clone(), id.clone()));
                            (content.time, content.is_undone) = ((context.now)(), false);
                        }
                    }
                });
                drop(noted); // only `pitree undo` without --on needs it
                let gone = match change {
                    RemoteChange::Trash(files) => files.iter().map(|(path, ..)| path.clone()).collect(),
                    _ => Vec::new(),
                };
                // Without it, the mirror follows with the next synchronization.
                drop(sync(machine, context, &GoneFiles::AskExcept(gone)));
                return result((name, &id), outcome);
            }
            Err(error) if error.is_missing => {
                bail!("changes of sessions on {name} need pitree there ({error}); install it, or run the command there")
            }
            Err(error) if !error.is_offline => bail!("{name}: {error}"),
            Err(error) => {
                let is_silent = error.is_silent;
                last = Some(error);
                if is_silent {
                    break;
                }
            }
        }
    }
    let error = last.unwrap_or_else(|| LinkError::new("no answer"));
    bail!("{name} cannot be reached: {error}; repeat the command when it can")
}

fn result((machine, id): (&str, &str), outcome: ChangeOutcome) -> Result<ChangeResult> {
    let ChangeOutcome { summary, is_made, changes, warnings, left } = outcome;
    ensure!(is_made, "{machine}: {summary}");
    let changes = serde_json::from_str(&changes).context("the answer of the machine is not valid")?;
    let left = left.try_into().unwrap_or(usize::MAX);
    let summary = format!("{summary} on {machine}");
    let machine = Some(ChangeOrigin { machine: machine.into(), request: id.into() });
    Ok(ChangeResult { summary, changes, warnings, left, machine, ..ChangeResult::default() })
}

/// Makes a change on this machine for another one.
pub(super) fn carry_out(changes: Option<&Changes>, (id, change): (&str, &RemoteChange), now: i64) -> ChangeOutcome {
    let made = (|| {
        let changes = changes.context("no home directory there")?;
        let request = match change {
            RemoteChange::UndoRequest(id) => {
                let group = changes.group_of_request(id)?.context("the change is not in the journal there")?;
                Request::UndoGroup { group }
            }
            change => request(change)?,
        };
        let done = changes.clone().for_request(id).make(&request, now, &mut to_the_end)?;
        Ok::<_, anyhow::Error>(ChangeOutcome {
            is_made: true,
            changes: serde_json::to_string(&done.changes)?,
            summary: done.summary,
            warnings: done.warnings,
            left: done.left as u64,
        })
    })();
    made.unwrap_or_else(|error| ChangeOutcome { summary: format!("{error:#}"), ..ChangeOutcome::default() })
}

/// Returns the request for this machine.
fn request(change: &RemoteChange) -> Result<Request> {
    let path = |path: &str| {
        let path = PathBuf::from(path);
        ensure!(path.is_absolute(), "{} is not an absolute path", path.display());
        Ok(path)
    };
    let session = |one: &RemoteSession| Ok(ExpectedSession { path: path(&one.path)?, id: one.id.clone() });
    let sessions = |all: &[RemoteSession]| all.iter().map(session).collect::<Result<Vec<_>>>();
    Ok(match change {
        RemoteChange::Rename(all, name) => Request::RenameAll { sessions: sessions(all)?, name: name.clone() },
        RemoteChange::LabelLast(all, label) => Request::LabelAll { sessions: sessions(all)?, label: label.clone() },
        RemoteChange::Label(one, entry, label) => {
            let ExpectedSession { path, id } = session(one)?;
            let header = load::writable_header(&path)?;
            ensure!(header.id == id, "{} was replaced by another session; nothing was written", path.display());
            let target = EntryId::Id(entry.as_str().into());
            Request::Label { path, target, label: label.clone(), migrate: false }
        }
        RemoteChange::Trash(files) => {
            let file = |(name, bytes, mtime): &(String, u64, i64)| {
                Ok(FileSnapshot { path: path(name)?, bytes: *bytes, mtime: *mtime })
            };
            Request::Trash { files: files.iter().map(file).collect::<Result<_>>()? }
        }
        RemoteChange::Undo(number) => Request::Undo { number: *number },
        RemoteChange::UndoRequest(_) => bail!("the change is not in the journal there"),
        RemoteChange::Redo => Request::Redo,
    })
}
