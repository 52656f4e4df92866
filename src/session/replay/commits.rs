//! Commits in the output of `git`: `[main 1a2b3c4] Title` after `commit`, `merge`, `cherry-pick` and `revert`, and
//! `Updating 1a2b3c4..5d6e7f8` of a fast-forward merge. Output counts only if the script runs such a command.

use serde::{Deserialize, Serialize};

use crate::session::replay::script::{GitCommand, MAX_SCRIPTS, Script, SimpleCommand, parse, script_of};

/// The shortest and longest abbreviations of a commit.
pub(crate) const LENGTHS: std::ops::RangeInclusive<usize> = 7..=40;

/// The commands of git that print commits.
pub(crate) const SUBCOMMANDS: [&str; 4] = ["commit", "merge", "cherry-pick", "revert"];

/// The longest name of a branch: that of a file.
const LONGEST_BRANCH: usize = 255;

/// The commands of a script that print commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitUse {
    /// `true` if it runs one of [`SUBCOMMANDS`].
    commits: bool,
    /// `true` if it runs `merge`.
    merges: bool,
}

/// A commit in the output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrintedCommit<'o> {
    /// The abbreviated hash.
    pub(crate) sha: &'o str,
    /// The branch; `None` for a detached `HEAD` and after a fast-forward merge.
    pub(crate) branch: Option<&'o str>,
    /// The first line of the message; of a fast-forward merge, git's words.
    pub(crate) title: &'o str,
}

impl GitUse {
    /// Returns the commands that a script runs, also in scripts inside it.
    pub(crate) fn of(script: &str) -> Self {
        let mut found = Self::default();
        let mut scripts = vec![script.to_owned()];
        for at in 0..MAX_SCRIPTS {
            let Some(script) = scripts.get(at).filter(|script| script.contains("git")) else { continue };
            let Script { commands, inner, .. } = parse(script);
            for command in &commands {
                found.add(command);
                scripts.extend(script_of(command));
            }
            scripts.extend(inner);
        }
        found
    }

    fn add(&mut self, command: &SimpleCommand) {
        let Some(GitCommand { name: subcommand, args, .. }) = GitCommand::of(command) else { return };
        let is_silent = args.iter().take_while(|word| word.text != "--").any(|word| {
            matches!(&*word.text, "--quiet" | "--dry-run") || (subcommand == "commit" && is_quiet_flag(&word.text))
        });
        if !is_silent && SUBCOMMANDS.contains(&subcommand) {
            self.commits = true;
            self.merges |= subcommand == "merge";
        }
    }

    /// Returns `true` if the script runs a command that can print a commit.
    pub(crate) fn prints(self) -> bool {
        self.commits
    }

    /// Returns the commits in the output of the script, in order. Other lines, such as those of hooks, are skipped.
    pub(crate) fn commits(self, output: &str) -> impl Iterator<Item = PrintedCommit<'_>> {
        // Progress that hooks print ends with a carriage return.
        let mut lines = output.split(['\n', '\r']).filter(|line| !line.is_empty()).peekable();
        std::iter::from_fn(move || {
            loop {
                let line = lines.next()?;
                let forwarded = || fast_forward(line, lines.peek()?).filter(|_| self.merges);
                if let Some(commit) = committed(line).filter(|_| self.commits).or_else(forwarded) {
                    return Some(commit);
                }
            }
        })
    }
}

/// Returns `true` for `-q`, also among flags without arguments such as `-aq`.
fn is_quiet_flag(word: &str) -> bool {
    let flags = word.strip_prefix('-').unwrap_or_default();
    flags.chars().take_while(|flag| flag.is_ascii_lowercase() && !"mct".contains(*flag)).any(|flag| flag == 'q')
}

/// Returns `true` for an abbreviated or whole hash.
pub(crate) fn is_sha(text: &str) -> bool {
    LENGTHS.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads `[BRANCH SHA] TITLE`. git translates the words for a detached `HEAD` and `(root-commit)`.
fn committed(line: &str) -> Option<PrintedCommit<'_>> {
    let (inside, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (place, sha) = inside.rsplit_once(' ')?;
    let is_root = |note: &str| note.starts_with('(') && note.ends_with(')');
    let place = place.rsplit_once(' ').filter(|(_, note)| is_root(note)).map_or(place, |(place, _)| place);
    let is_detached = place.contains(' ');
    let is_place = if is_detached { place.contains("HEAD") } else { is_branch(place) };
    let title = rest.trim();
    (is_place && is_sha(sha)).then_some(PrintedCommit { sha, branch: Some(place).filter(|_| !is_detached), title })
}

/// Returns `true` for a valid name of a branch.
fn is_branch(name: &str) -> bool {
    let is_invalid = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    !name.is_empty() && name.len() <= LONGEST_BRANCH && !name.starts_with('-') && !name.contains(is_invalid)
}

/// Reads `Updating SHA..SHA` before `Fast-forward`.
fn fast_forward<'o>(line: &'o str, next: &'o str) -> Option<PrintedCommit<'o>> {
    let (before, sha) = line.strip_prefix("Updating ")?.split_once("..")?;
    let is_forward = is_sha(before) && is_sha(sha) && next.starts_with("Fast-forward");
    is_forward.then_some(PrintedCommit { sha, branch: None, title: "Fast-forward" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str, output: &str) -> Vec<String> {
        let found = GitUse::of(script).commits(output);
        found.map(|one| format!("{} {} {}", one.sha, one.branch.unwrap_or("-"), one.title)).collect()
    }

    #[test]
    fn finds_printed_commits() {
        let commit = |output: &str| of("git commit -m x", output);
        assert_eq!(commit("[main 1a2b3c4] Fix it\n 1 file changed"), ["1a2b3c4 main Fix it"]);
        assert_eq!(commit("hook ran\n[main (root-commit) 1a2b3c4d] Start\n"), ["1a2b3c4d main Start"]);
        assert_eq!(commit("1 of 2\r2 of 2\r[main 1a2b3c4] A"), ["1a2b3c4 main A"]);
        assert_eq!(
            commit("[detached HEAD 0123456] A\r\n[feature/x-y 89abcde] [wip] B"),
            ["0123456 - A", "89abcde feature/x-y [wip] B"]
        );
        assert_eq!(commit("[losgelöster HEAD 0123456] A\n[main (Root-Commit) 89abcde] B").len(), 2);
        for other in [
            "[main 1a2b] Short",
            "[ok] done",
            "[1a2b3c4] no branch",
            "[main 1A2B3C4] x",
            "[main 1a2b3c4]",
            "    [main 1a2b3c4] quoted by git log",
            "[12:00 1234567] a log",
            "[worker 7 started 1234567] a log",
            "Updating 1a2b3c4..5d6e7f8\nFast-forward",
        ] {
            assert_eq!(commit(other), Vec::<String>::new(), "{other}");
        }
    }

    #[test]
    fn a_fast_forward_merge_leads_to_its_commit() {
        let output = "Updating 1a2b3c4..5d6e7f8\nFast-forward\n a | 1 +\n";
        assert_eq!(of("git merge topic", output), ["5d6e7f8 - Fast-forward"]);
        assert_eq!(of("git merge topic", "Updating 1a2b3c4..5d6e7f8\nerror: stopped"), [""; 0]);
        assert_eq!(of("git pull", output), [""; 0], "the commits of others");
    }

    #[test]
    fn only_commands_that_print_commits_count() {
        for script in [
            "git commit -m 'x'",
            "git add -A && git commit -m \"$(cat <<'E'\nDon't stop\n\nE\n)\" && git push",
            "git -C /w -c user.name=x --no-pager commit --amend --no-edit",
            "cd a; /usr/bin/git cherry-pick b 2>&1 | tail -3",
            "for a in b c; do git commit -am \"$a\"; done",
            "if git merge x; then echo ok; fi",
            "(cd a && GIT_EDITOR=true git revert HEAD)",
            "bash -c 'git commit -m x'",
            "bash <<'E'\ngit commit -m x\nE",
            "sudo -u me git commit -m x",
            "timeout 60 git commit -mq",
            "git commit -q -m a; git commit -m b",
            "echo \"$(git commit -m x)\"",
        ] {
            assert!(GitUse::of(script).prints(), "{script}");
        }
        for script in [
            "git status",
            "git log --grep commit",
            "echo git commit",
            "echo 'git commit -m x'",
            "git help commit",
            "git commit -qm x",
            "git commit --quiet -m x",
            "git merge --quiet x",
            "ls committed",
            "cat <<'E'\ngit commit\nE",
            "grep -r 'git commit' . # git commit",
        ] {
            assert!(!GitUse::of(script).prints(), "{script}");
        }
    }
}
