//! Work that may panic on a file that nobody thought of: the panic is caught and becomes a reason in words, so that one
//! file does not cost the others.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does some work of which nothing but its result is used afterwards.
///
/// # Errors
/// It panicked: why, in words for a person.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let was_guarded = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    result.map_err(|panic| format!("pitree stumbled over it, which is a defect of pitree: {}", message(&*panic)))
}

/// Whether a panic of this thread is caught: then nobody needs to report it.
pub(crate) fn is_guarded() -> bool {
    IS_GUARDED.get()
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// Lets panics that are caught pass without a report; all others are reported as before.
pub(crate) fn report_only_others() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            report(panic);
        }
    }));
}
