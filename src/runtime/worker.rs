//! Threads that read while the browser goes on. Of requests of one kind only the latest counts: one that is not begun
//! when the next one comes is dropped.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::Result;

use super::Event;
use crate::app::message::{Effect, Fork, Msg};
use crate::app::model::Setting;
use crate::doc::{self, DocLine};
use crate::session::family;
use crate::session::tree::{Index, Tree};
use crate::store::files::Files;
use crate::store::load::{self, Bodies};
use crate::store::{live, scan};

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

/// What the threads share.
struct Shared {
    setting: Arc<Setting>,
    files: Files,
    sender: Sender<Event>,
    /// The latest scan: earlier ones stop.
    scan: AtomicU64,
}

/// The threads that read.
pub(super) struct Workers {
    shared: Arc<Shared>,
    open: Arc<Slot>,
    split: Arc<Slot>,
    read: Arc<Slot>,
}

impl Workers {
    pub(super) fn new(setting: Arc<Setting>, files: Files, sender: &Sender<Event>) -> Self {
        let shared = Arc::new(Shared { setting, files, sender: sender.clone(), scan: AtomicU64::new(0) });
        let slot = || {
            let slot = Arc::new(Slot { next: Mutex::new(None), filled: Condvar::new() });
            let (shared, work) = (shared.clone(), slot.clone());
            thread::spawn(move || while shared.work(work.take(), &work) {});
            slot
        };
        let (open, split, read) = (slot(), slot(), slot());
        Self { shared, open, split, read }
    }

    /// Begins what an effect wants, soon.
    pub(super) fn start(&self, effect: Effect) {
        match effect {
            Effect::Open { .. } => self.open.put(effect),
            Effect::Split { .. } => self.split.put(effect),
            Effect::Read { .. } => self.read.put(effect),
            Effect::Scan { scan } => {
                self.shared.scan.store(scan, Ordering::Relaxed);
                let shared = self.shared.clone();
                thread::spawn(move || shared.scan(scan));
            }
            // The loop itself does these.
            Effect::Resume { .. } | Effect::Suspend | Effect::Quit => {}
        }
    }
}

impl Shared {
    /// Passes a reply on. Returns whether anybody still listens.
    fn reply(&self, msg: Msg) -> bool {
        self.sender.send(Event::Reply(msg)).is_ok()
    }

    fn work(&self, effect: Effect, slot: &Slot) -> bool {
        match effect {
            Effect::Open { open, path } => {
                let tree = load::tree(self.files, &path, &self.setting.home).map(Arc::new);
                self.reply(Msg::Opened { open, tree: tree.map_err(|error| format!("{error:#}")) })
            }
            Effect::Split { split, tree, forks } => {
                let mut found = Vec::new();
                for session in forks {
                    if slot.has_next() {
                        return true;
                    }
                    let fork = load::tree(self.files, &session.path, &self.setting.home).ok();
                    let split = fork.and_then(|fork| family::split(&tree, &fork));
                    found.extend(split.map(|split| Fork { session, split }));
                }
                self.reply(Msg::Split { split, forks: found })
            }
            Effect::Read { read, path, tree, at } => {
                let doc = self.document(&path, &tree, at).map_err(|error| format!("{error:#}"));
                self.reply(Msg::Read { read, doc })
            }
            Effect::Scan { .. } | Effect::Resume { .. } | Effect::Suspend | Effect::Quit => true,
        }
    }

    fn document(&self, path: &std::path::Path, tree: &Tree, at: Index) -> Result<Vec<DocLine>> {
        let mut bodies = Bodies::open(self.files, path)?;
        let line = bodies.line(&tree.nodes[at as usize])?;
        let related: Result<Vec<Vec<u8>>> =
            doc::entry::related(tree, at).into_iter().map(|at| bodies.line(&tree.nodes[at as usize])).collect();
        Ok(doc::entry::document(tree, at, &line, &related?, &self.setting.zone))
    }

    fn scan(&self, scan: u64) {
        let is_current = || self.scan.load(Ordering::Relaxed) == scan;
        let finds = scan::find(self.files, &self.setting.located.dirs);
        let found = Msg::Found { scan, total: finds.files.len(), unreadable: finds.unreadable };
        if !self.reply(found) || !self.reply(Msg::Live(live::working_dirs())) {
            return;
        }
        let mut known = HashSet::new();
        scan::read(self.files, &finds.files, |batch| {
            let fresh = batch.sessions.iter().map(|session| &session.header.cwd);
            let fresh: HashSet<String> = fresh.filter(|cwd| !known.contains(*cwd)).cloned().collect();
            let is_gone = |cwd: &&String| !cwd.is_empty() && !self.files.is_dir(std::path::Path::new(cwd.as_str()));
            let gone = fresh.iter().filter(is_gone).cloned().collect();
            known.extend(fresh);
            is_current() && self.reply(Msg::Scanned { scan, batch, gone })
        });
        self.reply(Msg::ScanDone { scan });
    }
}
