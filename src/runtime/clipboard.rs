//! The clipboard: through the terminal (OSC 52), which also works over ssh, and through the clipboard program of the
//! desktop.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;

use crate::disk::program;
use crate::runtime::terminal;

/// The maximum length in bytes of a text for terminals: 100,000 when encoded.
const LONGEST: usize = 74_994;
/// The maximum time for a clipboard program. Programs that serve the clipboard continue in the background.
const PROGRAM_TIMEOUT: Duration = Duration::from_millis(700);

/// Copies text to the clipboard. Returns `true` if this may have worked.
pub fn copy(text: &str) -> bool {
    let text = clean(text);
    let is_sent = give_to_terminal(&text);
    give_to_programs(&text) || is_sent
}

/// Removes control characters except line breaks and tabs.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|&c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Sends text to the terminal, which does not confirm it. Returns `true` if the terminal may support it.
pub(super) fn give_to_terminal(text: &str) -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let to_terminal = || terminal::output().and_then(|mut out| execute!(out, CopyToClipboard::to_clipboard_from(text)));
    terminal_takes(&term, text.len()) && to_terminal().is_ok()
}

/// Passes text to the clipboard programs of the desktop, which can take a while. Returns `true` if one succeeded.
pub(super) fn give_to_programs(text: &str) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    // A loop instead of `any`, because each program serves a separate clipboard.
    let mut is_taken = false;
    for (_, command) in PROGRAMS.iter().filter(|(condition, _)| condition.is_none_or(set)) {
        is_taken |= feed(command, text.to_string());
    }
    is_taken
}

/// Programs that read the text from standard input, with the environment variable that must be set.
const PROGRAMS: &[(Option<&str>, &[&str])] = &[
    (Some("TMUX"), &["tmux", "load-buffer", "-w", "-"]),
    (Some("WAYLAND_DISPLAY"), &["wl-copy"]),
    (Some("DISPLAY"), &["xclip", "-selection", "clipboard"]),
    #[cfg(target_os = "macos")]
    (None, &["pbcopy"]),
];

/// Returns the available ways to the clipboard. The terminal does not confirm that it supports its own.
pub(crate) fn ways() -> Vec<&'static str> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_usable = |condition: &Option<&str>| condition.is_none_or(set);
    let programs =
        PROGRAMS.iter().filter(|(condition, _)| is_usable(condition)).filter_map(|(_, command)| command.first());
    let found = programs.copied().filter(|name| program::find(name).is_some());
    let term = std::env::var("TERM").unwrap_or_default();
    found.chain(terminal_takes(&term, 0).then_some("the terminal (OSC 52)")).collect()
}

/// Returns `true` if a terminal may handle escape sequences of this length.
pub(super) fn terminal_takes(term: &str, bytes: usize) -> bool {
    !matches!(term, "" | "dumb" | "linux") && bytes <= LONGEST
}

/// Runs a program with the text as input, with a time limit.
fn feed(command: &[&str], text: String) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let quiet =
        Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = quiet else { return false };
    let (sender, result) = mpsc::channel();
    thread::spawn(move || {
        let fed = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
        let done = fed.and_then(|()| child.wait()).is_ok_and(|status| status.success());
        let _ = sender.send(done); // the receiver may be gone
    });
    result.recv_timeout(PROGRAM_TIMEOUT).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_every_terminal_takes_every_text() {
        assert!(terminal_takes("xterm-256color", LONGEST));
        assert!(!terminal_takes("xterm-256color", LONGEST + 1));
        for term in ["", "dumb", "linux"] {
            assert!(!terminal_takes(term, 1), "{term}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_fed_and_not_waited_for_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("text");
        let to = format!("cat > '{}'", file.display());
        assert!(feed(&["sh", "-c", &to], "a\nb".into()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a\nb");
        assert!(!feed(&["sh", "-c", "exit 3"], "a".into()));
        assert!(!feed(&["/nowhere/program"], "a".into()));
        assert!(!feed(&["sleep", "5"], "a".repeat(1_000_000)));
    }
}
