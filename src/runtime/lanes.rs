//! Lanes: threads that do work while the browser goes on, one a kind of work, so that none waits for another. Of most
//! kinds only the latest piece counts; changes are all made, one after the other. What nobody wants any more is not
//! begun, and what panics is told as having failed.

use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::message::{Msg, Reply, Work};
use crate::app::ticket::Ticket;
use crate::base::guard;
use crate::runtime::clipboard;
use crate::runtime::event::Event;
use crate::runtime::work::Desk;

/// Work on its way to its lane.
type Piece = (Ticket, Job);

/// What a lane does.
pub(super) enum Job {
    /// What the desk knows to do.
    Work(Work),
    /// Give a text to the desktop's clipboard; whether the terminal took it already.
    Copy(String, bool),
}

/// How long nobody types before it is looked for where a query that found nothing would find something.
const PAUSE: Duration = Duration::from_millis(250);

/// A place for the next piece of work.
#[derive(Default)]
struct Slot {
    next: Mutex<Option<Piece>>,
    filled: Condvar,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Piece>> {
        // It is filled and emptied in single steps, so that a panic leaves it whole.
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, piece: Piece) {
        *self.lock() = Some(piece);
        self.filled.notify_one();
    }

    fn take(&self) -> Piece {
        let mut next = self.lock();
        loop {
            match next.take() {
                Some(piece) => return piece,
                None => next = self.filled.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The lanes.
pub(super) struct Lanes {
    scan: Arc<Slot>,
    watch: Arc<Slot>,
    live: Arc<Slot>,
    open: Arc<Slot>,
    split: Arc<Slot>,
    join: Arc<Slot>,
    read: Arc<Slot>,
    texts: Arc<Slot>,
    search: Arc<Slot>,
    elsewhere: Arc<Slot>,
    find: Arc<Slot>,
    look: Arc<Slot>,
    compare: Arc<Slot>,
    context: Arc<Slot>,
    errand: Arc<Slot>,
    changes: Sender<Piece>,
}

impl Lanes {
    pub(super) fn new(desk: &Desk, sender: &Sender<Event>) -> Self {
        let lane = || {
            let slot = Arc::<Slot>::default();
            let (desk, work, sender) = (desk.clone(), slot.clone(), sender.clone());
            thread::spawn(move || while run(&desk, work.take(), &sender) {});
            slot
        };
        let (changes, queue) = mpsc::channel();
        {
            let (desk, sender) = (desk.clone(), sender.clone());
            thread::spawn(move || queue.into_iter().all(|piece| run(&desk, piece, &sender)));
        }
        Self {
            scan: lane(),
            watch: lane(),
            live: lane(),
            open: lane(),
            split: lane(),
            join: lane(),
            read: lane(),
            texts: lane(),
            search: lane(),
            elsewhere: lane(),
            find: lane(),
            look: lane(),
            compare: lane(),
            context: lane(),
            errand: lane(),
            changes,
        }
    }

    /// Begins a piece of work, soon.
    pub(super) fn start(&self, ticket: Ticket, job: Job) {
        let lane = match &job {
            Job::Work(Work::Scan { .. }) => &self.scan,
            Job::Work(Work::Watch { .. }) => &self.watch,
            Job::Work(Work::FollowPis) => &self.live,
            Job::Work(Work::Open { .. }) => &self.open,
            Job::Work(Work::Split { .. }) => &self.split,
            Job::Work(Work::Join(_)) => &self.join,
            Job::Work(Work::Read(_)) => &self.read,
            Job::Work(Work::ReadTexts(_) | Work::ForgetTexts) => &self.texts,
            Job::Work(Work::Search { .. }) => &self.search,
            Job::Work(Work::Elsewhere { .. }) => &self.elsewhere,
            Job::Work(Work::Find { .. } | Work::Fulfil { .. }) => &self.find,
            Job::Work(Work::Context { .. }) => &self.context,
            Job::Work(Work::Look { .. } | Work::LookForPis) => &self.look,
            Job::Work(Work::Compare(_)) => &self.compare,
            Job::Work(
                Work::Text(_)
                | Work::Written(_)
                | Work::LookBack
                | Work::Copy(_)
                | Work::AskPi
                | Work::TellPi(..)
                | Work::LookForMoved { .. }
                | Work::Remember { .. }
                | Work::CompleteDir(_),
            )
            | Job::Copy(..) => &self.errand,
            Job::Work(Work::Change { .. }) => {
                // The lane ends only with the loop that would hear of it.
                let _ = self.changes.send((ticket, job));
                return;
            }
        };
        lane.put((ticket, job));
    }
}

/// Does a piece of work. Returns whether anybody hears of it.
fn run(desk: &Desk, (ticket, job): Piece, sender: &Sender<Event>) -> bool {
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
    let done = guard::caught(|| match job {
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

    use super::*;
    use crate::app::message::Body;
    use crate::app::setting::Setting;
    use crate::config::Config;
    use crate::disk::files::Files;
    use crate::disk::locate::Located;

    fn desk() -> Desk {
        let located = Located { dirs: Vec::new(), origin: String::new() };
        let setting = Setting::new(&Config::default(), located, String::new(), true);
        Desk::new(Arc::new(setting), Files::Demo)
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
        let lanes = Lanes::new(&desk(), &sender);
        // There is no such entry in an empty tree.
        let body = Body { path: PathBuf::new(), tree: Arc::default(), at: 7 };
        for number in [1, 2] {
            let (claim, ticket) = Ticket::new(number);
            lanes.start(ticket, Job::Work(Work::Read(body.clone())));
            let (of, Reply::Failed(why)) = reply(&events) else { panic!("it failed") };
            assert_eq!(of, number);
            assert!(why.starts_with("pitree stumbled over it"), "{why}");
            drop(claim);
        }
    }

    #[test]
    fn what_nobody_wants_is_not_begun() {
        let (sender, events) = mpsc::channel();
        let lanes = Lanes::new(&desk(), &sender);
        let body = Body { path: PathBuf::new(), tree: Arc::default(), at: 0 };
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
