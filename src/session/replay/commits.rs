//! Commits that `git` prints: `[main 1a2b3c4] Title`, after `commit`, `merge` and `cherry-pick`.

use crate::session::replay::shell::mentions;

/// The shortest and longest abbreviations of a commit.
const LENGTHS: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns `true` if a command can print a commit. Scripts and aliases can hide the subcommand, but not in what models
/// usually write.
pub(crate) fn may_commit(command: &str) -> bool {
    ["commit", "merge", "cherry-pick", "revert"].iter().any(|word| mentions(command, word))
}

/// Returns the commits in the output of a command, in order. Other lines, such as those of hooks, are skipped.
pub(crate) fn commits(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (inside, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
        let (branch, commit) = inside.rsplit_once(' ')?;
        let is_commit =
            LENGTHS.contains(&commit.len()) && commit.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (is_commit && !branch.is_empty() && rest.starts_with(' ')).then_some(commit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_printed_commits() {
        let of = |output: &str| commits(output).map(String::from).collect::<Vec<_>>();
        assert_eq!(of("[main 1a2b3c4] Fix it\n 1 file changed"), ["1a2b3c4"]);
        assert_eq!(of("hook ran\n[main (root-commit) 1a2b3c4d] Start\n"), ["1a2b3c4d"]);
        assert_eq!(of("[detached HEAD 0123456] A\n[feature/x-y 89abcde] B"), ["0123456", "89abcde"]);
        for other in ["[main 1a2b] Short", "[ok] done", "[1a2b3c4] no branch", "[main 1A2B3C4] x", "[main 1a2b3c4]"] {
            assert_eq!(of(other), Vec::<String>::new(), "{other}");
        }
    }

    #[test]
    fn commands_that_commit_are_known() {
        assert!(may_commit("git add -A && git commit -m 'x'") && may_commit("git -C a cherry-pick b"));
        assert!(!may_commit("git status") && !may_commit("ls committed"));
    }
}
