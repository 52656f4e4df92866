//! Commands of `git` in shell commands: the subcommand after the options of git itself.

use crate::session::replay::script::{SimpleCommand, Word, name, words};

/// Commands that run another command after their own options.
const RUNNERS: [&str; 5] = ["sudo", "env", "timeout", "nice", "xargs"];

/// Options of `git` with an argument in the next word.
const WITH_ARGUMENT: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--attr-source"];

/// Options of `git` that choose another directory.
const OTHER_DIR: [&str; 3] = ["-C", "--git-dir", "--work-tree"];

/// A subcommand of git with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GitCommand<'a> {
    /// The name.
    pub(super) name: &'a str,
    /// The words after the name.
    pub(super) args: &'a [Word],
    /// `true` if it runs in another directory.
    pub(super) is_elsewhere: bool,
}

impl<'a> GitCommand<'a> {
    /// Reads the arguments of git. Returns `None` without a subcommand.
    pub(super) fn new(args: &'a [Word]) -> Option<Self> {
        let (mut at, mut is_elsewhere) = (0, false);
        loop {
            let option = &*args.get(at)?.text;
            if !option.starts_with('-') {
                return Some(Self { name: option, args: &args[at + 1..], is_elsewhere });
            }
            let option = option.split('=').next().unwrap_or_default();
            is_elsewhere |= OTHER_DIR.contains(&option);
            let has_argument = option.len() == args[at].text.len() && WITH_ARGUMENT.contains(&option);
            at += 1 + usize::from(has_argument);
        }
    }

    /// Finds git in a command, also after a command that runs it.
    pub(super) fn of(command: &'a SimpleCommand) -> Option<Self> {
        let words = words(command);
        let is_git = |word: &Word| word.text == "git" || word.text.ends_with("/git");
        let at = words.iter().position(is_git)?;
        (at == 0 || RUNNERS.contains(&name(command))).then(|| Self::new(&words[at + 1..])).flatten()
    }

    /// Returns `true` if an option is among the arguments.
    pub(super) fn has(self, option: &str) -> bool {
        self.args.iter().any(|word| word.text == option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::replay::script::parse;

    #[test]
    fn the_subcommand_follows_the_options_of_git() {
        for (script, expected) in [
            ("git status -s", Some(("status", 1, false))),
            ("git -C /w -c user.name=x --no-pager commit -m x", Some(("commit", 2, true))),
            ("git --git-dir=/w/.git --work-tree /w rm a", Some(("rm", 1, true))),
            ("sudo -u me /usr/bin/git pull", Some(("pull", 0, false))),
            ("echo git pull", None),
            ("git -c", None),
            ("git --version", None),
        ] {
            let script_commands = parse(script).commands;
            let found = GitCommand::of(&script_commands[0]).map(|git| (git.name, git.args.len(), git.is_elsewhere));
            assert_eq!(found, expected, "{script}");
        }
    }
}
