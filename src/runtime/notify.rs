//! Notifications about pis that want the user: through a program, or through the terminal as OSC 777 or OSC 9.

use std::io::{self, Write};
use std::time::Duration;

use crate::disk::{program, terminals};
use crate::pi::attention::PiNotification;
use crate::runtime::{clipboard, terminal};

/// The time limit of a program.
const LIMIT: Duration = Duration::from_secs(5);

/// The script of macOS. The texts are its arguments, so that they are never code.
const SCRIPT: &str = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/// Terminals that show OSC 777, by parts of their names in lower case: foot, Ghostty, WezTerm, and rxvt-unicode with an
/// extension. All others get OSC 9, which iTerm2 and kitty show.
const WITH_TITLE: [&str; 4] = ["foot", "ghostty", "wezterm", "rxvt"];

/// Notifies about the pis that do not have the focus: through a command to which title and text are appended, or, if it is
/// empty, in the way that fits. Returns the escape sequences to [`write()`].
///
/// # Errors
/// A program failed, or the terminal cannot show notifications. The others were sent.
pub(crate) fn send(command: &[String], notifications: &[PiNotification]) -> Result<String, String> {
    let unseen = notifications.iter().filter(|notification| !terminals::is_in_focus(notification.pid));
    let sent: Vec<Result<String, String>> = unseen.map(|notification| send_one(command, notification)).collect();
    sent.into_iter().collect()
}

fn send_one(command: &[String], notification: &PiNotification) -> Result<String, String> {
    let PiNotification { title, text, .. } = notification;
    let texts = [title.clone(), text.clone()];
    let words = if command.is_empty() { desktop(title, text) } else { Some([command, &texts].concat()) };
    match words.as_deref() {
        Some([program, arguments @ ..]) => program::read(program, arguments, LIMIT).map(|_| String::new()),
        _ => sequence(title, text),
    }
}

/// Returns the command that notifies through the desktop, if there is one.
fn desktop(title: &str, text: &str) -> Option<Vec<String>> {
    let is_set = |name: &str| program::variable(name).is_some_and(|value| !value.is_empty());
    let has = |name: &str| program::find(name).is_some();
    // `notify-send` reads markup and backslashes in the text, but not in the title.
    let marked = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\\', "\\\\");
    let words: &[&str] = match () {
        () if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && has("notify-send") => {
            &["notify-send", "--", title, &marked]
        }
        () if has("osascript") => &["osascript", "-e", SCRIPT, title, text],
        () => return None,
    };
    Some(words.iter().map(|&word| word.to_owned()).collect())
}

/// Returns the escape sequence that notifies through pitree's terminal.
fn sequence(title: &str, text: &str) -> Result<String, String> {
    let variable = |name: &str| program::variable(name).unwrap_or_default();
    let term = variable("TERM");
    // Windows Terminal sets no TERM.
    if !clipboard::terminal_takes(&term, 0) && variable("WT_SESSION").is_empty() {
        return Err("this terminal shows no notifications; set notify in config.toml to a program".into());
    }
    match terminals::around_tmux() {
        Some((false, _)) => Err("tmux drops notifications; add to tmux.conf: set -g allow-passthrough on".into()),
        Some((true, names)) => {
            let inner = sequence_for(&names, title, text).replace('\x1b', "\x1b\x1b");
            Ok(format!("\x1bPtmux;{inner}\x1b\\"))
        }
        None => Ok(sequence_for(&format!("{term} {}", variable("TERM_PROGRAM")), title, text)),
    }
}

/// Returns the escape sequence for a terminal with these names. As OSC 9, a text that starts with a number would have another
/// meaning in ConEmu and Windows Terminal.
fn sequence_for(names: &str, title: &str, text: &str) -> String {
    let names = names.to_lowercase();
    match WITH_TITLE.iter().any(|name| names.contains(name)) {
        true => format!("\x1b]777;notify;{};{text}\x1b\\", title.replace(';', ",")),
        false => format!("\x1b]9;{text}: {title}\x1b\\"),
    }
}

/// Writes escape sequences to the terminal.
///
/// # Errors
/// There is no terminal.
pub(crate) fn write(sequences: &str) -> io::Result<()> {
    if sequences.is_empty() {
        return Ok(());
    }
    let mut out = terminal::output()?;
    out.write_all(sequences.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_terminal_gets_its_sequence() {
        for names in
            ["foot", "xterm-ghostty ghostty", "xterm-256color WezTerm", "rxvt-unicode-256color", "1 foot(1.16.2) foot"]
        {
            assert_eq!(sequence_for(names, "a;b", "c;d"), "\x1b]777;notify;a,b;c;d\x1b\\", "{names}");
        }
        for names in ["xterm-kitty", "xterm-256color iTerm.app", "xterm-256color", "1 iTerm2 3.5 xterm", ""] {
            assert_eq!(sequence_for(names, "4;1", "pi is"), "\x1b]9;pi is: 4;1\x1b\\", "{names}");
        }
    }
}
