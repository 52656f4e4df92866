//! The known machines: those of the configuration, and those added with `pitree machine add`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::base::{machine_paths, sort};
use crate::config::machines::NAME_RULE;
use crate::config::{Address, Config};
use crate::disk::{locate, state};

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The name.
    pub name: String,
    /// The address.
    pub address: Address,
    /// `true` if it is in `config.toml`.
    pub is_configured: bool,
}

/// The file of machines in the data directory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct MachinesFile {
    /// The words of the address of each machine.
    #[serde(default)]
    machines: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    other: BTreeMap<String, serde_json::Value>,
}

/// Returns the path of the file.
fn file(data: &Path) -> PathBuf {
    data.join("machines.json")
}

/// Returns all machines by name. One of the configuration replaces an added one of the same name. Added machines that this
/// version cannot interpret are left out.
///
/// # Errors
/// The file of added machines cannot be read.
pub(crate) fn machines(config: &Config, data: Option<&Path>) -> io::Result<Vec<Machine>> {
    let added: MachinesFile = data.map_or_else(|| Ok(MachinesFile::default()), |data| state::load(&file(data)))?;
    let mut machines: Vec<Machine> = Vec::new();
    let expanded = |address: Address| match address {
        Address::Dir(dir) => Address::Dir(locate::expand(dir, &locate::home())),
        address => address,
    };
    let configured = config.machines.iter().cloned().map(|(name, address)| (name, expanded(address)));
    machines.extend(configured.map(|(name, address)| Machine { name, address, is_configured: true }));
    for (name, words) in added.machines {
        let is_known = machines.iter().any(|known| known.name.eq_ignore_ascii_case(&name));
        if let (false, true, Ok(address)) = (is_known, machine_paths::is_name(&name), Address::parse(&words)) {
            machines.push(Machine { name, address, is_configured: false });
        }
    }
    sort::by(&mut machines, |one, other| one.name.cmp(&other.name));
    Ok(machines)
}

/// Adds a machine.
///
/// # Errors
/// The name is not allowed or taken, or the file cannot be written.
pub(crate) fn add(machine: &Machine, known: &[Machine], data: &Path) -> Result<()> {
    check_name(&machine.name, known)?;
    let change = |content: &mut MachinesFile| {
        content.machines.insert(machine.name.clone(), machine.address.words());
    };
    state::update(&file(data), change).context("cannot add the machine")
}

/// Checks the name of a new machine.
///
/// # Errors
/// The name is not allowed or taken.
pub(crate) fn check_name(name: &str, known: &[Machine]) -> Result<()> {
    if !machine_paths::is_name(name) {
        bail!("{name:?} cannot be the name of a machine; {NAME_RULE}");
    }
    if let Some(known) = known.iter().find(|known| known.name.eq_ignore_ascii_case(name)) {
        bail!("a machine {} exists: {}; run `pitree machine remove {}` first", known.name, known.address, known.name);
    }
    Ok(())
}

/// Removes an added machine from the list. Returns `false` if it is not in the file.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn remove(name: &str, data: &Path) -> io::Result<bool> {
    let mut is_removed = false;
    state::update(&file(data), |content: &mut MachinesFile| is_removed = content.machines.remove(name).is_some())?;
    Ok(is_removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str, address: &str) -> Machine {
        Machine { name: name.into(), address: Address::parse(&[address.into()]).unwrap(), is_configured: false }
    }

    #[test]
    fn machines_are_added_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::parse("[machines]\ngpu = \"ssh:gpu\"\n", "c").unwrap();
        let known = || machines(&config, Some(dir.path())).unwrap();
        add(&machine("box", "docker:dev"), &known(), dir.path()).unwrap();
        let names =
            |machines: Vec<Machine>| machines.into_iter().map(|one| (one.name, one.is_configured)).collect::<Vec<_>>();
        assert_eq!(names(known()), [("box".into(), false), ("gpu".into(), true)]);
        for name in ["Box", "gpu", "here", "-x", ""] {
            assert!(add(&machine(name, "ssh:x"), &known(), dir.path()).is_err(), "{name}");
        }
        assert!(remove("box", dir.path()).unwrap() && !remove("gpu", dir.path()).unwrap());
        assert_eq!(names(known()), [("gpu".into(), true)]);
    }
}
