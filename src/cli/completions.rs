//! `pitree completions`: shell completions for commands, options, sessions, labels and projects. The shell runs this program
//! for them, so the scripts never become outdated. `pitree init`: shell key bindings that open the browser as a picker of
//! commands.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::{ArgMatches, CommandFactory, FromArgMatches, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::base::sort;
use crate::base::text::{clean, has_unsafe};
use crate::catalog::copies::SessionCopies;
use crate::cli::{Cli, CommandContext, Options, output};
use crate::machines::registry::Machine;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::EntryIndex;

/// The environment variable set by the completion scripts.
const ASKED_BY: &str = "PITREE_COMPLETE";

/// Generate shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
bash, in ~/.bashrc:  source <(pitree completions bash)
zsh, in ~/.zshrc, below compinit:  source <(pitree completions zsh)
fish:  pitree completions fish > ~/.config/fish/completions/pitree.fish
PowerShell, in $PROFILE:  pitree completions powershell | Out-String | Invoke-Expression")]
pub(super) struct Completions {
    /// Shell
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell"])]
    shell: String,
}

/// A shell with a key for the browser.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    pub(super) fn run(&self) -> Result<()> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell).context("unsupported")?;
        Ok(shell.write_registration(ASKED_BY, "pitree", "pitree", "pitree", &mut *output::STDOUT.lock())?)
    }
}

/// Answers a completion request of a shell and exits; returns if there is none.
pub(super) fn answer() {
    CompleteEnv::with_factory(Cli::command).var(ASKED_BY).complete();
}

/// Parses the incomplete command line.
fn typed_line() -> Result<(ArgMatches, CommandContext)> {
    let words = env::args_os().skip_while(|word| word != "--").skip(1);
    let line = Cli::command().ignore_errors(true).try_get_matches_from(words)?;
    let context = CommandContext::read(&Options::from_arg_matches(&line)?)?;
    Ok((line, context))
}

/// Returns session ids with their titles, and session names. Uses the index without looking at all files.
fn sessions_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let Ok((_, context)) = typed_line() else { return Vec::new() };
    let is_wanted = |facts: &SessionFacts<'_>| facts.id().starts_with(typed) || (facts.is_named() && !typed.is_empty());
    let recalled = context.sources().recalled(&is_wanted);
    let mut sessions = recalled.unwrap_or_else(|| {
        let catalog = context.catalog();
        catalog.keys().map(|key| catalog[key].clone()).filter(|session| is_wanted(&session.facts())).collect()
    });
    SessionCopies::remove_from(&mut sessions);
    sort::by_cached_key(&mut sessions, |session| (Reverse(session.facts().order_time()), session.file_path()));
    let one = |session: &SharedLazySession| {
        let session = session.uncached_digest();
        let name = session.name.as_deref().filter(|name| !typed.is_empty() && name.starts_with(typed));
        let id = Some(&*session.header.id).filter(|id| id.starts_with(typed));
        let title: String = clean(session.title()).chars().take(60).collect();
        candidate(id.or(name)?, &title)
    };
    sessions.iter().filter_map(one).collect()
}

/// Returns the labels and entry ids of the session typed before.
fn entries_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    typed.to_str().and_then(|typed| entries_of_line(typed).ok()).unwrap_or_default()
}

fn entries_of_line(typed: &str) -> Result<Vec<CompletionCandidate>> {
    let (line, context) = typed_line()?;
    let (_, command) = line.subcommand().context("the line has no command")?;
    let session = command.get_one::<OsString>("session").context("the line has no session")?;
    let tree = context.tree(&context.session(session)?)?;
    let text = |at: EntryIndex| clean(&tree[at].text).chars().take(60).collect::<String>();
    let newest_first = || (0..tree.nodes.len() as EntryIndex).rev();
    let labels = newest_first().filter_map(|at| Some((&*tree.labels.get(&at)?.text, at)));
    // Before the first character, only prompts are suggested, because a list of all ids would be too long.
    let is_offered = |at: &EntryIndex| match tree[*at].kind {
        EntryKind::User => true,
        kind => !typed.is_empty() && !kind.is_bookkeeping(),
    };
    let ids = newest_first().filter(is_offered).filter_map(|at| Some((tree.id(at)?, at)));
    let fits = |(word, _): &(&str, EntryIndex)| word.starts_with(typed);
    Ok(labels.chain(ids).filter(fits).filter_map(|(word, at)| candidate(word, &text(at))).collect())
}

/// Returns the working directories of sessions.
fn projects_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok((_, context)) = typed_line() else { return Vec::new() };
    let catalog = context.catalog();
    let projects: BTreeSet<&str> = catalog.keys().map(|key| catalog[key].facts().cwd()).collect();
    let fits = |dir: &&str| !dir.is_empty() && dir.as_bytes().starts_with(typed.as_encoded_bytes());
    projects.into_iter().filter(fits).filter_map(|dir| candidate(dir, "")).collect()
}

/// Returns the names of machines with their addresses.
fn machines_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let machines = typed_line().and_then(|(_, context)| context.machines()).unwrap_or_default();
    let fits = |machine: &&Machine| machine.name.as_bytes().starts_with(typed.as_encoded_bytes());
    machines.iter().filter(fits).filter_map(|one| candidate(&one.name, &one.address.to_string())).collect()
}

/// Completes sessions.
pub(super) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(sessions_like)
}

/// Completes entries of the session typed before.
pub(super) fn entries() -> ArgValueCompleter {
    ArgValueCompleter::new(entries_like)
}

/// Completes working directories of sessions.
pub(super) fn projects() -> ArgValueCompleter {
    ArgValueCompleter::new(projects_like)
}

/// Completes machines.
pub(super) fn machines() -> ArgValueCompleter {
    ArgValueCompleter::new(machines_like)
}

/// Skips values that a shell would display differently.
fn candidate(value: &str, help: &str) -> Option<CompletionCandidate> {
    let help = Some(help.to_string()).filter(|help| !help.is_empty());
    (!has_unsafe(value)).then(|| CompletionCandidate::new(value).help(help.map(Into::into)))
}

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
