//! Running pis. A pi with pitree's extension (`assets/pi/pitree.ts`) reports its session and state in a status file. For
//! other pis, only the process and its working directory are known: pi keeps no file open between writes.
//!
//! The process list of the system shows them. With node, the title of a pi is `pi` or `pi-rpc`, which replaces its name and
//! arguments (0.87.1, 1.6.0). With bun, and before the title is set, the arguments name the script of pi. Other programs with
//! that name look the same.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::sort;
use crate::disk::watch::{self, Watch, WatchEvents};
use crate::disk::{create, files};
use crate::pi::status::{self, ClosedSession, PiStatus};
use crate::system::os;

/// The interval between checks that reporting pis still run, because a killed process cannot report its end.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The running pis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningPis {
    /// The pis that report their status, by PID.
    pub reported: Vec<PiStatus>,
    /// The number of other pis in each directory.
    pub by_dir: ByDir,
    /// The sessions that pis closed a moment ago.
    pub closed: Vec<ClosedSession>,
}

/// Returns the status of all reporting pis.
pub(crate) fn reported(state: Option<&Path>) -> Vec<PiStatus> {
    state.map(status::read).unwrap_or_default()
}

/// Returns the running pis from their status files and the process list.
pub(crate) fn running(state: Option<&Path>) -> RunningPis {
    let reported = reported(state);
    let known = reported.iter().map(|pi| pi.pid).collect();
    RunningPis { by_dir: processes(&known), reported, closed: state.map(status::closed).unwrap_or_default() }
}

/// Returns `true` if a pi reports a session as open.
pub(crate) fn has_open(pi: &PiStatus, session: &Path) -> bool {
    files::resolved(&pi.session) == files::resolved(session)
}

/// Returns the most urgent pi that reports a session as open.
pub(crate) fn pi_with<'a>(reported: &'a [PiStatus], session: &Path) -> Option<&'a PiStatus> {
    reported.iter().filter(|pi| has_open(pi, session)).min_by_key(|pi| pi.urgency())
}

/// Returns the pi that has waited longest for the user: at a question, at an error or at the end of its answer.
pub(crate) fn longest_waiting(reported: &[PiStatus]) -> Option<&PiStatus> {
    reported.iter().filter(|pi| pi.state.wants_user()).min_by_key(|pi| (pi.since, pi.urgency()))
}

/// Groups pis by session file, the most urgent first.
pub(crate) fn by_session(reported: &[PiStatus]) -> HashMap<&Path, Vec<&PiStatus>> {
    let mut by_session: HashMap<&Path, Vec<&PiStatus>> = HashMap::new();
    for pi in reported {
        by_session.entry(&pi.session).or_default().push(pi);
    }
    by_session.values_mut().for_each(|pi| sort::by_key(pi, |pi| pi.urgency()));
    by_session
}

/// Calls `on_pis` with the running pis whenever they or their states change, and after the time that it returned, until it
/// breaks. Never polls while no pi reports a status.
pub(crate) fn follow(state: &Path, mut on_pis: impl FnMut(RunningPis) -> ControlFlow<(), Option<Duration>>) {
    let folder = status::folder(state);
    // Without the directory, its parent would have to be watched, where others write too.
    let _ = create::private_folder(&folder);
    let mut watch = Watch::new(&[folder], watch::of_system);
    let mut last = running(Some(state));
    let mut step = on_pis(last.clone());
    while let ControlFlow::Continue(again) = step {
        let poll = (!last.reported.is_empty()).then_some(POLL_INTERVAL);
        let seen = watch.wait(poll.into_iter().chain(again).min());
        // The process list is only read after an event, not periodically.
        let now = match seen == WatchEvents::default() {
            true => RunningPis { reported: status::read(state), ..last.clone() },
            false => running(Some(state)),
        };
        if now != last || again.is_some() {
            last = now;
            step = on_pis(last.clone());
        }
    }
}

/// The number of pi processes in each directory.
pub type ByDir = HashMap<PathBuf, usize>;

/// The process titles of pi. `pi` is also its command name.
const NAMES: [&str; 2] = ["pi", "pi-rpc"];

/// The runtimes of pi.
const RUN_BY: [&str; 3] = ["node", "nodejs", "bun"];

/// The path suffixes of pi's scripts in its package.
const SCRIPTS: [&str; 4] = ["dist/cli.js", "dist/bundle/cli.js", "dist/rpc-entry.js", "dist/bundle/rpc-entry.js"];

/// Returns the running pi processes in the same PID namespace on Linux, and none on other systems. Excludes the `known`
/// PIDs.
fn processes(known: &HashSet<u32>) -> ByDir {
    os::PROCESSES.map_or_else(ByDir::new, |folder| processes_in(Path::new(folder), known))
}

/// Returns the pi processes in a directory like `/proc`.
fn processes_in(proc: &Path, known: &HashSet<u32>) -> ByDir {
    let mut pis = ByDir::new();
    for process in files::entries(proc) {
        let number = process.file_name().to_str().and_then(|name| name.parse().ok());
        if number.is_none_or(|number| known.contains(&number)) {
            continue;
        }
        let path = process.path();
        // Processes of other users and terminated processes cannot be read.
        let (Ok(name), Ok(arguments)) = (std::fs::read(path.join("comm")), std::fs::read(path.join("cmdline"))) else {
            continue;
        };
        let (name, arguments) = (String::from_utf8_lossy(&name), String::from_utf8_lossy(&arguments));
        let arguments: Vec<&str> = arguments.split('\0').filter(|argument| !argument.is_empty()).collect();
        if is_pi(name.trim_end(), &arguments)
            && let Ok(dir) = std::fs::read_link(path.join("cwd"))
        {
            *pis.entry(dir).or_default() += 1;
        }
    }
    pis
}

/// Returns `true` if a process is a pi that may write to a session.
fn is_pi(name: &str, arguments: &[&str]) -> bool {
    // A zombie process has no arguments.
    let [program, rest @ ..] = arguments else { return false };
    let runs_pi = || {
        let script = rest.iter().find(|argument| !argument.starts_with('-') && **argument != "run");
        let program = program.rsplit('/').next().unwrap_or_default();
        RUN_BY.contains(&program) && script.is_some_and(|script| is_script(script))
    };
    (NAMES.contains(&name) || runs_pi()) && !rest.contains(&"--no-session")
}

/// Returns `true` if a path is a script of pi or the command installed by its package.
fn is_script(path: &str) -> bool {
    let folder = |script: &str| path.strip_suffix(script).map(|folder| folder.ends_with("pi-coding-agent/"));
    SCRIPTS.iter().any(|script| folder(script) == Some(true)) || path.ends_with("/pi")
}

#[cfg(test)]
#[cfg(unix)]
mod process_tests {
    use super::*;
    use std::fs;

    #[test]
    fn knows_pis_by_their_titles_and_by_what_runs_them() {
        const PACKAGE: &str = "/usr/lib/node_modules/@earendil-works/pi-coding-agent/dist";
        let (bundle, rpc) = (format!("{PACKAGE}/bundle/cli.js"), format!("{PACKAGE}/rpc-entry.js"));
        let proc = tempfile::tempdir().unwrap();
        let process = |number: &str, name: &str, arguments: &[&str], dir: &str| {
            let path = proc.path().join(number);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("comm"), format!("{name}\n")).unwrap();
            fs::write(path.join("cmdline"), arguments.join("\0") + "\0").unwrap();
            std::os::unix::fs::symlink(dir, path.join("cwd")).unwrap();
        };
        // As observed with pi 1.6.0, 1.5.2 and 0.87.1: the title replaces the arguments.
        process("10", "pi", &["pi", "", "", ""], "/one");
        process("11", "pi-rpc", &["pi-rpc", "", ""], "/one");
        process("12", "bun", &["bun", "/usr/bin/pi"], "/two");
        process("13", "bun", &["/usr/bin/bun", &bundle, "--session", "/s.jsonl"], "/three");
        process("14", "bun", &["bun", "run", &rpc], "/three");
        process("15", "node", &["node", "--no-warnings", "/usr/bin/pi", "-c"], "/three");
        process("16", "pi", &["/opt/pi/pi"], "/four");
        // Not a pi, without a session, terminated, of another user, or not a process.
        process("20", "bun", &["bun", &bundle, "--no-session"], "/no");
        process("21", "node", &["node", "server.js", &bundle], "/no");
        process("22", "node", &["node", "/app/dist/cli.js"], "/no");
        process("23", "vi", &["vi", "/usr/bin/pi"], "/no");
        process("24", "pip", &["pip"], "/no");
        process("25", "pi", &[], "/no");
        process("self", "pi", &["pi"], "/no");
        process("26", "pi", &["pi"], "/no");
        fs::remove_file(proc.path().join("26/cwd")).unwrap();
        fs::create_dir(proc.path().join("27")).unwrap();
        let dirs = [("/one", 2), ("/two", 1), ("/three", 3), ("/four", 1)];
        let none = HashSet::new();
        assert_eq!(processes_in(proc.path(), &none), dirs.map(|(dir, count)| (PathBuf::from(dir), count)).into());
        let but_two = processes_in(proc.path(), &[10, 12].into());
        assert_eq!(but_two, [("/one", 1), ("/three", 3), ("/four", 1)].map(|(dir, count)| (dir.into(), count)).into());
        assert_eq!(processes_in(&proc.path().join("gone"), &none), ByDir::new());
    }
}
