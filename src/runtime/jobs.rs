//! Jobs that read or change files, run by the workers of the browser or directly by tests.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Error, Result, bail};

use crate::app::external::Opener;
use crate::app::message::{ChangeReply, EntryLocation, Reply, Work};
use crate::app::panes::reader::EntryForm;
use crate::app::settings::Settings;
use crate::app::ticket::Ticket;
use crate::base::paths::shorten;
use crate::catalog::compare::{ComparedBranches, final_files};
use crate::catalog::cost_sharing::SharedEntries;
use crate::catalog::export::{ExportRequest, ExportResult, ExportRun, ExportTo};
use crate::catalog::file_history::ReplayControl;
use crate::catalog::file_states::StatesCache;
use crate::catalog::lost_work::LostWorkCache;
use crate::catalog::search::Searcher;
use crate::catalog::space::{self, SpaceContent};
use crate::catalog::stats::table::StatsTable;
use crate::changes::{ChangeEvent, ChangeProgress, Changes, Request, has_marks, random, touched};
use crate::config::GoBy;
use crate::config::stats::price_table;
use crate::disk::incremental::{OwnChanges, is_fresh};
use crate::disk::load::{self, EntryReader, LoadRequest, OpenFile};
use crate::disk::scan::milliseconds;
use crate::disk::worktrees::WorktreeFinder;
use crate::disk::{bug_log, last_seen, locate, relocations, scan, terminals};
use crate::export::entry::{self, Body};
use crate::machines::changes::ChangeOrder;
use crate::pi::{launch, prices, requests, running};
use crate::render::FoldedLines;
use crate::runtime::files_job::FilesJob;
use crate::runtime::secret_rules::{ChosenRules, SecretFinder};
use crate::runtime::{cleanup_job, clipboard, image_viewer, notify};
use crate::search::qualifier::value::ValueLists;
use crate::session::entry::parse;
use crate::session::stats::StatsRules;
use crate::session::stats::prices::Prices;
use crate::session::tree::node::Node;
use crate::session::tree::{EntryIndex, Tree};

/// The interval between progress reports of a change.
pub(super) const BETWEEN_WORDS: Duration = Duration::from_millis(40);

/// The maximum pause between two batches of hits.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// The error of changes without a home directory.
pub(super) const NO_JOURNAL: &str = "cannot locate the journal: no home directory; set HOME";

/// The context of jobs.
#[derive(Clone, Debug, Default)]
pub struct JobContext {
    /// The startup settings.
    pub settings: Arc<Settings>,
    /// The directory of the index; `None` to ignore the index.
    pub cache: Option<PathBuf>,
    /// The interface for changes; `None` if sessions are read-only.
    pub changes: Option<Changes>,
    /// The most recently opened file.
    pub opened: Arc<Mutex<OpenFile>>,
    /// The most recently merged files.
    pub members: Arc<Mutex<Vec<MemberFile>>>,
    /// The files changed by this process.
    pub own_changes: Arc<OwnChanges>,
    /// The search over sessions.
    pub searcher: Arc<Searcher>,
    /// The replays of files.
    pub states: Arc<StatesCache>,
    /// The search for secrets.
    pub secrets: Arc<Mutex<SecretFinder>>,
    /// The prices of models, which are read when they are needed.
    pub prices: Arc<OnceLock<Prices>>,
    /// The search for lost work.
    pub lost: Arc<Mutex<LostWorkCache>>,
    /// The search for git worktrees.
    pub worktrees: Arc<Mutex<WorktreeFinder>>,
    /// The changes in order, with the machine of each.
    pub change_order: Arc<Mutex<ChangeOrder>>,
    /// The directory with the replacements of missing directories, if there is a home directory.
    pub state_dir: Option<PathBuf>,
}

/// A file that was merged: its path, length and time, which identify its version, and its tree.
#[derive(Clone, Debug)]
pub struct MemberFile {
    pub(super) path: PathBuf,
    pub(super) stamp: (u64, i64),
    pub(super) tree: Arc<Tree>,
}

impl JobContext {
    /// Creates a context that only reads sessions.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Returns `true` if the working directory of a session is missing. Those of demo sessions never exist.
    pub(super) fn is_missing_dir(&self, cwd: &str) -> bool {
        !cwd.is_empty() && !self.settings.demo && !Path::new(cwd).is_dir()
    }

    /// Runs a job and passes its results to `reply` until it is complete, canceled, or `reply` returns `false`. The
    /// event loop handles the clipboard.
    pub fn work(&self, ticket: &Ticket, work: Work, mut reply: impl FnMut(Reply) -> bool) {
        let result = self.result(ticket, work, &mut reply);
        let failed = |error| {
            bug_log::error(&error);
            Some(Reply::Failed(format!("{error:#}")))
        };
        result.unwrap_or_else(failed).map(reply);
    }

    /// Runs a job. Passes its results to `reply` except the last one, which it returns unless it was canceled.
    fn result(&self, ticket: &Ticket, work: Work, reply: &mut dyn FnMut(Reply) -> bool) -> Result<Option<Reply>> {
        let is_wanted = || ticket.is_wanted();
        let begun = Instant::now();
        let clock = || if is_wanted() { begun.elapsed() } else { Duration::MAX };
        let control = ReplayControl { home: &self.settings.home, is_wanted: &is_wanted };
        let files = FilesJob { cache: &self.states, control, clock: &clock };
        Ok(match work {
            Work::Scan { is_first } => {
                self.scan(is_first, is_wanted, reply);
                None
            }
            Work::Watch(known) => {
                self.watch(&known, is_wanted, reply);
                None
            }
            Work::Open(path) => {
                let mut opened = self.opened.lock();
                let end = if opened.is(&path) { None } else { load::end(&path, &self.settings.home) };
                if end.is_some_and(|end| !reply(Reply::Opened(Arc::new(end)))) || !is_wanted() {
                    return Ok(None);
                }
                let found = scan::one(&path, None);
                let may_go_on = found.is_some_and(|found| is_fresh(found.version().1, now()));
                let reading = LoadRequest::new(&path, &self.settings.home);
                Some(Reply::Opened(opened.tree(LoadRequest { is_wanted: &is_wanted, ..reading }, may_go_on)?))
            }
            Work::ReadMarks => Some(Reply::Marks(
                self.changes.as_ref().map_or(Ok(Arc::default()), |changes| changes.marks().map(Arc::new))?,
            )),
            Work::ReadLastSeen(now) => {
                Some(Reply::LastSeen(self.state_dir.as_deref().map(|state| last_seen::begin(state, now))))
            }
            Work::WriteLastSeen(shown) => {
                let state = self.state_dir.as_deref();
                Some(Reply::LastSeen(state.and_then(|state| last_seen::write(state, &shown).ok())))
            }
            Work::FollowMarks => {
                if let Some(changes) = &self.changes {
                    changes.follow_marks(|marks| is_wanted() && reply(Reply::Marks(Arc::new(marks))));
                }
                None
            }
            Work::FollowMachines | Work::SyncMachines => {
                self.sync_machines(matches!(work, Work::SyncMachines), is_wanted, reply);
                None
            }
            Work::ListPis => Some(Reply::Pis(running::running(self.state_dir.as_deref()))),
            Work::FollowPis => {
                if let Some(state) = self.state_dir.as_deref() {
                    running::follow(state, |pis| match is_wanted() && reply(Reply::Pis(pis)) {
                        true => ControlFlow::Continue(None),
                        false => ControlFlow::Break(()),
                    });
                }
                None
            }
            Work::SendToPi(pi, what) => {
                let none = || "cannot send requests to pi: no home directory; set HOME".to_owned();
                let state = self.state_dir.as_deref().ok_or_else(none);
                let reported = state.and_then(|state| requests::ask(state, &pi, &what));
                Some(Reply::PiAnswered(what, reported))
            }
            Work::GoToTerminal(pi, selects) => {
                let dir = shorten(&pi.cwd, &self.settings.home);
                let reached = terminals::go(pi.pid, &dir, selects);
                Some(Reply::Terminal(reached.map(|_| terminals::is_in_popup())))
            }
            Work::Notify(notifications) => {
                let command = self.settings.config.notify.as_deref().unwrap_or_default();
                Some(Reply::Notified(notify::send(command, &notifications)))
            }
            Work::CheckPi => Some(Reply::PiNavigates(match self.settings.config.go_by {
                GoBy::Itself if self.settings.demo => Ok(()), // pi need not be installed
                GoBy::Itself => launch::goes_by_itself(&self.settings.config.pi, self.state_dir.as_deref()),
                GoBy::Line => Err(launch::GOES_BY_LINE.into()),
            })),
            Work::FindForkPoints { tree, session, forks, sharing_sessions } => {
                self.forget_members(&session.1.path);
                let Some(found) = self.forks((&tree, &session.1), forks, is_wanted) else { return Ok(None) };
                let entries = (0..tree.nodes.len() as EntryIndex).map(|at| (session.0, &**session.1, at));
                Some(Reply::ForkPoints(found, SharedEntries::new(&sharing_sessions, entries)))
            }
            Work::Join(to_join) => Some(Reply::Joined(Arc::new(self.join(*to_join, &is_wanted)?))),
            Work::Read(body, edit, form) => Some(Reply::Read(self.document((&body, edit.as_ref()), form, files)?)),
            Work::ListFiles(request) => files.list_files(&request),
            Work::ListStates(request) => Some(files.list(*request, reply)?),
            Work::ReadFile(request) => Some(files.text(&request)?),
            Work::CopyFile(at) => Some(Reply::Text(with_text_error(files.copy(&at)))),
            Work::WriteFile(write) => {
                let result = with_text_error(files.write(&write));
                Some(Reply::FileWritten(write, result))
            }
            Work::Search(request) => self.search(request, &is_wanted, reply)?,
            Work::Suggest(request) => {
                self.suggest(request, &is_wanted, reply)?;
                None
            }
            Work::MatchEntries(request, tree) => self.match_entries(request, &tree, &is_wanted, reply)?,
            Work::Find { files: searched, start, words } => {
                self.find((searched, start), &words, is_wanted, reply);
                None
            }
            Work::Context(target) => self.model_context(&target, &is_wanted)?,
            Work::PlanEdits(request) => Some(Reply::EditsPlanned(Box::new(self.plan_edits(*request)?))),
            Work::Text(body) => Some(Reply::Text(with_text_error(self.line(&body).map(|line| parse::text(&line))))),
            Work::Compare(asked) => {
                let compared = Arc::new(ComparedBranches::read(asked, control)?);
                if !reply(Reply::Compared(compared.clone())) {
                    return Ok(None);
                }
                Some(Reply::FinalFiles(with_text_error(final_files(&compared, control)).map(Arc::new)))
            }
            Work::Count(mut request) => {
                let prices =
                    self.prices.get_or_init(|| prices::all(price_table(), &self.settings.config.stats.prices)).clone();
                request.rules = Arc::new(StatsRules { prices, ..(*request.rules).clone() });
                request.read(|part| is_wanted() && reply(Reply::Counted(part)));
                None
            }
            Work::Sum(asked) => Some(Reply::Summed(Box::new(StatsTable::new(&asked.0, &asked.1, &asked.2).total))),
            Work::Measure(sessions) => {
                let report = space::measure(&sessions, |done, all| is_wanted() && reply(Reply::Measuring(done, all)));
                report.map(|report| Reply::Measured(Arc::new(SpaceContent::new(report, &sessions))))
            }
            Work::MeasureSession(path) => {
                let measured = space::file(&path, &[], &mut Vec::new(), &|| !is_wanted());
                let measured = measured.with_context(|| format!("cannot read {}", path.display()))?;
                Some(Reply::SessionMeasured(Box::new(measured)))
            }
            Work::Export(request) => Some(Reply::Exported(with_text_error(self.export(*request).map(Box::new)))),
            Work::FindTitles(request) => Some(Reply::Titles(self.titles(request, &is_wanted, reply)?)),
            Work::PlanSlimming(targets, rules) => {
                let overview = cleanup_job::plan_slimming(&targets, rules, |done| {
                    is_wanted() && reply(Reply::SlimmingProgress(done))
                });
                overview.map(|overview| Reply::SlimmingPlanned(Box::new(overview)))
            }
            Work::SuggestCleanup(request) => {
                let dirs = self.all_dirs();
                let suggested = cleanup_job::suggest(&request, (&dirs, self.state_dir.as_deref()), &is_wanted);
                suggested.map(|(suggestions, _)| Reply::Suggested(suggestions))
            }
            Work::CheckSession(session, path) => {
                let mut finder = self.secrets.lock();
                let config = &self.settings.config.redact;
                let count = finder.count(path, (config, self.cache.as_deref()), is_wanted)?;
                count.map(|count| Reply::SecretsCounted(session, count))
            }
            Work::FindLostWork(session) => {
                let mut losses = self.lost.lock();
                let place = (&*self.settings.home, self.cache.as_deref());
                let work = losses.find_in(&session, place, &is_wanted);
                is_wanted().then_some(Reply::LostWorkFound(work))
            }
            Work::ReadHistory => {
                Some(Reply::History(self.changes.as_ref().context(NO_JOURNAL)?.history_with_sessions(is_wanted)?))
            }
            Work::ReadSource(body, with) => {
                let images = if with == Opener::Editor { self.read((&body, None), entry::images)? } else { Vec::new() };
                let text = if images.is_empty() {
                    self.read((&body, None), |text, related| {
                        entry::source_text(&body.tree, body.at, (text, related), &self.settings.zone)
                    })
                } else {
                    image_viewer::open_images(&images).map(|()| String::new())
                };
                Some(Reply::Text(with_text_error(text)))
            }
            Work::ReadTexts(sessions) => {
                let values = ValueLists::new(sessions.iter().map(|session| session.digest.uncached_digest()));
                if reply(Reply::Values(Arc::new(values))) {
                    let reported = |done, total| is_wanted() && reply(Reply::TextsRead(done, total));
                    self.searcher.read(&sessions, reported);
                }
                None
            }
            Work::ForgetTexts => {
                self.searcher.clear_cache();
                None
            }
            Work::Change { request, .. } if ticket.is_stopped() => {
                let result = Err(Error::msg("not started; the request was canceled"));
                Some(Reply::Changed(Box::new(ChangeReply { request, result, read: Vec::new(), gone: Vec::new() })))
            }
            Work::Change { request, now } => Some(Reply::Changed(Box::new(self.change(ticket, (request, now), reply)))),
            Work::FindRelocations { gone, touched, known } => {
                let state = self.state_dir.as_deref();
                let is_missing = relocations::now(state, &gone.to_string_lossy()).is_none();
                let candidates = is_missing.then(|| relocations::candidates(&gone, &touched, &known, state));
                Some(Reply::RelocationsFound(candidates))
            }
            Work::Remember { gone, dir } => {
                let dir = locate::expand(&dir, Path::new(&self.settings.home));
                let state = self.state_dir.as_deref().ok_or_else(|| "no home directory".into());
                let kept = state
                    .and_then(|state| relocations::remember(state, &gone, &dir).map_err(|error| error.to_string()));
                Some(Reply::Remembered(kept.map(|()| dir)))
            }
            Work::CompleteDir(typed) => {
                let (path, names) = relocations::complete(&locate::expand(&typed, Path::new(&self.settings.home)));
                Some(Reply::CompletedDir(typed, path.to_string_lossy().into_owned(), names))
            }
            Work::CheckDir(typed) => {
                let dir = locate::expand(&typed, Path::new(&self.settings.home));
                Some(Reply::CheckedDir(with_text_error(relocations::directory(&dir))))
            }
            Work::CopyToDesktop { text, is_sent } => {
                let is_taken = clipboard::give_to_programs(&text);
                Some(Reply::Copied(text, is_sent || is_taken))
            }
            Work::Copy(_) => None, // the event loop writes to the terminal first
        })
    }

    /// Makes an export, without the secrets that the rules of the configuration find.
    fn export(&self, mut request: ExportRequest) -> Result<ExportResult> {
        if let ExportTo::File(path) = &mut request.to {
            *path = locate::expand(&*path, Path::new(&self.settings.home));
        }
        let rules = ChosenRules::new(&self.settings.config.redact)?;
        request.run(&self.settings.home, &rules, &mut ExportRun { now: now(), random: &mut { random }, characters: 0 })
    }

    /// Makes a change, and reports its progress periodically.
    fn change(
        &self,
        ticket: &Ticket,
        (request, now): (Request, i64),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> ChangeReply {
        let (mut reported, mut total) = (Instant::now(), None);
        let mut waits = String::new();
        let mut watch = |event: ChangeEvent<'_>| {
            match event {
                ChangeEvent::Made(ChangeProgress { done, total: all }) => {
                    total = Some(all);
                    if reported.elapsed() >= BETWEEN_WORDS || !waits.is_empty() {
                        (reported, waits) = (Instant::now(), String::new());
                        reply(Reply::Changing(done, all));
                    }
                }
                ChangeEvent::Waits(who) if waits != who => {
                    waits = who.into();
                    reply(Reply::Waiting(who.into()));
                }
                ChangeEvent::Waits(_) => {}
            }
            if ticket.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let here = || self.changes.as_ref().context(NO_JOURNAL)?.make(&request, now, &mut watch);
        let result = self.change_elsewhere(&request).unwrap_or_else(here);
        self.change_order.lock().note(&request, &result);
        if let (Some(total @ 2..), false) = (total, ticket.is_stopped()) {
            reply(Reply::Changing(total, total));
        }
        if has_marks(&result)
            && let Some(Ok(marks)) = self.changes.as_ref().map(Changes::marks)
        {
            reply(Reply::Marks(Arc::new(marks)));
        }
        let mut touched = touched(&request, &result);
        // Undo can change files outside the browsed directories.
        let named: HashSet<PathBuf> = request.paths().into_iter().collect();
        let dirs = self.all_dirs();
        let is_browsed = |path: &PathBuf| dirs.iter().any(|dir| path.starts_with(dir));
        touched.retain(|path| named.contains(path) || is_browsed(path));
        let (mut read, mut gone) = (Vec::new(), Vec::new());
        for path in touched {
            match scan::reread(&path, None, &self.settings.home) {
                Ok(Some(digest)) => read.push(digest),
                Ok(None) => gone.push(path),
                Err(one) if one.is_headless => gone.push(path),
                Err(_) => {} // the list keeps the previous state
            }
        }
        self.own_changes.note(&read, &gone);
        ChangeReply { request, result, read, gone }
    }

    /// Returns the line of an entry, if it is unchanged.
    fn line(&self, EntryLocation { path, tree, at }: &EntryLocation) -> Result<Vec<u8>> {
        let node = &tree.nodes[*at as usize];
        let line = EntryReader::open(path)?.line(node)?;
        if !is_line_of(&line, node) {
            bail!("{} changed since it was opened; reload to see it as it is now", path.display());
        }
        Ok(line)
    }

    fn document(&self, edited: EditedEntry<'_>, form: EntryForm, files: FilesJob<'_>) -> Result<FoldedLines> {
        let body = edited.0;
        let (zone, clock) = (&self.settings.zone, files.clock);
        let lines = match form {
            EntryForm::Difference | EntryForm::File => files.preview(body, form)?,
            EntryForm::Raw => Some(self.read(edited, |text, related| entry::raw(text, related, clock))?),
            EntryForm::Entry => None,
        };
        let entry =
            || self.read(edited, |text, related| entry::document(&body.tree, body.at, (text, related), zone, clock));
        lines.map_or_else(entry, |lines| Ok(lines.into()))
    }

    /// Converts the lines of an entry and of the entries shown with it.
    fn read<T>(&self, (body, edit): EditedEntry<'_>, make: impl FnOnce(&Body, &[Body]) -> T) -> Result<T> {
        let EntryLocation { path, tree, at } = body;
        let text = Body { line: self.line(body)?, edit: edit.map(|edit| self.line(edit)).transpose()? };
        let mut reader = EntryReader::open(path)?;
        let related = entry::related(tree, *at).into_iter();
        let related = related.map(|at| Ok(Body { line: reader.line(&tree.nodes[at as usize])?, edit: None }));
        Ok(make(&text, &related.collect::<Result<Vec<_>>>()?))
    }

    /// Returns the directory of archived sessions.
    pub(super) fn archive(&self) -> Option<&Path> {
        self.changes.as_ref().and_then(Changes::archive)
    }

    /// Returns all directories with sessions: see [`Located::all`](locate::Located::all).
    pub(super) fn all_dirs(&self) -> Vec<PathBuf> {
        self.settings.located.all(self.archive())
    }
}

/// An entry, and the context edit that is in force for it.
type EditedEntry<'a> = (&'a EntryLocation, Option<&'a EntryLocation>);

/// Returns the current time in milliseconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    milliseconds(SystemTime::now())
}

/// Converts an error to text with its causes.
fn with_text_error<T>(result: Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{error:#}"))
}

/// Returns `true` if a line still belongs to an entry. pi rewrites old files when it opens them.
fn is_line_of(line: &[u8], node: &Node) -> bool {
    match (parse::line(line), &node.id) {
        (Ok(Some(entry)), Some(id)) => entry.id.is_some_and(|now| now.is(id)),
        (Ok(Some(_)), None) => true,
        _ => false,
    }
}
