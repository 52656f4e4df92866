//! A synchronous replacement for the event loop of the browser: jobs run immediately and reply at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pitree::app::message::{Clip, Msg, Reply, Work};
use pitree::app::settings::Settings;
use pitree::app::ticket::Ticket;
use pitree::changes::Changes;
use pitree::disk::trash::Trash;
use pitree::pi::launch::Start;
use pitree::runtime::jobs::JobContext;

/// Creates a job context with a journal and the trash in the directory `trash`, in a temporary directory.
pub(crate) fn context(settings: Arc<Settings>, state: &Path) -> JobContext {
    let bin = state.join("trash");
    fs::create_dir_all(&bin).unwrap();
    let trash = Trash { command: vec!["mv".into(), "-t".into(), bin.to_string_lossy().into()], ..Trash::default() };
    let changes = Some(Changes::new(state.join("journal"), trash).with_archive(Some(state.join("archive"))));
    JobContext { changes, state_dir: Some(state.join("state")), ..JobContext::new(settings) }
}

/// Removes running pis of this machine from a message: they must not affect the test.
pub(crate) fn without_pis(msg: Msg) -> Msg {
    match msg {
        Msg::Reply(ticket, Reply::FilesFound { total, unreadable, outdated, .. }) => {
            Msg::Reply(ticket, Reply::FilesFound { total, unreadable, outdated, pis: Default::default() })
        }
        Msg::Reply(ticket, Reply::Pis(_)) => Msg::Reply(ticket, Reply::Pis(Default::default())),
        msg => msg,
    }
}

/// Returns the text to copy.
pub(crate) fn text_of(clip: Clip) -> String {
    match clip {
        Clip::Text(text) => text,
        Clip::Command(Start { path, cwd, .. }) => format!("command {cwd} {}", path.display()),
    }
}

/// Runs a job and returns its replies.
pub(crate) fn replies(context: &JobContext, ticket: &Ticket, work: Work) -> Vec<Msg> {
    let mut replies = Vec::new();
    // This would wait for an event.
    if matches!(work, Work::Watch { .. } | Work::FollowPis | Work::FollowMarks) {
        return replies;
    }
    // Running pis of this machine must not affect the test.
    if matches!(work, Work::CheckPi) {
        return vec![Msg::Reply(ticket.clone(), Reply::PiNavigates(Err("pi is too old".into())))];
    }
    // Invented directories count as existing: a missing directory of a test is in a temporary one.
    if matches!(&work, Work::FindRelocations { gone, .. } if !gone.starts_with(std::env::temp_dir())) {
        return vec![Msg::Reply(ticket.clone(), Reply::RelocationsFound(None))];
    }
    context.work(ticket, work, |reply| {
        replies.push(Msg::Reply(ticket.clone(), reply));
        true
    });
    replies
}
