//! Parallel processing of many items, with results in batches or in order.

use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::{catch_panic, sort};

/// The time for which results are collected before they are reported.
const BATCH: Duration = Duration::from_millis(40);

/// The maximum number of threads; more would only wait for the disk.
const MAX_THREADS: usize = 8;

/// Returns the number of threads. Cached, because the system reads it from files, which takes as long as a search in
/// many sessions.
pub fn threads() -> usize {
    static THREADS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS));
    *THREADS
}

/// Returns `true` once the results are no longer wanted.
pub(crate) type StopSignal<'a> = &'a dyn Fn() -> bool;

/// Calls `work` for each item, roughly in order. Passes the results to `batch`, with the number of items done so far,
/// until all are done or it returns `false`. The first batch is sent as soon as there is a result. Each thread has
/// its own `B`, such as a buffer. If `work` panics, `lost` creates the result of the item from the message.
pub(crate) fn each<T: Sync, B: Default, R: Send>(
    items: &[T],
    (work, lost): (impl Fn(&T, &mut B, StopSignal<'_>) -> Option<R> + Sync, impl Fn(&T, String) -> Option<R> + Sync),
    mut batch: impl FnMut(Vec<R>, usize) -> bool,
) {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let count = threads().min(items.len());
    let table = ResultTable {
        state: Mutex::new(TableState { results: Vec::new(), done: 0, working: count }),
        wanted: Condvar::new(),
    };
    let work_on = || {
        let _leaves = ThreadExit(&table);
        let (mut own, is_stopped) = (B::default(), || stop.load(Ordering::Relaxed));
        while !is_stopped() {
            let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let result = catch_panic::catch(|| work(item, &mut own, &is_stopped)).unwrap_or_else(|why| lost(item, why));
            table.put(result);
        }
    };
    let mut report = || {
        let (mut reported, mut is_first, mut due) = (0, true, Instant::now());
        loop {
            let (results, done, is_end) = table.take(due, is_first);
            is_first &= results.is_empty();
            due = Instant::now() + BATCH;
            if (done > reported || is_end) && !batch(results, done) {
                stop.store(true, Ordering::Relaxed);
                return;
            }
            if is_end {
                return;
            }
            reported = done;
        }
    };
    with_threads(count, &work_on, &mut report);
}

/// Runs `work` on `count` other threads, and `own` on this one. Continues a panic of one of them. Compiled once for all
/// kinds of work.
fn with_threads(count: usize, work: &(dyn Fn() + Sync), own: &mut dyn FnMut()) {
    thread::scope(|scope| {
        let others: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        own();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// Runs two functions that process a number of items, at the same time if there are many.
pub(crate) fn both<A: Send, B>(items: usize, other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    /// For fewer items, starting a thread would take longer.
    const MANY: usize = 2000;
    if items < MANY {
        return (other(), own());
    }
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let own = own();
        (other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), own)
    })
}

/// The number of results of an item that wait to be taken.
const WAITING_RESULTS: usize = 2;

/// Calls `work` for each item in parallel, and passes the results to `take` in the order of the items, until it returns
/// `false`. `work` sends any number of results through its last argument, which returns `false` once they are no longer
/// wanted. A slow `take` stops the threads, which bounds the memory. Each thread has its own `B`. If `work` panics, `lost`
/// creates a last result of the item from the message.
pub(crate) fn in_order<T: Sync, B: Default, R: Send>(
    items: &[T],
    (work, lost): (impl Fn(&T, &mut B, &dyn Fn(R) -> bool) + Sync, impl Fn(&T, String) -> R + Sync),
    mut take: impl FnMut(R) -> bool,
) {
    let next = Mutex::new(0);
    let (queue, queued) = mpsc::sync_channel(4 * threads());
    thread::scope(|scope| {
        for _ in 0..threads().min(items.len()) {
            let (queue, next, work, lost) = (queue.clone(), &next, &work, &lost);
            scope.spawn(move || {
                let mut own = B::default();
                // The lock keeps the order of the items in the queue.
                let begin = || {
                    let mut next = next.lock();
                    let item = items.get(*next)?;
                    *next += 1;
                    let (results, received) = mpsc::sync_channel(WAITING_RESULTS);
                    queue.send(received).ok().map(|()| (item, results))
                };
                while let Some((item, results)) = begin() {
                    let send = |result| results.send(result).is_ok();
                    if let Err(why) = catch_panic::catch(|| work(item, &mut own, &send)) {
                        send(lost(item, why));
                    }
                }
            });
        }
        drop(queue);
        queued.into_iter().all(|results: mpsc::Receiver<R>| results.into_iter().all(&mut take));
    });
}

/// Maps the items with `work` in order, in parallel if there are many.
pub(crate) fn map<I, R: Send>(items: I, work: impl Fn(I::Item) -> R + Sync) -> Vec<R>
where
    I: IntoIterator<Item: Send, IntoIter: ExactSizeIterator + Send>,
{
    /// The maximum number of items a thread takes at a time.
    const SOME: usize = 8;
    let items = items.into_iter();
    let len = items.len();
    if len <= SOME {
        return items.map(work).collect();
    }
    // With several parts for each thread, none of them waits long for the last one.
    let at_once = (len / (4 * threads())).clamp(1, SOME);
    let (next, parts) = (Mutex::new(items), Mutex::new(Vec::new()));
    let take = || {
        let (mut done, mut some): (Vec<(usize, Vec<R>)>, _) = (Vec::new(), Vec::with_capacity(at_once));
        loop {
            let at = {
                let mut items = next.lock();
                let at = len - items.len();
                some.extend(items.by_ref().take(at_once));
                at
            };
            if some.is_empty() {
                break;
            }
            done.push((at, some.drain(..).map(&work).collect()));
        }
        parts.lock().append(&mut done);
    };
    with_threads(threads() - 1, &take, &mut || take());
    let mut parts = parts.into_inner();
    sort::by_key(&mut parts, |(at, _)| *at);
    parts.into_iter().flat_map(|(_, part)| part).collect()
}

/// Maps the items with `work` in order, `most` of them at the same time, regardless of the number of processors: for work
/// that waits for other machines. If `work` panics, `lost` creates the result of the item.
pub(crate) fn map_waiting<T: Sync, R: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> R + Sync,
    lost: impl Fn() -> R,
) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    for some in items.chunks(most.max(1)) {
        thread::scope(|scope| {
            let started: Vec<_> = some.iter().map(|item| scope.spawn(|| work(item))).collect();
            results.extend(started.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())));
        });
    }
    results
}

/// The results of all threads. Threads are not woken for each result, because there can be many thousands per second.
struct ResultTable<R> {
    state: Mutex<TableState<R>>,
    wanted: Condvar,
}

struct TableState<R> {
    results: Vec<R>,
    done: usize,
    /// The number of running threads.
    working: usize,
}

impl<R> ResultTable<R> {
    fn put(&self, result: Option<R>) {
        let mut state = self.state.lock();
        state.done += 1;
        if state.results.is_empty() && result.is_some() {
            self.wanted.notify_one();
        }
        state.results.extend(result);
    }

    /// Waits until `due`, until all threads have finished, or, with `at_once`, until there is a first result. Returns
    /// the results, the number of processed items, and `true` if that is all.
    fn take(&self, due: Instant, at_once: bool) -> (Vec<R>, usize, bool) {
        let is_early = |state: &mut TableState<R>| state.working > 0 && (!at_once || state.results.is_empty());
        let mut state = self.state.lock();
        self.wanted.wait_while_until(&mut state, is_early, due);
        (std::mem::take(&mut state.results), state.done, state.working == 0)
    }
}

/// Marks a thread as finished when dropped.
struct ThreadExit<'a, R>(&'a ResultTable<R>);

impl<R> Drop for ThreadExit<'_, R> {
    fn drop(&mut self) {
        self.0.state.lock().working -= 1;
        self.0.wanted.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_items_is_in_their_order() {
        for count in [0, 1, 8, 9, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(map(&items, |item| item * 2), (0..count).map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_are_taken_in_order_until_they_are_unwanted() {
        let items: Vec<u32> = (0..200).collect();
        let work = |item: &u32, (): &mut (), send: &dyn Fn((u32, u32)) -> bool| {
            assert!(*item != 42, "not {item}");
            let _ = (0..*item % 5).all(|part| send((*item, part)));
        };
        let run = |most: usize| {
            let mut taken = Vec::new();
            in_order(&items, (work, |item: &u32, _| (*item, 99)), |result| {
                taken.push(result);
                taken.len() < most
            });
            taken
        };
        let parts = |item: u32| (0..item % 5).map(move |part| (item, part));
        let all: Vec<_> =
            items.iter().flat_map(|&item| if item == 42 { vec![(42, 99)] } else { parts(item).collect() }).collect();
        assert_eq!(run(usize::MAX), all);
        assert_eq!(run(7), all[..7]);
    }

    #[test]
    fn waiting_work_is_mapped_in_order() {
        let work = |item: &u32| if *item == 4 { panic!("not {item}") } else { item * 2 };
        for most in [0, 1, 3, 9] {
            assert_eq!(map_waiting(&[1, 2, 3, 4, 5], most, work, || 99), [2, 4, 6, 99, 10]);
        }
        assert!(map_waiting(&[], 0, work, || 99).is_empty());
    }

    #[test]
    fn work_that_panics_costs_its_own_item_alone() {
        let items: Vec<u32> = (0..100).collect();
        let work = |item: &u32, (): &mut (), _: StopSignal<'_>| {
            assert!(*item != 42, "not {item}");
            Some(Ok(*item))
        };
        let lost = |item: &u32, why: String| Some(Err((*item, why)));
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        each(&items, (work, lost), |results, _| {
            for result in results {
                match result {
                    Ok(item) => done.push(item),
                    Err(lost) => failed.push(lost),
                }
            }
            true
        });
        assert_eq!(done.len(), 99);
        assert_eq!(failed, [(42, "internal error in pitree: not 42; please report it".to_string())]);
    }
}
