//! The programs in shell commands that pitree knows: those that change no files, and the files that others change.

use crate::base::paths::full_path;
use crate::session::replay::git::GitCommand;
use crate::session::replay::script::{SimpleCommand, Word, is_shell, name, words};

/// A change of files by a command. Paths are absolute, if the working directory is known.
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
    /// The command writes to the file.
    Output(String),
    /// The file or directory may be changed.
    Path(String),
    /// Files with this name may be changed.
    Name(&'static str),
    /// Files that the command or its output mentions may be changed.
    Mentioned,
    /// Files that the command mentions may be changed.
    Named,
    /// All files may be changed.
    All,
}

impl Effect {
    /// Returns `true` if the effect only makes known files doubtful.
    pub(super) fn is_doubt(&self) -> bool {
        match self {
            Self::Path(_) | Self::Name(_) | Self::Mentioned | Self::Named | Self::All => true,
            Self::Write(..) | Self::Remove(_) | Self::RemoveAll(_) | Self::Move(..) | Self::Output(_) => false,
        }
    }
}

/// Commands that change no files, apart from redirections.
const READ_ONLY: &[&str] = &[
    "[",
    "alias",
    "base64",
    "basename",
    "bat",
    "cat",
    "cd",
    "chmod",
    "chown",
    "cksum",
    "clear",
    "cloc",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dig",
    "dirname",
    "done",
    "du",
    "echo",
    "esac",
    "egrep",
    "export",
    "eza",
    "false",
    "fgrep",
    "fi",
    "file",
    "fmt",
    "fold",
    "free",
    "grep",
    "head",
    "hexdump",
    "hostname",
    "id",
    "jq",
    "kill",
    "killall",
    "less",
    "ls",
    "lsof",
    "md5sum",
    "mkdir",
    "mktemp",
    "more",
    "nl",
    "nproc",
    "od",
    "paste",
    "pgrep",
    "ping",
    "pkill",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "rmdir",
    "seq",
    "set",
    "sha1sum",
    "sha256sum",
    "shasum",
    "sleep",
    "sort",
    "stat",
    "strings",
    "sw_vers",
    "tac",
    "tail",
    "test",
    "tokei",
    "touch",
    "tr",
    "tree",
    "true",
    "type",
    "ulimit",
    "uname",
    "unset",
    "uptime",
    "wait",
    "wc",
    "which",
    "whoami",
    "yes",
];

/// Tools that check or build, and write only to directories for their results.
const BUILDS: &[&str] = &[
    "tsc",
    "tsgo",
    "pytest",
    "jest",
    "vitest",
    "mypy",
    "pyright",
    "shellcheck",
    "hadolint",
    "gcc",
    "g++",
    "clang",
    "rustc",
    "javac",
];

/// Tools that rewrite many files.
const REWRITES: &[&str] = &[
    "prettier",
    "biome",
    "eslint",
    "rustfmt",
    "gofmt",
    "goimports",
    "black",
    "ruff",
    "isort",
    "clang-format",
    "dprint",
    "patch",
    "unzip",
    "tar",
    "rsync",
    "codemod",
    "jscodeshift",
    "comby",
    "ast-grep",
    "sd",
];

/// Tools that rewrite files other than those that their arguments name.
const REWRITES_OTHERS: [&str; 8] = ["patch", "unzip", "tar", "rsync", "codemod", "jscodeshift", "comby", "ast-grep"];

/// Commands of Cargo that change no source files.
const CARGO_BUILDS: &[&str] = &[
    "", "b", "bench", "build", "c", "check", "clippy", "deny", "doc", "fetch", "llvm-cov", "metadata", "nextest",
    "package", "publish", "search", "t", "test", "tree", "version",
];

/// Commands of tmux that run nothing.
const TMUX_READS: &[&str] = &[
    "capture-pane",
    "capturep",
    "display-message",
    "has-session",
    "kill-pane",
    "kill-server",
    "kill-session",
    "kill-window",
    "list-panes",
    "list-sessions",
    "list-windows",
    "ls",
    "show-options",
    "wait-for",
];

/// Files that package managers change.
const PACKAGE_FILES: [&str; 6] =
    ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "npm-shrinkwrap.json"];

/// The place in which a command runs.
pub(super) struct Place<'a> {
    /// The working directory, if it is known.
    pub(super) cwd: Option<String>,
    /// The home directory, for `~`.
    pub(super) home: &'a str,
}

impl Place<'_> {
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
        self.path(word).map_or(if word.is_computed { Effect::All } else { Effect::Named }, Effect::Path)
    }
}

/// Adds the changes of a simple command. `is_sure` is `true` if the command ran and succeeded.
pub(super) fn of_command(command: &SimpleCommand, is_sure: bool, place: &mut Place<'_>, effects: &mut Vec<Effect>) {
    let name = name(command);
    let args = words(command).get(1..).unwrap_or_default();
    let given: Vec<&Word> = args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let text = |word: Option<&&Word>| word.map_or("", |word| &*word.text).to_owned();
    let first = text(given.first());
    let has_flag = |wanted: &[&str]| args.iter().any(|word| wanted.contains(&&*word.text));
    let writes = match (name, &command.input, &command.outputs[..]) {
        ("cat", Some(input), [(file, false)]) if args.is_empty() => place.path(file).map(|path| (path, input.clone())),
        ("tee", Some(input), []) if args.len() == 1 => place.path(&args[0]).map(|path| (path, input.clone())),
        _ => None,
    };
    if let Some((path, text)) = writes.filter(|_| is_sure) {
        return effects.push(Effect::Write(path, text));
    }
    for (file, _) in command.outputs.iter().filter(|(file, _)| !file.text.starts_with("/dev/")) {
        effects.push(place.path(file).map_or_else(|| place.change(file), Effect::Output));
    }
    match name {
        "" => {}
        "cd" => place.cwd = if is_sure { given.first().and_then(|word| place.path(word)) } else { None },
        "pushd" | "popd" => place.cwd = None,
        "rm" | "unlink" => {
            // Without such an option, `rm` fails for a directory.
            let is_recursive = |word: &Word| {
                let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
                letters.map_or(word.text == "--recursive", |letters| letters.contains(['r', 'R', 'd']))
                    || word.text == "--dir"
            };
            let removed = if args.iter().any(is_recursive) { Effect::RemoveAll } else { Effect::Remove };
            effects.extend(given.iter().map(|word| match place.path(word).filter(|_| is_sure) {
                Some(path) => removed(path),
                None => place.change(word),
            }));
        }
        "mv" => {
            // Options such as `-n` and `-t` change the meaning of the arguments.
            let is_plain =
                args.iter().all(|word| !word.text.starts_with('-') || matches!(&*word.text, "-f" | "-v" | "-fv"));
            effects.extend(moved(&given, place, is_sure && is_plain));
        }
        "cp" | "ln" | "tee" | "install" | "dd" | "truncate" => {
            effects.extend(given.iter().map(|word| place.change(word)));
        }
        "sed" | "perl" => {
            let in_place = |word: &&Word| {
                let flags = word.text.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
                flags.is_some_and(|flags| flags.contains('i')) || word.text.starts_with("--in-place")
            };
            if args.iter().any(|word| in_place(&word)) {
                effects.extend(given.iter().map(|word| place.change(word)));
            } else if name == "perl" {
                effects.push(Effect::Mentioned);
            }
        }
        "find" => {
            const RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
            let changes = |pair: &[Word]| RUNS.contains(&&*pair[0].text) && !READ_ONLY.contains(&&*pair[1].text);
            let changes = args.windows(2).any(changes) || has_flag(&["-delete", "-fprint", "-fprintf", "-fls"]);
            effects.extend(changes.then_some(Effect::All));
        }
        "fd" | "fdfind" => effects.extend(has_flag(&["-x", "-X", "--exec", "--exec-batch"]).then_some(Effect::All)),
        "xargs" => {
            // Numbers and placeholders belong to options.
            let is_value = |text: &str| text == "{}" || text.bytes().all(|byte| byte.is_ascii_digit());
            let run = given.iter().map(|word| &*word.text).find(|text| !is_value(text));
            effects.extend(run.is_some_and(|run| !READ_ONLY.contains(&run)).then_some(Effect::All));
        }
        "awk" | "gawk" | "mawk" => {
            let writes = |text: &str| text.contains("print") && text.contains(['>', '|']) || text.contains("system(");
            let changes = has_flag(&["-i", "--in-place", "--include"]) || args.iter().any(|word| writes(&word.text));
            effects.extend(changes.then_some(Effect::Mentioned));
        }
        "uniq" | "xxd" => effects.extend(given.get(1).map(|word| place.change(word))),
        "gh" => {
            let writes = ["checkout", "co", "sync", "clone", "download", "develop"];
            effects.extend(given.iter().any(|word| writes.contains(&&*word.text)).then_some(Effect::All));
        }
        "tmux" => effects.extend((!TMUX_READS.contains(&&*first)).then_some(Effect::All)),
        "sudo" | "env" => effects.extend((!args.is_empty()).then_some(Effect::All)),
        _ if is_shell(name) && args.is_empty() && command.input.is_none() => effects.push(Effect::All),
        "git" => GitCommand::new(args).into_iter().for_each(|git| of_git(git, place, effects)),
        "cargo" => match given.iter().map(|word| &*word.text).find(|word| !word.starts_with('+')).unwrap_or_default() {
            "clippy" if has_flag(&["--fix"]) => effects.push(Effect::All),
            "run" | "r" => effects.extend([Effect::Mentioned, Effect::Name("Cargo.lock")]),
            "add" | "remove" | "update" | "new" | "init" | "install" => {
                effects.extend([Effect::Name("Cargo.toml"), Effect::Name("Cargo.lock")]);
            }
            known if CARGO_BUILDS.contains(&known) => effects.push(Effect::Name("Cargo.lock")),
            _ => effects.push(Effect::All),
        },
        "npm" | "pnpm" | "yarn" | "bun" => match &*first {
            "ls" | "list" | "view" | "info" | "outdated" | "audit" | "pack" | "whoami" | "config" | "root"
            | "prefix" => {}
            "exec" | "x" | "dlx" if given.get(1).is_none_or(|word| !BUILDS.contains(&&*word.text)) => {
                effects.push(Effect::All);
            }
            "run" | "test" | "exec" | "start" | "t" | "x" | "dlx" => effects.push(of_task(&given)),
            _ => effects.extend(PACKAGE_FILES.map(Effect::Name).into_iter().chain([Effect::Mentioned])),
        },
        "go" => match &*first {
            "fmt" | "fix" | "generate" => effects.push(Effect::All),
            "run" => effects.push(Effect::Mentioned),
            _ => effects.extend([Effect::Name("go.mod"), Effect::Name("go.sum")]),
        },
        _ if BUILDS.contains(&name) && has_flag(&["-u", "--update", "--updateSnapshot", "--snapshot-update"]) => {
            effects.push(Effect::All);
        }
        _ if READ_ONLY.contains(&name) || BUILDS.contains(&name) => {
            // `sort -o` and similar options name the file.
            let is_output = |word: &Word| word.text.starts_with("-o") || word.text.starts_with("--output");
            effects.extend(args.iter().any(is_output).then_some(Effect::Named));
        }
        _ if REWRITES.contains(&name) => {
            let files: Vec<&&Word> =
                given.iter().filter(|word| word.text.contains('.') && word.text.len() > 1).collect();
            let is_named = !files.is_empty()
                && files.len() == given.len()
                && !REWRITES_OTHERS.contains(&name)
                && !files.iter().any(|word| is_pattern(&word.text));
            match () {
                () if only_checks(name, args) => {}
                () if is_named => effects.extend(files.iter().map(|word| place.change(word))),
                () => effects.push(Effect::All),
            }
        }
        "make" | "just" | "task" | "mise" => effects.push(of_task(&given)),
        _ => {
            effects.push(Effect::Mentioned);
            let is_dir = |word: &&&Word| word.text.ends_with('/') || matches!(&*word.text, "." | "..");
            effects.extend(given.iter().filter(is_dir).map(|word| place.change(word)));
        }
    }
}

/// Returns the changes of a task that a project defines.
fn of_task(given: &[&Word]) -> Effect {
    const REWRITES: [&str; 6] = ["fmt", "format", "fix", "write", "gen", "update"];
    let rewrites = given.iter().any(|word| REWRITES.iter().any(|rewrites| word.text.contains(rewrites)));
    if rewrites { Effect::All } else { Effect::Mentioned }
}

/// Returns `true` if a tool that can rewrite files only checks or lists them.
fn only_checks(name: &str, args: &[Word]) -> bool {
    let has = |flags: &[&str]| args.iter().any(|word| flags.contains(&&*word.text));
    match name {
        "gofmt" | "goimports" => has(&["-l", "-d"]) && !has(&["-w"]),
        "prettier" => has(&["-c", "--check", "-l", "--list-different"]) && !has(&["-w", "--write"]),
        "unzip" => has(&["-l", "-t"]),
        "tar" => args.first().is_some_and(|word| word.text.trim_start_matches('-').starts_with('t')),
        _ => has(&["--check", "--dry-run"]),
    }
}

/// Returns `true` if a tool, not the shell, looks for the files that match.
fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{']) || text.starts_with(':')
}

/// Returns the changes of `mv`.
fn moved(given: &[&Word], place: &Place<'_>, is_sure: bool) -> Vec<Effect> {
    let [from @ .., to] = given else { return Vec::new() };
    let target = place.path(to).filter(|_| is_sure);
    let is_dir = from.len() > 1 || to.text.ends_with('/') || matches!(&*to.text, "." | "..");
    let one = |word: &&Word| {
        let (from, to) = (place.path(word)?, target.as_ref()?);
        let name = from.rsplit('/').next().unwrap_or_default().to_owned();
        Some(Effect::Move(from, if is_dir { format!("{}/{name}", to.trim_end_matches('/')) } else { to.clone() }))
    };
    let moves: Option<Vec<Effect>> = from.iter().map(one).collect();
    moves.unwrap_or_else(|| given.iter().map(|word| place.change(word)).collect())
}

/// Adds the changes of `git`.
fn of_git(git: GitCommand<'_>, place: &Place<'_>, effects: &mut Vec<Effect>) {
    let given: Vec<&Word> = git.args.iter().filter(|word| !word.text.starts_with('-')).collect();
    let word = |at: usize| given.get(at).map_or("", |word| &*word.text);
    let files = git.args.iter().position(|word| word.text == "--").map(|at| &git.args[at + 1..]);
    let is_new_branch = git.has("-b") || git.has("-c") || git.has("-B");
    match git.name {
        "status" | "log" | "diff" | "show" | "add" | "branch" | "tag" | "remote" | "fetch" | "push" | "rev-parse"
        | "ls-files" | "ls-tree" | "ls-remote" | "blame" | "grep" | "config" | "describe" | "reflog" | "shortlog"
        | "cat-file" | "init" | "rev-list" | "merge-base" | "worktree" | "commit" | "version" | "check-ignore"
        | "for-each-ref" | "help" => {}
        "stash" if matches!(word(0), "list" | "show" | "drop") => {}
        "reset" if !git.has("--hard") && !git.has("--merge") && !git.has("--keep") => {}
        "checkout" | "switch" if is_new_branch && word(1).is_empty() => {}
        "rm" if git.has("--cached") => {}
        "rm" if !git.is_elsewhere => {
            effects.extend(given.iter().map(|word| place.path(word).map_or(Effect::All, Effect::Path)));
        }
        "checkout" | "restore" => {
            let files = files.map(|files| files.iter().collect::<Vec<_>>());
            let files = files.or_else(|| (git.name == "restore").then(|| given.clone()));
            let is_named = |files: &Vec<&Word>| !files.is_empty() && !files.iter().any(|word| is_pattern(&word.text));
            match files.filter(|files| !git.is_elsewhere && is_named(files)) {
                Some(files) => effects.extend(files.into_iter().map(|word| place.change(word))),
                None => effects.push(Effect::All),
            }
        }
        _ => effects.push(Effect::All),
    }
}
