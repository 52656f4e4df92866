//! Which directories to read: those that pi itself would use (0.74.2, 0.87.1), unless told otherwise.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Where to look, and how that was found, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The directories.
    pub dirs: Vec<PathBuf>,
    /// Such as `--dir` or `sessionDir in ~/.pi/agent/settings.json`.
    pub origin: String,
}

/// The environment variables and files that pi looks at.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `PI_CODING_AGENT_SESSION_DIR`
    pub session_dir: Option<OsString>,
    /// `PI_CODING_AGENT_DIR`
    pub agent_dir: Option<OsString>,
    /// The home directory.
    pub home: PathBuf,
}

impl Environment {
    /// Those of this process.
    pub fn current() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self { session_dir: set("PI_CODING_AGENT_SESSION_DIR"), agent_dir: set("PI_CODING_AGENT_DIR"), home: home() }
    }
}

/// The home directory; empty if there is none.
pub fn home() -> PathBuf {
    directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()).unwrap_or_default()
}

/// The path of `config.toml`, if there is a home directory.
pub(crate) fn config_file() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "pitree").map(|dirs| dirs.config_dir().join("config.toml"))
}

/// Where the journal is, if there is a home directory: `~/.local/state/pitree` on Linux.
pub(crate) fn state_dir() -> Option<PathBuf> {
    let dirs = directories::ProjectDirs::from("", "", "pitree")?;
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_path_buf())
}

/// The text of a file that a person writes.
///
/// # Errors
/// It can't be read, or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    fs::read_to_string(path)
}

/// `~` and `~/…` below the home directory.
pub(crate) fn expand(path: impl AsRef<Path>, home: &Path) -> PathBuf {
    let path = path.as_ref();
    path.strip_prefix("~")
        .map_or_else(|_| path.to_path_buf(), |rest| home.components().chain(rest.components()).collect())
}

/// The session directories: those asked for, else those of the configuration, else those that pi would use.
pub fn sessions(asked: &[PathBuf], configured: &[String], environment: &Environment) -> Located {
    if !asked.is_empty() {
        return Located { dirs: asked.to_vec(), origin: "--dir".into() };
    }
    if !configured.is_empty() {
        let dirs = configured.iter().map(|dir| expand(dir, &environment.home)).collect();
        return Located { dirs, origin: "dirs in config.toml".into() };
    }
    if let Some(dir) = &environment.session_dir {
        let dirs = vec![expand(dir, &environment.home)];
        return Located { dirs, origin: "$PI_CODING_AGENT_SESSION_DIR".into() };
    }
    let (agent_dir, origin) = match &environment.agent_dir {
        Some(dir) => (expand(dir, &environment.home), "$PI_CODING_AGENT_DIR"),
        None => (environment.home.join(".pi/agent"), "pi's default"),
    };
    let settings = agent_dir.join("settings.json");
    if let Some(dir) = session_dir_setting(&settings) {
        let dirs = vec![expand(dir, &environment.home)];
        return Located { dirs, origin: format!("sessionDir in {}", settings.display()) };
    }
    Located { dirs: vec![agent_dir.join("sessions")], origin: origin.into() }
}

/// `sessionDir` of pi's settings; what can't be read there is pi's to complain about.
fn session_dir_setting(settings: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Settings {
        #[serde(rename = "sessionDir")]
        session_dir: Option<String>,
    }
    let text = fs::read_to_string(settings).ok()?;
    let settings: Settings = serde_json::from_str(&text).ok()?;
    settings.session_dir.filter(|dir| !dir.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_where_pi_would() {
        let home = tempfile::tempdir().unwrap();
        let mut environment = Environment { home: home.path().into(), ..Environment::default() };
        let dirs = |environment: &Environment| sessions(&[], &[], environment).dirs;
        assert_eq!(dirs(&environment), [home.path().join(".pi/agent/sessions")]);

        fs::create_dir_all(home.path().join(".pi/agent")).unwrap();
        fs::write(home.path().join(".pi/agent/settings.json"), r#"{"sessionDir":"~/s","theme":"dark"}"#).unwrap();
        assert_eq!(dirs(&environment), [home.path().join("s")]);

        environment.agent_dir = Some("~/other".into());
        assert_eq!(dirs(&environment), [home.path().join("other/sessions")]);
        environment.session_dir = Some("/flat".into());
        assert_eq!(dirs(&environment), [PathBuf::from("/flat")]);
        assert_eq!(sessions(&[], &["~".into()], &environment).dirs, [home.path()]);
        assert_eq!(sessions(&["a".into()], &["b".into()], &environment).dirs, [PathBuf::from("a")]);
    }
}
