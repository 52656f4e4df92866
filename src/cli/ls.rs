//! `pitree ls`: lists sessions as a table or as JSON.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{count, dollars, thousands};
use crate::base::paths::shorten;
use crate::base::{sort, time};
use crate::catalog::SessionKey;
use crate::catalog::copies::{SessionCopies, machine_chips};
use crate::catalog::cost_sharing::CostSharing;
use crate::catalog::parents::{ForkParent, parents};
use crate::catalog::user_data::local_cwds;
use crate::cli::command_context::read;
use crate::cli::hits::HitSearch;
use crate::cli::output::{PathFields, object};
use crate::cli::selection::ProjectArg;
use crate::cli::{CommandContext, Exit, hits, output, resolve, table};
use crate::disk::locate::missing_home;
use crate::disk::parallel;
use crate::disk::scan::{self, Unreadable};
use crate::pi::running;
use crate::session::digest::details::EntryTotals;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::digest::{Digest, NO_MESSAGES};
use crate::session::problem::Problem;

/// The number of sessions formatted per task, because formatted lines take much more memory than sessions.
const BATCH_SIZE: usize = 64;

/// The number of bytes reserved for the line of a session.
const LINE: usize = 1536;

/// A session with its index and the totals of its own entries.
type SessionRow<'a> = (usize, &'a LazySession, EntryTotals);

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
            words => Some(hits::read_query(words)?),
        };
        let mut scan = context.sources().scan();
        let mut unreadable = std::mem::take(&mut scan.found.unreadable);
        if scan.found.is_empty() && !unreadable.is_empty() {
            bail!("{}", nothing(&unreadable, context));
        }
        // A query can depend on all sessions, for example on forks.
        let mut unread = if self.subagents || query.is_some() { Vec::new() } else { scan.skip_subagents() };
        let mut sessions: Vec<SharedLazySession> = Vec::new();
        unreadable.extend(read(&mut scan, |batch| sessions.extend(batch)));
        let mut unlisted: Vec<SharedLazySession> = Vec::new();
        let found = query.map(|query| {
            let scope = context.query_scope();
            let all = context.searched(sessions.clone(), &query);
            unlisted = sessions.extract_if(.., |session| !self.subagents && session.facts().is_subagent()).collect();
            HitSearch::new(query, all, scope, context).map(|search| search.files())
        });
        let found = found.transpose()?;
        // A subagent session can be the parent of a listed session.
        let parents_among = |subagents: &[SharedLazySession]| {
            parents(&sessions.iter().chain(&unlisted).chain(subagents).collect::<Vec<_>>())
        };
        let (mut known, (copies, shares, mut rows)) = parallel::both(
            sessions.len(),
            || if self.json { parents_among(&[]) } else { HashMap::new() },
            || {
                let copies = SessionCopies::among(&sessions);
                let counted = sessions.iter().enumerate().filter(|(at, _)| !copies.is_hidden(SessionKey::new(*at)));
                let shares = CostSharing::new(counted, CostSharing::default());
                let rows = self.rows(&sessions, &copies, found.as_ref(), context);
                (copies, shares, rows)
            },
        );
        let count_of_all = rows.len();
        rows.truncate(self.limit.unwrap_or(count_of_all));
        let rows_of = |part: &[usize]| {
            let row = |&at: &usize| (at, &*sessions[at], shares.own(at, &sessions[at]));
            part.iter().map(row).collect::<Vec<SessionRow<'_>>>()
        };
        if self.json {
            let reported = context.reported_pis();
            let reported = running::by_session(&reported);
            let mut subagents: Vec<SharedLazySession> = Vec::new();
            if !unread.is_empty() && known.values().any(|one| *one == ForkParent::Missing) {
                scan.found.files = std::mem::take(&mut unread);
                read(&mut scan, |batch| subagents.extend(batch));
                known = parents_among(&subagents);
            }
            // Without them, the list is still useful.
            let marks = context.marks().inspect_err(|error| note!("{error:#}")).unwrap_or_default();
            let (worktrees, last_seen) = (context.worktrees(local_cwds(sessions.iter())), context.last_seen());
            let parent = |at: usize, session: &Digest| {
                let session_path =
                    |at: usize| Some(sessions.iter().chain(&unlisted).chain(&subagents).nth(at)?.file_path());
                // Files outside the session directories are not read.
                let named = || session.parent_path.clone().filter(|path| scan::one(path, None).is_some());
                let (state, path) = match (copies.base(SessionKey::new(at)), known.get(&at)) {
                    (Some(base), _) => ("present", Some(sessions[base.index()].file_path())),
                    (None, Some(&ForkParent::Present(at))) => ("present", session_path(at)),
                    (None, parent) => match (parent?, named()) {
                        (_, Some(path)) => ("present", Some(path)),
                        (ForkParent::Moved(at), None) => ("moved", session_path(*at)),
                        (_, None) => ("missing", None),
                    },
                };
                Some(object! { state, path: path.map(|path| path.to_string_lossy().into_owned()) })
            };
            let push_line = |lines: &mut Vec<u8>, at: usize, session: &Digest, own: EntryTotals| {
                let header = &session.header;
                let copies = copies.of(SessionKey::new(at)).iter().map(|copy| {
                    let path = PathFields::from(&*sessions[copy.key.index()].file_path());
                    object! { #[serde(flatten)] path, older: copy.is_older }
                });
                let copies: Vec<_> = copies.collect();
                let commits = session.commits.iter().map(|commit| {
                    object! {
                        sha: &commit.sha,
                        branch: &commit.branch,
                        title: &commit.title,
                        entry_id: commit.entry.id(),
                        time: commit.time.and_then(time::iso),
                    }
                });
                let (pis, marks_key) = (reported.get(&*session.path), header.marks_key());
                let line = object! {
                    #[serde(flatten)] path: PathFields::from(&*session.path),
                    // The other copies of the session.
                    #[serde(flatten)] copies: (!copies.is_empty()).then(|| object! { copies }),
                    id: &header.id,
                    cwd: &header.cwd,
                    // The directory of the project: `cwd`, or the same one in the main working tree of the repository.
                    project: worktrees.project(&header.cwd),
                    worktree: worktrees.of(&header.cwd).map(|worktree| &*worktree.name),
                    name: session.name.as_deref().map(|name| utf16_prefix(name, MAX_NAME)),
                    first_message: session.first_message().unwrap_or(NO_MESSAGES.into()),
                    message_count: session.message_count,
                    entry_count: session.entry_count,
                    created: header.created.and_then(time::iso),
                    modified: session.modified.and_then(time::iso),
                    parent_session: header.parent_session.as_deref(),
                    parent: parent(at, session),
                    subagent_of: session.owner.as_ref().and_then(|owner| Some(owner.path.as_ref()?.to_string_lossy())),
                    version: output::number(header.version),
                    branch_points: session.branch_points,
                    leaves: session.leaves,
                    labels: session.labels.len(),
                    commits: commits.collect::<Vec<_>>(),
                    pinned: marks.is_pinned(&marks_key),
                    tags: marks.tags(&marks_key).collect::<Vec<_>>(),
                    note: marks.note(&marks_key),
                    unread: last_seen.is_unread(|| header.marks_key(), session.modified),
                    cost: session.cost,
                    tokens: session.tokens,
                    own_cost: own.cost,
                    own_tokens: own.tokens,
                    own_entries: own.entries,
                    bytes: session.bytes,
                    problems: session.problems.iter().map(Problem::to_string).collect::<Vec<_>>(),
                    live: pis.and_then(|pis| pis.first()),
                    pis: pis.map_or(&[][..], Vec::as_slice),
                };
                output::push_json_line(lines, &line)
            };
            let lines = |part: &&[usize], room: &mut Vec<u8>, send: &dyn Fn(Result<Vec<u8>>) -> bool| {
                let (mut lines, mut formatted) = (Vec::with_capacity(part.len() * LINE), Ok(()));
                let rows = rows_of(part);
                LazySession::each_once(rows.iter().map(|(_, session, _)| *session), room, |row, session| {
                    let (at, _, own) = rows[row];
                    if formatted.is_ok() {
                        formatted = push_line(&mut lines, at, &session, own);
                    }
                });
                send(formatted.map(|()| lines));
            };
            let lost = |_: &&[usize], why: String| Err(anyhow!("{why}"));
            let parts: Vec<&[usize]> = rows.chunks(BATCH_SIZE).collect();
            let mut written = Ok(());
            parallel::in_order(&parts, (lines, lost), |lines| {
                written = lines.and_then(|lines| Ok(output::write(&lines)?));
                written.is_ok()
            });
            written?;
        } else {
            print(&rows_of(&rows), &sessions, &copies, context)?;
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
            note!("no match in {}", count(sessions.len() - copies.hidden(), "session", "sessions"));
        }
        // Freeing the memory piece by piece would be slower than exiting.
        std::mem::forget(sessions);
        Ok(output::end(unreadable)?.found(!nothing_found))
    }

    /// Returns the numbers of the sessions to list, newest first.
    fn rows(
        &self,
        sessions: &[SharedLazySession],
        copies: &SessionCopies,
        found: Option<&HashSet<PathBuf>>,
        context: &CommandContext,
    ) -> Vec<usize> {
        let is_in_project = self.project.matcher(context);
        let is_listed = |(at, session): &(usize, &SharedLazySession)| {
            !copies.is_hidden(SessionKey::new(*at))
                && found.is_none_or(|found| found.contains(&session.file_path()))
                && is_in_project(&session.facts())
        };
        let listed = sessions.iter().enumerate().filter(is_listed);
        let mut timed: Vec<(i64, u32)> =
            listed.map(|(at, session)| (session.facts().order_time(), at as u32)).collect();
        // pi orders by time only; files of the same time keep a fixed order here, by the bytes of their paths.
        let path = |at: u32| sessions[at as usize].facts().path();
        sort::newest_first(&mut timed, &|a, b| path(b).compare(path(a)));
        timed.into_iter().map(|(_, at)| at as usize).collect()
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

/// The maximum length of a name in a line, in UTF-16 code units.
const MAX_NAME: usize = 500;

/// Prints the table. The cost of a fork has a plus and is that of its unique entries, so that the column adds up.
/// Machines come before the title.
fn print(
    rows: &[SessionRow<'_>],
    sessions: &[SharedLazySession],
    copies: &SessionCopies,
    context: &CommandContext,
) -> Result<()> {
    let ids = resolve::shortest(rows.iter().map(|(_, session, _)| session.facts().id()));
    let row = |(at, session, own): &SessionRow<'_>| {
        let machines = copies.machines(SessionKey::new(*at), |key| &sessions[key.index()]);
        let mut title = machine_chips(machines);
        title += if title.is_empty() { "" } else { " " };
        let session = session.uncached_digest();
        let plus = if own.entries < session.all.entries { "+" } else { "" };
        [
            table::age(session.modified),
            session.entry_count.to_string(),
            format!("{plus}{}", dollars(own.cost)),
            utf16_prefix(&session.header.id, ids).into(),
            shorten(&session.header.cwd, &context.home).into(),
            title + session.title(),
        ]
    };
    context.table("age> entries> cost> id directory/ title~100", rows.iter().map(row), "")
}
