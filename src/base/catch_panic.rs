//! Work that may panic on a file that nobody thought of: the panic is caught and becomes a reason in words, so that one
//! file does not cost the others. A panic that nobody catches is reported here.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use crate::base::text::clean_lines;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Does some work of which nothing but its result is used afterwards.
///
/// # Errors
/// It panicked: why, in words for a person.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let was_catching = IS_CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CATCHING.set(was_catching);
    result.map_err(|panic| format!("pitree stumbled over it, which is a defect of pitree: {}", message(&*panic)))
}

/// Whether a panic of this thread is caught: then nobody needs to report it.
pub(crate) fn is_catching() -> bool {
    IS_CATCHING.get()
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// Reports no panics that are caught, and all others so that the text of a file, which they may quote, does nothing to a
/// terminal.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|panic| {
        if !is_catching() {
            report(panic);
        }
    }));
}

/// Says on standard error where and why something panics; with a backtrace if the environment asks for one.
pub(crate) fn report(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let trace = Backtrace::capture();
    let trace = (trace.status() == BacktraceStatus::Captured).then(|| trace.to_string());
    let text = in_words(place.as_deref(), message(panic.payload()), trace.as_deref());
    let _ = io::stderr().lock().write_all(text.as_bytes()); // nothing is left to do if even that fails
}

/// The report of a panic, of clean lines.
fn in_words(place: Option<&str>, message: &str, trace: Option<&str>) -> String {
    let head = format!("pitree panicked at {}:", place.unwrap_or("?"));
    let hint = "this is a defect of pitree; with RUST_BACKTRACE=1 it says more";
    let lines = [&*head, message, trace.unwrap_or(hint)].into_iter().flat_map(clean_lines);
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_does_nothing_to_a_terminal() {
        let report = in_words(Some("src/x\x1b.rs:1:2"), "line\n\x1b]0;title\x07\u{9b}31m\r\u{202e}", None);
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines[..3], ["pitree panicked at src/x␛.rs:1:2:", "line", "␛]0;title␇\u{fffd}31m"]);
        assert!(!report.replace('\n', "").contains(crate::base::text::is_unsafe), "{report:?}");
        assert!(in_words(None, "", Some("0: main\x1b")).ends_with("0: main␛\n"));
    }

    #[test]
    #[ignore = "run by the one below, in a process of its own"]
    fn panics() {
        install_hook();
        assert!(catch(|| panic!("\x1b[31mcaught")).is_err());
        panic!("\x1b[31m{}", "not caught");
    }

    #[test]
    fn what_panics_is_reported_so() {
        let mut myself = std::process::Command::new(std::env::current_exe().unwrap());
        let output =
            myself.args(["base::guard::tests::panics", "--exact", "--ignored", "--nocapture"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains("src/base/guard.rs") && said.contains("␛[31mnot caught"),
            "{said}"
        );
        assert!(!said.contains('\x1b') && !said.contains("31mcaught"), "{said:?}");
    }
}
