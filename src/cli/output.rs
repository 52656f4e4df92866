//! What goes to the terminal or a pipe: safe JSON, plain complaints and questions, and the knowledge that a closed pipe is
//! no error. Tables are in `table`.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Result;
use serde::Serialize;
use serde_json::Number;

pub(super) use crate::base::safe_json::{PathFields, push_json_line};
use crate::changes::Changes;
use crate::cli::exit::Exit;
use crate::disk::locate;
use crate::disk::scan::Unreadable;
use crate::disk::trash::Trash;

/// Standard output, buffered.
pub(super) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(64 * 1024, io::stdout().lock())
}

/// One object on one line. Characters that a terminal could act on are escaped: the same JSON to a reader.
pub(super) fn json(out: &mut impl Write, value: &impl Serialize) -> Result<()> {
    let mut line = Vec::new();
    push_json_line(&mut line, value)?;
    out.write_all(&line)?;
    Ok(())
}

/// A number as JavaScript writes it: `3` rather than `3.0`, nothing for what JSON cannot say.
pub(super) fn number(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Some((value as i64).into());
    }
    Number::from_f64(value)
}

/// Says on standard error what went wrong.
pub(super) fn complain(message: &str) {
    let mut stderr = io::stderr().lock();
    let message = crate::base::text::without_os_error_codes(message);
    for (at, line) in crate::base::text::clean_lines(&message).enumerate() {
        // Nothing is left to do if even that fails.
        let _ = writeln!(stderr, "{}{line}", if at == 0 { "pitree: " } else { "  " });
    }
}

/// Reports the files that could not be read and returns the exit code. Files of entries without a header are reported
/// as well; they are no error.
pub(super) fn end(mut unreadable: Vec<Unreadable>) -> Exit {
    if let Some(state_dir) = locate::state_dir() {
        Changes::new(state_dir, Trash::default()).explain(&mut unreadable);
    }
    for Unreadable { path, reason, is_headless, .. } in &unreadable {
        let can_not = if *is_headless { "" } else { "cannot read " };
        complain(&format!("{can_not}{}: {reason}", path.display()));
    }
    if unreadable.iter().all(|one| one.is_headless) { Exit::Done } else { Exit::Failed }
}

/// Says on standard error what was done.
pub(super) fn tell(message: &str) {
    let mut stderr = io::stderr().lock();
    for line in crate::base::text::clean_lines(message) {
        let _ = writeln!(stderr, "{line}");
    }
}

/// Asks on standard error; the answer goes on the same line.
pub(super) fn prompt(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{} ", crate::base::text::clean(question)).and_then(|()| stderr.flush());
}

/// Whether somebody like `head` has read enough.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

/// The columns of the terminal on standard output, if it is one.
pub(super) fn columns() -> Option<usize> {
    let columns = io::stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten()?.0;
    Some(columns.into()).filter(|&columns| columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction() {
        let said = |value| number(value).map(|number| number.to_string());
        assert_eq!([3.0, -1.5, 1_767_603_601_000.0].map(said), ["3", "-1.5", "1767603601000"].map(|s| Some(s.into())));
        assert_eq!(said(f64::INFINITY), None);
    }
}
