//! Changes of files by shell commands. Only a few forms are applied: a here-document to a file, `rm` and `mv`. Of others,
//! this module returns the files that they may have changed.

use crate::base::paths::full_path;
use crate::session::replay::script::{Joined, SimpleCommand, Word, parse};

/// The maximum number of scripts inside a script, such as substitutions.
const MOST_SCRIPTS: usize = 50;

/// A change of files by a command. Paths are absolute, if the working directory is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The file has this text.
    Write(String, String),
    /// The file or directory is removed.
    Remove(String),
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

/// A command with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    /// The script.
    pub(super) script: &'a str,
    /// `true` if it failed or was stopped, or if its output reports a failed `cd` or `mkdir`.
    pub(super) has_failed: bool,
    /// The working directory.
    pub(super) cwd: &'a str,
    /// The home directory, for `~`.
    pub(super) home: &'a str,
}

/// Commands that change no files, apart from redirections.
const READ_ONLY: &[&str] = &[
    "[",
    "alias",
    "awk",
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
    "env",
    "export",
    "eza",
    "false",
    "fd",
    "fgrep",
    "fi",
    "file",
    "fmt",
    "fold",
    "free",
    "gh",
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
    "tmux",
    "tokei",
    "touch",
    "tr",
    "tree",
    "true",
    "type",
    "ulimit",
    "uname",
    "uniq",
    "unset",
    "uptime",
    "wait",
    "wc",
    "which",
    "whoami",
    "xxd",
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

/// Words that only introduce a command.
const PREFIXES: &[&str] = &[
    "sudo", "command", "time", "nohup", "builtin", "exec", "then", "do", "else", "!", "{", "if", "while", "until",
    "elif", "npx", "bunx",
];

/// Files that package managers change.
const PACKAGE_FILES: [&str; 6] =
    ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "npm-shrinkwrap.json"];

/// Returns the changes of files by a command, in order.
pub(super) fn effects(run: Run<'_>) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut scripts = vec![(run.script.to_owned(), true)];
    for at in 0..MOST_SCRIPTS {
        let Some((script, is_outer)) = scripts.get(at).cloned() else { return effects };
        let (commands, inner) = parse(&script);
        scripts.extend(inner.into_iter().map(|inner| (inner, false)));
        let jumps = ["exit", "return", "for", "while", "until", "if", "case", "function", "trap"];
        let is_plain = is_outer
            && !commands.iter().any(|command| {
                let first = command.words.first().map_or("", |word| &*word.text);
                jumps.contains(&first) || jumps.contains(&name(command))
            });
        let last_list = commands.iter().rposition(|command| command.joined == Joined::Start).unwrap_or(0);
        let mut place = Place { cwd: Some(run.cwd.into()), home: run.home };
        for (number, command) in commands.iter().enumerate() {
            // A failed command before this one may have ended the list.
            let is_first = command.joined == Joined::Start;
            let list = commands[..number].iter().rposition(|one| one.joined == Joined::Start).unwrap_or(0);
            let before = &commands[list..number];
            let is_and = before.iter().skip(1).chain([command]).all(|one| one.joined == Joined::And);
            // A failed `cd` is in the output, which the caller checks.
            let follows = is_and && (list == last_list || before.iter().all(|one| matches!(name(one), "cd" | "mkdir")));
            let is_sure = is_plain && !run.has_failed && (is_first || follows);
            let is_piped = commands.get(number + 1).is_some_and(|next| next.joined == Joined::Pipe);
            of_command(command, is_sure && !is_piped, &mut place, &mut effects);
            if let Some(script) = script_of(command) {
                scripts.push((script, false));
            }
        }
    }
    effects.push(Effect::All);
    effects
}

/// Returns `true` if the output reports rewritten files without their names.
pub(super) fn reports_rewrites(output: &str) -> bool {
    let words = ["fixed ", "formatted", "reformatted", "rewrote ", "rewritten"];
    let lower = output.to_lowercase();
    let has = |line: &str| {
        words.iter().any(|word| line.contains(word)) && !line.contains("no fixes") && !line.contains(" 0 ")
    };
    lower.lines().any(has)
}

struct Place<'a> {
    /// The working directory, if it is known.
    cwd: Option<String>,
    home: &'a str,
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

/// Returns the words of a command from its name on, without assignments and prefixes.
fn words(command: &SimpleCommand) -> &[Word] {
    let mut words = &command.words[..];
    while let [first, rest @ ..] = words {
        let is_assignment = first
            .text
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        let is_timeout = first.text == "timeout" && !rest.is_empty();
        if is_assignment || PREFIXES.contains(&&*first.text) {
            words = rest;
        } else if is_timeout {
            words = &rest[1..];
        } else {
            break;
        }
    }
    words
}

/// Returns the name of a command without its directory.
fn name(command: &SimpleCommand) -> &str {
    words(command).first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default())
}

/// Returns the script in the arguments of a shell.
fn script_of(command: &SimpleCommand) -> Option<String> {
    let args = words(command);
    let is_shell = ["bash", "sh", "zsh", "dash"].contains(&name(command));
    let at = args.iter().position(|word| matches!(&*word.text, "-c" | "-lc")).filter(|_| is_shell)?;
    args.get(at + 1).map(|word| word.text.clone())
}

/// Adds the changes of a simple command. `is_sure` is `true` if the command ran and succeeded.
fn of_command(command: &SimpleCommand, is_sure: bool, place: &mut Place<'_>, effects: &mut Vec<Effect>) {
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
        "rm" | "unlink" => effects.extend(given.iter().map(|word| match place.path(word).filter(|_| is_sure) {
            Some(path) => Effect::Remove(path),
            None => place.change(word),
        })),
        "mv" => effects.extend(moved(&given, place, is_sure)),
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
            let runs = args.iter().position(|word| matches!(&*word.text, "-exec" | "-execdir" | "-ok"));
            let inner = runs.and_then(|at| args.get(at + 1)).map(|word| &*word.text);
            let changes = has_flag(&["-delete"]) || inner.is_some_and(|inner| !READ_ONLY.contains(&inner));
            effects.extend(changes.then_some(Effect::All));
        }
        "xargs" => {
            let is_read_only = given.iter().any(|word| READ_ONLY.contains(&&*word.text));
            effects.extend((!is_read_only).then_some(Effect::All));
        }
        "git" => git(&given, args, place, effects),
        "cargo" => match &*first {
            "fmt" | "fix" => effects.push(Effect::All),
            "clippy" if has_flag(&["--fix"]) => effects.push(Effect::All),
            "run" => effects.extend([Effect::Mentioned, Effect::Name("Cargo.lock")]),
            "add" | "remove" | "update" | "new" | "init" | "install" => {
                effects.extend([Effect::Name("Cargo.toml"), Effect::Name("Cargo.lock")]);
            }
            _ => effects.push(Effect::Name("Cargo.lock")),
        },
        "npm" | "pnpm" | "yarn" | "bun" => match &*first {
            "ls" | "list" | "view" | "info" | "outdated" | "audit" | "pack" | "whoami" | "config" | "root"
            | "prefix" => {}
            "run" | "test" | "exec" | "start" | "t" | "x" | "dlx" => effects.push(Effect::Mentioned),
            _ => effects.extend(PACKAGE_FILES.map(Effect::Name).into_iter().chain([Effect::Mentioned])),
        },
        "go" => match &*first {
            "fmt" | "fix" | "generate" => effects.push(Effect::All),
            "run" => effects.push(Effect::Mentioned),
            _ => effects.extend([Effect::Name("go.mod"), Effect::Name("go.sum")]),
        },
        _ if READ_ONLY.contains(&name) || BUILDS.contains(&name) => {
            // `sort -o` and similar options name the file.
            effects.extend(has_flag(&["-o", "--output"]).then_some(Effect::Named));
        }
        _ if REWRITES.contains(&name) => {
            let only_checks = has_flag(&["--check", "-c", "-l", "--list-different", "--dry-run", "-t", "-tf"]);
            let files: Vec<&&Word> =
                given.iter().filter(|word| word.text.contains('.') && word.text.len() > 1).collect();
            let is_named = !files.is_empty() && files.len() == given.len();
            match () {
                () if only_checks => {}
                () if is_named => effects.extend(files.iter().map(|word| place.change(word))),
                () => effects.push(Effect::All),
            }
        }
        _ => effects.push(Effect::Mentioned),
    }
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
fn git(given: &[&Word], args: &[Word], place: &Place<'_>, effects: &mut Vec<Effect>) {
    // `git -C DIR` and `git -c NAME=VALUE` have a word before the command.
    let has_option = args.first().is_some_and(|word| matches!(&*word.text, "-C" | "-c"));
    let given = &given[usize::from(has_option).min(given.len())..];
    let word = |at: usize| given.get(at).map_or("", |word| &*word.text);
    let has = |flag: &str| args.iter().any(|word| word.text == flag);
    let files = args.iter().position(|word| word.text == "--").map(|at| &args[at + 1..]);
    match word(0) {
        "status" | "log" | "diff" | "show" | "add" | "branch" | "tag" | "remote" | "fetch" | "push" | "rev-parse"
        | "ls-files" | "ls-tree" | "ls-remote" | "blame" | "grep" | "config" | "describe" | "reflog" | "shortlog"
        | "cat-file" | "init" | "rev-list" | "merge-base" | "worktree" | "commit" | "version" | "check-ignore"
        | "for-each-ref" | "help" | "" => {}
        "stash" if matches!(word(1), "list" | "show" | "drop") => {}
        "reset" if !has("--hard") && !has("--merge") && !has("--keep") => {}
        "checkout" | "switch" if has("-b") || has("-c") || has("-B") => {}
        "rm" if has("--cached") => {}
        "rm" => effects.extend(given[1..].iter().map(|word| place.path(word).map_or(Effect::All, Effect::Path))),
        "checkout" | "restore" => {
            let files = files.map(|files| files.iter().collect::<Vec<_>>());
            let files = files.or_else(|| (word(0) == "restore").then(|| given[1..].to_vec()));
            match files.filter(|files| !files.is_empty() && !has_option) {
                Some(files) => effects.extend(files.into_iter().map(|word| place.change(word))),
                None => effects.push(Effect::All),
            }
        }
        _ => effects.push(Effect::All),
    }
}

/// Returns `true` if a text mentions a file name, not as a part of a longer name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::Effect::*;
    use super::*;

    fn of(script: &str, has_failed: bool) -> Vec<Effect> {
        effects(Run { script, has_failed, cwd: "/w", home: "/h" })
    }

    #[test]
    fn known_forms_are_exact() {
        let path = |path: &str| path.to_string();
        for (script, wanted) in [
            ("cat > a.txt <<'EOF'\nx\nEOF", vec![Write(path("/w/a.txt"), "x\n".into())]),
            ("cd sub && cat <<'EOF' > ../b\nx\nEOF\necho done", vec![Write(path("/w/b"), "x\n".into())]),
            ("rm -f a ~/b", vec![Remove(path("/w/a")), Remove(path("/h/b"))]),
            ("mkdir -p x && mv a b x/", vec![Move(path("/w/a"), path("/w/x/a")), Move(path("/w/b"), path("/w/x/b"))]),
            ("git mv a b", vec![All]),
            ("ls -la | grep x; git status && git commit -m 'x'", vec![]),
            ("cargo test 2>&1 | tail -5", vec![Name("Cargo.lock")]),
            ("sed -n 1,5p a.rs", vec![]),
            ("sed -i 's/a/b/' a.rs", vec![Path(path("/w/s/a/b")), Path(path("/w/a.rs"))]),
            ("echo x > a 2>/dev/null", vec![Output(path("/w/a"))]),
            ("echo x > $a", vec![All]),
            ("python3 fix.py", vec![Mentioned]),
            ("bash -c 'rm a'", vec![Mentioned, Path(path("/w/a"))]),
            ("echo $(rm a)", vec![Path(path("/w/a"))]),
            ("git checkout -- a.rs", vec![Path(path("/w/a.rs"))]),
            ("git checkout main", vec![All]),
            ("cargo fmt", vec![All]),
            ("prettier --write src/a.ts", vec![Path(path("/w/src/a.ts"))]),
            ("find . -name '*.rs' | xargs sed -i s/a/b/", vec![All]),
            ("test -f a || rm b", vec![Path(path("/w/b"))]),
            ("if true; then rm b; fi", vec![Path(path("/w/b"))]),
        ] {
            assert_eq!(of(script, false), wanted, "{script}");
        }
        assert_eq!(of("make && rm a", true), [Mentioned, Path(path("/w/a"))], "it may not have run");
    }

    #[test]
    fn a_name_is_mentioned_as_a_whole() {
        assert!(mentions("wrote src/a.rs, b", "a.rs") && mentions("a.rs", "a.rs"));
        assert!(!mentions("aa.rs a.rsx a.rs_", "a.rs"));
    }

    #[test]
    fn output_can_report_rewrites() {
        assert!(reports_rewrites("Checked 9 files. Fixed 2 files."));
        assert!(!reports_rewrites("Checked 9 files. No fixes applied."));
    }
}
