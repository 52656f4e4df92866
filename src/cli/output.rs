//! Output to a terminal or a pipe: safe JSON, error messages and questions. A closed pipe is not an error. Tables are
//! in `table`.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::Stdio;
use std::sync::{LazyLock, OnceLock};

use anyhow::{Result, ensure};
use crossterm::style::force_color_output;
use parking_lot::Mutex;
use serde::Serialize;

use crate::base::numbers::thousands;
pub(super) use crate::base::safe_json::{PathFields, RemoteFields, number, object, push_json_line};
use crate::base::text::{Span, Tone, clean, clean_lines, without_os_error_codes};
use crate::base::{machine_paths, sort};
use crate::changes::Changes;
use crate::cli::exit::Exit;
use crate::config::Config;
use crate::disk::locate;
use crate::disk::scan::Unreadable;
use crate::disk::trash::Trash;
use crate::runtime;
use crate::runtime::colors::{self, Colors};

/// Buffered standard output, or the input of a pager.
pub(super) static STDOUT: LazyLock<Mutex<BufWriter<Box<dyn Write + Send>>>> =
    LazyLock::new(|| Mutex::new(BufWriter::with_capacity(64 * 1024, Box::new(io::stdout()))));

/// Prints to `$PAGER` on a terminal, as gh does: without the variable, there is no pager.
///
/// # Errors
/// The errors of `print`.
pub(super) fn paged<T>(print: impl FnOnce() -> Result<T>) -> Result<T> {
    let command = runtime::external::pager().filter(|_| io::stdout().is_terminal());
    let pager = command.and_then(|mut command| command.stdin(Stdio::piped()).spawn().ok());
    let Some((mut pager, input)) = pager.and_then(|mut pager| pager.stdin.take().map(|input| (pager, input))) else {
        return print();
    };
    let begin = |to: Box<dyn Write + Send>| *STDOUT.lock() = BufWriter::with_capacity(64 * 1024, to);
    flush()?;
    begin(Box::new(input));
    let printed = print().and_then(|printed| flush().map(|()| printed).map_err(Into::into));
    begin(Box::new(io::stdout()));
    pager.wait()?;
    printed
}

/// Writes to buffered standard output.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    STDOUT.lock().write_all(bytes)
}

/// Writes what is still buffered.
///
/// # Errors
/// The output cannot be written.
pub(super) fn flush() -> io::Result<()> {
    STDOUT.lock().flush()
}

/// Prints a line.
///
/// # Errors
/// The output cannot be written.
pub(super) fn line(text: impl Display) -> Result<()> {
    Ok(writeln!(STDOUT.lock(), "{text}")?)
}

/// Prints the lines of a text, safe for a terminal.
///
/// # Errors
/// The output cannot be written.
pub(super) fn lines(text: &str, indent: &str) -> Result<()> {
    clean_lines(text).try_for_each(|one| line(format_args!("{indent}{one}")))
}

/// Prints an object as one line of JSON. Escapes unsafe characters, which does not change the value.
///
/// # Errors
/// The output cannot be written.
pub(super) fn json(value: &impl Serialize) -> Result<()> {
    let mut line = Vec::new();
    push_json_line(&mut line, value)?;
    Ok(write(&line)?)
}

/// Prints an error message.
pub(super) fn error(message: &str) {
    let mut stderr = io::stderr().lock();
    let message = without_os_error_codes(message);
    for (at, line) in clean_lines(&message).enumerate() {
        // No other way to report it.
        let _ = writeln!(stderr, "{}{line}", if at == 0 { "pitree: " } else { "  " });
    }
}

/// Writes the output, then reports the files that could not be read in one line, and returns the exit code. Files of
/// entries without a header are reported too, but are not an error.
///
/// # Errors
/// The output cannot be written.
pub(super) fn end(unreadable: Vec<Unreadable>) -> Result<Exit> {
    end_with_details(unreadable, 1)
}

/// Like [`end`], with a line for each file if there are at most `most`.
///
/// # Errors
/// The output cannot be written.
pub(super) fn end_with_details(mut unreadable: Vec<Unreadable>, most: usize) -> Result<Exit> {
    flush()?;
    if let Some(state_dir) = locate::state_dir() {
        Changes::new(state_dir, Trash::default()).explain(&mut unreadable);
    }
    // They come in the order in which threads found them.
    sort::by(&mut unreadable, |one, other| one.path.cmp(&other.path));
    unreadable.dedup_by(|one, other| one.path == other.path);
    if unreadable.len() > most {
        error(&format!("cannot read {} files; `pitree doctor` lists them", thousands(unreadable.len())));
    }
    for Unreadable { path, reason, is_headless, .. } in unreadable.iter().filter(|_| unreadable.len() <= most) {
        let can_not = if *is_headless { "" } else { "cannot read " };
        let more = if most == 1 { "; see `pitree doctor`" } else { "" };
        error(&format!("{can_not}{}: {reason}{more}", machine_paths::shown(path)));
    }
    Ok(if unreadable.iter().all(|one| one.is_headless) { Exit::Done } else { Exit::Failed })
}

/// Prints a message to standard error, after the output so far.
pub(super) fn note(message: &str) {
    // If the output cannot be written, the next write returns the error.
    let _ = flush();
    let mut stderr = io::stderr().lock();
    for line in clean_lines(message) {
        let _ = writeln!(stderr, "{line}");
    }
}

/// Prints the reason why a command did nothing, and returns the exit code for it.
pub(super) fn nothing(reason: &str) -> Result<Exit> {
    note(reason);
    Ok(Exit::Nothing)
}

/// Shows a progress message in the current line of standard error, if it is a terminal. An empty message clears it.
pub(super) fn progress(message: &str) {
    let mut stderr = io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r{message:<40}\r").and_then(|()| stderr.flush());
    }
}

/// Shows the progress of a step until it is complete. Returns `true` to go on.
pub(super) fn progress_of(done: usize, all: usize, things: &str) -> bool {
    let is_complete = done >= all;
    let message = || format!("{} of {} {things}", thousands(done), thousands(all));
    progress(&if is_complete { String::new() } else { message() });
    true
}

/// Returns `true` if a question is possible: input and standard error must be a terminal.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns an error if no question is possible.
///
/// # Errors
/// Input or standard error is no terminal.
pub(super) fn check_can_ask() -> Result<()> {
    ensure!(can_ask(), "cannot ask for confirmation without a terminal; use --yes to skip the prompt");
    Ok(())
}

/// Asks a question on standard error, so that a pipe only gets the output, and returns the trimmed answer; empty at the end
/// of input.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn ask(question: &str) -> Result<String> {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{} ", clean(question)).and_then(|()| stderr.flush());
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().into())
}

/// Returns `true` if the user answers `y` or `yes`.
///
/// # Errors
/// The errors of [`ask`].
pub(super) fn is_yes(question: &str) -> Result<bool> {
    let answer = ask(&format!("{question} [y/N]"))?.to_lowercase();
    Ok(answer == "y" || answer == "yes")
}

/// Returns `true` if the reader, such as `head`, has closed the pipe.
pub(super) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

/// Returns the width of standard output if it is a terminal.
pub(super) fn columns() -> Option<usize> {
    let columns = io::stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten()?.0;
    Some(columns.into()).filter(|&columns| columns > 0)
}

/// When to print colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

/// The colors of the output; unset without colors.
static COLORS: OnceLock<Colors> = OnceLock::new();

/// Chooses the colors of the output: those of the browser.
pub(super) fn set_colors(when: ColorWhen, config: &Config) {
    let is_colored = match when {
        ColorWhen::Auto => io::stdout().is_terminal() && runtime::has_colors(),
        ColorWhen::Always => true,
        ColorWhen::Never => false,
    };
    if is_colored {
        // An explicit option is stronger than `NO_COLOR`.
        force_color_output(true);
        let _ = COLORS.set(colors::configured(config));
    }
}

/// Returns a safe text in the color of a tone.
pub(super) fn paint(tone: Tone, text: &str) -> String {
    COLORS.get().map_or_else(|| text.into(), |own| colors::paint(tone, text, own))
}

/// Returns safe spans in their colors.
pub(super) fn paint_all(spans: &[Span]) -> String {
    spans.iter().map(|span| paint(span.tone, &span.text)).collect()
}

/// Prints the lines of a unified diff, safe for a terminal.
///
/// # Errors
/// The output cannot be written.
pub(super) fn diff(text: &str) -> Result<()> {
    clean_lines(text.strip_suffix('\n').unwrap_or(text)).try_for_each(|one| {
        let tone = match one.as_bytes().first() {
            Some(b'+') => Tone::Added,
            Some(b'-') => Tone::Removed,
            Some(b'@') => Tone::Hunk,
            _ => Tone::Text,
        };
        line(paint(tone, &one))
    })
}
