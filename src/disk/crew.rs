//! Many files dealt with by all processors, first come first served, with what comes of it passed on in batches.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::guard;

/// How long results are gathered before they are passed on.
const BATCH: Duration = Duration::from_millis(40);

/// The most threads: more would wait for the disk.
const MOST: usize = 8;

/// As many threads work at once.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST)
}

/// What came of the items since the last batch.
#[derive(Debug)]
pub(crate) struct Batch<R> {
    /// The results.
    pub(crate) results: Vec<R>,
    /// Items done so far.
    pub(crate) done: usize,
}

/// Says when to stop.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a>(&'a AtomicBool);

impl Stop<'_> {
    /// Whether nobody waits for results any more.
    pub(crate) fn is_due(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does `work` for each of the items, about in order, and passes what it gives on in batches, the first of them as soon
/// as there is anything; until all are done or `batch` returns false. Each thread has a `B` to work with, such as a buffer.
/// Where the work panics, `lost` says what comes of the item, told why.
pub(crate) fn each<T: Sync, B: Default, R: Send>(
    items: &[T],
    (work, lost): (impl Fn(&T, &mut B, Stop<'_>) -> Option<R> + Sync, impl Fn(&T, String) -> Option<R> + Sync),
    mut batch: impl FnMut(Batch<R>) -> bool,
) {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads() {
            let (sender, next, stop, work, lost) = (sender.clone(), &next, &stop, &work, &lost);
            scope.spawn(move || {
                let (mut own, stop) = (B::default(), Stop(stop));
                while !stop.is_due() {
                    let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    let result = guard::caught(|| work(item, &mut own, stop)).unwrap_or_else(|why| lost(item, why));
                    if sender.send(result).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let (mut gathered, mut done, mut told, mut due) = (Vec::new(), 0, 0, Instant::now());
        let mut is_first = true;
        loop {
            let wait = if told < done { due.saturating_duration_since(Instant::now()) } else { Duration::MAX };
            match results.recv_timeout(wait) {
                Ok(result) => {
                    done += 1;
                    gathered.extend(result);
                    // A person waits for the first one.
                    let is_wanted = is_first && !gathered.is_empty();
                    if Instant::now() < due && !is_wanted {
                        continue;
                    }
                    is_first &= !is_wanted;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            (due, told) = (Instant::now() + BATCH, done);
            if !batch(Batch { results: std::mem::take(&mut gathered), done }) {
                stop.store(true, Ordering::Relaxed);
                return;
            }
        }
        batch(Batch { results: gathered, done });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_costs_its_own_item_alone() {
        let items: Vec<u32> = (0..100).collect();
        let work = |item: &u32, (): &mut (), _: Stop<'_>| {
            assert!(*item != 42, "not {item}");
            Some(Ok(*item))
        };
        let lost = |item: &u32, why: String| Some(Err((*item, why)));
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        each(&items, (work, lost), |batch| {
            for result in batch.results {
                match result {
                    Ok(item) => done.push(item),
                    Err(lost) => failed.push(lost),
                }
            }
            true
        });
        assert_eq!(done.len(), 99);
        assert_eq!(failed, [(42, "pitree stumbled over it, which is a defect of pitree: not 42".to_string())]);
    }
}
