//! The settings of other machines: their addresses in `[machines]`, and the settings of `[sync]`.

use std::fmt;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;

use crate::base::machine_paths;
use crate::base::text::is_unsafe;
use crate::config::tables::{ConfigProblems, strings, whole, wrong_type};

/// The address of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host of `ssh`, and its session directory if it is not pi's.
    Ssh(String, Option<String>),
    /// A container of `docker`, and its session directory if it is not pi's.
    Docker(String, Option<String>),
    /// A program with arguments that runs a command on the machine: it is appended to the arguments.
    Command(Vec<String>),
    /// A directory on this machine that another program keeps up to date, such as a mounted one.
    Dir(PathBuf),
}

impl Address {
    /// Parses an address; only that of a program has several words.
    ///
    /// # Errors
    /// The text is not an address; the error lists the forms.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        const FORMS: &str = "use ssh:HOST[:DIR], docker:CONTAINER[:DIR], \"command:PROGRAM ARGS…\" or dir:PATH";
        let Some((first, rest)) = words.split_first() else { return Err(format!("no address; {FORMS}")) };
        let Some((kind, value)) = first.split_once(':').filter(|(_, value)| !value.is_empty()) else {
            return Err(format!("unknown address {first:?}; {FORMS}"));
        };
        let single =
            || if rest.is_empty() { Ok(()) } else { Err(format!("unexpected {:?} after the address", rest[0])) };
        if words.iter().any(|word| word.contains(is_unsafe)) {
            return Err(format!("{first:?} contains control characters"));
        }
        match kind {
            "ssh" => single().and_then(|()| host(value)).map(|(host, dir)| Self::Ssh(host, dir)),
            "docker" => single().and_then(|()| host(value)).map(|(name, dir)| Self::Docker(name, dir)),
            "dir" => single().map(|()| Self::Dir(value.into())),
            "command" => {
                let words = value.split_whitespace().chain(rest.iter().map(String::as_str));
                let words: Vec<String> = words.map(String::from).collect();
                if words.is_empty() { Err(format!("no program; {FORMS}")) } else { Ok(Self::Command(words)) }
            }
            _ => Err(format!("unknown kind of address {kind:?}; {FORMS}")),
        }
    }

    /// Returns the words from which [`parse`](Self::parse) creates the address.
    pub fn words(&self) -> Vec<String> {
        let with = |kind: &str, name: &str, dir: &Option<String>| {
            let dir = dir.as_ref().map_or(String::new(), |dir| format!(":{dir}"));
            vec![format!("{kind}:{name}{dir}")]
        };
        match self {
            Self::Ssh(host, dir) => with("ssh", host, dir),
            Self::Docker(container, dir) => with("docker", container, dir),
            Self::Dir(path) => vec![format!("dir:{}", path.display())],
            Self::Command(words) => {
                let first = words.first().map(|program| format!("command:{program}"));
                first.into_iter().chain(words.iter().skip(1).cloned()).collect()
            }
        }
    }

    /// Returns the session directory on the machine, if the address names one.
    pub(crate) fn dir(&self) -> Option<&str> {
        match self {
            Self::Ssh(_, dir) | Self::Docker(_, dir) => dir.as_deref(),
            Self::Command(_) | Self::Dir(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" "))
    }
}

/// Splits `NAME[:DIR]`. An IPv6 address in brackets contains colons. A name is never an option.
fn host(text: &str) -> Result<(String, Option<String>), String> {
    let end = text.find(']').filter(|_| text.contains('[')).unwrap_or(0);
    let (name, dir) = match text[end..].find(':') {
        Some(at) => (&text[..end + at], Some(&text[end + at + 1..])),
        None => (text, None),
    };
    let name: String = name.chars().filter(|c| !"[]".contains(*c)).collect();
    if name.is_empty() || name.starts_with('-') || name.contains(char::is_whitespace) {
        return Err(format!("{name:?} is not the name of a host or container"));
    }
    let is_dir = |dir: &&str| dir.starts_with('/') || *dir == "~" || dir.starts_with("~/");
    match dir.filter(|dir| !dir.is_empty()) {
        Some(dir) if !is_dir(&dir) => Err(format!("the directory {dir:?} must be absolute or start with ~/")),
        dir => Ok((name, dir.map(String::from))),
    }
}

/// The settings of the synchronization with other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncConfig {
    /// The interval in the browser in seconds; 0 for none, `None` for one that depends on the number of machines.
    pub seconds: Option<u64>,
    /// The maximum size of the mirror of a machine in gigabytes.
    pub gigabytes: u64,
    /// The command of ssh: a program and its arguments.
    pub ssh: Vec<String>,
    /// The command of docker.
    pub docker: Vec<String>,
}

impl Default for SyncConfig {
    fn default() -> Self {
        Self { seconds: None, gigabytes: 20, ssh: vec!["ssh".into()], docker: vec!["docker".into()] }
    }
}

impl SyncConfig {
    /// Returns the maximum size of the mirror of a machine in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.gigabytes.saturating_mul(1_000_000_000)
    }
}

/// Reads the table `[machines]`: names and addresses.
pub(super) fn machines(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> Vec<(String, Address)> {
    let mut machines: Vec<(String, Address)> = Vec::new();
    for (key, value) in problems.table("machines", value, "a table of names and addresses") {
        let name = key.get_ref().to_string();
        if !machine_paths::is_name(&name) || machines.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            problems.add(key.span(), format!("{name:?} cannot be the name of a machine; {NAME_RULE}"));
            continue;
        }
        let address = problems.parsed(&name, value, |value| match value.as_str() {
            Some(text) => Address::parse(&[text.to_owned()]),
            None => strings(value)
                .map_err(|_| wrong_type("an address, or a list of its words", value))
                .and_then(|words| Address::parse(&words)),
        });
        machines.extend(address.map(|address| (name, address)));
    }
    machines
}

/// The rule for names of machines.
pub(crate) const NAME_RULE: &str = "use a unique name of up to 32 letters, digits, dots, dashes and underscores";

/// Reads the table `[sync]`.
pub(super) fn sync(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> SyncConfig {
    let mut sync = SyncConfig::default();
    let command = |value: &DeValue<'_>| {
        let words = strings(value)?;
        let named = words.first().is_some_and(|program| !program.is_empty());
        named.then_some(words).ok_or_else(|| "must not be empty".to_owned())
    };
    for (key, value) in problems.table("sync", value, "a table of settings of the synchronization") {
        match key.get_ref().as_ref() {
            "seconds" => {
                let seconds = |value: &DeValue<'_>| whole(value, "a number of seconds, from 0");
                sync.seconds = problems.parsed("seconds", value, seconds);
            }
            "gigabytes" => {
                let gigabytes = |value: &DeValue<'_>| whole(value, "a number of gigabytes, from 0");
                sync.gigabytes = problems.parsed("gigabytes", value, gigabytes).unwrap_or(sync.gigabytes);
            }
            "ssh" => sync.ssh = problems.parsed("ssh", value, command).unwrap_or(sync.ssh),
            "docker" => sync.docker = problems.parsed("docker", value, command).unwrap_or(sync.docker),
            _ => problems.unknown(key, ["seconds", "gigabytes", "ssh", "docker"].into_iter()),
        }
    }
    sync
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn parsed(text: &str) -> Result<Address, String> {
        Address::parse(&[text.to_owned()])
    }

    #[test]
    fn addresses_are_parsed_and_printed() {
        let ssh = |host: &str, dir: Option<&str>| Ok(Address::Ssh(host.into(), dir.map(Into::into)));
        assert_eq!(parsed("ssh:ann@box"), ssh("ann@box", None));
        assert_eq!(parsed("ssh:box:/srv/pi"), ssh("box", Some("/srv/pi")));
        assert_eq!(parsed("ssh:[fe80::1]:~/s"), ssh("fe80::1", Some("~/s")));
        assert_eq!(parsed("docker:dev"), Ok(Address::Docker("dev".into(), None)));
        assert_eq!(parsed("dir:/mnt/box"), Ok(Address::Dir("/mnt/box".into())));
        let command = ["kubectl", "exec", "-i", "pod", "--"].map(String::from).to_vec();
        assert_eq!(parsed("command:kubectl exec -i pod --"), Ok(Address::Command(command.clone())));
        for address in ["ssh:ann@box", "ssh:box:/srv", "docker:dev:~/x", "dir:/mnt"] {
            assert_eq!(parsed(address).unwrap().to_string(), address);
        }
        let address = Address::Command(command);
        assert_eq!(Address::parse(&address.words()), Ok(address));
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for text in [
            "",
            "box",
            "ssh:",
            "command: ",
            "ssh:-oProxyCommand=x",
            "ssh:a b",
            "ssh:box:relative",
            "ftp:x",
            "docker:-x",
            "dir:a\u{7}",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
        assert!(Address::parse(&["ssh:a".into(), "b".into()]).is_err());
    }

    #[test]
    fn settings_are_read_and_problems_named() {
        let text = "[machines]\nbox = \"ssh:box\"\npod = [\"command:kubectl\", \"exec\", \"a b\"]\n[sync]\nseconds = 5\n\
                    ssh = [\"ssh\", \"-F\", \"x\"]\n";
        let config = Config::parse(text, "c").unwrap();
        assert_eq!(config.machines[0], ("box".into(), Address::Ssh("box".into(), None)));
        assert_eq!(config.machines[1].1.words(), ["command:kubectl", "exec", "a b"]);
        assert_eq!((config.sync.seconds, config.sync.gigabytes, config.sync.ssh.len()), (Some(5), 20, 3));
        for (text, problem) in [
            ("machines = 3", "c:1: \"machines\": must be a table of names and addresses, but is of type integer"),
            ("machines.box = 3", "c:1: \"box\": must be an address, or a list of its words, but is of type integer"),
            ("sync.second = 1", "c:1: unknown setting \"second\"; did you mean \"seconds\"?"),
            ("sync.ssh = []", "c:1: \"ssh\": must not be empty"),
        ] {
            assert_eq!(Config::parse(text, "c").unwrap_err(), problem);
        }
        assert!(Config::parse("[machines]\nhere = \"ssh:a\"", "c").unwrap_err().contains("cannot be the name"));
    }
}
