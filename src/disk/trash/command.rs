//! Runs a command that moves a file to the trash, with a time limit.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use thiserror::Error;

use crate::base::numbers::count;
use crate::disk::lock::{LockObserver, QUIET};
use crate::disk::program::{self, CapturedOutput};
use crate::system::programs;

/// The maximum wait for remaining output; a background child can keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The command did not finish; the file was not moved.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct CommandTimeout(String);

/// Runs a command that moves a file.
///
/// # Errors
/// The file was not moved: the command cannot be run, failed, or exceeded its limit ([`CommandTimeout`]), or `wait`
/// returned `false`.
pub(super) fn run(
    program: &str,
    arguments: &[String],
    path: &Path,
    limit: Duration,
    wait: LockObserver<'_>,
) -> Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = programs::start_apart(&mut command).with_context(|| format!("cannot run {program}"))?;
    let words = CapturedOutput::short(child.stderr.take());
    let status = ended(&mut child, program, limit, wait);
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let status = status?;
    let output = words.text(LAST_WORDS);
    match output.trim() {
        "" if status.success() => bail!("{program} left the file where it was"),
        "" => bail!("{program} failed ({status})"),
        output => bail!("{program} printed: {output}"),
    }
}

/// Waits for a command, and ends it at the limit.
fn ended(child: &mut Child, program: &str, limit: Duration, wait: LockObserver<'_>) -> Result<ExitStatus> {
    let (who, mut is_given_up) = (format!("{program} (pid {})", child.id()), false);
    let status = program::ended(child, |elapsed| {
        is_given_up = elapsed >= QUIET && wait(&who).is_break();
        is_given_up || elapsed >= limit
    })?;
    let seconds = count(usize::try_from(limit.as_secs())?, "second", "seconds");
    let hangs = || match is_given_up {
        true => format!("{program} was stopped before it finished"),
        false => format!("{program} timed out after {seconds} and was stopped"),
    };
    Ok(status.ok_or_else(|| CommandTimeout(hangs()))?)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn run_sh(script: &str, limit: Duration) -> (bool, String) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let arguments = ["-c".to_string(), script.to_string(), "sh".into()];
        let result = run("sh", &arguments, &file, limit, &mut |_| ControlFlow::Continue(()));
        (file.exists(), result.err().map_or(String::new(), |error| format!("{error:#}")))
    }

    #[test]
    fn the_file_tells_what_a_command_did() {
        let long = Duration::from_secs(60);
        assert_eq!(run_sh("rm \"$1\"; exit 3", long), (false, String::new()));
        assert_eq!(run_sh("exit 0", long), (true, "sh left the file where it was".into()));
        assert!(run_sh("exit 3", long).1.contains("failed"));
        assert_eq!(run_sh("echo no room >&2; exit 3", long), (true, "sh printed: no room".into()));
        // A background child can keep the pipe open.
        assert!(run_sh("sleep 30 & exit 3", long).1.contains("failed"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_those_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let alive = dir.path().join("alive");
        let script = format!("(sleep 1; touch '{}') & sleep 60", alive.display());
        let (is_there, why) = run_sh(&script, Duration::from_millis(100));
        assert!(is_there && why.contains("timed out"), "{why}");
        thread::sleep(Duration::from_millis(1500));
        assert!(!alive.exists());
        let begun = Instant::now();
        let arguments = ["-c".to_string(), "sleep 60".into(), "sh".into()];
        let mut told = Vec::new();
        let mut give_up = |who: &str| {
            told.push(who.to_string());
            ControlFlow::Break(())
        };
        let error = run("sh", &arguments, dir.path(), Duration::from_secs(60), &mut give_up).unwrap_err();
        assert!(format!("{error:#}").contains("was stopped before") && begun.elapsed() < Duration::from_secs(20));
        assert!(told.len() == 1 && told[0].starts_with("sh (pid "), "{told:?}");
    }
}
