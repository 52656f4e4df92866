//! Asking the person at the terminal: the question goes to standard error, so that a pipe gets the product alone.

use std::io::{self, IsTerminal};

use anyhow::Result;

use crate::cli::output;

/// Whether somebody can be asked: both the question and the answer need a terminal.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The answer to a question, without white space around; empty at the end of input.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn ask(question: &str) -> Result<String> {
    output::prompt(question);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().into())
}

/// Whether the answer to a question is yes: `y` or `yes`.
///
/// # Errors
/// As [`ask`].
pub(super) fn is_yes(question: &str) -> Result<bool> {
    let answer = ask(&format!("{question} [y/N]"))?.to_lowercase();
    Ok(answer == "y" || answer == "yes")
}
