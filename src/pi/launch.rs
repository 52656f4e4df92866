//! Launches pi on a session: the command for a shell, and the program with its arguments. The session is identified by
//! the path of its file, because an id can match a session of another project (pi 0.87.1).

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use crate::disk::{locate, program, relocations};
use crate::pi::{extension, version};
use crate::system::programs;

/// The session, directory and first message with which pi starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The session file.
    pub path: PathBuf,
    /// The working directory; empty if the file names none.
    pub cwd: String,
    /// The first message for pi: a command of pitree's extension that navigates to an entry.
    pub first: Option<String>,
    /// `true` if pi forks the session into its working directory, instead of opening it.
    pub forks: bool,
    /// The ID of the entry to resume at, for a session of another machine; `None` for the leaf.
    pub entry: Option<String>,
}

/// The command of pi and its start parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) pi: &'a [String],
    pub(crate) start: &'a Start,
}

impl Launch<'_> {
    /// Replaces this process with pi. Only returns on failure, with the reason and a fix on several lines.
    pub(crate) fn replace_process(&self) -> String {
        match self.command() {
            Ok(mut command) => self.not_started(&programs::replace_process(&mut command).to_string()),
            Err(reason) => reason,
        }
    }

    /// Returns the shell command that resumes a session. It first changes to the working directory, unless that is
    /// missing or unknown.
    pub(crate) fn command_line(&self) -> String {
        let cwd = &*self.start.cwd;
        let dir = is_there(cwd).then(|| from_root(Path::new(cwd)));
        programs::user_shell().command_line(dir.as_deref(), &self.words())
    }

    /// Returns the program and the arguments that resume a session.
    pub(crate) fn words(&self) -> Vec<OsString> {
        self.pi.iter().map(OsString::from).chain(self.arguments()).collect()
    }

    /// Returns the arguments after the command of pi.
    fn arguments(&self) -> Vec<OsString> {
        let reported = self.start.first.as_ref().and_then(|first| Some((extension().ok()?, first)));
        let extension = reported.iter().flat_map(|(file, _)| ["-e".into(), OsString::from(file)]);
        let option = if self.start.forks { "--fork" } else { "--session" };
        let session = [option.into(), from_root(&self.start.path)];
        extension.chain(session).chain(reported.as_ref().map(|(_, first)| first.into())).collect()
    }

    /// Returns the command that starts pi.
    ///
    /// # Errors
    /// The reason why pi cannot be started, with the command to run by hand.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let (pi, cwd) = (self.pi, &*self.start.cwd);
        let Some((name, arguments)) = pi.split_first() else {
            return Err("The setting pi in config.toml is empty; set it to the command of pi.".into());
        };
        let by_hand = || self.command_line();
        if !cwd.is_empty() && !is_there(cwd) {
            return Err(format!(
                "To resume from another directory, run this there:\n{}\n\nThe session's working directory is missing: {cwd}",
                by_hand()
            ));
        }
        let Some(found) = program::find(name) else {
            return Err(format!(
                "To resume by hand:\n{}\n\ncannot find {name} on the PATH; install pi, or set its command in \
                 config.toml (pi = [\"…\"]).",
                by_hand()
            ));
        };
        // Without its extension, pi would open the session at the leaf.
        if let (Some(_), Err(reason)) = (&self.start.first, extension()) {
            return Err(format!("pi cannot navigate to the entry: {reason}"));
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
        format!("To resume by hand:\n{}\n\ncannot start {program}: {error}", self.command_line())
    }
}

/// The reason for moving the leaf, if the configuration requires it.
pub(crate) const GOES_BY_LINE: &str = "go-by is \"line\" in config.toml";

/// Checks that pi can navigate to an entry: it is recent enough, and pitree can write the extension.
///
/// # Errors
/// The reason, without a period.
pub(crate) fn goes_by_itself(pi: &[String], state: Option<&Path>) -> Result<(), String> {
    version::goes(pi, state)?;
    extension().map(drop)
}

/// Returns the file of the extension.
///
/// # Errors
/// The reason why it cannot be written.
fn extension() -> Result<PathBuf, String> {
    let cache = locate::cache_dir().ok_or("no home directory for its extension; set HOME")?;
    extension::file(&cache).map_err(|error| format!("cannot write its extension to {}: {error}", cache.display()))
}

/// Makes a path absolute, so that it is neither an option nor a special argument such as `-` of `cd`.
fn from_root(path: &Path) -> OsString {
    absolute(path).unwrap_or_else(|_| path.to_path_buf()).into()
}

/// Returns the shell command that resumes a session, in the replacement of its directory if that is missing.
pub(crate) fn line(pi: &[String], start: &Start, state: Option<&Path>) -> String {
    Launch { pi, start: &there(start, state) }.command_line()
}

/// Replaces a missing directory by its recorded replacement.
pub(crate) fn there(start: &Start, state: Option<&Path>) -> Start {
    Start { cwd: place(&start.cwd, state), ..start.clone() }
}

/// Returns the directory of a session, or its recorded replacement if it is missing.
pub(crate) fn place(cwd: &str, state: Option<&Path>) -> String {
    relocations::now(state, cwd).map_or_else(|| cwd.into(), |place| place.to_string_lossy().into_owned())
}

/// Returns `true` if the directory of a session is known and exists.
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
            let start = Start { path: session.into(), cwd: cwd.into(), first: None, forks: false, entry: None };
            Launch { pi: &pi, start: &start }.command_line()
        };
        assert_eq!(line("/gone or not"), r"pi --model 'a b' --session '/s/it'\''s.jsonl'");
        assert_eq!(line("/"), r"cd / && pi --model 'a b' --session '/s/it'\''s.jsonl'");
    }
}
