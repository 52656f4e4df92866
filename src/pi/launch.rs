//! Launches pi on a session: the command for a shell, and the program with its arguments. The session is identified by
//! the path of its file, because an id can match a session of another project (pi 0.87.1). With an extension, which is
//! embedded in pitree and written to the cache, pi navigates to an entry.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;
use std::{fs, io};

use twox_hash::XxHash3_64;

use crate::base::shell::Shell;
use crate::disk::{create, locate, new_file, program, relocations};
use crate::pi::version;
use crate::system::{files as system_files, programs};

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
        let shell = programs::user_shell();
        let words = if shell == Shell::Posix { environment() } else { Vec::new() };
        shell.command_line(dir.as_deref(), &[words, self.words()].concat())
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

/// Returns the words before a command with which pi finds the same agent directory, if the environment sets it.
fn environment() -> Vec<OsString> {
    let Some(dir) = program::variable("PI_CODING_AGENT_DIR").filter(|dir| !dir.is_empty()) else { return Vec::new() };
    let mut variable = OsString::from("PI_CODING_AGENT_DIR=");
    variable.push(from_root(&locate::expand(&dir, &locate::Environment::current().home)));
    vec!["env".into(), variable]
}

/// The reason for moving the leaf, if the configuration requires it.
pub(crate) const GOES_BY_LINE: &str = "go-by is \"line\" in config.toml";

/// Checks that pi can navigate to an entry: it is recent enough, and pitree can write the extension.
///
/// # Errors
/// The reason, without a period.
pub(crate) fn goes_by_itself(pi: &[String], state: Option<&Path>) -> Result<(), String> {
    version::check_navigation(pi, state)?;
    extension().map(drop)
}

/// Returns the file of the extension.
///
/// # Errors
/// The reason why it cannot be written.
fn extension() -> Result<PathBuf, String> {
    let cache = locate::cache_dir().ok_or("no home directory for its extension; set HOME")?;
    extension_file(&cache).map_err(|error| format!("cannot write its extension to {}: {error}", cache.display()))
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

/// The text of the extension.
const EXTENSION: &str = include_str!("../../assets/pi/goto.ts");

/// Returns the file of the extension in the cache directory, and writes it if needed. Its name is a checksum of its
/// text, so that other versions of pitree and printed commands keep their own files.
///
/// pi executes the file, so it must be in a directory that no other user can write to.
///
/// # Errors
/// The file cannot be written, or another user could replace it.
pub(crate) fn extension_file(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join("pi");
    let was_private = folder.metadata().is_ok_and(|folder| system_files::is_private(&folder));
    create::private_folder(cache)?;
    create::private_folder(&folder)?;
    let folder = system_files::private_dir(&folder).map_err(|error| {
        io::Error::new(error.kind(), format!("{error}; set XDG_CACHE_HOME to a directory of your own"))
    })?;
    let path = folder.join(format!("goto-{:016x}.ts", XxHash3_64::oneshot(EXTENSION.as_bytes())));
    // A file created while others could write to the directory may still be open in their programs.
    let is_ours =
        was_private && path.symlink_metadata().is_ok_and(|file| file.is_file() && system_files::is_private(&file));
    if !is_ours || fs::read(&path).is_ok_and(|text| text != EXTENSION.as_bytes()) {
        new_file::replace(&path, EXTENSION.as_bytes())?;
    }
    Ok(path)
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

#[cfg(test)]
mod extension_tests {
    use super::*;

    #[test]
    fn what_lies_there_is_what_pitree_carries() {
        let cache = tempfile::tempdir().unwrap();
        let path = extension_file(cache.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), EXTENSION);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777, 0o600);
        fs::write(&path, "something else").unwrap();
        assert_eq!(extension_file(cache.path()).unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), EXTENSION);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let other = cache.path().join("other");
            fs::write(&other, "other").unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(&other, &path).unwrap();
            extension_file(cache.path()).unwrap();
            assert!(path.symlink_metadata().unwrap().is_file());
            assert_eq!(fs::read_to_string(&other).unwrap(), "other", "a link is not followed");
        }
    }
    #[cfg(unix)]
    #[test]
    fn other_users_cannot_write_to_it() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let temp = tempfile::tempdir().unwrap();
        let parent = temp.path().join("parent");
        let cache = parent.join("cache");
        fs::create_dir_all(cache.join("pi")).unwrap();
        set_mode(&cache.join("pi"), 0o777);
        let path = extension_file(&cache).unwrap();
        assert_eq!(cache.join("pi").metadata().unwrap().mode() & 0o777, 0o700);

        // Another user may still have the formerly writable file open.
        let before = path.metadata().unwrap().ino();
        assert_eq!(extension_file(&cache).unwrap().metadata().unwrap().ino(), before);
        fs::hard_link(&path, cache.join("keeps the inode")).unwrap();
        for unsafe_once in [&path, &cache.join("pi")] {
            set_mode(unsafe_once, 0o777);
            assert_ne!(extension_file(&cache).unwrap().metadata().unwrap().ino(), before, "{}", unsafe_once.display());
            fs::remove_file(&path).unwrap();
            fs::hard_link(cache.join("keeps the inode"), &path).unwrap();
            set_mode(&path, 0o600);
        }

        set_mode(&cache, 0o777);
        assert!(extension_file(&cache).is_ok() && cache.metadata().unwrap().mode() & 0o777 == 0o700);
        set_mode(&parent, 0o777);
        let error = extension_file(&cache).unwrap_err().to_string();
        assert!(error.contains("is writable by all users; set XDG_CACHE_HOME"), "{error}");
        set_mode(&parent, 0o1777);
        assert!(extension_file(&cache).is_ok(), "a sticky directory is safe");

        // Only root can change the owner of a directory.
        if chown(cache.join("pi"), Some(65534), None).is_ok() {
            let error = extension_file(&cache).unwrap_err().to_string();
            assert!(error.contains("belongs to another user"), "{error}");
        }
    }
}
