//! External programs that use the terminal: a pager or an editor on a copy of a text, and pi if pitree returns after
//! it.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, anyhow};

use crate::app::external::{Opener, TextCopy};
use crate::app::message::Msg;
use crate::app::settings::Settings;
use crate::base::machine_paths;
use crate::disk::create::TempCopy;
use crate::disk::program;
use crate::machines::resume::RemoteStart;
use crate::pi::launch::{self, Launch, Start, there};
use crate::pi::status;
use crate::runtime::input::InputGate;
use crate::runtime::jobs::now;
use crate::runtime::terminal::{self, Screen};
use crate::system::{programs, signals};

/// Runs a program in the terminal until it exits. Ctrl+C goes to the program, and when it stops, pitree stops too.
///
/// # Errors
/// The terminal cannot be restored. The inner error: the program could not be started.
pub(super) fn run(command: &mut Command, gate: &InputGate, screen: &mut Screen) -> Result<io::Result<ExitStatus>> {
    if let Err(error) = terminal::connect(command) {
        return Ok(Err(error));
    }
    signals::lend_terminal();
    let (status, _) = screen.pause(|| gate.closed(|| programs::run(command)))?;
    Ok(status)
}

/// Describes a failed exit of a program.
pub(super) fn failure(program: &str, status: ExitStatus) -> Option<String> {
    match status.code() {
        Some(0) => None,
        Some(code) => Some(format!("{program} exited with code {code}")),
        None => Some(format!("{program} was terminated by a signal")),
    }
}

/// Shows a copy of a text in a pager or an editor. Returns a message for the user, or the edited names.
///
/// # Errors
/// The terminal cannot be restored.
pub(super) fn show(copy: &TextCopy, gate: &InputGate, screen: &mut Screen) -> Result<Msg> {
    let TextCopy { with, name, text } = copy;
    let Some(line) = command_line(*with) else {
        return Ok(match with {
            Opener::NameEditor => Msg::Names(None),
            _ => Msg::Shown(Some("no editor configured; set VISUAL or EDITOR".into())),
        });
    };
    let program = line.split_whitespace().next().unwrap_or_default().to_owned();
    // The shell handles quotes and variables.
    let is_plain = program.chars().all(|c| c.is_alphanumeric() || "-_./+~".contains(c));
    if is_plain && !program.starts_with('~') && program::find(&program).is_none() {
        let variables = if *with == Opener::Pager { "PAGER" } else { "VISUAL or EDITOR" };
        let why = format!("cannot find {program:?} on the PATH: set {variables} in the environment");
        return Ok(Msg::Shown(Some(why)));
    }
    let file = match TempCopy::new(name, text.as_bytes()) {
        Ok(file) => file,
        Err(error) => return Ok(Msg::Shown(Some(format!("cannot create a temporary copy: {error}")))),
    };
    let status = run(&mut programs::shell(&line, &file.file), gate, screen)?;
    let failure = match status {
        Err(error) => Some(format!("cannot start {program}: {error}")),
        Ok(status) => failure(&program, status),
    };
    Ok(match (failure, with, file.text()) {
        (None, Opener::NameEditor | Opener::TitleEditor, Some(names)) => Msg::Names(Some(names)),
        (None, Opener::MessageEditor, Some(now)) => match now == *text {
            true => Msg::Shown(None),
            false => Msg::Edited(now),
        },
        (None, Opener::Editor, Some(now)) if now != *text => {
            Msg::Shown(Some("the edited file was a copy; the session is unchanged".into()))
        }
        (failure, ..) => Msg::Shown(failure),
    })
}

/// Edits a text in the user's editor, for the command line. Returns the edited text.
///
/// # Errors
/// There is no editor, or it failed.
pub(crate) fn edit(name: &str, text: &str) -> Result<String> {
    let line = command_line(Opener::Editor).context("no editor configured; set VISUAL or EDITOR")?;
    let program = line.split_whitespace().next().unwrap_or_default().to_owned();
    let file = TempCopy::new(name, text.as_bytes()).context("cannot create a temporary copy")?;
    signals::lend_terminal();
    let status = programs::run(&mut programs::shell(&line, &file.file));
    let status = status.with_context(|| format!("cannot start {program}"))?;
    failure(&program, status).map_or(Ok(()), |why| Err(anyhow!("{why}")))?;
    file.text().context("cannot read the edited text")
}

/// Returns the configured or the default program, or `None` without an editor.
fn command_line(with: Opener) -> Option<String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    match with {
        Opener::Editor | Opener::NameEditor | Opener::TitleEditor | Opener::MessageEditor => {
            named("VISUAL").or_else(|| named("EDITOR"))
        }
        Opener::Pager => {
            let pager =
                named("PAGER").unwrap_or_else(|| if program::find("less").is_some() { "less" } else { "more" }.into());
            Some(staying_open(pager))
        }
    }
}

/// Returns the pager for output of the command line: `$PAGER`, which can have options but no shell syntax.
pub(crate) fn pager() -> Option<Command> {
    let line = std::env::var("PAGER").ok()?;
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().filter(|program| *program != "cat")?);
    command.args(words);
    // As gh does: a text that fits is printed, with its colors.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    Some(command)
}

/// Adds options to a pager that would exit at once on a short text.
fn staying_open(pager: String) -> String {
    let program = pager.split_whitespace().next().unwrap_or_default();
    match program.rsplit('/').next() {
        Some("less") => format!("{pager} -+F"),
        Some("cat") => "less -+F".into(),
        _ => pager,
    }
}

/// Starts pi on a session, in its directory or the recorded replacement. Replaces this process and only returns on
/// failure, or with a gate, runs pi until it exits.
///
/// # Errors
/// The terminal cannot be restored.
pub(super) fn resume(
    (setting, wanted): (&Settings, Start),
    state: Option<&Path>,
    (screen, returns): (&mut Screen, Option<&InputGate>),
) -> Result<Msg> {
    if machine_paths::is_mirrored(&wanted.path) {
        return resume_elsewhere(setting, &wanted, (screen, returns));
    }
    let pi = &setting.config.pi;
    let start = there(&wanted, state);
    let launch = Launch { pi, start: &start };
    let ended = |status| {
        state.into_iter().for_each(|state| status::close(state, &start.path, now()));
        failure("pi", status)
    };
    start_pi(launch.command(), &ended, &|error| launch.not_started(error), (screen, returns))
}

/// Resumes a session on its machine, in this terminal.
fn resume_elsewhere(
    settings: &Settings,
    wanted: &Start,
    (screen, returns): (&mut Screen, Option<&InputGate>),
) -> Result<Msg> {
    let start = match remote_start(settings, wanted) {
        Ok(start) => start,
        Err(error) => return Ok(Msg::NotResumed(format!("{error:#}"))),
    };
    let ended = |status| failure(&start.machine, status);
    start_pi(start.command(), &ended, &|error| start.not_started(error), (screen, returns))
}

/// Starts pi and waits for it if pitree returns, or else replaces this process. Failures and the end of pi are converted to
/// a message.
fn start_pi(
    command: Result<Command, String>,
    ended: &dyn Fn(ExitStatus) -> Option<String>,
    not_started: &dyn Fn(&str) -> String,
    (screen, returns): (&mut Screen, Option<&InputGate>),
) -> Result<Msg> {
    let mut command = match command {
        Ok(command) => command,
        Err(reason) => return Ok(Msg::NotResumed(reason)),
    };
    let error = match returns {
        Some(gate) => match run(&mut command, gate, screen)? {
            Ok(status) => return Ok(Msg::Returned(ended(status))),
            Err(error) => error,
        },
        None => screen.pause(|| terminal::replaced(|| programs::replace_process(&mut command)))?.0,
    };
    Ok(Msg::NotResumed(not_started(&error.to_string())))
}

fn remote_start(settings: &Settings, wanted: &Start) -> Result<RemoteStart> {
    RemoteStart::new(&wanted.path, wanted.entry.as_deref(), &settings.machines, &settings.config.sync)
}

/// Returns the shell command that resumes a session, on its machine.
pub(super) fn command_line_of(settings: &Settings, start: &Start, state: Option<&Path>) -> String {
    if !machine_paths::is_mirrored(&start.path) {
        return launch::line(&settings.config.pi, start, state);
    }
    match remote_start(settings, start) {
        Ok(start) => start.line(),
        Err(error) => format!("# {error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_seen() {
        assert_eq!(staying_open("less -FRX".into()), "less -FRX -+F");
        assert_eq!(staying_open("/usr/bin/less".into()), "/usr/bin/less -+F");
        assert_eq!((staying_open("cat".into()), staying_open("bat -p".into())), ("less -+F".into(), "bat -p".into()));
    }
}
