//! Names and labels: `pitree rename` and `pitree label` change them, and `pitree labels` lists all labels.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};

use crate::base::javascript::utf16_prefix;
use crate::base::{sort, time};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::changes::{ExpectedSession, Request};
use crate::cli::change::{ChangeArgs, ChangePrinter, CliStep};
use crate::cli::output::{PathFields, object};
use crate::cli::resolve::SessionPlace;
use crate::cli::selection::ProjectArg;
use crate::cli::{CommandContext, Exit, completions, output, resolve, table};
use crate::disk::locate;
use crate::pi::requests::{self, PiRequest};
use crate::pi::running;
use crate::pi::status::PiStatus;
use crate::session::digest::DigestLabel;
use crate::session::entry::EntryId;

/// Rename one or more sessions
#[derive(Debug, clap::Args)]
pub(super) struct RenameCommand {
    /// Session paths, ids, unique id prefixes, or names; `.` is the newest session of this project, or pi's own session if pi runs the command
    #[arg(value_name = "SESSION", required = true, add = completions::sessions())]
    sessions: Vec<OsString>,
    /// New name; "" clears it
    name: String,
    /// Have the running pi that has the session open write the change, so that pi shows it at once
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    by_pi: bool,
    #[command(flatten)]
    args: ChangeArgs,
}

impl RenameCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let [session] = &self.sessions[..] else { return self.rename_all(&changer) };
        let path = context.session(session)?;
        if self.by_pi {
            return ask_pi(&path, &PiRequest::Name(self.name.clone()));
        }
        warn(&path);
        changer.finish(&Request::Rename { path, name: self.name.clone() })
    }

    fn rename_all(&self, changer: &ChangePrinter<'_>) -> Result<Exit> {
        if self.by_pi {
            bail!("--by-pi renames only one session");
        }
        let session = |word: &OsString| {
            let digest = resolve::digest(&changer.context.session(word)?)?;
            Ok((ExpectedSession { path: digest.path, id: digest.header.id }, self.name.clone()))
        };
        let sessions: Vec<(ExpectedSession, String)> = self.sessions.iter().map(session).collect::<Result<_>>()?;
        running::reported(locate::state_dir().as_deref())
            .iter()
            .filter(|pi| sessions.iter().any(|(session, _)| running::has_open(pi, &session.path)))
            .for_each(warn_of);
        changer.finish(&Request::RenameAll { sessions, keeps_names: false })
    }
}

/// Label an entry, or clear its label
#[derive(Debug, clap::Args)]
pub(super) struct LabelCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Entry id, unique id prefix, or label
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// New label; omit it or pass "" to clear the label
    label: Option<String>,
    /// Migrate an old session file to version 3, as pi does; moves the original to the trash
    #[arg(long)]
    migrate: bool,
    /// Have the running pi that has the session open write the change, so that pi shows it at once
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    by_pi: bool,
    #[command(flatten)]
    args: ChangeArgs,
}

impl LabelCommand {
    /// Returns the session, the entry and the label of `SESSION ENTRY [LABEL]` or `SESSION@ENTRY [LABEL]`.
    fn words(&self, context: &CommandContext) -> Result<(SessionPlace, String, String)> {
        let whole = context.place(&self.session, None)?;
        let words = [&self.entry, &self.label].map(Option::clone);
        match (&whole.entry, words) {
            (Some(entry), [label, None]) => {
                let entry = entry.clone();
                Ok((whole, entry, label.unwrap_or_default()))
            }
            (None, [Some(entry), label]) => Ok((whole, entry, label.unwrap_or_default())),
            (None, [None, _]) => bail!("name the entry: SESSION ENTRY or SESSION@ENTRY"),
            (Some(entry), [_, Some(_)]) => bail!("the entry is named twice: {entry:?} in SESSION@ENTRY, and ENTRY"),
        }
    }

    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let (SessionPlace { path, .. }, entry, label) = self.words(context)?;
        let tree = context.tree(&path)?;
        let target = EntryId::of(&tree, resolve::entry(&entry, &tree)?);
        if self.by_pi {
            let EntryId::Id(entry) = target else { bail!("the entry has no id; omit --by-pi") };
            return ask_pi(&path, &PiRequest::Label { entry, text: label });
        }
        warn(&path);
        let request =
            |migrate| Request::Label { path: path.clone(), target: target.clone(), label: label.clone(), migrate };
        let done = changer.make_migrating(self.migrate, request)?;
        changer.print_result(&done, CliStep::Make)
    }
}

/// Sends a request to the pi that has a session open.
///
/// # Errors
/// No pi reports the session as open, or the request failed.
fn ask_pi(session: &Path, what: &PiRequest) -> Result<Exit> {
    let state = locate::state_dir();
    let (Some(state), Some(pi)) = (&state, pi_with(session)) else {
        bail!(
            "no running pi reports {} as open; run `pitree pi install` and restart pi, or omit --by-pi",
            session.display()
        );
    };
    if let Err(why) = requests::ask(state, &pi, what) {
        bail!("{why}");
    }
    note!("pi (pid {}) saved the change", pi.pid);
    Ok(Exit::Done)
}

/// Warns that a running pi has the session open and does not see the change.
fn warn(session: &Path) {
    pi_with(session).iter().for_each(warn_of);
}

fn warn_of(pi: &PiStatus) {
    note!(
        "pi (pid {}) has the session open and shows the change only after reopening it; use --by-pi to have pi make the change",
        pi.pid
    );
}

/// Returns the most urgent pi that reports a session as open.
fn pi_with(session: &Path) -> Option<PiStatus> {
    running::pi_with(&running::reported(locate::state_dir().as_deref()), session).cloned()
}

/// List labels, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct LabelsCommand {
    #[command(flatten)]
    project: ProjectArg,
    /// List at most N labels
    #[arg(long, value_name = "N", value_parser = crate::cli::some)]
    limit: Option<usize>,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

impl LabelsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let mut ids = Vec::new();
        let is_in_project = self.project.matcher(context);
        let (mut sessions, unreadable) = context.read_sessions(context.sources().scan(), |facts| {
            ids.push(facts.id().to_string());
            facts.is_labeled() && is_in_project(facts)
        });
        let ids = resolve::shortest(ids.iter().map(String::as_str));
        sort::by(&mut sessions, |a, b| a.facts().compare_age(&b.facts()));
        let all = sessions.iter().enumerate().flat_map(|(number, session)| {
            session.labels.iter().map(move |label| (session.label_key(label), number, label))
        });
        let mut labels: Vec<ListedItem<usize, &DigestLabel>> = cost_sharing::deduplicate(all);
        sort::by_cached_key(&mut labels, |listed| {
            let path = sessions[listed.session].path.clone().into_os_string();
            (Reverse(listed.what.time), path, listed.what.entry.id().map(String::from))
        });
        labels.truncate(self.limit.unwrap_or(usize::MAX));
        let line = |&ListedItem { session, what: label, forks }: &ListedItem<usize, &'_ DigestLabel>| {
            let session = &sessions[session];
            object! {
                label: label.text.to_string(),
                #[serde(flatten)] path: PathFields::from(&*session.path),
                id: &session.header.id,
                title: session.title(),
                entry_id: label.entry.id().map(String::from),
                text: label.row.to_string(),
                active: session.is_active(label.at),
                labelled: label.time.and_then(time::iso),
                forks,
            }
        };
        let row = |&ListedItem { session, what: label, forks }: &ListedItem<usize, &DigestLabel>| {
            let session = &sessions[session];
            [
                table::age(label.time),
                label.text.to_string(),
                utf16_prefix(&session.header.id, ids).into(),
                session.title().into(),
                cost_sharing::in_forks(forks).trim_start().into(),
                label.row.to_string(),
            ]
        };
        context.list(
            self.json,
            &labels,
            line,
            ("age> label id title~40 forks text~100", row),
            "no session has a label",
        )?;
        output::end(unreadable)
    }
}
