//! Workers: threads with a queue each, so that the browser stays responsive and different kinds of work never wait for
//! each other. Canceled work is skipped, and a panic becomes an error reply.

use std::collections::HashMap;
use std::mem::{self, Discriminant};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::message::{Msg, Reply, Work};
use crate::app::ticket::Ticket;
use crate::base::catch_panic;
use crate::disk::bug_log;
use crate::runtime::input::Event;
use crate::runtime::jobs::JobContext;

/// The typing pause before alternative searches for a query without results.
const PAUSE: Duration = Duration::from_millis(250);

/// The worker for a kind of work.
#[derive(PartialEq, Eq, Hash)]
enum WorkerKind {
    /// A worker for one kind of work.
    Single(Discriminant<Work>),
    /// A worker for several kinds of work that must keep their order.
    Shared(&'static str),
}

impl WorkerKind {
    fn of(work: &Work) -> Self {
        match work {
            Work::ReadTexts(_) | Work::ForgetTexts => Self::Shared("texts"),
            Work::Find { .. } | Work::MatchEntries(..) => Self::Shared("find"),
            Work::ReadLastSeen(_) | Work::WriteLastSeen(_) => Self::Shared("seen"),
            Work::CheckPi | Work::SendToPi(..) => Self::Shared("pi"),
            Work::Text(_) | Work::ReadSource(..) | Work::Copy(_) | Work::CopyToDesktop { .. } => Self::Shared("copy"),
            Work::CopyFile(_) | Work::WriteFile(_) => Self::Shared("file"),
            Work::FindRelocations { .. } | Work::Remember { .. } | Work::CompleteDir(_) => Self::Shared("directory"),
            other => Self::Single(mem::discriminant(other)),
        }
    }
}

/// The workers; each is started by its first work.
pub(super) struct Workers {
    pub(super) context: JobContext,
    sender: Sender<Event>,
    queues: HashMap<WorkerKind, Sender<(Ticket, Work)>>,
}

impl Workers {
    pub(super) fn new(context: JobContext, sender: Sender<Event>) -> Self {
        Self { context, sender, queues: HashMap::new() }
    }

    /// Queues a piece of work.
    pub(super) fn start(&mut self, ticket: Ticket, work: Work) {
        let queue = self.queues.entry(WorkerKind::of(&work)).or_insert_with(|| {
            let (context, sender) = (self.context.clone(), self.sender.clone());
            let (queue, pieces) = mpsc::channel();
            thread::spawn(move || pieces.into_iter().all(|piece| run(&context, piece, &sender)));
            queue
        });
        let _ = queue.send((ticket, work)); // a worker ends with the event loop
    }
}

/// Runs a piece of work. Returns `true` while replies are received.
fn run(context: &JobContext, (ticket, work): (Ticket, Work), sender: &Sender<Event>) -> bool {
    if matches!(work, Work::Suggest(_) | Work::CheckSession(..) | Work::FindLostWork(_)) {
        // Alternative searches read all files, and searches for secrets and lost work a whole one, so they do not run for
        // each key.
        let end = Instant::now() + PAUSE;
        while ticket.is_wanted() && Instant::now() < end {
            thread::sleep(PAUSE / 10);
        }
    }
    if !ticket.is_wanted() {
        return true;
    }
    let mut is_received = true;
    let mut reply = |reply| {
        is_received = sender.send(Event::Msg(Msg::Reply(ticket.clone(), reply))).is_ok();
        is_received
    };
    let (name, begun) = (bug_log::variant(&work), Instant::now());
    bug_log::note(format_args!("job {name} started"));
    if let Err(why) = catch_panic::catch(|| context.work(&ticket, work, &mut reply)) {
        reply(Reply::Failed(why));
    }
    bug_log::note(format_args!("job {name} ended after {:?}", begun.elapsed()));
    is_received
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::app::message::EntryLocation;
    use crate::app::panes::reader::EntryForm;
    use crate::app::settings::Settings;
    use crate::config::Config;
    use crate::disk::locate::Located;

    fn context() -> JobContext {
        let located = Located { dirs: Vec::new(), origin: String::new(), ..Default::default() };
        let setting = Settings::new(&Config::default(), located, String::new(), true);
        JobContext::new(Arc::new(setting))
    }

    fn reply(events: &mpsc::Receiver<Event>) -> (u64, Reply) {
        match events.recv().unwrap() {
            Event::Msg(Msg::Reply(ticket, reply)) => (ticket.number, reply),
            _ => panic!("a reply comes"),
        }
    }

    #[test]
    fn work_that_panics_is_told_and_its_lane_goes_on() {
        let (sender, events) = mpsc::channel();
        let mut workers = Workers::new(context(), sender);
        // An empty tree has no such entry.
        let body = EntryLocation { path: PathBuf::new(), tree: Arc::default(), at: 7 };
        for number in [1, 2] {
            let (claim, ticket) = Ticket::new(number);
            workers.start(ticket, Work::Read(body.clone(), None, EntryForm::Entry));
            let (of, Reply::Failed(why)) = reply(&events) else { panic!("it failed") };
            assert_eq!(of, number);
            assert!(why.starts_with("internal error in pitree"), "{why}");
            drop(claim);
        }
    }

    #[test]
    fn work_that_is_wanted_is_never_replaced() {
        let (sender, events) = mpsc::channel();
        let mut workers = Workers::new(context(), sender);
        let claims: Vec<_> = (0..50)
            .map(|number| {
                let (claim, ticket) = Ticket::new(number);
                workers.start(ticket, Work::CompleteDir("/nowhere".into()));
                claim
            })
            .collect();
        let replies: Vec<u64> = claims.iter().map(|_| reply(&events).0).collect();
        assert_eq!(replies, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn what_nobody_wants_is_not_begun() {
        let (sender, events) = mpsc::channel();
        let mut workers = Workers::new(context(), sender);
        let body = EntryLocation { path: PathBuf::new(), tree: Arc::default(), at: 0 };
        let (dropped, ticket) = Ticket::new(1);
        drop(dropped);
        workers.start(ticket, Work::Read(body, None, EntryForm::Entry));
        // The scan has a separate worker, so the reading worker is free for the next job.
        let (_claim, ticket) = Ticket::new(2);
        workers.start(ticket, Work::Scan { is_first: true });
        let numbers: Vec<u64> = std::iter::from_fn(|| {
            let (number, reply) = reply(&events);
            (!matches!(reply, Reply::ScanDone)).then_some(number)
        })
        .collect();
        assert!(!numbers.is_empty() && numbers.iter().all(|&number| number == 2), "{numbers:?}");
    }
}
