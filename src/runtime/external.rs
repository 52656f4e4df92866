//! Other programs that get the terminal for a while: a pager or an editor on a copy of a text, and pi where pitree comes
//! back after it.

use std::io;
use std::process::{Command, ExitStatus};

use anyhow::Result;

use crate::app::message::{Opener, TextCopy};
use crate::disk::program;
use crate::disk::temp_copy::TempCopy;
use crate::runtime::input::InputGate;
use crate::runtime::terminal::{self, Screen};
use crate::system::{programs, signals};

/// Lets a program have the terminal until it ends. Ctrl+C is the program's; when it stops, so does pitree.
///
/// # Errors
/// The terminal cannot be undone. Within, the program could not be started.
pub(super) fn run(command: &mut Command, gate: &InputGate, screen: &mut Screen) -> Result<io::Result<ExitStatus>> {
    if let Err(error) = terminal::connect(command) {
        return Ok(Err(error));
    }
    signals::lend_terminal();
    let (status, _) = screen.pause(|| gate.closed(|| programs::run(command)))?;
    Ok(status)
}

/// What is to be known of how a program ended, if it did not end well.
pub(super) fn failure(program: &str, status: ExitStatus) -> Option<String> {
    match status.code() {
        Some(0) => None,
        Some(code) => Some(format!("{program} exited with code {code}")),
        None => Some(format!("{program} was terminated by a signal")),
    }
}

/// Shows a copy of a text in a pager, or in an editor. Returns what is to be known of it, in words.
///
/// # Errors
/// The terminal cannot be undone.
pub(super) fn show(copy: &TextCopy, gate: &InputGate, screen: &mut Screen) -> Result<Option<String>> {
    let TextCopy { with, name, text } = copy;
    let Some(line) = command_line(*with) else {
        return Ok(Some("no editor configured; set VISUAL or EDITOR".into()));
    };
    let program = line.split_whitespace().next().unwrap_or_default().to_owned();
    // In quotes, or behind a variable, the shell knows what it means.
    let is_plain = program.chars().all(|c| c.is_alphanumeric() || "-_./+~".contains(c));
    if is_plain && !program.starts_with('~') && program::find(&program).is_none() {
        return Ok(Some(format!("cannot find {program:?} on the PATH: {}", where_from(*with))));
    }
    let aside = match TempCopy::new(name, text) {
        Ok(aside) => aside,
        Err(error) => return Ok(Some(format!("cannot create a temporary copy: {error}"))),
    };
    let status = run(&mut programs::shell(&line, aside.path()), gate, screen)?;
    Ok(match status {
        Err(error) => Some(format!("cannot start {program}: {error}")),
        Ok(status) => failure(&program, status).or_else(|| {
            let is_changed = *with == Opener::Editor && aside.is_other_than(text);
            is_changed.then(|| "the edited file was a copy; the session is unchanged".into())
        }),
    })
}

fn where_from(with: Opener) -> &'static str {
    match with {
        Opener::Pager => "set PAGER in the environment",
        Opener::Editor => "set VISUAL or EDITOR in the environment",
    }
}

/// What the environment names, or what nearly everybody has; `None` where that is no editor.
fn command_line(with: Opener) -> Option<String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    match with {
        Opener::Editor => named("VISUAL").or_else(|| named("EDITOR")),
        Opener::Pager => {
            let pager =
                named("PAGER").unwrap_or_else(|| if program::find("less").is_some() { "less" } else { "more" }.into());
            Some(staying(pager))
        }
    }
}

/// A pager that does not end at once where the text is short: nobody would see it.
fn staying(pager: String) -> String {
    let program = pager.split_whitespace().next().unwrap_or_default();
    match program.rsplit('/').next() {
        Some("less") => format!("{pager} -+F"),
        Some("cat") => "less -+F".into(),
        _ => pager,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_seen() {
        assert_eq!(staying("less -FRX".into()), "less -FRX -+F");
        assert_eq!(staying("/usr/bin/less".into()), "/usr/bin/less -+F");
        assert_eq!((staying("cat".into()), staying("bat -p".into())), ("less -+F".into(), "bat -p".into()));
    }
}
