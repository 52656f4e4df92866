//! How much a test does, and what it says when it can't do anything.

use std::io::Write;

/// How often something is tried: `long` with `PITREE_LONG_TESTS=1`, which CI sets, else `short`.
pub(crate) fn rounds<T>(short: T, long: T) -> T {
    if std::env::var_os("PITREE_LONG_TESTS").is_some_and(|value| value == "1") { long } else { short }
}

/// Says that the calling test checked nothing, and why. Written past the harness, which hides what passing tests print.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes()).unwrap();
}
