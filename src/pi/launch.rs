//! Launches pi on a session: the command for a shell, and the program with its arguments. The session is named by the path
//! of its file, because an id can match a session of another project (pi 0.87.1).

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use crate::base::shell::quote;
use crate::disk::{locate, program, relocations};
use crate::pi::{extension, version};
use crate::system::programs;

/// What pi is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The session file.
    pub path: PathBuf,
    /// The working directory; empty if the file names none.
    pub cwd: String,
    /// What pi is told first, by the extension that understands it: where it goes by itself.
    pub first: Option<String>,
}

/// A pi, by its command, and what it is started with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) pi: &'a [String],
    pub(crate) start: &'a Start,
}

impl Launch<'_> {
    /// Lets pi take the place of this process. Returns only if that is not possible: why, and what to do, on several lines.
    pub(crate) fn replace_process(&self) -> String {
        match self.command() {
            Ok(mut command) => self.not_started(&programs::replace_process(&mut command).to_string()),
            Err(reason) => reason,
        }
    }

    /// The command that goes on with a session, for a shell: with the way to its directory, unless that is gone or unknown.
    pub(crate) fn command_line(&self) -> String {
        let words: Vec<String> = self.words().iter().map(quote).collect();
        let cwd = &*self.start.cwd;
        let there = if is_there(cwd) { format!("cd {} && ", quote(from_root(Path::new(cwd)))) } else { String::new() };
        there + &words.join(" ")
    }

    /// The program and the arguments that go on with a session.
    pub(crate) fn words(&self) -> Vec<OsString> {
        self.pi.iter().map(OsString::from).chain(self.arguments()).collect()
    }

    /// What stands behind pi's own command.
    fn arguments(&self) -> Vec<OsString> {
        let told = self.start.first.as_ref().and_then(|first| Some((extension().ok()?, first)));
        let extension = told.iter().flat_map(|(file, _)| ["-e".into(), OsString::from(file)]);
        let session = ["--session".into(), from_root(&self.start.path)];
        extension.chain(session).chain(told.as_ref().map(|(_, first)| first.into())).collect()
    }

    /// Returns the command that starts pi.
    ///
    /// # Errors
    /// The reason why pi cannot be started, with the command to run by hand.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let (pi, cwd) = (self.pi, &*self.start.cwd);
        let Some((name, arguments)) = pi.split_first() else {
            return Err("The setting pi in config.toml names no command.".into());
        };
        let by_hand = || self.command_line();
        if !cwd.is_empty() && !is_there(cwd) {
            return Err(format!(
                "To go on elsewhere, run this there:\n{}\n\nThe session's directory is gone: {cwd}",
                by_hand()
            ));
        }
        let Some(found) = program::find(name) else {
            return Err(format!(
                "To resume by hand:\n{}\n\nThere is no {name} on the PATH. Install pi, or name its command in \
                 config.toml (pi = [\"…\"]).",
                by_hand()
            ));
        };
        // Without its extension pi would open the session at the leaf.
        if let (Some(_), Err(reason)) = (&self.start.first, extension()) {
            return Err(format!("pi cannot go to the entry: {reason}"));
        }
        let mut command = Command::new(found);
        command.args(arguments).args(self.arguments());
        if !cwd.is_empty() {
            command.current_dir(cwd);
        }
        Ok(command)
    }

    /// Describes a failed start, with the command to run by hand.
    pub(crate) fn not_started(&self, error: &str) -> String {
        let program = self.pi.first().map_or("pi", String::as_str);
        format!("To resume by hand:\n{}\n\n{program} could not be started: {error}", self.command_line())
    }
}

/// The reason why pi does not go to an entry by itself where the configuration asks for a line.
pub(crate) const GOES_BY_LINE: &str = "go-by is \"line\" in config.toml";

/// Checks that pi can go to an entry by itself: it is new enough, and pitree can write the extension for that.
///
/// # Errors
/// The reason why not, without a period.
pub(crate) fn goes_by_itself(pi: &[String], state: Option<&Path>) -> Result<(), String> {
    version::goes(pi, state)?;
    extension().map(drop)
}

/// Returns the file of that extension.
///
/// # Errors
/// The reason why it cannot be written.
fn extension() -> Result<PathBuf, String> {
    let cache = locate::cache_dir().ok_or("no home directory for its extension; set HOME")?;
    extension::file(&cache).map_err(|error| format!("cannot write its extension to {}: {error}", cache.display()))
}

/// A path that is no option and no word with a meaning of its own, such as `-` to `cd`.
fn from_root(path: &Path) -> OsString {
    absolute(path).unwrap_or_else(|_| path.to_path_buf()).into()
}

/// The command that goes on from a start, for a shell, in what its directory was said to be now if it is gone.
pub(crate) fn line(pi: &[String], start: &Start, state: Option<&Path>) -> String {
    Launch { pi, start: &there(start, state) }.command_line()
}

/// The same start in what its directory was said to be now, if it is gone.
pub(crate) fn there(start: &Start, state: Option<&Path>) -> Start {
    Start { cwd: place(&start.cwd, state), ..start.clone() }
}

/// The directory of a session, or what it was said to be now if it is gone.
pub(crate) fn place(cwd: &str, state: Option<&Path>) -> String {
    relocations::now(state, cwd).map_or_else(|| cwd.into(), |place| place.to_string_lossy().into_owned())
}

/// Whether a session's directory is known and still there.
pub fn is_there(cwd: &str) -> bool {
    !cwd.is_empty() && Path::new(cwd).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_the_shell() {
        let pi = ["pi".to_string(), "--model".into(), "a b".into()];
        let session = Path::new("/s/it's.jsonl");
        let line = |cwd: &str| {
            let start = Start { path: session.into(), cwd: cwd.into(), first: None };
            Launch { pi: &pi, start: &start }.command_line()
        };
        assert_eq!(line("/gone or not"), r"pi --model 'a b' --session '/s/it'\''s.jsonl'");
        assert_eq!(line("/"), r"cd / && pi --model 'a b' --session '/s/it'\''s.jsonl'");
    }
}
