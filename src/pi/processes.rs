//! Detects running pi processes with the process list of the system. pi keeps no file open between writes, so a pi
//! without pitree's extension is only visible as a process with a working directory.
//!
//! With node, its title is `pi` or `pi-rpc`, which replaces its name and arguments (0.87.1, 1.6.0). With bun, and
//! before the title is set, the arguments name the script of pi. Other programs with that name look the same.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::disk::files;
use crate::system::kernel;

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
pub(crate) fn running(known: &HashSet<u32>) -> ByDir {
    kernel::PROCESSES.map_or_else(ByDir::new, |folder| of(Path::new(folder), known))
}

/// Returns the pi processes in a directory like `/proc`.
fn of(proc: &Path, known: &HashSet<u32>) -> ByDir {
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

#[cfg(all(test, unix))]
mod tests {
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
        assert_eq!(of(proc.path(), &none), dirs.map(|(dir, count)| (PathBuf::from(dir), count)).into());
        let but_two = of(proc.path(), &[10, 12].into());
        assert_eq!(but_two, [("/one", 1), ("/three", 3), ("/four", 1)].map(|(dir, count)| (dir.into(), count)).into());
        assert_eq!(of(&proc.path().join("gone"), &none), ByDir::new());
    }
}
