//! Changes of sessions of other machines: the pitree there makes them with its own journal, as a command with `--json`.
//! Sessions of a directory (`dir:`) are changed by this pitree. Then the mirror is synchronized.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::base::machine_paths;
use crate::base::shell::quote;
use crate::changes::{Change, ChangeOrigin, ChangeResult, ChangeStep, ExpectedSession, Request, summary, to_the_end};
use crate::config::Address;
use crate::disk::{load, state as state_file};
use crate::machines::link;
use crate::machines::registry::Machine;
use crate::machines::remote::PLACES;
use crate::machines::sync::{GoneFiles, SyncContext, sync};
use crate::machines::transport::{Transport, dir_word};
use crate::session::entry::EntryId;

/// The exit code of a script that does not find pitree.
const MISSING: i32 = 97;

/// The number of sessions of a command, whose length is limited.
const SESSIONS_AT_ONCE: usize = 500;

/// Commands of pitree without its name, which run one after the other until one fails.
pub(crate) type Commands = Vec<Vec<String>>;

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
    /// Returns the machine for a request of undo or redo, and the commands there. Returns `None` if it concerns this
    /// machine.
    pub(crate) fn step(&self, request: &Request) -> Option<(String, Commands)> {
        match request {
            Request::UndoLast { .. } => self.made.last()?.as_ref().map(|origin| undo_commands(origin, false)),
            Request::Redo => self.undone.last()?.as_ref().map(|origin| undo_commands(origin, true)),
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

/// Returns the machine of changes, and the commands that undo or redo them there.
fn undo_commands(ChangeOrigin { machine, numbers }: &ChangeOrigin, redoes: bool) -> (String, Commands) {
    let command = |number: &String| if redoes { step("redo", None) } else { step("undo", Some(number)) };
    (machine.clone(), numbers.iter().rev().map(command).collect())
}

fn step(name: &str, number: Option<&String>) -> Vec<String> {
    [name, "--json"].into_iter().map(String::from).chain(number.cloned()).collect()
}

/// The last change on another machine that a command or a browser made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RecordedChange {
    origin: Option<ChangeOrigin>,
    /// The time of the change in milliseconds since 1970.
    time: i64,
    is_undone: bool,
}

fn record_file(state: &Path) -> PathBuf {
    state.join("machines").join(".changes.json")
}

/// Returns the machine of the last change, and the commands that undo or redo it, if it was made after a time.
pub(crate) fn last_change(state: &Path, since: i64, redoes: bool) -> Option<(String, Commands)> {
    let recorded: RecordedChange = state_file::read(&record_file(state)).ok()?;
    recorded
        .origin
        .filter(|_| recorded.time > since && recorded.is_undone == redoes)
        .map(|origin| undo_commands(&origin, redoes))
}

/// Makes a change of mirrored sessions on their machine, and updates the mirror.
///
/// # Errors
/// The change cannot be made from here, the machine cannot be reached or has no pitree, or the change failed there.
pub(crate) fn make(machine: &Machine, request: &Request, context: &SyncContext<'_>) -> Result<ChangeResult> {
    if let Address::Dir(_) = machine.address {
        let done = context.changes.make(&in_dir(request)?, (context.now)(), &mut to_the_end);
        synchronize(machine, request, context);
        return done;
    }
    let made = run(machine, &commands(request)?, context);
    synchronize(machine, request, context);
    made
}

/// Runs commands of the pitree on a machine, such as those of [`ChangeOrder::step`], and updates the mirror.
///
/// # Errors
/// Those of [`make`].
pub(crate) fn make_step(machine: &Machine, commands: &Commands, context: &SyncContext<'_>) -> Result<ChangeResult> {
    let made = run(machine, commands, context);
    synchronize(machine, &Request::Redo, context);
    made
}

/// Updates the mirror after a change. If that fails, the mirror follows with the next synchronization.
fn synchronize(machine: &Machine, request: &Request, context: &SyncContext<'_>) {
    let is_gone = matches!(request, Request::Trash { .. });
    let gone = request.paths().iter().filter(|_| is_gone).map(|path| there(path)).collect();
    drop(sync(machine, context, &GoneFiles::AskExcept(gone)));
}

fn there(path: &Path) -> String {
    machine_paths::remote_path(path).unwrap_or_else(|| path.into()).to_string_lossy().into_owned()
}

/// Returns the request for the files of a directory of this machine instead of their mirrors.
fn in_dir(request: &Request) -> Result<Request> {
    match request {
        Request::IfSame { then, .. } => drop(in_dir(then)?),
        Request::Rename { .. } | Request::RenameAll { .. } | Request::Label { .. } => {}
        Request::LabelAll { .. } | Request::Trash { .. } => {}
        Request::Undo { .. } | Request::Redo => {
            bail!("changes of sessions in a directory are in the journal of this machine; omit --on")
        }
        _ => return Err(not_from_here()),
    }
    let mut request = request.clone();
    request.each_path(&mut |path| *path = there(path).into());
    Ok(request)
}

/// The error for a request that cannot be made for sessions of other machines.
fn not_from_here() -> anyhow::Error {
    anyhow!(
        "only names, labels and the trash of sessions on other machines can be changed from here; to work with a copy, run `pitree import`"
    )
}

/// Returns the commands for a request.
///
/// # Errors
/// The change cannot be made on another machine.
fn commands(request: &Request) -> Result<Commands> {
    let words = |first: &[&str], paths: &[PathBuf], last: &[&str]| {
        let all = first.iter().map(|word| (*word).to_owned()).chain(["--json".into(), "--".into()]);
        let all = all.chain(paths.iter().map(|path| there(path)));
        all.chain(last.iter().map(|word| (*word).to_owned())).collect()
    };
    let several = |first: &[&str], paths: &[PathBuf], last: &[&str]| {
        paths.chunks(SESSIONS_AT_ONCE).map(|paths| words(first, paths, last)).collect()
    };
    let paths = request.paths();
    Ok(match request {
        Request::IfSame { then, .. } => commands(then)?,
        Request::Rename { name, .. } => several(&["rename"], &paths, &[name]),
        Request::RenameAll { sessions, .. } => {
            let named = sessions.chunk_by(|(_, one), (_, other)| one == other);
            let command = |named: &[(ExpectedSession, String)]| {
                let paths: Vec<PathBuf> = named.iter().map(|(session, _)| session.path.clone()).collect();
                several(&["rename"], &paths, &[&named[0].1])
            };
            named.flat_map(command).collect()
        }
        Request::LabelAll { label, .. } => {
            let command = |path: &PathBuf| {
                let tree = load::tree(path, "")?;
                let last = tree.last_visible().and_then(|at| tree.nodes[at as usize].id.clone());
                let last = last.with_context(|| format!("{} has no messages", path.display()))?;
                Ok(words(&["label"], std::slice::from_ref(path), &[&last, label]))
            };
            paths.iter().map(command).collect::<Result<_>>()?
        }
        Request::Label { target: EntryId::Id(entry), label, .. } => vec![words(&["label"], &paths, &[entry, label])],
        Request::Trash { .. } => several(&["rm", "--yes"], &paths, &[]),
        Request::Undo { number } => vec![step("undo", number.map(|number| number.to_string()).as_ref())],
        Request::Redo => vec![step("redo", None)],
        _ => return Err(not_from_here()),
    })
}

/// A line that a command prints.
#[derive(Deserialize)]
struct ChangeLine {
    step: ChangeStep,
    group: Option<u64>,
    #[serde(flatten)]
    change: Change,
}

/// Runs commands of the pitree on a machine.
fn run(machine: &Machine, commands: &Commands, context: &SyncContext<'_>) -> Result<ChangeResult> {
    let (name, config) = (&machine.name, context.config);
    let transport = Transport { address: &machine.address, config, can_ask: context.can_ask };
    let command = transport.script("exec sh")?;
    let script = script(machine.address.dir(), commands);
    let output = link::run(command, script.into_bytes(), context.can_ask, context.is_wanted);
    let output =
        output.with_context(|| format!("{name} did not answer; look at its sessions before you repeat the command"))?;
    let lines = output.text.lines().filter_map(|line| serde_json::from_str::<ChangeLine>(line).ok());
    let lines: Vec<ChangeLine> = lines.collect();
    let made = ChangeOrigin { machine: name.clone(), numbers: numbers(&lines) };
    note(context, &lines, &made);
    match output.code {
        Some(0) => {}
        // The shell there may know no `command -v`.
        Some(MISSING | 126 | 127) => {
            bail!("changes of sessions on {name} need pitree there; install it, or run the command there")
        }
        _ => bail!("{name}: {}", output.failure()),
    }
    let step = lines.first().map_or(ChangeStep::Make, |line| line.step);
    let changes: Vec<Change> = lines.into_iter().map(|line| line.change).collect();
    let summary = if changes.is_empty() { "no change".into() } else { summary(step, &changes) };
    let summary = format!("{summary} on {name}");
    Ok(ChangeResult { summary, changes, machine: Some(made), ..ChangeResult::default() })
}

/// Returns the numbers, or ranges of numbers, of the changes of each command.
fn numbers(lines: &[ChangeLine]) -> Vec<String> {
    let groups = lines.chunk_by(|one, other| one.group == other.group);
    let number = |lines: &[ChangeLine]| {
        let first = lines.first()?.group?;
        let last = first + lines.len() as u64 - 1;
        Some(if last == first { first.to_string() } else { format!("{first}-{last}") })
    };
    groups.filter_map(number).collect()
}

/// Records the last change. Only `pitree undo` without `--on` needs it.
fn note(context: &SyncContext<'_>, lines: &[ChangeLine], made: &ChangeOrigin) {
    let Some(line) = lines.first() else { return };
    drop(state_file::update(&record_file(context.state), |recorded: &mut RecordedChange| match line.step {
        ChangeStep::Make => {
            *recorded = RecordedChange { origin: Some(made.clone()), time: (context.now)(), is_undone: false };
        }
        ChangeStep::Undo => recorded.is_undone = true,
        ChangeStep::Redo => recorded.is_undone = false,
    }));
}

/// Returns the script that runs commands of pitree on a machine.
fn script(dir: Option<&str>, commands: &Commands) -> String {
    let dir = dir.map_or(String::new(), |dir| format!("--dir {} ", dir_word(dir)));
    let line = |words: &Vec<String>| {
        let words: Vec<String> = words.iter().map(quote).collect();
        format!("\"$p\" {dir}{} </dev/null || exit\n", words.join(" "))
    };
    let lines: String = commands.iter().map(line).collect();
    format!(
        "for p in {PLACES}; do if command -v \"$p\" >/dev/null 2>&1; then\n{lines}exit 0; fi; done; exit {MISSING}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_the_command() {
        let path = Path::new("/d/machine-mirrors/box/%2Fs/--a--/it's $(x)\n.jsonl").to_path_buf();
        let request = Request::Rename { path, name: "-n \"new\" `x`".into() };
        let commands = commands(&request).unwrap();
        assert_eq!(commands, [["rename", "--json", "--", "/s/--a--/it's $(x)\n.jsonl", "-n \"new\" `x`"]]);
        let script = script(Some("~/a b"), &commands).replace(PLACES, "printargs");
        let dir = tempfile::tempdir().unwrap();
        let script = format!("printargs() {{ printf '[%s]' \"$@\"; }}; HOME=/h\n{script}");
        let output = std::process::Command::new("sh").arg("-c").arg(&script).current_dir(dir.path()).output().unwrap();
        let expected = "[--dir][/h/a b][rename][--json][--][/s/--a--/it's $(x)\n.jsonl][-n \"new\" `x`]";
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}
