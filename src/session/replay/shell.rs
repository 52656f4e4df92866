//! Changes of files by shell commands. Only a few forms are applied: a here-document to a file, `rm`, `mv` and `cp`. Of
//! others, this module returns the files that they may have changed.

use crate::session::replay::programs::{Effect, ShellContext, of_command};
use crate::session::replay::script::{MAX_SCRIPTS, Operator, Script, SimpleCommand, name, parse, script_of};

/// Returns the changes of files by a script, in order. It `has_failed` if it failed or was stopped, or if its output reports
/// an error; see [`reports_error`]. `cwd` is the working directory, and `home` the home directory, for `~`.
pub(super) fn effects(script: &str, has_failed: bool, cwd: &str, home: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut scripts = vec![(script.to_owned(), Some(cwd.to_owned()))];
    for at in 0..MAX_SCRIPTS {
        let Some((script, cwd)) = scripts.get(at).cloned() else { return effects };
        let Script { commands, inner, has_groups, is_broken } = parse(&script);
        if is_broken {
            effects.push(Effect::All);
        }
        // A script inside another one may run after a change of the directory.
        let changes_dir = commands.iter().any(|command| matches!(name(command), "cd" | "pushd" | "popd"));
        let inner_cwd = cwd.clone().filter(|_| !changes_dir);
        scripts.extend(inner.into_iter().map(|inner| (inner, inner_cwd.clone())));
        let is_plain = at == 0 && !has_groups && !is_broken && !commands.iter().any(jumps);
        let mut place = ShellContext { cwd, home };
        for (number, command) in commands.iter().enumerate() {
            let is_sure = is_plain && !has_failed && is_certain(&commands, number);
            of_command(command, is_sure, &mut place, &mut effects);
            if let Some(script) = script_of(command) {
                scripts.push((script, inner_cwd.clone()));
            }
        }
    }
    effects.push(Effect::All);
    effects
}

/// Returns the files that a script writes completely, removes or moves, if its commands succeed. Those below the working
/// directory are relative to it.
pub(crate) fn changed_files(script: &str, cwd: &str) -> Vec<String> {
    let below_cwd = |path: String| match path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !cwd.is_empty() && !rest.is_empty() => rest.to_owned(),
        _ => path,
    };
    let paths = effects(script, false, cwd, "~").into_iter().flat_map(|effect| match effect {
        Effect::Write(path, _) | Effect::Remove(path) => vec![path],
        Effect::Move(from, to) => vec![from, to],
        _ => Vec::new(),
    });
    paths.map(below_cwd).collect()
}

/// Returns `true` if a command may skip or repeat others.
fn jumps(command: &SimpleCommand) -> bool {
    const JUMPS: [&str; 11] =
        ["exit", "return", "for", "while", "until", "if", "case", "function", "trap", "exec", "{"];
    let first = command.words.first().map_or("", |word| &*word.text);
    JUMPS.contains(&first) || JUMPS.contains(&name(command))
}

/// Returns `true` if a command ran and succeeded, provided that the script succeeded and its output has no error.
fn is_certain(commands: &[SimpleCommand], number: usize) -> bool {
    let starts = |command: &SimpleCommand| command.joined == Operator::Start;
    let start = commands[..=number].iter().rposition(starts).unwrap_or(0);
    let end = commands[number + 1..].iter().position(starts).map_or(commands.len(), |at| number + 1 + at);
    let (before, after) = (&commands[start..number], &commands[number + 1..end]);
    if commands[number].joined == Operator::Pipe || after.first().is_some_and(|next| next.joined == Operator::Pipe) {
        return false;
    }
    // The exit code is the one of the last list: it proves all of its commands, if they are joined by `&&` only.
    if end == commands.len() && commands[start + 1..end].iter().all(|one| one.joined == Operator::And) {
        return true;
    }
    // Otherwise the first command ran, and so did those after a change of the directory. Their errors are in the output.
    let follows = commands[start..=number].iter().skip(1).all(|one| one.joined == Operator::And);
    let is_first = before.iter().all(|one| matches!(name(one), "cd" | "mkdir"));
    follows && is_first && !commands[start..=number].iter().any(|one| one.hides_errors)
}

/// Returns `true` if the output of a script reports that a command failed, although the script succeeded.
pub(super) fn reports_error(output: &str) -> bool {
    const ERRORS: [&str; 12] = [
        "cd: ",
        "mkdir: ",
        "mv: ",
        "rm: ",
        "cp: ",
        "No such file or directory",
        ": Permission denied",
        ": Is a directory",
        ": Not a directory",
        ": No space left on device",
        ": Read-only file system",
        "cannot overwrite existing file",
    ];
    ERRORS.iter().any(|error| output.contains(error))
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

#[cfg(test)]
mod tests {
    use super::Effect::*;
    use super::*;

    fn of(script: &str, has_failed: bool) -> Vec<Effect> {
        super::effects(script, has_failed, "/w", "/h")
    }

    #[test]
    fn known_forms_are_exact() {
        let path = |path: &str| path.to_string();
        for (script, wanted) in [
            ("cat > a.txt <<'EOF'\nx\nEOF", vec![Write(path("/w/a.txt"), "x\n".into())]),
            ("cd sub && cat <<'EOF' > ../b\nx\nEOF\necho done", vec![Write(path("/w/b"), "x\n".into())]),
            ("rm -f a ~/b", vec![Remove(path("/w/a")), Remove(path("/h/b"))]),
            ("rm -rf a", vec![RemoveAll(path("/w/a"))]),
            ("mkdir -p x && mv a b x/", vec![Move(path("/w/a"), path("/w/x/a")), Move(path("/w/b"), path("/w/x/b"))]),
            ("cp -p a b.txt", vec![Copy(path("/w/a"), path("/w/b.txt"))]),
            ("cp -r a b", vec![Path(path("/w/a")), Path(path("/w/b"))]),
            ("git mv a b", vec![All]),
            ("ls -la | grep x; git status && git push -u origin x", vec![]),
            ("git add -A && git commit -m 'x'", vec![IfReported]),
            ("npm test 2>&1 | tail; npm run build", vec![IfReported, IfReported]),
            ("cargo test 2>&1 | tail -5", vec![Name("Cargo.lock")]),
            ("sed -n 1,5p a.rs", vec![]),
            ("sed -i 's/a/b/' a.rs", vec![Path(path("/w/s/a/b")), Path(path("/w/a.rs"))]),
            ("echo x > a 2>/dev/null", vec![Output(path("/w/a"))]),
            ("echo x > $a", vec![All]),
            ("python3 fix.py", vec![All]),
            ("bash -c 'rm a'", vec![Path(path("/w/a"))]),
            ("echo $(rm a)", vec![Path(path("/w/a"))]),
            ("git checkout -- a.rs", vec![Path(path("/w/a.rs"))]),
            ("git checkout main", vec![All]),
            ("git -c a.b=c --no-pager rm a", vec![Path(path("/w/a"))]),
            ("git --git-dir /x rm a", vec![All]),
            ("git --no-pager -C /x status", vec![]),
            ("cargo fmt", vec![All]),
            ("find . -name '*.rs' | xargs sed -i s/a/b/", vec![All]),
            ("test -f a || rm b", vec![Path(path("/w/b"))]),
            ("if true; then rm b; fi", vec![Path(path("/w/b"))]),
        ] {
            assert_eq!(of(script, false), wanted, "{script}");
        }
        assert_eq!(of("make && rm a", true), [All, Path(path("/w/a"))], "it may not have run");
    }

    #[test]
    fn certain_commands_have_files() {
        let of = |script: &str| changed_files(script, "/w").join(" ");
        assert_eq!(of("cd sub && cat > a.txt <<'E'\nx\nE\nmv ~/b ../c"), "sub/a.txt ~/b c");
        assert_eq!(of("rm -f a /w2/b && mv ~/c d && rm -r e"), "a /w2/b ~/c d");
        assert_eq!(of("make && rm a; echo x > b"), "");
    }

    #[test]
    fn commands_that_may_change_other_files_make_all_doubtful() {
        for script in [
            "npx prettier --write \"src/**/*.rs\"",
            "gofmt -l -w .",
            "black -l 100 .",
            "eslint -c x.js --fix .",
            "cargo +nightly fmt",
            "cargo insta accept",
            "env A=1 cargo fmt",
            "env -u A cargo fmt",
            "sudo -u me cargo fmt",
            "gh pr checkout 12",
            "patch -p1 -i fix.patch",
            "tar -xzf x.tar.gz",
            "unzip x.zip",
            "git checkout -b n origin/main",
            "git restore '*.rs'",
            "tmux send-keys \"cargo fmt\" Enter",
            "ls | xargs -I{} cp {} test",
            "find . -exec cat {} \\; -exec rm {} \\;",
            "fd -e rs -x rustfmt",
            "make fmt",
            "npm run lint:fix",
            "bash <<'E'\ncargo fmt\nE",
            "curl x | sh",
            "eval 'cargo fmt'",
            "npx -y eslint --fix .",
            "pnpm exec eslint --fix .",
            "git commit -m \"$(cat <<'E'\nDon't\nE\n)\" && cargo fmt",
            "jest -u",
            "sed --in-place s/a/b/ a.rs",
            "npm test -- -u",
            "make",
            "find . -delete",
            "git reset --hard",
            "cargo clippy --fix",
            "go test ./... -update",
            "curl -LO x",
            "prettier --write src/a.ts",
            "./gen a.rs",
            "echo 'a",
        ] {
            assert!(of(script, false).contains(&All), "{script}: {:?}", of(script, false));
        }
        for script in [
            "rg -uF --fixed-strings x",
            "sort -u a | uniq -c",
            "fd a.rs",
            "go vet ./...",
            "find . -name a",
            "env",
            "curl -s x",
        ] {
            assert_eq!(of(script, false), [], "{script}");
        }
    }

    #[test]
    fn uncertain_commands_are_not_applied() {
        let applies = |effect: &Effect| matches!(effect, Write(..) | Remove(_) | Move(..) | Copy(..));
        for script in [
            "(cd src && ls)\ncat > a.rs <<'E'\nB\nE",
            "test -f no && cat > a.rs <<'E' || true\nB\nE",
            "test -f no && (mv a b); ls",
            "false && { ls; mv a b; }; ls",
            "mv -t dir a b",
            "mv -n a b",
            "cp -n a b",
            "cp a b 2>/dev/null || true",
            "mv a b 2>/dev/null || true",
            "cd x 2>/dev/null && mv a b; ls",
            "make && mv a b; ls",
            "exec true; rm a",
        ] {
            let found = of(script, false);
            assert!(!found.is_empty() && !found.iter().any(applies), "{script}: {found:?}");
        }
        assert_eq!(of("cd src && echo $(rm a)", false), [All], "the directory is unknown");
        assert!(reports_error("mv: cannot stat 'a': No such file or directory") && !reports_error("ok"));
    }

    #[test]
    fn output_can_report_rewrites() {
        assert!(reports_rewrites("Checked 9 files. Fixed 2 files."));
        assert!(!reports_rewrites("Checked 9 files. No fixes applied."));
    }
}
