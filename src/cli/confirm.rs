//! Questions on the terminal. The question goes to standard error, so that a pipe only gets the output.

use std::io::{self, IsTerminal};

use anyhow::Result;

use crate::cli::output;

/// Returns `true` if a question is possible: input and standard error must be a terminal.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question and returns the trimmed answer; empty at the end of input.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn ask(question: &str) -> Result<String> {
    output::prompt(question);
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
