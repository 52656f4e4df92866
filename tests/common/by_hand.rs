//! The part of the loop of the browser, played by hand: work is done at once, and its replies are there. Also for the
//! scripts of keys in `fuzz/`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pitree::app::message::{Clip, Msg, Reply, Work};
use pitree::app::startup::Startup;
use pitree::app::ticket::Ticket;
use pitree::changes::Changes;
use pitree::disk::files::Files;
use pitree::disk::trash::Trash;
use pitree::pi::launch::Start;
use pitree::runtime::jobs::JobContext;

/// A desk with its journal, and its trash in the folder `trash`, in a folder of its own.
pub(crate) fn desk(setting: Arc<Startup>, files: Files, state: &Path) -> JobContext {
    let bin = state.join("trash");
    fs::create_dir_all(&bin).unwrap();
    let trash = Trash { command: vec!["mv".into(), "-t".into(), bin.to_string_lossy().into()], ..Trash::default() };
    let changes = (files == Files::Disk).then(|| Changes::new(state.join("journal"), trash));
    JobContext { changes, state_dir: Some(state.join("state")), ..JobContext::new(setting, files) }
}

/// A message without the pis that run on this machine: they are none of the test's business.
pub(crate) fn without_pis(msg: Msg) -> Msg {
    match msg {
        Msg::Reply(ticket, Reply::FilesFound { total, unreadable, outdated, .. }) => {
            Msg::Reply(ticket, Reply::FilesFound { total, unreadable, outdated, pis: Default::default() })
        }
        Msg::Reply(ticket, Reply::Pis(_)) => Msg::Reply(ticket, Reply::Pis(Default::default())),
        msg => msg,
    }
}

/// What is to be copied.
pub(crate) fn text_of(clip: Clip) -> String {
    match clip {
        Clip::Text(text) => text,
        Clip::Command(Start { path, cwd, .. }) => format!("command {cwd} {}", path.display()),
    }
}

/// What comes of some work.
pub(crate) fn replies(desk: &JobContext, ticket: &Ticket, work: Work) -> Vec<Msg> {
    let mut replies = Vec::new();
    // That would wait for something to happen.
    if matches!(work, Work::Watch { .. } | Work::FollowPis) {
        return replies;
    }
    // The pi of this machine is none of the test's business either.
    if matches!(work, Work::AskPi) {
        return vec![Msg::Reply(ticket.clone(), Reply::PiGoes(Err("pi is too old".into())))];
    }
    desk.work(ticket, work, |reply| {
        replies.push(Msg::Reply(ticket.clone(), reply));
        true
    });
    replies
}
