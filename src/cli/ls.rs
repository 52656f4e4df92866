//! `pitree ls`: lists sessions as a table or as JSON.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde_json::Number;

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{count, dollars, thousands};
use crate::base::paths::shorten;
use crate::base::{sort, time};
use crate::catalog::copies::{NumberedCopies, machine_chips};
use crate::catalog::cost_sharing::CostSharing;
use crate::catalog::machines::local_cwds;
use crate::catalog::parents::{ForkParent, parents};
use crate::cli::hits::HitSearch;
use crate::cli::output::PathFields;
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column, LAST, PATH};
use crate::cli::{CommandContext, Exit, machine_context, output, resolve, search};
use crate::disk::locate::missing_home;
use crate::disk::parallel;
use crate::disk::scan::{self, Unreadable};
use crate::pi::running;
use crate::pi::status::PiStatus;
use crate::session::digest::commits::DigestCommit;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::listed::{ListedSession, SharedSession};
use crate::session::digest::{Digest, NO_MESSAGES};
use crate::session::last_seen::LastSeen;
use crate::session::marks::Marks;
use crate::session::problem::Problem;
use crate::session::worktrees::Worktrees;

/// The number of sessions formatted per task, because formatted lines take much more memory than sessions.
const AT_ONCE: usize = 64;

/// The number of bytes reserved for the line of a session.
const LINE: usize = 1536;

/// A session with its index and the totals of its own entries.
type SessionRow<'a> = (usize, &'a ListedSession, EntryTotals);

/// List sessions, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct LsCommand {
    /// List only sessions that match this query (see `pitree search --help`)
    query: Vec<String>,
    /// List at most N sessions
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Include subagent sessions, which pi's own list omits
    #[arg(long)]
    subagents: bool,
}

impl LsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let query = match &self.query[..] {
            [] => None,
            words => Some(search::read_query(words)?),
        };
        let mut scan = context.sources().scan();
        let mut unreadable = std::mem::take(&mut scan.found.unreadable);
        if scan.found.is_empty() && !unreadable.is_empty() {
            bail!("{}", nothing(&unreadable, context));
        }
        // A query can depend on all sessions, for example on forks.
        let mut unread = if self.subagents || query.is_some() { Vec::new() } else { scan.skip_subagents() };
        let mut sessions: Vec<SharedSession> = Vec::new();
        unreadable.extend(crate::cli::read(&mut scan, |batch| sessions.extend(batch)));
        let mut unlisted: Vec<SharedSession> = Vec::new();
        let found = query.map(|query| {
            let here = context.here_and_now();
            let all = context.searched(sessions.clone(), &query);
            unlisted = sessions.extract_if(.., |session| !self.subagents && session.facts().is_subagent()).collect();
            HitSearch::new(query, all, here, context).map(|search| search.files())
        });
        let found = found.transpose()?;
        // A subagent session can be the parent of a listed session.
        let parents_among = |subagents: &[SharedSession]| {
            parents(&sessions.iter().chain(&unlisted).chain(subagents).collect::<Vec<_>>())
        };
        let (mut known, (copies, shares, mut rows)) = parallel::both(
            sessions.len(),
            || if self.json { parents_among(&[]) } else { HashMap::new() },
            || {
                let copies = NumberedCopies::new(&sessions);
                let counted = sessions.iter().enumerate().filter(|(at, _)| !copies.is_hidden(*at));
                let shares = CostSharing::new(counted, CostSharing::default());
                let rows = self.rows(&sessions, &copies, found.as_ref(), context);
                (copies, shares, rows)
            },
        );
        let count_of_all = rows.len();
        rows.truncate(self.limit.unwrap_or(count_of_all));
        let rows_of = |part: &[u32]| {
            let row = |&at: &u32| {
                let session = &*sessions[at as usize];
                (at as usize, session, shares.own(at as usize, session))
            };
            part.iter().map(row).collect::<Vec<SessionRow<'_>>>()
        };
        if self.json {
            let reported = machine_context::reported(&context.config, context.located.mirrors.as_deref());
            let reported = running::by_session(&reported);
            let mut subagents: Vec<SharedSession> = Vec::new();
            if !unread.is_empty() && known.values().any(|one| *one == ForkParent::Missing) {
                scan.found.files = std::mem::take(&mut unread);
                crate::cli::read(&mut scan, |batch| subagents.extend(batch));
                known = parents_among(&subagents);
            }
            // Without them, the list is still useful.
            let marks = context.marks().inspect_err(|error| note!("{error:#}")).unwrap_or_default();
            let worktrees = context.worktrees(local_cwds(sessions.iter()));
            let here = std::path::absolute(".").unwrap_or_default(); // the directory can be missing
            let about =
                SessionsContext { here: &here, marks: &marks, last_seen: &context.last_seen(), worktrees: &worktrees };
            let parent = |at: usize, session: &Digest| {
                let path = session.parent_path.as_deref();
                // Files outside the session directories are not read.
                let is_file = |path: &&Path| scan::one(path, None).is_some();
                let session_path =
                    |at: usize| Some(sessions.iter().chain(&unlisted).chain(&subagents).nth(at)?.file_path());
                let (state, path) = match (copies.base(at), known.get(&at)) {
                    (Some(base), _) => ("present", Some(base.file_path())),
                    (None, Some(&ForkParent::Present(at))) => ("present", session_path(at)),
                    (None, Some(parent)) => match (path.filter(is_file), parent) {
                        (Some(path), _) => ("present", Some(path.to_path_buf())),
                        (None, ForkParent::Moved(at)) => ("moved", session_path(*at)),
                        (None, _) => ("missing", None),
                    },
                    (None, None) => return None,
                };
                let path = path.map(|path| absolute(&path, &here).to_string_lossy().into_owned());
                Some(ParentFields { state, path })
            };
            let others = |at: usize| {
                let other = |(copy, older): (&SharedSession, bool)| {
                    let path = copy.file_path();
                    CopyFields { path: (&*absolute(&path, &here)).into(), older }
                };
                copies.of(at).map(other).collect()
            };
            let lines = |part: &&[u32], room: &mut Vec<u8>, send: &dyn Fn(Result<Vec<u8>>) -> bool| {
                let (mut lines, mut formatted) = (Vec::with_capacity(part.len() * LINE), Ok(()));
                let rows = rows_of(part);
                ListedSession::each_once(rows.iter().map(|(_, session, _)| *session), room, |row, session| {
                    let (at, _, own) = rows[row];
                    let line = SessionLine::new(&session, own, about, &reported, (parent(at, &session), others(at)));
                    if formatted.is_ok() {
                        formatted = output::push_json_line(&mut lines, &line);
                    }
                });
                send(formatted.map(|()| lines));
            };
            let lost = |_: &&[u32], why: String| Err(anyhow!("{why}"));
            let parts: Vec<&[u32]> = rows.chunks(AT_ONCE).collect();
            let mut written = Ok(());
            parallel::in_order(&parts, (lines, lost), |lines| {
                written = lines.and_then(|lines| Ok(output::write(&lines)?));
                written.is_ok()
            });
            written?;
        } else {
            table(&rows_of(&rows), &copies, context)?;
            if rows.len() < count_of_all {
                let all = count(count_of_all, "session", "sessions");
                note!("{} of {all}", thousands(rows.len()));
            }
        }
        output::flush()?;
        context.keep(scan);
        if sessions.is_empty() && !self.json {
            let dirs: Vec<_> = context.located.dirs.iter().map(|dir| dir.to_string_lossy()).collect();
            let (dirs, origin) = (dirs.join(", "), &context.located.origin);
            note!("no sessions in {dirs} (from {origin}); {OTHERWISE}");
        }
        let nothing_found = rows.is_empty() && (found.is_some() || self.project.dir.is_some());
        if nothing_found && !self.json {
            note!("no match in {}", count(copies.listed(), "session", "sessions"));
        }
        // Freeing the memory piece by piece would be slower than exiting.
        std::mem::forget(sessions);
        Ok(output::end(unreadable)?.found(!nothing_found))
    }

    /// Returns the indexes of the sessions to list, newest first.
    fn rows(
        &self,
        sessions: &[SharedSession],
        copies: &NumberedCopies<'_>,
        found: Option<&HashSet<PathBuf>>,
        context: &CommandContext,
    ) -> Vec<u32> {
        let facts = |at: u32| sessions[at as usize].facts();
        let mut rows: Vec<u32> = (0..sessions.len() as u32).filter(|&at| !copies.is_hidden(at as usize)).collect();
        if let Some(found) = found {
            rows.retain(|&at| found.contains(&sessions[at as usize].file_path()));
        }
        if self.project.dir.is_some() {
            let is_in_project = self.project.matcher(context);
            rows.retain(|&at| is_in_project(&facts(at)));
        }
        // pi orders by time only; files of the same time keep a fixed order here, by the bytes of their paths.
        let mut timed: Vec<(i64, u32)> = rows.iter().map(|&at| (facts(at).order_time(), at)).collect();
        sort::newest_first(&mut timed, &|a, b| facts(b).path().compare(facts(a).path()));
        timed.into_iter().map(|(_, at)| at).collect()
    }
}

/// Explains an empty list, and what to do.
fn nothing(unreadable: &[Unreadable], context: &CommandContext) -> String {
    let located = &context.located;
    if located.is_default() && unreadable.iter().all(|one| one.is_missing) {
        if let Some(why) = missing_home(&context.home) {
            return format!("no sessions: {why}, or try --demo");
        }
        let dirs: Vec<_> = located.dirs.iter().map(|dir| dir.display().to_string()).collect();
        let dirs = dirs.join(", ");
        return format!("no sessions yet: pi creates {dirs} with your first message; {OTHERWISE}");
    }
    let dirs: Vec<String> =
        unreadable.iter().map(|Unreadable { path, reason, .. }| format!("{}: {reason}", path.display())).collect();
    format!("no sessions: cannot read {} (from {}); {OTHERWISE}", dirs.join(", "), located.origin)
}

/// The advice in errors about missing sessions.
const OTHERWISE: &str = "specify another directory with --dir, or try --demo";

/// The JSON form of a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionLine<'a> {
    path: String,
    /// The fields of [`PathFields`]; flattening them is slow for many sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_path: Option<String>,
    /// The other copies of the session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<CopyFields>,
    id: &'a str,
    cwd: &'a str,
    /// The directory of the project: `cwd`, or the same one in the main working tree of the repository.
    project: Cow<'a, str>,
    /// The name of the linked worktree.
    worktree: Option<&'a str>,
    name: Option<&'a str>,
    first_message: Cow<'a, str>,
    message_count: usize,
    entry_count: usize,
    created: Option<String>,
    modified: Option<String>,
    parent_session: Option<&'a str>,
    parent: Option<ParentFields>,
    subagent_of: Option<Cow<'a, str>>,
    version: Option<Number>,
    branch_points: usize,
    leaves: usize,
    labels: usize,
    commits: Vec<CommitFields<'a>>,
    pinned: bool,
    tags: Vec<&'a str>,
    note: Option<&'a str>,
    unread: bool,
    cost: f64,
    tokens: f64,
    own_cost: f64,
    own_tokens: f64,
    own_entries: usize,
    bytes: u64,
    problems: Vec<String>,
    live: Option<&'a PiStatus>,
    pis: &'a [&'a PiStatus],
}

/// The context of all lines.
#[derive(Clone, Copy)]
struct SessionsContext<'a> {
    /// The current directory.
    here: &'a Path,
    marks: &'a Marks,
    last_seen: &'a LastSeen,
    worktrees: &'a Worktrees,
}

/// The maximum length of a name in a line, in UTF-16 code units.
const MOST_NAME: usize = 500;

impl<'a> SessionLine<'a> {
    fn new(
        session: &'a Digest,
        own: EntryTotals,
        SessionsContext { here, marks, last_seen, worktrees }: SessionsContext<'a>,
        reported: &'a HashMap<&Path, Vec<&PiStatus>>,
        (parent, copies): (Option<ParentFields>, Vec<CopyFields>),
    ) -> Self {
        let header = &session.header;
        let path = absolute(&session.path, here);
        let pis = reported.get(&*path).map_or(&[][..], Vec::as_slice);
        let PathFields { path, path_bytes, remote } = (&*path).into();
        let (machine, remote_path) = remote.map(|remote| (remote.machine, remote.remote_path)).unzip();
        Self {
            path,
            path_bytes,
            machine,
            remote_path,
            copies,
            id: &header.id,
            cwd: &header.cwd,
            project: worktrees.project(&header.cwd),
            worktree: worktrees.of(&header.cwd).map(|worktree| &*worktree.name),
            name: session.name.as_deref().map(|name| utf16_prefix(name, MOST_NAME)),
            first_message: session.first_message().unwrap_or(NO_MESSAGES.into()),
            message_count: session.message_count,
            entry_count: session.entry_count,
            created: header.created.and_then(time::iso),
            modified: session.modified.and_then(time::iso),
            parent_session: header.parent_session.as_deref(),
            parent,
            subagent_of: session.owner.as_ref().and_then(|owner| Some(owner.path.as_ref()?.to_string_lossy())),
            version: output::number(header.version),
            branch_points: session.branch_points,
            leaves: session.leaves,
            labels: session.labels.len(),
            commits: session.commits.iter().map(CommitFields::new).collect(),
            pinned: marks.is_pinned(&header.marks_key()),
            tags: marks.tags(&header.marks_key()).collect(),
            note: marks.note(&header.marks_key()),
            unread: last_seen.is_unread(|| header.marks_key(), session.modified),
            cost: session.cost,
            tokens: session.tokens,
            own_cost: own.cost,
            own_tokens: own.tokens,
            own_entries: own.entries,
            bytes: session.bytes,
            problems: session.problems.iter().map(Problem::to_string).collect(),
            live: pis.first().copied(),
            pis,
        }
    }
}

/// The JSON form of a commit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CommitFields<'a> {
    sha: &'a str,
    branch: Option<&'a str>,
    title: &'a str,
    entry_id: Option<&'a str>,
    time: Option<String>,
}

impl<'a> CommitFields<'a> {
    fn new(commit: &'a DigestCommit) -> Self {
        Self {
            sha: &commit.sha,
            branch: commit.branch.as_deref(),
            title: &commit.title,
            entry_id: commit.entry.id(),
            time: commit.time.and_then(time::iso),
        }
    }
}

/// The JSON form of a copy on another machine.
#[derive(Serialize)]
struct CopyFields {
    #[serde(flatten)]
    path: PathFields,
    older: bool,
}

/// The JSON form of a fork's parent.
#[derive(Serialize)]
struct ParentFields {
    state: &'static str,
    path: Option<String>,
}

/// Returns the absolute path without resolving symbolic links.
fn absolute<'a>(path: &'a Path, here: &Path) -> Cow<'a, Path> {
    if path.is_absolute() {
        return path.into(); // paths found in such a directory are already normalized
    }
    here.join(path).components().collect::<PathBuf>().into()
}

/// Prints the table. The cost of a fork has a plus and is that of its unique entries, so that the column adds up.
/// Machines come before the title.
fn table(sessions: &[SessionRow<'_>], copies: &NumberedCopies<'_>, context: &CommandContext) -> Result<()> {
    const COLUMNS: [Column; 6] =
        [Column::Number, Column::Number, Column::Number, Column::Whole, Column::Path(PATH), Column::Words(LAST)];
    let ids = resolve::shortest(sessions.iter().map(|(_, session, _)| session.facts().id()));
    let is_fork = |session: &Digest, own: &EntryTotals| own.entries < session.all.entries;
    let row = |(at, session, own): &SessionRow<'_>| {
        let mut title = machine_chips(copies.machines(*at));
        title += if title.is_empty() { "" } else { " " };
        let session = session.once();
        let cwd = shorten(&session.header.cwd, &context.home).into_owned();
        let id = utf16_prefix(&session.header.id, ids).to_string();
        let plus = if is_fork(&session, own) { "+" } else { "" };
        let cost = format!("{plus}{}", dollars(own.cost));
        [table::age(session.modified), session.entry_count.to_string(), cost, id, cwd, title + session.title()]
    };
    context.table(COLUMNS, sessions.iter().map(row), "")
}
