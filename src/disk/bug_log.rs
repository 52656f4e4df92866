//! The log for bug reports, and the file that a panic leaves. Neither contains texts of sessions. Messages of errors and
//! panics can quote such texts, so only their kinds and places are recorded.

use std::backtrace::Backtrace;
use std::fmt::{self, Debug, Write as _};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, Error, Result};

use crate::disk::{create, locate, new_file};

/// The environment variables that describe the terminal.
const TERMINAL: [&str; 6] = ["TERM", "TERM_PROGRAM", "COLORTERM", "LANG", "TMUX", "SSH_TTY"];

/// The log and the time of its start, if there is one.
static LOG: OnceLock<(File, Instant)> = OnceLock::new();

/// Starts the log in `file` or else in the file that `PITREE_LOG` names. An existing file is continued.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn start(file: Option<&Path>) -> Result<()> {
    let named = || std::env::var_os("PITREE_LOG").filter(|name| !name.is_empty()).map(PathBuf::from);
    let Some(path) = file.map(Path::to_path_buf).or_else(named) else { return Ok(()) };
    let opened = create::private().create(true).append(true).open(&path);
    let log = opened.with_context(|| format!("cannot write the log {}", path.display()))?;
    let _ = LOG.set((log, Instant::now())); // started once
    note(format_args!("{}", about()));
    Ok(())
}

/// Adds a line to the log, with the seconds since its start.
pub(crate) fn note(line: fmt::Arguments<'_>) {
    if let Some((log, begun)) = LOG.get() {
        let line = format!("{:8.3} {line}\n", begun.elapsed().as_secs_f64());
        let _ = (&*log).write_all(line.as_bytes()); // a full disk must not stop pitree
    }
}

/// Adds the kind of an error to the log.
pub(crate) fn error(error: &Error) {
    let of_system = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>());
    match of_system.map(|error| (error.raw_os_error(), error.kind())) {
        Some((Some(code), _)) => note(format_args!("error: {}", io::Error::from_raw_os_error(code))),
        Some((None, kind)) => note(format_args!("error: {kind}")),
        None => note(format_args!("error of pitree")),
    }
}

/// Returns the name of an enum's variant, without its data.
pub(crate) fn variant(value: &impl Debug) -> String {
    struct Name(String);
    impl fmt::Write for Name {
        fn write_str(&mut self, name: &str) -> fmt::Result {
            self.0.push_str(name);
            Err(fmt::Error) // the data follows the name
        }
    }
    let mut name = Name(String::new());
    let _ = write!(name, "{value:?}");
    name.0
}

/// Saves the place of a panic and a backtrace in the state directory. Returns the file unless that fails.
pub(crate) fn save_panic(place: &str) -> Option<PathBuf> {
    note(format_args!("panic at {place}"));
    let dir = locate::user_state_dir()?;
    create::private_folder(&dir).ok()?;
    let file = dir.join("panic.txt");
    let report = format!("{}\npanic at {place}\n{}", about(), Backtrace::force_capture());
    new_file::replace(&file, report.as_bytes()).ok()?;
    Some(file)
}

/// Describes pitree, the system and the terminal.
fn about() -> String {
    let (version, os, cpu) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let variables = TERMINAL.iter().filter_map(|name| Some(format!(" {name}={:?}", std::env::var_os(name)?)));
    variables.fold(format!("pitree {version} on {os} {cpu}"), |text, variable| text + &variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::catch_panic;

    #[test]
    #[ignore = "run by the next test in a subprocess"]
    fn panics() {
        start(None).unwrap();
        catch_panic::install_hook(save_panic);
        let told = catch_panic::catch(|| panic!("{}", "text of a session")).unwrap_err();
        assert!(told.contains("text of a session; please report it, with ") && told.ends_with("panic.txt"), "{told}");
        error(&io::Error::other("text of a session").into());
        error(&Error::new(io::Error::from_raw_os_error(2)).context("text of a session"));
        note(format_args!("{}", variant(&Some("text of a session"))));
        panic!("a message");
    }

    #[cfg(unix)]
    #[test]
    fn a_panic_leaves_a_private_file_without_its_message() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let log = home.path().join("log");
        let mut myself = std::process::Command::new(std::env::current_exe().unwrap());
        myself.args(["disk::bug_log::tests::panics", "--exact", "--ignored", "--nocapture"]);
        myself.env_remove("XDG_STATE_HOME").env("HOME", home.path()).env("PITREE_LOG", &log);
        let told = String::from_utf8(myself.output().unwrap().stderr).unwrap();
        let file = fs::read_dir(home.path().join(if cfg!(target_os = "macos") {
            "Library/Application Support/pitree"
        } else {
            ".local/state/pitree"
        }));
        let file = file.unwrap().next().unwrap().unwrap().path();
        assert!(told.contains("a message") && told.contains(file.to_str().unwrap()), "{told}");
        let [report, log] = [&file, &log].map(|file| {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::read_to_string(file).unwrap()
        });
        for text in
            [concat!("pitree ", env!("CARGO_PKG_VERSION")), "panic at src/disk/bug_log.rs:", "bug_log::tests::panics"]
        {
            assert!(report.contains(text), "{report}");
        }
        let lines: Vec<&str> = log.lines().map(|line| &line[9..]).collect();
        assert!(lines[0].starts_with("pitree ") && lines[1].starts_with("panic at src/disk/bug_log.rs:"), "{log}");
        let errors = ["error: other error", "error: No such file or directory (os error 2)", "Some"];
        assert_eq!(lines[2..], errors);
        assert!(!report.contains("text of"), "{report}");
    }
}
