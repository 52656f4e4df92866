//! Finds machines with sessions of pi: the hosts in the user's ssh configuration, and running containers.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use crate::base::machine_paths;
use crate::base::sort;
use crate::config::{Address, SyncConfig};
use crate::disk::{files, parallel, program};
use crate::machines::check::{self, MachineCheck};
use crate::machines::link::LinkError;
use crate::machines::registry::Machine;
use crate::machines::transport::Transport;

/// The maximum size of the ssh configuration in bytes.
const MOST_BYTES: u64 = 1_000_000;

/// The maximum number of hosts and containers.
const MOST: usize = 200;

/// The maximum number of machines that are asked at the same time.
const AT_ONCE: usize = 16;

/// The time limit to list containers.
const LIST_LIMIT: Duration = Duration::from_secs(5);

/// A machine that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundMachine {
    /// The suggested name.
    pub(crate) name: String,
    /// The address.
    pub(crate) address: String,
    /// The number of sessions; `None` if the machine cannot be reached.
    pub(crate) sessions: Option<u64>,
    /// The reason why it cannot be reached.
    pub(crate) error: Option<String>,
    /// `true` if the machine is known already.
    pub(crate) is_known: bool,
}

/// Finds machines and counts their sessions.
pub(crate) fn discover(home: &Path, config: &SyncConfig, known: &[Machine]) -> Vec<FoundMachine> {
    let hosts = files::read_small(&home.join(".ssh/config"), MOST_BYTES).ok().flatten().unwrap_or_default();
    let hosts = hosts_of(&String::from_utf8_lossy(&hosts));
    let words = hosts.into_iter().map(|host| format!("ssh:{host}"));
    let words = words.chain(containers(config).into_iter().map(|name| format!("docker:{name}")));
    let addresses: Vec<Address> = words.filter_map(|text| Address::parse(&[text]).ok()).take(MOST).collect();
    let mut names: Vec<String> = known.iter().map(|machine| machine.name.to_lowercase()).collect();
    let programs = |address: &Address| check::programs(Transport { address, config, can_ask: false });
    let failed = || Err(LinkError::new("internal error in pitree"));
    let checked = parallel::map_waiting(&addresses, AT_ONCE, programs, failed);
    let mut found: Vec<_> = addresses.into_iter().zip(checked).collect();
    sort::by_key(&mut found, |(address, _)| address.to_string());
    let named = |(address, checked): (Address, Result<MachineCheck, LinkError>)| {
        let is_known = known.iter().any(|machine| machine.address == address);
        let name = name(&address, &mut names);
        let (sessions, error) = match checked {
            Ok(checked) => (checked.sessions, None),
            Err(error) => (None, Some(error.reason)),
        };
        FoundMachine { name, address: address.to_string(), sessions, error, is_known }
    };
    found.into_iter().map(named).collect()
}

/// Returns the host names of an ssh configuration, without patterns.
fn hosts_of(text: &str) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(|c: char| c.is_whitespace() || c == '=').filter(|word| !word.is_empty());
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("host")) {
            let names = words.take_while(|word| !word.starts_with('#')).map(|word| word.trim_matches('"'));
            hosts.extend(names.filter(|name| !name.contains(['*', '?', '!'])).map(String::from));
        }
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

fn containers(config: &SyncConfig) -> Vec<String> {
    let Some((name, arguments)) = config.docker.split_first() else { return Vec::new() };
    let Some(found) = program::find(name).filter(|file| file.is_file()) else { return Vec::new() };
    let mut command = std::process::Command::new(found);
    command.args(arguments).args(["ps", "--format", "{{.Names}}"]);
    let output = program::read_to_end(command, LIST_LIMIT).ok().flatten();
    let names = output.filter(|(status, _)| status.success()).map(|(_, names)| names).unwrap_or_default();
    names.lines().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Suggests an unused name for an address.
fn name(address: &Address, names: &mut Vec<String>) -> String {
    let text = match address {
        Address::Ssh(host, _) => host.rsplit('@').next().unwrap_or(host).to_owned(),
        Address::Docker(container, _) => container.clone(),
        Address::Command(words) => words.first().cloned().unwrap_or_default(),
        Address::Dir(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let plain: String = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().take(24).collect();
    let plain = if machine_paths::is_name(&plain) { plain } else { "machine".into() };
    let is_free = |name: &str, names: &[String]| !names.contains(&name.to_lowercase());
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    let name = std::iter::once(plain.clone()).chain(numbered).find(|name| is_free(name, names)).unwrap_or(plain);
    names.push(name.to_lowercase());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_of_the_configuration() {
        let text = "# Host no\nHost box gpu\n  HostName 10.0.0.1\nhost = \"lab\"\nHost *.example !x\nMatch host y\nHost box # again\n";
        assert_eq!(hosts_of(text), ["box", "gpu", "lab"]);
    }

    #[test]
    fn names_are_unique() {
        let mut names = vec!["box".to_owned()];
        let mut of = |text: &str| name(&Address::parse(&[text.into()]).unwrap(), &mut names);
        assert_eq!(
            ["ssh:ann@box", "docker:Box", "docker:my_app.1", "ssh:é"].map(&mut of),
            ["box-2", "Box-3", "my_app.1", "machine"]
        );
    }
}
