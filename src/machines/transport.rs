//! Commands that run a shell script on a machine: through the user's own ssh, docker, or another program. A value in a
//! script is quoted, and a name is never an option.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::base::shell::quote;
use crate::config::{Address, SyncConfig};
use crate::disk::{create, locate, program};

/// The seconds after which ssh gives up a connection.
const CONNECT_SECONDS: u64 = 8;

/// The seconds for which an idle connection of ssh is kept for the next command.
const KEPT_SECONDS: u64 = 120;

/// The time limit of `ssh -G`, which reads only files.
const CONFIG_LIMIT: Duration = Duration::from_secs(2);

/// A way to run commands on a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transport<'a> {
    pub(crate) address: &'a Address,
    pub(crate) config: &'a SyncConfig,
    /// `true` if ssh can ask for a password or confirmation in the terminal.
    pub(crate) can_ask: bool,
}

impl Transport<'_> {
    /// Returns the command that runs a script of a POSIX shell on the machine.
    ///
    /// # Errors
    /// The program is missing, or the address is a directory of this machine.
    pub(super) fn script(&self, script: &str) -> Result<Command> {
        let words = self.words(script)?;
        let mut command = self.program(&words)?;
        command.args(&words[1..]);
        Ok(command)
    }

    /// Returns a script of this machine for the option `-e` of `rsync`. It ignores the host, and runs the command of the
    /// other arguments in a directory on the machine.
    ///
    /// # Errors
    /// Those of [`script`](Self::script).
    pub(super) fn remote_shell(&self, dir: &str) -> Result<String> {
        let mut words = self.words(&format!("cd {} && exec \"$@\"", quote(dir)))?;
        // It runs in another directory.
        words[0] = self.program(&words)?.get_program().to_string_lossy().into_owned();
        // ssh joins its arguments. Those of rsync are plain words.
        let words: Vec<String> = words.iter().map(quote).collect();
        Ok(format!("shift\nexec {} sh \"$@\"\n", words.join(" ")))
    }

    /// Returns the command that reaches the machine, without a script.
    pub(super) fn shown(&self) -> Option<String> {
        let words = self.words("").ok()?;
        Some(words[..words.len() - 1].iter().map(quote).collect::<Vec<_>>().join(" "))
    }

    /// Returns the words of the command that runs a script in this terminal.
    ///
    /// # Errors
    /// The address is a directory of this machine.
    pub(crate) fn in_terminal(&self, script: &str) -> Result<Vec<String>> {
        let mut words = self.program_words()?.to_vec();
        match self.address {
            Address::Ssh(host, _) => words.extend(["-t".into(), host.clone(), script.into()]),
            Address::Docker(container, _) => {
                words.extend(["exec", "-it", container, "sh", "-c", script].map(String::from));
            }
            Address::Command(_) | Address::Dir(_) => words.extend(["sh", "-c", script].map(String::from)),
        }
        Ok(words)
    }

    /// Returns the words of the program that reaches the machine.
    fn program_words(&self) -> Result<&[String]> {
        Ok(match self.address {
            Address::Ssh(..) => &self.config.ssh,
            Address::Docker(..) => &self.config.docker,
            Address::Command(words) => words,
            Address::Dir(_) => bail!("the machine is only a directory; pitree cannot run commands there"),
        })
    }

    fn words(&self, script: &str) -> Result<Vec<String>> {
        let shell = ["sh", "-c", script].map(String::from);
        let mut words = self.program_words()?.to_vec();
        match self.address {
            Address::Ssh(host, _) => {
                words.extend(self.ssh_options(host));
                // The login shell can be any shell.
                words.extend(["-T".into(), "--".into(), host.clone(), format!("exec sh -c {}", quote(script))]);
            }
            Address::Docker(container, _) => {
                words.extend(["exec".into(), "-i".into(), container.clone()]);
                words.extend(shell);
            }
            Address::Command(_) | Address::Dir(_) => words.extend(shell),
        }
        Ok(words)
    }

    /// Returns the command of a program, without arguments.
    fn program(&self, words: &[String]) -> Result<Command> {
        let name = words.first().map_or("", String::as_str);
        let found = program::find(name).filter(|file| file.is_file());
        found
            .map(Command::new)
            .with_context(|| format!("cannot find {name} on the PATH; install it, or correct the address"))
    }

    /// Returns options that limit the time, and that share a connection unless the user's configuration does.
    fn ssh_options(&self, host: &str) -> Vec<String> {
        let mut options = vec![format!("ConnectTimeout={CONNECT_SECONDS}"), "ServerAliveInterval=5".into()];
        options.extend((!self.can_ask).then(|| "BatchMode=yes".into()));
        if let Some(socket) = self.control_socket(host) {
            options.push("ControlMaster=auto".into());
            options.push(format!("ControlPath={}", socket.display()));
            options.push(format!("ControlPersist={KEPT_SECONDS}"));
        }
        options.into_iter().flat_map(|option| ["-o".into(), option]).collect()
    }

    /// Returns the path of the control socket: in the runtime directory, because such paths must be short. Returns `None`
    /// if the user's configuration has one.
    fn control_socket(&self, host: &str) -> Option<PathBuf> {
        let dir = locate::runtime_dir()?;
        let mut command = self.program(&self.config.ssh).ok()?;
        command.args(&self.config.ssh[1..]).args(["-G", "--", host]);
        let (status, output) = program::read_to_end(command, CONFIG_LIMIT).ok()??;
        let has_own = output.lines().any(|line| line.starts_with("controlpath ") && line != "controlpath none");
        if !status.success() || has_own || create::private_folder(&dir).is_err() {
            return None;
        }
        Some(dir.join("%C"))
    }
}

/// Returns a word of a shell script for a directory on a machine; `~` is the home directory there.
pub(super) fn dir_word(dir: &str) -> String {
    match dir.strip_prefix('~') {
        Some("" | "/") => "\"$HOME\"".into(),
        Some(rest) => format!("\"$HOME\"/{}", quote(rest.trim_start_matches('/'))),
        None => quote(dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(address: &str) -> Vec<String> {
        let (address, config) = (Address::parse(&[address.into()]).unwrap(), SyncConfig::default());
        let transport = Transport { address: &address, config: &config, can_ask: false };
        transport.words("echo 'a b'").unwrap()
    }

    #[test]
    fn scripts_are_quoted_for_each_shell() {
        let ssh = words("ssh:ann@box");
        assert_eq!(ssh[0], "ssh");
        assert!(ssh.windows(2).any(|pair| pair == ["-o", "BatchMode=yes"]));
        assert_eq!(ssh[ssh.len() - 3..], ["--", "ann@box", r"exec sh -c 'echo '\''a b'\'''"]);
        assert_eq!(words("docker:dev"), ["docker", "exec", "-i", "dev", "sh", "-c", "echo 'a b'"]);
        assert_eq!(
            words("command:kubectl exec -i pod --"),
            ["kubectl", "exec", "-i", "pod", "--", "sh", "-c", "echo 'a b'"]
        );
        let (address, config) = (Address::Dir("/mnt".into()), SyncConfig::default());
        assert!(Transport { address: &address, config: &config, can_ask: false }.script("x").is_err());
    }

    #[test]
    fn directories_are_quoted() {
        assert_eq!(dir_word("~"), "\"$HOME\"");
        assert_eq!(dir_word("~/a b; rm"), "\"$HOME\"/'a b; rm'");
        assert_eq!(dir_word("/$(x)"), "'/$(x)'");
    }
}
