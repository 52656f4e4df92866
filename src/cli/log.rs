//! The states of a file over all sessions and branches: `pitree log` lists them, and `pitree blame` shows the session and the
//! prompt that brought each line of a file.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, bail};

use crate::base::normalize::fold;
use crate::base::paths::shorten;
use crate::base::{sort, time};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::catalog::file_history::{FileRevision, ReplayControl, commits_of_states, each_version, prompt};
use crate::cli::output::{PathFields, object};
use crate::cli::selection::ProjectArg;
use crate::cli::table::{self, words};
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::disk::files::read_regular;
use crate::disk::git::Repository;
use crate::disk::scan::Unreadable;
use crate::search::qualifier::file_test;
use crate::session::digest::Digest;
use crate::session::digest::commits::{CommitPrefix, DigestCommit};
use crate::session::digest::facts::SessionFacts;
use crate::session::digest::listed::SharedLazySession;
use crate::session::replay::{CommandEffects, session_path};
use crate::session::tree::{EntryIndex, Tree};

/// List the states of files in all sessions, most recent first
///
/// Lists each entry, on any branch, that changed the content of a file or read it for the first time. An entry that forks
/// inherited is listed once. With --commit and without a file, lists the entries whose commands made the commit.
#[derive(Debug, clap::Args)]
pub(super) struct LogCommand {
    /// File, relative to the current directory or absolute, or a pattern as for `edited:`, such as index.ts or src/
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
struct LoggedEntry {
    session: PathBuf,
    session_id: String,
    id: Option<String>,
    time: Option<i64>,
    prompt: String,
    is_abandoned: bool,
    at: EntryIndex,
}

/// A listed state, without its text.
struct LoggedState {
    file: String,
    entry: LoggedEntry,
    lines: Option<(usize, usize)>,
    exactness: &'static str,
    source: &'static str,
    commit: Option<Box<str>>,
}

impl LogCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let Some(path) = &self.path else {
            return self.commit.as_ref().map_or(Ok(Exit::Nothing), |commit| self.print_commits(commit, context));
        };
        let scope = context.query_scope();
        let is_match = file_test(path, &scope);
        let mut all: Vec<LoggedState> = Vec::new();
        let visit = |file: &str, entry: LoggedEntry, version: &FileRevision| {
            let is_listed = self.search.as_ref().is_none_or(|text| version.changes_count(text));
            is_listed.then(|| LoggedState {
                file: file.into(),
                entry,
                lines: version.changed_lines(),
                exactness: version.state.exactness().name(),
                source: version.state.source.name(),
                commit: None,
            })
        };
        let (file, is_in_project) = (context.full_path(path), self.project.matcher(context));
        let unreadable = each_state((&file, &is_match), &is_in_project, context, visit, |state, commit| {
            let commit = commit.map(|commit| commit.sha.clone());
            let is_listed = |wanted: &CommitPrefix| commit.as_ref().is_some_and(|commit| wanted.is_of(commit));
            let state = state.filter(|_| self.commit.as_ref().is_none_or(is_listed));
            all.extend(state.map(|state| LoggedState { commit, ..state }));
        })?;
        sort::by_key(&mut all, |state| Reverse(state.entry.age()));
        all.truncate(self.limit.unwrap_or(usize::MAX));
        // One file is already named on the command line.
        let has_files = all.iter().any(|state| state.file != all[0].file);
        let length = resolve::shortest(all.iter().map(|state| state.entry.session_id.as_str()));
        let row = |LoggedState { file, entry, lines, exactness, commit, .. }: &LoggedState| {
            [
                table::age(entry.time),
                entry.place(length),
                lines.map(|(added, removed)| format!("+{added} -{removed}")).unwrap_or_default(),
                exactness.to_string(),
                commit.as_deref().unwrap_or_default().into(),
                abandoned(entry.is_abandoned),
                if has_files { shorten(file, &context.home).into() } else { String::new() },
                entry.prompt.clone(),
            ]
        };
        context.list(
            self.json,
            &all,
            |LoggedState { file, entry, lines, exactness, source, commit }| {
                let LoggedEntry { session, session_id, id, time, prompt, is_abandoned, .. } = entry;
                object! {
                    #[serde(flatten)] path: PathFields::from(&**session),
                    id: session_id,
                    entry: id,
                    timestamp: time.and_then(time::iso),
                    prompt,
                    added: lines.map(|(added, _)| added),
                    removed: lines.map(|(_, removed)| removed),
                    exactness,
                    source,
                    commit,
                    abandoned: is_abandoned,
                    file,
                }
            },
            ("age> entry lines> state commit branch file/ prompt~100", row),
            "",
        )?;
        if all.is_empty() {
            note!("no listed state of {file}; see `pitree files` for the files of sessions");
        }
        Ok(output::end(unreadable)?.found(!all.is_empty()))
    }

    /// Prints the entries whose commands made a commit, most recent first. A commit that forks inherited is listed once.
    fn print_commits(&self, wanted: &CommitPrefix, context: &CommandContext) -> Result<Exit> {
        let is_in_project = self.project.matcher(context);
        let (sessions, unreadable) = sessions(|facts| facts.is_committed() && is_in_project(facts), context);
        let all = sessions.iter().enumerate().flat_map(|(number, session)| {
            let such = session.commits.iter().filter(|commit| wanted.is_of(&commit.sha));
            such.map(move |commit| (session.commit_key(commit), number, commit))
        });
        let mut found = cost_sharing::deduplicate(all);
        sort::by_key(&mut found, |listed| Reverse((listed.what.time, listed.what.at)));
        found.truncate(self.limit.unwrap_or(usize::MAX));
        let (mut made, mut trees, mut repositories) = (Vec::new(), HashMap::new(), HashMap::new());
        for (number, ListedItem { session: place, what: commit, .. }) in found.into_iter().enumerate() {
            let session: &Digest = &sessions[place];
            let tree = match trees.entry(place) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(context.tree(&session.path)?),
            };
            // The longer of the two names fewer commits.
            let sha = [&*commit.sha, wanted.text()].into_iter().max_by_key(|sha| sha.len()).unwrap_or_default();
            let dir = &*session.header.cwd;
            let mut is_confirmed = None;
            // The repositories of other machines are unknown.
            if number < MAX_CONFIRMED && !session.facts().is_mirrored() {
                let repository = repositories.entry(dir).or_insert_with(|| Repository::of(Path::new(dir)));
                is_confirmed = repository.as_ref().and_then(|repository| repository.has_commit(sha));
            }
            let prompt =
                if (commit.at as usize) < tree.nodes.len() { prompt_words(tree, commit.at) } else { String::new() };
            let is_abandoned = !session.is_active(commit.at);
            made.push(MadeCommit { session, commit, prompt, is_abandoned, is_confirmed });
        }
        let length = resolve::shortest(made.iter().map(|made| made.session.header.id.as_str()));
        let row = |MadeCommit { session, commit, prompt, is_abandoned, is_confirmed }: &MadeCommit<'_>| {
            let confirmed = is_confirmed.map_or("", |is| if is { "confirmed" } else { "not in the repository" });
            [
                table::age(commit.time),
                place(&session.header.id, commit.entry.id(), length),
                commit.sha.to_string(),
                confirmed.into(),
                abandoned(*is_abandoned),
                commit.branch.as_deref().unwrap_or_default().into(),
                commit.title.to_string(),
                prompt.clone(),
            ]
        };
        context.list(
            self.json,
            &made,
            |MadeCommit { session, commit, prompt, is_abandoned, is_confirmed }| {
                object! {
                    #[serde(flatten)] path: PathFields::from(&*session.path),
                    id: &session.header.id,
                    entry: commit.entry.id(),
                    timestamp: commit.time.and_then(time::iso),
                    sha: &commit.sha,
                    branch: &commit.branch,
                    title: &commit.title,
                    prompt,
                    abandoned: is_abandoned,
                    confirmed: is_confirmed,
                }
            },
            ("age> entry commit git state branch~40 message~40 prompt~100", row),
            "",
        )?;
        if made.is_empty() {
            note!("no command printed the commit {wanted}; try a shorter prefix");
        }
        Ok(output::end(unreadable)?.found(!made.is_empty()))
    }
}

/// Returns the wanted sessions, oldest first.
fn sessions(
    is_wanted: impl Fn(&SessionFacts<'_>) -> bool,
    context: &CommandContext,
) -> (Vec<SharedLazySession>, Vec<Unreadable>) {
    let (mut sessions, unreadable) = context.read_sessions(context.sources().scan(), is_wanted);
    sort::by(&mut sessions, |a, b| a.facts().compare_age(&b.facts()));
    (sessions, unreadable)
}

/// A test for paths that a session in a folded directory touched.
type FileTest<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Passes the states of a file in all sessions to `visit`, or those of all matching files if no session touched it. Sessions
/// are replayed one after another, oldest first, and no texts are kept. At the end of a session, `done` gets what `visit`
/// returned for each state, with the first commit of all branches that has the state.
fn each_state<R>(
    (file, is_match): (&str, FileTest<'_>),
    is_wanted: &dyn Fn(&SessionFacts<'_>) -> bool,
    context: &CommandContext,
    mut visit: impl FnMut(&str, LoggedEntry, &FileRevision) -> R,
    mut done: impl FnMut(R, Option<&DigestCommit>),
) -> Result<Vec<Unreadable>> {
    let (sessions, unreadable) = sessions(is_wanted, context);
    let control = ReplayControl { home: &context.home, is_wanted: &|| true };
    let mut known = HashSet::new();
    let touched = |session: &SharedLazySession| -> BTreeSet<String> {
        let session = session.uncached_digest();
        let (details, cwd) = (session.details_once(), &*session.header.cwd);
        let (folded_cwd, full) = (fold(cwd), |path: &str| session_path(path, cwd, &context.home));
        let paths = details.touches.paths.iter();
        paths.filter(|path| is_match(path, &folded_cwd) || full(path) == file).map(full).collect()
    };
    let mut touching: Vec<_> = sessions.into_iter().map(|session| (touched(&session), session)).collect();
    if touching.iter().any(|(files, _)| files.contains(file)) {
        touching.iter_mut().for_each(|(files, _)| files.retain(|touched| touched == file));
    }
    for (files, session) in touching.into_iter().filter(|(files, _)| !files.is_empty()) {
        let tree = context.tree(&session.path)?;
        let (mut states, mut results) = (HashMap::<String, HashSet<EntryIndex>>::new(), Vec::new());
        each_version((&session.path, &tree), &files, control, &mut CommandEffects::new(), &mut |file, version| {
            let entry = version.entry;
            if !version.is_new() {
                return;
            }
            states.entry(file.into()).or_default().insert(entry);
            // Forks inherit entries; the oldest session counts.
            if session.entry_key(entry).is_none_or(|key| known.insert((key, file.to_owned()))) {
                let result = visit(file, LoggedEntry::new(&session.path, &tree, entry), &version);
                results.push((file.to_owned(), entry, result));
            }
        })?;
        let commits = |(file, states)| (file, commits_of_states(&tree, &states, &session.commits));
        let commits: HashMap<String, _> = states.into_iter().map(commits).collect();
        for (file, entry, result) in results {
            done(result, commits.get(&file).and_then(|commits| commits.get(&entry)).copied());
        }
    }
    Ok(unreadable)
}

impl LoggedEntry {
    fn new(session: &Path, tree: &Tree, at: EntryIndex) -> Self {
        let node = &tree[at];
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
    fn age(&self) -> (Option<i64>, EntryIndex) {
        (self.time, self.at)
    }

    /// Returns `SESSION@ENTRY` with a short session ID.
    fn place(&self, length: usize) -> String {
        place(&self.session_id, self.id.as_deref(), length)
    }
}

/// The maximum number of commits for which git is asked.
const MAX_CONFIRMED: usize = 20;

/// A commit with the entry that made it.
struct MadeCommit<'a> {
    session: &'a Digest,
    commit: &'a DigestCommit,
    prompt: String,
    is_abandoned: bool,
    /// `true` if the repository of the session's directory has the commit, if git answers.
    is_confirmed: Option<bool>,
}

/// Returns `SESSION@ENTRY` with a short session ID.
fn place(session: &str, entry: Option<&str>, length: usize) -> String {
    let id: String = session.chars().take(length).collect();
    format!("{id}@{}", entry.unwrap_or("?"))
}

/// Returns the cell of a table for an abandoned branch; empty for others.
fn abandoned(is_abandoned: bool) -> String {
    if is_abandoned { "abandoned".into() } else { String::new() }
}

/// Returns the words of the prompt above an entry.
fn prompt_words(tree: &Tree, at: EntryIndex) -> String {
    prompt(tree, at).map_or(String::new(), |at| tree[at].words().into())
}

/// Parses the prefix of a commit.
fn commit_prefix(text: &str) -> Result<CommitPrefix, String> {
    CommitPrefix::read(text)?.ok_or_else(|| "too short; give at least 7 hexadecimal digits".into())
}

/// The maximum width of a prompt.
const PROMPT: usize = 30;

/// Show which session and prompt wrote each line of a file
///
/// Compares the file on disk with its exact states in all sessions, most recent first. Lines that no exact state added are
/// blank.
#[derive(Debug, clap::Args)]
pub(super) struct BlameCommand {
    /// File on the disk, or one line of it
    #[arg(value_name = "PATH[:LINE]")]
    path: String,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

impl BlameCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let (path, line) = match self.path.rsplit_once(':') {
            Some((path, line)) if !Path::new(&self.path).is_file() && line.parse::<usize>().is_ok() => {
                (path, line.parse().ok())
            }
            _ => (&*self.path, None),
        };
        let file = context.full_path(path);
        let bytes = read_regular(Path::new(&file)).with_context(|| format!("cannot read {file}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if line.is_some_and(|line: usize| line == 0 || line > lines.len()) {
            bail!("{file} has {} lines", lines.len());
        }
        // The newest entry that brought each line.
        let mut origins: Vec<Option<Rc<LoggedEntry>>> = vec![None; lines.len()];
        let visit = |_: &str, entry: LoggedEntry, version: &FileRevision| {
            let entry = Rc::new(entry);
            for (origin, _) in origins.iter_mut().zip(version.brought(&lines)).filter(|(_, brought)| *brought) {
                if origin.as_ref().is_none_or(|known| known.age() < entry.age()) {
                    *origin = Some(entry.clone());
                }
            }
        };
        let unreadable = each_state((&file, &|_, _| false), &|_| true, context, visit, |(), _| {})?;
        let length = resolve::shortest(origins.iter().flatten().map(|origin| origin.session_id.as_str()));
        let wanted = lines.iter().zip(1..).zip(&origins).map(|((text, number), origin)| BlamedLine {
            number,
            text: text.trim_end_matches(['\n', '\r']),
            origin: origin.as_deref(),
        });
        let wanted: Vec<BlamedLine<'_>> = wanted.filter(|one| line.is_none_or(|line| line == one.number)).collect();
        let row = |&BlamedLine { number, text, origin }: &BlamedLine<'_>| {
            let prompt = |origin: &LoggedEntry| words(&origin.prompt, PROMPT, context.config.glyphs());
            let (place, prompt) = origin.map(|origin| (origin.place(length), prompt(origin))).unwrap_or_default();
            [place, prompt, number.to_string(), text.replace('\t', "    ")]
        };
        let json = |&BlamedLine { number, text, origin }: &BlamedLine<'_>| {
            let field = |field: fn(&LoggedEntry) -> Option<String>| origin.and_then(field);
            object! {
                line: number,
                text: text.to_owned(),
                id: field(|origin| Some(origin.session_id.clone())),
                entry: field(|origin| origin.id.clone()),
                timestamp: field(|origin| origin.time.and_then(time::iso)),
                prompt: field(|origin| Some(origin.prompt.clone())),
            }
        };
        context.list(self.json, &wanted, json, ("entry prompt line> text~100", row), "")?;
        Ok(output::end(unreadable)?.found(wanted.iter().any(|line| line.origin.is_some())))
    }
}

/// A line of a blamed file, and the newest entry that brought it.
struct BlamedLine<'a> {
    number: usize,
    text: &'a str,
    origin: Option<&'a LoggedEntry>,
}
