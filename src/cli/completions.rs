//! `pitree completions`: shell completions for commands, options, sessions, labels and projects. The shell runs this
//! program for them, so the scripts never become outdated.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};

use anyhow::{Context, Result};
use clap::{ArgMatches, CommandFactory, FromArgMatches, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::base::sort;
use crate::base::text::{clean, has_unsafe};
use crate::catalog::Catalog;
use crate::catalog::copies::NumberedCopies;
use crate::cli::{Cli, CommandContext, Options, machine_context, now, output, read_context};
use crate::machines::registry::Machine;
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedSession;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::Index;

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
    let context = read_context(&Options::from_arg_matches(&line)?)?;
    Ok((line, context))
}

/// Returns session ids with their titles, and session names. Uses the index without looking at all files.
fn sessions_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let Ok((_, context)) = typed_line() else { return Vec::new() };
    let is_wanted = |facts: &SessionFacts<'_>| facts.id().starts_with(typed) || (facts.is_named() && !typed.is_empty());
    let recalled = context.sources().recalled(&is_wanted);
    let mut sessions = recalled.unwrap_or_else(|| {
        let catalog = Catalog::read(context.sources(), now());
        catalog
            .keys()
            .filter_map(|key| catalog.get(key).filter(|session| is_wanted(&session.facts())).cloned())
            .collect()
    });
    NumberedCopies::remove_from(&mut sessions);
    sort::by_cached_key(&mut sessions, |session| (Reverse(session.facts().order_time()), session.file_path()));
    let one = |session: &SharedSession| {
        let session = session.once();
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
    let text = |at: Index| clean(&tree.nodes[at as usize].text).chars().take(60).collect::<String>();
    let newest_first = || (0..tree.nodes.len() as Index).rev();
    let labels = newest_first().filter_map(|at| Some((&*tree.labels.get(&at)?.text, at)));
    // Before the first character, only prompts are suggested, because a list of all ids would be too long.
    let is_offered = |at: &Index| match tree.nodes[*at as usize].kind {
        EntryKind::User => true,
        kind => !typed.is_empty() && !kind.is_bookkeeping(),
    };
    let ids = newest_first().filter(is_offered).filter_map(|at| Some((tree.nodes[at as usize].id.as_deref()?, at)));
    let fits = |(word, _): &(&str, Index)| word.starts_with(typed);
    Ok(labels.chain(ids).filter(fits).filter_map(|(word, at)| candidate(word, &text(at))).collect())
}

/// Returns the working directories of sessions.
fn projects_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok((_, context)) = typed_line() else { return Vec::new() };
    let catalog = Catalog::read(context.sources(), now());
    let keys = catalog.newest_first();
    let projects: BTreeSet<&str> = keys.iter().map(|&key| catalog[key].facts().cwd()).collect();
    let fits = |dir: &&str| !dir.is_empty() && dir.as_bytes().starts_with(typed.as_encoded_bytes());
    projects.into_iter().filter(fits).filter_map(|dir| candidate(dir, "")).collect()
}

/// Returns the names of machines with their addresses.
fn machines_like(typed: &OsStr) -> Vec<CompletionCandidate> {
    let machines = typed_line().and_then(|(_, context)| machine_context::machines(&context.config)).unwrap_or_default();
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
