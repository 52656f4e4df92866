//! Threads that read and write while the browser goes on. Of requests to read only the latest of a kind counts: one that
//! is not begun when the next one comes is dropped. Changes are all made, one after the other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::app::message::Effect;
use crate::runtime::Event;
use crate::runtime::work::Desk;

/// A place for the next piece of work.
struct Slot {
    next: Mutex<Option<Effect>>,
    filled: Condvar,
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Effect>> {
        // A panic elsewhere ends the program anyway.
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, work: Effect) {
        *self.lock() = Some(work);
        self.filled.notify_one();
    }

    fn take(&self) -> Effect {
        let mut next = self.lock();
        loop {
            match next.take() {
                Some(work) => return work,
                None => next = self.filled.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn has_next(&self) -> bool {
        self.lock().is_some()
    }
}

/// The threads that read.
pub(super) struct Workers {
    desk: Desk,
    sender: Sender<Event>,
    /// The latest scan: earlier ones stop.
    scan: Arc<AtomicU64>,
    open: Arc<Slot>,
    split: Arc<Slot>,
    read: Arc<Slot>,
    texts: Arc<Slot>,
    search: Arc<Slot>,
    list: Arc<Slot>,
    find: Arc<Slot>,
    changes: Sender<Effect>,
    /// How many of the changes are still to be made.
    waiting: Arc<Waiting>,
}

/// How many changes are still to be made.
#[derive(Default)]
struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, by: isize) {
        let mut count = self.lock();
        *count = count.saturating_add_signed(by);
        self.changed.notify_all();
    }

    fn until_none(&self) {
        let mut count = self.lock();
        while *count > 0 {
            count = self.changed.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Workers {
    pub(super) fn new(desk: Desk, sender: Sender<Event>) -> Self {
        let slot = || {
            let slot = Arc::new(Slot { next: Mutex::new(None), filled: Condvar::new() });
            let (desk, work, sender) = (desk.clone(), slot.clone(), sender.clone());
            thread::spawn(move || {
                let mut is_heard = true;
                while is_heard {
                    let reply = |msg| {
                        is_heard = sender.send(Event::Reply(msg)).is_ok();
                        is_heard
                    };
                    desk.work(work.take(), || work.has_next(), reply);
                }
            });
            slot
        };
        let (open, split, read, list, find) = (slot(), slot(), slot(), slot(), slot());
        let (texts, search) = (slot(), slot());
        let (changes, queue) = mpsc::channel();
        let waiting = Arc::<Waiting>::default();
        {
            let (desk, sender, waiting) = (desk.clone(), sender.clone(), waiting.clone());
            thread::spawn(move || {
                for effect in queue {
                    desk.work(effect, || false, |msg| sender.send(Event::Reply(msg)).is_ok());
                    waiting.add(-1);
                }
            });
        }
        Self { desk, sender, scan: Arc::default(), open, split, read, list, find, texts, search, changes, waiting }
    }

    /// Begins what an effect wants, soon.
    pub(super) fn start(&self, effect: Effect) {
        match effect {
            Effect::Open { .. } => self.open.put(effect),
            Effect::Split { .. } => self.split.put(effect),
            Effect::Read { .. } => self.read.put(effect),
            Effect::ReadTexts { .. } => self.texts.put(effect),
            Effect::Search { .. } => self.search.put(effect),
            Effect::List { .. } => self.list.put(effect),
            Effect::Find { .. } => self.find.put(effect),
            Effect::Scan { scan } => {
                self.scan.store(scan, Ordering::Relaxed);
                let (desk, sender, latest) = (self.desk.clone(), self.sender.clone(), self.scan.clone());
                thread::spawn(move || {
                    let is_stale = || latest.load(Ordering::Relaxed) != scan;
                    desk.work(effect, is_stale, |msg| sender.send(Event::Reply(msg)).is_ok());
                });
            }
            Effect::Change { .. } | Effect::Text { .. } => {
                self.waiting.add(1);
                if self.changes.send(effect).is_err() {
                    self.waiting.add(-1); // a panic in that thread ends the program anyway
                }
            }
            // The loop itself does these.
            Effect::Resume { .. } | Effect::Copy { .. } | Effect::Answer(_) | Effect::Suspend | Effect::Quit => {}
        }
    }

    /// Waits until every change is made: nothing that was begun is cut off by leaving.
    pub(super) fn finish(&self) {
        self.waiting.until_none();
    }
}
