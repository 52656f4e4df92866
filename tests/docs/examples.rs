//! The documented commands work on the demo sessions: examples in the pages and in the help of each command.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::{fs, thread};

use super::{pages, read, root};

/// Commands that change sessions. They run on a copy of the demo sessions with `--dry-run`.
const CHANGES: &[&str] = &["archive", "clean", "fork", "label", "mark", "move", "rename", "rm", "slim", "undo"];

/// Commands that need more than the demo sessions: a terminal, a running pi, other machines, the trash, or files.
const OTHERS: &[&str] = &[
    "blame", "demo", "import", "index", "init", "live", "machine", "next", "pi", "redo", "resume", "serve", "setup",
    "trash",
];

/// Arguments that stand for something of the reader: a file, a directory, or a result of an earlier command.
const OF_READER: &[&str] = &[
    "CURSOR",
    "SESSION",
    "HIT",
    "VERSION",
    "~/",
    "backup/",
    "*.",
    "notes.md",
    "marks.json",
    "entries -",
    "secrets -",
    "--since e1-",
    "--open",
    "export .\n",
    "index.ts\n",
    "log src/",
    "undo --list",
    "--diff disk",
];

/// Parts of examples that find nothing in the demo: its sessions are new and small, and their directories do not exist.
const WITHOUT_HITS: &[&str] =
    &["is:archived", "archive --restore", "before:6mo", "is:lost", "pitree slim", "pitree undo", "secrets scrub"];

/// Options and qualifiers that select by the time of a message.
const TIMES: &[&str] = &["after:", "before:", "active:", "--since ", "--until "];

/// Returns the commands in the examples of a page, each from `pitree` to the next operator of the shell.
fn examples(page: &str) -> Vec<String> {
    let mut examples = Vec::new();
    let (mut is_shell, mut is_help) = (false, false);
    for line in page.lines() {
        match line.trim() {
            "```sh" => is_shell = true,
            "```" => (is_shell, is_help) = (false, false),
            heading if heading.starts_with("Examples") => is_help = true,
            _ => {}
        }
        if !(is_shell || is_help && line.starts_with("  ")) || !line.trim_start().starts_with("pitree ") {
            continue;
        }
        // A comment of the shell, or the description in a help text.
        let command = line.split(" # ").next().unwrap().trim();
        let command = if is_help { command.split("  ").next().unwrap() } else { command };
        let ends = [" | ", " > ", " && ", "; "].iter().filter_map(|end| command.find(end));
        examples.push(command[..ends.min().unwrap_or(command.len())].trim().to_owned());
    }
    examples
}

/// Runs a command in a new directory beside a copy of the demo sessions. Their times are fixed: a command that selects by
/// time runs with `--demo`, which takes longer.
fn run(command: &str, dir: &Path) -> Output {
    let name = command.split(' ').nth(1).unwrap_or_default();
    let changes = CHANGES.contains(&name) || command.contains(" --repair") || command.contains(" scrub");
    let selects_time = TIMES.iter().any(|word| command.contains(word));
    let sessions = match () {
        () if command.contains(" --demo") => "",
        () if selects_time && !changes => "--demo",
        () => "--dir ../sessions",
    };
    let dry_run = if changes && !command.contains(" --dry-run") { "--dry-run" } else { "" };
    let arguments = command.strip_prefix("pitree ").unwrap();
    let line = format!("exec '{}' {sessions} {arguments} {dry_run}", env!("CARGO_BIN_EXE_pitree"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let cwd = tempfile::tempdir_in(dir).unwrap();
    shell.env("HOME", dir.join("home")).current_dir(cwd.path()).output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns `true` if the commands of the test can run an example.
fn is_runnable(command: &str) -> bool {
    let mut words = command.split(' ').skip(1);
    let is_command = words.next().is_some_and(|name| {
        let is_name = pitree::cli::help_pages::command().get_subcommands().any(|known| known.get_name() == name);
        is_name && !OTHERS.contains(&name)
    });
    is_command && !OF_READER.iter().any(|word| format!("{command}\n").contains(word))
}

#[test]
fn documented_commands_work_on_the_demo_sessions() {
    let dir = tempfile::tempdir().unwrap();
    copy(&root().join("assets/demo"), &dir.path().join("sessions"));
    // Later runs use its index.
    assert!(run("pitree ls", dir.path()).status.success());
    let all: BTreeSet<String> = pages().iter().flat_map(|page| examples(&read(page))).collect();
    let commands: Vec<&String> = all.iter().filter(|command| is_runnable(command)).collect();
    assert!(commands.len() > 60, "examples were not found: {commands:#?}");
    let (rest, failed) = (Mutex::new(commands), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(command) = rest.lock().unwrap().pop() else { break };
            let output = run(command, dir.path());
            let is_done = match output.status.code() {
                // 3: a check found something.
                Some(0 | 3) => true,
                Some(1) => WITHOUT_HITS.iter().any(|word| command.contains(word)),
                _ => false,
            };
            if !is_done {
                let error = String::from_utf8_lossy(&output.stderr).into_owned();
                failed.lock().unwrap().push(format!("{command}: {:?} {error}", output.status.code()));
            }
        }
    };
    thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} examples fail:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn session_ids_in_examples_are_those_of_the_demo() {
    let id = regex::Regex::new(r"\b01[0-9a-f]{6}\b").unwrap();
    let folders = fs::read_dir(root().join("assets/demo")).unwrap();
    let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    for page in pages() {
        for command in examples(&read(&page)) {
            for id in id.find_iter(&command).map(|found| found.as_str()) {
                let is_there = names.iter().any(|name| name.contains(&format!("_{id}")));
                assert!(is_there, "{}: no demo session has the id {id}: {command}", page.display());
            }
        }
    }
}
