//! Resuming a session on its machine: pi starts there, in this terminal.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::base::machine_paths;
use crate::base::shell::quote;
use crate::config::{Config, SyncConfig};
use crate::disk::{load, locate, program};
use crate::machines::registry::{self, Machine};
use crate::machines::state;
use crate::machines::transport::Transport;
use crate::system::programs;

/// The command that resumes a session on its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteStart {
    /// The name of the machine.
    pub machine: String,
    /// The words of the command.
    pub words: Vec<String>,
}

impl RemoteStart {
    /// Prepares to resume a mirrored session, at an entry if it is not the leaf. Only a pitree on the machine can navigate
    /// to an entry.
    ///
    /// # Errors
    /// The machine is unknown, has no shell, or has no pitree although an entry is given.
    pub(crate) fn new(session: &Path, entry: Option<&str>, machines: &[Machine], sync: &SyncConfig) -> Result<Self> {
        let there = machine_paths::remote_path(session).unwrap_or_else(|| session.into());
        let there = there.to_string_lossy();
        let script = match entry {
            None => {
                let cwd = load::header(session).map(|header| header.cwd).unwrap_or_default();
                let change = if cwd.is_empty() { String::new() } else { format!("cd {} && ", quote(&*cwd)) };
                format!("{change}pi --session {}", quote(&*there))
            }
            Some(entry) => {
                let Some(program) = program_there(session) else {
                    let name = machine_paths::machine(session).unwrap_or_default();
                    bail!("resuming at an entry on {name} needs pitree there; install it, or resume at the leaf");
                };
                format!("{} resume -- {} {}", quote(program), quote(&*there), quote(entry))
            }
        };
        Self::running(&script, session, machines, sync)
    }

    /// Prepares to go to the terminal of the pi that has a mirrored session open: the pitree there does it.
    ///
    /// # Errors
    /// The machine is unknown, has no shell, or has no pitree.
    pub(crate) fn at_terminal(session: &Path, config: &Config) -> Result<Self> {
        let there = machine_paths::remote_path(session).unwrap_or_else(|| session.into());
        let name = machine_paths::machine(session).unwrap_or_default();
        let program = program_there(session);
        let program =
            program.with_context(|| format!("its terminal is on {name}, which has no pitree; install it there"))?;
        let script = format!("{} live --attach --go {}", quote(program), quote(&*there.to_string_lossy()));
        Self::running(&script, session, &registry::machines(config, locate::data_dir().as_deref())?, &config.sync)
    }

    /// Prepares to run a script on the machine of a mirrored session.
    fn running(script: &str, session: &Path, machines: &[Machine], sync: &SyncConfig) -> Result<Self> {
        let name = machine_paths::machine(session).unwrap_or_default();
        let machine = machines.iter().find(|machine| machine.name == name);
        let machine = machine.with_context(|| {
            format!(
                "the machine {name} is unknown; its mirror is kept. Run `pitree machine add {name}` to use it again"
            )
        })?;
        let transport = Transport { address: &machine.address, config: sync, can_ask: true };
        Ok(Self { machine: name.into(), words: transport.in_terminal(script)? })
    }

    /// Like [`new`](Self::new), with the machines of the configuration and the data directory.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), or the machines cannot be read.
    pub(crate) fn of(session: &Path, entry: Option<&str>, config: &Config) -> Result<Self> {
        let machines = registry::machines(config, locate::data_dir().as_deref())?;
        Self::new(session, entry, &machines, &config.sync)
    }

    /// Returns the command for a shell.
    pub(crate) fn line(&self) -> String {
        self.words.iter().map(quote).collect::<Vec<_>>().join(" ")
    }

    /// Returns the command.
    ///
    /// # Errors
    /// The reason why it cannot be started, with the command to run by hand.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let found: Option<(PathBuf, &[String])> =
            self.words.split_first().and_then(|(name, rest)| Some((program::find(name)?, rest)));
        let (program, arguments) = found.ok_or_else(|| {
            let name = self.words.first().map_or("", String::as_str);
            format!(
                "To resume by hand:\n{}\n\ncannot find {name} on the PATH; install it, or correct the address.",
                self.line()
            )
        })?;
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    /// Describes a failed start, with the command to run by hand.
    pub(crate) fn not_started(&self, error: &str) -> String {
        format!("To resume by hand:\n{}\n\ncannot start: {error}", self.line())
    }

    /// Replaces this process. Only returns on failure, with the reason.
    pub(crate) fn replace_process(&self) -> String {
        match self.command() {
            Ok(mut command) => self.not_started(&programs::replace_process(&mut command).to_string()),
            Err(reason) => reason,
        }
    }
}

/// Returns the pitree on the machine of a mirrored session.
fn program_there(session: &Path) -> Option<String> {
    let name = machine_paths::machine(session)?;
    state::read(&locate::state_dir()?, name).ok()?.program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Address;

    #[test]
    fn the_line_is_quoted_for_both_shells() {
        let dir = tempfile::tempdir().unwrap();
        let mirror = machine_paths::mirror(&machine_paths::mirrors_in(dir.path()), "box", "/s").unwrap();
        let session = mirror.join("it's.jsonl");
        std::fs::create_dir_all(&mirror).unwrap();
        std::fs::write(
            &session,
            r#"{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/a b"}"#,
        )
        .unwrap();
        let line = |address: &str| {
            let address = Address::parse(&[address.into()]).unwrap();
            let machine = Machine { name: "box".into(), address, is_configured: false };
            RemoteStart::new(&session, None, &[machine], &SyncConfig::default()).map(|start| start.line())
        };
        let quoted = line("ssh:ann@box").unwrap();
        assert!(quoted.starts_with("ssh -t ann@box 'cd "), "{quoted}");
        let words = |line: &str| {
            let output =
                std::process::Command::new("sh").arg("-c").arg(format!("printf '%s\\n' {line}")).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let script = words(&quoted).lines().last().unwrap().to_owned();
        assert_eq!(words(script.trim_start_matches("cd ").split(" && ").next().unwrap()), "/a b\n");
        assert_eq!(words(script.rsplit("--session ").next().unwrap()), "/s/it's.jsonl\n");
        assert!(line("docker:dev").unwrap().starts_with("docker exec -it dev sh -c 'cd "));
        assert!(line("dir:/mnt").is_err());
        assert!(RemoteStart::new(&session, None, &[], &SyncConfig::default()).is_err());
    }
}
