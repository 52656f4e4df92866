//! Lanes: a thread with a queue for each kind of work, so that the browser goes on meanwhile and no kind waits for another.
//! Work whose claim was dropped is skipped, and a panic becomes an error reply.

use std::collections::HashMap;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::message::{Msg, Reply, Work};
use crate::app::ticket::Ticket;
use crate::base::catch_panic;
use crate::runtime::clipboard;
use crate::runtime::event::Event;
use crate::runtime::jobs::JobContext;

/// Work on its way to its lane.
type QueuedJob = (Ticket, Job);

/// What a lane does.
pub(super) enum Job {
    /// What the desk knows to do.
    Work(Work),
    /// Give a text to the desktop's clipboard; whether the terminal took it already.
    Copy(String, bool),
}

/// How long nobody types before it is looked for where a query that found nothing would find something.
const PAUSE: Duration = Duration::from_millis(250);

/// A kind of work: each has a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum WorkerKind {
    Scan,
    Watch,
    Live,
    Open,
    Split,
    Join,
    Read,
    Texts,
    Search,
    Elsewhere,
    Find,
    Look,
    Pis,
    Compare,
    Context,
    Pi,
    Copy,
    Past,
    Directory,
    Change,
}

impl Job {
    fn kind(&self) -> WorkerKind {
        match self {
            Self::Work(Work::Scan { .. }) => WorkerKind::Scan,
            Self::Work(Work::Watch { .. }) => WorkerKind::Watch,
            Self::Work(Work::FollowPis) => WorkerKind::Live,
            Self::Work(Work::Open { .. }) => WorkerKind::Open,
            Self::Work(Work::Split { .. }) => WorkerKind::Split,
            Self::Work(Work::Join(_)) => WorkerKind::Join,
            Self::Work(Work::Read(_)) => WorkerKind::Read,
            Self::Work(Work::ReadTexts(_) | Work::ForgetTexts) => WorkerKind::Texts,
            Self::Work(Work::Search { .. }) => WorkerKind::Search,
            Self::Work(Work::Elsewhere { .. }) => WorkerKind::Elsewhere,
            Self::Work(Work::Find { .. } | Work::Fulfil { .. }) => WorkerKind::Find,
            Self::Work(Work::Look { .. }) => WorkerKind::Look,
            Self::Work(Work::LookForPis) => WorkerKind::Pis,
            Self::Work(Work::Compare(_)) => WorkerKind::Compare,
            Self::Work(Work::Context { .. }) => WorkerKind::Context,
            Self::Work(Work::AskPi | Work::TellPi(..)) => WorkerKind::Pi,
            Self::Work(Work::Text(_) | Work::Written(_) | Work::Copy(_)) | Self::Copy(..) => WorkerKind::Copy,
            Self::Work(Work::LookBack) => WorkerKind::Past,
            Self::Work(Work::LookForMoved { .. } | Work::Remember { .. } | Work::CompleteDir(_)) => {
                WorkerKind::Directory
            }
            Self::Work(Work::Change { .. }) => WorkerKind::Change,
        }
    }
}

/// The lanes; each is started by its first work.
pub(super) struct Workers {
    desk: JobContext,
    sender: Sender<Event>,
    queues: HashMap<WorkerKind, Sender<QueuedJob>>,
}

impl Workers {
    pub(super) fn new(desk: JobContext, sender: Sender<Event>) -> Self {
        Self { desk, sender, queues: HashMap::new() }
    }

    /// Queues a piece of work.
    pub(super) fn start(&mut self, ticket: Ticket, job: Job) {
        let queue = self.queues.entry(job.kind()).or_insert_with(|| {
            let (desk, sender) = (self.desk.clone(), self.sender.clone());
            let (queue, pieces) = mpsc::channel();
            thread::spawn(move || pieces.into_iter().all(|piece| run(&desk, piece, &sender)));
            queue
        });
        let _ = queue.send((ticket, job)); // a lane ends with the loop that takes its replies
    }
}

/// Does a piece of work. Returns whether anybody hears of it.
fn run(desk: &JobContext, (ticket, job): QueuedJob, sender: &Sender<Event>) -> bool {
    if matches!(job, Job::Work(Work::Elsewhere { .. })) {
        // All files are read for it: not for each key of a word that is nowhere.
        let end = Instant::now() + PAUSE;
        while ticket.is_wanted() && Instant::now() < end {
            thread::sleep(PAUSE / 10);
        }
    }
    if !ticket.is_wanted() {
        return true;
    }
    let mut is_heard = true;
    let mut reply = |reply| {
        is_heard = sender.send(Event::Msg(Msg::Reply(ticket.clone(), reply))).is_ok();
        is_heard
    };
    let done = catch_panic::catch(|| match job {
        Job::Work(work) => desk.work(&ticket, work, &mut reply),
        Job::Copy(text, is_sent) => {
            let is_taken = clipboard::give_to_programs(&text);
            reply(Reply::Copied(text, is_sent || is_taken));
        }
    });
    if let Err(why) = done {
        reply(Reply::Failed(why));
    }
    is_heard
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::app::message::EntryBody;
    use crate::app::startup::Startup;
    use crate::config::Config;
    use crate::disk::files::Files;
    use crate::disk::locate::Located;

    fn desk() -> JobContext {
        let located = Located { dirs: Vec::new(), origin: String::new() };
        let setting = Startup::new(&Config::default(), located, String::new(), true);
        JobContext::new(Arc::new(setting), Files::Demo)
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
        let mut lanes = Workers::new(desk(), sender);
        // There is no such entry in an empty tree.
        let body = EntryBody { path: PathBuf::new(), tree: Arc::default(), at: 7 };
        for number in [1, 2] {
            let (claim, ticket) = Ticket::new(number);
            lanes.start(ticket, Job::Work(Work::Read(body.clone())));
            let (of, Reply::Failed(why)) = reply(&events) else { panic!("it failed") };
            assert_eq!(of, number);
            assert!(why.starts_with("internal error in pitree"), "{why}");
            drop(claim);
        }
    }

    #[test]
    fn work_that_is_wanted_is_never_replaced() {
        let (sender, events) = mpsc::channel();
        let mut lanes = Workers::new(desk(), sender);
        let claims: Vec<_> = (0..50)
            .map(|number| {
                let (claim, ticket) = Ticket::new(number);
                lanes.start(ticket, Job::Work(Work::CompleteDir("/nowhere".into())));
                claim
            })
            .collect();
        let replies: Vec<u64> = claims.iter().map(|_| reply(&events).0).collect();
        assert_eq!(replies, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn what_nobody_wants_is_not_begun() {
        let (sender, events) = mpsc::channel();
        let mut lanes = Workers::new(desk(), sender);
        let body = EntryBody { path: PathBuf::new(), tree: Arc::default(), at: 0 };
        let (dropped, ticket) = Ticket::new(1);
        drop(dropped);
        lanes.start(ticket, Job::Work(Work::Read(body)));
        // The scan has a lane of its own, and the reading lane is free for the next one.
        let (_claim, ticket) = Ticket::new(2);
        lanes.start(ticket, Job::Work(Work::Scan { is_first: true }));
        let numbers: Vec<u64> = std::iter::from_fn(|| {
            let (number, reply) = reply(&events);
            (!matches!(reply, Reply::ScanDone)).then_some(number)
        })
        .collect();
        assert!(!numbers.is_empty() && numbers.iter().all(|&number| number == 2), "{numbers:?}");
    }
}
