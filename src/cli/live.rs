//! `pitree live`: lists running pi processes and their states.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};

use crate::base::numbers::{self, dollars};
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::base::{machine_paths, sort, time};
use crate::cli::output::{PathFields, object};
use crate::cli::{CommandContext, Exit, completions, now, output, resolve};
use crate::disk::{locate, terminals};
use crate::machines::resume::RemoteStart;
use crate::pi::attention::{PiHistories, PiNotification};
use crate::pi::running::{self, RunningPis};
use crate::pi::status::{PiState, PiStatus};
use crate::runtime::notify;
use crate::system::programs;

/// List running pi processes and their state
///
/// A pi with pitree's extension reports its own state. For any other pi, only the working directory is known.
#[derive(Debug, clap::Args)]
pub(super) struct LiveCommand {
    /// Print all running pi processes as one JSON object
    #[arg(long)]
    json: bool,
    /// Keep running and print each change as it happens
    #[arg(long, conflicts_with = "line")]
    follow: bool,
    /// Notify as well when a pi starts to wait for you, asks a question or fails, unless its terminal has the focus
    #[arg(long, requires = "follow")]
    notify: bool,
    /// Print the number of pi processes per state on one line, such as for the tmux status line; prints nothing if no
    /// pi reports its state
    #[arg(long, conflicts_with = "json")]
    line: bool,
    /// Go to the terminal of the pi that has this session open: a pane of tmux, WezTerm or kitty
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["json", "follow", "line"], add = completions::sessions())]
    go: Option<OsString>,
    /// With --go: if no client of tmux is attached there, attach this terminal
    #[arg(long, requires = "go")]
    attach: bool,
}

/// Go to the terminal of the pi that has waited longest for you
///
/// A pi waits at a question, at an error, or at the end of its answer. The terminal is a pane of tmux, WezTerm or kitty.
#[derive(Debug, clap::Args)]
pub(super) struct NextCommand {}

impl NextCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        let reported = running::reported(locate::state_dir().as_deref());
        running::longest_waiting(&reported)
            .map_or_else(|| output::nothing("no pi waits for you"), |pi| go_to(pi, false, context))
    }
}

/// Goes to the terminal of a pi. The pitree of another machine goes there, in this terminal.
fn go_to(pi: &PiStatus, attaches: bool, context: &CommandContext) -> Result<Exit> {
    if machine_paths::is_mirrored(&pi.session) {
        bail!("{}", RemoteStart::at_terminal(&pi.session, &context.config)?.replace_process());
    }
    let attach = terminals::go(pi.pid, &shorten(&pi.cwd, &context.home), true).map_err(Error::msg)?;
    if let Some([program, arguments @ ..]) = attach.as_deref().filter(|_| attaches) {
        let error = programs::replace_process(Command::new(program).args(arguments));
        bail!("cannot run {program}: {error}");
    }
    Ok(Exit::Done)
}

/// Goes to the terminal of the most urgent pi that has a session open. pi creates the file with the first answer, so that
/// the ID can be that of a session without a file.
fn go_to_session(word: &OsStr, attaches: bool, context: &CommandContext) -> Result<Exit> {
    let (session, reported) = (context.session(word), context.reported_pis());
    let by_path = session.as_ref().ok().and_then(|path| running::pi_with(&reported, path));
    let by_id = || reported.iter().filter(|pi| *word == *pi.id).min_by_key(|pi| pi.urgency());
    match by_path.or_else(by_id) {
        Some(pi) => go_to(pi, attaches, context),
        None => session.and_then(|_| output::nothing("no pi reports that it has this session open")),
    }
}

impl LiveCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        if let Some(word) = &self.go {
            return go_to_session(word, self.attach, context);
        }
        let state = locate::state_dir().context("cannot locate the state directory: no home directory; set HOME")?;
        let (mut titles, mut last, mut printed) = (SessionTitles::default(), None, Ok(()));
        let mut print = |pis: &RunningPis, titles: &mut SessionTitles| {
            printed = match (&last, self.json) {
                (Some(last), _) if last == pis => Ok(()),
                (_, true) => json(pis),
                (None, false) => list(pis, titles, context),
                (Some(last), false) => changes(last, pis, titles, context),
            }
            .and_then(|()| Ok(output::flush()?));
            last = Some(pis.clone());
            printed.is_ok()
        };
        let mut notifier = Notifier::default();
        match (self.line, self.follow) {
            (true, _) => line(&running::reported(Some(&state)))?,
            (false, true) => running::follow(&state, |pis| match print(&pis, &mut titles) {
                true if self.notify => ControlFlow::Continue(notifier.take(&pis, &mut titles, context)),
                true => ControlFlow::Continue(None),
                false => ControlFlow::Break(()),
            }),
            (false, false) => drop(print(&running::running(Some(&state)), &mut titles)),
        }
        printed.map(|()| Exit::Done)
    }
}

/// Notifies about pis that want the user.
#[derive(Default)]
struct Notifier {
    histories: PiHistories,
    /// `true` once a failure was printed.
    has_failed: bool,
}

impl Notifier {
    /// Takes the running pis, and notifies about those whose state has lasted. Returns the time until the next
    /// notification.
    fn take(&mut self, pis: &RunningPis, titles: &mut SessionTitles, context: &CommandContext) -> Option<Duration> {
        self.histories.update(&pis.reported, now());
        let notification = |pi: &PiStatus| PiNotification::new(pi, &titles.of(pi), &context.home);
        let due: Vec<PiNotification> = self.histories.take_due(now()).iter().map(notification).collect();
        let command = context.config.notify.as_deref().unwrap_or_default();
        let sent = notify::send(command, &due).and_then(|sequences| {
            notify::write(&sequences).map_err(|error| format!("no terminal to notify on: {error}"))
        });
        if let Err(why) = sent
            && !mem::replace(&mut self.has_failed, true)
        {
            output::note(&format!("cannot notify: {why}"));
        }
        let left = self.histories.due()?.saturating_sub(now()).max(0);
        Some(Duration::from_millis(left.unsigned_abs()))
    }
}

/// Prints the number of pi processes per state.
fn line(reported: &[PiStatus]) -> Result<()> {
    let count = |state: PiState| reported.iter().filter(|pi| pi.state == state).count();
    let counts = PiState::ALL.iter().map(|&state| (count(state), state.name()));
    let words: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    if words.is_empty() { Ok(()) } else { output::line(words.join(" ")) }
}

/// Session titles; those of unnamed sessions are read once.
#[derive(Default)]
struct SessionTitles(HashMap<PathBuf, String>);

impl SessionTitles {
    fn of(&mut self, pi: &PiStatus) -> String {
        if let Some(title) = pi.name.as_ref().or_else(|| self.0.get(&pi.session)) {
            return title.clone();
        }
        // pi creates the file with the first answer.
        let Ok(digest) = resolve::digest(&pi.session) else { return "(new)".into() };
        self.0.entry(pi.session.clone()).or_insert_with(|| digest.title().to_owned()).clone()
    }
}

fn list(pis: &RunningPis, titles: &mut SessionTitles, context: &CommandContext) -> Result<()> {
    let mut reported: Vec<&PiStatus> = pis.reported.iter().collect();
    sort::by_key(&mut reported, |pi| pi.urgency());
    let row = |pi: &PiStatus| {
        let model = pi.model.clone().unwrap_or_default();
        let cwd = shorten(&pi.cwd, &context.home).into_owned();
        let since = time::age(now(), pi.since);
        [pi.state.name().into(), since, pi.pid.to_string(), model, dollars(pi.cost), cwd, titles.of(pi)]
    };
    let mut rows: Vec<[String; 7]> = reported.into_iter().map(row).collect();
    rows.extend(silent(pis).map(|(dir, count)| {
        let dir = shorten(&dir.to_string_lossy(), &context.home).into_owned();
        let what = format!("{}, state unknown", numbers::count(count, "pi", "pi processes"));
        ["?".into(), String::new(), String::new(), String::new(), String::new(), dir, what]
    }));
    context.table("state since> pid> model cost> directory/ title~100", rows, "no running pi found")
}

/// Iterates over the directories of other pi processes, with their number.
fn silent(pis: &RunningPis) -> impl Iterator<Item = (&PathBuf, usize)> {
    let mut dirs: Vec<_> = pis.by_dir.iter().map(|(dir, &count)| (dir, count)).collect();
    dirs.sort_unstable();
    dirs.into_iter()
}

/// Returns one line per changed pi.
fn changes(
    before: &RunningPis,
    after: &RunningPis,
    titles: &mut SessionTitles,
    context: &CommandContext,
) -> Result<()> {
    let known: HashMap<u32, &PiStatus> = before.reported.iter().map(|pi| (pi.pid, pi)).collect();
    let mut say = |what: &str, pi: &PiStatus| {
        let place = shorten(&pi.cwd, &context.home);
        output::line(clean(&format!("{what}  {}  {place}  {}", pi.pid, titles.of(pi))))
    };
    for pi in &after.reported {
        let was = known.get(&pi.pid);
        if was.is_none_or(|was| (was.state, &was.session) != (pi.state, &pi.session)) {
            say(pi.state.name(), pi)?;
        }
    }
    for pi in &before.reported {
        if !after.reported.iter().any(|other| other.pid == pi.pid) {
            say("ended", pi)?;
        }
    }
    Ok(())
}

fn json(pis: &RunningPis) -> Result<()> {
    let reported = pis.reported.iter().map(|status| {
        let PiStatus { id, name, cwd, .. } = status;
        object! { #[serde(flatten)] path: PathFields::from(&*status.session), id, name, cwd, #[serde(flatten)] status }
    });
    let silent = silent(pis).map(|(dir, count)| object! { cwd: dir.to_string_lossy(), count });
    output::json(&object! { pis: reported.collect::<Vec<_>>(), silent: silent.collect::<Vec<_>>() })
}
