//! Detects the version of pi. It is cached until the program changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::fingerprint::FileMetadata;
use crate::disk::program::{self, CapturedOutput};
use crate::disk::state;
use crate::system::programs;

/// The oldest tested pi that navigates to an entry with `assets/pi/goto.ts`.
const SINCE: [u64; 3] = [0, 70, 6];

/// The maximum time for pi to print its version; starting takes most of a second.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of cached programs.
const KEPT: usize = 32;

/// The cached version of a pi program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct VersionRecord {
    stamp: FileMetadata,
    version: String,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// The cached versions by command.
#[derive(Default, Serialize, Deserialize)]
struct VersionCache {
    #[serde(default)]
    pis: BTreeMap<String, VersionRecord>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// The oldest pi that obeys context edits.
const EDITS_SINCE: [u64; 3] = [0, 87, 0];

/// Checks that the pi with the given command can navigate to an entry. Its version is cached in the state directory.
///
/// # Errors
/// The reason.
pub(crate) fn check_navigation(pi: &[String], state_dir: Option<&Path>) -> Result<(), String> {
    check(pi, state_dir, SINCE)
}

/// Checks that the pi with the given command obeys context edits.
///
/// # Errors
/// The reason.
pub(crate) fn obeys_context_edits(pi: &[String], state_dir: Option<&Path>) -> Result<(), String> {
    check(pi, state_dir, EDITS_SINCE)
}

/// Checks that the pi with the given command has at least a version.
fn check(pi: &[String], state_dir: Option<&Path>, since: [u64; 3]) -> Result<(), String> {
    let Some(name) = pi.first() else { return Err("the setting pi in config.toml is empty".into()) };
    if program::find(name).is_none() {
        return Err(format!("cannot find {name} on the PATH"));
    }
    let Some(version) = version(pi, state_dir) else { return Err(format!("{name} did not report its version")) };
    if numbers(&version).is_some_and(|version| version >= since) {
        return Ok(());
    }
    let [major, minor, patch] = since;
    Err(format!("{name} has version {version}; {major}.{minor}.{patch} or later is required"))
}

/// Returns the version of a pi, or `None` if it prints none.
pub(crate) fn version(pi: &[String], state_dir: Option<&Path>) -> Option<String> {
    let found = program::find(pi.first()?)?;
    let file = dunce::canonicalize(&found).ok()?;
    let stamp = FileMetadata::new(&file.metadata().ok()?, &file);
    let key = [&[found.to_string_lossy().into_owned()], &pi[1..]].concat().join(" ");
    let path = state_dir.map(|dir| dir.join("pi.json"));
    let known = path.as_deref().and_then(|path| state::read::<VersionCache>(path).ok()).unwrap_or_default();
    if let Some(asked) = known.pis.get(&key).filter(|asked| asked.stamp == stamp) {
        return Some(asked.version.clone());
    }
    let version = ask(Command::new(&found).args(&pi[1..]))?;
    let keep = |known: &mut VersionCache| {
        if known.pis.len() >= KEPT {
            known.pis.clear();
        }
        known.pis.insert(key, VersionRecord { stamp, version: version.clone(), other: BTreeMap::new() });
    };
    // If the cache cannot be written, pi is asked again next time.
    let _ = path.map(|path| state::update(&path, keep));
    Some(version)
}

/// Runs a program to get its version.
fn ask(command: &mut Command) -> Option<String> {
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.env("PI_OFFLINE", "1");
    let mut child = programs::start_apart(command).ok()?;
    let output = CapturedOutput::short(child.stdout.take());
    let begun = Instant::now();
    let status = program::ended(&mut child, |elapsed| elapsed >= VERSION_TIMEOUT).ok()??;
    // A background child can keep the pipe open.
    let output = status.success().then(|| output.text(VERSION_TIMEOUT.saturating_sub(begun.elapsed())))?;
    output.lines().map(str::trim).find(|line| numbers(line).is_some()).map(str::to_owned)
}

/// Parses the three numbers of a version.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let version = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn knows_versions() {
        assert_eq!([numbers("0.87.1"), numbers("v1.5.2-beta.1")], [Some([0, 87, 1]), Some([1, 5, 2])]);
        assert_eq!(["pi", "1.2", "1.2.3.4", ""].map(numbers), [None; 4]);
    }

    #[test]
    fn a_pi_is_asked_once_and_again_when_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pi");
        let program = |says: &str| {
            fs::write(&path, format!("#!/bin/sh\necho asked >> {}/asked\n{says}\n", dir.path().display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let command = [path.to_str().unwrap().to_string(), "--model".into(), "m".into()];
        let asked = || fs::read_to_string(dir.path().join("asked")).map_or(0, |text| text.lines().count());
        let goes = || super::check_navigation(&command, Some(&dir.path().join("state")));
        program("echo warning; echo 0.87.1");
        assert_eq!([goes(), goes()], [Ok(()), Ok(())]);
        assert_eq!(asked(), 1);
        program("echo v0.70.5; exit");
        assert!(goes().is_err_and(|reason| reason.ends_with("pi has version v0.70.5; 0.70.6 or later is required")));
        assert!(goes().is_err());
        assert_eq!(asked(), 2);
        for says in ["exit 1", "echo 9.9.9; exit 1", "echo no version"] {
            program(says);
            assert!(goes().is_err_and(|reason| reason.ends_with("did not report its version")), "{says}");
        }
        let goes = super::check_navigation(&["there-is-no-such-program".into()], None);
        assert_eq!(goes, Err("cannot find there-is-no-such-program on the PATH".into()));
        assert!(super::check_navigation(&[], None).is_err());
    }
}
