//! How much a test does, and what it says when it can't do anything.

use std::io::Write;

/// How often something is tried: `long` with `PITREE_LONG_TESTS=1`, which CI sets, else `short`.
pub(crate) fn rounds<T>(short: T, long: T) -> T {
    if std::env::var_os("PITREE_LONG_TESTS").is_some_and(|value| value == "1") { long } else { short }
}

/// How often a program is killed: as `PITREE_KILLS` says, else by [`rounds`].
pub(crate) fn kills() -> usize {
    let asked = std::env::var("PITREE_KILLS").ok().and_then(|kills| kills.parse().ok());
    asked.unwrap_or_else(|| rounds(20, 2000))
}

/// Says that the calling test checked nothing, and why. Written past the harness, which hides what passing tests print.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes()).unwrap();
}
