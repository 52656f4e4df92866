//! `pitree log`: lists the states of a file over all sessions and branches.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::base::paths::full_path;
use crate::base::{sort, time};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::catalog::file_history::{FileVersion, ReplayControl, commits_of_states, each_version, prompt};
use crate::catalog::files::FilePlaces;
use crate::cli::output::{PathFields, object};
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column, LAST, TITLE};
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::disk::git::Repository;
use crate::disk::locate::Environment;
use crate::disk::scan::Unreadable;
use crate::session::digest::Digest;
use crate::session::digest::commits::{CommitPrefix, DigestCommit};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedSession;
use crate::session::replay::CommandEffects;
use crate::session::tree::{Index, Tree};
use crate::session::worktrees::Worktrees;

/// List the states of a file in all sessions, most recent first
///
/// Lists each entry, on any branch, that changed the content of the file or read it for the first time. An entry that forks
/// inherited is listed once. With --commit and without a file, lists the entries whose commands made the commit.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree log src/auth/refresh.ts              the states of a file
  pitree log src/auth/refresh.ts -S markUsed  only states that added or removed a text
  pitree log --commit 3798c17                 the session, entry and prompt that made a commit
  pitree file src/auth/refresh.ts --at 01a1ceea@825cc8cc  print one of the states"))]
pub(super) struct LogCommand {
    /// File, relative to the current directory or absolute
    #[arg(required_unless_present = "commit")]
    path: Option<String>,
    /// List only states in which TEXT came or went
    #[arg(short = 'S', long, value_name = "TEXT", requires = "path")]
    search: Option<String>,
    /// List only states that this commit contains, as far as a command printed it; a prefix of at least 7 characters
    #[arg(long, value_name = "SHA", value_parser = commit_prefix)]
    commit: Option<CommitPrefix>,
    /// List at most N states
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

/// The entry that brought a state of a file.
pub(super) struct LoggedEntry {
    pub(super) session: PathBuf,
    pub(super) session_id: String,
    pub(super) id: Option<String>,
    pub(super) time: Option<i64>,
    pub(super) prompt: String,
    pub(super) is_abandoned: bool,
    at: Index,
}

/// A listed state, without its text.
struct LoggedState {
    entry: LoggedEntry,
    lines: Option<(usize, usize)>,
    exactness: &'static str,
    source: &'static str,
    commit: Option<Box<str>>,
}

impl LogCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let is_wanted = self.project.matcher(context);
        let Some(path) = &self.path else {
            let print = |commit| print_commits(self, commit, context);
            return self.commit.as_ref().map_or(Ok(Exit::Nothing), print);
        };
        let here = Environment::current().cwd;
        let file = full_path(path, &here.to_string_lossy(), &context.home);
        let (all, unreadable) = self.states(&file, &is_wanted, context)?;
        if self.json {
            for LoggedState { entry, lines, exactness, source, commit } in &all {
                let LoggedEntry { session, session_id, id, time, prompt, is_abandoned, .. } = entry;
                let (added, removed) = (lines.map(|(added, _)| added), lines.map(|(_, removed)| removed));
                output::json(&object! {
                    #[serde(flatten)] path: PathFields::from(&*resolve::absolute(session)?),
                    id: session_id,
                    entry: id,
                    timestamp: time.and_then(time::iso),
                    prompt,
                    added,
                    removed,
                    exactness,
                    source,
                    commit,
                    abandoned: is_abandoned,
                })?;
            }
        } else {
            rows(&all, context)?;
        }
        if all.is_empty() {
            note!("no listed state of {file}; see `pitree files` for the files of sessions");
        }
        let end = output::end(unreadable)?;
        Ok(end.found(!all.is_empty()))
    }

    /// Returns the listed states of a file, most recent first.
    fn states(
        &self,
        file: &str,
        is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool,
        context: &CommandContext,
    ) -> Result<(Vec<LoggedState>, Vec<Unreadable>)> {
        let mut all: Vec<LoggedState> = Vec::new();
        let state = |entry: LoggedEntry, version: &FileVersion| {
            let is_listed = self.search.as_ref().is_none_or(|text| version.changes_count(text));
            is_listed.then(|| LoggedState {
                entry,
                lines: version.changed_lines(),
                exactness: version.state.exactness().name(),
                source: version.state.source.name(),
                commit: None,
            })
        };
        let unreadable = each_state(file, is_wanted, context, state, |state, commit| {
            let is_listed =
                self.commit.as_ref().is_none_or(|wanted| commit.is_some_and(|commit| wanted.is_of(&commit.sha)));
            let state = state.filter(|_| is_listed);
            all.extend(state.map(|state| LoggedState { commit: commit.map(|commit| commit.sha.clone()), ..state }));
        })?;
        sort::by_key(&mut all, |state| std::cmp::Reverse(state.entry.age()));
        all.truncate(self.limit.unwrap_or(usize::MAX));
        Ok((all, unreadable))
    }
}

/// Returns the wanted sessions, oldest first.
fn sessions(
    is_wanted: impl Fn(&SessionFacts<'_>) -> bool,
    context: &CommandContext,
) -> (Vec<SharedSession>, Vec<Unreadable>) {
    let (mut sessions, unreadable) = context.read_sessions(context.sources().scan(), is_wanted);
    sort::by(&mut sessions, |a, b| a.facts().compare_age(&b.facts()));
    (sessions, unreadable)
}

/// Passes the states of a file in all sessions to `visit`. Sessions are replayed one after another, oldest first, and no
/// texts are kept. At the end of a session, `done` gets what `visit` returned for each state, with the first commit of all
/// branches that has the state.
pub(super) fn each_state<R>(
    file: &str,
    is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool,
    context: &CommandContext,
    mut visit: impl FnMut(LoggedEntry, &FileVersion) -> R,
    mut done: impl FnMut(R, Option<&DigestCommit>),
) -> Result<Vec<Unreadable>> {
    let (sessions, unreadable) = sessions(is_wanted, context);
    let control = ReplayControl { home: &context.home, is_wanted: &|| true };
    let files = [file.to_owned()].into();
    let mut known = HashSet::new();
    let places = FilePlaces { home: &context.home, worktrees: &Worktrees::default() };
    for session in sessions {
        if places.own_path(file, &session).is_none() {
            continue;
        }
        let tree = context.tree(&session.path)?;
        let (mut states, mut results) = (HashSet::new(), Vec::new());
        each_version((&session.path, &tree), &files, control, &mut CommandEffects::new(), &mut |_, version| {
            let entry = version.entry;
            states.extend(version.is_new().then_some(entry));
            // Forks inherit entries; the oldest session counts.
            if version.is_new() && session.entry_key(entry).is_none_or(|key| known.insert(key)) {
                results.push((entry, visit(LoggedEntry::new(&session.path, &tree, entry), &version)));
            }
        })?;
        let commits = commits_of_states(&tree, &states, &session.commits);
        results.into_iter().for_each(|(entry, result)| done(result, commits.get(&entry).copied()));
    }
    Ok(unreadable)
}

impl LoggedEntry {
    fn new(session: &Path, tree: &Tree, at: Index) -> Self {
        let node = &tree.nodes[at as usize];
        Self {
            session: session.into(),
            session_id: tree.header.id.clone(),
            id: node.id.as_deref().map(String::from),
            time: node.time,
            prompt: prompt_words(tree, at),
            is_abandoned: !tree.is_active(at),
            at,
        }
    }

    /// Returns the order by age.
    pub(super) fn age(&self) -> (Option<i64>, Index) {
        (self.time, self.at)
    }

    /// Returns `SESSION@ENTRY` with a short session ID.
    pub(super) fn place(&self, length: usize) -> String {
        place(&self.session_id, self.id.as_deref(), length)
    }
}

/// The maximum number of commits for which git is asked.
const MOST_CONFIRMED: usize = 20;

/// A commit with the entry that made it.
struct MadeCommit<'a> {
    session: &'a Digest,
    commit: &'a DigestCommit,
    prompt: String,
    is_abandoned: bool,
    /// `true` if the repository of the session's directory has the commit, if git answers.
    is_confirmed: Option<bool>,
}

/// Prints the entries whose commands made a commit, most recent first. A commit that forks inherited is listed once.
fn print_commits(log: &LogCommand, wanted: &CommitPrefix, context: &CommandContext) -> Result<Exit> {
    let is_in_project = log.project.matcher(context);
    let (sessions, unreadable) = sessions(|facts| facts.is_committed() && is_in_project(facts), context);
    let all = sessions.iter().enumerate().flat_map(|(number, session)| {
        let such = session.commits.iter().filter(|commit| wanted.is_of(&commit.sha));
        such.map(move |commit| (session.commit_key(commit), number, commit))
    });
    let mut found = cost_sharing::once(all);
    sort::by_key(&mut found, |listed| std::cmp::Reverse((listed.what.time, listed.what.at)));
    found.truncate(log.limit.unwrap_or(usize::MAX));
    let prompts = prompts(&sessions, &found, context)?;
    let (mut made, mut repositories) = (Vec::new(), HashMap::new());
    for (number, (ListedItem { session, what: commit, .. }, prompt)) in found.into_iter().zip(prompts).enumerate() {
        let session: &Digest = &sessions[session];
        // The longer of the two names fewer commits.
        let sha = [&*commit.sha, wanted.text()].into_iter().max_by_key(|sha| sha.len()).unwrap_or_default();
        let dir = &*session.header.cwd;
        let mut is_confirmed = None;
        // The repositories of other machines are unknown.
        if number < MOST_CONFIRMED && !session.facts().is_mirrored() {
            let repository = repositories.entry(dir).or_insert_with(|| Repository::of(Path::new(dir)));
            is_confirmed = repository.as_ref().and_then(|repository| repository.has_commit(sha));
        }
        made.push(MadeCommit { session, commit, prompt, is_abandoned: !session.is_active(commit.at), is_confirmed });
    }
    match log.json {
        true => made.iter().try_for_each(|made| made.print_json())?,
        false => commit_rows(&made, context)?,
    }
    if made.is_empty() {
        note!("no command printed the commit {wanted}; try a shorter prefix");
    }
    let end = output::end(unreadable)?;
    Ok(end.found(!made.is_empty()))
}

/// Returns the words of the prompts above commits. The tree of each session is loaded once.
fn prompts(
    sessions: &[SharedSession],
    commits: &[ListedItem<usize, &DigestCommit>],
    context: &CommandContext,
) -> Result<Vec<String>> {
    let mut by_session: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, listed) in commits.iter().enumerate() {
        by_session.entry(listed.session).or_default().push(number);
    }
    let mut prompts = vec![String::new(); commits.len()];
    for (session, numbers) in by_session {
        let tree = context.tree(&sessions[session].path)?;
        for number in numbers {
            let at = commits[number].what.at;
            if (at as usize) < tree.nodes.len() {
                prompts[number] = prompt_words(&tree, at);
            }
        }
    }
    Ok(prompts)
}

impl MadeCommit<'_> {
    fn print_json(&self) -> Result<()> {
        let Self { session, commit, prompt, is_abandoned, is_confirmed } = self;
        output::json(&object! {
            #[serde(flatten)] path: PathFields::from(&*resolve::absolute(&session.path)?),
            id: &session.header.id,
            entry: commit.entry.id(),
            timestamp: commit.time.and_then(time::iso),
            sha: &commit.sha,
            branch: &commit.branch,
            title: &commit.title,
            prompt,
            abandoned: is_abandoned,
            confirmed: is_confirmed,
        })
    }
}

fn commit_rows(all: &[MadeCommit<'_>], context: &CommandContext) -> Result<()> {
    const WHOLE: Column = Column::Whole;
    const COLUMNS: [Column; 8] =
        [Column::Number, WHOLE, WHOLE, WHOLE, WHOLE, Column::Words(TITLE), Column::Words(TITLE), Column::Words(LAST)];
    let length = resolve::shortest(all.iter().map(|made| made.session.header.id.as_str()));
    let row = |made: &MadeCommit<'_>| {
        let MadeCommit { session, commit, prompt, is_abandoned, is_confirmed } = made;
        let confirmed = is_confirmed.map_or("", |is| if is { "confirmed" } else { "not in the repository" });
        [
            table::age(commit.time),
            place(&session.header.id, commit.entry.id(), length),
            commit.sha.to_string(),
            confirmed.into(),
            if *is_abandoned { "abandoned".into() } else { String::new() },
            commit.branch.as_deref().unwrap_or_default().into(),
            commit.title.to_string(),
            prompt.clone(),
        ]
    };
    context.table(COLUMNS, all.iter().map(row), "")
}

/// Returns `SESSION@ENTRY` with a short session ID.
fn place(session: &str, entry: Option<&str>, length: usize) -> String {
    let id: String = session.chars().take(length).collect();
    format!("{id}@{}", entry.unwrap_or("?"))
}

/// Returns the words of the prompt above an entry.
fn prompt_words(tree: &Tree, at: Index) -> String {
    prompt(tree, at).map_or(String::new(), |at| tree.nodes[at as usize].words().into())
}

/// Parses the prefix of a commit.
fn commit_prefix(text: &str) -> Result<CommitPrefix, String> {
    CommitPrefix::read(text)?.ok_or_else(|| "too short; give at least 7 hexadecimal digits".into())
}

fn rows(all: &[LoggedState], context: &CommandContext) -> Result<()> {
    const WHOLE: Column = Column::Whole;
    const COLUMNS: [Column; 7] = [Column::Number, WHOLE, Column::Number, WHOLE, WHOLE, WHOLE, Column::Words(LAST)];
    let length = resolve::shortest(all.iter().map(|state| state.entry.session_id.as_str()));
    let row = |state: &LoggedState| {
        let entry = &state.entry;
        let lines = state.lines.map(|(added, removed)| format!("+{added} -{removed}"));
        [
            table::age(entry.time),
            entry.place(length),
            lines.unwrap_or_default(),
            state.exactness.into(),
            state.commit.as_deref().unwrap_or_default().into(),
            if entry.is_abandoned { "abandoned".into() } else { String::new() },
            entry.prompt.clone(),
        ]
    };
    context.table(COLUMNS, all.iter().map(row), "")
}
