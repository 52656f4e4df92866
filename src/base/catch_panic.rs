//! Catches panics while a session file is processed and turns them into error messages, so that one file does not affect
//! the others. Uncaught panics are reported with sanitized text.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::base::text::clean_lines;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Saves the place of a panic with a backtrace, and returns the file.
type Save = fn(&str) -> Option<PathBuf>;

static SAVE: OnceLock<Save> = OnceLock::new();

/// The file with the first panic, if it could be saved.
static SAVED: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Runs `work` and catches a panic. State that `work` was changing must not be used after a panic.
///
/// # Errors
/// A readable message if `work` panicked.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let was_catching = IS_CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CATCHING.set(was_catching);
    result.map_err(|panic| format!("internal error in pitree: {}; {}", message(&*panic), request()))
}

/// Saves the first panic. Returns `true` if this panic will be caught, so that the hook must not report it.
pub(crate) fn is_caught(panic: &PanicHookInfo<'_>) -> bool {
    SAVED.get_or_init(|| SAVE.get()?(&place(panic)));
    IS_CATCHING.get()
}

/// Asks for a report, with the saved file.
fn request() -> String {
    let saved = SAVED.get().and_then(Option::as_ref);
    saved.map_or("please report it".into(), |file| format!("please report it, with {}", file.display()))
}

fn place(panic: &PanicHookInfo<'_>) -> String {
    panic.location().map_or("?".into(), ToString::to_string)
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// Installs a panic hook that saves the first panic, and reports uncaught panics only. The report is sanitized, because a
/// message can quote a file.
pub(crate) fn install_hook(save: Save) {
    let _ = SAVE.set(save); // installed once
    std::panic::set_hook(Box::new(|panic| {
        if !is_caught(panic) {
            report(panic);
        }
    }));
}

/// Prints the location and message of a panic to standard error, with a backtrace if `RUST_BACKTRACE` is set.
pub(crate) fn report(panic: &PanicHookInfo<'_>) {
    let trace = Backtrace::capture();
    let trace = (trace.status() == BacktraceStatus::Captured).then(|| trace.to_string());
    let text = format_report(&place(panic), message(panic.payload()), trace.as_deref());
    let _ = io::stderr().lock().write_all(text.as_bytes()); // no other way to report it
}

/// Formats the report of a panic as sanitized lines.
fn format_report(place: &str, message: &str, trace: Option<&str>) -> String {
    let [head, hint] = [format!("pitree panicked at {place}:"), format!("this is a bug in pitree; {}", request())];
    let lines = [&*head, message, trace.unwrap_or_default(), &*hint].into_iter().flat_map(clean_lines);
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_sanitized() {
        let report = format_report("src/x\x1b.rs:1:2", "line\n\x1b]0;title\x07\u{9b}31m\r\u{202e}", None);
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines[..3], ["pitree panicked at src/x␛.rs:1:2:", "line", "␛]0;title␇\u{fffd}31m"]);
        assert!(!report.replace('\n', "").contains(crate::base::text::is_unsafe), "{report:?}");
        assert!(format_report("?", "", Some("0: main\x1b")).contains("\n0: main␛\n"));
    }

    #[test]
    #[ignore = "run by the next test in a subprocess"]
    fn panics() {
        install_hook(|_| None);
        assert!(catch(|| panic!("\x1b[31mcaught")).is_err());
        panic!("\x1b[31m{}", "not caught");
    }

    #[test]
    fn caught_panics_are_errors() {
        let mut myself = std::process::Command::new(std::env::current_exe().unwrap());
        let output =
            myself.args(["base::catch_panic::tests::panics", "--exact", "--ignored", "--nocapture"]).output().unwrap();
        let output_text = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success()
                && output_text.contains("src/base/catch_panic.rs")
                && output_text.contains("␛[31mnot caught"),
            "{output_text}"
        );
        assert!(!output_text.contains('\x1b') && !output_text.contains("31mcaught"), "{output_text:?}");
    }
}
