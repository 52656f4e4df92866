//! The extent of tests, waiting for other processes, and messages of skipped tests.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

/// Returns the number of repetitions: `long` with `PITREE_LONG_TESTS=1`, which CI sets, or else `short`.
pub(crate) fn rounds<T>(short: T, long: T) -> T {
    if std::env::var_os("PITREE_LONG_TESTS").is_some_and(|value| value == "1") { long } else { short }
}

/// Returns `PROPTEST_RNG_SEED`, which CI takes from the commit, so that the tests of different commits try different cases.
pub(crate) fn seed() -> usize {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// Returns each `nth` of the cases, beginning with one that depends on the [`seed`], or all with `PITREE_LONG_TESTS=1`.
pub(crate) fn sample<T>(cases: impl IntoIterator<Item = T>, nth: usize) -> impl Iterator<Item = T> {
    let nth = rounds(nth, 1);
    cases.into_iter().skip(seed() % nth).step_by(nth)
}

/// Returns how often a connection is cut: `PITREE_CUTS`, or else the result of [`rounds`].
pub(crate) fn cuts(short: usize, long: usize) -> usize {
    let asked = std::env::var("PITREE_CUTS").ok().and_then(|cuts| cuts.parse().ok());
    asked.unwrap_or_else(|| rounds(short, long))
}

/// Waits up to 20 s until a condition holds; fails with the reason.
pub(crate) fn wait_until(reason: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{reason}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Reports that the calling test was skipped, and why. Writes past the test harness, which hides the output of passing
/// tests. Appends to the file `PITREE_SKIPPED`, too, from which `scripts/test` prints all reports at its end.
pub(crate) fn skipped(why: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or_default();
    let line = format!("skipped: {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(file) = std::env::var_os("PITREE_SKIPPED") {
        std::fs::File::options().append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
    }
}
