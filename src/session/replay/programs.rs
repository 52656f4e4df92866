//! The programs in shell commands that pitree knows: the few whose changes it applies, and those that change no files. Any
//! other program may change all files.

use crate::base::paths::full_path;
use crate::session::replay::script::{GitCommand, SimpleCommand, Word, name, script_of, words};

/// A change of files by a command. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The file has this text.
    Write(String, String),
    /// The file is removed.
    Remove(String),
    /// The file or directory is removed.
    RemoveAll(String),
    /// The file or directory is moved.
    Move(String, String),
    /// The file is copied.
    Copy(String, String),
    /// The command writes to the file.
    Output(String),
    /// The file or directory may be changed.
    Path(String),
    /// Files with this name may be changed.
    Name(&'static str),
    /// All files may be changed if the output reports that some were rewritten.
    IfReported,
    /// All files may be changed.
    All,
}

impl Effect {
    /// Returns `true` if the effect only makes known files doubtful.
    pub(super) fn is_doubt(&self) -> bool {
        match self {
            Self::Path(_) | Self::Name(_) | Self::IfReported | Self::All => true,
            Self::Write(..)
            | Self::Remove(_)
            | Self::RemoveAll(_)
            | Self::Move(..)
            | Self::Copy(..)
            | Self::Output(_) => false,
        }
    }
}

/// Programs and words of the shell that change no files, apart from redirections.
const READ_ONLY: &[&str] = &[
    // Words of the shell
    "",
    "[",
    "[[",
    "break",
    "case",
    "continue",
    "done",
    "echo",
    "esac",
    "exit",
    "export",
    "false",
    "fi",
    "for",
    "printf",
    "pwd",
    "read",
    "return",
    "set",
    "test",
    "true",
    "type",
    "unset",
    "wait",
    "}",
    // Files and texts
    "basename",
    "cat",
    "chmod",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "file",
    "find",
    "grep",
    "head",
    "jq",
    "ls",
    "md5sum",
    "mkdir",
    "nl",
    "od",
    "readlink",
    "realpath",
    "rg",
    "rmdir",
    "seq",
    "sha256sum",
    "shasum",
    "stat",
    "tac",
    "tail",
    "touch",
    "tr",
    "wc",
    "which",
    // The system
    "date",
    "hostname",
    "id",
    "kill",
    "lsof",
    "nproc",
    "pgrep",
    "pkill",
    "printenv",
    "ps",
    "sleep",
    "uname",
    "whoami",
    // Checks and tests
    "mypy",
    "pyright",
    "pytest",
    "shellcheck",
    "tsc",
    "tsgo",
];

/// Programs that change no files without one of these short options.
const READ_ONLY_WITHOUT: &[(&str, &str)] =
    &[("curl", "oOJ"), ("fd", "xX"), ("jest", "u"), ("sed", "i"), ("sort", "o"), ("vitest", "u")];

/// Commands of programs that change no files; Cargo changes its lock file.
const READ_ONLY_COMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "add",
            "blame",
            "branch",
            "cat-file",
            "config",
            "describe",
            "diff",
            "fetch",
            "grep",
            "init",
            "log",
            "ls-files",
            "ls-tree",
            "merge-base",
            "push",
            "reflog",
            "remote",
            "rev-list",
            "rev-parse",
            "show",
            "status",
            "tag",
            "worktree",
        ],
    ),
    ("cargo", &["bench", "build", "check", "clippy", "doc", "metadata", "nextest", "test", "tree"]),
    ("go", &["build", "env", "list", "test", "version", "vet"]),
    ("npm", &["ls", "outdated", "view"]),
];

/// Tasks of a project that check or build. They can rewrite files, but then usually report it.
const TASKS: [&str; 6] = ["build", "check", "lint", "test", "typecheck", "type-check"];

/// Options with which a program writes files, or runs another one.
const WRITES: &[&str] = &[
    "delete",
    "exec",
    "exec-batch",
    "execdir",
    "fix",
    "fls",
    "fprint",
    "fprintf",
    "in-place",
    "ok",
    "okdir",
    "output",
    "remote-name",
    "snapshot-update",
    "update",
    "updateSnapshot",
    "write",
];

/// The place in which a command runs.
pub(super) struct ShellContext<'a> {
    /// The working directory, if it is known.
    pub(super) cwd: Option<String>,
    /// The home directory, for `~`.
    pub(super) home: &'a str,
}

impl ShellContext<'_> {
    /// Returns the path of a word.
    fn path(&self, word: &Word) -> Option<String> {
        if word.is_computed || word.text.is_empty() {
            return None;
        }
        if !word.text.starts_with(['/', '~']) && self.cwd.is_none() {
            return None;
        }
        Some(full_path(&word.text, self.cwd.as_deref().unwrap_or_default(), self.home))
    }

    fn change(&self, word: &Word) -> Effect {
        self.path(word).map_or(Effect::All, Effect::Path)
    }
}

/// Adds the changes of a simple command. `is_sure` is `true` if the command ran and succeeded.
pub(super) fn of_command(
    command: &SimpleCommand,
    is_sure: bool,
    place: &mut ShellContext<'_>,
    effects: &mut Vec<Effect>,
) {
    let name = name(command);
    let args = words(command).get(1..).unwrap_or_default();
    let given: Vec<&Word> = args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let writes = match (name, &command.input, &command.outputs[..]) {
        ("cat", Some(input), [(file, false)]) if args.is_empty() => place.path(file).map(|path| (path, input.clone())),
        _ => None,
    };
    if let Some((path, text)) = writes.filter(|_| is_sure) {
        return effects.push(Effect::Write(path, text));
    }
    for (file, _) in command.outputs.iter().filter(|(file, _)| !file.text.starts_with("/dev/")) {
        effects.push(place.path(file).map_or(Effect::All, Effect::Output));
    }
    match name {
        "cd" => place.cwd = if is_sure { given.first().and_then(|word| place.path(word)) } else { None },
        "pushd" | "popd" => place.cwd = None,
        "rm" => {
            // Without such an option, `rm` fails for a directory.
            let is_recursive = |word: &Word| matches!(&*word.text, "--recursive" | "--dir");
            let is_recursive = has_letter(args, "rRd") || args.iter().any(is_recursive);
            let removed = if is_recursive { Effect::RemoveAll } else { Effect::Remove };
            effects.extend(given.iter().map(|word| match place.path(word).filter(|_| is_sure) {
                Some(path) => removed(path),
                None => place.change(word),
            }));
        }
        "mv" | "cp" => {
            // Options such as `-n`, `-r` and `-t` change the meaning of the arguments.
            let is_plain =
                |word: &Word| !word.text.starts_with('-') || matches!(&*word.text, "-f" | "-p" | "-v" | "-fv");
            let to = if name == "mv" { Effect::Move } else { Effect::Copy };
            let applied = moved(&given, place, to).filter(|_| is_sure && args.iter().all(is_plain));
            effects.extend(applied.unwrap_or_else(|| given.iter().map(|word| place.change(word)).collect()));
        }
        "tee" => effects.extend(given.iter().map(|word| place.change(word))),
        "sed" if has_letter(args, "i") => effects.extend(given.iter().map(|word| place.change(word))),
        "git" => effects.extend(GitCommand::new(args).into_iter().flat_map(|git| of_git(git, place))),
        "uniq" => effects.extend(given.get(1).map(|word| place.change(word))),
        // The script is read too.
        _ if script_of(command).is_some() => {}
        _ => effects.extend(of_other(name, args, &given)),
    }
}

/// Returns the changes of a program that is not applied.
fn of_other(name: &str, args: &[Word], given: &[&Word]) -> Vec<Effect> {
    let options = args.iter().filter(|word| word.text.starts_with('-'));
    let mut options = options.map(|word| word.text.trim_start_matches('-').split('=').next().unwrap_or_default());
    if options.any(|option| WRITES.contains(&option)) {
        return vec![Effect::All];
    }
    let first = given.first().map_or("", |word| &*word.text);
    let reads_without = READ_ONLY_WITHOUT.iter().any(|(known, letters)| *known == name && !has_letter(args, letters));
    if READ_ONLY.contains(&name) || reads_without {
        return Vec::new();
    }
    if READ_ONLY_COMMANDS.iter().any(|(known, reads)| *known == name && reads.contains(&first)) {
        return (name == "cargo").then_some(Effect::Name("Cargo.lock")).into_iter().collect();
    }
    let task = if first == "run" { given.get(1).map_or("", |word| &*word.text) } else { first };
    let is_task = matches!(name, "npm" | "pnpm" | "yarn" | "bun") && !has_letter(args, "u");
    vec![if is_task && TASKS.contains(&task) { Effect::IfReported } else { Effect::All }]
}

/// Returns `true` if one of the short options is given.
fn has_letter(args: &[Word], letters: &str) -> bool {
    let options = args.iter().filter_map(|word| word.text.strip_prefix('-')).filter(|rest| !rest.starts_with('-'));
    options.into_iter().any(|options| options.contains(|letter: char| letters.contains(letter)))
}

/// Returns the changes of `mv` or `cp`, if all paths are known.
fn moved(given: &[&Word], place: &ShellContext<'_>, effect: fn(String, String) -> Effect) -> Option<Vec<Effect>> {
    let (to, from) = given.split_last()?;
    let target = place.path(to)?;
    let is_dir = from.len() > 1 || to.text.ends_with('/') || matches!(&*to.text, "." | "..");
    let one = |word: &&Word| {
        let from = place.path(word)?;
        let name = from.rsplit('/').next().unwrap_or_default();
        let to = if is_dir { format!("{}/{name}", target.trim_end_matches('/')) } else { target.clone() };
        Some(effect(from, to))
    };
    from.iter().map(one).collect()
}

/// Returns the changes of `git`.
fn of_git(git: GitCommand<'_>, place: &ShellContext<'_>) -> Vec<Effect> {
    let given: Vec<&Word> = git.args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let files = match git.name {
        "commit" => return vec![Effect::IfReported],
        "checkout" | "switch" if given.len() == 1 && (git.has("-b") || git.has("-c")) => return Vec::new(),
        // Paths follow.
        "checkout" => git.args.iter().skip_while(|word| word.text != "--").skip(1).collect(),
        "restore" | "rm" => given,
        name => return of_other("git", git.args, &[&Word { text: name.into(), is_computed: false }]),
    };
    // git looks for the files that match a pattern.
    let is_pattern = |word: &&Word| word.text.contains(['*', '?', '[', '{']) || word.text.starts_with(':');
    if git.is_elsewhere || files.is_empty() || files.iter().any(is_pattern) {
        return vec![Effect::All];
    }
    files.into_iter().map(|word| place.change(word)).collect()
}
