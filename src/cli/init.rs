//! `pitree init`: shell key bindings that open the browser as a picker of commands.

use std::str::FromStr;

use anyhow::Result;

use crate::cli::completions::Shell;
use crate::cli::output;

/// Print shell key bindings for the browser
///
/// The key opens the browser. Press Enter in it to put the resume command on the command line. You can review and run it
/// there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
bash, in ~/.bashrc:  eval \"$(pitree init bash)\"
zsh, in ~/.zshrc:  eval \"$(pitree init zsh)\"
fish, in ~/.config/fish/config.fish:  pitree init fish | source")]
pub(super) struct InitCommand {
    /// Shell
    shell: Shell,
    /// Key to bind: alt or ctrl, plus a letter
    #[arg(long, value_name = "KEY", default_value = "alt+i")]
    key: ShellKey,
}

/// Alt or Ctrl with a letter.
#[derive(Clone, Copy, Debug)]
struct ShellKey {
    is_alt: bool,
    letter: char,
}

impl FromStr for ShellKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "expected alt or ctrl and a lowercase letter, such as alt+i";
        let (is_alt, letter) = match text.split_once('+') {
            Some(("alt", letter)) => (true, letter),
            // These keys send Tab, Enter or a line break.
            Some(("ctrl", letter)) if !matches!(letter, "i" | "j" | "m") => (false, letter),
            Some(("ctrl", _)) => return Err("terminals cannot distinguish this key from Tab or Enter"),
            _ => return Err(wrong),
        };
        match letter.as_bytes() {
            [letter] if letter.is_ascii_lowercase() => Ok(Self { is_alt, letter: char::from(*letter) }),
            _ => Err(wrong),
        }
    }
}

const BASH: &str = r#"__pitree_pick() {
  local line
  line=$(command pitree --print command) || return
  [[ -n $line ]] || return
  READLINE_LINE=$line READLINE_POINT=${#line}
}
bind -m emacs -x '"KEY": __pitree_pick'
bind -m vi-insert -x '"KEY": __pitree_pick'
"#;

const ZSH: &str = r#"__pitree_pick() {
  local line
  line=$(command pitree --print command </dev/tty) && [[ -n $line ]] && BUFFER=$line && CURSOR=$#BUFFER
  zle reset-prompt
}
zle -N __pitree_pick
bindkey -M emacs 'KEY' __pitree_pick
bindkey -M viins 'KEY' __pitree_pick
"#;

const FISH: &str = r#"function __pitree_pick
  set -l line (command pitree --print command | string collect)
  test -n "$line"; and commandline -r -- $line
  commandline -f repaint
end
bind KEY __pitree_pick
bind -M insert KEY __pitree_pick
"#;

impl InitCommand {
    pub(super) fn run(&self) -> Result<()> {
        let ShellKey { is_alt, letter } = self.key;
        let (lines, alt, ctrl) = match self.shell {
            Shell::Bash => (BASH, "\\e", "\\C-"),
            Shell::Zsh => (ZSH, "^[", "^"),
            Shell::Fish => (FISH, "\\e", "\\c"),
        };
        let key = format!("{}{letter}", if is_alt { alt } else { ctrl });
        Ok(output::write(lines.replace("KEY", &key).as_bytes())?)
    }
}
