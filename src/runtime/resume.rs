//! Resuming: the terminal goes back to what it was, and pi takes the place of this process, in the session's working
//! directory. By the path of the file: an id can match another project's session (pi 0.87.1).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::os;
use super::terminal::Screen;

/// Starts pi on a session. Returns only if that is not possible: why, and what to do.
///
/// # Errors
/// The terminal can't be taken back.
pub(super) fn resume(pi: &[String], session: &Path, cwd: &str, screen: &mut Screen) -> Result<String> {
    let session = std::path::absolute(session).unwrap_or_else(|_| session.to_path_buf());
    let by_hand = command_line(pi, &session);
    let Some((program, arguments)) = pi.split_first() else {
        return Ok("The setting pi in config.toml names no command.".into());
    };
    if !cwd.is_empty() && !Path::new(cwd).is_dir() {
        return Ok(format!("To go on elsewhere, run this there:\n{by_hand}\n\nThe session's directory is gone: {cwd}"));
    }
    let Some(found) = find(program) else {
        let why = format!(
            "There is no {program} on the PATH. Install pi, or name its command in config.toml (pi = [\"…\"])."
        );
        return Ok(format!("To resume by hand:\n{}{by_hand}\n\n{why}", change_to(cwd)));
    };
    let mut command = Command::new(found);
    command.args(arguments).arg("--session").arg(&session);
    if !cwd.is_empty() {
        command.current_dir(cwd);
    }
    let (error, _) = screen.pause(|| os::replace_process(&mut command))?;
    Ok(format!("To resume by hand:\n{}{by_hand}\n\n{program} could not be started: {error}", change_to(cwd)))
}

/// The command for a shell that resumes a session where it belongs, if that directory is still there.
pub(super) fn command(pi: &[String], session: &Path, cwd: &str) -> String {
    let session = std::path::absolute(session).unwrap_or_else(|_| session.to_path_buf());
    let change = if Path::new(cwd).is_dir() { change_to(cwd) } else { String::new() };
    change + &command_line(pi, &session)
}

fn change_to(cwd: &str) -> String {
    if cwd.is_empty() { String::new() } else { format!("cd {} && ", quote(cwd)) }
}

/// The command for a shell.
fn command_line(pi: &[String], session: &Path) -> String {
    let words = pi.iter().map(|word| quote(word)).chain(["--session".into(), quote(&session.to_string_lossy())]);
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The file that a command name means, from the root: the command runs in the session's directory.
fn find(program: &str) -> Option<PathBuf> {
    let is_path = Path::new(program).components().count() > 1;
    let dirs = if is_path { "".into() } else { std::env::var_os("PATH")? };
    let names = [program.to_string(), format!("{program}{}", std::env::consts::EXE_SUFFIX)];
    let files = std::env::split_paths(&dirs).flat_map(|dir| names.clone().map(|name| dir.join(name)));
    files.filter_map(|file| std::path::absolute(file).ok()).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_the_shell() {
        let pi = ["pi".to_string(), "--model".into(), "a b".into()];
        assert_eq!(command_line(&pi, Path::new("/s/it's.jsonl")), r"pi --model 'a b' --session '/s/it'\''s.jsonl'");
        assert_eq!(change_to("/a b"), "cd '/a b' && ");
        assert_eq!(quote(""), "''");
    }
}
